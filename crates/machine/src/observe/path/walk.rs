//! The walk from an end back to a beginning.

use super::{
    cause::{ACK, CREDITS, causes},
    record::{Input, Recorder, UnitRecord},
};
use crate::{
    sim::{Activity, Stall, activity_name},
    units::Femtos,
};
use std::collections::BTreeMap;

/// A stretch of a path, within one unit or on one channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The unit's path, or the channel's.
    pub place: String,
    /// `busy`, a stall, or `latency` where the unit's account says nothing; `queue` or `flight` of a channel.
    pub state: &'static str,
    pub from: Femtos,
    pub to: Femtos,
}

/// What a place in one state has of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// The unit's path, or the channel's.
    pub place: String,
    /// As of a [`Part`].
    pub state: &'static str,
    pub time: Femtos,
    pub parts: usize,
}

/// A path: its parts adjoin, the earliest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Path {
    pub parts: Vec<Part>,
}

impl Path {
    /// By place and state, the longest first. They add up to the path's time.
    pub fn shares(&self) -> Vec<Share> {
        let mut shares: BTreeMap<(&str, &'static str), (u64, usize)> = BTreeMap::new();
        for part in &self.parts {
            let share = shares.entry((&part.place, part.state)).or_default();
            share.0 += part.to.0 - part.from.0;
            share.1 += 1;
        }
        let share = |((place, state), (time, parts)): ((&str, _), _)| Share {
            place: place.to_owned(),
            state,
            time: Femtos(time),
            parts,
        };
        let mut shares: Vec<_> = shares.into_iter().map(share).collect();
        shares.sort_by_key(|share| std::cmp::Reverse(share.time));
        shares
    }

    pub fn time(&self) -> Femtos {
        Femtos(self.parts.iter().map(|part| part.to.0 - part.from.0).sum())
    }
}

/// Stalls that end when the receiver of a queue makes room.
fn waits_for_room(activity: Activity) -> bool {
    matches!(
        Stall::of(activity),
        Some(Stall::LinkBusy | Stall::TagQueueFull | Stall::Submission | Stall::HbmBusy | Stall::EngineBusy)
    )
}

/// Whether a unit has so much to do that what is in its queues waits.
fn is_at_work(activity: Activity) -> bool {
    activity == Activity::Busy
        || matches!(Stall::of(activity), Some(Stall::ReadsInService | Stall::WritesInService | Stall::Recovery))
}

/// Stalls that end when the engine has taken what it has.
fn waits_for_engine(activity: Activity) -> bool {
    matches!(Stall::of(activity), Some(Stall::AesBusy | Stall::GhashBusy))
}

/// What ends a stall, where that comes over the link.
fn awaited(activity: Activity) -> Option<u64> {
    match Stall::of(activity)? {
        Stall::Credit => Some(CREDITS),
        Stall::ReplayFull => Some(ACK),
        _ => None,
    }
}

fn state(activity: Activity) -> &'static str {
    if activity == Activity::Idle { "latency" } else { activity_name(activity) }
}

/// The last of some that are in the order of time, among those for which `is_before` holds.
fn last_before<T: Copy>(all: &[T], is_before: impl FnMut(&T) -> bool) -> Option<T> {
    let behind = all.partition_point(is_before);
    behind.checked_sub(1).map(|place| all[place])
}

impl UnitRecord {
    /// What came last at or before a time, of those that have this in common with what was sent, if there are any.
    pub(super) fn input(&self, at: Femtos, cause: Option<u64>) -> Option<Input> {
        let same = cause.and_then(|cause| causes(cause).into_iter().flatten().find_map(|cause| self.latest(cause, at)));
        same.or_else(|| last_before(&self.inputs, |input| input.at <= at))
    }

    /// What came last at or before a time of what has this in common.
    fn latest(&self, cause: u64, at: Femtos) -> Option<Input> {
        let place = last_before(self.by_cause.get(&cause)?, |&place| self.inputs[place as usize].at <= at);
        place.map(|place| self.inputs[place as usize])
    }

    /// The spell in which the instant before a time lies.
    fn spell_before(&self, at: Femtos) -> Option<(Femtos, Femtos, Activity)> {
        last_before(&self.spells, |spell| spell.0 < at).filter(|spell| spell.1 >= at)
    }

    /// Who made room last in (`from`, `to`), if the unit waited for that.
    fn room(&self, from: Femtos, to: Femtos) -> Option<(Femtos, u32)> {
        self.spell_before(to).filter(|spell| waits_for_room(spell.2))?;
        self.room_before(to).filter(|room| room.0 > from)
    }

    /// Who made room last before a time.
    fn room_before(&self, to: Femtos) -> Option<(Femtos, u32)> {
        last_before(&self.rooms, |room| room.0 < to)
    }

    /// The stretch of its part's work in which the instant of a time lies.
    fn part_during(&self, at: Femtos) -> Option<(Femtos, Femtos)> {
        last_before(&self.part, |stretch| stretch.0 <= at).filter(|stretch| stretch.1 > at)
    }

    /// Since when its engine was at work without a break just before a time at which the unit waited for it.
    fn engine_at_work(&self, at: Femtos) -> Option<Femtos> {
        self.spell_before(at).filter(|spell| waits_for_engine(spell.2))?;
        last_before(&self.part, |stretch| stretch.0 < at).filter(|stretch| stretch.1 >= at).map(|stretch| stretch.0)
    }
}

/// Where a walk is: at a unit at a time, by what the unit sent then.
#[derive(Debug, Clone, Copy)]
struct Stand {
    unit: usize,
    at: Femtos,
    cause: Option<u64>,
}

/// A walk in progress; parts are found the latest first.
struct Walk<'a> {
    record: &'a Recorder,
    parts: Vec<Part>,
    /// Before this instant nobody asks.
    until: Femtos,
}

impl Walk<'_> {
    /// The unit from one time to another, by its busy intervals.
    fn charge(&mut self, unit: usize, from: Femtos, to: Femtos) {
        let from = from.max(self.until);
        let spells = &self.record.units[unit].spells;
        let mut at = to;
        let mut place = spells.partition_point(|spell| spell.0 < to);
        while at > from {
            place = place.saturating_sub(1);
            let known = spells.get(place).filter(|spell| spell.0 < at && spell.1 > from);
            let (begin, activity) = match known {
                // What lies behind the last spell was not charged.
                Some(spell) if spell.1 < at => (spell.1.max(from), Activity::Idle),
                Some(spell) => (spell.0.max(from), spell.2),
                None => (from, Activity::Idle),
            };
            if known.is_some_and(|spell| spell.1 < at) {
                place += 1;
            }
            self.add(&self.record.names[unit].clone(), state(activity), begin, at);
            at = begin;
        }
    }

    fn add(&mut self, place: &str, state: &'static str, from: Femtos, to: Femtos) {
        let from = from.max(self.until);
        if to <= from {
            return;
        }
        match self.parts.last_mut() {
            Some(part) if part.place == place && part.state == state && part.from == to => part.from = from,
            _ => self.parts.push(Part { place: place.to_owned(), state, from, to }),
        }
    }

    fn go(&mut self, unit: usize, at: Femtos) {
        let mut stand = Stand { unit, at, cause: None };
        // A walk that does not get on ends.
        let mut still = 0;
        while stand.at > self.until && still < 64 {
            let Some(next) = self.step(stand) else { break };
            still = if next.at < stand.at { 0 } else { still + 1 };
            stand = next;
        }
        self.charge(stand.unit, self.until, stand.at);
    }

    /// One step back; none where nothing came before.
    fn step(&mut self, Stand { unit, at, cause }: Stand) -> Option<Stand> {
        let record = &self.record.units[unit];
        if let Some(begin) = record.engine_at_work(at) {
            let part = self.record.parts[unit].clone();
            self.add(&part, "busy", begin, at);
            return Some(Stand { unit, at: begin, cause: None });
        }
        // What a link says of itself follows from what came last.
        let input = record.input(at, cause.filter(|cause| ![ACK, CREDITS].contains(cause)))?;
        let room = match cause {
            Some(CREDITS) => record.room_before(at).filter(|room| room.0 >= input.at),
            _ => record.room(input.at, at),
        };
        if let Some((made, by)) = room.filter(|(_, by)| self.is_unit(*by)) {
            self.charge(unit, made, at);
            return Some(Stand { unit: by as usize, at: made, cause: None });
        }
        self.charge(unit, input.at, at);
        if self.record.lines[input.channel as usize].is_queue
            && let Some((begin, _, activity)) = record.spell_before(input.at)
        {
            let awaited = awaited(activity).and_then(|cause| record.latest(cause, input.at));
            if let Some(given) = awaited.filter(|given| given.at > input.sent.max(begin)) {
                self.charge(unit, given.at, input.at);
                return Some(self.follow(given));
            }
            if is_at_work(activity) {
                self.charge(unit, begin.max(input.sent), input.at);
                if begin > input.sent || !self.record.queued_behind_others(&input) {
                    return Some(self.follow(Input { at: begin.max(input.sent), ..input }));
                }
                let starter = self.record.starter(unit, begin).filter(|starter| starter.at < input.sent);
                self.charge(unit, starter.map_or(begin, |starter| starter.at), input.sent);
                return Some(starter.map_or(Stand { unit, at: begin, cause: None }, |starter| self.follow(starter)));
            }
        }
        Some(self.follow(input))
    }

    /// From what came back to who sent it. What is sent for later, since an engine is at work on it, is the engine's until then.
    fn follow(&mut self, input: Input) -> Stand {
        let line = &self.record.lines[input.channel as usize];
        if !self.is_unit(line.from) {
            return Stand { unit: line.to as usize, at: input.at, cause: None };
        }
        let (from, path) = (line.from as usize, line.path.clone());
        let sender = &self.record.units[from];
        if let Some((begin, end)) = sender.part_during(input.sent).filter(|_| !line.is_queue) {
            let out = end.min(input.at);
            let part = self.record.parts[from].clone();
            self.add(&path, "flight", out, input.at);
            self.add(&part, "busy", begin, out);
            return Stand { unit: from, at: begin, cause: None };
        }
        self.add(&path, if line.is_queue { "queue" } else { "flight" }, input.sent, input.at);
        Stand { unit: from, at: input.sent, cause: input.cause }
    }

    fn is_unit(&self, unit: u32) -> bool {
        (unit as usize) < self.record.units.len()
    }
}

impl Recorder {
    /// The path that ends at a unit at a time and begins at another; none if there is no such unit.
    pub fn path(&self, unit: &str, at: Femtos, from: Femtos) -> Option<Path> {
        let unit = self.names.iter().position(|name| name == unit)?;
        Some(self.path_of(unit, at, from))
    }

    /// The same for the unit of this number.
    pub fn path_of(&self, unit: usize, at: Femtos, from: Femtos) -> Path {
        let mut walk = Walk { record: self, parts: Vec::new(), until: from };
        walk.go(unit, at);
        walk.parts.reverse();
        Path { parts: walk.parts }
    }
}
