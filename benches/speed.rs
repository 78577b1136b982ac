//! What the simulator costs its host, against software AES-GCM that seals and opens the same bytes in the same messages.
//!
//! Times on a shared machine mean little, ratios within one run do: after Criterion's own figures a table gives the medians of
//! interleaved rounds. `cargo bench --bench speed`.

use aes_gcm::{AeadInOut, Aes256Gcm, KeyInit};
use criterion::{Criterion, Throughput};
use sealsim::{
    config::{Layers, MachineSpec},
    sim::{Control, Kernel, Order},
    system::{self, CopyRequest, DataMode, Direction, Memory, Outcome, Pages, Request},
    workload::Generator,
};
use std::{
    collections::BTreeMap,
    hint::black_box,
    time::{Duration, Instant},
};

/// The copy whose speed is stated: 256 MiB in messages of 1 MiB.
const BYTES: u64 = 256 << 20;
const MESSAGE: usize = 1 << 20;
/// A copy short enough for the kernel that ticks everything at every edge.
const SHORT: u64 = 1 << 20;
const ROUNDS: usize = 9;

fn machine() -> MachineSpec {
    Layers::new("h100-nvl-tdx").resolve().expect("a shipped machine").machine
}

fn simulate(machine: &MachineSpec, bytes: u64, data: DataMode, kernel: Kernel) -> Outcome {
    let copy = CopyRequest {
        gpu: 0,
        direction: Direction::H2d,
        bytes,
        memory: Memory::Pinned,
        buffer: 0,
        buffer_bytes: bytes,
        pages: Pages::Warm,
        source: Box::new(Generator::new(1, 0)),
        sink: None,
    };
    let (copies, order) = (vec![copy], Order::Ascending);
    let request = Request { copies, program: Vec::new(), data, seed: 1, kernel, order, injections: Vec::new() };
    let outcome = system::run(machine, request, &mut |_| Control::Continue).expect("a run that ends");
    assert!(outcome.copies[0].delivered);
    outcome
}

/// Seals and opens as many messages as the copy has, in cache.
fn software(cipher: &Aes256Gcm, text: &mut [u8]) {
    for message in 0..BYTES / MESSAGE as u64 {
        let mut nonce = [0; 12];
        nonce[..8].copy_from_slice(&message.to_le_bytes());
        let tag = cipher.encrypt_inout_detached(&nonce.into(), b"", (&mut *text).into()).expect("sealed");
        cipher.decrypt_inout_detached(&nonce.into(), b"", (&mut *text).into(), &tag).expect("opened");
    }
    black_box(text);
}

/// Clock edges of all domains of a run.
fn edges(outcome: &Outcome) -> u64 {
    let domains: BTreeMap<_, _> = outcome.units.iter().map(|unit| (unit.clock, unit.cycles)).collect();
    domains.values().sum()
}

fn criterion_figures(criterion: &mut Criterion, machine: &MachineSpec) {
    let cipher = Aes256Gcm::new(&[7; 32].into());
    let mut text = vec![1; MESSAGE];
    let mut group = criterion.benchmark_group("256 MiB in messages of 1 MiB");
    group.sample_size(10).throughput(Throughput::Bytes(BYTES));
    group.bench_function("aes-gcm seals and opens", |b| b.iter(|| software(&cipher, &mut text)));
    group.bench_function("h2d, exact", |b| b.iter(|| simulate(machine, BYTES, DataMode::Exact, Kernel::Skip)));
    group.bench_function("h2d, none", |b| b.iter(|| simulate(machine, BYTES, DataMode::None, Kernel::Skip)));
    group.finish();
    let count = edges(&simulate(machine, SHORT, DataMode::None, Kernel::EveryCycle));
    let mut group = criterion.benchmark_group("every-cycle kernel");
    group.sample_size(10).throughput(Throughput::Elements(count));
    group.bench_function("clock edges", |b| b.iter(|| simulate(machine, SHORT, DataMode::None, Kernel::EveryCycle)));
    group.finish();
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

fn table(machine: &MachineSpec) {
    let cipher = Aes256Gcm::new(&[7; 32].into());
    let mut text = vec![1; MESSAGE];
    let mut times: [Vec<Duration>; 4] = Default::default();
    let mut count = 0;
    for _ in 0..ROUNDS {
        times[0].push(timed(|| software(&cipher, &mut text)));
        times[1].push(timed(|| drop(simulate(machine, BYTES, DataMode::Exact, Kernel::Skip))));
        times[2].push(timed(|| drop(simulate(machine, BYTES, DataMode::None, Kernel::Skip))));
        times[3].push(timed(|| count = edges(&simulate(machine, SHORT, DataMode::None, Kernel::EveryCycle))));
    }
    let [software, exact, none, every] = times.map(median);
    println!("\n256 MiB h2d in 1 MiB messages, h100-nvl-tdx; medians of {ROUNDS} interleaved rounds");
    println!("| what | of aes-gcm's seal and open | seconds |");
    println!("| --- | --- | --- |");
    println!("| aes-gcm 0.11 seals and opens the same bytes | 1.00 | {software:.3} |");
    println!("| simulated, exact data | {:.2} | {exact:.3} |", exact / software);
    println!("| simulated, `--data none` | {:.2} | {none:.3} |", none / software);
    println!("\nevery-cycle kernel: {:.1} million clock edges per second", count as f64 / every / 1e6);
}

fn main() {
    let machine = machine();
    let mut criterion = Criterion::default().configure_from_args();
    criterion_figures(&mut criterion, &machine);
    criterion.final_summary();
    // `cargo test --benches` only checks that the benchmarks run.
    if std::env::args().any(|argument| argument == "--bench") {
        table(&machine);
    }
}
