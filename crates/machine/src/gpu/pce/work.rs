//! What the parts of a PCE hand each other: what is asked of host memory, and what has come.

use crate::{
    pcie::{packet::Payload, split::Request},
    sim::Activity,
};

/// What a transfer asks host memory for next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    Data(Request),
    Tag,
}

/// A refusal: what the PCE is, and when it can try again by itself.
pub(super) type Refusal = (Activity, u64);

/// Bytes that have come.
#[derive(Debug, Default)]
pub(super) struct Piece {
    pub bytes: u32,
    pub payload: Payload,
}

impl Piece {
    /// Takes it from its place, part by part, as it was just put together.
    #[inline(always)]
    pub fn take(&mut self) -> Self {
        let Self { bytes, payload } = self;
        Self { bytes: std::mem::take(bytes), payload: std::mem::take(payload) }
    }

    /// Appends what came behind it.
    #[inline]
    pub fn join(&mut self, next: Self) {
        self.payload.append(next.payload);
        self.bytes += next.bytes;
    }
}
