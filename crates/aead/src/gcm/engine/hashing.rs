//! What the GHASH units are fed with: the IV where it has not 96 bits, then AAD, ciphertext and the length block.

use super::{
    ControlSpec, Datapath, Element, Engine, EngineMessage, Event, GhashUnit, Inputs, Keystream, Sequence, counter,
};
use crate::gcm::message::SealOpen;
use std::collections::VecDeque;

/// What a GHASH unit works on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Work {
    #[default]
    Idle,
    /// J0; blocks of the IV and its length that have entered.
    Iv(u64),
    /// A message; blocks of AAD that have entered.
    Message(u64),
    /// A message, whose length block has entered.
    Ended,
}

/// What a unit is fed from in a cycle.
struct Sources<'a> {
    cycle: u64,
    /// Whether AAD may enter, or leave the registers before GHASH.
    aad_open: bool,
    /// Whether AAD comes out of registers.
    aad_delayed: bool,
    /// Whether text comes from a lane, with its counter's keystream.
    with_text: bool,
    control: &'a ControlSpec,
    /// Blocks of the output register; none where they are another message's.
    output: Option<&'a mut VecDeque<Element>>,
    keystream: &'a mut VecDeque<Element>,
    sequence: &'a mut Sequence,
    events: &'a mut Vec<(u64, Event)>,
}

impl Sources<'_> {
    /// Whether a message's ciphertext comes from a lane or from the output register, and not straight from the text ports.
    fn has_text(&self, direction: SealOpen) -> bool {
        self.with_text || self.control.by_register(direction)
    }

    /// AAD block `index` of a message, which enters GHASH in this cycle.
    fn aad(&mut self, message: &EngineMessage, index: u64) -> Option<Element> {
        if self.aad_delayed {
            return self.sequence.aad_out.pop_front();
        }
        self.sequence.last_input = Some(self.cycle);
        self.events.push((self.cycle, Event::Aad));
        Some(block_of(&message.aad, index))
    }

    fn ciphertext(&mut self, direction: SealOpen) -> Option<Element> {
        if !self.with_text {
            return self.output.as_mut()?.pop_front();
        }
        let key = self.keystream.pop_front()?;
        let input = self.sequence.travelling.pop_front().unwrap_or_default();
        let output: Vec<u8> = input.iter().zip(key.to_bytes()).map(|(byte, key)| byte ^ key).collect();
        let cipher = if direction == SealOpen::Seal { &output } else { &input };
        let block = Element::from_partial(cipher);
        self.events.push((self.cycle + self.control.output_cycles(), Event::Text(output)));
        Some(block)
    }
}

/// A GHASH unit and what it works on. It is an open message's from the first block to the value.
#[derive(Debug, Clone)]
pub(super) struct Hasher {
    pub unit: GhashUnit,
    work: Work,
    entered: Vec<Element>,
    /// Cycles that a serial unit stands idle after a product and, further, after one of AAD; those left; whether a product, one of AAD, is in progress.
    idle: u64,
    aad_idle: u64,
    of_aad: bool,
    idles: u64,
    works: bool,
}

impl Hasher {
    pub fn new(unit: GhashUnit, control: &ControlSpec) -> Self {
        let (idle, aad_idle) = (control.ghash_idle.0, control.aad_idle.0);
        Self { unit, work: Work::Idle, entered: Vec::new(), idle, aad_idle, of_aad: false, idles: 0, works: false }
    }

    pub fn clock(&mut self) {
        self.works |= !self.entered.is_empty();
        self.entered.clear();
        self.unit.clock();
        self.idles = self.idles.saturating_sub(1);
        if self.works && (self.unit.can_enter() || self.unit.result().is_some()) {
            self.works = false;
            self.idles = self.idle + if self.of_aad { self.aad_idle } else { 0 };
        }
    }

    /// Whether a block may enter in this cycle.
    pub fn can_enter(&self) -> bool {
        self.idles == 0 && self.unit.can_enter()
    }

    pub fn enter(&mut self, block: Element) {
        self.of_aad = false;
        self.entered.push(block);
        self.unit.enter(block);
    }

    /// The blocks that have entered in this cycle, in their order.
    pub fn entered(&self) -> &[Element] {
        &self.entered
    }

    /// Whether ciphertext of this message is what comes next.
    pub fn takes_text(&self, message: &EngineMessage) -> bool {
        self.work == Work::Message(message.shape.aad_blocks())
    }

    /// Whether all AAD of this message has entered.
    pub fn has_aad(&self, message: &EngineMessage) -> bool {
        self.takes_text(message) || self.work == Work::Ended
    }

    /// Takes a value that is valid and begins what is next. Gives the message's values, once these are valid.
    fn sequence(&mut self, message: &mut EngineMessage) -> Option<Vec<Element>> {
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

    /// Feeds IV and AAD as far as they go in this cycle; then ciphertext that does not come through the text ports.
    fn feed(&mut self, message: &mut EngineMessage, sources: &mut Sources<'_>) {
        let shape = message.shape;
        while self.can_enter() {
            match &mut self.work {
                Work::Iv(entered) if *entered + 1 < shape.iv_blocks() => {
                    let block = block_of(&message.iv, *entered);
                    *entered += 1;
                    self.enter(block);
                }
                Work::Iv(entered) if *entered < shape.iv_blocks() => {
                    *entered += 1;
                    self.enter(counter::length_block(0, shape.iv_bytes));
                }
                Work::Message(entered) if *entered < shape.aad_blocks() => {
                    if !sources.aad_open {
                        return;
                    }
                    let Some(block) = sources.aad(message, *entered) else { return };
                    *entered += 1;
                    self.enter(block);
                    self.of_aad = true;
                }
                Work::Message(_) if sources.has_text(shape.direction) && message.hashed < shape.text_blocks() => {
                    let Some(block) = sources.ciphertext(shape.direction) else { return };
                    self.enter(block);
                    message.hashed += 1;
                    sources.sequence.last_hashed = Some(sources.cycle);
                }
                _ => return,
            }
        }
    }

    /// Feeds the length block once all ciphertext has entered.
    fn feed_length(&mut self, message: &EngineMessage) {
        let shape = message.shape;
        if self.takes_text(message) && message.hashed == shape.text_blocks() && self.can_enter() {
            self.enter(counter::length_block(shape.aad_bytes, shape.text_bytes));
            self.work = Work::Ended;
        }
    }
}

fn block_of(bytes: &[u8], index: u64) -> Element {
    let from = bytes.len().min(16 * index as usize);
    Element::from_partial(&bytes[from..bytes.len().min(from + 16)])
}

impl Engine {
    /// Takes values that are valid, gives free units to the oldest messages without one, and begins what is next.
    pub(super) fn sequence_hashing(&mut self) {
        for message in self.open.iter_mut().filter(|message| message.values.is_none()) {
            let free = || self.hashers.iter().position(|hasher| hasher.work == Work::Idle);
            let Some(place) = message.hasher.or_else(free) else { return };
            message.hasher = Some(place);
            message.values = self.hashers[place].sequence(message);
            if let Some(values) = &message.values {
                self.values.clone_from(values);
                self.sequence.opened = None;
                self.sequence.text_from = None;
            }
        }
    }

    /// Feeds what does not come through the text ports in this cycle: IV, AAD, and on seal the output register, whose
    /// blocks leave in their order.
    pub(super) fn feed_hash(&mut self, events: &mut Vec<(u64, Event)>) {
        if !self.powers_stand() {
            return;
        }
        let aad_delayed = self.control.inputs == Inputs::Key;
        let aad_open = aad_delayed || self.aad_may_enter();
        let with_text = self.control.keystream == Keystream::WithText;
        let mut first_in_output = true;
        for message in self.open.iter_mut().filter(|message| message.values.is_none()) {
            let Some(place) = message.hasher else { return };
            let mut sources = Sources {
                cycle: self.cycle,
                aad_open,
                aad_delayed,
                with_text,
                control: &self.control,
                output: first_in_output.then_some(&mut self.output),
                keystream: &mut self.keystream,
                sequence: &mut self.sequence,
                events,
            };
            let before = message.hashed;
            self.hashers[place].feed(message, &mut sources);
            if with_text && message.hashed > before {
                self.lanes[0].vacate();
            }
            let leaves_more = message.hashed < message.shape.text_blocks();
            first_in_output &= !leaves_more || !sources.has_text(message.shape.direction);
        }
    }

    /// AAD comes into the registers before GHASH.
    pub(super) fn delay_aad(&mut self, events: &mut Vec<(u64, Event)>) {
        let room = self.sequence.delay_free() && !self.lane_stands_still();
        if self.control.inputs != Inputs::Key || !room || !self.aad_may_enter() {
            return;
        }
        let Some(message) = self.open.iter_mut().find(|message| message.values.is_none()) else { return };
        if message.aad_taken < message.shape.aad_blocks() {
            self.sequence.delay(block_of(&message.aad, message.aad_taken));
            message.aad_taken += 1;
            self.sequence.last_input = Some(self.cycle);
            events.push((self.cycle, Event::Aad));
        }
    }

    /// Whether all AAD of open message `index` has come in.
    pub(super) fn aad_is_in(&self, index: usize) -> bool {
        let Some(message) = self.open.get(index) else { return false };
        match self.control.inputs {
            Inputs::Key => message.aad_taken == message.shape.aad_blocks(),
            _ => message.hasher.is_some_and(|place| self.hashers[place].has_aad(message)),
        }
    }

    /// Whether ciphertext of this message is what its unit takes next.
    pub(super) fn hashes_text(&self, index: usize) -> bool {
        let Some(message) = self.open.get(index) else { return false };
        message.hasher.is_some_and(|place| self.hashers[place].takes_text(message))
    }

    /// The unit that takes a block of this message's ciphertext in this cycle, if there is one.
    pub(super) fn text_unit(&mut self, index: usize) -> Option<&mut Hasher> {
        let message = self.open.get(index)?;
        let hasher = self.hashers.get_mut(message.hasher?)?;
        (hasher.takes_text(message) && hasher.can_enter()).then_some(hasher)
    }

    pub(super) fn feed_length(&mut self) {
        if !self.powers_stand() || !self.length_may_enter() {
            return;
        }
        for message in self.open.iter().filter(|message| message.values.is_none()) {
            if let Some(place) = message.hasher {
                self.hashers[place].feed_length(message);
            }
        }
    }
}
