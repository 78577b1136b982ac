//! Which short runs are made, and when they are enough.

use super::{
    ask::Sample,
    check::{Further, agrees, further},
    estimate::{Inestimable, estimate},
    parts::{Part, Unit, What, parts},
    points::{Estimate, Point},
    shorten::{Short, shorten},
};
use crate::{
    config::MachineSpec,
    pool,
    sim::{Control, SimulationError},
    system::{self, Outcome, RunError},
    workload::{Workload, collective::CollectiveTimes, direction_name},
};
use std::collections::BTreeMap;

/// Work whose time is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub machine: &'a MachineSpec,
    /// The work; only its timing counts.
    pub workload: &'a Workload,
    pub collectives: &'a CollectiveTimes,
    /// How much of it is simulated.
    pub sample: Sample,
    /// Short runs at the same time.
    pub threads: usize,
}

/// How much was simulated, and what the figures may be.
#[derive(Debug, Clone)]
pub struct Sampled {
    /// What the next two count.
    pub unit: Unit,
    /// Simulated, in all runs together.
    pub simulated: u64,
    pub of: u64,
    pub runs: usize,
    /// The least of each figure.
    pub low: Outcome,
    pub high: Outcome,
}

impl Sampled {
    /// That of a run of all of the work.
    pub fn all(workload: &Workload, outcome: &Outcome) -> Self {
        let bytes = workload.bytes();
        let (low, high) = (outcome.clone(), outcome.clone());
        Self { unit: Unit::Bytes, simulated: bytes, of: bytes, runs: 1, low, high }
    }
}

/// The outcome of some work, all of which is simulated if it is not sampled.
pub fn time(asked: Asked<'_>, observer: &(dyn Fn() -> Control + Sync)) -> Result<(Outcome, Sampled), RunError> {
    if let Some(both) = sample(asked, observer)? {
        return Ok(both);
    }
    let request = shorten(asked.workload, &[], &[]).request(asked.collectives)?;
    let outcome = system::run(asked.machine, request, &mut |_| observer())?;
    let sampled = Sampled::all(asked.workload, &outcome);
    Ok((outcome, sampled))
}

/// Parts that are made shorter: the longest. Each takes five runs more, so the others are left whole.
const MOST_PARTS: usize = 4;

/// The outcome of some work from short runs; none where all of it is to be simulated.
pub fn sample(
    asked: Asked<'_>,
    observer: &(dyn Fn() -> Control + Sync),
) -> Result<Option<(Outcome, Sampled)>, RunError> {
    let mut parts = parts(asked.machine, asked.workload);
    if let Sample::Most(messages) = asked.sample {
        parts.iter_mut().for_each(|part| part.at_most(messages.get()));
    }
    parts.retain(|part| part.lengths().is_some());
    parts.sort_by_key(|part| std::cmp::Reverse(part.weight()));
    parts.truncate(MOST_PARTS);
    if parts.is_empty() {
        return Ok(None);
    }
    let whole = shorten(asked.workload, &[], &[]);
    let mut runs = Runs { asked, observer, known: BTreeMap::new() };
    loop {
        let Some(shapes) = shapes(&parts) else { return Ok(None) };
        let shorts: Vec<Short> = shapes.iter().map(|lengths| shorten(asked.workload, &parts, lengths)).collect();
        let further = further(&parts).filter(|_| asked.sample == Sample::Auto);
        let check = further.as_ref().map(|further| shorten(asked.workload, &parts, &further.lengths));
        let cost = shorts.iter().chain(&check).map(Short::cost).fold(0, u64::saturating_add);
        let most = if asked.sample == Sample::Auto { whole.cost() / 2 } else { whole.cost() };
        if cost > most {
            return Ok(None);
        }
        let Some(estimate) = runs.estimate(&parts, &shapes, &shorts)? else { return Ok(None) };
        let enough = asked.sample != Sample::Auto || estimate.is_narrow(&parts);
        if enough && runs.survives(further.zip(check), &shapes, &shorts)? {
            return if exhausts(&estimate.middle) { Ok(None) } else { Ok(Some(runs.told(&parts, &whole, estimate))) };
        }
        parts.iter_mut().for_each(Part::lengthen);
    }
}

/// The lengths of all short runs: all parts shortest, then each alone longer.
fn shapes(parts: &[Part]) -> Option<Vec<Vec<u64>>> {
    let lengths: Vec<[u64; 6]> = parts.iter().map(Part::lengths).collect::<Option<_>>()?;
    let base: Vec<u64> = lengths.iter().map(|own| own[0]).collect();
    let mut shapes = vec![base.clone()];
    for (place, own) in lengths.iter().enumerate() {
        for &length in &own[1..] {
            let mut shape = base.clone();
            shape[place] = length;
            shapes.push(shape);
        }
    }
    Some(shapes)
}

/// Messages of a direction under one key that the counter of IVs has numbers for.
const MOST_MESSAGES: u64 = u32::MAX as u64;

/// Whether a channel would run out of IVs, which ends it.
fn exhausts(outcome: &Outcome) -> bool {
    let mut messages: BTreeMap<(usize, &str), u64> = BTreeMap::new();
    for copy in &outcome.copies {
        *messages.entry((copy.gpu, direction_name(copy.direction))).or_default() += copy.messages;
    }
    messages.values().any(|messages| *messages >= MOST_MESSAGES)
}

/// The short runs so far, by their lengths.
struct Runs<'a> {
    asked: Asked<'a>,
    observer: &'a (dyn Fn() -> Control + Sync),
    known: BTreeMap<Vec<u64>, (Outcome, u64)>,
}

impl Runs<'_> {
    /// Makes the runs that are not known; none if a copy does not arrive, or not all of it as it should.
    fn estimate(
        &mut self,
        parts: &[Part],
        shapes: &[Vec<u64>],
        shorts: &[Short],
    ) -> Result<Option<Estimate>, RunError> {
        let Asked { machine, collectives, threads, .. } = self.asked;
        let new: Vec<_> = shapes.iter().zip(shorts).filter(|(shape, _)| !self.known.contains_key(*shape)).collect();
        let work = |(_, short): &(&Vec<u64>, &Short)| -> Result<Outcome, RunError> {
            system::run(machine, short.request(collectives)?, &mut |_| (self.observer)())
        };
        let outcomes = pool::map(&new, threads, |(_, short)| short.cost(), work)?;
        for ((shape, short), outcome) in new.into_iter().zip(outcomes) {
            let made = outcome.copies.iter().take(short.places.len());
            if made.clone().any(|copy| !copy.delivered) || !outcome.incidents.is_empty() {
                return Ok(None);
            }
            self.known.insert(shape.clone(), (outcome, short.bytes()));
        }
        let point = |(shape, short): (&Vec<u64>, &Short)| {
            let (outcome, _) = self.known.get(shape)?;
            Some(Point { lengths: shape.clone(), outcome: outcome.clone(), places: short.places.clone() })
        };
        let points: Option<Vec<Point>> = shapes.iter().zip(shorts).map(point).collect();
        let Some((base, rest)) = points.as_deref().and_then(<[Point]>::split_first) else { return Ok(None) };
        let longer: Vec<Vec<Point>> = rest.chunks(5).map(<[Point]>::to_vec).collect();
        match estimate(parts, base, &longer) {
            Ok(found) => Ok(Some(found)),
            Err(Inestimable::Unlike) => Ok(None),
            Err(Inestimable::TooLong) => Err(RunError::Simulation(SimulationError::TimeOverflow)),
        }
    }

    /// Whether a longer run, if there is one, comes out as the short ones say.
    fn survives(
        &mut self,
        check: Option<(Further, Short)>,
        shapes: &[Vec<u64>],
        shorts: &[Short],
    ) -> Result<bool, RunError> {
        let Some((Further { parts, lengths }, short)) = check else { return Ok(true) };
        let Some(estimate) = self.estimate(&parts, shapes, shorts)? else { return Ok(false) };
        let Asked { machine, collectives, .. } = self.asked;
        let outcome = system::run(machine, short.request(collectives)?, &mut |_| (self.observer)())?;
        let agrees = agrees(&estimate, &outcome);
        self.known.insert(lengths, (outcome, short.bytes()));
        Ok(agrees)
    }

    fn told(&self, parts: &[Part], whole: &Short, estimate: Estimate) -> (Outcome, Sampled) {
        let Estimate { middle, low, high } = estimate;
        let turns = |part: &Part| matches!(part.what, What::Turns(_));
        let bytes =
            (Unit::Bytes, self.known.values().map(|(_, bytes)| *bytes).fold(0, u64::saturating_add), whole.bytes());
        let (unit, simulated, of) = match parts.iter().position(turns) {
            Some(place) if parts.len() == 1 || bytes.2 == 0 => {
                (Unit::Turns, self.known.keys().filter_map(|lengths| lengths.get(place)).sum(), parts[place].whole)
            }
            _ => bytes,
        };
        (middle, Sampled { unit, simulated, of, runs: self.known.len(), low, high })
    }
}
