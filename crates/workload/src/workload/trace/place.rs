//! Where in a file something is said.

use std::fmt;

/// Place of a name in [`names`](super::Trace::names).
pub type NameId = u32;

/// Where in a file an event is. All numbers count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// A line of the file of GPU operations.
    Line(u64),
    CallLine(u64),
    /// An event of a list, and the line that it begins on.
    Event {
        event: u32,
        line: u32,
    },
    Row {
        /// A reference to its name, which is half as long: each operation has a place.
        table: &'static &'static str,
        /// The row, by its `rowid`.
        row: u32,
    },
    /// A node, by its place in the file.
    Node(u64),
}

impl Place {
    pub const fn line(self) -> Option<u64> {
        match self {
            Self::Line(line) | Self::CallLine(line) => Some(line),
            Self::Event { line, .. } => Some(line as u64),
            Self::Row { .. } | Self::Node(_) => None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) | Self::CallLine(line) => write!(f, "line {line}"),
            Self::Event { event, line } => write!(f, "line {line} (event {event})"),
            Self::Row { table, row } => write!(f, "table {table}, row {row}"),
            Self::Node(node) => write!(f, "node {node}"),
        }
    }
}
