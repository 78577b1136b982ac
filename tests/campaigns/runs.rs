//! Each shipped workload delivers with confidential computing off and on, and is slower with it.

use crate::shared::{run, shipped};
use sealsim::workload::SHIPPED_WORKLOADS;

/// Every fourth of them, so that tests share out the work.
fn runs(part: usize) {
    for shipped_workload in SHIPPED_WORKLOADS.iter().skip(part).step_by(4) {
        let name = shipped_workload.name;
        let (workload, _) = shipped(name);
        let [off, on] = ["off", "h100-cc"].map(|design| {
            let outcome = run(name, design);
            assert_eq!(outcome.copies.len(), workload.copies.len(), "{name} {design}");
            assert!(outcome.copies.iter().all(|copy| copy.delivered), "{name} {design}");
            outcome
        });
        assert!(on.end > off.end, "{name}: {} with confidential computing, {} without", on.end, off.end);
        assert!(off.copies.iter().all(|copy| copy.messages == 0), "{name}");
        assert!(on.copies.iter().all(|copy| copy.tags_failed == 0), "{name}");
    }
}

#[test]
fn the_first_quarter_runs_and_is_slower_with_confidential_computing() {
    runs(0);
}

#[test]
fn the_second_quarter_runs_and_is_slower_with_confidential_computing() {
    runs(1);
}

#[test]
fn the_third_quarter_runs_and_is_slower_with_confidential_computing() {
    runs(2);
}

#[test]
fn the_fourth_quarter_runs_and_is_slower_with_confidential_computing() {
    runs(3);
}
