//! What a path is found in: what came to each unit and when, who made room, and what each unit was.

use super::cause::cause;
use crate::{
    sim::{Activity, ChannelTransfer, Clock, Listener, Place, Places, Spell},
    units::Femtos,
};
use rustc_hash::FxHashMap as Map;
use std::collections::VecDeque;
use thiserror::Error;

/// Transfers of a run that are kept at most: 40 bytes each.
const MOST: usize = 1 << 24;
/// Items among which the one is looked for that made a unit busy.
const SEVERAL: usize = 64;

/// A run of too many events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the run passes more than {MOST} items, too many to look through: explain a shorter copy, or one of its kind")]
pub struct TooLong;

/// Something that came to a unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input {
    /// When the unit took it, or it arrived.
    pub at: Femtos,
    pub sent: Femtos,
    pub channel: u32,
    pub cause: Option<u64>,
}

#[derive(Debug, Default)]
pub(super) struct UnitRecord {
    pub inputs: Vec<Input>,
    /// By what they have in common: places among the inputs.
    pub by_cause: Map<u64, Vec<u32>>,
    /// When room was made in a queue that it sends to, and by which unit.
    pub rooms: Vec<(Femtos, u32)>,
    /// What it was, from when to when.
    pub spells: Vec<(Femtos, Femtos, Activity)>,
    /// When the one part of it that has an account of its own was busy, from when to when without a break.
    pub part: Vec<(Femtos, Femtos)>,
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
    /// By account of a part behind those of units: the unit that has no other.
    owners: Vec<Option<usize>>,
    /// The names of parts, by unit.
    pub(super) parts: Vec<String>,
    /// By channel: the shortest time that something was in the queue, in fs.
    least: Vec<u64>,
    queued: Vec<VecDeque<(Femtos, Option<u64>)>>,
    count: usize,
}

impl Recorder {
    /// Whether there is more than can be kept.
    pub const fn is_full(&self) -> bool {
        self.count >= MOST
    }

    /// Puts in order what was heard.
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

    /// Whether something was longer in its queue than what its receiver takes at once, or as soon as its own time has passed.
    pub(super) fn queued_behind_others(&self, input: &Input) -> bool {
        let channel = input.channel as usize;
        let period = self.clocks.get(self.lines[channel].to as usize).map_or(0, |clock| clock.edge(1).0);
        input.at.0 - input.sent.0 > self.least[channel] + 2 * period
    }

    /// What made a unit busy from a time on: what it took then, or what came to a queue then and was taken later.
    pub(super) fn starter(&self, unit: usize, begin: Femtos) -> Option<Input> {
        let (inputs, just) = (&self.units[unit].inputs, 2 * self.clocks[unit].edge(1).0);
        let next = &inputs[inputs.partition_point(|input| input.at < begin)..];
        let came = |input: &&Input| {
            let is_queue = self.lines[input.channel as usize].is_queue;
            is_queue && input.sent <= begin && begin.0 - input.sent.0 <= just
        };
        let taken = |input: &&Input| input.at.0 - begin.0 <= just;
        next.iter().take(SEVERAL).find(came).or_else(|| next.first().filter(taken)).copied()
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
        self.clocks = places.accounts.iter().map(|unit| unit.clock).collect();
        self.units = units.iter().map(|_| UnitRecord::default()).collect();
        self.parts = vec![String::new(); units.len()];
        let owner = |part: &str| {
            let (unit, _) = part.rsplit_once('.')?;
            self.names.iter().position(|name| name == unit)
        };
        let parts = &places.accounts[places.units..];
        let owners: Vec<_> = parts.iter().map(|part| owner(&part.name)).collect();
        let is_alone = |place: &Option<usize>| owners.iter().filter(|other| *other == place).count() == 1;
        self.owners = owners.iter().map(|owner| owner.filter(|_| is_alone(owner))).collect();
        for (owner, part) in self.owners.iter().zip(parts) {
            owner.iter().for_each(|owner| self.parts[*owner].clone_from(&part.name));
        }
        let number = |path: &str| self.names.iter().position(|name| name == path).map_or(u32::MAX, |n| n as u32);
        let lines = places.channels.iter().map(|channel| Line {
            path: channel.path.clone(),
            from: number(&channel.from),
            to: number(&channel.to),
            is_queue: channel.depth.is_some(),
        });
        self.lines = lines.collect();
        self.queued = vec![VecDeque::new(); self.lines.len()];
        self.least = vec![u64::MAX; self.lines.len()];
    }

    fn hears(&self, place: Place<'_>) -> bool {
        matches!(place, Place::Channel(_) | Place::Account(_))
    }

    fn passed(&mut self, ChannelTransfer { channel, sent, date, item, .. }: ChannelTransfer<'_>) {
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
        self.least[channel] = self.least[channel].min(time.0 - sent.0);
        let Line { from, to, .. } = self.lines[channel];
        if let Some(sender) = self.units.get_mut(from as usize) {
            sender.rooms.push((time, to));
        }
    }

    fn spell(&mut self, Spell { account, activity, from, to }: Spell) {
        let clock = self.clocks[account];
        let (from, to) = (clock.edge(from), clock.edge(to));
        let part = account.checked_sub(self.units.len());
        let owner = part.map_or(Some(account), |part| self.owners.get(part).copied().flatten());
        let Some(unit) = owner.and_then(|owner| self.units.get_mut(owner)) else { return };
        if part.is_none() {
            return unit.spells.push((from, to, activity));
        }
        match unit.part.last_mut() {
            _ if activity != Activity::Busy => {}
            Some(last) if last.1 == from => last.1 = to,
            _ => unit.part.push((from, to)),
        }
    }
}
