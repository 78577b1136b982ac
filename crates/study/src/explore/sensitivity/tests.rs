//! Sensitivities of small machines, and studies that stop and go on.

use super::*;
use crate::config::{Role, Shipped};
use crate::workload::{CopyArgument, WorkloadFile, sized};
use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

fn question(designs: &[&str], samples: u32) -> Question {
    let copies = sized(&["h2d:4096".parse::<CopyArgument>().unwrap()], None).unwrap();
    Question {
        machine: Layers::new("h100-nvl-tdx"),
        designs: designs.iter().map(|&name| name.into()).collect(),
        workload: Workload::timed(copies, None),
        samples,
        indices: 0,
        seed: 5,
        margin: 0.0,
    }
}

fn ask(question: &Question, threads: usize) -> Sensitivity {
    sensitivity(question, threads, &Finished::default(), &|| Control::Continue, &|_| ()).unwrap()
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads_and_its_swings_are_in_order() {
    let question = question(&["direct"], 3);
    let [one, two] = [1, 2].map(|threads| ask(&question, threads));
    assert_eq!(serde_json::to_value(&one).unwrap(), serde_json::to_value(&two).unwrap());
    assert!(one.swings.windows(2).all(|pair| pair[0].relative_swing >= pair[1].relative_swing));
    assert!(one.swings[0].relative_swing > 0.0);
    // Every point became a machine.
    assert_eq!((one.together.as_ref().unwrap().samples, one.together.unwrap().refused), (3, 0));
}

#[test]
fn every_swing_is_what_the_two_ends_give() {
    let answer = ask(&question(&[], 0), 2);
    assert!(answer.together.is_none());
    for swing in &answer.swings[..2] {
        for end in [&swing.at_low, &swing.at_high] {
            let mut question = question(&[], 0);
            question.machine = question.machine.set(format!("{}={}", swing.range.path, end.at));
            assert_eq!(end.answer(), Some(&ask(&question, 1).base), "{}", swing.range.path);
        }
    }
}

#[test]
fn an_end_at_which_engines_do_not_close_moves_to_the_last_value_at_which_they_do_or_is_simulated_where_that_is_asked_for()
 {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("clocks.toml");
    let range = "[copy_engine]\nclock = \"1.755 GHz\"\n[provenance.copy_engine.clock]\nkind = \"assumed\"\nsource = \"made up\"\n\
                 low = \"1 GHz\"\nhigh = \"1.99 GHz\"\n";
    std::fs::write(&file, range).unwrap();
    let mut own = question(&[], 0);
    own.machine = own.machine.overlay(file.to_str().unwrap());
    let [moved, simulated] = ["error", "warn"].map(|check| {
        let own = Question { machine: own.machine.clone().set(format!("engine.check={check}")), ..own.clone() };
        let swings = ask(&own, 2).swings;
        swings.into_iter().find(|swing| swing.range.path == "copy_engine.clock").unwrap().at_high
    });
    let name = own.machine.resolve().unwrap().name();
    for end in [&moved, &simulated] {
        assert_eq!(end.does_not_close, [name.as_str()]);
    }
    assert_eq!(simulated.at, "1.99 GHz");
    let at = |hertz: u64| own.machine.clone().set(format!("copy_engine.clock={hertz} Hz")).resolve();
    let hertz = moved.at.parse::<crate::units::Frequency>().unwrap().0;
    assert!(at(hertz).is_ok() && at(hertz + 1).unwrap_err().does_not_close().is_some(), "{}", moved.at);
}

#[test]
fn a_workload_of_one_copy_swings_as_its_copy_does() {
    let file = WorkloadFile::parse(
        "one",
        "operations = [{ op = \"copy\", direction = \"h2d\", size = \"4 KiB\", stream = \"a\" }]".into(),
    );
    let mut one = question(&["direct"], 0);
    one.workload.steps = Some(file.unwrap().steps);
    let [copy, run] = [&question(&["direct"], 0), &one].map(|question| ask(question, 2));
    assert_eq!((copy.unit, run.unit), ("GB/s", "runs/s"));
    let of = |answer: &Sensitivity| answer.swings.iter().map(|swing| swing.range.path.clone()).collect::<Vec<_>>();
    assert_eq!(of(&copy)[..3], of(&run)[..3]);
    // The run begins with the call and ends with the copy, so that both rates are one over the same time.
    let ratio = copy.base.rate * 1e9 / 4096.0 / run.base.rate;
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
}

#[test]
fn a_gain_is_stated_against_the_baseline_that_compare_has() {
    let answer = ask(&question(&["direct", "off"], 0), 2);
    let against: Vec<_> = answer.conclusions.iter().map(|one| one.against.as_str()).collect();
    assert_eq!(against, ["h100-cc-resealed", "h100-nvl-tdx"]);
    let resealed = ask(&question(&["h100-cc-resealed"], 0), 1).base.designs_rates[0];
    assert_eq!(answer.base.gains[0], answer.base.designs_rates[0] / resealed);
    assert_eq!(answer.base.gains[1], answer.base.designs_rates[1] / answer.base.rate);
}

#[test]
fn a_design_is_varied_within_its_own_range_of_what_it_sets() {
    let answer = ask(&question(&["sm"], 0), 2);
    let swing = answer.swings.iter().find(|swing| swing.range.path == "sm.used").unwrap();
    assert_eq!((swing.range.of.as_slice(), swing.machine_swing), (&["sm".to_owned()][..], 0.0));
    assert!(swing.relative_swing > 0.0);
}

#[test]
fn each_number_of_each_machine_that_runs_is_varied_there_or_said_not_to_be() {
    let stacked = ["direct-in-place+overlap+serial-ghash", "fastrack+hold", "overlap+verify-bound"];
    for (turn, design) in Shipped::names(Role::Design).chain(stacked).enumerate() {
        let machine = Layers::new("h100-nvl-tdx");
        let variants = variant::variants(&machine, &[design.to_owned()], Memory::Pinned).unwrap();
        let (ranges, fixed) = varied(&variants);
        for (place, variant) in variants.iter().enumerate() {
            let own = variant.base.resolved();
            for one in own.parameters.iter().filter(|one| one.amount.is_some()) {
                let varied = ranges.iter().filter(|range| range.path == one.path && range.applies[place]).count();
                let mut not = fixed.iter().filter(|fixed| fixed.path == one.path && fixed.applies[place]);
                let what = format!("{design}, {}: {}", variant.name, one.path);
                match not.next() {
                    Some(fixed) => {
                        let ranged = one.provenance.low != one.provenance.high;
                        assert_eq!(fixed.why == Why::NoOtherValue, ranged, "{what}");
                        assert!(varied == 0 && not.next().is_none(), "{what}");
                    }
                    None => assert_eq!(varied, 1, "{what}"),
                }
            }
            // What is said to be varied is another machine at one end at least: what the design sets, and of the rest each twelfth in turn.
            let looked_at = |number: usize, range: &Range| {
                range.applies[place] && ((number + turn).is_multiple_of(12) || range.of.iter().any(|of| of == design))
            };
            for (number, range) in ranges.iter().enumerate().filter(|(number, range)| looked_at(*number, range)) {
                let (_, low, high) = range.amounts().unwrap();
                let differs = [low, high].into_iter().any(|end| {
                    let value = draw::nearest(&variants, &ranges, &[], (number, end));
                    let settings = draw::of_variant(&ranges, &[(number, value)], place);
                    variant.base.varied(&settings).unwrap().machine != own.machine
                });
                assert!(differs, "{design}, {}: {}", variant.name, range.path);
            }
        }
    }
}

#[test]
fn what_a_design_overrides_swings_in_the_design_by_what_setting_it_gives() {
    let design = "direct-in-place+overlap+serial-ghash";
    let mut question = question(&[design], 0);
    question.workload.copies = sized(&["h2d:1MiB".parse::<CopyArgument>().unwrap()], None).unwrap();
    let answer = ask(&question, 2);
    let product = |swing: &&Swing| swing.range.path == "engine.ghash.multiplier.product";
    let own = |swing: &&Swing| swing.range.of == [design];
    let swing = answer.swings.iter().filter(product).find(own).unwrap();
    let [low, high] = answer.changes(swing).map(Option::unwrap);
    for (change, cycles) in [(low, 1), (high, 7)] {
        let mut alone = question.clone();
        let set = format!("engine.ghash.multiplier.product={cycles} cycles");
        alone.machine = alone.machine.overlay(design).set(set);
        alone.designs.clear();
        assert_eq!(ask(&alone, 2).base.rate / answer.base.designs_rates[0] - 1.0, change, "{cycles}");
    }
    assert!(low > 0.3 && high < -0.3 && swing.shown_swing() > 0.9, "{low} {high}");
    // That of the machine is its own.
    let machine = answer.swings.iter().filter(product).find(|swing| swing.range.is_of_machine()).unwrap();
    assert!(!machine.range.of.is_empty() && machine.range.of.iter().all(|name| name != design));
}

#[test]
fn what_was_stopped_goes_on_with_what_is_finished() {
    let question = question(&["direct"], 2);
    let whole = ask(&question, 1);
    let (folder, mut turns) = (tempfile::tempdir().unwrap(), 0);
    loop {
        let asked = AtomicUsize::new(0);
        let observer = || {
            let stop = asked.fetch_add(1, Ordering::Relaxed) > 400;
            if stop { Control::Stop } else { Control::Continue }
        };
        let finished = Finished::of(Ok(folder.path().join("pieces.jsonl")));
        assert!(finished.resume().is_none());
        assert_eq!(finished.kept().0 > 0, turns > 0);
        let told = Mutex::new(0.0);
        let answer = sensitivity(&question, 1, &finished, &observer, &|part| *told.lock().unwrap() += part);
        let before = turns;
        turns += 1;
        match answer {
            Ok(answer) => {
                assert_eq!(serde_json::to_value(&answer).unwrap(), serde_json::to_value(&whole).unwrap());
                assert!(turns > 2 && *told.lock().unwrap() > 0.99, "{turns} turns");
                return;
            }
            Err(SensitivityError::Stopped { of }) => {
                assert!(finished.kept().0 < of && before < 100, "{:?}", finished.kept())
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_conclusion_that_flips_says_where_and_does_not_survive() {
    let mut question = question(&["off"], 2);
    // A margin that the gain just reaches: whatever slows the design, or speeds the machine, breaks it.
    question.margin = ask(&question, 2).base.gains[0] - 1.0 - 1e-9;
    let answer = ask(&question, 2);
    let [conclusion] = &answer.conclusions[..] else { panic!("one design, one conclusion") };
    assert!(conclusion.faster && !conclusion.survives && conclusion.holds_in.is_some());
    let flip = answer.swings.iter().flat_map(|swing| &swing.flips).next().unwrap();
    let mut there = question.clone();
    there.machine = there.machine.set(format!("{}={}", flip.path, flip.at));
    there.samples = 0;
    assert!(ask(&there, 1).base.gains[0] < 1.0 + question.margin, "{flip:?}");
}

#[test]
fn indices_are_of_the_parameters_that_swing_most_and_every_point_is_told() {
    let mut question = question(&["direct"], 4);
    question.indices = 16;
    let answer = ask(&question, 2);
    let indices = answer.indices.as_ref().unwrap();
    let count = indices.parameters.len();
    assert_eq!((indices.points, indices.refused), (16, 0));
    assert!((2..=8).contains(&count) && indices.parameters[0].path == answer.swings[0].range.path, "{indices:?}");
    assert!(indices.parameters.iter().any(|index| index.rate.total.value > 0.1), "{indices:?}");
    assert_eq!(answer.samples.len(), 4 + 16 * (2 + count));
    // Where a column is taken from the other hypercube, that parameter alone differs.
    let set = |name: &str| answer.samples.iter().filter(|sample| sample.set == name).collect::<Vec<_>>();
    let path = &indices.parameters[0].path;
    for ((own, other), with) in set("a").iter().zip(set("b")).zip(set(&format!("a with {path} of b"))) {
        for ((place, range), value) in answer.ranges.iter().enumerate().zip(&with.values) {
            let part = |sample: &Sample| sample.values[place].as_ref().map(|value| value.0);
            let from = if range.path == *path { other } else { *own };
            assert_eq!(value.as_ref().map(|value| value.0), part(from), "{}", range.path);
        }
    }
}
