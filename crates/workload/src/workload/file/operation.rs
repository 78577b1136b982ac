//! The operations of a workload file, as they are written: repeats not yet unrolled.

use super::name::{Gpu, Name};
use crate::{
    system::{Direction, Memory, Pages},
    units::{ByteRate, Bytes, Femtos},
    workload::{
        collective::Collective,
        data_parallel::{DataParallel, Part},
    },
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::OnceLock;

/// What one table says. Without a `gpu` it is of the first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "lowercase")]
pub(super) enum Operation {
    Copy {
        gpu: Option<Gpu>,
        stream: Name,
        direction: Direction,
        /// None: the whole payload.
        size: Option<Bytes>,
        memory: Option<Memory>,
        buffer: Option<Name>,
        pages: Option<Pages>,
        #[serde(default)]
        blocking: bool,
    },
    Kernel {
        gpu: Option<Gpu>,
        stream: Name,
        duration: Femtos,
        /// Launches of one kernel each.
        #[serde(default = "one")]
        #[schemars(range(min = 1))]
        count: u64,
        call: Option<Femtos>,
        /// What the host does before each launch.
        host: Option<Femtos>,
    },
    /// A graph is launched with one call.
    Graph {
        gpu: Option<Gpu>,
        stream: Name,
        #[schemars(range(min = 1))]
        kernels: u64,
        /// Of each kernel.
        duration: Femtos,
        call: Option<Femtos>,
    },
    Host {
        gpu: Option<Gpu>,
        duration: Femtos,
    },
    Thread {
        name: Name,
    },
    Collective {
        gpu: Option<Gpu>,
        stream: Name,
        kind: Collective,
        #[schemars(range(min = 1))]
        ranks: u64,
        size: Bytes,
    },
    Network {
        gpu: Option<Gpu>,
        stream: Name,
        size: Bytes,
        rate: ByteRate,
        latency: Option<Femtos>,
    },
    /// An iteration of data-parallel training.
    Ddp {
        gpu: Option<Gpu>,
        stream: Name,
        collectives: Name,
        #[schemars(range(min = 1))]
        ranks: u64,
        #[serde(flatten)]
        model: DataParallel,
        /// The iteration, once it is asked for.
        #[serde(skip)]
        iteration: OnceLock<Vec<Part>>,
    },
    Record {
        gpu: Option<Gpu>,
        stream: Name,
        event: Name,
    },
    Wait {
        gpu: Option<Gpu>,
        stream: Name,
        event: Name,
    },
    Sync {
        gpu: Option<Gpu>,
        stream: Option<Name>,
    },
    Repeat {
        #[schemars(range(min = 1))]
        count: u64,
        #[serde(default = "index")]
        index: String,
        operations: Vec<Operation>,
    },
}

const fn one() -> u64 {
    1
}

fn index() -> String {
    "i".to_owned()
}

impl Operation {
    /// Its GPU; `None`: the first.
    pub const fn gpu(&self) -> Option<&Gpu> {
        match self {
            Self::Copy { gpu, .. }
            | Self::Kernel { gpu, .. }
            | Self::Graph { gpu, .. }
            | Self::Host { gpu, .. }
            | Self::Collective { gpu, .. }
            | Self::Network { gpu, .. }
            | Self::Ddp { gpu, .. }
            | Self::Record { gpu, .. }
            | Self::Wait { gpu, .. }
            | Self::Sync { gpu, .. } => gpu.as_ref(),
            Self::Thread { .. } | Self::Repeat { .. } => None,
        }
    }

    /// How many steps and copies it unrolls to.
    pub fn size(&self) -> (u64, u64) {
        match self {
            Self::Copy { .. } => (1, 1),
            Self::Ddp { model, iteration, .. } => {
                let steps = |part: &Part| match part {
                    Part::Kernel(_) => 1,
                    Part::Bucket(_) => 3,
                    Part::Reduced => 2,
                };
                (iteration.get_or_init(|| model.iteration()).iter().map(steps).sum(), 0)
            }
            Self::Kernel { count, host, .. } => (count.saturating_mul(if host.is_some() { 2 } else { 1 }), 0),
            Self::Repeat { count, operations, .. } => {
                let (steps, copies) = size(operations);
                (steps.saturating_mul(*count), copies.saturating_mul(*count))
            }
            _ => (1, 0),
        }
    }
}

pub(super) fn size(operations: &[Operation]) -> (u64, u64) {
    operations.iter().map(Operation::size).fold((0, 0), |sum, one| {
        let (steps, copies): (u64, u64) = sum;
        (steps.saturating_add(one.0), copies.saturating_add(one.1))
    })
}
