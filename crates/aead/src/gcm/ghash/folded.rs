//! `folded {powers n}`: groups of n blocks times H^n ... H^1 on one pipelined multiplier; the state before the group is folded
//! in by one more product, times H^n.
//!
//! ```text
//!   X_i ---------+
//!                v
//!   state --->[ mux ]---> [ multiplier by H^e, L cycles ] ---> (sum of the group) --- fold cycles ---> state
//!      ^                                                                                                 |
//!      +-------------------------------------------------------------------------------------------------+
//! ```
//!
//! A group is complete when its blocks and, but for the first group of a message, its state have been issued: in cycle c. Its sum is
//! the state from cycle c + loop on, loop = L + fold. There the next group's state product is issued, before any block; until then
//! its blocks go ahead. Blocks of the group after that wait for the completion: there are two sums.
//!
//! | | |
//! | --- | --- |
//! | accepts | one block per cycle (per digit-serial interval I), and n blocks per max((n + 1) I, loop) cycles: n / max(n + 1, loop) |
//! | tail | with all before it at rest and n > 1, I + loop: the length block follows the last ciphertext block; if the last ciphertext block ends a group, 2 loop (for n = 1 always) |
//! | closing | none: the length is known ahead, so the last group, which may be short, takes powers that end in H |
//! | partial groups | the last group of a message |
//! | alignment | none: groups are counted over AAD, text and length block together |
//! | powers | H^1 to H^n, each the one before times H: (n - 1) L cycles |

use super::{Datapath, GhashTiming};
use crate::gcm::field::Element;
use crate::gcm::multiplier::{Made, Multiplier};
use crate::gcm::spec::MultiplierSpec;
use std::collections::VecDeque;

#[derive(Debug, Clone, Copy)]
enum Destination {
    Power,
    /// A sum, and whether this is the last product into it.
    Sum {
        last: bool,
    },
}

#[derive(Debug, Clone)]
pub struct GhashUnit {
    multiplier: Multiplier<Destination>,
    fold: u64,
    powers: Vec<Element>,
    size: usize,
    h: Option<Element>,
    making_power: bool,
    sum: Element,
    /// Sums in transit to the state, and the cycles that they still need.
    folding: VecDeque<(u64, Element)>,
    state: Element,
    /// Groups that have been completed and are not yet the state.
    ahead: u64,
    /// Whether the group at hand still needs its state product.
    state_due: bool,
    /// Blocks of the message that have not entered, and of the group at hand.
    left: u64,
    group_left: u64,
    group: u64,
    entered_in_cycle: bool,
}

impl GhashUnit {
    pub fn new(powers: u32, fold: u64, spec: &MultiplierSpec) -> Self {
        Self {
            multiplier: Multiplier::new(spec),
            fold,
            powers: Vec::new(),
            size: powers as usize,
            h: None,
            making_power: false,
            sum: Element::ZERO,
            folding: VecDeque::new(),
            state: Element::ZERO,
            ahead: 0,
            state_due: false,
            left: 0,
            group_left: 0,
            group: 0,
            entered_in_cycle: false,
        }
    }

    fn make_powers(&mut self) {
        let (Some(h), Some(&last)) = (self.h, self.powers.last()) else { return };
        if self.powers.len() < self.size && !self.making_power && self.multiplier.free() {
            self.making_power = true;
            self.multiplier.issue(last, h, Destination::Power);
        }
    }

    fn power(&self, exponent: u64) -> Element {
        self.powers.get(exponent.wrapping_sub(1) as usize).copied().unwrap_or_default()
    }

    fn open_group(&mut self, first: bool) {
        self.group = self.left.min(self.size as u64);
        self.group_left = self.group;
        self.state_due = !first && self.group > 0;
    }

    /// The state product goes before any block, in the first cycle in which the state is valid.
    fn fold_state(&mut self) {
        if self.state_due && self.ahead == 0 && self.multiplier.free() {
            self.state_due = false;
            self.issue(self.state, self.group);
        }
    }

    fn issue(&mut self, value: Element, exponent: u64) {
        let last = self.group_left == 0 && !self.state_due;
        self.multiplier.issue(value, self.power(exponent), Destination::Sum { last });
        if last {
            self.ahead += 1;
            self.open_group(false);
        }
    }

    fn settle(&mut self) {
        while let Some(&(0, sum)) = self.folding.front() {
            self.folding.pop_front();
            self.state = sum;
            self.ahead -= 1;
        }
    }
}

impl Datapath for GhashUnit {
    fn clock(&mut self) {
        self.entered_in_cycle = false;
        for (cycles, _) in &mut self.folding {
            *cycles -= 1;
        }
        match self.multiplier.clock() {
            Some((value, Destination::Power)) => {
                self.powers.push(value);
                self.making_power = false;
            }
            Some((value, Destination::Sum { last })) => {
                self.sum ^= value;
                if last {
                    self.folding.push_back((self.fold, std::mem::take(&mut self.sum)));
                }
            }
            None => {}
        }
        self.settle();
        self.make_powers();
        self.fold_state();
    }

    fn load(&mut self, h: Element) {
        (self.h, self.powers) = (Some(h), vec![h]);
        self.make_powers();
    }

    fn ready(&self) -> bool {
        self.powers.len() == self.size
    }

    fn begin(&mut self, blocks: u64) {
        self.left = blocks;
        self.state = Element::ZERO;
        self.open_group(true);
    }

    fn can_enter(&self) -> bool {
        self.group_left > 0 && !self.entered_in_cycle && self.multiplier.free()
    }

    fn enter(&mut self, block: Element) {
        let exponent = self.group_left;
        self.entered_in_cycle = true;
        self.left -= 1;
        self.group_left -= 1;
        self.issue(block, exponent);
    }

    fn result(&self) -> Option<Element> {
        (self.left == 0 && self.ahead == 0 && !self.state_due && self.group_left == 0).then_some(self.state)
    }

    fn registers(&mut self, see: &mut dyn FnMut(&'static str, usize, &mut u128)) {
        for (index, power) in self.powers.iter_mut().enumerate() {
            see("power", index + 1, &mut power.0);
        }
        self.multiplier.registers(0, see);
        see("sum", 0, &mut self.sum.0);
        for (index, (_, sum)) in self.folding.iter_mut().enumerate() {
            see("folding", index, &mut sum.0);
        }
        see("accumulator", 0, &mut self.state.0);
    }

    fn products(&self, see: &mut dyn FnMut(usize, Made)) {
        self.multiplier.made().into_iter().for_each(|made| see(0, made));
    }
}

#[derive(Debug, Clone)]
pub struct TimingModel {
    latency: u64,
    interval: u64,
    around: u64,
    size: u64,
    /// Blocks of the message that have not entered, and of the group at hand.
    left: u64,
    group_left: u64,
    /// When the state product of the group at hand may be issued, if it still has to be.
    state: Option<u64>,
    /// When the multiplier takes the next pair; also the cycle in which the message began.
    free: u64,
    last: u64,
}

impl TimingModel {
    pub const fn new(powers: u32, fold: u64, spec: &MultiplierSpec) -> Self {
        Self {
            latency: spec.latency(),
            interval: spec.interval(),
            around: spec.latency() + fold,
            size: powers as u64,
            left: 0,
            group_left: 0,
            state: None,
            free: 0,
            last: 0,
        }
    }

    /// Issues the state product in cycle `at`.
    fn fold_state(&mut self, at: u64) {
        self.state = None;
        self.issued(at);
    }

    fn issued(&mut self, at: u64) {
        (self.last, self.free) = (at, at + self.interval);
        if self.group_left == 0 && self.state.is_none() && self.left > 0 {
            self.group_left = self.left.min(self.size);
            self.state = Some(at + self.around);
        }
    }

    /// When the state product of the group at hand is issued, if no block enters before.
    fn state_at(&self) -> Option<u64> {
        self.state.map(|valid_at| valid_at.max(self.free))
    }
}

impl GhashTiming for TimingModel {
    fn power_setup(&self) -> u64 {
        (self.size - 1) * self.latency
    }

    fn begin(&mut self, at: u64, blocks: u64) {
        self.free = self.free.max(at);
        self.left = blocks;
        self.group_left = blocks.min(self.size);
        self.state = None;
    }

    fn earliest(&self) -> u64 {
        self.next(0)
    }

    fn next(&self, at: u64) -> u64 {
        let (mut free, mut state) = (self.free, self.state_at());
        // All blocks of the group are in: it ends with its state product, and the next one opens with a state of its own.
        if let (0, Some(ends)) = (self.group_left, state) {
            free = ends + self.interval;
            state = Some(free.max(ends + self.around));
        }
        let at = at.max(free);
        state.filter(|&state| state <= at).map_or(at, |state| at.max(state + self.interval))
    }

    fn room(&self, _: u64, _: u64) -> u64 {
        1
    }

    fn enter(&mut self, at: u64, _: u64) {
        while let Some(state) = self.state_at().filter(|&state| state < at) {
            self.fold_state(state);
        }
        self.left -= 1;
        self.group_left -= 1;
        self.issued(at);
    }

    fn known(&mut self) -> u64 {
        if let Some(state) = self.state_at() {
            self.fold_state(state);
        }
        self.last + self.around
    }
}
