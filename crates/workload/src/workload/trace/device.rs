//! What the GPU did, in a trace.

use super::place::{NameId, Place};
use std::num::NonZeroU64;

#[derive(Debug, Clone, PartialEq)]
pub struct DeviceOp {
    /// Start, ns from the first event.
    pub start_ns: u64,
    pub duration_ns: u64,
    pub kind: DeviceKind,
    /// The GPU, by the profiler's number.
    pub device: u32,
    /// The stream, by the profiler's number.
    pub stream: u32,
    /// Number that the operation shares with the call that asked for it. All operations of one graph launch share one.
    pub correlation: Option<NonZeroU64>,
    pub in_graph: bool,
    /// What the profiler calls it.
    pub name: NameId,
    /// Where the file says so.
    pub place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceKind {
    Copy {
        direction: Direction,
        /// Size, bytes; 0 if the profiler does not say.
        bytes: u64,
        source: Memory,
        target: Memory,
    },
    Memset {
        /// As that of a copy.
        bytes: u64,
    },
    Kernel,
    /// Apart from it: of a million operations few are collectives.
    Collective(Box<Communication>),
    /// A graph as a whole, of which the profiler recorded no nodes.
    Graph,
}

/// Communication with other GPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Communication {
    pub op: NameId,
    /// What this rank puts in, bytes.
    pub bytes_in: Option<u64>,
    /// What this rank gets out, bytes.
    pub bytes_out: Option<u64>,
    pub ranks: Option<u32>,
    /// Which communicator it is of, as the profiler writes it.
    pub group: Option<NameId>,
}

impl Communication {
    /// One of which only its name is known.
    pub const fn named(op: NameId) -> Self {
        Self { op, bytes_in: None, bytes_out: None, ranks: None, group: None }
    }
}

impl From<Communication> for DeviceKind {
    fn from(of: Communication) -> Self {
        Self::Collective(Box::new(of))
    }
}

// A profile has millions of operations: a gigabyte of it is to take less itself.
const _: () = assert!(size_of::<DeviceOp>() <= 72);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    H2d,
    D2h,
    /// Within a device. With confidential computing on, copies of pinned host memory are recorded as this too: their memory is managed.
    D2d,
    /// Device to another device.
    P2p,
    H2h,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// Host memory that is locked.
    Pinned,
    /// Host memory that is not locked.
    Pageable,
    /// Memory that driver and hardware move.
    Managed,
    Device,
    /// The profiler does not say.
    Unknown,
}
