//! Every single fault of a copy, once in every distinct state of what it upsets.
//!
//! | what is struck | a distinct state | left to one representative |
//! | --- | --- | --- |
//! | an item that passes a channel | each transfer in a run without a fault; of a flip, each field of the item | the bit within it |
//! | an entry or a verdict of the tag queue | each time that it is written | the bit |
//! | a register of a copy engine's engine | each cycle of a message in which it holds a value | the bit |
//!
//! The payload, and the bit, follow from a seed that is another one in each run. *Members* are drawn among all states, struck at another bit of other
//! bytes, and compared with the representative of theirs.

use super::{CampaignError, Question, Signal, count, judge::Ran, patience};
use crate::{
    aead::spec::EngineSpec,
    config::MachineSpec,
    gcm::{message::SealOpen, names::Names, upset},
    pool,
    sim::{Aim, Control, FaultKind, Injection, Kernel, When},
    system::{self, DataMode, Direction, FaultClass, RunError, engine_of, fault_points, registers},
    units::Femtos,
    workload::{InjectionArgument, Workload, collective::CollectiveTimes},
};
use rand::{Rng, SeedableRng, seq::index};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::{collections::BTreeMap, iter};

/// What lies between the path of a copy engine and the name of a register in its engine.
const ENGINE: &str = ".engine.";

/// What is asked beyond the machine, its copies and the seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    /// Most states of a point that are tried, drawn evenly; without it all are.
    pub per_point: Option<usize>,
    /// Members that are compared with their representatives.
    pub members: usize,
}

/// What every single fault came to. Every field is described in `docs/results.md`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Single {
    /// By point, those that nothing passes with no state.
    pub points: Vec<PointTally>,
    pub total: Tally,
    /// Members that were drawn and activated, and those whose class was that of their representative.
    pub members: u64,
    pub agreed: u64,
    /// The others, as `--inject` takes them, with the class of the representative and their own.
    pub disagreements: Vec<(String, Option<FaultClass>, Option<FaultClass>)>,
    /// Faults in whose runs the simulator contradicts itself, as `--inject` takes them, and how.
    pub findings: Vec<(String, String)>,
}

#[derive(Debug, Clone, Serialize)]
pub struct PointTally {
    /// The place and the kind of fault.
    pub point: String,
    pub states: u64,
    #[serde(flatten)]
    pub tally: Tally,
}

/// Faults by what they came to.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Tally {
    /// Runs, and those whose fault was activated.
    pub tried: u64,
    pub struck: u64,
    pub harmless: u64,
    pub detected: u64,
    pub silent: u64,
    pub hang: u64,
    /// By which unit and what signal, and how often.
    pub detected_by: BTreeMap<String, u64>,
    /// From activation to signal, in ps.
    #[serde(skip)]
    pub latencies: Vec<u64>,
}

impl Tally {
    fn add(&mut self, judged: &Judged) {
        self.tried += 1;
        let Some(class) = judged.class else { return };
        self.struck += 1;
        match class {
            FaultClass::Harmless => self.harmless += 1,
            FaultClass::Detected => self.detected += 1,
            FaultClass::Silent => self.silent += 1,
            FaultClass::Hang => self.hang += 1,
        }
        if let Some((signal, latency)) = &judged.signal {
            let repaired = if signal.corrected { " (repaired)" } else { "" };
            *self.detected_by.entry(format!("{} {}{repaired}", signal.unit, signal.signal)).or_default() += 1;
            self.latencies.push(*latency);
        }
    }

    /// Those of another one in addition.
    pub fn join(&mut self, other: &Self) {
        for (sum, part) in [
            (&mut self.tried, other.tried),
            (&mut self.struck, other.struck),
            (&mut self.harmless, other.harmless),
            (&mut self.detected, other.detected),
            (&mut self.silent, other.silent),
            (&mut self.hang, other.hang),
        ] {
            *sum += part;
        }
        for (signal, count) in &other.detected_by {
            *self.detected_by.entry(signal.clone()).or_default() += count;
        }
        self.latencies.extend(&other.latencies);
    }

    /// The share of faults with an effect that is detected: diagnostic coverage, with Clopper and Pearson's 95 % bounds; none without an effect.
    pub fn coverage(&self) -> Option<(f64, [f64; 2])> {
        let effective = self.detected + self.silent + self.hang;
        let share = self.detected as f64 / effective as f64;
        (effective > 0).then(|| (share, clopper_pearson(self.detected, effective)))
    }

    /// The median and the greatest of the latencies, in ps.
    pub fn latency(&self) -> Option<(u64, u64)> {
        let mut sorted = self.latencies.clone();
        sorted.sort_unstable();
        Some((*sorted.get(sorted.len() / 2)?, *sorted.last()?))
    }
}

/// The exact 95 % interval of a share of which `count` of `all` independent draws were seen (C. J. Clopper and E. S. Pearson, Biometrika 26, 1934).
pub fn clopper_pearson(count: u64, all: u64) -> [f64; 2] {
    if all == 0 {
        return [0.0, 1.0];
    }
    // The chance of `count` or fewer at a share grows as the share falls.
    let below = |count: u64, share: f64| {
        let (mut log, mut sum) = (all as f64 * (1.0 - share).ln(), 0.0);
        for k in 0..=count {
            sum += log.exp();
            log += ((all - k) as f64 / (k + 1) as f64).ln() + share.ln() - (1.0 - share).ln();
        }
        sum
    };
    let solve = |count: u64, chance: f64| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let share = (low + high) / 2.0;
            if below(count, share) > chance { low = share } else { high = share }
        }
        (low + high) / 2.0
    };
    let low = if count == 0 { 0.0 } else { solve(count - 1, 0.975) };
    [low, if count == all { 1.0 } else { solve(count, 0.025) }]
}

/// A fault in a state of a point of the copy with this number.
struct Fault {
    copy: usize,
    point: usize,
    injection: Injection,
}

struct Judged {
    class: Option<FaultClass>,
    signal: Option<(Signal, u64)>,
    finding: Option<String>,
}

/// Tries every single fault of each copy of the question's workload, one copy after the other in a machine of its own.
pub fn single(
    question: &Question,
    extent: Extent,
    threads: usize,
    observer: &(dyn Fn() -> Control + Sync),
    (begun, ended): (&dyn Fn(u64), &(dyn Fn() + Sync)),
) -> Result<Single, CampaignError> {
    let copies = question.workload.copies.iter().map(|copy| Question {
        workload: Workload { copies: vec![*copy], steps: None, ..question.workload.clone() },
        ..question.clone()
    });
    let copies: Vec<_> = copies.collect();
    let none = CollectiveTimes::default();
    let mut points: BTreeMap<String, Vec<(usize, Injection)>> = BTreeMap::new();
    let mut sound = Vec::new();
    for (number, one) in copies.iter().enumerate() {
        sound.push(states(one, &none, observer, &mut |point, injection| {
            points.entry(point).or_default().extend(injection.map(|injection| (number, injection)));
        })?);
    }
    let mut random = ChaCha8Rng::seed_from_u64(question.seed);
    let mut faults = Vec::new();
    for (point, (_, states)) in points.iter().enumerate() {
        let most = extent.per_point.unwrap_or(usize::MAX).min(states.len());
        let mut drawn = index::sample(&mut random, states.len(), most).into_vec();
        drawn.sort_unstable();
        faults.extend(drawn.into_iter().map(|place| {
            let (copy, injection) = states[place].clone();
            Fault { copy, point, injection }
        }));
    }
    let members: Vec<_> = match faults.len() {
        0 => Vec::new(),
        all => (0..extent.members).map(|_| random.random_range(0..all)).collect(),
    };
    begun((faults.len() + members.len()) as u64);
    let go = |place: usize, seed: u64| {
        let fault = &faults[place];
        let judged = judge(&copies[fault.copy], &none, sound[fault.copy], (&fault.injection, seed), observer)?;
        ended();
        Ok(judged)
    };
    let all: Vec<_> = (0..faults.len()).collect();
    let judged = pool::map(&all, threads, |_| 1, |&place| go(place, question.seed.wrapping_add(place as u64)))?;
    let drawn: Vec<_> = members.into_iter().enumerate().collect();
    let other = question.seed.wrapping_add(1 << 32);
    let again =
        pool::map(&drawn, threads, |_| 1, |&(number, place)| go(place, other.wrapping_add(number as u64 * 67)))?;
    let tally = |(point, states): (&String, &Vec<_>)| PointTally {
        point: point.clone(),
        states: states.len() as u64,
        tally: Tally::default(),
    };
    let mut single = Single { points: points.iter().map(tally).collect(), ..Single::default() };
    for (fault, judged) in faults.iter().zip(&judged) {
        single.points[fault.point].tally.add(judged);
        single.total.add(judged);
        let finding = judged.finding.iter().map(|finding| (shown(&fault.injection), finding.clone()));
        single.findings.extend(finding);
    }
    for ((_, place), member) in drawn.iter().zip(&again).filter(|(_, member)| member.class.is_some()) {
        single.members += 1;
        let (mine, theirs) = (judged[*place].class, member.class);
        if mine == theirs {
            single.agreed += 1;
        } else {
            single.disagreements.push((shown(&faults[*place].injection), mine, theirs));
        }
    }
    Ok(single)
}

fn shown(injection: &Injection) -> String {
    InjectionArgument(injection.clone()).to_string()
}

/// Tells of every point, and of each state of it; gives the time without a fault.
fn states(
    question: &Question,
    none: &CollectiveTimes,
    observer: &(dyn Fn() -> Control + Sync),
    tell: &mut dyn FnMut(String, Option<Injection>),
) -> Result<Femtos, CampaignError> {
    let machine = &question.machine;
    let all = fault_points(machine).map_err(CampaignError::Sound)?;
    let engines = engines(machine).map_err(CampaignError::Sound)?;
    let stored = registers(machine).map_err(CampaignError::Sound)?.into_iter().filter(|place| !place.contains(ENGINE));
    let stored: Vec<_> = stored.collect();
    let probes: Vec<_> = engines.values().filter_map(|registers| registers.first()).chain(&stored).collect();
    let probes: Vec<_> = probes.iter().map(|place| Injection::nth(place.as_str(), FaultKind::Flip, u64::MAX)).collect();
    let (outcome, passed) = count(question, none, probes, observer)?;
    let passed = |place: &str, kind: FaultKind| {
        let point = passed.iter().find(|point| point.place == place && point.kind == kind);
        point.map_or(0, |point| point.passed)
    };
    // Copies of too many messages are refused before all else is told.
    for (engine, registers) in &engines {
        registers.iter().for_each(|register| tell(format!("{register}.flip"), None));
        let messages = registers.first().map_or(0, |first| passed(first, FaultKind::Flip));
        let Some(states) = engine_states(question, engine).filter(|_| messages > 0) else { continue };
        if messages > 1 {
            return Err(CampaignError::Messages { messages });
        }
        for (register, cycle) in states {
            if observer() == Control::Stop {
                return Err(CampaignError::Stopped);
            }
            let place = format!("{engine}{ENGINE}{register}");
            let aim = Aim { cycle: Some(cycle), ..Aim::default() };
            let injection = Injection { place: place.clone(), kind: FaultKind::Flip, when: When::Message(1), aim };
            tell(format!("{place}.flip"), Some(injection));
        }
    }
    for point in &all {
        for &kind in &point.kinds {
            let name = format!("{}.{}", point.place, kind.name());
            tell(name.clone(), None);
            for transfer in 1..=passed(&point.place, kind) {
                let injection = Injection::nth(point.place.clone(), kind, transfer);
                match point.selectors.fields {
                    fields if kind == FaultKind::Flip && !fields.is_empty() => fields.iter().for_each(|field| {
                        let aim = Aim { field: Some((*field).to_owned()), ..Aim::default() };
                        tell(name.clone(), Some(Injection { aim, ..injection.clone() }));
                    }),
                    _ => tell(name.clone(), Some(injection)),
                }
            }
        }
    }
    for place in &stored {
        tell(format!("{place}.flip"), None);
        for passage in 1..=passed(place, FaultKind::Flip) {
            tell(format!("{place}.flip"), Some(Injection::nth(place.as_str(), FaultKind::Flip, passage)));
        }
    }
    Ok(outcome.end)
}

/// The registers of every engine, by the path of its PCE.
fn engines(machine: &MachineSpec) -> Result<BTreeMap<String, Vec<String>>, RunError> {
    let mut engines: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for place in registers(machine)? {
        if let Some((engine, _)) = place.split_once(ENGINE) {
            engines.entry(engine.to_owned()).or_default().push(place);
        }
    }
    Ok(engines)
}

/// Every register of an engine in each cycle of the question's only copy in which it holds a value. They are looked for when the first is asked for.
fn engine_states(question: &Question, pce: &str) -> Option<impl Iterator<Item = (String, u64)>> {
    let copy = *question.workload.copies.first()?;
    let EngineSpec::Gcm(spec) = engine_of(&question.machine, copy.gpu, pce)? else { return None };
    let direction = match copy.direction {
        Direction::H2d => SealOpen::Open,
        Direction::D2h => SealOpen::Seal,
        _ => return None,
    };
    let names = Names::all(&spec)?;
    let engine = upset::rested(&spec, &vec![0; spec.key_bits as usize / 8])?;
    let states = iter::once_with(move || upset::states(engine, copy.bytes, direction)).flatten();
    Some(states.filter_map(move |state| Some((names.name(state.register)?.to_string(), state.cycle))))
}

fn judge(
    question: &Question,
    none: &CollectiveTimes,
    sound: Femtos,
    (injection, seed): (&Injection, u64),
    observer: &(dyn Fn() -> Control + Sync),
) -> Result<Judged, CampaignError> {
    let workload = Workload {
        data: DataMode::Exact,
        kernel: Kernel::Skip,
        seed,
        injections: vec![injection.clone()],
        ..question.workload.clone()
    };
    let ran = Ran::of(&question.machine, (&workload, none), patience(question, sound), observer);
    if observer() == Control::Stop {
        return Err(CampaignError::Stopped);
    }
    let system::FaultVerdict { class, error, latency } = ran.came_to();
    let signal = error.map(Signal::of).zip(latency.map(Femtos::picos));
    // What goes wrong inside an engine may be verified and wrong.
    let verified = question.machine.sealed_path() && !injection.place.contains(ENGINE);
    Ok(Judged { class, signal, finding: ran.fault(verified) })
}
