//! What a machine makes of its work: simulated, sampled, or known from another point of a sweep, or candidate of a comparison.
//!
//! The work of points is equal if all is that a run depends on: the machine without what only replays and collectives ask for, the copy or
//! workload, and how it is sampled. It may differ in [bounds](MachineSpec::take_bounds) that the run of the other point has not reached, and that are no less than
//! what that run asked for, and in an [engine](MachineSpec::take_engine) that would have given the answers that were seen: that run certifies that its outcome is
//! that of both. What collectives and samples are made of are several runs, which certify nothing.
//!
//! The outcomes that were asked for last are kept, since points that share one are visited behind each other.

use crate::{
    config::MachineSpec,
    explore::work::{CompareError, run_workload},
    gcm::spec::GcmSpec,
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

const KEPT: usize = 64;

/// An outcome, how much of it was simulated if it was to be sampled, and how long its collectives take.
type Known = Arc<(Outcome, Option<Sampled>, CollectiveTimes)>;

/// Parameters that bound a machine.
type Bounds = Vec<(&'static str, u64)>;

/// What a run may depend on: a digest of its work, the machine without what may differ, bounds, and the engine if it may differ.
type Keys = ([u8; 32], Box<MachineSpec>, Bounds, Option<GcmSpec>);

/// Outcomes that points share.
#[derive(Debug, Clone, Default)]
pub struct Shared(Arc<Mutex<VecDeque<Kept>>>);

#[derive(Debug)]
struct Kept {
    keys: Keys,
    known: Known,
    /// Whether it is the outcome of a single run, which says what was asked of bounds.
    certifies: bool,
}

impl Kept {
    /// Whether it is the outcome of the same work of a machine with other bounds or another engine, too, and how that is known.
    fn gives(&self, (work, rest, bounds, engine): &Keys, machine: &MachineSpec) -> Option<Origin> {
        let (own_work, own_rest, own_bounds, own_engine) = &self.keys;
        let (same_bounds, same_engine) = (own_bounds == bounds, own_engine == engine);
        let outcome = &self.known.0;
        match own_work == work && own_rest == rest {
            true if same_bounds && same_engine => Some(Origin::Shared),
            true => {
                let certified = self.certifies
                    && outcome.is_that_under(own_bounds, bounds)
                    && (same_engine || outcome.is_that_with_engines_of(machine));
                certified.then_some(Origin::Certified)
            }
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
        let keys = keys(machine, workload, sample);
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = Some(kept()).filter(|_| !again).and_then(|mut kept| find(&mut kept, &keys, machine)) {
            return Ok(known);
        }
        let known = run_workload(what, machine, (workload, sample), observer)?;
        let certifies = sample.is_none() && !workload.calls_collectives();
        let known = Arc::new(known);
        let mut kept = kept();
        kept.push_back(Kept { keys, known: Arc::clone(&known), certifies });
        if kept.len() > KEPT {
            kept.pop_front();
        }
        Ok((known, Origin::Simulated))
    }
}

/// A known outcome, which becomes the latest.
fn find(kept: &mut VecDeque<Kept>, keys: &Keys, machine: &MachineSpec) -> Option<(Known, Origin)> {
    let place = |place: usize| Some((place, kept[place].gives(keys, machine)?));
    let (place, origin) = (0..kept.len()).rev().find_map(place)?;
    let latest = kept.remove(place)?;
    let known = Arc::clone(&latest.known);
    kept.push_back(latest);
    Some((known, origin))
}

/// What the outcome of some work depends on. Collectives alone need the fabric between GPUs.
fn keys(machine: &MachineSpec, workload: &Workload, sample: Option<Sample>) -> Keys {
    let mut machine = Box::new(machine.clone());
    machine.calls = None;
    if workload.steps.is_none() {
        machine.fabric = None;
    }
    let (bounds, engine) = (machine.take_bounds(), machine.take_engine());
    let mut hash = Sha256::new();
    hash.update(format!("{:?}\n{:?}\n{sample:?}", workload.copies, workload.steps));
    (hash.finalize().into(), machine, bounds, engine)
}
