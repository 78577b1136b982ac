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
    /// Whether the bytes are one message of the AEAD.
    pub const fn is_secure(self) -> bool {
        matches!(self, Self::Open | Self::Seal)
    }

    /// Whether the bytes come from host memory.
    pub const fn reads_host(self) -> bool {
        matches!(self, Self::Open | Self::Fetch)
    }

    /// Whether the bytes go to host memory.
    pub const fn writes_host(self) -> bool {
        matches!(self, Self::Seal | Self::Store)
    }
}

/// One launch of the copy engine. Addresses are those of [`map`](crate::host::map).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    pub kind: LaunchKind,
    pub source: u64,
    pub destination: u64,
    pub bytes: u64,
    /// Where the tag is read or written; 0 where there is none.
    pub tag: u64,
    /// Where the IV is written; 0 where it is not.
    pub iv: u64,
    /// Whether it may begin before the launch before it has ended.
    pub pipelined: bool,
    /// Whether what it has written is visible to the system before the semaphore behind it.
    pub flush: bool,
}

/// What is released when all of a push is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Semaphore {
    pub address: u64,
    pub value: u32,
}

/// What a push asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushWork {
    /// All for one LCE.
    Launches(Vec<Launch>),
    Task(StreamTask),
}
