//! A unit behind an input buffer of b blocks: what families of several units are built of.
//!
//! ```text
//!   blocks --->[ b blocks, first in, first out ]---> [ unit ]---> values, one after the other
//! ```
//!
//! | | |
//! | --- | --- |
//! | accepts | a block while fewer than b wait; a block that finds the buffer empty and the unit free passes through in its cycle |
//! | next value | its blocks may wait in the buffer; they go on once the value of the one before has been taken |

use super::{Datapath, GhashTiming, GhashUnit, TimingModel};
use crate::gcm::field::Element;
use crate::gcm::multiplier::Made;
use crate::gcm::register::Field;
use std::collections::VecDeque;

#[derive(Debug, Clone)]
pub(super) struct Buffered {
    unit: GhashUnit,
    room: usize,
    waiting: VecDeque<Element>,
    /// What comes: a name and a number of blocks.
    expected: VecDeque<(u64, u64)>,
    at_work: Option<u64>,
}

impl Buffered {
    pub fn new(unit: GhashUnit, room: u32) -> Self {
        Self { unit, room: room as usize, waiting: VecDeque::new(), expected: VecDeque::new(), at_work: None }
    }

    pub fn clock(&mut self) {
        self.unit.clock();
    }

    pub fn load(&mut self, h: Element) {
        self.unit.load(h);
    }

    pub fn ready(&self) -> bool {
        self.unit.ready()
    }

    /// Announces a part of `blocks` blocks after what has been announced.
    pub fn expect(&mut self, name: u64, blocks: u64) {
        self.expected.push_back((name, blocks));
    }

    pub fn has_room(&self) -> bool {
        self.waiting.len() < self.room
    }

    pub fn enter(&mut self, block: Element) {
        self.waiting.push_back(block);
        self.pass_on();
    }

    /// Moves what the unit takes in this cycle.
    pub fn pass_on(&mut self) {
        if self.at_work.is_none()
            && let Some((name, blocks)) = self.expected.pop_front()
        {
            self.unit.begin(blocks);
            self.at_work = Some(name);
        }
        while self.at_work.is_some()
            && self.unit.can_enter()
            && let Some(block) = self.waiting.pop_front()
        {
            self.unit.enter(block);
        }
    }

    /// The part that is done, and its value.
    pub fn value(&self) -> Option<(u64, Element)> {
        Some((self.at_work?, self.unit.result()?))
    }

    /// Lets go of the value.
    pub const fn take(&mut self) {
        self.at_work = None;
    }

    /// Shows every register; `place` is the unit's among its like.
    pub fn registers(&mut self, place: usize, see: &mut dyn FnMut(&'static str, usize, &mut u128)) {
        for (index, block) in self.waiting.iter_mut().enumerate() {
            see("waiting", Field::Part.put(place) | index, &mut block.0);
        }
        self.unit.registers(&mut |name, index, value| see(name, Field::Part.put(place) | index, value));
    }

    /// Shows every product that is valid in this cycle.
    pub fn products(&self, place: usize, see: &mut dyn FnMut(usize, Made)) {
        self.unit.products(&mut |index, made| see(Field::Part.put(place) | index, made));
    }
}

#[derive(Debug, Clone)]
pub(super) struct Feed {
    unit: TimingModel,
    /// By block, modulo the buffer's length: the cycle in which it left the buffer.
    left: Box<[u64]>,
    next: usize,
    /// Cycle from which the unit may take the next part.
    free: u64,
}

impl Feed {
    pub fn new(unit: TimingModel, room: u32) -> Self {
        Self { unit, left: vec![0; room as usize].into(), next: 0, free: 0 }
    }

    pub fn power_setup(&self) -> u64 {
        self.unit.power_setup()
    }

    /// When the buffer has room for the block `ahead` of the next one, which lies less than the buffer's length ahead.
    #[inline]
    pub fn room_at(&self, ahead: u64) -> u64 {
        let place = self.next + ahead as usize;
        self.left[if place < self.left.len() { place } else { place - self.left.len() }]
    }

    /// A part of `blocks` blocks begins with a block in cycle `at`.
    pub fn begin(&mut self, at: u64, blocks: u64) {
        self.unit.begin(at.max(self.free), blocks);
    }

    /// The next block enters the buffer in cycle `at`.
    #[inline]
    pub fn enter(&mut self, at: u64) {
        let passes = self.unit.next(at);
        self.unit.enter(passes, 1);
        self.left[self.next] = passes;
        self.next = if self.next + 1 == self.left.len() { 0 } else { self.next + 1 };
    }

    /// Ends a part, all of whose blocks have entered: the cycle in which its value is known.
    pub fn known(&mut self) -> u64 {
        self.unit.known()
    }

    /// The value is taken in cycle `at`.
    pub const fn take(&mut self, at: u64) {
        self.free = at;
    }
}
