//! What copies cost, as a table that other simulators read.
//!
//! ```text
//!  machine x (off, cc) x direction x memory x size x concurrency --> a run each, over threads --> CostRow
//! ```

use crate::{
    config::MachineSpec,
    pool,
    sim::{Control, Seen, SimulationError},
    system::{self, CopyRequest, DataMode, Direction, Memory, Operation, Pages, Request, RunError, Step},
    units::Femtos,
};
use serde::Serialize;

#[derive(Debug, Clone)]
pub struct CostGrid {
    pub sizes: Vec<u64>,
    /// Copies asked for at once, each on a stream of its own.
    pub concurrency: Vec<u32>,
    pub memory: Vec<Memory>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostRow {
    /// `off` or `cc`.
    pub mode: &'static str,
    pub direction: Direction,
    /// `pinned` or `pageable`; the caches hold what earlier copies leave of it.
    pub memory: Memory,
    pub bytes: u64,
    /// Copies asked for at once, each on a stream of its own.
    pub concurrency: u32,
    /// From the call to the end of a copy: the mean.
    pub latency_ns: u64,
    /// From the first call to the end of the last copy.
    pub makespan_ns: u64,
    /// Bytes of all copies over that.
    pub gb_per_s: f64,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    secure: bool,
    direction: Direction,
    memory: Memory,
    bytes: u64,
    concurrency: u32,
}

/// The table of a machine, in the order of its columns. `progress` is called with each row that is done.
pub fn cost_table(
    machine: &MachineSpec,
    grid: &CostGrid,
    threads: usize,
    go_on: &(dyn Fn() -> Control + Sync),
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<CostRow>, RunError> {
    let machine = machine.of_gpu(0);
    let mut cells = Vec::new();
    for secure in [false, true] {
        for direction in [Direction::H2d, Direction::D2h] {
            for &memory in &grid.memory {
                for &bytes in &grid.sizes {
                    let cell = |&concurrency: &u32| Cell { secure, direction, memory, bytes, concurrency };
                    cells.extend(grid.concurrency.iter().map(cell));
                }
            }
        }
    }
    let work = |cell: &Cell| {
        let row = cell.row(&machine, go_on);
        progress();
        row
    };
    pool::map(&cells, threads, |cell| cell.bytes.saturating_mul(cell.concurrency.into()), work)
}

impl Cell {
    fn request(self) -> Request {
        let Self { direction, memory, bytes, .. } = self;
        let one = || Request { data: DataMode::None, ..Request::h2d(bytes) };
        let copies = (0..self.concurrency).flat_map(|_| one().copies);
        let copies = copies.map(|copy| CopyRequest { direction, memory, pages: Pages::Warm, ..copy });
        let step = |stream| Step {
            gpu: 0,
            stream,
            operation: Operation::Copy { copy: stream as usize, blocking: self.concurrency == 1 },
        };
        let mut program: Vec<Step> = (0..self.concurrency).map(step).collect();
        program.push(Step { gpu: 0, stream: 0, operation: Operation::Sync });
        Request { copies: copies.collect(), program, ..one() }
    }

    fn row(self, machine: &MachineSpec, go_on: &dyn Fn() -> Control) -> Result<CostRow, RunError> {
        let machine = MachineSpec { confidential_computing: self.secure, ..machine.clone() };
        let outcome = system::run(&machine, self.request(), &mut |_| go_on())?;
        let undelivered = outcome.copies.iter().find(|copy| !copy.delivered);
        if let Some(copy) = undelivered {
            let what = copy.reason.clone().unwrap_or_else(|| "a copy was not delivered".to_owned());
            return Err(RunError::Simulation(SimulationError::Fault { at: outcome.end, what, seen: Seen::default() }));
        }
        let first = outcome.copies.iter().map(|copy| copy.start).min().unwrap_or(Femtos::ZERO);
        let last = outcome.copies.iter().map(|copy| copy.end).max().unwrap_or(Femtos::ZERO);
        let sum: u128 = outcome.copies.iter().map(|copy| u128::from(copy.end.saturating_sub(copy.start).0)).sum();
        let makespan = last.saturating_sub(first);
        let total = self.bytes as f64 * f64::from(self.concurrency);
        Ok(CostRow {
            mode: if self.secure { "cc" } else { "off" },
            direction: self.direction,
            memory: self.memory,
            bytes: self.bytes,
            concurrency: self.concurrency,
            latency_ns: (sum / u128::from(self.concurrency.max(1)) / 1_000_000) as u64,
            makespan_ns: makespan.0 / 1_000_000,
            gb_per_s: if makespan == Femtos::ZERO { 0.0 } else { total / makespan.seconds() / 1e9 },
        })
    }
}
