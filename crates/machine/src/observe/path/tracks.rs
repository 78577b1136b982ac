//! What each unit was when, coarse enough to be drawn.

use super::record::{Recorder, UnitRecord};
use crate::{sim::Activity, units::Femtos};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitTrack {
    pub name: String,
    /// What it was, in the order of time; idle time has no slice.
    pub slices: Vec<UnitSlice>,
}

/// A stretch in which a unit was something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitSlice {
    pub from: Femtos,
    pub to: Femtos,
    /// What it was; of several short busy intervals, what it was longest.
    pub activity: Activity,
    pub spells: usize,
    /// Of a stall: which unit sent what ended it, and when.
    pub follows: Option<(usize, Femtos)>,
}

/// Short busy intervals in progress to one slice.
#[derive(Default)]
struct Short {
    from: Femtos,
    to: Femtos,
    times: BTreeMap<usize, (Femtos, Option<Activity>)>,
    spells: usize,
}

impl Short {
    fn add(&mut self, (from, to, activity): (Femtos, Femtos, Activity), sort: usize) {
        if self.spells == 0 {
            self.from = from;
        }
        self.to = to;
        self.spells += 1;
        let (time, known) = self.times.entry(sort).or_default();
        *time = Femtos(time.0 + to.0 - from.0);
        *known = Some(activity);
    }

    fn take(&mut self) -> Option<UnitSlice> {
        let Self { from, to, times, spells } = std::mem::take(self);
        let (_, activity) = times.into_values().max_by_key(|(time, _)| *time)?;
        Some(UnitSlice { from, to, activity: activity?, spells, follows: None })
    }
}

impl Recorder {
    /// By unit, in the order of their numbers: what it was. Spells shorter than `least` are drawn together where less than that lies between them.
    pub fn tracks(&self, least: Femtos) -> Vec<UnitTrack> {
        let track =
            |(name, unit): (&String, &UnitRecord)| UnitTrack { name: name.clone(), slices: self.slices(unit, least) };
        self.names.iter().zip(&self.units).map(track).collect()
    }

    fn slices(&self, unit: &UnitRecord, least: Femtos) -> Vec<UnitSlice> {
        let (mut slices, mut short) = (Vec::new(), Short::default());
        for &(from, to, activity) in &unit.spells {
            if activity == Activity::Idle {
                continue;
            }
            let sort = activity.stall().map_or(0, |stall| 1 + usize::from(stall));
            let is_short = to.0 - from.0 < least.0;
            if short.spells > 0 && (!is_short || from.0 - short.to.0 > least.0) {
                slices.extend(short.take());
            }
            if is_short {
                short.add((from, to, activity), sort);
            } else {
                let follows = if sort == 0 { None } else { self.ended_by(unit, from, to) };
                slices.push(UnitSlice { from, to, activity, spells: 1, follows });
            }
        }
        slices.extend(short.take());
        slices
    }

    /// Which unit sent what ended a wait, and when.
    fn ended_by(&self, unit: &UnitRecord, from: Femtos, to: Femtos) -> Option<(usize, Femtos)> {
        let input = unit.input(to, None).filter(|input| input.at > from)?;
        let sender = self.lines[input.channel as usize].from as usize;
        (sender < self.units.len()).then_some((sender, input.sent))
    }
}
