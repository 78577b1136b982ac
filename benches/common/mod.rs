//! What several benchmarks run: copies without bytes or with them, a study of as many points as asked for, medians.

// Each benchmark uses a part of it.
#![allow(dead_code)]

pub mod floor;
pub mod yardstick;

use sealsim::{
    config::{Layers, MachineSpec},
    explore::sweep::{Folder, Study},
    sim::{Control, Kernel},
    system::{self, DataMode, Outcome, Request},
};
use std::{
    fs,
    num::NonZero,
    time::{Duration, Instant},
};

/// Bytes of a message of a sealed copy.
pub const MESSAGE: usize = 1 << 20;

/// A shipped machine.
pub fn machine(name: &str) -> MachineSpec {
    Layers::new(name).resolve().expect("a shipped machine").machine
}

/// Runs a request on one thread; every copy must be delivered.
pub fn simulate(machine: &MachineSpec, request: Request) -> Outcome {
    simulate_on(machine, request, NonZero::<usize>::MIN)
}

/// The same on so many threads at most.
pub fn simulate_on(machine: &MachineSpec, request: Request, threads: NonZero<usize>) -> Outcome {
    let outcome = system::run_on(machine, request, Some(threads), &mut |_| Control::Continue).expect("a run that ends");
    assert!(outcome.copies.iter().all(|copy| copy.delivered));
    outcome
}

/// A copy to the device.
pub fn h2d(bytes: u64, data: DataMode, kernel: Kernel) -> Request {
    Request { data, kernel, ..Request::h2d(bytes) }
}

/// The text of a study of so many hundred points: copies of 1 MiB without bytes.
pub fn study(hundreds: u64) -> String {
    format!(
        "name = \"bench\"\nsummary = \"Points per second\"\nmachine = \"h100-nvl-tdx\"\ndesigns = [\"direct-in-place\"]\n\
         copy = \"h2d:1MiB\"\n\
         [[axis]]\npath = \"engine.ghash.width\"\nvalues = [1, 2, 3, 4]\n\
         [[axis]]\npath = \"engine.ghash.groups\"\nvalues = [1, 2, 3, 4, 5]\n\
         [[axis]]\npath = \"tag_queue.depth\"\nvalues = [1, 2, 4, 8, 16]\n\
         [[axis]]\npath = \"hbm.write_latency\"\nfrom = \"501 cycles\"\nto = \"{} cycles\"\n\
         step = \"1 cycle\"\n",
        500 + hundreds
    )
}

/// A swept study: how long its points took, and how long its tables.
#[derive(Debug, Clone, Copy)]
pub struct Swept {
    pub points: Duration,
    pub tables: Duration,
}

/// Sweeps a study of so many hundred points in a folder that is gone afterwards.
pub fn sweep(hundreds: u64, threads: usize) -> Swept {
    let text = study(hundreds);
    let study = Study::read("study", &text).expect("a study");
    let place = tempfile::tempdir().expect("a folder");
    let mut folder = Folder::open(place.path(), &study, &text).expect("a folder");
    let start = Instant::now();
    study.sweep(&mut folder, threads, &|| Control::Continue, &|| ()).expect("every point runs");
    let points = start.elapsed();
    let tabled = study.tabulate(&folder).expect("tables");
    assert_eq!((tabled.rows, tabled.refused), (hundreds * 100, 0), "{:?}", tabled.reasons);
    Swept { points, tables: start.elapsed() - points }
}

/// The most memory that this process has held so far, in bytes; where the system tells.
pub fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// How long it takes.
pub fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// The one in the middle.
pub fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}
