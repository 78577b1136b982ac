//! Text through a keystream and past an authenticator: the cycles of one message, block by block.
//!
//! ```text
//!   counters --> lanes --> keystream FIFO
//!                               |
//!   text --> ports ----------->(+)----> [register] ----> text, one cycle later
//!               | Input                     | Output
//!               +------> authenticator <----+
//! ```
//!
//! | | |
//! | --- | --- |
//! | accepts | up to `ports` text blocks per cycle, in order, as far as their keystream stands and the authenticator takes them |
//! | keystream | block j goes to lane j mod lanes, in order, at the earliest in the cycle after the last text of block j - `depth` was taken |
//! | output | one cycle after a block is taken |
//! | authenticator | sees the text at its ports in the cycle in which it is taken, or from the output register a cycle later or when it can; the register holds `ports` blocks, and text waits while it is full |
//!
//! The rules are those of [the timing of AES-GCM](crate::gcm::timing), for keystream blocks of any length.

use crate::gcm::ghash::{GhashTiming, TimingModel};
use crate::gcm::spec::AesSpec;
use crate::gcm::timing::{Limit, keystream::Looped};
use std::collections::VecDeque;

/// Cipher lanes that take one block after the other.
#[derive(Debug, Clone)]
pub struct Lanes {
    looped: Looped,
    count: u64,
    latency: u64,
    blocks: u64,
    last: u64,
}

impl Lanes {
    pub fn new(spec: &AesSpec, rounds: u32) -> Self {
        let (looped, latency) = (Looped::new(spec, rounds), spec.latency(rounds));
        Self { looped, count: spec.lanes.into(), latency, blocks: 0, last: 0 }
    }

    /// The next block goes to the first lane.
    pub const fn restart(&mut self) {
        self.blocks = 0;
    }

    /// The next block enters in cycle `at` or as soon after it as its lane allows. Gives the cycle in which its result is valid.
    pub fn result(&mut self, at: u64) -> u64 {
        let lane = self.blocks % self.count;
        self.last = self.looped.enter(lane as usize, at.max(self.last));
        self.blocks += 1;
        self.last + self.latency
    }
}

/// Where the authenticator sees the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hashing {
    Input,
    Output,
    Nowhere,
}

#[derive(Debug, Clone, Copy)]
pub struct Flow {
    /// Text blocks per cycle.
    pub ports: u64,
    /// Text blocks that one keystream block covers.
    pub unit: u64,
    /// Keystream blocks that may be ahead of the text.
    pub depth: u64,
    pub hashing: Hashing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    /// The cycle in which the first block was taken; its output is valid one cycle later.
    pub first: Option<u64>,
    /// The same of the last block.
    pub last: Option<u64>,
}

#[derive(Debug, Clone)]
pub struct Passing {
    flow: Flow,
    blocks: u64,
    /// The last cycle in which text was taken, and how many blocks.
    row: (u64, u64),
    /// When the keystream of the last block stood.
    stands: u64,
    /// By keystream block that may be waited for: the cycle from which its room in the FIFO is free.
    credits: VecDeque<u64>,
    /// By block in the output register: when it entered the authenticator.
    hashed: VecDeque<u64>,
    extent: Extent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    pub at: u64,
    /// Cycles that it was there and waited, beyond what the ports make it.
    pub waited: u64,
    pub limit: Limit,
}

impl Passing {
    pub fn new(flow: Flow, from: u64) -> Self {
        let (credits, hashed) = (VecDeque::new(), VecDeque::new());
        Self { flow, blocks: 0, row: (from, 0), stands: 0, credits, hashed, extent: Extent::default() }
    }

    pub const fn extent(&self) -> Extent {
        self.extent
    }

    /// Takes the next block, which is there from cycle `visible` on, with keystream that may be begun in cycle `keyed`, or with none.
    pub fn take(&mut self, visible: u64, keystream: Option<(&mut Lanes, u64)>, hash: &mut TimingModel) -> Taken {
        let Flow { ports, unit, depth, hashing } = self.flow;
        let block = self.blocks;
        self.blocks += 1;
        if let Some((lanes, keyed)) = keystream.filter(|_| block.is_multiple_of(unit)) {
            let credit = if block / unit < depth { None } else { self.credits.pop_front() };
            self.stands = lanes.result(credit.unwrap_or(0).max(keyed));
        }
        let free = visible.max(self.row.0 + u64::from(self.row.1 == ports));
        let keyed = free.max(self.stands);
        let mut at = keyed;
        if hashing == Hashing::Input {
            at = hash.next(at);
            hash.enter(at, 1);
        }
        if hashing == Hashing::Output {
            let drained = if block < ports { None } else { self.hashed.pop_front() };
            at = at.max(drained.unwrap_or(0));
            let enters = hash.next(at + 1);
            hash.enter(enters, 1);
            self.hashed.push_back(enters);
        }
        self.row = (at, 1 + if self.row.0 == at { self.row.1 } else { 0 });
        if self.blocks.is_multiple_of(unit) {
            self.credits.push_back(at + 1);
        }
        self.extent.first.get_or_insert(at);
        self.extent.last = Some(at);
        let limit = match (at > keyed, keyed > free) {
            (true, _) => Limit::Ghash,
            (false, true) => Limit::Aes,
            (false, false) if free > visible => Limit::Ports,
            (false, false) => Limit::Data,
        };
        Taken { at, waited: at - free, limit }
    }
}

/// Enters blocks that are all there. Gives the cycles of the first and the last one.
pub fn absorb(hash: &mut TimingModel, blocks: u64) -> Extent {
    let mut extent = Extent::default();
    let mut left = blocks;
    while left > 0 {
        let at = hash.earliest();
        let count = hash.room(at, left);
        hash.enter(at, count);
        extent.first.get_or_insert(at);
        extent.last = Some(at);
        left -= count;
    }
    extent
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dates {
    /// The first block of AAD or text was taken.
    pub first_input: Option<u64>,
    /// The first text block is at the output.
    pub first_text: Option<u64>,
    pub last_text: Option<u64>,
    /// The tag is valid: the one that is sent, or the one to compare with.
    pub tag: u64,
    pub verdict: u64,
}

impl Dates {
    /// Of a message whose AAD and text passed so.
    pub fn of(aad: Extent, text: Extent, tag: u64, compare: u64) -> Self {
        Self {
            first_input: [aad.first, text.first].into_iter().flatten().min(),
            first_text: text.first.map(|at| at + 1),
            last_text: text.last.map(|at| at + 1),
            tag,
            verdict: tag + compare,
        }
    }

    /// The same of a message whose cycle 0 is `start`.
    pub fn counted_from(self, start: u64) -> Self {
        let at = |cycle: u64| start + cycle;
        Self {
            first_input: self.first_input.map(at),
            first_text: self.first_text.map(at),
            last_text: self.last_text.map(at),
            tag: at(self.tag),
            verdict: at(self.verdict),
        }
    }

    pub fn done(&self) -> u64 {
        self.tag.max(self.last_text.unwrap_or(0))
    }
}
