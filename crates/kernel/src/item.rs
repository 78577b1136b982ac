//! What travels through queues and wires.

use super::fault::{FaultKind, Flip, Pick, Selectors};

/// Something that travels through queues and wires.
pub trait Item: Clone + 'static {
    /// The faults that can befall one in passing.
    const FAULTS: &'static [FaultKind] = &[FaultKind::Drop, FaultKind::Duplicate, FaultKind::Reorder];

    /// What an injection can choose among them.
    const SELECTORS: Selectors = Selectors::NONE;

    /// A word that identifies it, for the event digest. It must not depend on payload bytes.
    fn event_key(&self) -> u64;

    /// Inverts a bit that `seed` picks; none if there is none.
    fn flip(&mut self, _seed: u64) -> Option<Flip> {
        None
    }

    /// Its sort among those that can be counted apart.
    fn sort(&self) -> &'static str {
        ""
    }

    /// What identifies the message that it is about among those that pass the same place; none if it is about none.
    fn message(&self) -> Option<u64> {
        None
    }

    /// Inverts the bit that is picked of a field, or of the whole item; none if it has no such field or bit.
    fn flip_bit(&mut self, _field: Option<&str>, _pick: Pick) -> Option<Flip> {
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
        self.flip_bit(None, Pick::Seed(seed))
    }
    fn flip_bit(&mut self, field: Option<&str>, pick: Pick) -> Option<Flip> {
        let before = *self;
        *self ^= 1 << pick.among(64).filter(|_| field.is_none())?;
        Some(Flip::of_header(before, *self))
    }
}
