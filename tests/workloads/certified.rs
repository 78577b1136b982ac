//! Outcomes that points take from others are held against simulations of their own. `SEALSIM_CASES` sets the number of random points.

use rand::{Rng, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;
use sealsim::{
    config::{Layers, Shipped, fields},
    explore::sweep::{Folder, Origin, PointRow, Study},
    gcm::{spec::GhashSpec, structure::Structure, timing::Limit},
    gpu::pce::{Answers, Call, Called},
    sim::Control,
    system::{self, Outcome, Request},
};
use std::{collections::HashSet, fs, path::Path};

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
const OTHERS: [(&str, &str); 6] = [
    ("driver.pinned.message", "'8 KiB', '32 KiB', '64 KiB'"),
    ("tag_queue.release", "'hold', 'eager', 'skid', 'withhold_completion'"),
    ("copy_engine.read_buffer", "'8 KiB', '32 KiB', '128 KiB'"),
    ("copy_engine.messages_in_flight", "1, 2, 4"),
    ("link.read_tags", "16, 32, 64, 256"),
    ("root_complex.read_spread", "'0 cycles', '200 cycles'"),
];

/// Values of what engines are built of.
const ENGINES: [(&str, &str); 7] = [
    ("engine.aes.lanes", "1, 2, 3, 4, 8"),
    ("engine.aes.keystream_blocks", "16, 64, 128, 256"),
    ("engine.aes.registers_per_round", "1, 2"),
    ("engine.key_setup", "'10 cycles', '100 cycles'"),
    ("engine.ghash.width", "1, 2, 3, 4, 8"),
    ("engine.ghash.groups", "1, 2, 4, 8"),
    ("engine.ghash.multiplier.reduction", "'0 cycles', '1 cycle', '2 cycles'"),
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
    fs::write(&path, STREAMS).expect("a file");
    path.display().to_string()
}

/// A study with these axes, if there is such a one, and its text.
fn read(head: &str, axes: &[(&str, &str)]) -> Option<(Study, String)> {
    let axis = |(path, values): &(&str, &str)| format!("[[axis]]\npath = '{path}'\nvalues = [{values}]\n");
    let text = format!("name = 'n'\nsummary = 's'\n{head}\n{}", axes.iter().map(axis).collect::<String>());
    Study::read("study", &text).ok().map(|study| (study, text))
}

/// All rows, in the study's order, without what says where they are from; and that.
fn rows((study, text): &(Study, String)) -> (Vec<PointRow>, Vec<Option<Origin>>) {
    let place = tempfile::tempdir().expect("a folder");
    let mut folder = Folder::open(place.path(), study, text).expect("a folder of results");
    study.sweep(&mut folder, 1, &|| Control::Continue, &|| ()).expect("every point runs");
    let row = |id| folder.row(id).expect("a line").expect("a row");
    let rows = study.points().expect("points").map(|point| row(point.id));
    rows.map(|row| (PointRow { origin: None, ..row.clone() }, row.origin)).unzip()
}

#[test]
fn rows_of_random_studies_are_those_of_simulations_of_their_own() {
    let cases: usize = std::env::var("SEALSIM_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(500);
    let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let place = tempfile::tempdir().expect("a folder");
    let workload = streams(place.path());
    let all: Vec<_> = Shipped::copy_designs().collect();
    let mut designs = all.iter().cycle();
    // Of studies over bounds, and of those over engines.
    let (mut points, mut certified, mut seen) = ([0, 0], [0, 0], HashSet::new());
    while points[0] + points[1] < cases {
        let machine = ["h100-nvl-tdx", "h100-nvl-tdx", "h200-tdx", "h100-tdx-gen5", "hgx-h100-8gpu"]
            .choose(&mut random)
            .expect("some");
        let design = designs.next().expect("some");
        let copy = format!(
            "copy = '{}:{}:{}'",
            ["h2d", "d2h"].choose(&mut random).expect("some"),
            1_u64 << random.random_range(12..18) | random.random_range(0..4096),
            ["pinned", "pinned", "pageable"].choose(&mut random).expect("some")
        );
        let work = if random.random_range(0..5) == 0 { format!("workload = '{workload}'") } else { copy };
        let kind = usize::from(random.random::<bool>());
        let mut axes: Vec<_> = [BOUNDS, ENGINES][kind].choose_multiple(&mut random, 3).copied().collect();
        axes.extend([&OTHERS[..], &BOUNDS][kind].choose_multiple(&mut random, 1));
        let seed = random.random::<u32>();
        let head =
            format!("machine = '{machine}'\ndesigns = ['{design}']\n{work}\nrandom = {{ points = 40, seed = {seed} }}");
        let Some(mut study) = read(&head, &axes) else { continue };
        let (taken, origins) = rows(&study);
        study.0.again = true;
        let (own, simulated) = rows(&study);
        assert!(taken == own, "{head}\n{axes:?}: {:?}", taken.iter().zip(&own).find(|(taken, own)| taken != own));
        assert!(simulated.iter().flatten().all(|origin| *origin == Origin::Simulated));
        points[kind] += origins.iter().flatten().count();
        certified[kind] += origins.iter().filter(|origin| **origin == Some(Origin::Certified)).count();
        seen.insert(design);
    }
    println!("{certified:?} of {points:?} points were certified");
    let many = 3 * certified[0] > points[0] && 20 * certified[1] > points[1];
    assert!(many && (cases < 2000 || seen.len() == all.len()), "{certified:?} of {points:?}, {seen:?}");
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
    let place = tempfile::tempdir().expect("a folder");
    for (parameter, large, wrong, head) in REACHED {
        let head = head.replace("STREAMS", &streams(place.path())).replace("HOLD", HOLD);
        let head = format!("machine = 'h100-nvl-tdx'\ndesigns = ['direct-in-place']\n{head}");
        let of = |values: &[u64]| {
            let written = |value: &u64| {
                if parameter.ends_with("quarantine") { format!("'{value} B'") } else { value.to_string() }
            };
            let values: Vec<_> = values.iter().map(written).collect();
            read(&head, &[(parameter, &values.join(", "))]).expect("a study")
        };
        // The least value that is certified is what was asked for.
        let (mut enough, mut less) = (large, 0);
        while enough - less > 1 {
            let middle = (enough + less) / 2;
            let certified = rows(&of(&[large, middle])).1[1] == Some(Origin::Certified);
            *if certified { &mut enough } else { &mut less } = middle;
        }
        let (rows, origins) = rows(&of(&[large, enough, enough - wrong]));
        assert_eq!(origins, [Origin::Simulated, Origin::Certified, Origin::Simulated].map(Some), "{head}");
        let found = OF_RUNS.iter().any(|name| rows[0].figures.get(*name) != rows[2].figures.get(*name));
        assert!(found, "{parameter}: {enough}\n{head}");
    }
}

/// Columns that come from the run alone, whatever a bound costs.
const OF_RUNS: [&str; 8] = [
    "time_ps",
    "device_ps",
    "first_verified_ps",
    "link_pj",
    "exposed_byte_ns",
    "busiest_fraction",
    "waited_for",
    "waited_fraction",
];

#[test]
fn units_say_what_they_asked_of_every_bound_and_that_decides() {
    let machine =
        Layers::new("h100-nvl-tdx").set("copy_engine.outstanding_reads=128").resolve().expect("a machine").machine;
    let own = machine.clone().take_bounds();
    let mut outcome = system::run(&machine, Request::h2d(64 << 10), &mut |_| Control::Continue).expect("a run");
    let (mut names, parameters) = (own.iter().map(|(name, _)| *name).collect::<Vec<_>>(), fields());
    assert!(names.iter().all(|name| parameters.iter().any(|field| field.path == *name)));
    names.sort_unstable_by(|one, other| other.cmp(one));
    assert!(outcome.bounded.iter().map(|(name, _)| *name).eq(names), "{:?}", outcome.bounded);
    for (place, (name, asked)) in outcome.bounded.clone().into_iter().enumerate().filter(|(_, (_, asked))| *asked > 0) {
        let with = |room| own.iter().map(|&(of, own)| (of, if of == name { room } else { own })).collect::<Vec<_>>();
        let known = |outcome: &Outcome, room| outcome.is_that_under(&own, &with(room));
        assert_eq!([asked, asked - 1].map(|room| known(&outcome, room)), [true, false], "{name}");
        // Nobody else would see that what a unit says is wrong.
        outcome.bounded[place].1 -= 1;
        assert!(known(&outcome, asked - 1), "{name}");
        outcome.bounded[place].1 = asked;
    }
}

#[test]
fn an_engine_is_known_by_each_answer_that_was_seen() {
    let machine = |set: &str| Layers::new("h100-nvl-tdx").set(set).resolve().expect("a machine").machine;
    let own = machine("engine.aes.lanes=2");
    let mut altered = [0; 5];
    for request in [Request::h2d(40 << 10), Request::d2h(40 << 10)] {
        let request = Request { answers: true, ..request };
        let mut outcome = system::run(&own, request, &mut |_| Control::Continue).expect("a run");
        assert!(
            outcome.is_that_with_engines_of(&own) && !outcome.is_that_with_engines_of(&machine("engine.aes.lanes=1"))
        );
        // How a product is formed changes no cycle.
        let mut other = own.clone();
        let GhashSpec::Aggregated { multiplier, .. } = &mut other.engine.ghash else { panic!("{:?}", own.engine) };
        multiplier.structure = Structure::Karatsuba { levels: 2 };
        assert!(outcome.is_that_with_engines_of(&other));
        let mut planted = |kind: usize, alter: &mut dyn FnMut(&mut Answers) -> bool| {
            for place in 0..outcome.engines.as_ref().expect("answers").len() {
                let engines = outcome.engines.as_mut().expect("answers");
                let sound = engines[place].answers.clone();
                if alter(&mut engines[place].answers) {
                    altered[kind] += 1;
                    assert!(!outcome.is_that_with_engines_of(&own), "{kind}");
                }
                outcome.engines.as_mut().expect("answers")[place].answers = sound;
            }
        };
        for number in 0..1000 {
            let call = |answers: &mut Answers, alter: &dyn Fn(&mut Called) -> bool| {
                answers.calls.get_mut(number).is_some_and(alter)
            };
            planted(0, &mut |answers| {
                call(answers, &|called| {
                    called.dates[1] += 1;
                    !matches!(called.call, Call::Load | Call::Start { .. })
                })
            });
            planted(1, &mut |answers| call(answers, &|called| called.out.as_mut().map(|out| *out += 1).is_some()));
            planted(2, &mut |answers| {
                call(answers, &|called| {
                    let other = |limit| if limit == Limit::Data { Limit::Ghash } else { Limit::Data };
                    called.limit = called.limit.map(other);
                    called.limit.is_some()
                })
            });
            planted(3, &mut |answers| answers.stretches.get_mut(number).map(|stretch| stretch.1 += 1).is_some());
            planted(4, &mut |answers| {
                call(answers, &|called| called.charged.as_mut().map(|many| *many += 1).is_some())
            });
        }
    }
    assert!(altered.iter().all(|times| *times > 0), "{altered:?}");
}
