//! What each GPU does in a collective: which text it sends to whom, and what becomes of what it receives.

use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendStep {
    pub target: u8,
    /// Where it lies in the sender's memory.
    pub range: Range<u64>,
    /// Places of the receives of this GPU that must be through before.
    pub after: Vec<usize>,
}

/// Text that a GPU receives: the n-th from a source is what that source sends it n-th.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiveStep {
    pub source: u8,
    /// Where it goes in the receiver's memory.
    pub range: Range<u64>,
    /// Whether it is added to what is there, in place of what is there being replaced.
    pub reduces: bool,
    /// Bytes of it that are added or copied once all of it has come, before what follows from it.
    pub pass: u64,
}

/// What one GPU does. It starts its sends in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Program {
    pub sends: Vec<SendStep>,
    pub receives: Vec<ReceiveStep>,
}
