//! Why a job cannot be played.

use crate::{config::Refusal, sim::SimulationError, system::RunError, workload::collective::CollectiveError};
use thiserror::Error;

/// Kernels of a workload file that are replayed at most.
pub(super) const MOST_KERNELS: u64 = 1 << 24;

#[derive(Debug, Error)]
pub enum ReplayError {
    #[error("{machine} has no table `calls`, which says what calls of the runtime cost")]
    NoCalls { machine: String },
    /// A setting that stands for a cause makes no machine.
    #[error(transparent)]
    Config(#[from] Box<Refusal>),
    #[error(transparent)]
    Run(Box<RunError>),
    #[error(transparent)]
    Collective(Box<CollectiveError>),
    /// A workload has collectives, whose hosts wait for each other.
    #[error("a workload with collectives cannot be replayed: `sealsim run --workload` plays it")]
    Written,
    #[error(
        "the workload launches {kernels} kernels: at most {MOST_KERNELS} are replayed, and `sealsim run --workload` takes a graph as one"
    )]
    Kernels { kernels: u64 },
    #[error("the machine did not deliver a copy of {bytes} bytes")]
    Lost { bytes: u64 },
}

impl ReplayError {
    pub(super) fn run(error: RunError) -> Self {
        Self::Run(Box::new(error))
    }

    pub(super) const fn lost(bytes: u64) -> Self {
        Self::Lost { bytes }
    }

    pub fn is_stopped(&self) -> bool {
        let Self::Run(error) = self else { return false };
        matches!(**error, RunError::Simulation(SimulationError::Stopped { .. }))
    }
}
