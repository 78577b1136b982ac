//! What a machine makes of its work: simulated, sampled, or known from another point of a sweep, or candidate of a comparison.
//!
//! The work of points is equal if all is that a run depends on: the machine without what only replays and collectives ask for, the copy or
//! workload, and how it is sampled. It may differ in [bounds](MachineSpec::take_bounds) that the run of the other point has not reached, and that are no less than
//! what that run asked for: it certifies that its outcome is that of both. What collectives and samples are made of are several runs, which certify nothing.
//!
//! The last few outcomes are kept, since points that share one are visited behind each other.

use crate::{
    config::MachineSpec,
    explore::work::{CompareError, run_workload},
    sampling::{Sample, Sampled},
    sim::Control,
    system::Outcome,
    table::Origin,
    workload::{Workload, collective::CollectiveTimes},
};
use sha2::{Digest, Sha256};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

/// Outcomes that are kept.
const KEPT: usize = 64;

/// An outcome, how much of it was simulated if it was to be sampled, and how long its collectives take.
type Known = Arc<(Outcome, Option<Sampled>, CollectiveTimes)>;

/// Parameters that bound a machine.
type Bounds = Vec<(&'static str, u64)>;

/// Outcomes that points share.
#[derive(Debug, Clone, Default)]
pub struct Shared(Arc<Mutex<VecDeque<Kept>>>);

#[derive(Debug)]
struct Kept {
    key: [u8; 32],
    bounds: Bounds,
    known: Known,
    /// Whether it is the outcome of a single run, which says what was asked of bounds.
    certifies: bool,
}

impl Kept {
    /// Whether it is the outcome of the same work under other bounds, too, and how that is known.
    fn gives(&self, key: &[u8; 32], bounds: &Bounds) -> Option<Origin> {
        let certified = || self.certifies && self.known.0.is_that_under(&self.bounds, bounds);
        match self.key == *key {
            true if self.bounds == *bounds => Some(Origin::Shared),
            true => certified().then_some(Origin::Certified),
            false => None,
        }
    }
}

impl Shared {
    /// The outcome of some work, which is simulated `again` though it is known.
    pub(super) fn outcome(
        &self,
        what: &str,
        (machine, again): (&MachineSpec, bool),
        (workload, sample): (&Workload, Option<Sample>),
        observer: &(dyn Fn() -> Control + Sync),
    ) -> Result<(Known, Origin), CompareError> {
        let (key, bounds) = key(machine, workload, sample);
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = |kept: &Kept| Some((Arc::clone(&kept.known), kept.gives(&key, &bounds)?));
        if let Some(known) = Some(kept()).filter(|_| !again).and_then(|kept| kept.iter().find_map(known)) {
            return Ok(known);
        }
        let known = run_workload(what, machine, (workload, sample), observer)?;
        let certifies = sample.is_none() && !workload.calls_collectives();
        let known = Arc::new(known);
        let mut kept = kept();
        kept.push_back(Kept { key, bounds, known: Arc::clone(&known), certifies });
        if kept.len() > KEPT {
            kept.pop_front();
        }
        Ok((known, Origin::Simulated))
    }
}

/// What the outcome of some work depends on, and bounds that it may depend on. Collectives alone need the fabric between GPUs.
fn key(machine: &MachineSpec, workload: &Workload, sample: Option<Sample>) -> ([u8; 32], Bounds) {
    let mut machine = machine.clone();
    machine.calls = None;
    if workload.steps.is_none() {
        machine.fabric = None;
    }
    let bounds = machine.take_bounds();
    let mut hash = Sha256::new();
    hash.update(format!("{machine:?}\n{:?}\n{:?}\n{sample:?}", workload.copies, workload.steps));
    (hash.finalize().into(), bounds)
}
