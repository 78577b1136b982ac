//! The rules of an engine with a [control](crate::gcm::control) of its own: when inputs open, when a lane stands still, how text
//! travels with its counter, and the phases. In the free-running engine each rule says yes. An engine with a control has one GHASH
//! unit and one tag per message.

use super::{
    ControlSpec, Element, Engine, EngineMessage, Event, FirstCounter, Inputs, KeyState, Keystream, Mask, Purpose, Start,
};
use crate::units::Cycles;
use std::collections::VecDeque;

/// A phase of a message, in an engine that is driven phase by phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// H, where a key is new, and a mask that is first.
    #[default]
    Mask,
    /// AAD; where there is none, left out or as long as it is said to be.
    Aad,
    Text,
    Length,
}

/// What the control remembers.
#[derive(Debug, Clone, Default)]
pub(super) struct Sequence {
    /// The phase, and the cycle in which it began.
    phase: (Phase, u64),
    /// Whether a message has opened whose phases have not begun.
    pub(super) fresh: bool,
    pub(super) h_entered: u64,
    /// AAD in the registers before GHASH: cycles that a block has been in them, the block. Then the block that has come out.
    delayed: VecDeque<(u64, Element)>,
    pub(super) aad_out: VecDeque<Element>,
    /// Text blocks in the lane, and in the registers behind it.
    pub(super) travelling: VecDeque<Vec<u8>>,
    /// The keystream of those behind it: cycles that a block has been there, the block.
    behind: VecDeque<(u64, Element)>,
    /// Text blocks in the register before the XOR.
    pub(super) at_xor: VecDeque<Vec<u8>>,
    /// Cycle in which the last AAD block came in, and that in which the last ciphertext block entered GHASH.
    pub(super) last_input: Option<u64>,
    pub(super) last_hashed: Option<u64>,
    /// Cycle in which the inputs opened for the message at GHASH.
    pub(super) opened: Option<u64>,
    /// Cycle in which that message's AAD was done, as far as its text waits for it.
    pub(super) text_from: Option<u64>,
}

impl Sequence {
    /// Whether a block may come into the registers before GHASH: none waits at their entrance.
    pub(super) fn delay_free(&self) -> bool {
        self.delayed.back().is_none_or(|(age, _)| *age > 0)
    }

    /// AAD comes into the registers before GHASH.
    pub(super) fn delay(&mut self, block: Element) {
        self.delayed.push_back((0, block));
    }

    /// The registers before GHASH to the next cycle: those of AAD, as many as a lane of `latency` has and `delay` more, and those of text
    /// behind the lane, `delay` of them. Gives the keystream of the text that has come out.
    pub(super) fn clock(&mut self, latency: u64, delay: u64) -> Option<Element> {
        self.delayed.iter_mut().chain(&mut self.behind).for_each(|(age, _)| *age += 1);
        if self.delayed.front().is_some_and(|(age, _)| *age == latency + delay) {
            self.aad_out.extend(self.delayed.pop_front().map(|(_, block)| block));
        }
        let leaves = self.behind.front().is_some_and(|(age, _)| *age == delay);
        if leaves { self.behind.pop_front().map(|(_, block)| block) } else { None }
    }

    /// A text block has left the lane for the registers behind it.
    pub(super) fn put_behind(&mut self, keystream: Element) {
        self.behind.push_back((0, keystream));
    }

    /// Whether text leaves the registers behind the lane in the next cycle.
    fn leaves_behind(&self, delay: u64) -> bool {
        self.behind.front().is_some_and(|(age, _)| age + 1 == delay)
    }

    /// The keystream that they hold.
    pub(super) fn keystream_behind(&mut self) -> impl Iterator<Item = &mut Element> {
        self.behind.iter_mut().map(|(_, block)| block)
    }

    /// The AAD that they hold.
    pub(super) fn delayed(&mut self) -> impl Iterator<Item = &mut Element> {
        self.aad_out.iter_mut().chain(self.delayed.iter_mut().map(|(_, block)| block))
    }

    /// Whether their foremost block finds no room at the end.
    fn delay_stands_still(&self, latency: u64) -> bool {
        let leaves = self.delayed.front().is_some_and(|(age, _)| age + 1 == latency);
        leaves && !self.aad_out.is_empty()
    }
}

impl Engine {
    /// Whether the key is far enough for the blocks of messages.
    pub(super) const fn key_serves(&self) -> bool {
        match self.control.start {
            Start::AfterPowers => matches!(self.keys, Some((_, KeyState::Ready))),
            Start::BehindH => !matches!(self.keys, None | Some((_, KeyState::Expanding { .. }))),
        }
    }

    /// Whether GHASH may take blocks.
    pub(super) const fn powers_stand(&self) -> bool {
        matches!(self.keys, Some((_, KeyState::Ready)))
    }

    /// Whether another message may be opened.
    pub(super) fn may_open(&self) -> bool {
        let contexts = if self.control.phases.is_some() { 1 } else { self.hashers.len() + 1 };
        self.key_serves() && self.open.len() < contexts
    }

    /// Whether the lane's foremost block finds no room at the end.
    pub(super) fn lane_stands_still(&self) -> bool {
        let room = match self.control.keystream {
            Keystream::Ahead => return false,
            Keystream::Frozen => self.spec.aes.keystream_blocks as usize,
            Keystream::WithText => 1,
        };
        let delay = self.control.delay.0;
        let leaves = match delay {
            0 => self.lanes[0].leaves().is_some_and(|purpose| matches!(purpose, Purpose::Keystream(_))),
            _ => self.sequence.leaves_behind(delay),
        };
        (leaves && self.keystream.len() >= room) || self.sequence.delay_stands_still(self.lanes[0].latency() + delay)
    }

    /// The open message whose text is taken next.
    pub(super) fn next_text(&self) -> Option<usize> {
        self.open.iter().position(|message| message.taken < message.shape.text_blocks())
    }

    fn inputs_open(&self) -> bool {
        let Some(message) = self.open.iter().find(|message| message.values.is_none()) else { return false };
        match self.control.inputs {
            Inputs::Key => self.key_serves() && self.cycle >= self.sequence.h_entered + self.control.settle.0,
            Inputs::Powers => self.powers_stand(),
            Inputs::Mask => self.powers_stand() && message.masks[0].is_some(),
            // Without text the mask stands for the first keystream, unless it comes after GHASH itself.
            Inputs::FirstKeystream if message.shape.text_blocks() == 0 => {
                let mask = message.masks[0].is_some() || self.control.mask == Mask::AfterGhash;
                self.powers_stand() && mask
            }
            Inputs::FirstKeystream => self.powers_stand() && (message.taken > 0 || !self.keystream.is_empty()),
        }
    }

    /// Whether inputs are open, and for this message.
    fn inputs_open_for(&self, index: usize) -> bool {
        let hashed = self.open.iter().position(|message| message.values.is_none());
        hashed == Some(index) && self.inputs_open()
    }

    /// Whether the first counter of open message `index` may enter its lane.
    pub(super) fn counters_may_begin(&self, index: usize) -> bool {
        let message = &self.open[index];
        let no_text = message.shape.text_blocks() == 0;
        match self.control.first_counter {
            FirstCounter::Free => true,
            _ if message.values.is_some() => true,
            // It may be in the register before the XOR already.
            FirstCounter::WithFirstText if message.taken > 0 => true,
            FirstCounter::WithFirstText if !no_text => {
                self.inputs_open_for(index) && self.text_may_enter(index) && self.text.len() >= message.next_block()
            }
            FirstCounter::WithFirstText | FirstCounter::WithLastAad => {
                self.inputs_open_for(index) && self.aad_is_in(index)
            }
        }
    }

    /// Whether the mask of open message `index` may enter its lane.
    pub(super) fn mask_may_enter(&self, index: usize) -> bool {
        if self.control.mask == Mask::AfterGhash {
            return self.open[index].values.is_some();
        }
        let held = self.control.one_at_a_time && self.holds_text();
        let rests = self.hashes_text(index) && self.sequence.travelling.is_empty() && self.hashers[0].can_enter();
        !self.open[index].mask_last || (!held && (!self.control.take_turns || rests))
    }

    /// Whether text and its keystream wait for GHASH at the end of a lane.
    fn holds_text(&self) -> bool {
        self.control.keystream == Keystream::WithText && !self.keystream.is_empty()
    }

    /// Whether AAD may enter GHASH in this cycle.
    pub(super) fn aad_may_enter(&mut self) -> bool {
        if !self.inputs_open() {
            return false;
        }
        let opened = *self.sequence.opened.get_or_insert(self.cycle);
        self.cycle >= opened + self.control.aad_start.0
            && self.in_phase(Phase::Aad, self.control.phases.map_or(0, |phases| phases.aad.0))
    }

    /// Whether the text of open message `index` may come in.
    pub(super) fn text_may_enter(&self, index: usize) -> bool {
        let hashes = match self.control.inputs {
            Inputs::Key => self.inputs_open_for(index) && self.aad_is_in(index),
            _ => self.inputs_open() && self.hashes_text(index),
        };
        let ports = match self.control.shared_port {
            true => hashes && self.sequence.last_input != Some(self.cycle),
            false => self.control.inputs != Inputs::Key || hashes,
        };
        let turn = !self.control.take_turns || (self.sequence.travelling.is_empty() && self.hashers[0].can_enter());
        ports
            && turn
            && self.text_has_started(index)
            && self.in_phase(Phase::Text, self.control.phases.map_or(0, |phases| phases.text.0))
    }

    /// Notes the cycle in which the AAD of the message at GHASH is done.
    pub(super) fn see_end_of_aad(&mut self) {
        if !self.control.waits_for_text() || self.sequence.text_from.is_some() || !self.inputs_open() {
            return;
        }
        let index = self.open.iter().position(|message| message.values.is_none());
        let rests = !self.control.text_after_rest || self.hashers[0].can_enter();
        if rests && index.is_some_and(|index| self.hashes_text(index)) {
            self.sequence.text_from = Some(self.cycle);
        }
    }

    /// Whether text of open message `index` need not wait for the end of AAD any more.
    fn text_has_started(&self, index: usize) -> bool {
        let due = self.sequence.text_from.is_some_and(|from| self.cycle >= from + self.control.text_start.0);
        !self.control.waits_for_text() || (due && self.hashes_text(index))
    }

    /// Whether the length block may enter GHASH.
    pub(super) fn length_may_enter(&self) -> bool {
        let mut hashed = self.open.iter().filter(|message| message.values.is_none());
        let mask_misses = |message: &EngineMessage| message.masks[0].is_none();
        if self.control.take_turns && self.control.mask == Mask::Last && hashed.next().is_some_and(mask_misses) {
            return false;
        }
        let last = self.sequence.last_hashed.max(self.sequence.last_input);
        let seen = last.is_none_or(|last| self.cycle > last + self.control.end_of_text.0);
        (self.control.end_of_text.0 == 0 || seen)
            && self.in_phase(Phase::Length, self.control.phases.map_or(0, |phases| phases.length.0))
    }

    fn in_phase(&self, phase: Phase, delay: u64) -> bool {
        let (now, from) = self.sequence.phase;
        self.control.phases.is_none() || (now == phase && self.cycle >= from + delay)
    }

    /// Goes to the next phase when one has ended: all its blocks are in, and GHASH rests.
    pub(super) fn advance_phase(&mut self, events: &mut Vec<(u64, Event)>) {
        if self.control.phases.is_none() {
            return;
        }
        while let Some(next) = self.next_phase() {
            self.sequence.phase = (next, self.cycle);
            self.sequence.fresh &= next == Phase::Mask;
            events.push((self.cycle, Event::Phase(next)));
        }
    }

    fn next_phase(&self) -> Option<Phase> {
        let message = self.open.front()?;
        let (shape, rests) = (message.shape, self.hashers[0].can_enter());
        let aad_in = self.hashers[0].takes_text(message);
        let text_in = message.hashed == shape.text_blocks();
        let (phase, from) = self.sequence.phase;
        let phases = self.control.phases.unwrap_or_default();
        let over = |cycles: Cycles, blocks| blocks > 0 || self.cycle >= from + cycles.0;
        match phase {
            Phase::Mask if message.mask_last && !self.powers_stand() => None,
            Phase::Mask if !message.mask_last && message.masks[0].is_none() => None,
            Phase::Mask if !aad_in || phases.empty_aad.0 > 0 => Some(Phase::Aad),
            Phase::Aad if !over(phases.empty_aad, shape.aad_blocks()) => None,
            Phase::Text if !over(phases.empty_text, shape.text_blocks()) => None,
            Phase::Mask | Phase::Aad if aad_in && rests && (!text_in || phases.empty_text.0 > 0) => Some(Phase::Text),
            Phase::Mask | Phase::Aad | Phase::Text if aad_in && rests && text_in => Some(Phase::Length),
            Phase::Length if self.sequence.fresh => Some(Phase::Mask),
            _ => None,
        }
    }

    /// A text block enters the lane with its counter.
    pub(super) fn enter_text(&mut self, events: &mut Vec<(u64, Event)>) {
        let Some(index) = self.next_text() else { return };
        let lane_busy = self.control.one_at_a_time && self.holds_text();
        if lane_busy || self.lane_stands_still() || !self.lanes[0].free() || !self.text_may_enter(index) {
            return;
        }
        let key_stands = if self.control.inputs == Inputs::Key { self.key_serves() } else { self.powers_stand() };
        // Masks that come first, and blocks of earlier messages, are in their lanes.
        let in_order = self.open.iter().position(|message| !message.all_started()) == Some(index);
        let begins = self.open[index].taken > 0 || self.counters_may_begin(index);
        if !(key_stands && in_order && begins) {
            return;
        }
        let message = &mut self.open[index];
        let length = message.next_block();
        let (Some((keys, _)), Some(j0)) = (&self.keys, message.j0) else { return };
        let (counter, mask) = message.aes_block(j0, message.blocks_started);
        if self.text.len() < length || mask.is_some() {
            return;
        }
        self.lanes[0].start(keys, counter, Purpose::Keystream(self.begun));
        self.sequence.travelling.push_back(self.text.drain(..length).collect());
        self.begun += 1;
        message.blocks_started += 1;
        message.taken += 1;
        if message.all_started() {
            self.counters_ended = Some(self.cycle);
        }
        events.push((self.cycle, Event::Taken(1)));
    }

    /// Ciphertext blocks of the oldest open message that have entered GHASH, one more once all have.
    pub fn hashed(&self) -> u64 {
        self.open.front().map_or(0, |message| {
            message.hashed + u64::from(message.values.is_some() || message.hashed == message.shape.text_blocks())
        })
    }

    pub const fn control(&self) -> &ControlSpec {
        &self.control
    }
}
