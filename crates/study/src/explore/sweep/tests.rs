//! Outcomes that points take from others are held against simulations of their own. `SEALSIM_CASES` sets the number of random points.

use super::{Study, visits::Visits};
use crate::{
    config::Shipped,
    sim::Control,
    table::{Origin, PointRow},
};
use rand::{Rng, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;
use std::{collections::HashSet, path::Path};

/// Small and large values of parameters that bound, and of some that do not.
const BOUNDS: [(&str, &str); 7] = [
    ("tag_queue.depth", "1, 2, 3, 4, 8"),
    ("tag_queue.quarantine", "'16 KiB', '64 KiB', '96 KiB', '256 KiB', '1 MiB', '3 MiB'"),
    ("copy_engine.outstanding_reads", "2, 8, 16, 32, 64, 128"),
    ("link.replay_tlps", "2, 6, 16, 32, 64, 256"),
    ("root_complex.reads_in_service", "1, 4, 16, 32, 64, 256"),
    ("root_complex.writes_in_service", "1, 2, 8, 16, 64, 256"),
    ("compute.slots", "1, 2, 3, 4"),
];
const OTHERS: [(&str, &str); 7] = [
    ("driver.pinned.message", "'8 KiB', '32 KiB', '64 KiB'"),
    ("tag_queue.release", "'hold', 'eager', 'skid', 'withhold_completion'"),
    ("copy_engine.read_buffer", "'8 KiB', '32 KiB', '128 KiB'"),
    ("copy_engine.messages_in_flight", "1, 2, 4"),
    ("link.read_tags", "16, 32, 64, 256"),
    ("root_complex.read_spread", "'0 cycles', '200 cycles'"),
    ("engine.aes.lanes", "1, 2, 4"),
];

/// Copies among kernels of several streams.
const STREAMS: &str = r#"
machine = "h100-nvl-tdx"
summary = "kernels and copies of three streams"
operations = [
    { op = "repeat", count = 3, index = "step", operations = [
        { op = "copy", direction = "h2d", size = "48 KiB", stream = "a", buffer = "a" },
        { op = "kernel", duration = "40 us", stream = "a" },
        { op = "copy", direction = "h2d", size = "20 KiB", stream = "b", buffer = "b" },
        { op = "kernel", duration = "30 us", stream = "b" },
        { op = "kernel", duration = "25 us", stream = "c" },
        { op = "copy", direction = "d2h", size = "32 KiB", stream = "c", buffer = "c" },
    ] },
    { op = "sync" },
]
"#;

/// Writes that workload into a file of a folder; its name.
fn streams(folder: &Path) -> String {
    let path = folder.join("streams.toml");
    std::fs::write(&path, STREAMS).unwrap();
    path.display().to_string()
}

fn read(head: &str, axes: &[(&str, &str)]) -> Option<Study> {
    let axis = |(path, values): &(&str, &str)| format!("[[axis]]\npath = '{path}'\nvalues = [{values}]\n");
    let text = format!("name = 'n'\nsummary = 's'\n{head}\n{}", axes.iter().map(axis).collect::<String>());
    Study::read("study", &text).ok()
}

/// All rows, in the study's order, without what says where they are from; and that.
fn rows(study: &Study) -> (Vec<PointRow>, Vec<Option<Origin>>) {
    let (mut visits, mut group, mut rows) = (Visits::new(study, study.points().unwrap()), 0, Vec::new());
    while let Some(point) = visits.next(&mut group) {
        rows.push(study.run(point, &|| Control::Continue).unwrap());
    }
    rows.sort_by_key(|row| row.point.index);
    rows.into_iter().map(|mut row| (PointRow { origin: None, ..row.clone() }, row.origin.take())).unzip()
}

#[test]
fn rows_of_random_studies_are_those_of_simulations_of_their_own() {
    let cases: usize = std::env::var("SEALSIM_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(2000);
    let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let place = tempfile::tempdir().unwrap();
    let workload = streams(place.path());
    let all: Vec<_> = Shipped::copy_designs().collect();
    let mut designs = all.iter().cycle();
    let (mut points, mut certified, mut seen) = (0, 0, HashSet::new());
    while points < cases {
        let machine =
            ["h100-nvl-tdx", "h100-nvl-tdx", "h200-tdx", "h100-tdx-gen5", "hgx-h100-8gpu"].choose(&mut random).unwrap();
        let design = designs.next().unwrap();
        let copy = format!(
            "copy = '{}:{}:{}'",
            ["h2d", "d2h"].choose(&mut random).unwrap(),
            1_u64 << random.random_range(12..18) | random.random_range(0..4096),
            ["pinned", "pinned", "pageable"].choose(&mut random).unwrap()
        );
        let work = if random.random_range(0..5) == 0 { format!("workload = '{workload}'") } else { copy };
        let mut axes: Vec<_> = BOUNDS.choose_multiple(&mut random, 3).copied().collect();
        axes.extend(OTHERS.choose_multiple(&mut random, 1));
        let seed = random.random::<u32>();
        let head =
            format!("machine = '{machine}'\ndesigns = ['{design}']\n{work}\nrandom = {{ points = 40, seed = {seed} }}");
        let Some(mut study) = read(&head, &axes) else { continue };
        let (taken, origins) = rows(&study);
        study.again = true;
        let (own, simulated) = rows(&study);
        assert!(taken == own, "{head}\n{axes:?}: {:?}", taken.iter().zip(&own).find(|(taken, own)| taken != own));
        assert!(simulated.iter().flatten().all(|origin| *origin == Origin::Simulated));
        points += origins.iter().flatten().count();
        certified += origins.iter().filter(|origin| **origin == Some(Origin::Certified)).count();
        seen.insert(design);
    }
    println!("{certified} of {points} points were certified");
    assert!(3 * certified > points && (cases < 2000 || seen.len() == all.len()), "{certified} of {points}, {seen:?}");
}

/// By parameter: a large value, how much less than was asked for is sure to be another run, and what is run. Writes are counted a place ahead: the one behind
/// the last that a bound holds comes in time if that is the most that there ever are.
const REACHED: [(&str, u64, u64, &str); 8] = [
    ("tag_queue.depth", 64, 1, "copy = 'h2d:256KiB'\nset = ['driver.pinned.message=8 KiB']"),
    ("tag_queue.quarantine", 8 << 20, 1, "copy = 'h2d:256KiB'\nset = [HOLD]"),
    ("tag_queue.quarantine", 8 << 20, 1, "copy = 'h2d:256KiB'\nset = [HOLD, 'copy_engine.pools.quarantine=gpu']"),
    ("copy_engine.outstanding_reads", 1024, 1, "copy = 'h2d:256KiB'"),
    ("link.replay_tlps", 1024, 1, "copy = 'd2h:4KiB'"),
    ("root_complex.reads_in_service", 1024, 1, "copy = 'h2d:256KiB'"),
    ("root_complex.writes_in_service", 1024, 2, "copy = 'd2h:4KiB'\nset = ['root_complex.write_latency=2000 cycles']"),
    ("compute.slots", 128, 1, "workload = 'STREAMS'"),
];
const HOLD: &str = "'driver.pinned.message=8 KiB', 'driver.pageable.message=8 KiB', 'tag_queue.release=hold', \
                    'tag_queue.quarantine=1 MiB'";

#[test]
fn a_certificate_of_less_than_was_asked_for_gives_a_wrong_row() {
    let place = tempfile::tempdir().unwrap();
    for (parameter, large, wrong, head) in REACHED {
        let head = head.replace("STREAMS", &streams(place.path())).replace("HOLD", HOLD);
        let head = format!("machine = 'h100-nvl-tdx'\ndesigns = ['direct-in-place']\n{head}");
        let written = |value: u64| match parameter {
            "tag_queue.quarantine" => format!("'{value} B'"),
            _ => value.to_string(),
        };
        let of = |values: &[u64]| {
            let values: Vec<_> = values.iter().copied().map(written).collect();
            read(&head, &[(parameter, &values.join(", "))]).unwrap()
        };
        let study = of(&[large]);
        assert_eq!(rows(&study).0[0].error, None);
        let asked = study.shared.asked(parameter, 0);
        let (honest, origins) = rows(&of(&[large, asked, asked - wrong]));
        assert_eq!(origins, [Origin::Simulated, Origin::Certified, Origin::Simulated].map(Some), "{head}");
        let study = of(&[large, asked - wrong]);
        let points: Vec<_> = study.points().unwrap().collect();
        study.run(points[0].clone(), &|| Control::Continue).unwrap();
        assert_eq!(study.shared.asked(parameter, wrong), asked);
        let planted = study.run(points[1].clone(), &|| Control::Continue).unwrap();
        assert_eq!(planted.origin, Some(Origin::Certified));
        assert!(planted.figures != honest[2].figures, "{parameter}: {asked}\n{head}");
    }
}
