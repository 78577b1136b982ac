//! What joins lanes and GHASH of an engine: keystream, selects, counters. Nothing of it is fitted: each bit is counted, and takes the library's cells.
//!
//! Registers are those of `rtl/src/engine.sv`, for as many text blocks in a cycle as there are lanes. `hold` is a select, for a register that keeps its value
//! unless it is written; a half adder is an XOR and an AND.
//!
//! `[engine.control]` says which of them an engine has not, and which others it has: the last column, `-` for not.
//!
//! | once | bits | each takes | by `[engine.control]` |
//! | --- | --- | --- | --- |
//! | bytes of AAD and text | 2 x 32 | hold | `with_text`: counted as blocks come, hold, half adder, AND. `phases`: -, who drives them brings the length block |
//! | blocks left of AAD, counters, text and hash | 4 x 29 | load, hold, half adder, AND of the test for zero | `with_text`, `phases`: - |
//! | bytes rounded up to blocks | 2 x 29 | half adder | `with_text`, `phases`: - |
//! | counter cleared for H when a key is loaded | 128 | AND | |
//! | mask | 128 | hold | `mask` last or after GHASH: -, it waits in the lane |
//! | tag | 128 | hold | `tag_at_once`: - |
//! | mask kept or just made | 128 | select | without a mask register: - |
//! | GHASH's value plus mask | 128 | XOR | |
//! | counts and places of keystream | 2 log2(k + 1) + 2 log2(k) | hold, half adder | `frozen`, `with_text`: - |
//!
//! | of each lane | bits | each takes | by `[engine.control]` |
//! | --- | --- | --- | --- |
//! | counter | 32; 96 | load, hold, half adder; hold | |
//! | text plus keystream, of which the last block keeps some bytes | 128 | XOR, 2 AND | |
//! | output | 128 | hold | `leave_with_hash`: -; `output_registers`: so many more flip-flops, of text and tag |
//! | text | 128 | hold | only `with_text`, for each block in the lane and of `delay`; `text_register`: one; `open_register`: one |
//! | AAD | 128 | hold | only `inputs = "key"`, for each block in the lane and of `delay` |
//! | operand of GHASH: AAD, lengths, text or output | 128 | 3 selects | `shared_port`: one less; `phases`: one less |
//! | keystream that is used at once | 128 | 2 AND | `frozen`, `with_text`: - |
//! | what each block within is: H, mask or keystream | 2 a stage, or 36 where it passes more than once | a flip-flop | `one_at_a_time`: 6, with a count of rounds |
//!
//! | of each block of keystream | bits | each takes | by `[engine.control]` |
//! | --- | --- | --- | --- |
//! | register | 128 | hold, and AND and OR of what is read | `frozen`: hold; `with_text`: - |

use super::library::{Delay, Library};
use super::parts::{self, PLAIN, Part};
use crate::gcm::control::{ControlSpec, Inputs, Keystream, Mask};
use crate::gcm::spec::{AesSpec, GcmSpec};

/// Bits of a length in bytes, and of one in blocks.
const LENGTH: f64 = 32.0;
const BLOCKS: f64 = 29.0;

/// The way of GHASH's operand through counters and selects, by the delay of a tag queue of eight, which is made of the same. Fitted to one whole engine, of one round
/// and a product in one cycle, whose longest path this is (0.80 without wires, 0.85 with them).
const OPERAND: f64 = 0.83;

/// Control and keystream of an engine with these lanes, for keys of so many rounds, in its own sequence or running freely. Its delay is the way of GHASH's
/// operand, which `rtl/src/engine.sv` does not register: it lies in front of a product that takes one cycle.
pub fn control(aes: &AesSpec, rounds: u32, sequence: Option<&ControlSpec>, library: &Library) -> Part {
    let (and, xor, select) = (library.and_ge, library.xor_ge, library.select_ge);
    let (half_adder, free) = (xor + and, ControlSpec::default());
    let sequence = sequence.unwrap_or(&free);
    let (ahead, with_text) = (sequence.keystream == Keystream::Ahead, sequence.keystream == Keystream::WithText);
    let one = |has: bool| f64::from(u32::from(has));
    let (lanes, keystream) = (f64::from(aes.lanes), aes.keystream_blocks.max(1));
    let blocks = if with_text { 0.0 } else { f64::from(keystream) };
    let bits_of = |values: u32| f64::from(values.next_power_of_two().ilog2());
    let places = one(ahead) * (2.0 * bits_of(keystream + 1) + 2.0 * bits_of(keystream).max(1.0));
    let (mask, tag) = (one(sequence.mask == Mask::First), one(!sequence.tag_at_once));
    let (lengths, length_bits) = match (sequence.phases.is_some(), with_text) {
        (true, _) => (0.0, 0.0),
        (false, true) => (2.0 * LENGTH * (select + half_adder + and), 2.0 * LENGTH),
        (false, false) => {
            let left = 4.0 * BLOCKS * (2.0 * select + half_adder + and);
            (2.0 * LENGTH * select + left + 2.0 * BLOCKS * half_adder, 2.0 * LENGTH + 4.0 * BLOCKS)
        }
    };
    let once = lengths + 128.0 * (and + (2.0 * mask + tag) * select + xor) + places * (select + half_adder);

    // Blocks of a lane, and registers of 128 bits beside it.
    let stages = f64::from(sequence.rounds_per_pass(aes, rounds) * aes.registers_per_round);
    let within = if sequence.one_at_a_time { 1.0 } else { stages };
    let travels = (one(with_text) + one(sequence.inputs == Inputs::Key)) * (within + sequence.delay.0 as f64);
    let beside = one(!sequence.leave_with_hash) + travels + one(sequence.text_register) + one(sequence.open_register);
    let behind = sequence.output_registers.0 as f64 * (lanes + 1.0);
    let selects = 3.0 - one(sequence.shared_port) - one(sequence.phases.is_some());
    let counter = 32.0 * (2.0 * select + half_adder) + 96.0 * select;
    let lane = counter + 128.0 * (xor + (2.0 + 2.0 * one(ahead)) * and + (beside + selects) * select);
    let block = 128.0 * (select + 2.0 * one(ahead) * and);
    let what = match () {
        () if sequence.one_at_a_time => 6.0,
        () if sequence.passes(aes, rounds) > 1 => 36.0,
        () => 2.0 * stages,
    };
    // Ten single bits: what the message is at.
    let registers = blocks + lanes * beside + mask + tag + behind;
    let flip_flops = 128.0 * registers + length_bits + 10.0 + places + what * lanes;
    let logic_kge = (once + lane * lanes + block * blocks) / 1000.0;
    let queue = parts::tag_queue(8, false, library).delay;
    let delay = Delay { ps: OPERAND * queue.ps, ps_wired: OPERAND * queue.ps_wired };
    Part { logic_kge, flip_flops, delay, rows: Vec::new() }
}

/// A whole engine for keys of so many rounds: its lanes, GHASH and what joins them, and the slowest of them. Round keys are given from outside.
pub fn whole(spec: &GcmSpec, rounds: u32, compact: bool, library: &Library) -> Part {
    let (aes, lanes) = (&spec.aes, f64::from(spec.aes.lanes));
    let lane = parts::lane(aes, rounds, PLAIN, compact, library);
    let (hash, control) = (parts::ghash(&spec.ghash, library), control(aes, rounds, None, library));
    let operand = if spec.ghash.multiplier().product.0 == 1 { control.delay } else { Delay::default() };
    let slower = |of: fn(Delay) -> f64| of(lane.delay).max(of(hash.delay) + of(operand));
    let delay = Delay { ps: slower(|delay| delay.ps), ps_wired: slower(|delay| delay.ps_wired) };
    let given = f64::from(128 * (rounds + 1));
    Part {
        logic_kge: lanes * lane.logic_kge + hash.logic_kge + control.logic_kge,
        flip_flops: lanes * (lane.flip_flops - given) + hash.flip_flops + control.flip_flops,
        delay,
        rows: [lane.rows, hash.rows].concat(),
    }
}
