//! What a stream of the GPU carries out: the same from the host's program to the engines.

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

/// What a launch of the copy engine does with its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchKind {
    /// Host memory to device memory, opened on the way.
    Open,
    /// Device memory to host memory, sealed on the way.
    Seal,
    /// Host memory to device memory.
    Fetch,
    /// Device memory to host memory.
    Store,
    /// Device memory to device memory.
    Local,
}

impl LaunchKind {
    /// Whether the bytes come from host memory.
    pub const fn reads_host(self) -> bool {
        matches!(self, Self::Open | Self::Fetch)
    }

    /// Whether the bytes go to host memory.
    pub const fn writes_host(self) -> bool {
        matches!(self, Self::Seal | Self::Store)
    }
}
