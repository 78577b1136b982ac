//! What the program asked for, in a trace.

use super::place::{NameId, Place};
use std::num::NonZeroU64;

#[derive(Debug, Clone, PartialEq)]
pub struct HostCall {
    /// Start, ns from the first event.
    pub start_ns: u64,
    pub duration_ns: u64,
    /// What the profiler calls it.
    pub name: NameId,
    /// Place of the thread in [`threads`](super::Trace::threads).
    pub thread: u32,
    /// Number that the call shares with what it made the GPU do.
    pub correlation: Option<NonZeroU64>,
    pub failed: bool,
    pub what: CallKind,
    /// Where the file says so.
    pub place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallKind {
    Launch,
    GraphLaunch,
    Copy {
        /// Whether the call returns only when the program may touch the memory again, by its name.
        blocking: bool,
    },
    Memset,
    Synchronize(Waited),
    EventRecord,
    /// To make a stream wait for an event.
    StreamWait,
    /// To allocate device or managed memory.
    Allocate,
    /// To give back memory, the device's or locked memory of the host.
    Free,
    /// To allocate locked memory of the host.
    HostAllocate,
    Register,
    Unregister,
    Load,
    Query,
    /// No call: work of the host itself, from a format that has such (Chakra).
    HostWork,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Waited {
    Device,
    Stream,
    Event,
}

/// What the profiler says about a wait beyond the call itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synchronization {
    /// Number that it shares with the call.
    pub correlation: Option<NonZeroU64>,
    /// What waits: nothing if it is the host.
    pub waiting_stream: Option<u32>,
    /// What is waited for; `None`: a stream waits for an event.
    pub host_waits_for: Option<Waited>,
    pub stream: Option<u32>,
    /// Correlation of the call that recorded the event that is waited for.
    pub record: Option<u64>,
    /// Where the file says so.
    pub place: Place,
}
