//! What the GPU did, in a trace.

use super::place::{NameId, Place};

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
    pub correlation: Option<u64>,
    /// Node of the graph that the operation is part of.
    pub graph_node: Option<u64>,
    /// What the profiler calls it.
    pub name: NameId,
    /// Where the file says so.
    pub place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceKind {
    Copy {
        direction: Direction,
        /// Size, bytes; 0 if the profiler does not say.
        bytes: u64,
        source: Memory,
        target: Memory,
    },
    Memset {
        bytes: Option<u64>,
    },
    Kernel,
    /// Communication with other GPUs.
    Collective {
        op: NameId,
        /// What this rank puts in, bytes.
        bytes_in: Option<u64>,
        /// What this rank gets out, bytes.
        bytes_out: Option<u64>,
        /// How many ranks take part.
        ranks: Option<u32>,
        /// Which communicator it is of, as the profiler writes it.
        group: Option<NameId>,
    },
    /// A graph as a whole, of which the profiler recorded no nodes.
    Graph,
}

/// Which way a copy goes.
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
