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
//! | accepts | one block per L cycles, the first of a message F cycles longer; the digit-serial interval is hidden in L |
//! | tail | 2 L: the last ciphertext block, then the length block; F more if the last ciphertext block is the first |
//! | closing | none |
//! | partial groups, alignment | none: every block is a group |
//! | powers | H alone: no set-up |

use super::{Datapath, GhashTiming, powers::see_held};
use crate::gcm::field::Element;
use crate::gcm::multiplier::{Made, Multiplier};
use crate::gcm::spec::MultiplierSpec;

#[derive(Debug, Clone)]
pub struct GhashUnit {
    multiplier: Multiplier<()>,
    h: Option<Element>,
    accumulator: Element,
    busy: bool,
    left: u64,
    /// What the first block of a message takes beyond the others, and what is left of it.
    first_block: u64,
    extra: u64,
}

impl GhashUnit {
    pub fn new(spec: &MultiplierSpec, first_block: u64) -> Self {
        let (multiplier, accumulator) = (Multiplier::new(spec), Element::ZERO);
        Self { multiplier, h: None, accumulator, busy: false, left: 0, first_block, extra: 0 }
    }
}

impl Datapath for GhashUnit {
    fn clock(&mut self) {
        if self.busy && self.extra > 0 {
            self.extra -= 1;
            self.multiplier.hold();
        } else if let Some((value, ())) = self.multiplier.clock() {
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
        self.extra = self.first_block;
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

    fn registers(&mut self, see: &mut dyn FnMut(&'static str, usize, &mut u128)) {
        see_held("power", 1, &mut self.h, see);
        see("accumulator", 0, &mut self.accumulator.0);
        self.multiplier.registers(0, see);
    }

    fn products(&self, see: &mut dyn FnMut(usize, Made)) {
        self.multiplier.made().into_iter().for_each(|made| see(0, made));
    }
}

#[derive(Debug, Clone)]
pub struct TimingModel {
    latency: u64,
    next: u64,
    first_block: u64,
    extra: u64,
}

impl TimingModel {
    pub const fn new(spec: &MultiplierSpec, first_block: u64) -> Self {
        Self { latency: spec.latency(), next: 0, first_block, extra: 0 }
    }
}

impl GhashTiming for TimingModel {
    fn power_setup(&self) -> u64 {
        0
    }

    fn begin(&mut self, at: u64, _: u64) {
        self.next = self.next.max(at);
        self.extra = self.first_block;
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
        self.next = at + self.latency + self.extra;
        self.extra = 0;
    }

    fn known(&mut self) -> u64 {
        self.next
    }
}
