//! What copies take: a simulation for each distinct one, shared by all that are like it.

use super::{Ns, collectives::Collectives, error::ReplayError, job::Way, long::pieces, rules::ns};
use crate::{
    config::MachineSpec,
    sim::Control,
    system::{self, Memory, Operation, Pages, Request, Step},
    units::Femtos,
    validate::pool,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

/// What the duration of a copy depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CopyKey {
    /// Which way.
    pub way: Way,
    /// Bytes, at least 1.
    pub bytes: u64,
    /// Host memory.
    pub memory: Memory,
    /// State of that memory.
    pub pages: Pages,
}

impl CopyKey {
    /// The copies that are simulated for it, each with how often it comes: more than one if it is very long.
    fn simulated(&self) -> Vec<(Self, u64)> {
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
    /// From there to the return of the call.
    pub after: Ns,
}

impl CopyTime {
    /// Duration of the call.
    #[must_use]
    pub const fn call(&self) -> Ns {
        self.before.saturating_add(self.span).saturating_add(self.after)
    }
}

/// How many copies there were, and how many simulations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Counts {
    /// Copies simulated.
    pub simulated: u64,
    /// Copies that share one of these.
    pub shared: u64,
}

/// What simulations have told.
#[derive(Debug, Default)]
pub struct Known {
    /// By machine, and by copy.
    copies: Mutex<BTreeMap<String, BTreeMap<CopyKey, CopyTime>>>,
    /// Of collectives.
    pub(super) collectives: Collectives,
}

impl Known {
    fn of(&self, machine: &str) -> BTreeMap<CopyKey, CopyTime> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner).get(machine).cloned().unwrap_or_default()
    }

    fn note(&self, machine: &str, times: &BTreeMap<CopyKey, CopyTime>) {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner).insert(machine.to_owned(), times.clone());
    }
}

/// Who simulates copies.
#[derive(Clone, Copy)]
pub struct Simulator<'a> {
    /// Simulations at the same time.
    pub threads: usize,
    /// Asked now and then.
    pub go_on: &'a (dyn Fn() -> Control + Sync),
    /// Told of each simulation.
    pub progress: &'a (dyn Fn() + Sync),
    /// What it knows.
    pub known: &'a Known,
}

/// What copies take on a machine, whose name tells it apart, in their order; those that are alike share one simulation.
///
/// # Errors
/// [`ReplayError`] if the machine cannot make one, or `go_on` says to stop.
pub fn times(
    (name, machine): (&str, &MachineSpec),
    keys: &[Option<CopyKey>],
    simulator: Simulator<'_>,
) -> Result<(Vec<Option<CopyTime>>, Counts), ReplayError> {
    let asked: BTreeSet<CopyKey> = keys.iter().flatten().copied().collect();
    let distinct: BTreeSet<CopyKey> = asked.iter().flat_map(CopyKey::simulated).map(|(key, _)| key).collect();
    let mut known = simulator.known.of(name);
    let new: Vec<CopyKey> = distinct.iter().copied().filter(|key| !known.contains_key(key)).collect();
    let work = |key: &CopyKey| {
        let time = simulate(machine, *key, simulator.go_on);
        (simulator.progress)();
        time
    };
    let found = pool::map(&new, simulator.threads, |key| key.bytes, work)?;
    known.extend(new.into_iter().zip(found));
    simulator.known.note(name, &known);
    let times: Vec<_> = keys.iter().map(|key| in_all(&key.as_ref()?.simulated(), &known)).collect();
    let all = keys.iter().flatten().count() as u64;
    Ok((times, Counts { simulated: distinct.len() as u64, shared: all - asked.len() as u64 }))
}

/// What copies take, one behind the other, each as often as it comes. `None`: one of them is not known.
fn in_all(copies: &[(CopyKey, u64)], known: &BTreeMap<CopyKey, CopyTime>) -> Option<CopyTime> {
    let mut all: Option<CopyTime> = None;
    for (key, count) in copies {
        let one = *known.get(key)?;
        let (so_far, more) = match all {
            Some(all) => (all, *count),
            None => (one, count.saturating_sub(1)),
        };
        let span = so_far.span.saturating_add(one.call().saturating_mul(more));
        all = Some(CopyTime { span, ..so_far });
    }
    all
}

/// Simulates one copy, which waits for its end.
fn simulate(machine: &MachineSpec, key: CopyKey, go_on: &dyn Fn() -> Control) -> Result<CopyTime, ReplayError> {
    let CopyKey { way, bytes, memory, pages } = key;
    let mut request = match way {
        Way::H2d => Request::h2d(bytes),
        Way::D2h => Request::d2h(bytes),
    }
    .without_data();
    for copy in &mut request.copies {
        (copy.memory, copy.pages) = (memory, pages);
    }
    let operation = Operation::Copy { copy: 0, blocking: true };
    request.program = vec![Step { gpu: 0, stream: 0, operation }];
    let outcome = system::run(machine, request, &mut |_| go_on()).map_err(ReplayError::run)?;
    let copy = outcome.copies.first().filter(|copy| copy.delivered).ok_or_else(|| ReplayError::lost(bytes))?;
    let (first, last) = copy.device.unwrap_or((copy.start, copy.end));
    let between = |from: Femtos, to: Femtos| ns(to.saturating_sub(from));
    Ok(CopyTime { before: between(copy.start, first), span: between(first, last), after: between(last, copy.returned) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_copy_takes_what_its_pieces_take_one_behind_the_other() {
        let key = |bytes| CopyKey { way: Way::H2d, bytes, memory: Memory::Pinned, pages: Pages::Warm };
        let time = |before, span, after| CopyTime { before, span, after };
        let known =
            BTreeMap::from([(key(1 << 30), time(5, 100, 7)), (key(3), time(4, 10, 6)), (key(9), time(1, 2, 3))]);
        let long = |bytes| in_all(&key(bytes).simulated(), &known);
        assert_eq!(long(9), Some(time(1, 2, 3)));
        // Five of a gibibyte and the rest: from the first byte that the GPU moves to the last.
        assert_eq!(long((5 << 30) + 3), Some(time(5, 100 + 4 * 112 + 20, 7)));
        assert_eq!(long((5 << 30) + 4), None);
    }
}
