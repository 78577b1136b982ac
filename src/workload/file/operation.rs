//! The operations of a workload file, as they are written: repeats not yet unrolled.

use super::name::Name;
use crate::{
    system::{Direction, Memory, Pages},
    units::Femtos,
};
use std::ops::Range;

/// One operation.
#[derive(Debug)]
pub(super) struct Operation {
    pub act: Act,
    /// Number of its GPU; the first if none is written.
    pub gpu: Option<Name>,
    /// All of it.
    pub span: Range<usize>,
    /// The values of its fields.
    pub fields: Vec<(&'static str, Range<usize>)>,
}

/// What it does.
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
        stream: Name,
    },
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
pub(super) const OPERATIONS: [(&str, &[&str]); 6] = [
    ("copy", &["gpu", "stream", "direction", "size", "memory", "buffer", "pages", "blocking"]),
    ("kernel", &["gpu", "stream", "duration"]),
    ("record", &["gpu", "stream", "event"]),
    ("wait", &["gpu", "stream", "event"]),
    ("sync", &["gpu", "stream"]),
    ("repeat", &["count", "index", "operations"]),
];

/// How fields are written.
const EXAMPLES: [(&str, &str); 13] = [
    ("machine", "machine = \"h100-nvl-tdx\""),
    ("summary", "summary = \"Weights that do not fit, layer by layer\""),
    ("source", "source = [\"sizes: arXiv 2411.03357\"]"),
    ("op", "op = \"copy\""),
    ("gpu", "gpu = 1"),
    ("stream", "stream = \"a\""),
    ("direction", "direction = \"h2d\""),
    ("size", "size = \"64 MiB\""),
    ("duration", "duration = \"2 ms\""),
    ("event", "event = \"loaded\""),
    ("count", "count = 4"),
    ("index", "index = \"i\""),
    ("operations", "operations = [{ op = \"copy\", direction = \"h2d\", size = \"64 MiB\", stream = \"a\" }]"),
];

/// How a field is written.
pub(super) fn example(field: &str) -> &'static str {
    EXAMPLES.iter().find(|(name, _)| *name == field).map_or("", |(_, example)| example)
}

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
