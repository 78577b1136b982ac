//! Unrolls repeats: from operations to steps, each with the operation that it comes from.

use super::{
    check::{network, refused},
    name::Turns,
    operation::{Operation, size},
};
use crate::{
    config::Node,
    files::{Refusal, Refusals},
    host::map,
    system::{Memory, Pages},
    units::{Bytes, Femtos},
    workload::{
        collective::{Collective, CollectiveCall},
        copy::CopyArgument,
        data_parallel::Part,
        program::{MAX_STEPS, WorkloadStep, check},
    },
};
use std::collections::{HashMap, HashSet};

/// Events by which the streams of a training wait for each other.
const READY: &str = "ddp.ready";
const REDUCED: &str = "ddp.reduced";

/// Steps, and where they come from.
#[derive(Default)]
pub(super) struct Unrolled<'o> {
    pub copies: Vec<CopyArgument>,
    pub steps: Vec<WorkloadStep>,
    from: Vec<&'o Node>,
    /// State of the buffers that have names.
    buffers: HashMap<String, Pages>,
    /// Where the first copy without a size is written.
    pub without_size: Option<&'o Node>,
}

/// Unrolls the operations of a table and checks what comes out.
pub(super) fn unroll<'o>(operations: &'o [Operation], table: &'o Node) -> Result<Unrolled<'o>, Refusal> {
    bounded(operations, table)?;
    let mut unrolled = Unrolled::default();
    unrolled.all(operations, table, &mut Turns::new());
    // What is wrong in each turn of a repeat is said once.
    let mut said = HashSet::new();
    let faults = check(&unrolled.steps).into_iter().filter_map(|fault| {
        let node = unrolled.from[fault.step];
        let refusal = refused("senseless", node, fault.field, fault.what, fault.remedy);
        said.insert((refusal.place().map(|place| place.span.clone()), fault.field)).then_some(refusal)
    });
    let faults: Refusals = faults.collect();
    faults.sorted().result()?;
    Ok(unrolled)
}

/// Refuses what unrolls to more than a run takes, before it is unrolled.
fn bounded(operations: &[Operation], table: &Node) -> Result<(), Refusal> {
    let (steps, copies) = size(operations);
    let limits = [("copies", copies, map::MAX_COPIES, 1), ("operations", steps, MAX_STEPS, 0)];
    let Some((what, count, most, place)) = limits.into_iter().find(|(_, count, most, _)| *count > *most as u64) else {
        return Ok(());
    };
    let share = |(operation, _): &(&Operation, &Node)| {
        let (steps, copies) = operation.size();
        if place == 1 { copies } else { steps }
    };
    let count = if count == u64::MAX { "far too many".to_owned() } else { count.to_string() };
    let text = format!("{count} {what} after repeats are unrolled: a run takes at most {most}");
    let largest = operations.iter().zip(table.items("operations")).max_by_key(share);
    let node = largest.map_or(table, |(_, node)| node);
    Err(refused("too_many", node, "count", text, "lower the counts of the repeats".to_owned()))
}

impl<'o> Unrolled<'o> {
    fn all(&mut self, operations: &'o [Operation], table: &'o Node, turns: &mut Turns) {
        for (operation, node) in operations.iter().zip(table.items("operations")) {
            self.one(operation, node, turns);
        }
    }

    fn one(&mut self, operation: &'o Operation, node: &'o Node, turns: &mut Turns) {
        let gpu = operation.gpu().map_or(0, |gpu| gpu.number(turns));
        let step = match operation {
            Operation::Repeat { count, index, operations } => {
                for turn in 0..*count {
                    turns.push((index.clone(), turn));
                    self.all(operations, node, turns);
                    turns.pop();
                }
                return;
            }
            Operation::Ddp { stream, collectives, ranks, iteration, .. } => {
                let streams = [stream.at(turns), collectives.at(turns)];
                let ranks = usize::try_from(*ranks).unwrap_or(usize::MAX);
                for part in iteration.get().into_iter().flatten() {
                    training(*part, gpu, &streams, ranks).into_iter().for_each(|step| self.put(step, node));
                }
                return;
            }
            Operation::Copy { stream, direction, size, memory, buffer, pages, blocking, .. } => {
                let (bytes, memory) = (size.map(|Bytes(bytes)| bytes), memory.unwrap_or(Memory::Pinned));
                self.copies.push(CopyArgument { gpu, direction: *direction, bytes, memory });
                if bytes.is_none() {
                    self.without_size.get_or_insert(node);
                }
                let buffer = buffer.as_ref().map(|buffer| buffer.at(turns));
                let pages = self.pages(buffer.as_deref(), *pages);
                WorkloadStep::Copy { gpu, stream: stream.at(turns), buffer, pages, blocking: *blocking }
            }
            Operation::Kernel { stream, duration, count, call, host, .. } => {
                for _ in 0..*count {
                    if let Some(duration) = host {
                        self.put(WorkloadStep::Host { gpu, duration: *duration }, node);
                    }
                    self.put(launch(gpu, stream.at(turns), *duration, *call), node);
                }
                return;
            }
            Operation::Graph { kernels, duration, call, stream, .. } => {
                let kernels = u32::try_from(*kernels).unwrap_or(u32::MAX);
                let (stream, duration, call) = (stream.at(turns), *duration, *call);
                WorkloadStep::Launch { gpu, stream, kernels, duration, call }
            }
            Operation::Host { duration, .. } => WorkloadStep::Host { gpu, duration: *duration },
            Operation::Thread { name } => WorkloadStep::Thread { name: name.at(turns) },
            Operation::Collective { stream, kind, ranks, size: Bytes(bytes), .. } => {
                let ranks = usize::try_from(*ranks).unwrap_or(usize::MAX);
                let call = CollectiveCall { kind: *kind, ranks, bytes: *bytes };
                WorkloadStep::Collective { gpu, stream: stream.at(turns), call }
            }
            Operation::Network { stream, size, rate, latency, .. } => {
                WorkloadStep::Network { gpu, stream: stream.at(turns), duration: network(*size, *rate, *latency) }
            }
            Operation::Record { event, stream, .. } => {
                WorkloadStep::Record { gpu, stream: stream.at(turns), event: event.at(turns) }
            }
            Operation::Wait { event, stream, .. } => {
                WorkloadStep::Wait { gpu, stream: stream.at(turns), event: event.at(turns) }
            }
            Operation::Sync { stream, .. } => {
                WorkloadStep::Sync { gpu, stream: stream.as_ref().map(|stream| stream.at(turns)) }
            }
        };
        self.put(step, node);
    }

    fn put(&mut self, step: WorkloadStep, node: &'o Node) {
        self.steps.push(step);
        self.from.push(node);
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
}

/// A launch of a kernel, with what its call costs if that is written.
fn launch(gpu: usize, stream: String, duration: Femtos, call: Option<Femtos>) -> WorkloadStep {
    match call {
        None => WorkloadStep::Kernel { gpu, stream, duration },
        call => WorkloadStep::Launch { gpu, stream, kernels: 1, duration, call },
    }
}

/// The steps of one part of an iteration of training, on its streams: for kernels and for collectives.
fn training(part: Part, gpu: usize, [stream, collectives]: &[String; 2], ranks: usize) -> Vec<WorkloadStep> {
    let record =
        |stream: &String, event: &str| WorkloadStep::Record { gpu, stream: stream.clone(), event: event.into() };
    let wait = |stream: &String, event: &str| WorkloadStep::Wait { gpu, stream: stream.clone(), event: event.into() };
    match part {
        Part::Kernel(duration) => vec![WorkloadStep::Kernel { gpu, stream: stream.clone(), duration }],
        Part::Bucket(bytes) => {
            let call = CollectiveCall { kind: Collective::AllReduce, ranks, bytes };
            let all_reduce = WorkloadStep::Collective { gpu, stream: collectives.clone(), call };
            vec![record(stream, READY), wait(collectives, READY), all_reduce]
        }
        Part::Reduced => vec![record(collectives, REDUCED), wait(stream, REDUCED)],
    }
}
