//! Any unit that has a twin, with its parameters.

use crate::{
    Cut, Failure, Random, Rng, SeedableRng, aes::Aes, engine::Engine, ghash::Unit, multiplier::Kind, queue::Queue,
};

/// A unit and its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A multiplier by itself.
    Multiplier(Kind),
    /// A GHASH unit.
    Ghash(Unit),
    /// An AES lane.
    Aes(Aes),
    /// An engine.
    Engine(Engine),
    /// A tag queue.
    Queue(Queue),
}

impl Shape {
    /// Any of modest size.
    #[must_use]
    pub fn draw(random: &mut Random) -> Self {
        let cut = Cut::draw(random);
        match random.random_range(0..20) {
            0 => Self::Multiplier(Kind::Parallel(cut)),
            1 => Self::Multiplier(Kind::Digits(random.random_range(1..129))),
            2 | 3 => Self::Ghash(Unit::Serial(cut)),
            4..=6 => {
                let (width, groups) = (random.random_range(1..7), random.random_range(1..7));
                Self::Ghash(Unit::Aggregated { width, groups, cut })
            }
            7 | 8 => Self::Aes(Aes::draw(random)),
            9 => Self::Queue(Queue::draw(random)),
            _ => Self::Engine(Engine::draw(random)),
        }
    }

    /// So many cycles in lock-step, with the data of a seed; as many as were compared.
    ///
    /// # Errors
    /// No twin, or a difference.
    pub fn run(self, seed: u64, cycles: u64) -> Result<u64, Failure> {
        let random = &mut Random::seed_from_u64(seed);
        match self {
            Self::Multiplier(kind) => kind.run(random, cycles),
            Self::Ghash(unit) => unit.run(unit.model(), None, random, cycles),
            Self::Aes(aes) => aes.run(random, cycles),
            Self::Engine(engine) => engine.run(None, 0, random, cycles),
            Self::Queue(queue) => queue.run(None, false, random, cycles),
        }
    }
}
