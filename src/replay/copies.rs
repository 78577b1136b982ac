//! What copies take: a simulation for each distinct one, shared by all that are like it.

use super::{Ns, error::ReplayError, job::Way, rules::ns};
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

/// What simulations have told: by machine, and by copy.
#[derive(Debug, Default)]
pub struct Known(Mutex<BTreeMap<String, BTreeMap<CopyKey, CopyTime>>>);

impl Known {
    fn of(&self, machine: &str) -> BTreeMap<CopyKey, CopyTime> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(machine).cloned().unwrap_or_default()
    }

    fn note(&self, machine: &str, times: &BTreeMap<CopyKey, CopyTime>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(machine.to_owned(), times.clone());
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
    let distinct: BTreeSet<CopyKey> = keys.iter().flatten().copied().collect();
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
    let times: Vec<_> = keys.iter().map(|key| known.get(key.as_ref()?).copied()).collect();
    let all = times.iter().flatten().count() as u64;
    let simulated = distinct.len() as u64;
    Ok((times, Counts { simulated, shared: all - simulated }))
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
