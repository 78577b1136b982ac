//! Does on a machine what was done to get a measured figure, and gives the simulated one.
//!
//! | figure | what is issued | what is taken |
//! | --- | --- | --- |
//! | `bandwidth`, pinned and device | asynchronous copies of one warm buffer back to back on one stream, then a wait | bytes over the time from the first call to the end |
//! | `bandwidth`, pageable | blocking copies of one buffer, driven out of the caches before each | mean of the calls' times |
//! | `api` | one blocking copy of a warm buffer | the call's time |
//! | `spans`, `ce_fits` | the same | the device's time |
//! | `overlap` | copies and kernels on streams, one stream after the other or all side by side | time to the end of all |
//! | `applications` | some of each group's equal copies, blocking | the device's time, scaled to the count |
//! | `programs` | all copies in their order, blocking | the device's time |
//! | `cipher` | nothing | the configured rate at that clock, with the cost of a message where the table has sizes |
//! | `sm_kernels` | the kernel's steps on the structure of an SM | bytes per clock and SM |
//! | `collectives` | one collective | its time without the launch, which the call before covers |
//!
//! The first two are what `bandwidthTest` of NVIDIA's CUDA samples does (`Samples/1_Utilities/bandwidthTest/bandwidthTest.cu`): 100
//! `cudaMemcpyAsync` between two events for pinned memory; for pageable memory 100 `cudaMemcpy`, each timed by the CPU and followed by
//! `memset(flush_buf, i, 256 MiB)`; for copies within the device 100 `cudaMemcpy`, which do not block, and twice the bytes.

mod sms;

pub use sms::SmError;

use super::measured::{Copied, Experiment, Group, HostMemory, Mode, Overlap, Point, Schedule};
use crate::{
    config::MachineSpec,
    sim::Control,
    system::{self, CopyOutcome, CopyRequest, Direction, Memory, Operation, Outcome, Pages, Request, RunError, Step},
    units::Femtos,
    workload::collective::{CollectiveCall, CollectiveError, CollectiveRequest, run_collective},
};
use thiserror::Error;

/// Copies of one size that `bandwidthTest` makes.
const COPIES: u64 = 100;
/// Bytes of one point that are simulated, of which a copy more or less makes no difference to the rate.
const BYTES: u64 = 64 << 20;
/// What `bandwidthTest` writes between pageable copies.
const FLUSH: u64 = 256 << 20;
/// Copies of a group that are simulated: the first, which may find untouched pages, and some that do not.
const GROUP_COPIES: u64 = 8;

#[derive(Debug, Error)]
pub enum ReproduceError {
    #[error("{label}: {error}")]
    Run { label: String, error: RunError },
    #[error("{label}: a copy was not delivered: {reason}")]
    NotDelivered { label: String, reason: String },
    /// The machine lacks what a kernel on SMs needs.
    #[error("{label}: {error}")]
    Sms { label: String, error: SmError },
    /// The machine has no fabric for a collective.
    #[error("{label}: {error}")]
    Collective { label: String, error: CollectiveError },
    /// A copy has no time on the device, and its call's must not stand for it.
    #[error("{label}: a copy has no time on the device")]
    NoSpan { label: String },
}

/// Asked now and then whether to go on.
pub type Observer<'o> = dyn FnMut(Femtos) -> Control + 'o;

/// The simulated figure of a point, in its unit.
pub fn simulate(machine: &MachineSpec, point: &Point, observer: &mut Observer<'_>) -> Result<f64, ReproduceError> {
    let mut machine = machine.clone();
    machine.confidential_computing = point.mode == Mode::Cc;
    let mut bench = Bench { machine: &machine, label: &point.label, observer };
    match &point.experiment {
        Experiment::Bandwidth(copy) => bench.bandwidth(*copy),
        Experiment::Call(copy) => Ok(bench.call(*copy)? * 1e6),
        Experiment::Span(copy) => Ok(bench.span(*copy)? * 1e6),
        Experiment::Overlap(overlap) => bench.overlap(overlap),
        Experiment::Totals(groups) => groups.iter().try_fold(0.0, |sum, group| Ok(sum + bench.total(group)? * 1e3)),
        Experiment::Program { copies, counted } => Ok(bench.program(copies, *counted)? * 1e6),
        Experiment::SmKernel(kernel) => {
            sms::rate(&machine, kernel).map_err(|error| ReproduceError::Sms { label: point.label.clone(), error })
        }
        Experiment::Collective(call) => bench.collective(*call),
        Experiment::Cipher { clock_ghz, bytes } => {
            let rate = machine.cipher.seal_rate.0 as f64 * 1e-3;
            let fixed = bytes.map_or(0.0, |bytes| machine.cipher.fixed(bytes) as f64 / bytes as f64);
            Ok(clock_ghz / (1.0 / rate + fixed))
        }
    }
}

/// About how many bytes are simulated for a point.
pub fn bytes(point: &Point) -> u64 {
    match &point.experiment {
        Experiment::Bandwidth(copy) => copies_of(copy, point.mode) * copy.bytes,
        Experiment::Call(copy) | Experiment::Span(copy) => copy.bytes,
        Experiment::Overlap(overlap) => 2 * overlap.bytes_each_way,
        Experiment::Totals(groups) => groups.iter().map(|group| simulated(group) * group.copy.bytes).sum(),
        Experiment::Program { copies, .. } => copies.iter().map(|copy| copy.bytes).sum(),
        Experiment::Collective(call) => call.bytes,
        Experiment::Cipher { .. } | Experiment::SmKernel(_) => 0,
    }
}

/// Copies that stand for the hundred: fewer of large ones, and at least so many that calls that do not block can overlap.
fn copies_of(copy: &Copied, mode: Mode) -> u64 {
    let least = match (mode, copy.direction) {
        // Copies within the device never block and cost the simulation nothing.
        (_, Direction::D2d) => return COPIES,
        (Mode::Cc, _) => 1,
        (Mode::Off, _) => 2,
    };
    (BYTES / copy.bytes).clamp(least, COPIES)
}

fn simulated(group: &Group) -> u64 {
    (BYTES / group.copy.bytes).clamp(2, GROUP_COPIES).min(group.count)
}

/// A machine to issue work on.
struct Bench<'b, 'o> {
    machine: &'b MachineSpec,
    label: &'b str,
    observer: &'b mut Observer<'o>,
}

impl Bench<'_, '_> {
    fn bandwidth(&mut self, copy: Copied) -> Result<f64, ReproduceError> {
        let mode = if self.machine.confidential_computing { Mode::Cc } else { Mode::Off };
        let count = copies_of(&copy, mode);
        let mut program = Program::default();
        let seconds = if copy.memory == HostMemory::Pageable {
            for _ in 0..count {
                program.step(0, Operation::Flush { bytes: FLUSH });
                program.copy(0, copy, 0, Pages::Warm, true);
            }
            self.run(program)?.copies.iter().map(call_seconds).sum()
        } else {
            (0..count).for_each(|_| program.copy(0, copy, 0, Pages::Warm, false));
            program.step(0, Operation::Sync);
            whole_seconds(&self.run(program)?)
        };
        let counted = if copy.direction == Direction::D2d { 2 * copy.bytes } else { copy.bytes };
        Ok((counted * count) as f64 / seconds * 1e-9)
    }

    fn single(&mut self, copy: Copied) -> Result<Outcome, ReproduceError> {
        let mut program = Program::default();
        program.copy(0, copy, 0, Pages::Warm, true);
        self.run(program)
    }

    fn call(&mut self, copy: Copied) -> Result<f64, ReproduceError> {
        Ok(self.single(copy)?.copies.iter().map(call_seconds).sum())
    }

    fn span(&mut self, copy: Copied) -> Result<f64, ReproduceError> {
        let outcome = self.single(copy)?;
        outcome.copies.iter().map(|copy| self.device_seconds(copy)).sum()
    }

    fn overlap(&mut self, overlap: &Overlap) -> Result<f64, ReproduceError> {
        Ok(whole_seconds(&self.run(Program::overlap(overlap))?))
    }

    /// Seconds of all copies of a group. Each source is another buffer, which no cache holds; the destination of all copies to the
    /// host is one, whose pages the first of them touches if it is pageable.
    fn total(&mut self, group: &Group) -> Result<f64, ReproduceError> {
        let count = simulated(group);
        let mut program = Program::default();
        for place in 0..count {
            let (buffer, pages) = match group.copy.direction {
                Direction::D2h => (0, first_pages(&group.copy)),
                _ => (place as u32, Pages::Cold),
            };
            program.copy(0, group.copy, buffer, pages, true);
        }
        let outcome = self.run(program)?;
        let spans = outcome.copies.iter().map(|copy| self.device_seconds(copy)).collect::<Result<Vec<_>, _>>()?;
        let Some((first, others)) = spans.split_first() else { return Ok(0.0) };
        let usual = others.iter().sum::<f64>() / others.len().max(1) as f64;
        Ok(first + usual * (group.count - 1) as f64)
    }

    fn program(&mut self, copies: &[Copied], counted: Direction) -> Result<f64, ReproduceError> {
        let outcome = self.run(Program::traced(copies))?;
        let of_it = outcome.copies.iter().filter(|copy| copy.direction == counted);
        of_it.map(|copy| self.device_seconds(copy)).sum()
    }

    /// Microseconds of a call among others of its kind.
    fn collective(&mut self, CollectiveCall { kind, ranks, bytes }: CollectiveCall) -> Result<f64, ReproduceError> {
        let label = || self.label.to_owned();
        let request = CollectiveRequest::new(kind, ranks, bytes);
        let outcome = run_collective(self.machine, &request, self.observer)
            .map_err(|error| ReproduceError::Collective { label: label(), error })?;
        match outcome.refused {
            Some(reason) => Err(ReproduceError::NotDelivered { label: label(), reason }),
            None => Ok(outcome.time.saturating_sub(outcome.launch).seconds() * 1e6),
        }
    }

    /// From the first byte that a copy engine moves to the last.
    fn device_seconds(&self, copy: &CopyOutcome) -> Result<f64, ReproduceError> {
        let (start, end) = copy.device.ok_or_else(|| ReproduceError::NoSpan { label: self.label.to_owned() })?;
        Ok(end.saturating_sub(start).seconds())
    }

    fn run(&mut self, program: Program) -> Result<Outcome, ReproduceError> {
        let label = || self.label.to_owned();
        let request = Request { copies: program.copies, program: program.steps, ..Request::none() };
        let outcome = system::run(self.machine, request, self.observer)
            .map_err(|error| ReproduceError::Run { label: label(), error })?;
        match outcome.copies.iter().find(|copy| !copy.delivered) {
            Some(copy) => {
                let reason = copy.reason.clone().unwrap_or_else(|| "no reason is known".into());
                Err(ReproduceError::NotDelivered { label: label(), reason })
            }
            None => Ok(outcome),
        }
    }
}

/// The pages of a program's own buffer at its first copy.
fn first_pages(copy: &Copied) -> Pages {
    if copy.direction == Direction::D2h { Pages::Fresh } else { Pages::Cold }
}

/// From call to return.
fn call_seconds(copy: &CopyOutcome) -> f64 {
    copy.returned.saturating_sub(copy.start).seconds()
}

/// From the first call to the end of the last copy.
fn whole_seconds(outcome: &Outcome) -> f64 {
    let start = outcome.copies.iter().map(|copy| copy.start.0).min().unwrap_or(0);
    let end = outcome.copies.iter().map(|copy| copy.end.max(copy.returned).0).max().unwrap_or(0);
    Femtos(end.saturating_sub(start)).seconds()
}

/// What a stream of an overlap does.
#[derive(Clone, Copy)]
enum Part {
    Up,
    Kernel,
    Down,
    Wait,
}

/// What the host does, and the copies it makes.
#[derive(Default)]
struct Program {
    copies: Vec<CopyRequest>,
    steps: Vec<Step>,
}

impl Program {
    fn step(&mut self, stream: u32, operation: Operation) {
        self.steps.push(Step { gpu: 0, stream, operation });
    }

    fn copy(&mut self, stream: u32, copy: Copied, buffer: u32, pages: Pages, blocking: bool) {
        let memory = if copy.memory == HostMemory::Pageable { Memory::Pageable } else { Memory::Pinned };
        self.step(stream, Operation::Copy { copy: self.copies.len(), blocking });
        let direction = copy.direction;
        let one = Request::h2d(copy.bytes).copies.remove(0);
        self.copies.push(CopyRequest { direction, memory, buffer, pages, ..one });
    }

    /// The copies of a trace. Each has a buffer of its own, but for those to pageable memory of the host: what one has freed the allocator
    /// gives to the next, so that they share one.
    fn traced(copies: &[Copied]) -> Self {
        let mut program = Self::default();
        for (place, copy) in (1..).zip(copies) {
            let shares = copy.direction == Direction::D2h && copy.memory == HostMemory::Pageable;
            program.copy(0, *copy, if shares { 0 } else { place }, first_pages(copy), true);
        }
        program
    }

    fn overlap(overlap: &Overlap) -> Self {
        let mut program = Self::default();
        let streams = 0..overlap.streams;
        let parts = [Part::Up, Part::Kernel, Part::Down, Part::Wait];
        match overlap.schedule {
            Schedule::Sequential => {
                streams.for_each(|stream| parts.iter().for_each(|part| program.part(overlap, *part, stream)));
            }
            Schedule::Pipelined => {
                parts.iter().for_each(|part| streams.clone().for_each(|stream| program.part(overlap, *part, stream)));
            }
        }
        program
    }

    fn part(&mut self, overlap: &Overlap, part: Part, stream: u32) {
        match part {
            Part::Up => self.share(overlap, stream, Direction::H2d, 2 * stream),
            Part::Kernel => self.step(stream, Operation::kernel(overlap.kernel)),
            Part::Down => self.share(overlap, stream, Direction::D2h, 2 * stream + 1),
            Part::Wait => self.step(stream, Operation::Sync),
        }
    }

    /// A stream's share of the bytes one way; what cannot be shared evenly goes to the first streams.
    fn share(&mut self, overlap: &Overlap, stream: u32, direction: Direction, buffer: u32) {
        let (streams, place) = (u64::from(overlap.streams), u64::from(stream));
        let bytes = overlap.bytes_each_way / streams + u64::from(place < overlap.bytes_each_way % streams);
        if bytes > 0 {
            let copy = Copied { direction, memory: HostMemory::Pinned, bytes };
            self.copy(stream, copy, buffer, Pages::Warm, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(overlap: &Overlap) -> Vec<String> {
        let program = Program::overlap(overlap);
        let word = |step: &Step| match step.operation {
            Operation::Copy { copy, blocking: false } => {
                let copy = &program.copies[copy];
                format!("{:?}{}:{}", copy.direction, step.stream, copy.bytes)
            }
            Operation::Task(_) | Operation::Graph { .. } => format!("K{}", step.stream),
            Operation::Sync => format!("S{}", step.stream),
            ref other => format!("{other:?}"),
        };
        program.steps.iter().map(word).collect()
    }

    #[test]
    fn sequential_and_pipelined_differ_in_order_alone() {
        let overlap = |schedule| Overlap { bytes_each_way: 101, kernel: Femtos(1), streams: 2, schedule };
        assert_eq!(
            words(&overlap(Schedule::Sequential)),
            ["H2d0:51", "K0", "D2h0:51", "S0", "H2d1:50", "K1", "D2h1:50", "S1"]
        );
        assert_eq!(
            words(&overlap(Schedule::Pipelined)),
            ["H2d0:51", "H2d1:50", "K0", "K1", "D2h0:51", "D2h1:50", "S0", "S1"]
        );
    }

    #[test]
    fn a_programs_copies_to_pageable_memory_share_a_buffer_and_no_others_do() {
        let (up, down) = (Direction::H2d, Direction::D2h);
        let kinds = [(up, HostMemory::Pageable), (down, HostMemory::Pageable), (down, HostMemory::Pinned)];
        let copies = kinds.map(|(direction, memory)| Copied { direction, memory, bytes: 1 });
        let program = Program::traced(&[copies, copies].concat());
        assert_eq!(program.copies.iter().map(|copy| copy.buffer).collect::<Vec<_>>(), [1, 0, 3, 4, 0, 6]);
    }

    #[test]
    fn as_many_copies_stand_for_a_hundred_as_fit_in_64_mib() {
        let copies =
            |bytes, mode| copies_of(&Copied { direction: Direction::H2d, memory: HostMemory::Pinned, bytes }, mode);
        let sizes = [64, 1 << 20, 16 << 20, 64 << 20, 1 << 30];
        assert_eq!(sizes.map(|bytes| copies(bytes, Mode::Off)), [100, 64, 4, 2, 2]);
        assert_eq!(sizes.map(|bytes| copies(bytes, Mode::Cc)), [100, 64, 4, 1, 1]);
    }
}
