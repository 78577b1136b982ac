//! What the driver hands to the GPU: pushes of launches, each with a semaphore at its end.

use crate::stream::{LaunchKind, StreamTask};

/// One launch. Addresses are those of [`map`](crate::host::map).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    pub kind: LaunchKind,
    pub source: u64,
    pub destination: u64,
    pub bytes: u64,
    /// Where the tag is read or written; 0 where there is none.
    pub tag: u64,
    /// Where the IV is written; 0 where it is not.
    pub iv: u64,
    /// Whether it may begin before the launch before it has ended.
    pub pipelined: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Semaphore {
    pub address: u64,
    pub value: u32,
}

/// What is submitted together: launches, or one task. Pushes of a run are numbered from 1; those of one stream are carried out in the
/// order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Push {
    pub number: u32,
    /// Its stream, below [`MAX_STREAMS`](crate::host::map::MAX_STREAMS).
    pub stream: u32,
    /// The copy that it belongs to, if any.
    pub copy: Option<usize>,
    pub orders: Vec<Order>,
    /// What it asks for instead of launches.
    pub task: Option<StreamTask>,
    /// What is released when all of them are done: the push's number.
    pub semaphore: Semaphore,
}

/// Where pushes lie until the GPU fetches them.
pub trait Pushes {
    /// Takes a push whose doorbell is about to ring.
    fn put(&mut self, push: Push);
}

/// The CPU's IVs of one direction of a channel, in order.
pub trait Nonces {
    fn next(&mut self) -> Result<[u8; 12], String>;
}

/// The CPU's IVs of a channel. Not used without confidential computing.
pub struct NonceStreams {
    /// Of what the CPU seals.
    pub seal: Box<dyn Nonces>,
    /// Of what it will open.
    pub open: Box<dyn Nonces>,
}
