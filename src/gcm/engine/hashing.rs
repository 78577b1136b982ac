//! What the GHASH unit is fed with: the IV where it has not 96 bits, then AAD, ciphertext and the length block.

use super::{Datapath, Element, Engine, Event, Keystream, counter};
use crate::gcm::message::Direction;

/// What the GHASH unit works on. It is always for the oldest open message that has no value yet.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Hashing {
    /// Nothing.
    #[default]
    Idle,
    /// J0; blocks of the IV and its length that have entered.
    Iv(u64),
    /// The message; blocks of AAD that have entered.
    Message(u64),
    /// The message, whose length block has entered.
    Ended,
}

fn block_of(bytes: &[u8], index: u64) -> Element {
    let from = bytes.len().min(16 * index as usize);
    Element::from_partial(&bytes[from..bytes.len().min(from + 16)])
}

impl Engine {
    /// Takes values that stand, and begins what is next.
    pub(super) fn sequence_hashing(&mut self) {
        loop {
            let Some(message) = self.open.iter_mut().find(|message| message.value.is_none()) else { return };
            let result = self.ghash.result();
            let begin = match (self.hashing, result) {
                (Hashing::Idle, _) if message.j0.is_none() => Hashing::Iv(0),
                (Hashing::Idle, _) => Hashing::Message(0),
                (Hashing::Iv(entered), Some(value)) if entered == message.shape.iv_blocks() => {
                    message.j0 = Some(value.to_bytes());
                    Hashing::Message(0)
                }
                (Hashing::Ended, Some(value)) => {
                    message.value = Some(value);
                    self.sequence.opened = None;
                    self.hashing = Hashing::Idle;
                    continue;
                }
                _ => return,
            };
            self.hashing = begin;
            self.ghash.begin(match begin {
                Hashing::Iv(_) => message.shape.iv_blocks(),
                _ => message.shape.ghash_blocks(),
            });
        }
    }

    /// Feeds what does not come through the text ports in this cycle: IV, AAD, and on seal the output register.
    pub(super) fn feed_hash(&mut self, events: &mut Vec<(u64, Event)>) {
        if !self.powers_stand() {
            return;
        }
        let (aad_open, with_text) = (self.aad_may_enter(), self.control.keystream == Keystream::WithText);
        let Some(message) = self.open.iter_mut().find(|message| message.value.is_none()) else { return };
        let shape = message.shape;
        while self.ghash.can_enter() {
            match &mut self.hashing {
                Hashing::Iv(entered) if *entered + 1 < shape.iv_blocks() => {
                    self.ghash.enter(block_of(&message.iv, *entered));
                    *entered += 1;
                }
                Hashing::Iv(entered) if *entered < shape.iv_blocks() => {
                    self.ghash.enter(counter::length_block(0, shape.iv_bytes));
                    *entered += 1;
                }
                Hashing::Message(entered) if *entered < shape.aad_blocks() => {
                    if !aad_open {
                        return;
                    }
                    self.ghash.enter(block_of(&message.aad, *entered));
                    *entered += 1;
                    self.sequence.last_input = Some(self.cycle);
                    events.push((self.cycle, Event::Aad));
                }
                Hashing::Message(_) if with_text && message.hashed < shape.text_blocks() => {
                    let Some(key) = self.keystream.pop_front() else { return };
                    let input = self.sequence.travelling.pop_front().unwrap_or_default();
                    let output: Vec<u8> = input.iter().zip(key.to_bytes()).map(|(byte, key)| byte ^ key).collect();
                    let cipher = if shape.direction == Direction::Seal { &output } else { &input };
                    self.ghash.enter(Element::from_partial(cipher));
                    message.hashed += 1;
                    self.sequence.last_hashed = Some(self.cycle);
                    events.push((self.cycle + u64::from(!self.control.leave_with_hash), Event::Text(output)));
                }
                Hashing::Message(_) if shape.direction == Direction::Seal && message.hashed < shape.text_blocks() => {
                    let Some(block) = self.output.pop_front() else { return };
                    self.ghash.enter(block);
                    message.hashed += 1;
                    self.sequence.last_hashed = Some(self.cycle);
                }
                _ => return,
            }
        }
    }

    /// The open message whose ciphertext GHASH takes now: its place among them.
    pub(super) fn hashing_text(&self) -> Option<usize> {
        let index = self.open.iter().position(|message| message.value.is_none())?;
        let aad_blocks = self.open[index].shape.aad_blocks();
        matches!(self.hashing, Hashing::Message(aad) if aad == aad_blocks).then_some(index)
    }

    /// Feeds the length block once all ciphertext has entered.
    pub(super) fn feed_length(&mut self) {
        let Some(message) = self.open.iter().find(|message| message.value.is_none()) else { return };
        let shape = message.shape;
        if let Hashing::Message(aad) = self.hashing
            && aad == shape.aad_blocks()
            && message.hashed == shape.text_blocks()
            && self.powers_stand()
            && self.length_may_enter()
            && self.ghash.can_enter()
        {
            self.ghash.enter(counter::length_block(shape.aad_bytes, shape.text_bytes));
            self.hashing = Hashing::Ended;
        }
    }
}
