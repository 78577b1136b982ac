//! What parts two runs, for people and as JSON.

use super::{table::Table, text::time};
use crate::observe::{
    events::Events,
    parting::{Parting, Seen},
    path::Share,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Serialize)]
pub struct EventRecord {
    pub time_fs: u64,
    pub channel: String,
    pub what: &'static str,
    /// Of which job, push or copy.
    pub number: u64,
    pub address: u64,
}

/// Time that something takes in one run and in the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The unit or channel.
    pub place: String,
    pub state: String,
    /// In the first run, in fs.
    pub one_fs: u64,
    pub other_fs: u64,
}

/// The first event that parts two runs.
#[derive(Debug, Clone, Serialize)]
pub struct First {
    pub event: EventRecord,
    /// When it is in each run, in fs.
    pub times_fs: [Option<u64>; 2],
    /// The last events that both have.
    pub before: Vec<EventRecord>,
    pub after: [Vec<EventRecord>; 2],
}

#[derive(Debug, Clone, Serialize)]
pub struct Difference {
    pub schema_version: u32,
    /// Whether every event of one is in the other at the same time.
    pub same: bool,
    /// When each ends, in ps: of lists of events, the last event.
    pub end_ps: [u64; 2],
    /// Events that are not in both at the same time, and all.
    pub events: [u64; 2],
    pub first: Option<First>,
    /// On the paths that set the ends, the greatest change first: they add up to the difference of the ends. None of lists of events.
    pub path: Option<Vec<Change>>,
    /// By unit and state, the greatest change first.
    pub units: Vec<Change>,
}

pub struct Side {
    pub events: Events,
    /// When it ends, in ps, and the shares of its path, if it was run.
    pub ran: Option<(u64, Vec<Share>)>,
}

fn record(seen: &Seen) -> EventRecord {
    let identity = seen.event.identity;
    let (what, number, address) = (identity.what, identity.number, identity.address);
    EventRecord { time_fs: seen.time, channel: seen.channel.clone(), what, number, address }
}

fn changes<'a>(sides: [BTreeMap<(&'a str, &'a str), u64>; 2]) -> Vec<Change> {
    let keys: BTreeSet<_> = sides.iter().flat_map(BTreeMap::keys).copied().collect();
    let change = |key: (&str, &str)| Change {
        place: key.0.to_owned(),
        state: key.1.to_owned(),
        one_fs: sides[0].get(&key).copied().unwrap_or(0),
        other_fs: sides[1].get(&key).copied().unwrap_or(0),
    };
    let mut changes: Vec<_> = keys.into_iter().map(change).filter(|change| change.one_fs != change.other_fs).collect();
    changes.sort_by_key(|change| std::cmp::Reverse(change.one_fs.abs_diff(change.other_fs)));
    changes
}

impl Difference {
    /// Of two runs that part there.
    pub fn new(sides: &[Side; 2], parting: Option<&Parting>) -> Self {
        let states = sides.each_ref().map(|side| {
            let states = side.events.states.iter();
            states.map(|((unit, state), time)| ((unit.as_str(), state.as_str()), *time)).collect()
        });
        let shares = |side: &Side| side.ran.as_ref().map(|(_, shares)| shares.clone());
        let paths = shares(&sides[0]).zip(shares(&sides[1]));
        let path =
            paths.map(|(one, other)| {
                changes([&one, &other].map(|shares| {
                    shares.iter().map(|share| ((share.place.as_str(), share.state), share.time.0)).collect()
                }))
            });
        let first = parting.map(|parting| First {
            event: record(&parting.event),
            times_fs: parting.times,
            before: parting.before.iter().map(record).collect(),
            after: parting.after.each_ref().map(|seen| seen.iter().map(record).collect()),
        });
        let count = sides[0].events.events.len() as u64;
        let (different, all) = parting.map_or((0, count), |parting| parting.different);
        Self {
            schema_version: super::SCHEMA_VERSION,
            same: parting.is_none(),
            end_ps: sides.each_ref().map(|side| side.ran.as_ref().map_or(side.events.end().picos(), |ran| ran.0)),
            events: [different, all],
            first,
            path,
            units: changes(states),
        }
    }

    /// For people: the `top` changes.
    pub fn text(&self, top: usize) -> String {
        let [one, other] = self.end_ps;
        let mut lines = Vec::new();
        match &self.first {
            None => lines.push(format!("the runs are the same: {} events, {}", self.events[1], time(one))),
            Some(first) => {
                lines.push(format!("{} and {}: the second {}", time(one), time(other), later(one, other)));
                lines.push(format!("{} of {} events are not in both at the same time", self.events[0], self.events[1]));
                lines.extend(first.lines());
            }
        }
        if let Some(path) = &self.path {
            lines.extend(table("on the paths that set the ends", path, top));
        }
        lines.extend(table("by unit", &self.units, top));
        lines.join("\n") + "\n"
    }
}

fn later(one: u64, other: u64) -> String {
    match one.cmp(&other) {
        std::cmp::Ordering::Equal => "ends at the same time".into(),
        std::cmp::Ordering::Less => format!("ends {} later", time(other - one)),
        std::cmp::Ordering::Greater => format!("ends {} earlier", time(one - other)),
    }
}

impl First {
    fn lines(&self) -> Vec<String> {
        let at = |time: Option<u64>| time.map_or_else(|| "never".into(), |fs| self::time(fs / 1000));
        let mut lines = vec![
            String::new(),
            format!("the first event that parts them: {}", self.event.words()),
            format!("  first run: {}; second run: {}", at(self.times_fs[0]), at(self.times_fs[1])),
        ];
        let mut show = |title: &str, events: &[EventRecord]| {
            lines.push(format!("{title}:"));
            lines.extend(
                events.iter().map(|event| format!("  {:>11}  {}", self::time(event.time_fs / 1000), event.words())),
            );
        };
        show("before it, in both", &self.before);
        show("from there on, in the first", &self.after[0]);
        show("from there on, in the second", &self.after[1]);
        lines
    }
}

impl EventRecord {
    fn words(&self) -> String {
        let address = if self.address == 0 { String::new() } else { format!(" at {:#x}", self.address) };
        format!("{} {} {}{address}", self.channel, self.what, self.number)
    }
}

fn table(title: &str, changes: &[Change], top: usize) -> Vec<String> {
    if changes.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new(&[title, "state", "first", "second", "change"], &[0, 1]);
    let signed = |one: u64, other: u64| {
        let sign = if other >= one { "+" } else { "-" };
        format!("{sign}{}", time(one.abs_diff(other) / 1000))
    };
    for change in changes.iter().take(top) {
        let (one, other) = (change.one_fs, change.other_fs);
        let [place, state] = [&change.place, &change.state].map(Clone::clone);
        table.row([place, state, time(one / 1000), time(other / 1000), signed(one, other)]);
    }
    let rest = changes.iter().skip(top);
    let (one, other) = rest.fold((0, 0), |sum, change| (sum.0 + change.one_fs, sum.1 + change.other_fs));
    if changes.len() > top {
        let place = format!("{} more", changes.len() - top);
        table.row([place, String::new(), time(one / 1000), time(other / 1000), signed(one, other)]);
    }
    std::iter::once(String::new()).chain(table.lines()).collect()
}
