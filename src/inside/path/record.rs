//! What a path is found in: what came to each unit and when, who made room, and what each unit was.

use super::cause::cause;
use crate::{
    sim::{Activity, Clock, Listener, Passage, Place, Places, Spell},
    units::Femtos,
};
use rustc_hash::FxHashMap as Map;
use std::collections::VecDeque;
use thiserror::Error;

/// Passages of a run that are kept at most: 40 bytes each.
const MOST: usize = 1 << 24;

/// A run of too many events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the run passes more than {MOST} items, too many to look through: explain a shorter copy, or one of its kind")]
pub struct TooLong;

/// Something that came to a unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input {
    /// When the unit took it, or it arrived.
    pub at: Femtos,
    /// When it was sent.
    pub sent: Femtos,
    pub channel: u32,
    pub cause: Option<u64>,
}

/// What there is of a unit.
#[derive(Debug, Default)]
pub(super) struct UnitRecord {
    /// By time.
    pub inputs: Vec<Input>,
    /// By what they have in common: places among the inputs.
    pub by_cause: Map<u64, Vec<u32>>,
    /// When room was made in a queue that it sends to, and by which unit.
    pub rooms: Vec<(Femtos, u32)>,
    /// What it was, from when to when.
    pub spells: Vec<(Femtos, Femtos, Activity)>,
}

/// A channel, by the numbers of the units at its ends.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub path: String,
    pub from: u32,
    pub to: u32,
    pub is_queue: bool,
}

/// A listener that records what a path is found in.
#[derive(Default)]
pub struct Recorder {
    pub(super) units: Vec<UnitRecord>,
    pub(super) names: Vec<String>,
    pub(super) lines: Vec<Line>,
    clocks: Vec<Clock>,
    /// By queue: what is in it.
    queued: Vec<VecDeque<(Femtos, Option<u64>)>>,
    count: usize,
}

impl Recorder {
    /// Whether there is more than can be kept.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.count >= MOST
    }

    /// Puts in order what was heard.
    ///
    /// # Errors
    /// [`TooLong`] if it was not all.
    pub fn ended(mut self) -> Result<Self, TooLong> {
        if self.is_full() {
            return Err(TooLong);
        }
        for unit in &mut self.units {
            unit.inputs.sort_by_key(|input| input.at);
            for (place, input) in unit.inputs.iter().enumerate() {
                if let Some(cause) = input.cause {
                    unit.by_cause.entry(cause).or_default().push(place as u32);
                }
            }
        }
        Ok(self)
    }

    fn input(&mut self, channel: usize, at: Femtos, sent: Femtos, cause: Option<u64>) {
        if self.is_full() {
            return;
        }
        self.count += 1;
        let to = self.lines[channel].to as usize;
        if let Some(unit) = self.units.get_mut(to) {
            unit.inputs.push(Input { at, sent, channel: channel as u32, cause });
        }
    }
}

impl Listener for Recorder {
    fn begin(&mut self, places: &Places) {
        let units = &places.accounts[..places.units];
        self.names = units.iter().map(|unit| unit.name.clone()).collect();
        self.clocks = units.iter().map(|unit| unit.clock).collect();
        self.units = units.iter().map(|_| UnitRecord::default()).collect();
        let number = |path: &str| self.names.iter().position(|name| name == path).map_or(u32::MAX, |n| n as u32);
        let lines = places.channels.iter().map(|channel| Line {
            path: channel.path.clone(),
            from: number(&channel.from),
            to: number(&channel.to),
            is_queue: channel.depth.is_some(),
        });
        self.lines = lines.collect();
        self.queued = vec![VecDeque::new(); self.lines.len()];
    }

    fn hears(&self, place: Place<'_>) -> bool {
        matches!(place, Place::Channel(_) | Place::Account(_))
    }

    fn passed(&mut self, Passage { channel, sent, date, item, .. }: Passage<'_>) {
        let cause = cause(item);
        if self.lines[channel].is_queue {
            self.queued[channel].push_back((sent, cause));
        } else {
            self.input(channel, date, sent, cause);
        }
    }

    fn taken(&mut self, channel: usize, time: Femtos) {
        let Some((sent, cause)) = self.queued[channel].pop_front() else { return };
        self.input(channel, time, sent, cause);
        let Line { from, to, .. } = self.lines[channel];
        if let Some(sender) = self.units.get_mut(from as usize) {
            sender.rooms.push((time, to));
        }
    }

    fn spell(&mut self, Spell { account, activity, from, to }: Spell) {
        let Some(unit) = self.units.get_mut(account) else { return };
        let clock = self.clocks[account];
        unit.spells.push((clock.edge(from), clock.edge(to), activity));
    }
}
