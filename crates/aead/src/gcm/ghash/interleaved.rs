//! `interleaved {ways k, multipliers m}`: block i goes to accumulator i mod k, which advances by H^k.
//!
//! ```text
//!   X_i ---> multiplier i mod m ---> accumulator i mod k     k chains of latency L share m multipliers
//!                ^                        |
//!                +------------------------+
//! ```
//!
//! `look_ahead`: Y_j = (Y_j + X) H^k; the last k blocks of the message take H^k ... H^1 instead, so that the sum of the
//! accumulators is the value. `afterwards`: Y_j = Y_j H^k + X, and after the length block each accumulator that was used
//! is multiplied once more by the power that its place from the end asks for; the results are summed as they come.
//!
//! | | |
//! | --- | --- |
//! | accepts | up to m blocks per cycle, at most k per L cycles: min(m, k / L), and m per digit-serial interval |
//! | tail, look-ahead | with all chains at rest and the last ciphertext block alone in its cycle: t + L, where t is the wait of the length block: 0 if k > 1 and m > 1 (it enters next to the ciphertext), the interval if m = 1, L if k = 1 |
//! | tail, afterwards | to the length block as above; then C = min(k, N) multiplications on the m multipliers, of which the last waits for the length block's own: max(t + L, interval x floor((C + 1) / m)) + L |
//! | partial groups | a message of fewer than k blocks leaves accumulators at zero |
//! | alignment | none: AAD, text and length block share the sequence of accumulators |
//! | powers | H^1 to H^k, made on all m multipliers |

use super::powers::{Powers, setup};
use super::{Datapath, GhashTiming};
use crate::gcm::field::Element;
use crate::gcm::multiplier::{Made, Multiplier};
use crate::gcm::spec::{Closing, MultiplierSpec};

#[derive(Debug, Clone, Copy)]
enum Operation {
    Power(usize),
    Absorb { way: usize, plus: Element },
    Close,
}

#[derive(Debug, Clone)]
pub struct GhashUnit {
    closing: Closing,
    multipliers: Vec<Multiplier<Operation>>,
    /// The multiplier that the next operation goes to.
    slot: usize,
    powers: Powers,
    accumulators: Vec<Element>,
    busy: Vec<bool>,
    blocks: u64,
    entered: u64,
    /// Closing multiplications issued and come back.
    closed: (u64, u64),
    sum: Element,
}

impl GhashUnit {
    pub fn new(ways: u32, multipliers: u32, closing: Closing, spec: &MultiplierSpec) -> Self {
        let (ways, multipliers) = (ways as usize, multipliers as usize);
        Self {
            closing,
            multipliers: (0..multipliers).map(|_| Multiplier::new(spec)).collect(),
            slot: 0,
            powers: Powers::new(ways),
            accumulators: vec![Element::ZERO; ways],
            busy: vec![false; ways],
            blocks: 0,
            entered: 0,
            closed: (0, 0),
            sum: Element::ZERO,
        }
    }

    const fn ways(&self) -> u64 {
        self.accumulators.len() as u64
    }

    fn issue(&mut self, a: Element, b: Element, operation: Operation) {
        self.multipliers[self.slot].issue(a, b, operation);
        self.slot = (self.slot + 1) % self.multipliers.len();
    }

    fn slot_free(&self) -> bool {
        self.multipliers[self.slot].free()
    }

    fn make_powers(&mut self) {
        while let Some((power, a, b)) = self.powers.next().filter(|_| self.slot_free()) {
            self.powers.issue();
            self.issue(a, b, Operation::Power(power));
        }
    }

    fn closings(&self) -> u64 {
        match self.closing {
            Closing::LookAhead => 0,
            Closing::Afterwards => self.ways().min(self.blocks),
        }
    }

    fn close(&mut self) {
        while self.entered == self.blocks && self.closed.0 < self.closings() && self.slot_free() {
            let from_the_end = self.closings() - self.closed.0;
            let way = ((self.blocks - from_the_end) % self.ways()) as usize;
            if self.busy[way] {
                return;
            }
            self.issue(self.accumulators[way], self.powers.get(from_the_end as usize), Operation::Close);
            self.closed.0 += 1;
        }
    }
}

impl Datapath for GhashUnit {
    fn clock(&mut self) {
        for index in 0..self.multipliers.len() {
            match self.multipliers[index].clock() {
                Some((value, Operation::Power(power))) => self.powers.put(power, value),
                Some((value, Operation::Absorb { way, plus })) => {
                    self.accumulators[way] = value ^ plus;
                    self.busy[way] = false;
                }
                Some((value, Operation::Close)) => {
                    self.sum ^= value;
                    self.closed.1 += 1;
                }
                None => {}
            }
        }
        self.make_powers();
        self.close();
    }

    fn load(&mut self, h: Element) {
        self.powers.load(h);
        self.make_powers();
    }

    fn ready(&self) -> bool {
        self.powers.ready()
    }

    fn begin(&mut self, blocks: u64) {
        self.accumulators.fill(Element::ZERO);
        (self.blocks, self.entered, self.closed, self.sum) = (blocks, 0, (0, 0), Element::ZERO);
    }

    fn can_enter(&self) -> bool {
        self.entered < self.blocks && self.slot_free() && !self.busy[(self.entered % self.ways()) as usize]
    }

    fn enter(&mut self, block: Element) {
        let way = (self.entered % self.ways()) as usize;
        let power = match self.closing {
            Closing::LookAhead => self.ways().min(self.blocks - self.entered),
            Closing::Afterwards => self.ways(),
        };
        let power = self.powers.get(power as usize);
        match self.closing {
            Closing::LookAhead => {
                let plus = Element::ZERO;
                self.issue(self.accumulators[way] ^ block, power, Operation::Absorb { way, plus });
            }
            Closing::Afterwards => self.issue(self.accumulators[way], power, Operation::Absorb { way, plus: block }),
        }
        self.busy[way] = true;
        self.entered += 1;
        self.close();
    }

    fn result(&self) -> Option<Element> {
        if self.entered < self.blocks || self.busy.contains(&true) || self.closed.1 < self.closings() {
            return None;
        }
        Some(match self.closing {
            Closing::LookAhead => self.accumulators.iter().fold(Element::ZERO, |sum, &y| sum ^ y),
            Closing::Afterwards => self.sum,
        })
    }

    fn registers(&mut self, see: &mut dyn FnMut(&'static str, usize, &mut u128)) {
        self.powers.registers(see);
        for (way, value) in self.accumulators.iter_mut().enumerate() {
            see("accumulator", way, &mut value.0);
        }
        see("sum", 0, &mut self.sum.0);
        for (index, multiplier) in self.multipliers.iter_mut().enumerate() {
            multiplier.registers(index, see);
        }
    }

    fn products(&self, see: &mut dyn FnMut(usize, Made)) {
        for (index, multiplier) in self.multipliers.iter().enumerate() {
            multiplier.made().into_iter().for_each(|made| see(index, made));
        }
    }
}

#[derive(Debug, Clone)]
pub struct TimingModel {
    spec: MultiplierSpec,
    closing: Closing,
    latency: u64,
    interval: u64,
    /// By multiplier: the cycle in which it takes the next pair.
    free: Box<[u64]>,
    slot: usize,
    /// By accumulator: the cycle in which its value is valid.
    valid_at: Box<[u64]>,
    way: usize,
    last: u64,
    blocks: u64,
}

impl TimingModel {
    pub fn new(ways: u32, multipliers: u32, closing: Closing, spec: &MultiplierSpec) -> Self {
        Self {
            spec: spec.clone(),
            closing,
            latency: spec.latency(),
            interval: spec.interval(),
            free: vec![0; multipliers as usize].into(),
            slot: 0,
            valid_at: vec![0; ways as usize].into(),
            way: 0,
            last: 0,
            blocks: 0,
        }
    }
}

/// `index + step` around a ring, for a step no longer than the ring.
#[inline]
const fn around(ring: &[u64], index: usize, step: usize) -> usize {
    let sum = index + step;
    if sum >= ring.len() { sum - ring.len() } else { sum }
}

impl GhashTiming for TimingModel {
    fn power_setup(&self) -> u64 {
        setup(self.valid_at.len(), self.free.len(), &self.spec)
    }

    fn begin(&mut self, at: u64, blocks: u64) {
        self.last = self.last.max(at);
        self.blocks = blocks;
    }

    #[inline]
    fn earliest(&self) -> u64 {
        self.last.max(self.free[self.slot]).max(self.valid_at[self.way])
    }

    #[inline]
    fn room(&self, at: u64, want: u64) -> u64 {
        // Times along both rings do not decrease: the last block that fits speaks for those before it.
        let mut room = (want as usize).min(self.free.len()).min(self.valid_at.len());
        while room > 1 {
            let free = self.free[around(&self.free, self.slot, room - 1)];
            if free.max(self.valid_at[around(&self.valid_at, self.way, room - 1)]) <= at {
                break;
            }
            room -= 1;
        }
        room as u64
    }

    #[inline]
    fn enter(&mut self, at: u64, count: u64) {
        for _ in 0..count {
            self.free[self.slot] = at + self.interval;
            self.slot = around(&self.free, self.slot, 1);
            self.valid_at[self.way] = at + self.latency;
            self.way = around(&self.valid_at, self.way, 1);
        }
        self.last = at;
    }

    fn known(&mut self) -> u64 {
        if self.closing == Closing::Afterwards {
            let closings = (self.valid_at.len() as u64).min(self.blocks) as usize;
            for from_the_end in (1..=closings).rev() {
                let way = around(&self.valid_at, self.way, self.valid_at.len() - from_the_end);
                self.last = self.last.max(self.free[self.slot]).max(self.valid_at[way]);
                self.free[self.slot] = self.last + self.interval;
                self.slot = around(&self.free, self.slot, 1);
            }
            self.last += self.latency;
            return self.last;
        }
        self.last + self.latency
    }
}
