//! Intervals of small comparisons, and of one with a closed form.

use super::super::{Grid, compare, named};
use super::*;
use crate::{
    config::{Layers, Shipped},
    figures::table::{AREA_TOTAL, EXPOSURE, OVER_BASELINE},
    system::{Direction, Memory},
    workload::Copy,
};
use proptest::prelude::*;
use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering},
};

fn candidates(machine: &Layers, names: &[&str]) -> Vec<Candidate> {
    names.iter().map(|name| named(machine, name, Memory::Pinned).unwrap()).collect()
}

fn grid(bytes: u64, count: u32, seed: u64) -> Grid {
    let copy = Copy { gpu: 0, direction: Direction::H2d, bytes, memory: Memory::Pinned };
    let work = Work::copies(Memory::Pinned, vec![copy]);
    Grid { uncertainty: Some(Draws { count, seed }), ..Grid::of(work) }
}

/// Every number with a range but those is set to its value, and so has none.
fn without_ranges(machine: Layers, but: &[&str]) -> Layers {
    let resolved = machine.resolve().unwrap();
    let ranged =
        resolved.parameters.iter().filter(|one| one.provenance.low.is_some() && !but.contains(&one.path.as_str()));
    ranged.fold(machine, |machine, one| machine.set(format!("{}={}", one.path, one.value)))
}

fn ask(candidates: &[Candidate], grid: &Grid, threads: usize) -> (Vec<Design>, Uncertainty) {
    let compared = compare(candidates, grid, threads, &Finished::default(), &|| Control::Continue, &|_| ()).unwrap();
    (compared.designs, compared.uncertainty.unwrap())
}

#[test]
fn equal_seeds_give_equal_intervals_on_any_number_of_threads_and_parts_add_up_to_one() {
    let machine = Layers::new("h100-nvl-tdx");
    let candidates = candidates(&machine, &["off", "h100-cc", "hold"]);
    let [one, two] = [1, 2].map(|threads| serde_json::to_value(ask(&candidates, &grid(4096, 8, 3), threads)).unwrap());
    assert_eq!(one, two);
    let (designs, uncertainty) = ask(&candidates, &grid(4096, 8, 4), 2);
    assert_ne!(one[0], serde_json::to_value(&designs).unwrap());
    assert_eq!(uncertainty.draws + uncertainty.refused, 8);
    assert_eq!(uncertainty.pairs.len(), 3);
    for pair in &uncertainty.pairs {
        assert!((pair.faster + pair.slower + pair.equal - 1.0).abs() < 1e-12, "{pair:?}");
    }
    for design in &designs {
        let row = &design.rows()[0];
        for figure in [&RATE, &TIME] {
            let [low, high] = row.interval_90[figure.name];
            assert!(0.0 < low && low < high, "{}: {}", design.name, figure.name);
        }
        // Whatever is drawn, a copy without protection shows nothing unverified, and the machine itself is its own baseline.
        assert!(design.name != "off" || row.interval_90[EXPOSURE.name] == [0.0; 2]);
        assert!(design.name != "h100-cc" || row.interval_90[OVER_BASELINE.name] == [1.0; 2]);
        assert_eq!(design.name == "off", !row.interval_90.contains_key(AREA_TOTAL.name), "{}", design.name);
    }
}

#[test]
fn without_a_range_nothing_is_drawn_and_every_interval_is_the_figure_itself() {
    let machine = without_ranges(Layers::new("h100-nvl-tdx"), &[]);
    let (designs, uncertainty) = ask(&candidates(&machine, &["off", "h100-cc"]), &grid(4096, 20, 1), 2);
    assert_eq!((uncertainty.varied, uncertainty.draws, uncertainty.moved_per_draw), (0, 20, 0.0));
    let pair = &uncertainty.pairs[0];
    assert_eq!((pair.faster, pair.slower, pair.equal), (1.0, 0.0, 0.0));
    let residuals = residuals(&machine.resolve().unwrap(), COPIES);
    for row in designs.iter().flat_map(Design::rows) {
        for figure in COPIES.iter().filter(|figure| matches!(figure.of, Of::Estimate(_) | Of::Beside(..))) {
            let own = row.number(figure);
            let expected = own.map(|own| with_residual(&residuals, figure.name, [own; 2], Some(own)));
            assert_eq!(row.interval_90.get(figure.name).copied(), expected, "{}", figure.name);
        }
    }
}

/// Whether each draw sets the same values in each design.
fn alike(points: &[Vec<draw::Setting>], variants: &[Variant], ranges: &[Range]) -> bool {
    let of = |point, place| draw::of_variant(ranges, point, place);
    points.iter().all(|point| (1..variants.len()).all(|other| of(point, other) == of(point, 0)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn what_no_design_states_has_one_value_in_a_draw_and_what_one_states_stays(
        some in prop::sample::subsequence(Shipped::copy_designs().collect::<Vec<_>>(), 1..4),
        set in prop::sample::select(&["cpu.clock=3 GHz", "link.generation=4", "tag_queue.depth=64", "link.lanes=8"][..]),
        seed in 0u64..100,
    ) {
        let machine = Layers::new("h100-nvl-tdx").set(set);
        let candidates: Vec<_> = some.iter().filter_map(|name| named(&machine, name, Memory::Pinned).ok()).collect();
        prop_assume!(!candidates.is_empty());
        let (work, all) = (grid(4096, 4, seed).work, candidates.iter().collect::<Vec<_>>());
        let plan = Plan::of(&all, (&work, &[], None), Draws { count: 4, seed }, 1).unwrap();
        let points: Vec<_> = plan.points.iter().map(|point| point.settings.clone()).collect();
        prop_assert!(alike(&points, &plan.variants, &plan.ranges));
        let drawn: Vec<_> = plan.ranges.iter().map(|range| range.path.as_str()).collect();
        prop_assert!(drawn.len() > 50 && !drawn.contains(&set.split('=').next().unwrap()));
        let own = machine.resolve().unwrap();
        for one in candidates.iter().flat_map(|candidate| &candidate.resolved.parameters) {
            prop_assert!(own.parameter(&one.path).map(|own| &own.value) == Some(&one.value) || !drawn.contains(&one.path.as_str()));
        }
    }
}

#[test]
fn designs_that_vary_what_they_state_in_its_own_range_are_not_drawn_alike() {
    let all = candidates(&Layers::new("h100-nvl-tdx"), &["h100-cc", "fastrack"]);
    let variant = |one: &Candidate| Variant { pins_designs: false, ..nameless(one.layers.clone().base().unwrap()) };
    let variants: Vec<_> = all.iter().map(variant).collect();
    let (ranges, _) = varied(&variants);
    assert!(!alike(&draw::hypercube(&ranges, 4, 1), &variants, &ranges));
}

/// The cipher alone limits, and alone has a range: 0.8 to 1.6 B a cycle around 1.2. Of draws that are even on each side 5 % lie below 0.84 and above 1.56.
/// A copy of 16 messages takes what the cipher takes for them, and at most the time of two more to begin and to end.
#[test]
fn where_one_rate_limits_its_interval_is_that_of_the_copy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("one-rate.toml");
    let text = r#"
extends = "h100-nvl-tdx"
[cpu]
clock = "2 GHz"
[cipher]
seal_rate = "1.2 B/cycle"
on_caller = false
[driver]
in_flight = { h2d = 8, d2h = 1 }
[provenance.cipher.seal_rate]
kind = "assumed"
source = "made up"
low = "0.8 B/cycle"
high = "1.6 B/cycle"
"#;
    fs::write(&file, text).unwrap();
    let machine = Layers::new(file.to_str().unwrap());
    let machine = without_ranges(machine, &["cipher.seal_rate"]);
    let (designs, uncertainty) = ask(&candidates(&machine, &["h100-cc"]), &grid(16 << 20, 20, 1), 2);
    assert_eq!((uncertainty.varied, uncertainty.draws), (1, 20));
    let row = &designs[0].rows()[0];
    let own = row.number(&RATE).unwrap();
    // Without what the model leaves, here on another host.
    let residuals = residuals(&machine.resolve().unwrap(), COPIES);
    let left = residuals
        .iter()
        .find(|residual| residual.figures.iter().any(|name| name == RATE.name))
        .unwrap()
        .root_mean_square;
    let drawn = |end: f64| {
        let beyond = (end / own).ln();
        own * (beyond.signum() * (beyond.powi(2) - (1.645 * left).powi(2)).sqrt()).exp()
    };
    let [low, high] = row.interval_90[RATE.name].map(drawn);
    for (found, rate) in [(low, 0.84 * 2.0), (own, 1.2 * 2.0), (high, 1.56 * 2.0)] {
        let part = found / rate;
        assert!((16.0 / 18.0..=1.0).contains(&part), "{found} of {rate} GB/s");
    }
    assert!(low < own && own < high);
}

#[test]
fn what_is_stopped_has_no_intervals_and_the_next_command_goes_on() {
    let candidates = candidates(&Layers::new("h100-nvl-tdx"), &["off", "h100-cc"]);
    let grid = grid(4096, 8, 1);
    let whole = ask(&candidates, &grid, 1);
    let done = AtomicUsize::new(0);
    let stop = || if done.load(Ordering::Relaxed) < 7 { Control::Continue } else { Control::Stop };
    let folder = tempfile::tempdir().unwrap();
    let in_file = || Finished::of(Ok(folder.path().join("pieces.jsonl")));
    let finished = in_file();
    let tell = |_| _ = done.fetch_add(1, Ordering::Relaxed);
    let compared = compare(&candidates, &grid, 1, &finished, &stop, &tell).unwrap();
    assert_eq!((compared.pieces, compared.unfinished), (2 + 2 * 8, 2 + 2 * 8 - 7));
    assert!(
        compared.uncertainty.is_none()
            && compared.designs.iter().flat_map(Design::rows).all(|row| row.interval_90.is_empty())
    );
    drop(finished);
    let finished = in_file();
    assert!(finished.resume().is_none() && finished.kept().0 > 0);
    let again = AtomicUsize::new(0);
    let go_on = || {
        again.fetch_add(1, Ordering::Relaxed);
        Control::Continue
    };
    let compared = compare(&candidates, &grid, 1, &finished, &go_on, &|_| ()).unwrap();
    let told = (compared.designs, compared.uncertainty.unwrap());
    assert_eq!(serde_json::to_value(told).unwrap(), serde_json::to_value(whole).unwrap());
}

#[test]
fn a_percentile_lies_between_the_draws_that_stand_for_it() {
    let sorted: Vec<f64> = (0..200).map(f64::from).collect();
    assert_eq!(percentile(&sorted, 0.05), Some(9.5));
    assert_eq!(percentile(&sorted, 0.5), Some(99.5));
    assert_eq!(percentile(&[7.0], 0.95), Some(7.0));
    assert_eq!(percentile(&[], 0.5), None);
}
