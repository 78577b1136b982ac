//! What a point's machine makes of its work: simulated, sampled, or known from a point with equal work.
//!
//! The work of points is equal if all is that a run depends on: the machine without what only replays and collectives ask for, the copy or
//! workload, and how it is sampled. The last few outcomes are kept, since equal points lie near each other where an axis does not matter.

use crate::{
    config::MachineSpec,
    explore::work::{CompareError, run_workload},
    sampling::{Sample, Sampled},
    sim::Control,
    system::Outcome,
    workload::Workload,
};
use sha2::{Digest, Sha256};
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// Outcomes that are kept.
const KEPT: usize = 64;

/// An outcome, and how much of it was simulated if it was to be sampled.
type Known = Arc<(Outcome, Option<Sampled>)>;

/// Outcomes that points share.
#[derive(Debug, Clone, Default)]
pub(super) struct Shared(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    recent: Mutex<VecDeque<([u8; 32], Known)>>,
    shared: AtomicU64,
}

impl Shared {
    /// How many points had the outcome of another one.
    pub fn count(&self) -> u64 {
        self.0.shared.load(Ordering::Relaxed)
    }

    /// The outcome of some work.
    pub fn outcome(
        &self,
        machine: &MachineSpec,
        (workload, sample): (&Workload, Option<Sample>),
        observer: &(dyn Fn() -> Control + Sync),
    ) -> Result<Known, CompareError> {
        let key = key(machine, workload, sample);
        let recent = || self.0.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = recent().iter().find(|(own, _)| *own == key) {
            self.0.shared.fetch_add(1, Ordering::Relaxed);
            return Ok(Arc::clone(known));
        }
        let (outcome, sampled, _) = run_workload("the point", machine, (workload, sample), observer)?;
        let known = Arc::new((outcome, sampled));
        let mut recent = recent();
        recent.push_back((key, Arc::clone(&known)));
        if recent.len() > KEPT {
            recent.pop_front();
        }
        Ok(known)
    }
}

/// What the outcome of some work depends on. Collectives alone need the fabric between GPUs.
fn key(machine: &MachineSpec, workload: &Workload, sample: Option<Sample>) -> [u8; 32] {
    let mut machine = machine.clone();
    machine.calls = None;
    if workload.steps.is_none() {
        machine.fabric = None;
    }
    let mut hash = Sha256::new();
    hash.update(format!("{machine:?}\n{:?}\n{:?}\n{sample:?}", workload.copies, workload.steps));
    hash.finalize().into()
}
