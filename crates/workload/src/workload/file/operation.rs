//! The operations of a workload file, as they are written: repeats not yet unrolled.

use super::{name::Name, training::Training};
use crate::{
    system::{Direction, Memory, Pages},
    units::Femtos,
    workload::collective::CollectiveCall,
};
use std::ops::Range;

#[derive(Debug)]
pub(super) struct Operation {
    pub act: Act,
    /// Number of its GPU; the first if none is written.
    pub gpu: Option<Name>,
    pub span: Range<usize>,
    pub fields: Vec<(&'static str, Range<usize>)>,
}

#[derive(Debug)]
pub(super) enum Act {
    Copy {
        direction: Direction,
        /// None: the whole payload.
        bytes: Option<u64>,
        memory: Memory,
        buffer: Option<Name>,
        pages: Option<Pages>,
        blocking: bool,
        stream: Name,
    },
    Kernel {
        duration: Femtos,
        /// Launches of one kernel each.
        count: u64,
        call: Option<Femtos>,
        /// What the host does before each launch.
        host: Option<Femtos>,
        stream: Name,
    },
    Graph {
        kernels: u32,
        /// Of each kernel.
        duration: Femtos,
        call: Option<Femtos>,
        stream: Name,
    },
    Host {
        duration: Femtos,
    },
    Thread {
        name: Name,
    },
    Collective {
        call: CollectiveCall,
        stream: Name,
    },
    Network {
        duration: Femtos,
        stream: Name,
    },
    Train(Training),
    Record {
        event: Name,
        stream: Name,
    },
    Wait {
        event: Name,
        stream: Name,
    },
    Sync {
        stream: Option<Name>,
    },
    Repeat {
        count: u64,
        index: String,
        operations: Vec<Operation>,
    },
}

/// The operations and their fields, `op` aside.
pub(super) const OPERATIONS: [(&str, &[&str]); 12] = [
    ("copy", &["gpu", "stream", "direction", "size", "memory", "buffer", "pages", "blocking"]),
    ("kernel", &["gpu", "stream", "duration", "count", "call", "host"]),
    ("graph", &["gpu", "stream", "kernels", "duration", "call"]),
    ("host", &["gpu", "duration"]),
    ("thread", &["name"]),
    ("collective", &["gpu", "stream", "kind", "ranks", "size"]),
    ("network", &["gpu", "stream", "size", "rate", "latency"]),
    ("ddp", &DDP),
    ("record", &["gpu", "stream", "event"]),
    ("wait", &["gpu", "stream", "event"]),
    ("sync", &["gpu", "stream"]),
    ("repeat", &["count", "index", "operations"]),
];

/// Fields of data-parallel training.
const DDP: [&str; 11] = [
    "gpu",
    "stream",
    "collectives",
    "ranks",
    "layers",
    "batch",
    "rate",
    "element",
    "bucket_cap",
    "first_bucket",
    "update",
];

impl Operation {
    /// Where a field of it is written; if it is not, the whole operation.
    pub fn place(&self, field: &str) -> Range<usize> {
        let written = self.fields.iter().find(|(name, _)| *name == field);
        written.map_or_else(|| self.span.clone(), |(_, span)| span.clone())
    }

    /// How many steps and copies it unrolls to.
    pub fn size(&self) -> (u64, u64) {
        match &self.act {
            Act::Copy { .. } => (1, 1),
            Act::Train(training) => (training.steps(), 0),
            Act::Kernel { count, host, .. } => (count.saturating_mul(if host.is_some() { 2 } else { 1 }), 0),
            Act::Repeat { count, operations, .. } => {
                let (steps, copies) = size(operations);
                (steps.saturating_mul(*count), copies.saturating_mul(*count))
            }
            _ => (1, 0),
        }
    }
}

/// How many steps and copies operations unroll to.
pub(super) fn size(operations: &[Operation]) -> (u64, u64) {
    operations.iter().map(Operation::size).fold((0, 0), |sum, one| {
        let (steps, copies): (u64, u64) = sum;
        (steps.saturating_add(one.0), copies.saturating_add(one.1))
    })
}
