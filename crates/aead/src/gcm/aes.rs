//! AES lanes, round by round.
//!
//! ```text
//!                 +-- pass 1 ... passes --------------------+
//!                 v                                         |
//!   counter --(+)---> [round]-[regs]-[round]-[regs]- ... ---+---> keystream block
//!              ^        rounds in hardware, D cycles
//!            round key 0
//! ```
//!
//! | | |
//! | --- | --- |
//! | accepts | one block per cycle and lane, not closer than the start interval, and not in a cycle in which a block in the lane comes round again |
//! | latency | load + passes x D + unload; D = rounds in hardware x registers per round, one cycle at least. Load and unload are zero but for an engine with a [control](super::control) of its own |
//! | stalls | never: the caller has room for its result |
//!
//! Rounds in hardware beyond the key's own are bypassed. A round's logic lies before its first register; with no
//! registers, all rounds in hardware lie before the lane's only one.

use super::control::ControlSpec;
use super::field::Element;
use super::spec::AesSpec;
use aes::hazmat;
use std::collections::VecDeque;

type State = aes::Block;

#[derive(Debug, Clone)]
pub struct RoundKeys(Vec<State>);

impl RoundKeys {
    /// Expands a key of 16, 24 or 32 bytes (FIPS 197, section 5.2); `None` for any other length.
    pub fn expand(key: &[u8]) -> Option<Self> {
        if ![16, 24, 32].contains(&key.len()) {
            return None;
        }
        let words = key.len() / 4;
        let mut schedule: Vec<u32> = key.chunks_exact(4).map(word).collect();
        let mut constant = 1_u8;
        for index in words..4 * (words + 7) {
            let mut next = schedule[index - 1];
            if index % words == 0 {
                next = substituted(next.rotate_left(8)) ^ (u32::from(constant) << 24);
                constant = (constant << 1) ^ if constant >> 7 == 1 { 0x1b } else { 0 };
            } else if words > 6 && index % words == 4 {
                next = substituted(next);
            }
            schedule.push(schedule[index - words] ^ next);
        }
        let round_key = |words: &[u32]| {
            let mut block = State::default();
            for (to, word) in block.chunks_exact_mut(4).zip(words) {
                to.copy_from_slice(&word.to_be_bytes());
            }
            block
        };
        Some(Self(schedule.chunks_exact(4).map(round_key).collect()))
    }

    /// Rounds: 10, 12 or 14.
    pub const fn rounds(&self) -> u32 {
        self.0.len() as u32 - 1
    }

    /// Round key 0 to `rounds`.
    pub fn round_key(&self, round: u32) -> Element {
        Element::from_bytes(self.0[round as usize].into())
    }

    /// Shows every round key, which may be changed.
    pub fn registers(&mut self, mut see: impl FnMut(usize, &mut u128)) {
        self.0.iter_mut().enumerate().for_each(|(round, key)| see_block(&mut key.0, |value| see(round, value)));
    }

    /// The states of a block: after the first key addition, then after each round; the last is the cipher's output.
    pub fn states(&self, block: [u8; 16]) -> Vec<Element> {
        let mut state = State::from(block);
        xor(&mut state, &self.0[0]);
        let mut states = vec![Element::from_bytes(state.into())];
        for round in 1..=self.rounds() {
            self.round(&mut state, round);
            states.push(Element::from_bytes(state.into()));
        }
        states
    }

    /// The state after round `round`, 1 to `rounds`; the last one has no MixColumns.
    fn round(&self, state: &mut State, round: u32) {
        let key = &self.0[round as usize];
        if round < self.rounds() {
            hazmat::cipher_round(state, key);
        } else {
            hazmat::cipher_round(state, &State::default());
            hazmat::inv_mix_columns(state);
            xor(state, key);
        }
    }
}

/// Shows a block as a number, and takes what has become of it.
pub(super) fn see_block(block: &mut [u8; 16], see: impl FnOnce(&mut u128)) {
    let mut value = u128::from_be_bytes(*block);
    see(&mut value);
    *block = value.to_be_bytes();
}

fn word(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |word, &byte| (word << 8) | u32::from(byte))
}

/// SubWord: a state of four equal columns is blind to ShiftRows, and MixColumns is undone.
fn substituted(word: u32) -> u32 {
    let mut state = State::default();
    for column in state.chunks_exact_mut(4) {
        column.copy_from_slice(&word.to_be_bytes());
    }
    hazmat::cipher_round(&mut state, &State::default());
    hazmat::inv_mix_columns(&mut state);
    u32::from_be_bytes([state[0], state[1], state[2], state[3]])
}

fn xor(state: &mut State, other: &State) {
    for (byte, other) in state.iter_mut().zip(other) {
        *byte ^= other;
    }
}

#[derive(Debug, Clone)]
struct Flight<T> {
    age: u64,
    rounds_done: u32,
    state: State,
    tag: T,
}

/// One lane. `T` is what travels with a block.
#[derive(Debug, Clone)]
pub struct Lane<T> {
    load: u64,
    pass: u64,
    latency: u64,
    one_at_a_time: bool,
    /// Cycles that the lane stands empty between two blocks, and those since the last was taken from it.
    idle: u64,
    since_left: u64,
    interval: u64,
    /// Rounds that are worked in one cycle, and the cycles between them.
    rounds_at_once: u32,
    registers: u64,
    since_start: u64,
    /// Whether the block that entered last has not been shown.
    unseen: bool,
    flights: VecDeque<Flight<T>>,
}

impl<T> Lane<T> {
    /// A lane at rest, for a key of so many rounds.
    pub fn new(spec: &AesSpec, rounds: u32) -> Self {
        Self::controlled(spec, &ControlSpec::default(), rounds)
    }

    /// A lane at rest in an engine with a control of its own.
    pub fn controlled(spec: &AesSpec, control: &ControlSpec, rounds: u32) -> Self {
        let (in_hardware, registers) = (control.rounds_per_pass(spec, rounds), spec.registers_per_round);
        let (load, unload) = (control.load_cycles(rounds), control.unload.0);
        let places = u64::from(in_hardware * registers).max(1);
        let latency = load + u64::from(control.passes(spec, rounds)) * places + unload;
        Self {
            load,
            // Where blocks enter and leave by stages of their own, none goes round.
            pass: if load + unload > 0 { latency } else { places },
            latency,
            one_at_a_time: control.one_at_a_time,
            idle: control.idle.0,
            since_left: u64::MAX,
            interval: spec.start_interval.0.max(1),
            rounds_at_once: if registers == 0 { in_hardware } else { 1 },
            registers: registers.max(1).into(),
            since_start: u64::MAX,
            unseen: false,
            flights: VecDeque::new(),
        }
    }

    /// Cycles from a block that enters to its output, if nothing stops the lane.
    pub const fn latency(&self) -> u64 {
        self.latency
    }

    /// Whether a block may enter in this cycle.
    pub fn free(&self) -> bool {
        let room = match self.one_at_a_time {
            true => self.flights.is_empty(),
            false => self.flights.iter().all(|flight| !flight.age.is_multiple_of(self.pass)),
        };
        self.since_start >= self.interval && self.since_left >= self.idle && room
    }

    /// What travels with the block that is valid at the output in the next cycle.
    pub fn leaves(&self) -> Option<&T> {
        self.flights.front().filter(|oldest| oldest.age + 1 == self.latency).map(|oldest| &oldest.tag)
    }

    /// A block enters in this cycle.
    pub fn start(&mut self, keys: &RoundKeys, block: [u8; 16], tag: T) {
        debug_assert!(self.free());
        let mut state = State::from(block);
        xor(&mut state, &keys.0[0]);
        self.since_start = 0;
        self.unseen = true;
        self.flights.push_back(Flight { age: 0, rounds_done: 0, state, tag });
    }

    /// To the next cycle. Gives the block that is valid at the output in it.
    pub fn clock(&mut self, keys: &RoundKeys) -> Option<(Element, T)> {
        self.clock_seen(keys, |_, _, _| {})
    }

    /// The same; `see` is shown what travels with a block, a round that was worked on it, and the state after that round.
    pub fn clock_seen(&mut self, keys: &RoundKeys, mut see: impl FnMut(&T, u32, Element)) -> Option<(Element, T)> {
        self.since_start = self.since_start.saturating_add(1);
        self.since_left = self.since_left.saturating_add(1);
        for flight in &mut self.flights {
            let worked = flight.age.checked_sub(self.load);
            if worked.is_some_and(|age| (age % self.pass).is_multiple_of(self.registers)) {
                let last = keys.rounds().min(flight.rounds_done + self.rounds_at_once);
                for round in flight.rounds_done + 1..=last {
                    keys.round(&mut flight.state, round);
                    see(&flight.tag, round, Element::from_bytes(flight.state.into()));
                }
                flight.rounds_done = last;
            }
            flight.age += 1;
        }
        let done = self.flights.front().is_some_and(|oldest| oldest.age == self.latency);
        if !done {
            return None;
        }
        self.vacate();
        self.flights.pop_front().map(|oldest| (Element::from_bytes(oldest.state.into()), oldest.tag))
    }

    /// The lane's last block is taken in this cycle, where it waited at the end.
    pub fn vacate(&mut self) {
        self.since_left = 0;
    }

    /// The block that has entered in this cycle: what travels with it, and its state after the first key addition. In a lane that stands
    /// still it is shown once.
    pub fn entered(&mut self) -> Option<(&T, Element)> {
        let unseen = std::mem::take(&mut self.unseen);
        let newest = self.flights.back().filter(|flight| unseen && flight.age == 0)?;
        Some((&newest.tag, Element::from_bytes(newest.state.into())))
    }

    pub fn occupancy(&self) -> usize {
        self.flights.len()
    }

    /// Shows the state in every register: its place in the pipeline, from 0, the rounds that it has seen, what travels with it, its value,
    /// which may be changed.
    pub fn registers(&mut self, see: &mut dyn FnMut(usize, u32, &T, &mut u128)) {
        for flight in self.flights.iter_mut().filter(|flight| flight.age > 0) {
            let place = (flight.age - 1) % self.pass;
            see_block(&mut flight.state.0, |value| see(place as usize, flight.rounds_done, &flight.tag, value));
        }
    }
}
