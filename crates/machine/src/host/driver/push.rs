//! What the driver hands to the GPU: pushes of launches, each with a semaphore at its end.

use crate::stream::{PushWork, Semaphore};

/// What is submitted together: launches, or one task. Pushes of a run are numbered from 1; those of one stream are carried out in the
/// order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Push {
    pub number: u32,
    /// Its stream, below [`MAX_STREAMS`](crate::host::map::MAX_STREAMS).
    pub stream: u32,
    /// The copy that it belongs to, if any.
    pub copy: Option<usize>,
    pub work: PushWork,
    /// It takes the push's number.
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
