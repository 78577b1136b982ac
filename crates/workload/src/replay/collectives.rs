//! Collectives: how much longer they take on a machine than without confidential computing. Equal ones share a simulation.

use super::{
    Ns,
    copies::Simulator,
    error::ReplayError,
    job::{Job, Work},
    rules::ns,
};
use crate::{
    config::{MachineSpec, Resolved},
    fabric::spec::{FabricMode, FabricSpec},
    sampling::{self, SampledCollective},
    units::Femtos,
    workload::collective::{CollectiveCall, CollectiveError, CollectiveRequest},
};
use rustc_hash::FxHashMap as HashMap;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

/// By what a collective's time depends on of a machine.
type Known = BTreeMap<String, BTreeMap<CollectiveCall, Option<Between>>>;

/// The least that a time may be, what it is estimated to be, and the most.
type Between = [Femtos; 3];

#[derive(Debug, Default)]
pub(super) struct Collectives(Mutex<Known>);

/// How much longer collectives take.
#[derive(Debug, Default)]
pub(super) struct Longer {
    pub by: HashMap<usize, Ns>,
    /// Collectives for which the machine has no fabric, and which keep their length.
    pub kept: u64,
}

fn unprotected(machine: &MachineSpec) -> MachineSpec {
    let fabric = machine.fabric.clone().map(|fabric| FabricSpec { mode: FabricMode::Plain, ..fabric });
    MachineSpec { confidential_computing: false, fabric, ..machine.clone() }
}

/// What a collective's time depends on. Engines of copies and the host matter in two modes alone.
fn dependence(machine: &MachineSpec, digest: &str) -> String {
    let fabric = machine.fabric.as_ref();
    let whole = fabric.is_none_or(|fabric| fabric.mode.is_between_engines() || fabric.mode == FabricMode::Staged);
    let own = if whole {
        digest.to_owned()
    } else {
        serde_json::to_string(&(&fabric, machine.confidential_computing)).unwrap_or_default()
    };
    format!("{own} {} {}", machine.gpus(), machine.confidential_computing)
}

impl Collectives {
    /// How much longer the collectives of a job take on the machine.
    pub fn of(&self, job: &Job, machine: &Resolved, simulator: Simulator<'_>) -> Result<Longer, ReplayError> {
        let calls = job.ops.iter().enumerate().filter_map(|(place, op)| match op.work {
            Work::Collective(call) => Some((place, call)),
            _ => None,
        });
        let calls: Vec<_> = calls.collect();
        let distinct: BTreeSet<CollectiveCall> = calls.iter().map(|(_, call)| *call).collect();
        let mut longer = BTreeMap::new();
        for call in distinct {
            let sealed = self.time(&machine.machine, &machine.digest, call, simulator)?;
            let plain = self.time(&unprotected(&machine.machine), &machine.digest, call, simulator)?;
            if let (Some(sealed), Some(plain)) = (sealed, plain) {
                // It is longest where the one takes longest and the other shortest.
                let end = simulator.end as usize;
                longer.insert(call, ns(sealed[end].saturating_sub(plain[2 - end])));
            }
        }
        let all = calls.len();
        let by: HashMap<_, _> =
            calls.into_iter().filter_map(|(place, call)| Some((place, *longer.get(&call)?))).collect();
        Ok(Longer { kept: (all - by.len()) as u64, by })
    }

    /// How long a collective takes; none if the machine has no fabric for it.
    fn time(
        &self,
        machine: &MachineSpec,
        digest: &str,
        call: CollectiveCall,
        simulator: Simulator<'_>,
    ) -> Result<Option<Between>, ReplayError> {
        let key = dependence(machine, digest);
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key).and_then(|times| times.get(&call)) {
            return Ok(*known);
        }
        let request = CollectiveRequest::new(call.kind, call.ranks, call.bytes);
        let found = sampling::collective(machine, &request, simulator.sample, &mut |_| (simulator.go_on)());
        let time = match found.and_then(time) {
            Ok(times) => Some(times),
            Err(CollectiveError::NoFabric | CollectiveError::Gpus { .. } | CollectiveError::Bridge(_)) => None,
            Err(CollectiveError::Run(error)) => return Err(ReplayError::run(error)),
            Err(error) => return Err(ReplayError::Collective(Box::new(error))),
        };
        lock().entry(key).or_default().insert(call, time);
        Ok(time)
    }
}

/// How long the kernel of a collective runs.
fn time(found: SampledCollective) -> Result<Between, CollectiveError> {
    let SampledCollective { outcome, low, high, .. } = found;
    match outcome.refused {
        Some(reason) => Err(CollectiveError::Refused(reason)),
        None => Ok([low, outcome.time, high].map(|time| time.saturating_sub(outcome.launch))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;

    #[test]
    fn only_what_matters_to_a_collective_tells_machines_apart() {
        let of = |design: &str, set: &str| {
            let machine = Layers::new("hgx-h100-8gpu").overlay(design).set(set).resolve().unwrap();
            dependence(&machine.machine, &machine.digest)
        };
        let (one, other) = ("cipher.per_message=600 cycles", "cipher.per_message=700 cycles");
        assert_eq!(of("link", one), of("link", other));
        assert_ne!(of("staged", one), of("staged", other));
        assert_ne!(of("link", one), of("plain", one));
    }
}
