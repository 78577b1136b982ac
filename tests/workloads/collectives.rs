//! Workloads that call collectives: counts, bytes, and what their order or compression is for.

use crate::shared::{calls, end, shipped, written};
use sealsim::workload::{Workload, WorkloadStep};

const MIB: u64 = 1 << 20;

#[test]
fn calls_and_bytes_are_those_of_the_files() {
    let expected =
        [("compressed-allreduce", 98, MIB / 2), ("ooo-backprop", 16, 16 * MIB), ("elastic-sgd", 4, 102_228_128)];
    for (name, count, bytes) in expected {
        let calls = calls(&shipped(name).0);
        assert_eq!(calls.len(), count, "{name}");
        assert!(calls.iter().all(|call| call.bytes == bytes), "{name}");
    }
}

/// Gradients of the same chunks, whole.
fn uncompressed() -> Workload {
    written(
        r#"{ op = "repeat", count = 98, operations = [
            { op = "kernel", duration = "100 us", stream = "compute" },
            { op = "record", event = "made", stream = "compute" },
            { op = "wait", event = "made", stream = "nccl" },
            { op = "collective", kind = "all-reduce", ranks = 8, size = "1 MiB", stream = "nccl" },
        ] }, { op = "sync" }"#,
    )
}

#[test]
fn compression_pays_where_hops_are_sealed_by_the_cpu_and_not_where_links_are_fast() {
    let (compressed, machine) = shipped("compressed-allreduce");
    let gain = |design| end(&uncompressed(), &machine, design) / end(&compressed, &machine, design);
    let [plain, staged] = ["off+plain", "staged"].map(gain);
    assert!(plain < 1.0 && staged > 2.0, "{plain} {staged}");
}

/// The same steps with weights' gradients where they are usually made: each behind the gradient of its layer's inputs, the last layer first.
fn in_order(workload: &Workload) -> Workload {
    let steps = workload.steps.clone().unwrap();
    let kernel = |step: &&WorkloadStep| matches!(step, WorkloadStep::Kernel { .. });
    let reduced = steps.iter().filter(|step| matches!(step, WorkloadStep::Collective { .. })).count() / 2;
    let one = steps.iter().find(kernel).unwrap().clone();
    // As usual, 5 steps a layer; then the record of the last of these, kernels alone, and 5 steps a layer again.
    let (usual, rest) = steps.split_at(5 * reduced + 1);
    let (late, forward) = rest[reduced..].split_at(5 * reduced);
    let late = late.chunks(5).rev().flat_map(|layer| std::iter::once(one.clone()).chain(layer.iter().cloned()));
    Workload { steps: Some([usual, &late.collect::<Vec<_>>(), forward].concat()), ..workload.clone() }
}

#[test]
fn order_helps_where_all_reduces_are_not_hidden_and_changes_nothing_where_they_are() {
    let (ooo, machine) = shipped("ooo-backprop");
    let usual = in_order(&ooo);
    assert_eq!((calls(&usual), usual.steps.as_ref().unwrap().len()), (calls(&ooo), ooo.steps.as_ref().unwrap().len()));
    let gain = |design| end(&usual, &machine, design) / end(&ooo, &machine, design);
    let [plain, direct] = ["off+plain", "direct+verify-bound"].map(gain);
    assert!((plain - 1.0).abs() < 0.02 && direct > 1.01, "{plain} {direct}");
}
