//! Data-parallel training: weights and buckets of the models, one GPU for all of them against every GPU, and how the slow-down grows.

use crate::shared::{calls, end, shipped, simulate, with_parameters, workload};
use proptest::prelude::*;
use sealsim::{
    config::Layers,
    explore::{Finished, Grid, Work, compare, named},
    figures::table::{BUSIEST, COLLECTIVES, COLLECTIVES_EXPOSED, COLLECTIVES_TIME, TIME},
    sim::Control,
    system::{self, Memory},
    units::Femtos,
    workload::{
        Arrival, Workload, WorkloadFile, WorkloadStep,
        collective::{CollectiveTimes, Extent},
    },
};
use std::fmt::Write;

/// Models, and their weights as papers have them.
pub const MODELS: [(&str, u64); 4] = [
    ("ddp-resnet50", 25_557_032),
    ("ddp-vgg16", 138_357_544),
    ("ddp-bert-large", 335_141_888),
    ("ddp-gpt2-xl", 1_557_611_200),
];

/// Sizes of the buckets, in their order.
fn buckets(workload: &Workload) -> Vec<u64> {
    calls(workload).iter().map(|call| call.bytes).collect()
}

#[test]
fn buckets_hold_the_gradients_of_all_weights() {
    for (name, weights) in MODELS {
        for cap in ["4 KiB", "25 MiB", "8 GiB"] {
            let buckets = buckets(&with_parameters(name, &[&format!("bucket_cap={cap}")]));
            assert_eq!(buckets.iter().sum::<u64>(), 4 * weights, "{name} {cap}");
        }
        let buckets = buckets(&shipped(name).0);
        let (last, full) = buckets.split_last().unwrap();
        assert!(full[1..].iter().all(|bytes| *bytes >= 25 << 20) && *last > 0, "{name} {buckets:?}");
    }
    // The first bucket is full with the classifier: 1000 x 2048 weights and 1000 biases.
    assert_eq!(buckets(&shipped("ddp-resnet50").0)[0], 4 * (1000 * 2048 + 1000));
}

/// Training of a small model on so many GPUs, with their steps on each of `gpus`.
fn small(layers: u64, side: u64, ranks: usize, cap: u64, gpus: usize) -> Workload {
    let text = format!(
        r#"operations = [{{ op = "repeat", count = {gpus}, index = "g", operations = [
            {{ op = "ddp", gpu = "{{g}}", stream = "compute", collectives = "nccl", ranks = {ranks}, batch = 4, rate = "20 TFLOP/s",
               bucket_cap = "{cap} KiB", first_bucket = "64 KiB", update = "10 us",
               layers = [{{ count = {layers}, uses = 64, shapes = [[{side}, {side}], [{side}]] }}] }},
            {{ op = "sync", gpu = "{{g}}" }},
        ] }}]"#
    );
    workload(WorkloadFile::parse("small", text).unwrap())
}

/// When each of the first GPUs had done its last kernel, with so much of collectives simulated.
fn ends(workload: &Workload, design: &str, extent: Extent, gpus: usize) -> Vec<(u64, u64)> {
    let machine = Layers::new("hgx-h100-8gpu").overlay(design).resolve().unwrap().machine;
    let collectives = CollectiveTimes::measure(&machine, calls(workload), extent, &mut |_| Control::Continue).unwrap();
    let arrivals: Vec<Arrival> = Vec::new();
    let request = workload.request(&arrivals, &collectives).unwrap();
    let outcome = system::run(&machine, request, &mut |_| Control::Continue).unwrap();
    let compute = outcome.units.iter().filter(|unit| unit.name.ends_with(".compute")).take(gpus);
    compute.map(|unit| (unit.busy, unit.stalls.iter().map(|(_, cycles)| cycles).sum())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn collectives_are_said_to_limit_what_ends_earlier_without_them_and_only_that(
        layers in 1..9u64,
        // From kernels that the host can hardly launch fast enough to such as hide all collectives.
        side in prop::sample::select(vec![64u64, 192, 320, 1024]),
        cap in 64..2048u64,
        design in prop::sample::select(vec!["plain", "direct", "link", "staged"]),
    ) {
        let workload = small(layers, side, 4, cap, 1);
        let candidate = named(&Layers::new("hgx-h100-8gpu"), design, Memory::Pinned).unwrap();
        let machine = candidate.resolved.machine.clone();
        let finished = Finished::default();
        let grid = Grid::of(Work::workload("ddp".into(), None, workload.clone()));
        let compared = compare(&[candidate], &grid, 1, &finished, &|| Control::Continue, &|_| ()).unwrap();
        let row = &compared.designs[0].rows()[0];
        let figure = |figure| row.number(figure).unwrap();
        let [time, exposed, all, calls] = [&TIME, &COLLECTIVES_EXPOSED, &COLLECTIVES_TIME, &COLLECTIVES].map(figure);
        // The same steps but for the collectives.
        let mut without = workload.clone();
        without.steps.as_mut().unwrap().retain(|step| !matches!(step, WorkloadStep::Collective { .. }));
        let request = without.request(&[], &CollectiveTimes::default()).unwrap();
        let end = system::run(&machine, request, &mut |_| Control::Continue).unwrap().end.picos();
        let gain = (time - end as f64).max(0.0) / time;
        prop_assert!(exposed <= all + calls * 1e6, "{:?}", row);
        // Launches go with the collectives here, so that a little more is gained.
        if row.get(&BUSIEST).shown() == "collectives" {
            prop_assert!(gain >= 0.1, "{} {:?}", gain, row);
        } else {
            prop_assert!(gain < 0.5, "{} {:?}", gain, row);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn one_gpu_stands_for_all_exactly(
        layers in 1..5u64,
        side in prop::sample::select(vec![64u64, 192, 256, 320]),
        ranks in 2..5usize,
        cap in 64..2048u64,
        design in prop::sample::select(vec!["plain", "trusted-fabric", "direct", "link", "pad-ahead", "staged"]),
    ) {
        let one = ends(&small(layers, side, ranks, cap, 1), design, Extent::Shared, 1);
        let all = ends(&small(layers, side, ranks, cap, ranks), design, Extent::Full, ranks);
        prop_assert!(one[0].0 > 0 && one[0].1 > 0);
        prop_assert_eq!(all, vec![one[0]; ranks]);
    }
}

#[test]
fn where_nothing_overlaps_an_iteration_is_its_kernels_and_its_all_reduces() {
    // One layer: its gradients are ready when the backward pass is over.
    let workload = small(1, 256, 4, 4096, 1);
    let machine = Layers::new("hgx-h100-8gpu").resolve().unwrap().machine;
    let times = workload.collectives(&machine, &mut |_| Control::Continue).unwrap();
    let reduced: u64 = times.iter().map(|(_, one)| one.time.0 * one.calls).sum();
    let operations = 2 * 256 * 256 * 64 * 4 * 3;
    // 50 fs for each at 20 TFLOP/s; then the update of 10 us.
    let kernels = Femtos((operations * 50 + 10_000_000_000) / 1000 * 1024);
    let (busy, waits) = ends(&workload, "trusted-fabric", Extent::Shared, 1)[0];
    let hz = machine.compute.clock.0 as f64;
    // Each of the three kernels and the collective has a launch before it.
    let launch = machine.compute.launch.0 as f64 / hz;
    assert!((busy as f64 / hz - kernels.seconds() - 3.0 * launch).abs() < 1e-7, "{busy} {kernels}");
    assert!((waits as f64 / hz - reduced as f64 * 1e-15 - launch).abs() < 1e-7, "{waits} {reduced}");
}

/// Slow-down of a model with these settings.
fn slowdown(name: &str, design: &str, settings: &[&str]) -> f64 {
    let workload = with_parameters(name, settings);
    end(&workload, "generic-16gpu", design) / end(&workload, "generic-16gpu", "off+plain")
}

#[test]
fn the_slow_down_grows_with_gpus_and_with_small_buckets_and_a_larger_cap_recovers_most() {
    // Each message of a hop has a price of its own: what the copy engines of direct submit.
    let of = |ranks: usize, cap: &str| {
        let (ranks, cap) = (format!("ranks={ranks}"), format!("bucket_cap={cap}"));
        slowdown("ddp-resnet50", "direct", &["rate=600 TFLOP/s", "first_bucket=4 KiB", &ranks, &cap])
    };
    let by_ranks = [2, 4, 16].map(|ranks| of(ranks, "1 MiB"));
    assert!(by_ranks.is_sorted(), "{by_ranks:?}");
    let by_cap = [of(16, "4 KiB"), by_ranks[2], of(16, "25 MiB")];
    assert!(by_cap.is_sorted_by(|one, other| one > other), "{by_cap:?}");
    assert!(by_cap[2] - 1.0 < (by_cap[0] - 1.0) / 2.0, "{by_cap:?}");
}

/// The rows of the table: a model, GPUs, the cap of buckets, and designs.
fn row(name: &str, ranks: usize, cap: &str) -> String {
    let (of_ranks, of_cap) = (format!("ranks={ranks}"), format!("bucket_cap={cap}"));
    let first = if cap == "4 KiB" { "first_bucket=4 KiB" } else { "first_bucket=1 MiB" };
    let settings = [of_ranks.as_str(), &of_cap, first];
    let workload = with_parameters(name, &settings);
    let of = |design| end(&workload, "generic-16gpu", design);
    let (off, mut row) = (of("off+plain"), format!("{name},{ranks},{cap},{}", calls(&workload).len()));
    for design in ["staged", "direct", "direct+verify-bound", "link"] {
        let _ = write!(row, ",{:.2}", of(design) / off);
    }
    row + "\n"
}

const TABLE: &str = "docs/tables/training.csv";

const CAPS: [&str; 3] = ["4 KiB", "25 MiB", "256 MiB"];

#[test]
#[ignore = "minutes: three models, the largest on 16 GPUs"]
fn the_table_of_training_is_what_the_model_gives() {
    let written = std::fs::read_to_string(TABLE).unwrap();
    let mut table = String::new();
    let rows =
        [("ddp-resnet50", 4), ("ddp-resnet50", 16), ("ddp-bert-large", 4), ("ddp-bert-large", 16), ("ddp-gpt2-xl", 16)];
    for (name, ranks) in rows {
        CAPS.iter().for_each(|cap| table += &row(name, ranks, cap));
    }
    assert!(written.contains(&table), "{TABLE} lacks this table:\n{table}");
}

#[test]
#[ignore = "of a document: .ci/run"]
fn a_row_of_the_documents_table_is_what_the_model_gives() {
    let written = std::fs::read_to_string(TABLE).unwrap();
    let row = row("ddp-resnet50", 4, "25 MiB");
    assert!(written.contains(&row), "{TABLE} lacks this row:\n{row}");
}

/// What a platform has whose hops cost so much each, and whose engines open one block after the other.
fn emulated(name: &str, step: &str, settings: &[&str]) -> f64 {
    let workload = with_parameters(name, &[settings, &["ranks=4"]].concat());
    let layers = Layers::new("hgx-h100-8gpu").overlay("direct").overlay("verify-bound");
    let machine = layers.set(format!("fabric.submission=\"{step}\"")).resolve().unwrap().machine;
    let collectives = workload.collectives(&machine, &mut |_| Control::Continue).unwrap();
    let arrivals: Vec<_> = workload.copies.iter().map(|_| Arrival::new(false, None)).collect();
    let request = workload.request(&arrivals, &collectives).unwrap();
    let sealed = system::run(&machine, request, &mut |_| Control::Continue).unwrap();
    sealed.end.seconds() / simulate(&workload, "hgx-h100-8gpu", "off+plain").end.seconds()
}

#[test]
#[ignore = "a minute: GPT-2 XL three times"]
fn published_figures_come_out_where_each_hop_costs_milliseconds() {
    let caps = |cap: &str| [format!("bucket_cap={cap}"), format!("first_bucket={cap}")];
    let of = |cap: &str| emulated("ddp-gpt2-xl", "3.3 ms", &caps(cap).each_ref().map(String::as_str));
    let [small, large] = ["4 KiB", "8 GiB"].map(of);
    println!("GPT-2 XL on 4 GPUs: small buckets {small:.2}, one bucket {large:.2}");
    assert!((small / 41.6 - 1.0).abs() < 0.1 && (large / 3.03 - 1.0).abs() < 0.2, "{small} {large}");
    let mean = MODELS.map(|(name, _)| emulated(name, "3.3 ms", &[])).iter().sum::<f64>() / 4.0;
    println!("mean of four models with default buckets: {mean:.2}");
    let document = std::fs::read_to_string("docs/workloads.md").unwrap_or_default();
    for figure in [format!("takes {small:.1} times"), format!("and {large:.1} times"), format!("is {mean:.1}.")] {
        assert!(document.contains(&figure), "docs/workloads.md lacks {figure:?}");
    }
}

#[test]
fn the_steps_of_a_training_are_kernels_events_and_all_reduces_alone() {
    for (name, _) in MODELS {
        let (workload, _) = shipped(name);
        let copies = workload.steps.iter().flatten().filter(|step| matches!(step, WorkloadStep::Copy { .. })).count();
        assert_eq!(copies, workload.copies.len(), "{name}");
        assert!(calls(&workload).len() > 1, "{name}");
    }
}
