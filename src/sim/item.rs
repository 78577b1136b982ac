//! What travels through queues and wires.

use super::fault::{FaultKind, Flip};

/// Something that travels through queues and wires.
pub trait Item: Clone + 'static {
    /// The faults that can befall one in passing.
    const FAULTS: &'static [FaultKind] = &[FaultKind::Drop, FaultKind::Duplicate, FaultKind::Reorder];

    /// A word that tells it apart from others, for the event digest. It must not depend on payload bytes.
    fn event_key(&self) -> u64;

    /// Inverts a bit that `seed` picks; none if there is none.
    fn flip(&mut self, _seed: u64) -> Option<Flip> {
        None
    }

    /// Inverts a bit of its framing token.
    fn flip_token(&mut self, _seed: u64) -> Option<Flip> {
        None
    }

    /// Inverts a bit that only IDE protects.
    fn flip_protected(&mut self, _seed: u64) -> Option<Flip> {
        None
    }
}

/// A plain word, for tests and simple handshakes.
impl Item for u64 {
    fn event_key(&self) -> u64 {
        *self
    }
    fn flip(&mut self, seed: u64) -> Option<Flip> {
        let before = *self;
        *self ^= 1 << (seed % 64);
        Some(Flip::of_header(before, *self))
    }
}
