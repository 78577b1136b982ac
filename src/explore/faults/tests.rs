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
fn on_a_machine_that_seals_it_is_told_who_caught_what() {
    let campaign = go(&question("h100-nvl-tdx", &[], &["h2d:16KiB", "d2h:16KiB"], 60));
    assert_eq!(campaign.findings().next(), None);
    let by = |caught| campaign.sets.iter().filter(|set| set.caught == caught).count();
    assert!(by(Caught::TagQueue) > 0 && by(Caught::CopyEngine) > 0 && by(Caught::Host) > 0);
    // Where everything is sealed the last comparison has nothing to find.
    assert_eq!(by(Caught::Comparison), 0);
    let failed = campaign.sets.iter().filter(|set| set.delivered < 2 && set.caught != Caught::Hang);
    assert!(failed.filter(|set| set.caught != Caught::FlowControl).all(|set| set.after_ps.is_some()));
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
