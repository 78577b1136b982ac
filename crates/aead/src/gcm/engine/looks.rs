//! What an engine shows of itself beyond its events, to an observer that records the stages of a message.

use super::{Element, Engine, Event};
use crate::gcm::ghash::Datapath;
use crate::gcm::multiplier::Made;

/// What a block in an AES lane becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    H,
    /// The mask of a chain's tag.
    Mask(usize),
    /// A block of keystream, counted over the life of the engine.
    Keystream(u64),
}

/// Something that a datapath shows in a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// A block has entered an AES lane.
    Entered {
        lane: usize,
        purpose: Purpose,
        /// The state after the first key addition.
        state: Element,
    },
    /// A round of AES has been worked.
    Round {
        lane: usize,
        purpose: Purpose,
        /// The round, from 1.
        round: u32,
        state: Element,
    },
    /// A block is valid at the end of a lane.
    Left { lane: usize, purpose: Purpose, block: Element },
    /// A block has entered a GHASH unit.
    Hashed { unit: usize, block: Element },
    /// A product is valid.
    Product {
        /// The [index](crate::gcm::register) of its multiplier.
        index: usize,
        made: Made,
    },
}

impl Engine {
    /// [`Engine::step`], of which `see` is shown each look with its cycle.
    pub fn step_seen(&mut self, events: &mut Vec<(u64, Event)>, see: &mut impl FnMut(u64, Look)) {
        self.work(events);
        let cycle = self.cycle;
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            if let Some((&purpose, state)) = lane.entered() {
                see(cycle, Look::Entered { lane: number, purpose, state });
            }
        }
        for (unit, hasher) in self.hashers.iter().enumerate() {
            hasher.entered().iter().for_each(|&block| see(cycle, Look::Hashed { unit, block }));
        }
        self.products(&mut |index, made| see(cycle, Look::Product { index, made }));
        self.clock(see);
    }

    fn products(&self, see: &mut dyn FnMut(usize, Made)) {
        use crate::gcm::register::Field;
        for (place, hasher) in self.hashers.iter().enumerate() {
            hasher.unit.products(&mut |index, made| see(Field::Unit.put(place) | index, made));
        }
    }

    /// J0 of the oldest message, once it is known.
    pub fn j0(&self) -> Option<[u8; 16]> {
        self.open.front()?.j0
    }

    /// The GHASH values of the message that was hashed last, by chain; empty before the first.
    pub fn ghash_values(&self) -> &[Element] {
        &self.values
    }
}
