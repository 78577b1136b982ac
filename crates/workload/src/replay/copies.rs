//! What copies take: a simulation for each distinct one, shared by all that are like it. Where a machine says that a copy depends on those before it, see
//! [`history`](super::history).

use super::{
    Ns,
    collectives::Collectives,
    error::ReplayError,
    far::{Far, LONG, PILOT},
    history::Histories,
    job::Way,
    long::pieces,
    ops::Sparse,
    probe::Probed,
    rules::ns,
};
use crate::{
    config::MachineSpec,
    host::{Stride, map},
    pool,
    sampling::{self, Asked, Sample},
    sim::Control,
    system::{self, Memory, Operation, Outcome, Pages, Request, Step},
    units::Femtos,
    workload::{Copy, Workload, WorkloadStep, collective::CollectiveTimes},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

/// What the duration of a copy depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CopyKey {
    pub way: Way,
    /// Bytes, at least 1.
    pub bytes: u64,
    pub memory: Memory,
    /// State of that memory.
    pub pages: Pages,
    /// KiB of other buffers that are warm, and how many the largest has.
    pub beside: (u32, u32),
    /// Whether it has waited for its stream until all was ready that can be.
    pub waited: bool,
}

impl CopyKey {
    /// The copies that are simulated for it, each with how often it comes: more than one if it is very long and not to be sampled.
    pub(super) fn simulated(&self, sample: Option<Sample>) -> Vec<(Self, u64)> {
        if sample.is_some() {
            return vec![(*self, 1)];
        }
        let there = pieces(self.bytes).into_iter().filter(|(bytes, count)| bytes * count > 0);
        there.map(|(bytes, count)| (Self { bytes, ..*self }, count)).collect()
    }
}

/// A copy by itself on an idle machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CopyTime {
    /// From the call to the first byte that the GPU moves.
    pub before: Ns,
    /// From there to the last.
    pub span: Ns,
    /// From there to the return of a call that waits for it.
    pub after: Ns,
    /// From the call to its return where it need not wait: less than all of it where the law lets it go on.
    pub returns: Ns,
    /// Of one that is staged and not sealed.
    pub pieces: Option<Pieces>,
}

/// The turns that a copy has at its engine whose pieces the host stages one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pieces {
    /// Turns after the next one, and how many of them come at once.
    pub left: u64,
    pub at_once: u64,
    /// From the next turn to the first that does not come at once, and from there to each other.
    pub first: Ns,
    pub every: Ns,
    /// How long a piece has the engine, and the last one.
    pub busy: Ns,
    pub last: Ns,
    /// How late a piece may be before the host waits for it.
    pub slack: Ns,
}

impl CopyTime {
    pub const fn call(&self) -> Ns {
        self.before.saturating_add(self.span).saturating_add(self.after)
    }
}

/// What a copy waits for that is to be ready: longer than sealing all that can be in flight.
const WAIT: Femtos = Femtos(100_000_000_000_000);

/// A copy has no more turns at its engine: pieces of longer ones are taken together.
const MOST_TURNS: u64 = 256;

/// Copies of a request that stand for other buffers.
const MOST_BESIDE: u64 = 128;

/// How many copies there were, and how many simulations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Counts {
    pub simulated: u64,
    /// Copies that share one of these.
    pub shared: u64,
}

/// Which end of the intervals of copies is played, where they are sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum End {
    /// The least that copies may take.
    Low,
    /// What they are estimated to take.
    #[default]
    Middle,
    High,
}

/// What a copy takes: least, estimated and most, which are the same unless it was sampled; with how many bytes of it were simulated, and in how many runs.
#[derive(Debug, Clone, Copy)]
struct Measured {
    times: [CopyTime; 3],
    simulated: u64,
    runs: usize,
}

/// Times of copies that were simulated, so that none is simulated twice.
#[derive(Debug, Default)]
pub struct Known {
    copies: Mutex<BTreeMap<String, BTreeMap<CopyKey, Measured>>>,
    /// Of copies on machines where they depend on those before them.
    pub(super) histories: Histories,
    pub(super) calls: Probed,
    pub(super) far: Far,
    pub(super) collectives: Collectives,
}

impl Known {
    /// Bytes of copies that were simulated, those of all that were asked for, and in how many runs.
    pub fn work(&self) -> (u64, u64, usize) {
        let copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let all = copies.values().flatten();
        all.fold(self.histories.work(), |(part, all, runs): (u64, u64, usize), (key, one)| {
            (part.saturating_add(one.simulated), all.saturating_add(key.bytes), runs + one.runs)
        })
    }

    /// Bytes of copies that are simulated, and of how many, as far as that is known.
    pub fn far(&self) -> (u64, u64) {
        self.far.told()
    }

    /// Notes that somebody watches how far simulations are, who expects so many bytes in all.
    pub fn watch(&self, bytes: u64) {
        self.far.watch(bytes);
    }

    fn of(&self, machine: &str) -> BTreeMap<CopyKey, Measured> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner).get(machine).cloned().unwrap_or_default()
    }

    fn note(&self, machine: &str, times: &BTreeMap<CopyKey, Measured>) {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner).insert(machine.to_owned(), times.clone());
    }
}

#[derive(Clone, Copy)]
pub struct Simulator<'a> {
    /// Simulations at the same time.
    pub threads: usize,
    /// Asked now and then.
    pub go_on: &'a (dyn Fn() -> Control + Sync),
    /// Told of each simulation.
    pub progress: &'a (dyn Fn() + Sync),
    pub known: &'a Known,
    /// How much of each copy is simulated, if not all.
    pub sample: Option<Sample>,
    pub end: End,
}

/// What copies take on a machine, which its name identifies, in their order; those that are alike share one simulation.
pub fn times(
    (name, machine): (&str, &MachineSpec),
    keys: &Sparse<CopyKey>,
    simulator: Simulator<'_>,
) -> Result<(Sparse<CopyTime>, Counts), ReplayError> {
    let asked: BTreeSet<CopyKey> = keys.0.iter().map(|(_, key)| *key).collect();
    let pieces = |key: &CopyKey| key.simulated(simulator.sample);
    let distinct: BTreeSet<CopyKey> = asked.iter().flat_map(pieces).map(|(key, _)| key).collect();
    let mut known = simulator.known.of(name);
    let new: Vec<CopyKey> = distinct.iter().copied().filter(|key| !known.contains_key(key)).collect();
    simulator.known.far.ask(new.iter().map(|key| key.bytes).fold(0, u64::saturating_add));
    let work = |key: &CopyKey| {
        let time = measure(machine, *key, simulator);
        (simulator.progress)();
        time
    };
    let found = pool::map(&new, simulator.threads, |key| key.bytes, work)?;
    known.extend(new.into_iter().zip(found));
    simulator.known.note(name, &known);
    let known: BTreeMap<_, _> =
        known.into_iter().map(|(key, measured)| (key, measured.times[simulator.end as usize])).collect();
    let time = |(key, count): (CopyKey, u64)| Some((*known.get(&key)?, count));
    let long = |key: &CopyKey| in_all(pieces(key).into_iter().map(time).collect::<Option<Vec<_>>>()?);
    let times = keys.filter_map(|_, key| long(&key));
    let all = keys.0.len() as u64;
    Ok((times, Counts { simulated: distinct.len() as u64, shared: all - asked.len() as u64 }))
}

/// What copies take, one behind the other, each as often as it comes. `None`: there is none.
pub(super) fn in_all(copies: impl IntoIterator<Item = (CopyTime, u64)>) -> Option<CopyTime> {
    let mut all: Option<CopyTime> = None;
    for (one, count) in copies {
        let (so_far, more) = match all {
            Some(all) => (all, count),
            None => (one, count.saturating_sub(1)),
        };
        let span = so_far.span.saturating_add(one.call().saturating_mul(more));
        let pieces = so_far.pieces.filter(|_| more == 0);
        all = Some(CopyTime { span, pieces, ..so_far });
    }
    all
}

/// Simulates one copy, which waits for its end; `at` is called with the time, in ns, while it is.
fn simulate(
    machine: &MachineSpec,
    key: CopyKey,
    go_on: &dyn Fn() -> Control,
    at: &mut dyn FnMut(Ns),
) -> Result<CopyTime, ReplayError> {
    let CopyKey { way, bytes, memory, pages, beside, waited } = key;
    let mut request = match way {
        Way::H2d => Request::h2d(bytes),
        Way::D2h => Request::d2h(bytes),
    }
    .without_data();
    for copy in &mut request.copies {
        (copy.memory, copy.pages) = (memory, pages);
    }
    // A copy that no step makes only has its buffer.
    let [mut left, largest] = [beside.0, beside.1].map(|kib| u64::from(kib) << 10);
    let each = largest.max(left.div_ceil(MOST_BESIDE)).clamp(1, map::WINDOW.0);
    while left > 0 && request.copies.len() <= MOST_BESIDE as usize {
        let part = each.min(left);
        let mut other = Request::h2d(part).without_data().copies.swap_remove(0);
        other.buffer = request.copies.len() as u32;
        request.copies.push(other);
        left -= part;
    }
    let kernel = waited.then_some(Operation::kernel(WAIT));
    let operations = kernel.into_iter().chain([Operation::Copy { copy: 0, blocking: false }, Operation::Sync]);
    request.program = operations.map(|operation| Step { gpu: 0, stream: 0, operation }).collect();
    let mut observer = |now| {
        at(ns(now));
        go_on()
    };
    let outcome = system::run(machine, request, &mut observer).map_err(ReplayError::run)?;
    time(&outcome).ok_or_else(|| ReplayError::lost(bytes))
}

/// The same, reported to an observer.
fn told(machine: &MachineSpec, key: CopyKey, simulator: Simulator<'_>) -> Result<CopyTime, ReplayError> {
    let far = &simulator.known.far;
    let expected = if far.is_watched() && key.bytes >= LONG {
        let short = CopyKey { bytes: key.bytes / PILOT, ..key };
        Some(simulate(machine, short, simulator.go_on, &mut |_| ())?.call().saturating_mul(PILOT))
    } else {
        None
    };
    let mut work = far.begin(key.bytes, expected);
    simulate(machine, key, simulator.go_on, &mut |now| work.is_at(now))
}

/// The same of a copy that may be sampled.
fn measure(machine: &MachineSpec, key: CopyKey, simulator: Simulator<'_>) -> Result<Measured, ReplayError> {
    let Some(sample) = simulator.sample else {
        let time = told(machine, key, simulator)?;
        let time = CopyTime { pieces: pieces_of(machine, key, time, simulator)?, ..time };
        return Ok(Measured { times: [time; 3], simulated: key.bytes, runs: 1 });
    };
    let _all = simulator.known.far.begin(key.bytes, None);
    let direction = key.way.direction();
    let copy = Copy { gpu: 0, direction, bytes: key.bytes, memory: key.memory };
    let (stream, buffer, pages, blocking) = (String::new(), None, key.pages, true);
    let step = WorkloadStep::Copy { gpu: 0, stream, buffer, pages, blocking };
    let (workload, none) = (Workload::timed(vec![copy], Some(vec![step])), CollectiveTimes::default());
    let asked = Asked { machine, workload: &workload, collectives: &none, sample, threads: 1 };
    let (outcome, sampled) = sampling::time(asked, simulator.go_on).map_err(ReplayError::run)?;
    let times = [&sampled.low, &outcome, &sampled.high].map(time);
    let [Some(low), Some(middle), Some(high)] = times else { return Err(ReplayError::lost(key.bytes)) };
    Ok(Measured { times: [low, middle, high], simulated: sampled.simulated, runs: sampled.runs })
}

/// The turns at its engine of a copy that takes so long, if it is staged and not sealed.
fn pieces_of(
    machine: &MachineSpec,
    key: CopyKey,
    time: CopyTime,
    simulator: Simulator<'_>,
) -> Result<Option<Pieces>, ReplayError> {
    if machine.confidential_computing || key.memory == Memory::Pinned {
        return Ok(None);
    }
    let path = (key.way.direction(), key.memory);
    let step = Stride::of((&machine.driver, &machine.staging), false, path).step.0.max(1);
    let left = key.bytes.saturating_sub(1) / step;
    if left == 0 {
        let (every, busy, last) = (time.span, time.span, time.span);
        return Ok(Some(Pieces { left, at_once: 0, first: every, every, busy, last, slack: 0 }));
    }
    let one = simulate(machine, CopyKey { bytes: step, ..key }, simulator.go_on, &mut |_| ())?;
    let last = (u128::from(one.span) * u128::from(key.bytes - left * step) / u128::from(step)) as Ns;
    let in_flight = &machine.driver.in_flight_plain;
    let rest = time.span.saturating_sub(last);
    let out = u64::from(in_flight.d2h.max(1));
    let (at_once, first, every) = match key.way {
        Way::D2h if left >= out => {
            // The host has the first piece out by then.
            let first = if left > out { (one.span + one.after).min(rest) } else { rest };
            (out - 1, first, (rest - first) / (left - out).max(1))
        }
        _ => (0, rest / left, rest / left),
    };
    let ahead = u64::from(if key.way == Way::D2h { in_flight.d2h } else { in_flight.h2d }).saturating_sub(1);
    let slack = if ahead == 0 { 0 } else { every.saturating_mul(ahead + 1).saturating_sub(one.span + one.after) };
    // Of long copies several are taken together.
    let turns = left.div_ceil(MOST_TURNS);
    let [first, every] = [first, every].map(|gap| if turns > 1 { gap.max(every) * turns } else { gap });
    Ok(Some(Pieces { left: left / turns, at_once, first, every, busy: one.span * turns, last, slack }))
}

/// What the only copy of a run took; none if it did not arrive.
fn time(outcome: &Outcome) -> Option<CopyTime> {
    let copy = outcome.copies.first().filter(|copy| copy.delivered)?;
    let (first, last) = copy.device.unwrap_or((copy.start, copy.end));
    let between = |from: Femtos, to: Femtos| ns(to.saturating_sub(from));
    // Behind the copy the host waits for its stream.
    let waited = outcome.gpus.first().and_then(|gpu| gpu.steps.last()).map_or(copy.returned, |step| step.returned);
    Some(CopyTime {
        before: between(copy.start, first),
        span: between(first, last),
        after: between(last, waited.max(copy.returned)),
        returns: between(copy.start, copy.returned),
        pieces: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_copy_takes_what_its_pieces_take_one_behind_the_other() {
        let key = |bytes| CopyKey {
            way: Way::H2d,
            bytes,
            memory: Memory::Pinned,
            pages: Pages::Warm,
            beside: (0, 0),
            waited: false,
        };
        let time = |before, span, after| CopyTime { before, span, after, ..CopyTime::default() };
        let known =
            BTreeMap::from([(key(1 << 30), time(5, 100, 7)), (key(3), time(4, 10, 6)), (key(9), time(1, 2, 3))]);
        let long = |bytes| in_all(key(bytes).simulated(None).into_iter().map(|(key, count)| (known[&key], count)));
        assert_eq!(long(9), Some(time(1, 2, 3)));
        // Five of a gibibyte and the rest: from the first byte that the GPU moves to the last.
        assert_eq!(long((5 << 30) + 3), Some(time(5, 100 + 4 * 112 + 20, 7)));
    }
}
