//! The campaign finds what is wrong, and nothing where nothing is.

use super::*;
use crate::{config::Layers, system::planted};

fn question(name: &str, sets: &[&str], copies: &[&str], count: u64) -> Question {
    let quick = ["copy_engine.completion_timeout=20 us", "driver.pinned={message=\"4 KiB\",push=\"8 KiB\"}"];
    let layers = quick.iter().chain(sets).fold(Layers::new(name), |layers, set| layers.set(*set));
    let arguments: Vec<_> = copies.iter().map(|copy| copy.parse().unwrap()).collect();
    let copies = crate::workload::sized(&arguments, None).unwrap();
    let (data, kernel) = (DataMode::None, Kernel::Skip);
    let workload = Workload { copies, steps: None, payload: None, data, seed: 0, kernel, injections: Vec::new() };
    Question {
        machine: layers.resolve().unwrap().machine,
        workload,
        sets: count,
        most: 5,
        seed: 1,
        both_kernels: false,
    }
}

fn go(question: &Question) -> Campaign {
    campaign(question, 1, &|| Control::Continue, &|| {}).unwrap()
}

#[test]
fn a_delivery_that_counts_sums_is_found() {
    let question = question("h100-nvl-tdx", &["confidential_computing=false"], &["d2h:16KiB"], 300);
    assert_eq!(go(&question).findings().next(), None);
    planted::count_sums(true);
    let found = go(&question);
    planted::count_sums(false);
    let finding = found.findings().next().expect("a hole beside bytes that came twice");
    assert!(finding.finding.as_ref().unwrap().contains("called delivered"), "{finding:?}");
    assert!(finding.faults.len() > 1);
}

#[test]
fn on_a_machine_that_seals_each_class_has_its_signal() {
    let campaign = go(&question("h100-nvl-tdx", &[], &["h2d:16KiB", "d2h:16KiB"], 80));
    assert_eq!(campaign.findings().next(), None);
    let by = |signal: &str| campaign.sets.iter().filter_map(|set| set.signal.as_ref()).any(|one| one.signal == signal);
    assert!(by("tag_mismatch") && by("cpu_tag") && by("lcrc"));
    for set in &campaign.sets {
        let detected = set.class == Some(FaultClass::Detected);
        assert_eq!((set.signal.is_some(), set.latency_ps.is_some()), (detected, detected), "{set:?}");
        // Hangs have activated faults too.
        assert_eq!(set.class.is_some(), set.struck > 0, "{set:?}");
    }
    assert!(campaign.sets.iter().any(|set| set.class == Some(FaultClass::Hang)));
    let counted: u64 = campaign.classes.iter().map(|share| share.sets).sum();
    assert_eq!(counted as usize, campaign.sets.iter().filter(|set| set.struck > 0).count());
}

/// The example of a burst that is lost behind the engine: its tag is right, its semaphore comes, and 512 B are missing.
#[test]
fn what_only_the_oracle_sees_is_silent_and_never_detected() {
    let question = Question { most: 1, ..question("h100-nvl-tdx", &[], &["h2d:64KiB", "d2h:64KiB"], 400) };
    let campaign = go(&question);
    let silent = campaign.sets.iter().filter(|set| set.class == Some(FaultClass::Silent));
    let (mut seen, mut lost) = (0, 0);
    for set in silent {
        assert!(set.signal.is_none() && set.delivered < 2, "{set:?}");
        seen += 1;
        lost += usize::from(set.faults[0].starts_with("gpu.pce0.writes.drop"));
    }
    assert!(seen > 0 && lost > 0, "{seen} silent, {lost} of them lost writes");
}

/// Against the formula, computed apart.
#[test]
fn bounds_are_those_of_wilson() {
    for (count, all, low, high) in [(0, 10, 0.0, 0.277_5), (5, 10, 0.236_6, 0.763_4), (33, 1000, 0.023_6, 0.045_9)] {
        let [a, b] = wilson(count, all);
        assert!((a - low).abs() < 1e-4 && (b - high).abs() < 1e-4, "{count} of {all}: {a} to {b}");
    }
    assert_eq!((wilson(0, 0), wilson(7, 7)[1]), ([0.0, 1.0], 1.0));
}

#[test]
fn copies_that_are_too_long_to_keep_are_refused() {
    let question = question("h100-nvl-tdx", &[], &["h2d:65MiB"], 1);
    let refused = campaign(&question, 1, &|| Control::Continue, &|| {});
    assert!(matches!(refused, Err(CampaignError::TooLong { .. })));
}

#[test]
fn an_interrupted_campaign_says_so() {
    let question = question("h100-nvl-tdx", &[], &["h2d:4KiB"], 1);
    assert!(matches!(campaign(&question, 1, &|| Control::Stop, &|| {}), Err(CampaignError::Stopped)));
}

fn every(question: &Question, per_point: usize, members: usize) -> Single {
    let extent = Extent { per_point: Some(per_point), members };
    single(question, extent, 2, &|| Control::Continue, (&|_| {}, &|| {})).unwrap()
}

/// GCM authenticates ciphertext: what is wrong in the keystream is not seen, on either side, and what is wrong in GHASH is.
#[test]
fn in_a_machine_the_keystream_is_silent_and_ghash_is_detected() {
    let question = question("h100-nvl-tdx", &[], &["h2d:4KiB", "d2h:4KiB"], 0);
    let all = every(&question, 1, 24);
    assert!(all.findings.is_empty(), "{:?}", all.findings);
    let mut seen = [0; 3];
    for PointTally { point, tally, .. } in all.points.iter().filter(|point| point.tally.struck > 0) {
        assert_eq!(tally.struck, tally.harmless + tally.detected + tally.silent + tally.hang, "{point}");
        let Some((_, register)) = point.split_once(".engine.") else { continue };
        assert_eq!(tally.hang, 0, "{point}");
        match register.split('.').next() {
            Some("keystream") => assert_eq!(tally.silent, tally.struck, "{point}"),
            Some("output") => assert_eq!(tally.detected, tally.struck, "{point}"),
            Some(unit) if unit.starts_with("ghash") || unit == "tag" => {
                assert_eq!(tally.silent, 0, "{point}");
                seen[0] += tally.detected;
            }
            Some("aes") => {
                assert_eq!(tally.harmless, 0, "{point}");
                (seen[1], seen[2]) = (seen[1] + tally.silent, seen[2] + tally.detected);
            }
            Some("key" | "counter") => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
    // The bit makes no difference to what is read in any case.
    let apart =
        all.disagreements.iter().filter(|(fault, ..)| fault.contains(".engine.aes") || fault.contains(".keystream."));
    assert_eq!(apart.count(), 0, "{:?}", all.disagreements);
}

#[test]
fn a_register_that_an_engine_does_not_have_is_refused_with_one_that_it_has() {
    let question = question("h100-nvl-tdx", &[], &["h2d:4KiB"], 0);
    let refused = |fault: &str| {
        let crate::workload::InjectionArgument(injection) = fault.parse().unwrap();
        let workload = Workload { injections: vec![injection], ..question.workload.clone() };
        let (request, _) = image::kept(&workload, &CollectiveTimes::default()).unwrap();
        system::run(&question.machine, request, &mut |_| Control::Continue).unwrap_err().to_string()
    };
    let all = crate::system::registers(&question.machine).unwrap();
    let round_key = all.iter().find(|name| name.ends_with("key.round3")).unwrap();
    let nearest = refused(&round_key.replace("round3", "rund3.flip"));
    assert!(nearest.contains("key.round"), "{nearest}");
    assert!(refused(&format!("{round_key}.drop")).contains("no fault point"));
    assert!(refused(&format!("{round_key}.flip:cycles=3")).contains("stuck0 or stuck1"));
    assert!(refused("link.h2d.flip:cycle=3").contains("only registers"));
}

/// Against R's `binom.test`.
#[test]
fn exact_bounds_are_those_of_clopper_and_pearson() {
    for (count, all, low, high) in [(0, 10, 0.0, 0.308_5), (5, 10, 0.187_1, 0.812_9), (10, 10, 0.691_5, 1.0)] {
        let [a, b] = clopper_pearson(count, all);
        assert!((a - low).abs() < 1e-4 && (b - high).abs() < 1e-4, "{count} of {all}: {a} to {b}");
    }
}

#[test]
fn with_a_timeout_of_hand_overs_nothing_hangs_and_all_else_is_as_without() {
    let ask =
        |sets: &[&str]| go(&Question { most: 1, ..question("h100-nvl-tdx", sets, &["h2d:16KiB", "d2h:16KiB"], 60) });
    let (without, with) = (ask(&[]), ask(&["copy_engine.handover_timeout=50 us"]));
    let mut hung = 0;
    for (before, after) in without.sets.iter().zip(&with.sets) {
        if before.class != Some(FaultClass::Hang) {
            assert_eq!(before, after);
            continue;
        }
        hung += 1;
        assert_eq!(after.class, Some(FaultClass::Detected), "{after:?}");
        let timeout = after.signal.as_ref().is_some_and(|signal| signal.signal == "handover_timeout");
        assert!(!timeout || after.latency_ps >= Some(50_000_000), "{after:?}");
    }
    assert!(hung > 0);
}
