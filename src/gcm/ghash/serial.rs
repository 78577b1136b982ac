//! `serial`: one accumulator, one multiplier, Y = (Y + X) H.
//!
//! ```text
//!   X ----(+)---> [ multiplier by H, L cycles ] ---+---> Y
//!          ^                                       |
//!          +---------------------------------------+
//! ```
//!
//! | | |
//! | --- | --- |
//! | accepts | one block per L cycles; the digit-serial interval is hidden in L |
//! | tail | 2 L: the last ciphertext block, then the length block |
//! | closing | none |
//! | partial groups, alignment | none: every block is a group |
//! | powers | H alone: no set-up |

use super::{Cadence, Datapath};
use crate::gcm::field::Element;
use crate::gcm::multiplier::Multiplier;
use crate::gcm::spec::MultiplierSpec;

/// The registers.
#[derive(Debug, Clone)]
pub struct Unit {
    multiplier: Multiplier<()>,
    h: Option<Element>,
    accumulator: Element,
    busy: bool,
    left: u64,
}

impl Unit {
    /// A unit at rest.
    #[must_use]
    pub fn new(spec: &MultiplierSpec) -> Self {
        Self { multiplier: Multiplier::new(spec), h: None, accumulator: Element::ZERO, busy: false, left: 0 }
    }
}

impl Datapath for Unit {
    fn clock(&mut self) {
        if let Some((value, ())) = self.multiplier.clock() {
            self.accumulator = value;
            self.busy = false;
        }
    }

    fn load(&mut self, h: Element) {
        self.h = Some(h);
    }

    fn ready(&self) -> bool {
        self.h.is_some()
    }

    fn begin(&mut self, blocks: u64) {
        self.accumulator = Element::ZERO;
        self.left = blocks;
    }

    fn can_enter(&self) -> bool {
        self.left > 0 && !self.busy && self.multiplier.free()
    }

    fn enter(&mut self, block: Element) {
        self.multiplier.issue(self.accumulator ^ block, self.h.unwrap_or_default(), ());
        self.busy = true;
        self.left -= 1;
    }

    fn result(&self) -> Option<Element> {
        (self.left == 0 && !self.busy).then_some(self.accumulator)
    }

    fn registers(&self, see: &mut dyn FnMut(&'static str, usize, u128)) {
        see("power", 1, self.h.unwrap_or_default().0);
        see("accumulator", 0, self.accumulator.0);
        self.multiplier.registers(&mut |name, value| see(name, 0, value));
    }
}

/// The cycles.
#[derive(Debug, Clone)]
pub struct Recurrence {
    latency: u64,
    next: u64,
}

impl Recurrence {
    /// A unit at rest.
    #[must_use]
    pub const fn new(spec: &MultiplierSpec) -> Self {
        Self { latency: spec.latency(), next: 0 }
    }
}

impl Cadence for Recurrence {
    fn power_setup(&self) -> u64 {
        0
    }

    fn begin(&mut self, at: u64, _: u64) {
        self.next = self.next.max(at);
    }

    #[inline]
    fn earliest(&self) -> u64 {
        self.next
    }

    #[inline]
    fn room(&self, _: u64, _: u64) -> u64 {
        1
    }

    #[inline]
    fn enter(&mut self, at: u64, _: u64) {
        self.next = at + self.latency;
    }

    fn known(&mut self) -> u64 {
        self.next
    }
}
