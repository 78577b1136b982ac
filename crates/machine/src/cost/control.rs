//! What joins lanes and GHASH of an engine: keystream, selects, counters. Nothing of it is fitted: each bit is counted, and takes the library's cells.
//!
//! Registers are those of `rtl/src/engine.sv`, for as many text blocks in a cycle as there are lanes. `hold` is a select, for a register that keeps its value
//! unless it is written; a half adder is an XOR and an AND.
//!
//! | once | bits | each takes |
//! | --- | --- | --- |
//! | bytes of AAD and text | 2 x 32 | hold |
//! | blocks left of AAD, counters, text and hash | 4 x 29 | load, hold, half adder, AND of the test for zero |
//! | bytes rounded up to blocks | 2 x 29 | half adder |
//! | counter cleared for H when a key is loaded | 128 | AND |
//! | mask and tag | 2 x 128 | hold |
//! | mask kept or just made, plus GHASH's value | 128 | select, XOR |
//! | counts and places of keystream | 2 log2(k + 1) + 2 log2(k) | hold, half adder |
//!
//! | of each lane | bits | each takes |
//! | --- | --- | --- |
//! | counter | 32; 96 | load, hold, half adder; hold |
//! | text plus keystream, of which the last block keeps some bytes | 128 | XOR, 2 AND |
//! | output | 128 | hold |
//! | operand of GHASH: AAD, lengths, text or output | 128 | 3 selects |
//! | keystream that is used at once | 128 | 2 AND |
//! | what each block within is: H, mask or keystream | 2 a stage, or 36 where it passes more than once | a flip-flop |
//!
//! | of each block of keystream | bits | each takes |
//! | --- | --- | --- |
//! | register | 128 | hold, and AND and OR of what is read |

use super::library::{Delay, Library};
use super::parts::{self, Part};
use crate::gcm::spec::{AesSpec, GcmSpec};

/// Bits of a length in bytes, and of one in blocks.
const LENGTH: f64 = 32.0;
const BLOCKS: f64 = 29.0;

/// The way of GHASH's operand through counters and selects, by the delay of a tag queue of eight, which is made of the same. Fitted to one whole engine, of one round
/// and a product in one cycle, whose longest path this is (0.80 without wires, 0.85 with them).
const OPERAND: f64 = 0.83;

/// Control and keystream of an engine with these lanes, for keys of so many rounds. Its delay is the way of GHASH's operand, which
/// `rtl/src/engine.sv` does not register: it lies in front of a product that takes one cycle.
pub fn control(aes: &AesSpec, rounds: u32, library: &Library) -> Part {
    let (and, xor, select) = (library.and_ge, library.xor_ge, library.select_ge);
    let (half_adder, keystream) = (xor + and, aes.keystream_blocks.max(1));
    let bits_of = |values: u32| f64::from(values.next_power_of_two().ilog2());
    let places = 2.0 * bits_of(keystream + 1) + 2.0 * bits_of(keystream).max(1.0);
    let once = 2.0 * LENGTH * select
        + 4.0 * BLOCKS * (2.0 * select + half_adder + and)
        + 2.0 * BLOCKS * half_adder
        + 128.0 * (and + 3.0 * select + xor)
        + places * (select + half_adder);
    let counter = 32.0 * (2.0 * select + half_adder) + 96.0 * select;
    let lane = counter + 128.0 * (xor + 4.0 * and + 4.0 * select);
    let block = 128.0 * (select + 2.0 * and);
    let (lanes, blocks) = (f64::from(aes.lanes), f64::from(keystream));
    let within = if aes.passes(rounds) > 1 {
        36.0
    } else {
        f64::from(2 * aes.rounds_in_hardware.min(rounds) * aes.registers_per_round)
    };
    // Ten single bits: what the message is at.
    let flip_flops = 128.0 * (blocks + lanes + 2.0) + 2.0 * LENGTH + 4.0 * BLOCKS + 10.0 + places + within * lanes;
    let logic_kge = (once + lane * lanes + block * blocks) / 1000.0;
    let queue = parts::tag_queue(8, false, library).delay;
    let delay = Delay { ps: OPERAND * queue.ps, ps_wired: OPERAND * queue.ps_wired };
    Part { logic_kge, flip_flops, delay, rows: Vec::new() }
}

/// A whole engine for keys of so many rounds: its lanes, GHASH and what joins them, and the slowest of them. Round keys are given from outside.
pub fn whole(spec: &GcmSpec, rounds: u32, compact: bool, library: &Library) -> Part {
    let (aes, lanes) = (&spec.aes, f64::from(spec.aes.lanes));
    let lane = parts::lane(aes, rounds, compact, library);
    let (hash, control) = (parts::ghash(&spec.ghash, library), control(aes, rounds, library));
    let operand = if spec.ghash.multiplier().product.0 == 1 { control.delay } else { Delay::default() };
    let slower = |of: fn(Delay) -> f64| of(lane.delay).max(of(hash.delay) + of(operand));
    let delay = Delay { ps: slower(|delay| delay.ps), ps_wired: slower(|delay| delay.ps_wired) };
    let given = f64::from(128 * (aes.rounds_in_hardware.min(rounds) + 1));
    Part {
        logic_kge: lanes * lane.logic_kge + hash.logic_kge + control.logic_kge,
        flip_flops: lanes * (lane.flip_flops - given) + hash.flip_flops + control.flip_flops,
        delay,
        rows: [lane.rows, hash.rows].concat(),
    }
}
