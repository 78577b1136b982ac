//! What machines are compared over: copies one by one, or a workload. Both are workloads, whose copies must all arrive.

use crate::{
    config::{MachineSpec, Refusal},
    figures,
    sampling::{self, Asked, Sample, Sampled},
    sim::{Control, SimulationError},
    system::{self, Busiest, Direction, Memory, Outcome, Request, RunError},
    units::Femtos,
    workload::{
        Copy, Workload, WorkloadStep,
        collective::{CollectiveError, CollectiveTimes},
    },
};
use serde::Serialize;
use thiserror::Error;

#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Work {
    Copies {
        host_memory: Memory,
        sizes_bytes: Vec<u64>,
        #[serde(skip)]
        copies: Vec<Copy>,
    },
    Workload {
        /// Its file, or its name.
        workload: String,
        workload_summary: Option<String>,
        kernels: usize,
        /// What they last together by themselves, in ps.
        kernels_ps: u64,
        #[serde(skip)]
        job: Workload,
    },
}

impl Work {
    /// Copies of one kind of host memory, each alone.
    pub fn copies(host_memory: Memory, copies: Vec<Copy>) -> Self {
        let mut sizes_bytes = Vec::new();
        for copy in &copies {
            if !sizes_bytes.contains(&copy.bytes) {
                sizes_bytes.push(copy.bytes);
            }
        }
        Self::Copies { host_memory, sizes_bytes, copies }
    }

    /// Copies of each of these sizes, in both directions, of the first GPU.
    pub fn both_ways(sizes: &[u64], memory: Memory) -> Self {
        let of_size = |direction| move |&bytes: &u64| Copy { gpu: 0, direction, bytes, memory };
        let copies = [Direction::H2d, Direction::D2h].into_iter().flat_map(|way| sizes.iter().map(of_size(way)));
        Self::copies(memory, copies.collect())
    }

    /// A workload by its name, with what it says about itself.
    pub fn workload(workload: String, workload_summary: Option<String>, job: Workload) -> Self {
        let (kernels, length) = kernels(&job);
        Self::Workload { workload, workload_summary, kernels, kernels_ps: length.picos(), job }
    }

    pub fn pieces(&self) -> Vec<Workload> {
        match self {
            Self::Copies { copies, .. } => copies.iter().map(|&copy| Workload::timed(vec![copy], None)).collect(),
            Self::Workload { job, .. } => vec![job.clone()],
        }
    }

    pub fn calls_collectives(&self) -> bool {
        matches!(self, Self::Workload { job, .. } if job.calls_collectives())
    }
}

/// Kernels of a workload, and what they last together by themselves.
pub fn kernels(workload: &Workload) -> (usize, Femtos) {
    let steps = workload.steps.iter().flatten();
    let durations = steps.filter_map(|step| match step {
        WorkloadStep::Kernel { duration, .. } => Some((1, *duration)),
        WorkloadStep::Launch { kernels, duration, .. } => {
            Some((*kernels as usize, Femtos(duration.0.saturating_mul(u64::from(*kernels)))))
        }
        _ => None,
    });
    durations.fold((0, Femtos::ZERO), |(count, sum), (more, one)| (count + more, sum.saturating_add(one)))
}

#[derive(Debug, Error)]
pub enum CompareError {
    /// A machine that parameters are drawn for.
    #[error(transparent)]
    Config(#[from] Refusal),
    #[error("{what}: {error}")]
    Run {
        /// Design, direction and size.
        what: String,
        error: RunError,
    },
    #[error("{what}: {error}")]
    Collective { what: String, error: CollectiveError },
    /// A copy did not arrive.
    #[error("{what}: not delivered: {reason}")]
    NotDelivered {
        /// Design, direction and size.
        what: String,
        reason: String,
    },
}

/// What a run gave; none if it was stopped.
pub(super) fn unless_stopped<T>(result: Result<T, CompareError>) -> Result<Option<T>, CompareError> {
    match result {
        Err(CompareError::Run { error: RunError::Simulation(SimulationError::Stopped { .. }), .. }) => Ok(None),
        result => result.map(Some),
    }
}

/// Of a workload without collectives, copies of at most so many bytes.
pub(super) fn short(workload: &Workload, most: u64) -> Result<Request, RunError> {
    workload.only_timing(most).unwatched(&CollectiveTimes::default())
}

/// Runs a workload, whose copies must all arrive; with it how long its collectives take.
pub(super) fn run_workload(
    what: &str,
    machine: &MachineSpec,
    (workload, sample): (&Workload, Option<Sample>),
    observer: &(dyn Fn() -> Control + Sync),
) -> Result<(Outcome, Option<Sampled>, CollectiveTimes), CompareError> {
    let failed = |error| CompareError::Run { what: what.to_owned(), error };
    let collectives = workload.collectives(machine, &mut |_| observer());
    let collectives = collectives.map_err(|error| match error {
        CollectiveError::Run(error) => failed(error),
        error => CompareError::Collective { what: what.to_owned(), error },
    })?;
    let (outcome, sampled) = outcome_of((machine, workload, sample), &collectives, observer).map_err(failed)?;
    match outcome.copies.iter().enumerate().find(|(_, copy)| !copy.delivered) {
        None => Ok((outcome, sampled, collectives)),
        Some((place, copy)) => {
            let reason = copy.reason.as_deref().unwrap_or("its bytes did not all arrive").to_owned();
            let number = if workload.alone().is_some() { String::new() } else { format!(", copy {}", place + 1) };
            Err(CompareError::NotDelivered { what: format!("{what}{number}"), reason })
        }
    }
}

fn outcome_of(
    (machine, workload, sample): (&MachineSpec, &Workload, Option<Sample>),
    collectives: &CollectiveTimes,
    observer: &(dyn Fn() -> Control + Sync),
) -> Result<(Outcome, Option<Sampled>), RunError> {
    let Some(sample) = sample else {
        let request = Request { answers: true, ..workload.only_timing(u64::MAX).unwatched(collectives)? };
        return Ok((system::run(machine, request, &mut |_| observer())?, None));
    };
    let asked = Asked { machine, workload, collectives, sample, threads: 1 };
    sampling::time(asked, observer).map(|(outcome, sampled)| (outcome, Some(sampled)))
}

/// When a workload would end if its collectives took no time, if it calls any.
pub(super) fn free_end(
    machine: &MachineSpec,
    (workload, sample): (&Workload, Option<Sample>),
    collectives: &CollectiveTimes,
    observer: &(dyn Fn() -> Control + Sync),
) -> Result<Option<Femtos>, RunError> {
    if collectives.is_empty() {
        return Ok(None);
    }
    let none = CollectiveTimes::default();
    outcome_of((machine, workload, sample), &none, observer).map(|(outcome, _)| Some(outcome.end))
}

/// The state of copies that wait for what comes or goes over a network.
pub(super) const NETWORK: &str = "network";

/// Who was busiest in a run: for a single copy, or for most of the time of several. Where a workload has a network, copies that wait for work on
/// their stream wait for that.
pub(super) fn busiest(workload: &Workload, outcome: &Outcome) -> Option<Busiest> {
    if let (Some(_), [copy]) = (workload.alone(), &outcome.copies[..]) {
        return Some(copy.busiest.clone());
    }
    let busiest = figures::busiest(&outcome.copies)?;
    let is_network = |step: &WorkloadStep| matches!(step, WorkloadStep::Network { .. });
    let network = figures::waits_for_kernels(&busiest) && workload.steps.iter().flatten().any(is_network);
    Some(if network { Busiest { state: NETWORK.to_owned(), ..busiest } } else { busiest })
}
