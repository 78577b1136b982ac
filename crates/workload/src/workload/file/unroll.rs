//! Unrolls repeats: from operations to steps, each with the operation that it comes from.

use super::{
    error::{Source, WorkloadFileError},
    name::Turns,
    operation::{Act, Operation, size},
};
use crate::{
    host::map,
    system::Pages,
    workload::{
        copy::CopyArgument,
        program::{MAX_STEPS, WorkloadStep, check},
    },
};
use std::collections::{HashMap, HashSet};

/// Steps, and where they come from.
#[derive(Default)]
pub(super) struct Unrolled<'o> {
    pub copies: Vec<CopyArgument>,
    pub steps: Vec<WorkloadStep>,
    from: Vec<&'o Operation>,
    /// State of the buffers that have names.
    buffers: HashMap<String, Pages>,
}

/// Unrolls operations and checks what comes out.
pub(super) fn unroll<'o>(operations: &'o [Operation], source: &Source) -> Result<Unrolled<'o>, WorkloadFileError> {
    bounded(operations, source)?;
    let mut unrolled = Unrolled::default();
    unrolled.all(operations, &mut Turns::new());
    // What is wrong in each turn of a repeat is said once.
    let mut said = HashSet::new();
    let errors = check(&unrolled.steps).into_iter().filter_map(|fault| {
        let operation = unrolled.from[fault.step];
        let place = operation.place(fault.field);
        said.insert((place.start, place.end, fault.field))
            .then(|| WorkloadFileError::new("senseless", fault.what).at(source, place).remedy(fault.remedy))
    });
    WorkloadFileError::all(errors.collect())?;
    Ok(unrolled)
}

/// Refuses what unrolls to more than a run takes, before it is unrolled.
fn bounded(operations: &[Operation], source: &Source) -> Result<(), WorkloadFileError> {
    let (steps, copies) = size(operations);
    let limits = [("copies", copies, map::MAX_COPIES, 1), ("operations", steps, MAX_STEPS, 0)];
    let Some((what, count, most, place)) = limits.into_iter().find(|(_, count, most, _)| *count > *most as u64) else {
        return Ok(());
    };
    let share = |operation: &&Operation| {
        let (steps, copies) = operation.size();
        if place == 1 { copies } else { steps }
    };
    let count = if count == u64::MAX { "far too many".to_owned() } else { count.to_string() };
    let text = format!("{count} {what} after repeats are unrolled: a run takes at most {most}");
    let error = WorkloadFileError::new("too_many", text).remedy("lower the counts of the repeats");
    Err(match operations.iter().max_by_key(share) {
        Some(largest) => error.at(source, largest.place("count")),
        None => error,
    })
}

impl<'o> Unrolled<'o> {
    fn all(&mut self, operations: &'o [Operation], turns: &mut Turns) {
        for operation in operations {
            self.one(operation, turns);
        }
    }

    fn one(&mut self, operation: &'o Operation, turns: &mut Turns) {
        let gpu = operation.gpu.as_ref().map_or(0, |gpu| gpu.number(turns));
        let step = match &operation.act {
            Act::Train(training) => {
                let steps = training.unroll(gpu, &|name| name.at(turns));
                self.from.extend(steps.iter().map(|_| operation));
                self.steps.extend(steps);
                return;
            }
            Act::Repeat { count, index, operations } => {
                for turn in 0..*count {
                    turns.push((index.clone(), turn));
                    self.all(operations, turns);
                    turns.pop();
                }
                return;
            }
            Act::Copy { direction, bytes, memory, buffer, pages, blocking, stream } => {
                self.copies.push(CopyArgument { gpu, direction: *direction, bytes: *bytes, memory: *memory });
                let buffer = buffer.as_ref().map(|buffer| buffer.at(turns));
                let pages = self.pages(buffer.as_deref(), *pages);
                WorkloadStep::Copy { gpu, stream: stream.at(turns), buffer, pages, blocking: *blocking }
            }
            Act::Kernel { duration, count, call, host, stream } => {
                let stream = stream.at(turns);
                for _ in 0..*count {
                    if let Some(duration) = host {
                        self.put(WorkloadStep::Host { gpu, duration: *duration }, operation);
                    }
                    let (stream, duration) = (stream.clone(), *duration);
                    let step = match call {
                        None => WorkloadStep::Kernel { gpu, stream, duration },
                        call => WorkloadStep::Launch { gpu, stream, kernels: 1, duration, call: *call },
                    };
                    self.put(step, operation);
                }
                return;
            }
            Act::Graph { kernels, duration, call, stream } => {
                let (stream, kernels, duration) = (stream.at(turns), *kernels, *duration);
                WorkloadStep::Launch { gpu, stream, kernels, duration, call: *call }
            }
            Act::Host { duration } => WorkloadStep::Host { gpu, duration: *duration },
            Act::Thread { name } => WorkloadStep::Thread { name: name.at(turns) },
            Act::Collective { call, stream } => WorkloadStep::Collective { gpu, stream: stream.at(turns), call: *call },
            Act::Network { duration, stream } => {
                WorkloadStep::Network { gpu, stream: stream.at(turns), duration: *duration }
            }
            Act::Record { event, stream } => {
                WorkloadStep::Record { gpu, stream: stream.at(turns), event: event.at(turns) }
            }
            Act::Wait { event, stream } => WorkloadStep::Wait { gpu, stream: stream.at(turns), event: event.at(turns) },
            Act::Sync { stream } => WorkloadStep::Sync { gpu, stream: stream.as_ref().map(|stream| stream.at(turns)) },
        };
        self.put(step, operation);
    }

    fn put(&mut self, step: WorkloadStep, operation: &'o Operation) {
        self.steps.push(step);
        self.from.push(operation);
    }

    /// The state of a copy's buffer: as written, else as its first copy says, else warm.
    fn pages(&mut self, buffer: Option<&str>, written: Option<Pages>) -> Pages {
        let first = written.unwrap_or(Pages::Warm);
        match buffer {
            None => first,
            Some(name) => {
                let known = *self.buffers.entry(name.to_owned()).or_insert(first);
                written.unwrap_or(known)
            }
        }
    }

    /// Where the first copy without a size is written.
    pub fn without_size(&self) -> Option<&'o Operation> {
        self.from.iter().find(|operation| matches!(operation.act, Act::Copy { bytes: None, .. })).copied()
    }
}
