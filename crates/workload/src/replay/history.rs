//! What copies take on a machine where that depends on the copies before them: all copies of a job are simulated as one workload.
//!
//! A GPU has a session of its own, and so a workload of its own. A job of more copies than a workload takes is split into stretches, each of which begins as
//! the first did.

use super::{
    copies::{CopyKey, CopyTime, Simulator, in_all},
    error::ReplayError,
    far::{LONG, PILOT},
    job::Job,
    ops::Sparse,
    rules::ns,
    sequence::{Sequence, Wanted, sequences},
};
use crate::{
    config::MachineSpec,
    sampling::{self, Asked, Sampled, Unit},
    system::{self, CopyOutcome, Outcome, RunError},
    workload::{Workload, collective::CollectiveTimes},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// The least that each copy may take, what it is estimated to take, and the most; by operation.
pub(super) type Measured = Vec<Option<[CopyTime; 3]>>;

/// What was simulated of one machine and one choice of copies.
#[derive(Debug)]
struct Told {
    keys: Sparse<CopyKey>,
    times: Arc<Measured>,
}

#[derive(Debug, Default)]
pub(super) struct Histories {
    told: Mutex<BTreeMap<String, Vec<Told>>>,
    /// Bytes simulated, bytes asked for, runs.
    work: Mutex<(u64, u64, usize)>,
}

impl Histories {
    /// Bytes of copies that were simulated, those of all that were asked for, and in how many runs.
    pub fn work(&self) -> (u64, u64, usize) {
        *self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the copies of a job take on a machine, which its name identifies.
    pub fn of(
        &self,
        (name, machine): (&str, &MachineSpec),
        job: &Job,
        keys: &Sparse<CopyKey>,
        simulator: Simulator<'_>,
    ) -> Result<Arc<Measured>, ReplayError> {
        let lock = || self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(told) = lock().get(name).and_then(|all| all.iter().find(|told| told.keys == *keys)) {
            return Ok(Arc::clone(&told.times));
        }
        let times = Arc::new(self.simulate(machine, job, keys, simulator)?);
        let told = Told { keys: keys.clone(), times: Arc::clone(&times) };
        lock().entry(name.to_owned()).or_default().push(told);
        Ok(times)
    }

    fn simulate(
        &self,
        machine: &MachineSpec,
        job: &Job,
        keys: &Sparse<CopyKey>,
        simulator: Simulator<'_>,
    ) -> Result<Measured, ReplayError> {
        let mut times = vec![None; job.ops.len()];
        for device in 0..job.devices as u32 {
            let stretches = sequences(job, keys, Wanted::Stretches(device), |key| key.simulated(simulator.sample));
            simulator.known.far.ask(stretches.iter().map(Sequence::bytes).fold(0, u64::saturating_add));
            for stretch in stretches.iter().filter(|stretch| !stretch.stands.is_empty()) {
                self.stretch(machine, stretch, simulator, &mut times)?;
            }
        }
        Ok(times)
    }

    /// Simulates a stretch, and notes what its copies take.
    fn stretch(
        &self,
        machine: &MachineSpec,
        stretch: &Sequence,
        simulator: Simulator<'_>,
        times: &mut Measured,
    ) -> Result<(), ReplayError> {
        let workload = stretch.workload();
        let (middle, sampled) = run(machine, (stretch, &workload), simulator).map_err(ReplayError::run)?;
        (simulator.progress)();
        self.note(&sampled, stretch.bytes());
        let ends = [&sampled.low, &middle, &sampled.high];
        let all: Vec<[CopyTime; 3]> = (0..stretch.stands.len())
            .map(|place| {
                let lost = || ReplayError::lost(workload.copies[place].bytes);
                let time = |outcome: &Outcome| outcome.copies.get(place).and_then(time).ok_or_else(lost);
                Ok([time(ends[0])?, time(ends[1])?, time(ends[2])?])
            })
            .collect::<Result<_, ReplayError>>()?;
        // Copies that stand for one operation lie side by side.
        for pieces in stretch.stands.chunk_by(|one, other| one.0 == other.0).scan(0, |at, pieces| {
            let from = *at;
            *at += pieces.len();
            Some((pieces[0].0, from, pieces))
        }) {
            let (op, from, pieces) = pieces;
            let end = |end: usize| in_all(pieces.iter().zip(&all[from..]).map(|((_, count), all)| (all[end], *count)));
            times[op] = end(0).zip(end(1)).zip(end(2)).map(|((low, middle), high)| [low, middle, high]);
        }
        Ok(())
    }

    fn note(&self, sampled: &Sampled, bytes: u64) {
        let part = match sampled.unit {
            Unit::Bytes => sampled.simulated,
            Unit::Turns => (u128::from(bytes) * u128::from(sampled.simulated) / u128::from(sampled.of.max(1))) as u64,
        };
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        *work = (work.0.saturating_add(part), work.1.saturating_add(bytes), work.2 + sampled.runs);
    }
}

/// The outcome of a stretch, and between what it lies.
fn run(
    machine: &MachineSpec,
    (stretch, workload): (&Sequence, &Workload),
    simulator: Simulator<'_>,
) -> Result<(Outcome, Sampled), RunError> {
    let (far, bytes) = (&simulator.known.far, stretch.bytes());
    let none = CollectiveTimes::default();
    if let Some(sample) = simulator.sample {
        let _all = far.begin(bytes, None);
        let asked = Asked { machine, workload, collectives: &none, sample, threads: simulator.threads };
        return sampling::time(asked, simulator.go_on);
    }
    let expected = if far.is_watched() && bytes >= LONG { expected(machine, stretch, simulator)? } else { None };
    let mut work = far.begin(bytes, expected);
    let mut observer = |now| {
        work.is_at(ns(now));
        (simulator.go_on)()
    };
    let outcome = system::run(machine, workload.unwatched(&none)?, &mut observer)?;
    let sampled = Sampled::all(workload, &outcome);
    Ok((outcome, sampled))
}

/// How many nanoseconds a stretch of many copies will have taken, going by its beginning.
fn expected(machine: &MachineSpec, stretch: &Sequence, simulator: Simulator<'_>) -> Result<Option<u64>, RunError> {
    let first = stretch.beginning(stretch.stands.len() / PILOT as usize);
    let bytes = first.bytes();
    if bytes == 0 {
        return Ok(None);
    }
    let request = first.workload().unwatched(&CollectiveTimes::default())?;
    let outcome = system::run(machine, request, &mut |_| (simulator.go_on)())?;
    let time = u128::from(ns(outcome.end)) * u128::from(stretch.bytes()) / u128::from(bytes);
    Ok(Some(u64::try_from(time).unwrap_or(u64::MAX)))
}

/// What a copy took, so that the parts of all copies add up to their dates; none if it did not arrive.
fn time(copy: &CopyOutcome) -> Option<CopyTime> {
    let (first, last) = copy.device.unwrap_or((copy.start, copy.end));
    let [start, first, last, returned] = [copy.start, first, last, copy.returned].map(ns);
    copy.delivered.then(|| CopyTime {
        before: first.saturating_sub(start),
        span: last.saturating_sub(first),
        after: returned.saturating_sub(last),
        returns: returned.saturating_sub(start),
        pieces: None,
    })
}
