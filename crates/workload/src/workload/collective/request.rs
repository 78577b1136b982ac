//! What is asked of a collective, and what comes of it.

use super::{choice, kind::Collective};
use crate::{
    config::MachineSpec,
    fabric::{element::Element, protocol::Protocol, spec::FabricMode},
    sim::{Injection, Kernel},
    system::{DataMode, RunError},
    units::Femtos,
};
use thiserror::Error;

pub const MOST_RANKS: usize = 64;

/// How much of it is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extent {
    /// Of GPUs that do the same at the same time, one; of equal rounds through the host, one.
    #[default]
    Shared,
    /// Every GPU and every transfer.
    Full,
}

#[derive(Debug, Clone)]
pub struct CollectiveRequest {
    /// What the GPUs do.
    pub kind: Collective,
    pub ranks: usize,
    /// Bytes of the buffer of each.
    pub bytes: u64,
    pub element: Element,
    /// Whether bytes are carried. With them every GPU is simulated.
    pub data: DataMode,
    /// Seed of keys and numbers, and of the bits that faults pick.
    pub seed: u64,
    /// How much is simulated, where there are no bytes.
    pub extent: Extent,
    pub kernel: Kernel,
    /// Faults, on the fabric. A run with faults carries bytes.
    pub injections: Vec<Injection>,
    /// How text is passed on, if that is not to be chosen.
    pub protocol: Option<Protocol>,
}

impl CollectiveRequest {
    /// A collective of binary32 without bytes.
    pub const fn new(kind: Collective, ranks: usize, bytes: u64) -> Self {
        Self {
            kind,
            ranks,
            bytes,
            element: Element::F32,
            data: DataMode::None,
            seed: 1,
            extent: Extent::Shared,
            kernel: Kernel::Skip,
            injections: Vec::new(),
            protocol: None,
        }
    }

    pub fn protocol(&self, machine: &MachineSpec) -> Protocol {
        self.protocol.unwrap_or_else(|| choice::protocol(machine, self.kind, self.ranks, self.bytes))
    }

    pub const fn carries_bytes(&self) -> bool {
        matches!(self.data, DataMode::Exact) || !self.injections.is_empty()
    }
}

#[derive(Debug, Clone)]
pub struct CollectiveOutcome {
    /// How hops were protected.
    pub mode: FabricMode,
    /// How text was passed on.
    pub protocol: Protocol,
    /// From the call to the last GPU being done, or to something being refused.
    pub time: Femtos,
    /// What of it lies before the first transfer.
    pub launch: Femtos,
    /// Transfers between two GPUs that were simulated.
    pub simulated: u64,
    /// Transfers that share the simulation of another.
    pub shared: u64,
    /// Bytes of the buffer of each GPU, as it was filled up.
    pub buffer: u64,
    pub part: u64,
    /// GPUs that finished, in a run with every GPU; all, where one stands for all.
    pub finished: usize,
    /// GPUs that finished with something wrong in their buffer; none where no bytes are carried.
    pub wrong: Option<usize>,
    /// Why it did not end, if it did not.
    pub refused: Option<String>,
}

#[derive(Debug, Error)]
pub enum CollectiveError {
    #[error("a collective has 2 to {MOST_RANKS} GPUs, not {0}")]
    Ranks(usize),
    #[error("the machine has {gpus} GPU{}, and copies through the host need {ranks}", if *gpus == 1 { "" } else { "s" })]
    Gpus { gpus: usize, ranks: usize },
    /// A bridge joins two.
    #[error("fabric.topology is \"bridge\", which joins two GPUs, not {0}")]
    Bridge(usize),
    #[error("a collective of 0 bytes")]
    Empty,
    #[error("the machine has no table `fabric`")]
    NoFabric,
    #[error(
        "faults of copies through the host are those of `sealsim run`: a collective takes faults on a fabric alone"
    )]
    StagedFaults,
    #[error("{ranks} buffers of {bytes} B with bytes do not fit into memory here: ask for less, or carry no bytes")]
    TooLong { ranks: usize, bytes: u64 },
    #[error("a collective was refused: {0}")]
    Refused(String),
    #[error(transparent)]
    Run(#[from] RunError),
}
