//! How long the collectives of a workload take on a machine. Equal ones are simulated once.

use super::{
    call::CollectiveCall,
    request::{CollectiveError, CollectiveRequest, Extent},
    run::run_collective,
};
use crate::{config::MachineSpec, sim::Control, units::Femtos};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectiveTime {
    /// From the first transfer to the last GPU being done: as long as the kernel runs.
    pub time: Femtos,
    /// How many calls are of this kind.
    pub calls: u64,
    /// Transfers between two GPUs that were simulated.
    pub simulated: u64,
    pub transfers: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CollectiveTimes(BTreeMap<CollectiveCall, CollectiveTime>);

impl CollectiveTimes {
    /// Simulates each different call once, without bytes.
    pub fn measure(
        machine: &MachineSpec,
        calls: impl IntoIterator<Item = CollectiveCall>,
        extent: Extent,
        observer: &mut dyn FnMut(Femtos) -> Control,
    ) -> Result<Self, CollectiveError> {
        let mut counts: BTreeMap<CollectiveCall, u64> = BTreeMap::new();
        calls.into_iter().for_each(|call| *counts.entry(call).or_default() += 1);
        let measured = counts.into_iter().map(|(call, calls)| {
            let request = CollectiveRequest { extent, ..CollectiveRequest::new(call.kind, call.ranks, call.bytes) };
            let outcome = run_collective(machine, &request, observer)?;
            if let Some(reason) = outcome.refused {
                return Err(CollectiveError::Refused(reason));
            }
            let transfers = (outcome.simulated + outcome.shared).saturating_mul(calls);
            let time = outcome.time.saturating_sub(outcome.launch);
            Ok((call, CollectiveTime { time, calls, simulated: outcome.simulated, transfers }))
        });
        measured.collect::<Result<_, _>>().map(Self)
    }

    /// How long the kernel of a call runs; no time if the call was not among those measured.
    pub fn of(&self, call: &CollectiveCall) -> Femtos {
        self.0.get(call).map_or(Femtos::ZERO, |one| one.time)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&CollectiveCall, &CollectiveTime)> {
        self.0.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
