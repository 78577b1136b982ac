//! Small cores, each a plain state machine of the registers that a textbook would draw, clocked without a word of the engine's own rules.
//! Engine files with the same registers must show their cycles: first input, first and last output, tag.
//!
//! A signal that is registered has the value of the cycle before; a strobe lasts a cycle.

use crate::gcm::arbitrary::{multiplier, serial};
use sealsim_aead::gcm::bench::Bench;
use sealsim_aead::gcm::control::{ControlSpec, FirstCounter, Inputs, Keystream, Mask, PhaseSpec, Start};
use sealsim_aead::gcm::message::SealOpen;
use sealsim_aead::gcm::spec::{AesSpec, GcmSpec, GhashSpec};
use sealsim_aead::gcm::standalone::*;
use sealsim_aead::units::Cycles;
use std::collections::VecDeque;

/// What a test bench sees of a core.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Seen {
    inputs: Vec<u64>,
    outputs: Vec<u64>,
    tag: u64,
}

impl Seen {
    fn metrics(&self) -> [Option<i64>; 5] {
        let between = |from: Option<&u64>, to: Option<&u64>| Some(to?.cast_signed() - from?.cast_signed());
        let (input, first, last) = (self.inputs.first(), self.outputs.first(), self.outputs.last());
        [
            between(Some(&0), input),
            between(input, first),
            between(first, last),
            between(last, Some(&self.tag)),
            between(Some(&0), Some(&self.tag)),
        ]
    }
}

/// The lengths at which a core and its engine are compared: no AAD, no text, one block, and runs longer than any register chain here.
fn lengths() -> impl Iterator<Item = (u64, u64)> {
    let some = [0, 1, 2, 3, 5, 8, 13, 14, 15, 29, 64];
    some.into_iter().flat_map(move |aad| some.into_iter().map(move |text| (aad, text)))
}

fn hold(name: &str, spec: &GcmSpec, core: impl Fn(u64, u64) -> Seen) {
    for (aad_blocks, blocks) in lengths() {
        for direction in [SealOpen::Seal, SealOpen::Open] {
            let bench = Bench { aad_blocks, blocks, direction, messages: 1, seed: 9, trace_blocks: 0 };
            let engine = run(spec, &bench).unwrap().messages[0].metrics;
            let shown = [
                engine.setup_cycles,
                engine.first_output_cycles,
                engine.output_span_cycles,
                engine.tail_cycles,
                engine.total_cycles,
            ];
            let of = format!("{name}: {aad_blocks} blocks of AAD, {blocks} of text, {direction:?}");
            assert_eq!(shown, core(aad_blocks, blocks).metrics(), "{of}");
        }
    }
}

/// An iterative unit behind a start strobe: a register that counts, a done strobe when it ends, a busy flag that falls in the cycle after.
#[derive(Debug, Default, Clone)]
struct Iterative {
    steps: u64,
    count: Option<u64>,
    done: bool,
    busy: bool,
}

impl Iterative {
    fn new(steps: u64) -> Self {
        Self { steps, ..Self::default() }
    }

    fn clock(&mut self, start: bool) {
        let last = self.count == Some(self.steps - 1);
        self.busy = start || (self.busy && !self.done);
        self.done = last;
        self.count = match self.count {
            _ if start => Some(0),
            Some(count) if !last => Some(count + 1),
            _ => None,
        };
    }
}

/// AES-128, a round per cycle behind the first key addition.
const ROUNDS: u64 = 10;

fn aes_of(rounds_in_hardware: u32) -> AesSpec {
    AesSpec { lanes: 1, rounds_in_hardware, registers_per_round: 1, start_interval: Cycles(1), keystream_blocks: 1 }
}

fn engine(aes: AesSpec, digits: u64, control: ControlSpec) -> GcmSpec {
    let multiplier = multiplier(digits, 1, 128 / digits as u32);
    let ghash = GhashSpec::Serial { multiplier, first_block: None };
    let none = GcmSpec::four_lanes();
    GcmSpec { key_bits: 128, aes, ghash, key_setup: Cycles(0), compare: Cycles(0), control: Some(control), ..none }
}

/// A controller of six states over one AES unit and one digit-serial multiplier. The tag is the counter mode of J0 over the last product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Subkey,
    Aad,
    Text,
    Length,
    Tag,
}

fn controller(digits: u64, aad: u64, text: u64) -> Seen {
    let (mut aes, mut ghash) = (Iterative::new(ROUNDS), Iterative::new(digits));
    let (mut state, mut subkey_known, mut aad_count, mut text_count) = (State::Subkey, false, 0, 0);
    let mut seen = Seen::default();
    for cycle in 0.. {
        let accept_aad = state == State::Aad && subkey_known && !ghash.busy && aad_count < aad;
        let accept_text = state == State::Text && !aes.busy && text_count < text;
        let length = state == State::Length && !ghash.busy;
        let ciphertext = state == State::Text && aes.done;
        let last_product = state == State::Tag && ghash.done;
        if accept_aad || accept_text {
            seen.inputs.push(cycle);
        }
        if ciphertext {
            seen.outputs.push(cycle);
        }
        if state == State::Tag && aes.done {
            seen.tag = cycle;
            break;
        }
        let next = match state {
            State::Subkey => State::Aad,
            State::Aad if subkey_known && aad_count == aad => State::Text,
            State::Text if text_count == text => State::Length,
            State::Length if length => State::Tag,
            other => other,
        };
        subkey_known |= state == State::Aad && aes.done;
        aad_count += u64::from(state == State::Aad && ghash.done);
        text_count += u64::from(ciphertext);
        aes.clock(state == State::Subkey || accept_text || last_product);
        ghash.clock(accept_aad || ciphertext || length);
        state = next;
    }
    seen
}

#[test]
fn a_controller_that_makes_its_mask_behind_the_last_product_and_passes_through_empty_states() {
    for digits in [1, 2, 4, 8] {
        let phases = PhaseSpec {
            aad: Cycles(1),
            text: Cycles(1),
            length: Cycles(0),
            empty_aad: Cycles(1),
            empty_text: Cycles(2),
        };
        let control = ControlSpec {
            keystream: Keystream::WithText,
            mask: Mask::AfterGhash,
            one_at_a_time: true,
            load: Cycles(1),
            idle: Cycles(1),
            ghash_idle: Cycles(1),
            leave_with_hash: true,
            tag_at_once: true,
            phases: Some(phases),
            ..ControlSpec::default()
        };
        let spec = engine(aes_of(1), digits, control);
        hold(&format!("controller, {digits} digits"), &spec, |aad, text| controller(digits, aad, text));
    }
}

/// A core whose counters run ahead by a block: a keystream register behind the AES unit, a text register before the XOR, and behind it
/// GHASH without a register. Text is let in a cycle after GHASH has come to rest behind the AAD.
fn ahead(digits: u64, aad: u64, text: u64) -> Seen {
    #[derive(PartialEq, Eq, Clone, Copy)]
    enum Block {
        H,
        Mask,
        Counter,
    }
    let (mut aes, mut ghash) = (Iterative::new(ROUNDS), Iterative::new(digits));
    let mut in_aes = Block::H;
    let (mut subkey, mut mask, mut keystream, mut held) = (false, false, false, false);
    let (mut aad_in, mut counters, mut text_in, mut text_out) = (0, 0, 0, 0);
    let (mut text_open, mut length_in, mut value) = (false, false, false);
    let mut seen = Seen::default();
    for cycle in 0.. {
        // The subkey and the keystream are in their registers in the cycle of the strobe: they are the AES unit's own.
        subkey |= aes.done && in_aes == Block::H;
        keystream |= aes.done && in_aes == Block::Counter;
        let accept_aad = subkey && !ghash.busy && aad_in < aad;
        let cross = held && keystream && subkey && !ghash.busy;
        let accept_text = text_open && (!held || cross) && text_in < text;
        let length = subkey && aad_in == aad && text_out == text && !ghash.busy && !length_in;
        let start = match in_aes {
            _ if cycle == 0 => Some(Block::H),
            _ if aes.busy || !subkey => None,
            Block::H => Some(Block::Mask),
            _ if counters < text && !keystream => Some(Block::Counter),
            _ => None,
        };
        if accept_aad || accept_text {
            seen.inputs.push(cycle);
        }
        if cross {
            seen.outputs.push(cycle);
        }
        mask |= aes.done && in_aes == Block::Mask;
        value |= length_in && ghash.done;
        if value && mask {
            // The tag has a register.
            seen.tag = cycle + 1;
            break;
        }
        text_open |= subkey && aad_in == aad && !ghash.busy;
        aad_in += u64::from(accept_aad);
        text_in += u64::from(accept_text);
        text_out += u64::from(cross);
        counters += u64::from(start == Some(Block::Counter));
        held = accept_text || (held && !cross);
        keystream &= !cross;
        length_in |= length;
        aes.clock(start.is_some());
        ghash.clock(accept_aad || cross || length);
        in_aes = start.unwrap_or(in_aes);
    }
    seen
}

#[test]
fn text_that_waits_at_the_xor_for_a_counter_that_is_ahead_without_an_output_register() {
    for digits in [1, 2, 8, 16] {
        let control = ControlSpec {
            one_at_a_time: true,
            load: Cycles(1),
            idle: Cycles(1),
            ghash_idle: Cycles(1),
            text_after_rest: true,
            text_start: Cycles(1),
            text_register: true,
            leave_with_hash: true,
            ..ControlSpec::default()
        };
        let spec = engine(aes_of(1), digits, control);
        hold(&format!("ahead, {digits} digits"), &spec, |aad, text| ahead(digits, aad, text));
    }
}

/// A pipeline of a round per register, and a line of registers next to it for what comes in, which is longer by `more`. H goes in first, J0
/// second, and counters with their text. GHASH takes a block per cycle at the end of the line; all stand still together, and never here.
fn stream(more: usize, aad: u64, text: u64) -> Seen {
    #[derive(PartialEq, Eq, Clone, Copy)]
    enum Block {
        H,
        Mask,
        Aad,
        Text,
        Counter,
    }
    let line = |stages: usize| VecDeque::from(vec![None; stages]);
    let (mut aes, mut data) = (line(ROUNDS as usize), line(ROUNDS as usize + more));
    let (mut subkey, mut mask, mut aad_in, mut text_in, mut hashed) = (false, false, 0, 0, 0);
    let mut seen = Seen::default();
    for cycle in 0.. {
        match aes.pop_back().flatten() {
            Some(Block::H) => subkey = true,
            Some(Block::Mask) => mask = true,
            _ => {}
        }
        let arrives: Option<Block> = data.pop_back().flatten();
        assert!(arrives.is_none() || subkey);
        if arrives == Some(Block::Text) {
            seen.outputs.push(cycle);
        }
        // Before this cycle's block: the length block follows the last one.
        let length = subkey && arrives.is_none() && hashed == aad + text;
        hashed += u64::from(arrives.is_some());
        let cipher = match cycle {
            0 => Some(Block::H),
            1 => Some(Block::Mask),
            _ if aad_in == aad && text_in < text => Some(Block::Counter),
            _ => None,
        };
        let enters = if aad_in < aad {
            Some(Block::Aad)
        } else {
            cipher.filter(|&it| it == Block::Counter).map(|_| Block::Text)
        };
        aad_in += u64::from(enters == Some(Block::Aad));
        text_in += u64::from(enters == Some(Block::Text));
        if enters.is_some() {
            seen.inputs.push(cycle);
        }
        aes.push_front(cipher);
        data.push_front(enters);
        if length {
            // The product in the next cycle, if the mask is there.
            seen.tag = cycle + 1;
            if !mask {
                let left = aes.iter().position(|&it| it == Some(Block::Mask)).unwrap();
                seen.tag = seen.tag.max(cycle + ROUNDS - left as u64);
            }
            break;
        }
    }
    seen
}

#[test]
fn a_streaming_core_whose_delay_line_is_longer_than_its_lane() {
    for more in [0, 1, 3, 20] {
        let control = ControlSpec {
            keystream: Keystream::WithText,
            start: Start::BehindH,
            inputs: Inputs::Key,
            first_counter: FirstCounter::Free,
            shared_port: true,
            leave_with_hash: true,
            tag_at_once: true,
            delay: Cycles(more),
            ..ControlSpec::default()
        };
        let mut spec = engine(aes_of(10), 1, control);
        spec.ghash = serial(0, 1);
        hold(&format!("stream, {more} more"), &spec, |aad, text| stream(more as usize, aad, text));
    }
}
