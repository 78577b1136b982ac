//! Collects candidates from the accounts of a copy's time.

use super::{
    Subject,
    engine::{self, Saved},
};
use crate::{
    config::MachineSpec,
    host::spec::CipherWork,
    sim::{Activity, Netlist, Stall, UnitInfo, activity_name},
    system::{
        machine::{Parts, Placed},
        outcome::{Candidate, Sort},
        request::Direction,
        shares::Shares,
    },
    units::{Cycles, Femtos, Frequency},
};
use serde::Serialize;
use std::{cmp::Ordering, rc::Rc};

/// The parameters of those tables of a machine whose fields depend on a choice: paths of all numbers, alphabetically.
#[derive(Debug)]
pub(in crate::system) struct Parameters {
    paths: Vec<String>,
}

impl Parameters {
    pub fn of(machine: &MachineSpec) -> Self {
        let mut paths = Vec::new();
        note("engine", &machine.engine, &mut paths);
        note("aead", &machine.aead, &mut paths);
        note("sm", &machine.sm, &mut paths);
        note("copy_engine.open_ghash", &machine.copy_engine.open_ghash, &mut paths);
        note("link.ide", &machine.link.ide, &mut paths);
        Self { paths }
    }
}

/// Notes the paths of a table's numbers.
fn note<T: Serialize>(table: &str, of: &T, into: &mut Vec<String>) {
    numbers(&serde_json::to_value(of).unwrap_or_default(), table, into);
}

fn numbers(json: &serde_json::Value, path: &str, into: &mut Vec<String>) {
    match json {
        // A clock holds for much at once.
        serde_json::Value::Object(map) => {
            let fields = map.iter().filter(|(key, _)| *key != "clock");
            fields.for_each(|(key, json)| numbers(json, &format!("{path}.{key}"), into));
        }
        serde_json::Value::Number(_) => into.push(path.to_owned()),
        serde_json::Value::String(text) if text.starts_with(|first: char| first.is_ascii_digit()) => {
            into.push(path.to_owned());
        }
        _ => {}
    }
}

/// A unit, what it was, and for which part of the copy's time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence {
    unit: usize,
    activity: Activity,
    pub fraction: f64,
}

/// A unit that works for more than this part of the time is the bottleneck, whatever others wait for.
const SATURATED: f64 = 0.95;

/// What the time in which an engine has work depends on: its parameters, how many engines there are, and how many messages there may be, of which one
/// can pass while another ends.
const OF_ENGINES: [&str; 6] = [
    "engine.",
    "aead.",
    "copy_engine.open_ghash",
    "copy_engine.engine_",
    "copy_engine.pces",
    "copy_engine.messages_in_flight",
];

/// How much of a copy's time a candidate can account for.
#[derive(Debug, Clone, Copy)]
struct Weight {
    sort: Sort,
    bound: f64,
    likely: f64,
    used: f64,
}

/// The names of units and of their parts, in the order of the accounts.
#[derive(Debug)]
pub(in crate::system) struct Names {
    all: Vec<String>,
    /// The place of the session's driver: what nobody waited for visibly shows there.
    driver: usize,
    /// The places of PCEs that read host memory, and of those that write it.
    readers: Vec<usize>,
    writers: Vec<usize>,
    /// The switch that the GPU is below.
    switch: Option<Placed>,
}

impl Names {
    /// As one of the GPUs sees them: its own as if it were the only one, the others not at all.
    pub fn of(netlist: &Netlist, parts: &Parts) -> Self {
        let alone = |unit: UnitInfo| parts.names.alone(&unit.name).unwrap_or_default();
        let all: Vec<_> = netlist.accounts().into_iter().map(alone).collect();
        let mut readers: Vec<_> = parts.gpu.pces.iter().map(|pce| usize::from(pce.id().0)).collect();
        let writers = readers.split_off(parts.pces.readers);
        let driver = usize::from(parts.host.driver.id().0);
        Self { all, driver, readers, writers, switch: parts.switch.clone() }
    }
}

pub(super) struct Finder<'r> {
    pub machine: &'r MachineSpec,
    pub subject: Subject,
    names: &'r Names,
    parameters: &'r Parameters,
    shares: &'r Shares,
    /// The part of the time that the engine of the copy had work.
    engine: f64,
    found: Vec<Found>,
}

/// A candidate in the making: most are too small to be told.
#[derive(Debug)]
struct Found {
    parameter: String,
    evidence: Evidence,
    weight: Weight,
}

impl<'r> Finder<'r> {
    pub fn new(
        machine: &'r MachineSpec,
        names: &'r Names,
        parameters: &'r Parameters,
        subject: Subject,
        shares: &'r Shares,
    ) -> Self {
        let mut finder = Self { machine, subject, names, parameters, shares, engine: 0.0, found: Vec::new() };
        if subject.direction != Direction::D2d {
            finder.engine = finder.engines().fraction;
        }
        finder
    }

    /// The names of units and meters, by place.
    fn names(&self) -> impl Iterator<Item = &'r str> {
        self.names.all.iter().map(String::as_str)
    }

    /// The switch that the GPU is below.
    pub const fn switch(&self) -> Option<&'r Placed> {
        self.names.switch.as_ref()
    }

    /// For how long any of these units and meters was something: the one that was so longest.
    fn longest(&self, places: impl Iterator<Item = usize>, activity: Activity) -> Evidence {
        let none = Evidence { unit: self.names.driver, activity, fraction: 0.0 };
        places.fold(none, |most, unit| {
            let fraction = self.shares.of(unit, activity);
            if fraction > most.fraction || most.fraction == 0.0 { Evidence { unit, activity, fraction } } else { most }
        })
    }

    /// For how long a unit, or a meter, was something.
    fn was(&self, unit: &str, activity: Activity) -> Evidence {
        self.longest(self.names().position(|name| name == unit).into_iter(), activity)
    }

    pub fn busy(&self, unit: &str) -> Evidence {
        self.was(unit, Activity::Busy)
    }

    pub fn stalled(&self, unit: &str, stall: Stall) -> Evidence {
        self.was(unit, Activity::Stall(stall))
    }

    /// The copy engines of the copy's direction.
    fn pces(&self) -> impl Iterator<Item = usize> {
        let pces = match self.subject.direction {
            Direction::D2h => &self.names.writers,
            Direction::H2d | Direction::D2d => &self.names.readers,
        };
        pces.iter().copied()
    }

    /// For how long one of these copy engines stalled for something.
    pub fn pce(&self, stall: Stall) -> Evidence {
        self.longest(self.pces(), Activity::Stall(stall))
    }

    /// For how long the engine of one of them was busy, or the one that they share.
    pub fn engines(&self) -> Evidence {
        let own = self.pces().flat_map(|pce| ["engine", "aes"].map(|part| format!("{}.{part}", self.names.all[pce])));
        let any: Vec<_> = own.chain(["gpu.engine", "gpu.ghash"].map(str::to_owned)).collect();
        let places = any.iter().filter_map(|engine| self.names().position(|name| name == engine));
        self.longest(places, Activity::Busy)
    }

    /// For how long one of them did nothing but send requests.
    pub fn pce_busy(&self) -> Evidence {
        self.longest(self.pces(), Activity::Busy)
    }

    /// For how long reads of host memory waited for others to come back.
    pub fn window(&self) -> Evidence {
        self.most([Stall::OutstandingReads, Stall::ReadTags, Stall::ReadBuffer].map(|stall| self.pce(stall)))
    }

    /// The one that was so for longest.
    pub fn most<const N: usize>(&self, all: [Evidence; N]) -> Evidence {
        let none = Evidence { unit: self.names.driver, activity: Activity::Idle, fraction: 0.0 };
        all.into_iter().fold(none, |most, one| if one.fraction > most.fraction { one } else { most })
    }

    /// The paths of numbers that begin so.
    pub fn numbers(&self, prefix: &str) -> Vec<&'r str> {
        self.parameters.paths.iter().map(String::as_str).filter(|path| path.starts_with(prefix)).collect()
    }

    /// Which part of the time that text takes in its engine each of these parameters of it saves.
    pub fn saved(&self, paths: &[&str]) -> Rc<Saved> {
        let Subject { direction, bytes, messages, .. } = self.subject;
        let message = bytes.div_ceil(messages.max(1));
        engine::trial(self.machine, paths, direction != Direction::D2h, message)
    }

    /// For which part of the time the copy engines of its direction had nothing to do, and no text in their engines. What is used up in front of them
    /// for longer waits for them.
    pub fn unused(&self) -> f64 {
        let used: f64 = self.pces().map(|pce| self.shares.used(pce)).sum();
        (1.0 - used.max(self.engine)).max(0.0)
    }

    /// For which part of the time they had nothing to do but to wait for data.
    pub fn starved(&self) -> f64 {
        let data = Activity::Stall(Stall::ReadData);
        let used: f64 = self.pces().map(|pce| self.shares.used(pce) - self.shares.of(pce, data)).sum();
        (1.0 - used).max(0.0)
    }

    /// A part of the copy's time.
    pub fn part(&self, time: Femtos, times: u64) -> f64 {
        let sum = time.0 as f64 * times as f64;
        if self.subject.time.0 == 0 { 0.0 } else { (sum / self.subject.time.0 as f64).min(1.0) }
    }

    /// How often a latency that nothing hides may occur: on the way there and back of each message and push, and at both ends.
    pub const fn round_trips(&self) -> u64 {
        4 * self.subject.messages + 4
    }

    /// A rate, which can account for all the time in which its unit is busy.
    pub fn rate(&mut self, parameter: &str, evidence: Evidence) {
        let likely = if evidence.fraction > SATURATED { 1.2 } else { 0.8 } * evidence.fraction;
        self.found(
            parameter,
            evidence,
            Weight { sort: Sort::Rate, bound: evidence.fraction, likely, used: evidence.fraction },
        );
    }

    /// A depth that was used up for a part of the time.
    pub fn depth(&mut self, parameter: &str, evidence: Evidence) {
        self.likely_depth(parameter, evidence, evidence.fraction);
    }

    /// A depth that was used up for a part of the time, and probably accounts for `likely` of it.
    pub fn likely_depth(&mut self, parameter: &str, evidence: Evidence, likely: f64) {
        let bound = evidence.fraction;
        self.found(parameter, evidence, Weight { sort: Sort::Depth, bound, likely, used: 0.0 });
    }

    /// A cost or a rate of a unit that also does other work: it accounts for `part` of the time, known from what the unit had to do.
    pub fn cost(&mut self, parameter: &str, evidence: Evidence, part: f64) {
        let likely = part.min(evidence.fraction);
        self.found(parameter, evidence, Weight { sort: Sort::Rate, bound: part, likely, used: likely });
    }

    /// A rate that can account for `bound` of the time, and does for `likely` of it.
    pub fn may(&mut self, parameter: &str, evidence: Evidence, bound: f64, likely: f64) {
        self.found(parameter, evidence, Weight { sort: Sort::Rate, bound, likely, used: likely });
    }

    /// Something that is no bottleneck by itself but may help.
    pub fn remedy(&mut self, parameter: &str, evidence: Evidence, bound: f64, likely: f64) {
        self.found(parameter, evidence, Weight { sort: Sort::Remedy, bound, likely, used: 0.0 });
    }

    /// A latency: it accounts for at most the time in which depths were used up by it, or for so many round trips.
    pub fn latency(&mut self, parameter: &str, evidence: Evidence, latency: Femtos) {
        self.likely_latency(parameter, evidence, latency, evidence.fraction);
    }

    /// A latency that accounts for at most the time of its evidence, and probably for less than `waits` of it. One that nothing waits for visibly can
    /// only show where the copy engines have nothing to do.
    pub fn likely_latency(&mut self, parameter: &str, evidence: Evidence, latency: Femtos, waits: f64) {
        let serial = self.part(latency, self.round_trips());
        let likely = 0.3 * if evidence.fraction > 0.0 { waits } else { serial.min(self.unused()) };
        let bound = serial.max(evidence.fraction);
        self.found(parameter, evidence, Weight { sort: Sort::Latency, bound, likely, used: 0.0 });
    }

    /// Whether the CPU's cipher seals or opens, rather than only copies.
    pub fn seals(&self) -> bool {
        self.machine.sealed_path() && matches!(self.machine.cipher.work, CipherWork::Seal | CipherWork::Reseal)
    }

    fn found(&mut self, parameter: &str, evidence: Evidence, mut weight: Weight) {
        // Nothing else spares more of the time than an engine is without work, and what accounts for a part of the time spares half of it.
        if !OF_ENGINES.iter().any(|table| parameter.starts_with(table)) {
            weight.likely = weight.likely.min(2.0 * (1.0 - self.engine));
        }
        match self.found.iter_mut().find(|known| known.parameter == parameter) {
            Some(known) if known.weight.likely >= weight.likely => {}
            Some(known) => (known.evidence, known.weight) = (evidence, weight),
            None => self.found.push(Found { parameter: parameter.to_owned(), evidence, weight }),
        }
    }

    /// All that can account for at least that part of the time, the likeliest first.
    pub fn candidates(mut self, least: f64) -> Vec<Candidate> {
        let mut found = std::mem::take(&mut self.found);
        found.retain(|found| found.weight.bound.min(1.0) >= least);
        found.sort_by(|one, other| other.weight.likely.partial_cmp(&one.weight.likely).unwrap_or(Ordering::Equal));
        found.into_iter().map(|found| self.candidate(found)).collect()
    }

    fn candidate(&self, Found { parameter, evidence, weight }: Found) -> Candidate {
        let unit = self.names.all.get(evidence.unit).cloned().unwrap_or_default();
        let state = match evidence.activity {
            Activity::Busy if unit == "host.cipher" && !self.seals() => "copying",
            other => activity_name(other),
        };
        let Weight { sort, bound, used, .. } = weight;
        let (state, bound) = (state.to_owned(), bound.min(1.0));
        Candidate { parameter, unit, state, fraction: evidence.fraction, bound, sort, used }
    }
}

pub(super) fn time(cycles: Cycles, clock: Frequency) -> Femtos {
    Femtos((u128::from(cycles.0) * 1_000_000_000_000_000 / u128::from(clock.0.max(1))).min(u128::from(u64::MAX)) as u64)
}
