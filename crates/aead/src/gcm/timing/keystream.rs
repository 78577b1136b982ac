//! When keystream blocks are valid.
//!
//! Block i of a message enters its lane in cycle s(i) = max of: s(i - 1); the cycle after text block i -
//! `keystream_blocks` was taken; and what the lane allows. Lanes that take a block in every cycle need no state: with
//! c(i) the cycle in which text block i is taken, c(i) >= c(i - lanes) + 1 (there is one text port per lane), and by
//! induction
//!
//! ```text
//! s(i) = max(s(0) + floor(i / lanes), c(i - keystream_blocks) + 1)
//! ```
//!
//! Block 0 is the mask; where a message has several tags, it has as many masks, and text block i is block i + masks.
//!
//! Lanes in which blocks go round have D places; a place that was entered in cycle t is free again in t + passes x D.

use crate::gcm::spec::AesSpec;

/// The lanes' timing and the FIFO's credits.
#[derive(Debug, Clone)]
pub(super) struct Keystream {
    lanes: u64,
    latency: u64,
    depth: u64,
    /// By text block, modulo the ring's length: the cycle after it was taken, when its room may be used again.
    credits: Box<[u64]>,
    looped: Option<Looped>,
    /// Mask blocks per message.
    masks: u64,
    /// When the first mask block of the message entered its lane, and the last.
    first: u64,
    last_mask: u64,
    /// When the last block of the message before entered its lane, and one more.
    next_message: u64,
    /// Number of the message's first text block among all text blocks.
    base: u64,
    blocks: u64,
}

impl Keystream {
    pub(super) fn new(spec: &AesSpec, rounds: u32, masks: u32) -> Self {
        let depth = u64::from(spec.keystream_blocks);
        let looped = spec.passes(rounds) > 1 || spec.start_interval.0 > 1;
        Self {
            lanes: spec.lanes.into(),
            latency: spec.latency(rounds),
            depth,
            // One more than the depth: the end of a message looks back at its last block's credit.
            credits: vec![0; (depth + 1).next_power_of_two() as usize].into(),
            looped: looped.then(|| Looped::new(spec, rounds)),
            masks: masks.into(),
            first: 0,
            last_mask: 0,
            next_message: 0,
            base: 0,
            blocks: 0,
        }
    }

    /// That of text which needs none.
    pub(super) fn none() -> Self {
        const DEPTH: u64 = 1024;
        Self {
            lanes: 1 << 32,
            latency: 0,
            depth: DEPTH,
            credits: vec![0; 2 * DEPTH as usize].into(),
            looped: None,
            masks: 1,
            first: 0,
            last_mask: 0,
            next_message: 0,
            base: 0,
            blocks: 0,
        }
    }

    /// H, whose block may enter from cycle `at` on.
    pub(super) fn h(&mut self, at: u64) -> u64 {
        let at = self.looped.as_mut().map_or(at, |lanes| lanes.enter(0, at));
        at + self.latency
    }

    /// A message whose J0 is there in cycle `at`.
    pub(super) fn begin(&mut self, at: u64, text_blocks: u64) {
        let at = at.max(self.next_message);
        self.first = self.looped.as_mut().map_or(at, |lanes| lanes.begin(at));
        self.last_mask = match &mut self.looped {
            None => self.first + (self.masks - 1) / self.lanes,
            Some(lanes) => (0..self.masks).map(|block| lanes.block(block, 0)).max().unwrap_or(self.first),
        };
        self.base += self.blocks;
        self.blocks = text_blocks;
    }

    pub(super) const fn mask(&self) -> u64 {
        self.last_mask + self.latency
    }

    #[inline]
    fn credit(&self, text_block: u64) -> u64 {
        self.credits[text_block.wrapping_sub(self.depth) as usize & (self.credits.len() - 1)]
    }

    /// When the keystream of text block `text_block` (counted over all messages, the next to be taken) enters its lane.
    fn entry(&mut self, text_block: u64) -> u64 {
        let credit = self.credit(text_block);
        let block = text_block - self.base + self.masks;
        match &mut self.looped {
            None => credit.max(self.first + block / self.lanes),
            Some(lanes) => lanes.block(block, credit),
        }
    }

    /// Whether the keystream of the next `want` text blocks, at least one, is known to be valid in cycle `at`. Says no where
    /// a closer look is needed.
    #[inline]
    pub(super) fn valid(&self, text_block: u64, want: u64, at: u64) -> bool {
        let Some(since) = at.checked_sub(self.latency + self.first) else { return false };
        self.looped.is_none()
            && want <= self.depth
            && text_block - self.base + want + self.masks - 1 < (since + 1) * self.lanes
            && self.credit(text_block + want - 1) + self.latency <= at
    }

    /// How many of the next `want` text blocks have their keystream in cycle `at`; if none, when the first has.
    #[inline]
    pub(super) fn ready(&mut self, text_block: u64, want: u64, at: u64) -> (u64, u64) {
        let want = want.min(self.depth);
        if self.valid(text_block, want, at) { (want, 0) } else { self.count(text_block, want, at) }
    }

    fn count(&mut self, text_block: u64, want: u64, at: u64) -> (u64, u64) {
        let first = self.entry(text_block) + self.latency;
        if first > at {
            return (0, first);
        }
        let mut count = 1;
        while count < want && self.entry(text_block + count) + self.latency <= at {
            count += 1;
        }
        (count, first)
    }

    /// Text blocks are taken in cycle `at`.
    #[inline]
    pub(super) fn take(&mut self, text_block: u64, count: u64, at: u64) {
        let mask = self.credits.len() - 1;
        for block in text_block..text_block + count {
            self.credits[block as usize & mask] = at + 1;
        }
    }

    /// Text blocks are taken, `row` in each cycle from `at` on; false if this must be said cycle by cycle.
    #[inline]
    pub(super) fn take_rows<const ROW: usize>(&mut self, text_block: u64, count: u64, at: u64) -> bool {
        let start = text_block as usize & (self.credits.len() - 1);
        let Some(credits) = self.credits.get_mut(start..start + count as usize) else { return false };
        for (row, credits) in credits.chunks_exact_mut(ROW).enumerate() {
            credits.fill(at + 1 + row as u64);
        }
        true
    }

    /// Text blocks are taken as the last `count` before them were, so much `later`, and so on so many times.
    pub(super) fn take_again(&mut self, text_block: u64, count: u64, times: u64, later: u64) {
        let mask = self.credits.len() - 1;
        for block in text_block..text_block + count * times {
            self.credits[block as usize & mask] = self.credits[(block - count) as usize & mask] + later;
        }
    }

    /// Text blocks are taken, each so many cycles after `from`.
    #[inline]
    pub(super) fn take_burst(&mut self, text_block: u64, from: u64, cycles: &[u64]) {
        let mask = self.credits.len() - 1;
        let start = text_block as usize & mask;
        match self.credits.get_mut(start..start + cycles.len()) {
            Some(credits) => credits.iter_mut().zip(cycles).for_each(|(credit, after)| *credit = from + after + 1),
            None => (start..).zip(cycles).for_each(|(block, after)| self.credits[block & mask] = from + after + 1),
        }
    }

    /// The message ends: all its text has been taken.
    pub(super) fn end(&mut self) {
        let last = if self.blocks == 0 { self.last_mask } else { self.entry(self.base + self.blocks - 1) };
        self.next_message = last + 1;
    }
}

/// Lanes in which blocks go round, or that rest between blocks.
#[derive(Debug, Clone)]
pub(crate) struct Looped {
    lanes: usize,
    interval: u64,
    /// Places per lane: blocks that it holds at once.
    places: u64,
    latency: u64,
    /// By lane: when the next block may enter.
    rested: Box<[u64]>,
    /// By lane and place: when it is free.
    free: Box<[u64]>,
    /// Entries of the message's latest blocks, and how many blocks have entered.
    entries: Box<[u64]>,
    entered: u64,
}

impl Looped {
    pub(crate) fn new(spec: &AesSpec, rounds: u32) -> Self {
        let (lanes, places) = (spec.lanes as usize, spec.pass_cycles(rounds));
        Self {
            lanes,
            interval: spec.start_interval.0.max(1),
            places,
            latency: spec.latency(rounds),
            rested: vec![0; lanes].into(),
            free: vec![0; lanes * places as usize].into(),
            entries: vec![0; 2 * lanes].into(),
            entered: 0,
        }
    }

    /// A block enters `lane` as soon as the lane allows after cycle `at`.
    pub(crate) fn enter(&mut self, lane: usize, at: u64) -> u64 {
        let mut at = at.max(self.rested[lane]);
        let place = |at: u64| lane * self.places as usize + (at % self.places) as usize;
        while self.free[place(at)] > at {
            at += 1;
        }
        self.free[place(at)] = at + self.latency;
        self.rested[lane] = at + self.interval;
        at
    }

    fn begin(&mut self, at: u64) -> u64 {
        let at = self.enter(0, at);
        self.entries[0] = at;
        self.entered = 1;
        at
    }

    /// When block `block` of the message entered or will enter. Asked for in order, or again for one of the last ones.
    fn block(&mut self, block: u64, credit: u64) -> u64 {
        let length = self.entries.len() as u64;
        if block == self.entered {
            let before = self.entries[((block - 1) % length) as usize];
            let at = self.enter((block % self.lanes as u64) as usize, before.max(credit));
            self.entries[(block % length) as usize] = at;
            self.entered += 1;
        }
        self.entries[(block % length) as usize]
    }
}
