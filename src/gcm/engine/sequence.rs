//! The rules of an engine with a [control](crate::gcm::control) of its own: when inputs open, when a lane stands still, how text
//! travels with its counter, and the phases. In the free-running engine each rule says yes. An engine with a control has one GHASH
//! unit and one tag per message.

use super::{ControlSpec, Engine, Event, KeyState, Keystream, Purpose, Start, counter};
use crate::gcm::control::Inputs;
use crate::gcm::ghash::Datapath;
use std::collections::VecDeque;

/// A phase of a message, in an engine that is driven phase by phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// H, where a key is new, and the mask.
    #[default]
    Mask,
    /// AAD; left out where there is none.
    Aad,
    /// Text; left out where there is none.
    Text,
    /// The length block.
    Length,
}

/// What the control remembers.
#[derive(Debug, Clone, Default)]
pub(super) struct Sequence {
    /// The phase, and the cycle in which it began.
    phase: (Phase, u64),
    /// Text blocks in the lane.
    pub(super) travelling: VecDeque<Vec<u8>>,
    /// Cycle in which the last AAD block came in, and that in which the last ciphertext block entered GHASH.
    pub(super) last_input: Option<u64>,
    pub(super) last_hashed: Option<u64>,
    /// Cycle in which the inputs opened for the message at GHASH.
    pub(super) opened: Option<u64>,
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
        let leaves = self.lanes[0].leaves().is_some_and(|purpose| matches!(purpose, Purpose::Keystream(_)));
        leaves && self.keystream.len() >= room
    }

    /// The open message whose text is taken next.
    pub(super) fn next_text(&self) -> Option<usize> {
        self.open.iter().position(|message| message.taken < message.shape.text_blocks())
    }

    fn inputs_open(&self) -> bool {
        let Some(message) = self.open.iter().find(|message| message.values.is_none()) else { return false };
        self.powers_stand()
            && match self.control.inputs {
                Inputs::Powers => true,
                Inputs::Mask => message.masks[0].is_some(),
                Inputs::FirstKeystream if message.shape.text_blocks() == 0 => message.masks[0].is_some(),
                Inputs::FirstKeystream => message.taken > 0 || !self.keystream.is_empty(),
            }
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
        let ports = !self.control.shared_port
            || (self.inputs_open() && self.hashes_text(index) && self.sequence.last_input != Some(self.cycle));
        let turn =
            !self.control.take_turns || (self.sequence.travelling.is_empty() && self.hashers[0].unit.can_enter());
        ports && turn && self.in_phase(Phase::Text, self.control.phases.map_or(0, |phases| phases.text.0))
    }

    /// Whether the length block may enter GHASH.
    pub(super) fn length_may_enter(&self) -> bool {
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
            events.push((self.cycle, Event::Phase(next)));
        }
    }

    fn next_phase(&self) -> Option<Phase> {
        let message = self.open.front()?;
        let (shape, rests) = (message.shape, self.hashers[0].unit.can_enter());
        let aad_in = self.hashers[0].takes_text(message);
        let text_in = message.hashed == shape.text_blocks();
        match self.sequence.phase.0 {
            Phase::Mask if message.masks[0].is_none() => None,
            Phase::Mask if !aad_in => Some(Phase::Aad),
            Phase::Mask | Phase::Aad if aad_in && rests && !text_in => Some(Phase::Text),
            Phase::Mask | Phase::Aad | Phase::Text if aad_in && rests && text_in => Some(Phase::Length),
            Phase::Length if message.values.is_none() && message.blocks_started == 0 => Some(Phase::Mask),
            _ => None,
        }
    }

    /// A text block enters the lane with its counter.
    pub(super) fn enter_text(&mut self, events: &mut Vec<(u64, Event)>) {
        let Some(index) = self.next_text() else { return };
        let lane_busy = self.control.one_at_a_time && !self.keystream.is_empty();
        if lane_busy || self.lane_stands_still() || !self.lanes[0].free() || !self.text_may_enter(index) {
            return;
        }
        let message = &mut self.open[index];
        let (length, block) = (message.next_block(), message.blocks_started);
        let (Some((keys, KeyState::Ready)), Some(j0), true) = (&self.keys, message.j0, block > 0) else { return };
        if self.text.len() < length {
            return;
        }
        self.lanes[0].start(keys, counter::advanced(j0, block as u32), Purpose::Keystream(self.begun));
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
    #[must_use]
    pub fn hashed(&self) -> u64 {
        self.open.front().map_or(0, |message| {
            message.hashed + u64::from(message.values.is_some() || message.hashed == message.shape.text_blocks())
        })
    }

    /// The control of this engine.
    #[must_use]
    pub const fn control(&self) -> &ControlSpec {
        &self.control
    }
}
