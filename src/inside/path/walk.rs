//! The walk from an end back to a beginning.

use super::{
    cause::causes,
    record::{Input, Recorder, UnitRecord},
};
use crate::{
    sim::{Activity, Stall},
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
    /// From when.
    pub from: Femtos,
    /// To when.
    pub to: Femtos,
}

/// What a place in one state has of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// The unit's path, or the channel's.
    pub place: String,
    /// As of a [`Part`].
    pub state: &'static str,
    /// How long in all.
    pub time: Femtos,
    /// In how many parts.
    pub parts: usize,
}

/// A path: its parts adjoin, the earliest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Path {
    /// Its parts.
    pub parts: Vec<Part>,
}

impl Path {
    /// By place and state, the longest first. They add up to the path's time.
    #[must_use]
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

    /// Its time.
    #[must_use]
    pub fn time(&self) -> Femtos {
        Femtos(self.parts.iter().map(|part| part.to.0 - part.from.0).sum())
    }
}

/// Stalls that end when the receiver of a queue makes room.
const fn waits_for_room(activity: Activity) -> bool {
    matches!(
        activity,
        Activity::Stall(Stall::LinkBusy | Stall::TagQueueFull | Stall::Submission | Stall::HbmBusy | Stall::EngineBusy)
    )
}

const fn state(activity: Activity) -> &'static str {
    match activity {
        Activity::Busy => "busy",
        Activity::Stall(stall) => stall.name(),
        Activity::Idle => "latency",
    }
}

impl UnitRecord {
    /// What came last at or before a time, of those that have this in common with what was sent, if there are any.
    pub(super) fn input(&self, at: Femtos, cause: Option<u64>) -> Option<Input> {
        let latest = |cause: u64| {
            let places = self.by_cause.get(&cause)?;
            let behind = places.partition_point(|&place| self.inputs[place as usize].at <= at);
            behind.checked_sub(1).map(|place| self.inputs[places[place] as usize])
        };
        let same = cause.and_then(|cause| causes(cause).into_iter().flatten().find_map(latest));
        same.or_else(|| {
            let behind = self.inputs.partition_point(|input| input.at <= at);
            behind.checked_sub(1).map(|place| self.inputs[place])
        })
    }

    /// The spell in which the instant before a time lies.
    fn spell_before(&self, at: Femtos) -> Option<(Femtos, Femtos, Activity)> {
        let behind = self.spells.partition_point(|spell| spell.0 < at);
        behind.checked_sub(1).map(|place| self.spells[place]).filter(|spell| spell.1 >= at)
    }

    /// Who made room last in (`from`, `to`), if the unit waited for that.
    fn room(&self, from: Femtos, to: Femtos) -> Option<(Femtos, u32)> {
        self.spell_before(to).filter(|spell| waits_for_room(spell.2))?;
        let behind = self.rooms.partition_point(|room| room.0 < to);
        behind.checked_sub(1).map(|place| self.rooms[place]).filter(|room| room.0 > from)
    }
}

/// A walk under way; parts are found the latest first.
struct Walk<'a> {
    record: &'a Recorder,
    parts: Vec<Part>,
    /// Before this instant nobody asks.
    until: Femtos,
}

impl Walk<'_> {
    /// The unit from one time to another, by its spells.
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

    fn go(&mut self, mut unit: usize, mut at: Femtos) {
        let mut cause = None;
        // A walk that does not get on ends.
        let mut still = 0;
        while at > self.until && still < 64 {
            let before = at;
            let record = &self.record.units[unit];
            let Some(input) = record.input(at, cause) else { break };
            let line = &self.record.lines[input.channel as usize];
            if let Some((made, by)) = record.room(input.at, at).filter(|(_, by)| self.is_unit(*by)) {
                self.charge(unit, made, at);
                (unit, at, cause) = (by as usize, made, None);
            } else {
                self.charge(unit, input.at, at);
                let spell = record.spell_before(input.at).filter(|spell| spell.2 == Activity::Busy);
                if let Some((begin, ..)) = spell.filter(|_| line.is_queue && input.at > self.until) {
                    self.charge(unit, begin, input.at);
                    (at, cause) = (begin, None);
                } else if self.is_unit(line.from) {
                    let (path, kind) = (line.path.clone(), if line.is_queue { "queue" } else { "flight" });
                    self.add(&path, kind, input.sent, input.at);
                    (unit, at, cause) = (line.from as usize, input.sent, input.cause);
                } else {
                    at = input.at;
                    break;
                }
            }
            still = if at < before { 0 } else { still + 1 };
        }
        let until = self.until;
        self.charge(unit, until, at);
    }

    fn is_unit(&self, unit: u32) -> bool {
        (unit as usize) < self.record.units.len()
    }
}

impl Recorder {
    /// The path that ends at a unit at a time and begins at another; none if there is no such unit.
    #[must_use]
    pub fn path(&self, unit: &str, at: Femtos, from: Femtos) -> Option<Path> {
        let unit = self.names.iter().position(|name| name == unit)?;
        Some(self.path_of(unit, at, from))
    }

    /// The same for the unit of this number.
    #[must_use]
    pub fn path_of(&self, unit: usize, at: Femtos, from: Femtos) -> Path {
        let mut walk = Walk { record: self, parts: Vec::new(), until: from };
        walk.go(unit, at);
        walk.parts.reverse();
        Path { parts: walk.parts }
    }
}
