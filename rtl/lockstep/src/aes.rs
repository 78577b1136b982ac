//! AES lanes: the state in every register, and what leaves.

use crate::{Failure, Random, Rng, equal, twin::Module};
use sealsim::gcm::{
    aes::{Lane, RoundKeys},
    spec::AesSpec,
};
use sealsim::units::Cycles;
use std::collections::VecDeque;

/// A lane's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aes {
    /// Rounds of the key: 10, 12 or 14.
    pub rounds: u32,
    /// Registers per round of an unrolled lane; none for one round that a block goes through again and again.
    pub registers: Option<u32>,
    /// Whether S-boxes are the compact ones.
    pub compact: bool,
}

impl Aes {
    /// Any.
    #[must_use]
    pub fn draw(random: &mut Random) -> Self {
        let registers = random.random_bool(0.7).then(|| random.random_range(0..4));
        Self { rounds: 10 + 2 * random.random_range(0..3), registers, compact: random.random() }
    }

    /// The same for the model.
    #[must_use]
    pub fn spec(self) -> AesSpec {
        AesSpec {
            lanes: 1,
            rounds_in_hardware: if self.registers.is_some() { self.rounds } else { 1 },
            registers_per_round: self.registers.unwrap_or(1),
            start_interval: Cycles(1),
            keystream_blocks: 1,
        }
    }

    fn module(self) -> Module {
        let mut parameters = vec![("ROUNDS", self.rounds.into()), ("COMPACT", self.compact.into())];
        parameters.extend(self.registers.map(|registers| ("REGISTERS", registers.into())));
        Module { name: if self.registers.is_some() { "lane" } else { "iterative" }, parameters, fault: None }
    }

    /// So many cycles in lock-step.
    ///
    /// # Errors
    /// No twin, or a difference.
    pub fn run(self, random: &mut Random, cycles: u64) -> Result<u64, Failure> {
        let mut twin = self.module().twin(random.random())?;
        let (_, mut keys, mut slots) = key(self.rounds, random);
        let mut model: Lane<()> = Lane::new(&self.spec(), self.rounds);
        // The counter's register, which is a part of the RTL's lane where rounds have none, shows everything a cycle later.
        let mut later = VecDeque::from(vec![None; usize::from(self.registers == Some(0))]);
        let mut rate = 0.8;
        if self.registers.is_none() {
            twin.step(&[&[1, 0], &slots[..]].concat());
        }
        for cycle in 0..cycles {
            let left = model.clock(&keys).map(|(block, ())| block.0);
            later.push_back(left);
            let left = later.pop_front().flatten();
            // A key waits until the lane is empty.
            let drains = cycle % 500 > 400;
            if cycle % 500 == 499 {
                (_, keys, slots) = key(self.rounds, random);
                rate = random.random_range(0.1..1.0);
            }
            let block: u128 = random.random();
            let starts = model.free() && !drains && random.random_bool(rate);
            match self.registers {
                Some(registers) => {
                    let shown = twin.step(&[&[block], &slots[..]].concat());
                    pipeline(cycle, &shown, left, &mut model, registers)?;
                }
                None => {
                    let shown = twin.step(&[&[u128::from(starts) << 1, block], &slots[..]].concat());
                    iterative(cycle, &shown, left, &mut model)?;
                }
            }
            if starts {
                model.start(&keys, block.to_be_bytes(), ());
            }
        }
        Ok(cycles)
    }
}

/// A random key: its bytes, the model's round keys, and the RTL's inputs.
pub(crate) fn key(rounds: u32, random: &mut Random) -> (Vec<u8>, RoundKeys, Vec<u128>) {
    let mut key = vec![0; 4 * (rounds as usize - 6)];
    random.fill(&mut key[..]);
    let keys = RoundKeys::expand(&key).expect("a key of 16, 24 or 32 bytes");
    let slots = (0..=rounds).map(|round| keys.round_key(round).0).collect();
    (key, keys, slots)
}

fn pipeline(
    cycle: u64,
    shown: &[u128],
    left: Option<u128>,
    model: &mut Lane<()>,
    registers: u32,
) -> Result<(), Failure> {
    if let Some(left) = left {
        equal(cycle, "keystream", &shown[0], &left)?;
    }
    let mut all = Ok(());
    model.registers(&mut |place, _, (), value| {
        if registers > 0 && all.is_ok() {
            all = equal(cycle, format!("the state at place {place}"), &shown[1 + place], value);
        }
    });
    all
}

fn iterative(cycle: u64, shown: &[u128], left: Option<u128>, model: &mut Lane<()>) -> Result<(), Failure> {
    equal(cycle, "ready", &(shown[0] & 1 == 1), &model.free())?;
    if cycle > 0 {
        equal(cycle, "done", &(shown[0] >> 1 & 1 == 1), &left.is_some())?;
    }
    if let Some(left) = left {
        equal(cycle, "keystream", &shown[1], &left)?;
    }
    let mut all = Ok(());
    model.registers(&mut |_, rounds, (), value| {
        let rtl = ((shown[0] >> 8) as u32, shown[1]);
        all = equal(cycle, "rounds and state", &rtl, &(rounds, *value));
    });
    all
}
