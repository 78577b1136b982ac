//! A whole engine as `rtl/src/wide.sv` has it: several lanes, two messages open. Nothing of its area is fitted: registers are counted bit by bit, and logic by the library's cells.
//!
//! With n lanes, groups of w blocks, g of them and p = w g powers of H, of 128 bits each:
//!
//! | what | selects | ANDs and ORs of a rotation or a choice |
//! | --- | --- | --- |
//! | keystream | a block: hold | a block: 2 |
//! | from lanes to banks; text to banks; ring to output | | n n each, 2 |
//! | keystream at once; ring; ring or text | n each | n; ring to GHASH n min(n, w), 2 |
//! | text plus keystream, the bytes that count | | n XORs, 3 n |
//! | GHASH's blocks: AAD, lengths, ciphertext k <= i | w + those | w; by their places w w, 2 |
//! | collecting register | 2 w | w |
//! | operands of the next power | | 2 p, 2; 2 |
//! | two masks, two values, tag | 9 | |
//!
//! `blocks_left` with N blocks in a cycle has 3 N (N + 1) choices, and as many for each number of blocks of another message before. Other control is a hold and a half adder for each of its bits.

use super::library::{Delay, Library};
use super::parts::{self, PLAIN, Part};
use crate::gcm::spec::{GcmSpec, GhashSpec};

/// Bits of a count of blocks.
const BLOCKS: f64 = 29.0;

/// Gates on the longest path of the tag queue of eight, whose delay says what one takes.
const QUEUE_GATES: f64 = 15.0;

/// Gates from what is there in a cycle to what is left in the next: of one lane, and more for each doubling of lanes. Fitted to six engines of OSU018 with nothing but
/// control, one gate in the place of a product and of an S-box: 18 cells of one lane, 22 of four, each a little slower than the queue's.
const GATES: (f64, f64) = (19.5, 2.0);

/// Gates of GHASH's operand, likewise, in front of a product that takes one cycle.
const OPERAND_GATES: (f64, f64) = (14.0, 1.0);

struct Sizes {
    lanes: f64,
    rows: f64,
    stages: f64,
    width: f64,
    groups: f64,
    collects: bool,
    latency: f64,
}

fn one(has: bool) -> f64 {
    f64::from(u32::from(has))
}

impl Sizes {
    fn of(spec: &GcmSpec, rounds: u32) -> Self {
        let (aes, lanes) = (&spec.aes, spec.aes.lanes.max(1));
        let (width, groups, collects) = match spec.ghash {
            GhashSpec::Aggregated { width, groups, .. } => (width, groups, true),
            _ => (1, 1, false),
        };
        let registers = if aes.rounds_in_hardware < rounds { 1 } else { aes.registers_per_round.max(1) };
        Self {
            lanes: lanes.into(),
            rows: aes.keystream_blocks.max(1).div_ceil(lanes).into(),
            stages: f64::from(rounds * registers),
            width: width.into(),
            groups: groups.into(),
            collects,
            latency: spec.ghash.multiplier().latency() as f64,
        }
    }

    fn powers(&self) -> f64 {
        self.width * self.groups
    }

    /// Bits of what `blocks_left` begins with, for so many blocks in a cycle.
    fn begins(&self, blocks: f64) -> f64 {
        BLOCKS + 1.0 - blocks.log2() + 3.0 * blocks
    }

    /// Registers of 128 bits beside lanes' states and GHASH's products, powers and accumulators: keystream, ring, collecting register, masks, values, tag.
    fn registers(&self) -> f64 {
        self.lanes * self.rows + self.lanes + one(self.collects) * self.width + 5.0
    }

    /// Bits of control that hold or count, and those that only travel.
    fn bits(&self, keystream: u32) -> (f64, f64) {
        let Self { lanes, rows, width, groups, latency, .. } = *self;
        let (text, hash) = (self.begins(lanes), self.begins(width));
        let several = one(self.powers() > 1.0);
        // What a message brings: lengths, bytes of its last block, direction, groups and their place from the end, places that stay empty.
        let groups_left = BLOCKS - width.log2() + 1.0 + one(groups > 1.0) * groups;
        let (behind, at_hash) = (80.0 + groups_left + width, 81.0 + groups_left + one(width > 1.0) + width);
        let messages = 96.0 + 4.0 * 17.0 + text + 2.0 * hash + behind + at_hash;
        let counters = 3.0 * text + lanes + 1.0 + 2.0 * hash + width + width.min(lanes + 1.0);
        // Unary or one of several: what was taken, waits, is valid, is free; where heads and tails are; what is left of texts.
        let small = 16.0 * lanes + 5.0 + (lanes + 1.0).log2().ceil() + 2.0 * lanes * rows;
        let blocks = f64::from((keystream + lanes as u32 + 1).next_power_of_two().ilog2());
        let hashing =
            (4.0 * self.powers()) * several + 1.0 + groups * (1.0 + one(groups > 1.0)) + one(self.collects) * width;
        let travels = self.stages * (lanes + 2.0) + (groups + several) * (latency - 1.0);
        (22.0 + one(latency > 1.0) + several + messages + counters + small + 2.0 * blocks + 8.0 + hashing, travels)
    }

    /// Logic of what is 128 bits wide, in GE.
    fn wide(&self, library: &Library) -> f64 {
        let (and, xor, select) = (library.and_ge, library.xor_ge, library.select_ge);
        let Self { lanes, rows, width, .. } = *self;
        let (turns, collects) = (one(lanes > 1.0), one(self.collects));
        let banks = turns * lanes * lanes;
        let ciphers = (1..=width as u32).map(|blocks| f64::from(blocks).min(lanes)).sum::<f64>();
        let several = one(self.powers() > 1.0);
        let selects = lanes * rows + 3.0 * lanes + ciphers + width + collects * 2.0 * width + 9.0 + 1.0;
        let choices = lanes * rows
            + 3.0 * banks
            + turns * lanes * width.min(lanes)
            + one(width > 1.0) * width * width
            + several * 2.0 * self.powers();
        let ands = 3.0 * lanes + width + collects * width + 2.0 + several;
        128.0 * (selects * select + 2.0 * choices * and + ands * and + (lanes + 1.0) * xor)
    }

    /// Logic of counts of blocks: their windows, what they begin with, and the adders of lengths and keystream.
    fn counts(&self, keystream: u32, library: &Library) -> f64 {
        let (and, half_adder) = (library.and_ge, library.xor_ge + library.and_ge);
        let window = |blocks: f64| 3.0 * blocks * (blocks + 2.0) * 2.0 * and;
        let (lanes, width) = (self.lanes, self.width);
        let others = 2.0 * 3.0 * lanes * (lanes + 1.0) * (lanes + 2.0) / 2.0 * 2.0 * and;
        let blocks = f64::from((keystream + lanes as u32 + 1).next_power_of_two().ilog2());
        let compared = 2.0 * blocks * (2.0 * half_adder + 2.0 * lanes * and);
        3.0 * window(lanes) + others + 2.0 * window(width) + compared + 7.0 * BLOCKS * half_adder
    }
}

/// A whole engine for keys of so many rounds. Round keys are given from outside.
pub fn whole(spec: &GcmSpec, rounds: u32, compact: bool, library: &Library) -> Part {
    let (aes, sizes) = (&spec.aes, Sizes::of(spec, rounds));
    let (lane, hash) = (parts::lane(aes, rounds, PLAIN, compact, library), parts::ghash(&spec.ghash, library));
    let (lanes, keystream) = (sizes.lanes, aes.keystream_blocks.max(1));
    let (select, half_adder) = (library.select_ge, library.xor_ge + library.and_ge);
    let (holds, travels) = sizes.bits(keystream);
    // All counters have one IV; of each the bits below a step of all lanes are constant or one.
    let counters = 128.0 + 32.0 * (lanes - 1.0) - lanes * lanes.log2() + lanes - 1.0;
    let counting = counters * 2.0 * select + 32.0 * lanes * half_adder;
    let passes = lanes * if aes.rounds_in_hardware < rounds { 33.0 } else { 0.0 };
    let control = sizes.wide(library) + sizes.counts(keystream, library) + counting + holds * (select + half_adder);
    let lane_bits = parts::state_bits(aes, rounds) - 128.0;
    let flip_flops = lanes * lane_bits + counters + passes + hash.flip_flops - parts::control_bits(&spec.ghash)
        + 128.0 * sizes.registers()
        + holds
        + travels;
    let queue = parts::tag_queue(8, false, library).delay;
    let slowest = |of: fn(Delay) -> f64| {
        let way = |gates: (f64, f64)| of(queue) / QUEUE_GATES * (gates.0 + gates.1 * lanes.log2());
        let operand = if spec.ghash.multiplier().product.0 == 1 { way(OPERAND_GATES) } else { 0.0 };
        of(lane.delay).max(of(hash.delay) + operand).max(way(GATES))
    };
    let delay = Delay { ps: slowest(|delay| delay.ps), ps_wired: slowest(|delay| delay.ps_wired) };
    Part {
        logic_kge: lanes * lane.logic_kge + hash.logic_kge + control / 1000.0,
        flip_flops,
        delay,
        rows: [lane.rows, hash.rows].concat(),
    }
}
