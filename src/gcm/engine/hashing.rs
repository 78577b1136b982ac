//! What the GHASH units are fed with: the IV where it has not 96 bits, then AAD, ciphertext and the length block.

use super::{Datapath, Element, Engine, Message, Unit, counter};
use crate::gcm::message::Direction;

/// What a GHASH unit works on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Work {
    /// Nothing.
    #[default]
    Idle,
    /// J0; blocks of the IV and its length that have entered.
    Iv(u64),
    /// A message; blocks of AAD that have entered.
    Message(u64),
    /// A message, whose length block has entered.
    Ended,
}

/// A GHASH unit and what it works on. It is an open message's from the first block to the value.
#[derive(Debug, Clone)]
pub(super) struct Hasher {
    pub unit: Unit,
    work: Work,
}

impl Hasher {
    pub fn new(unit: Unit) -> Self {
        Self { unit, work: Work::Idle }
    }

    /// Whether ciphertext of this message is what comes next.
    fn takes_text(&self, message: &Message) -> bool {
        self.work == Work::Message(message.shape.aad_blocks())
    }

    /// Takes a value that stands and begins what is next. Gives the message's values, once these stand.
    fn sequence(&mut self, message: &mut Message) -> Option<Vec<Element>> {
        let shape = message.shape;
        let begins = match (self.work, self.unit.result()) {
            (Work::Idle, _) if message.j0.is_none() => {
                self.unit.begin_alone(shape.iv_blocks());
                Work::Iv(0)
            }
            (Work::Iv(entered), Some(value)) if entered == shape.iv_blocks() => {
                message.j0 = Some(value.to_bytes());
                self.unit.begin(shape.ghash_blocks());
                Work::Message(0)
            }
            (Work::Idle, _) => {
                self.unit.begin(shape.ghash_blocks());
                Work::Message(0)
            }
            (Work::Ended, Some(_)) => {
                self.work = Work::Idle;
                return (0..message.masks.len()).map(|chain| self.unit.value(chain)).collect();
            }
            _ => return None,
        };
        self.work = begins;
        None
    }

    /// Feeds IV and AAD as far as they go in this cycle; on seal, then what `output` holds of the message.
    fn feed(&mut self, message: &mut Message, mut output: impl FnMut() -> Option<Element>) {
        let shape = message.shape;
        while self.unit.can_enter() {
            match &mut self.work {
                Work::Iv(entered) if *entered + 1 < shape.iv_blocks() => {
                    self.unit.enter(block_of(&message.iv, *entered));
                    *entered += 1;
                }
                Work::Iv(entered) if *entered < shape.iv_blocks() => {
                    self.unit.enter(counter::length_block(0, shape.iv_bytes));
                    *entered += 1;
                }
                Work::Message(entered) if *entered < shape.aad_blocks() => {
                    self.unit.enter(block_of(&message.aad, *entered));
                    *entered += 1;
                }
                Work::Message(_) if shape.direction == Direction::Seal && message.hashed < shape.text_blocks() => {
                    let Some(block) = output() else { return };
                    self.unit.enter(block);
                    message.hashed += 1;
                }
                _ => return,
            }
        }
    }

    /// Feeds the length block once all ciphertext has entered.
    fn feed_length(&mut self, message: &Message) {
        let shape = message.shape;
        if self.takes_text(message) && message.hashed == shape.text_blocks() && self.unit.can_enter() {
            self.unit.enter(counter::length_block(shape.aad_bytes, shape.text_bytes));
            self.work = Work::Ended;
        }
    }
}

fn block_of(bytes: &[u8], index: u64) -> Element {
    let from = bytes.len().min(16 * index as usize);
    Element::from_partial(&bytes[from..bytes.len().min(from + 16)])
}

impl Engine {
    /// Takes values that stand, gives free units to the oldest messages without one, and begins what is next.
    pub(super) fn sequence_hashing(&mut self) {
        for message in self.open.iter_mut().filter(|message| message.values.is_none()) {
            let free = || self.hashers.iter().position(|hasher| hasher.work == Work::Idle);
            let Some(place) = message.hasher.or_else(free) else { return };
            message.hasher = Some(place);
            message.values = self.hashers[place].sequence(message);
        }
    }

    /// Feeds what does not come through the text ports in this cycle: IV, AAD, and on seal the output register, whose
    /// blocks leave in their order.
    pub(super) fn feed_hash(&mut self) {
        let mut first_in_output = true;
        for message in self.open.iter_mut().filter(|message| message.values.is_none()) {
            let Some(place) = message.hasher else { return };
            let output = &mut self.output;
            self.hashers[place].feed(message, || if first_in_output { output.pop_front() } else { None });
            let leaves_more = message.hashed < message.shape.text_blocks();
            first_in_output &= message.shape.direction == Direction::Open || !leaves_more;
        }
    }

    /// The unit that takes a block of this message's ciphertext in this cycle, if there is one.
    pub(super) fn text_unit(&mut self, index: usize) -> Option<&mut Unit> {
        let message = self.open.get(index)?;
        let hasher = self.hashers.get_mut(message.hasher?)?;
        (hasher.takes_text(message) && hasher.unit.can_enter()).then_some(&mut hasher.unit)
    }

    /// Feeds length blocks.
    pub(super) fn feed_length(&mut self) {
        for message in self.open.iter().filter(|message| message.values.is_none()) {
            if let Some(place) = message.hasher {
                self.hashers[place].feed_length(message);
            }
        }
    }
}
