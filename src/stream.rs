//! What a stream of the GPU carries out beside launches of the copy engine: the same from the host's program to the engines.

use crate::units::Femtos;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamTask {
    /// For the compute side.
    Compute(Computation),
    /// An event comes when all before it on the stream is done.
    Record { event: u32 },
    /// What follows on the stream waits for an event.
    Wait { event: u32 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Computation {
    /// A kernel that runs this long by itself.
    Kernel { duration: Femtos },
    /// The kernel of a collective: it runs this long, most of it waiting for other GPUs.
    Collective { duration: Femtos },
    /// Nothing, for this long: the stream waits for a network.
    Network { duration: Femtos },
    /// A kernel that copies within device memory. The driver makes it of a copy of the program.
    Copy { source: u64, destination: u64, bytes: u64 },
}
