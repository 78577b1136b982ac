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
