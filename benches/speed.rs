//! What the simulator costs its host, against software AES-GCM that seals and opens the same bytes in the same messages, built as cargo builds it by
//! default.
//!
//! Times on a shared machine mean little, ratios within one run do: after Criterion's own figures a table gives the medians of
//! interleaved rounds. `cargo bench -p sealsim-benches --bench speed`; `-- --table` prints the table alone.

mod common;

use common::{MESSAGE, floor, h2d, machine, median, simulate, sweep, timed, yardstick::Yardstick};
use criterion::{Criterion, Throughput};
use sealsim::{
    config::MachineSpec,
    sampling::{Asked, Sample, sample},
    sim::{Control, Kernel},
    system::{DataMode, Direction, Memory, Outcome},
    workload::{Copy, Workload, collective::CollectiveTimes},
};
use std::{collections::BTreeMap, hint::black_box, time::Duration};

/// The copy whose speed is stated: 256 MiB in messages of 1 MiB.
const BYTES: u64 = 256 << 20;
/// A copy short enough for the kernel that ticks everything at every edge.
const SHORT: u64 = 1 << 20;
/// A copy long enough to be sampled.
const LONG: u64 = 4 << 30;
/// Hundreds of points of the study, of 1 MiB each.
const HUNDREDS: u64 = 2;
const ROUNDS: usize = 9;

/// Samples a copy of so many bytes.
fn sampled(machine: &MachineSpec, bytes: u64) {
    let copy = Copy { gpu: 0, direction: Direction::H2d, bytes, memory: Memory::Pinned };
    let (workload, none) = (Workload::timed(vec![copy], None), CollectiveTimes::default());
    let asked = Asked { machine, workload: &workload, collectives: &none, sample: Sample::Auto, threads: 1 };
    let found = sample(asked, &|| Control::Continue).expect("runs that end");
    black_box(found.expect("a copy that can be sampled"));
}

/// Clock edges of all domains of a run.
fn edges(outcome: &Outcome) -> u64 {
    let domains: BTreeMap<_, _> = outcome.units.iter().map(|unit| (unit.clock, unit.cycles)).collect();
    domains.values().sum()
}

fn criterion_figures(criterion: &mut Criterion, machine: &MachineSpec) {
    let copy = |data| simulate(machine, h2d(BYTES, data, Kernel::Skip));
    let mut group = criterion.benchmark_group("256 MiB in messages of 1 MiB");
    group.sample_size(10).throughput(Throughput::Bytes(BYTES));
    group.bench_function("h2d, exact", |b| b.iter(|| copy(DataMode::Exact)));
    group.bench_function("h2d, none", |b| b.iter(|| copy(DataMode::None)));
    group.finish();
    let short = || simulate(machine, h2d(SHORT, DataMode::None, Kernel::EveryCycle));
    let mut group = criterion.benchmark_group("every-cycle kernel");
    group.sample_size(10).throughput(Throughput::Elements(edges(&short())));
    group.bench_function("clock edges", |b| b.iter(short));
    group.finish();
}

/// A line of the table.
struct Row<'a> {
    what: &'static str,
    /// What it copies, seals or sweeps: the ratio is that of the times for each byte.
    bytes: u64,
    /// What it does so many of in a second, and how many of them one round has.
    counts: Option<(&'static str, u64)>,
    work: Box<dyn FnMut() + 'a>,
}

/// The lines. The first is what the others are held against; whatever else is to be compared is one more.
fn rows(machine: &MachineSpec) -> Vec<Row<'_>> {
    let mut yardstick = Yardstick::start();
    let copy = move |bytes, data, kernel| drop(simulate(machine, h2d(bytes, data, kernel)));
    let every = edges(&simulate(machine, h2d(SHORT, DataMode::None, Kernel::EveryCycle)));
    vec![
        Row {
            what: "`aes-gcm` 0.11, as cargo builds it, seals and opens the bytes",
            bytes: BYTES,
            counts: None,
            work: Box::new(move || _ = yardstick.seconds(BYTES, MESSAGE as u64)),
        },
        Row {
            what: "simulated, every byte sealed, carried, opened and compared",
            bytes: BYTES,
            counts: None,
            work: Box::new(move || copy(BYTES, DataMode::Exact, Kernel::Skip)),
        },
        Row {
            what: "simulated, `--data none`",
            bytes: BYTES,
            counts: None,
            work: Box::new(move || copy(BYTES, DataMode::None, Kernel::Skip)),
        },
        Row {
            what: "points of a sweep, 1 MiB each, on one thread",
            bytes: HUNDREDS * 100 * SHORT,
            counts: Some(("points", HUNDREDS * 100)),
            work: Box::new(|| _ = sweep(HUNDREDS, 1)),
        },
        Row {
            what: "simulated, `--data none --kernel every-cycle`",
            bytes: SHORT,
            counts: Some(("clock edges", every)),
            work: Box::new(move || copy(SHORT, DataMode::None, Kernel::EveryCycle)),
        },
        Row {
            what: "a copy of 4 GiB with `--sample auto`, on one thread",
            bytes: LONG,
            counts: None,
            work: Box::new(move || sampled(machine, LONG)),
        },
        Row {
            what: "a floor for `--data none`: its hops wired by hand",
            bytes: BYTES,
            counts: None,
            work: Box::new(|| _ = black_box(floor::copy(black_box(BYTES)))),
        },
    ]
}

fn table(machine: &MachineSpec) {
    let mut rows = rows(machine);
    let mut times: Vec<Vec<Duration>> = rows.iter().map(|_| Vec::new()).collect();
    for _ in 0..ROUNDS {
        for (row, times) in rows.iter_mut().zip(&mut times) {
            times.push(timed(&mut row.work));
        }
    }
    println!("\n256 MiB h2d in 1 MiB messages, h100-nvl-tdx; medians of {ROUNDS} interleaved rounds");
    println!("| what | of `aes-gcm`'s time for as many bytes | seconds | in a second |");
    println!("| --- | --- | --- | --- |");
    let mut each: Vec<f64> = Vec::new();
    for (row, times) in rows.iter().zip(times) {
        let seconds = median(times);
        each.push(seconds / row.bytes as f64);
        let ratio = each[each.len() - 1] / each[0];
        let rate =
            row.counts.map_or_else(String::new, |(of, count)| format!("{} {of}", grouped(count as f64 / seconds)));
        println!("| {} | {ratio:.2} | {seconds:.3} | {rate} |", row.what);
    }
    pairs(&each);
}

/// Two lines, by their places, whose ratio is told beside.
const PAIRS: [(&str, usize, usize); 4] = [
    ("exact data over `--data none`", 1, 2),
    ("`every-cycle` over `skip`, both `--data none`", 4, 2),
    ("4 GiB sampled over all of it, both `--data none`", 5, 2),
    ("`--data none` over its floor", 2, 6),
];

/// Ratios of lines to others than the first, from the time of each for a byte.
fn pairs(each: &[f64]) {
    println!("\n| one over another, for as many bytes | ratio |");
    println!("| --- | --- |");
    for (what, one, other) in PAIRS {
        println!("| {what} | {:.2} |", each[one] / each[other]);
    }
}

/// A count with three digits that mean something.
fn grouped(count: f64) -> String {
    if count < 1e6 { format!("{count:.0}") } else { format!("{:.1} million", count / 1e6) }
}

fn main() {
    let machine = machine("h100-nvl-tdx");
    let given = |option: &str| std::env::args().any(|argument| argument == option);
    if !given("--table") {
        let mut criterion = Criterion::default().configure_from_args();
        criterion_figures(&mut criterion, &machine);
        criterion.final_summary();
    }
    // `cargo test --benches` only checks that the benchmarks run.
    if given("--bench") {
        table(&machine);
    }
}
