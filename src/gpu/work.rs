//! What passes between the units of the copy engine.

use crate::{
    pcie::packet::Payload,
    sim::{FaultKind, Item},
};

/// Number of a job: launches in order, and their parts in order.
pub type JobId = u64;

/// What a PCE does with the bytes of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
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

impl JobKind {
    /// Whether the bytes come from host memory.
    #[must_use]
    pub const fn reads_host(self) -> bool {
        matches!(self, Self::Open | Self::Fetch)
    }

    /// Whether the bytes go to host memory.
    #[must_use]
    pub const fn writes_host(self) -> bool {
        matches!(self, Self::Seal | Self::Store)
    }
}

/// A transfer, or a part of one, for one PCE.
#[derive(Debug, Clone)]
pub struct Job {
    /// Its number.
    pub id: JobId,
    /// What is done.
    pub kind: JobKind,
    /// First byte read.
    pub source: u64,
    /// First byte written.
    pub destination: u64,
    /// Bytes.
    pub bytes: u64,
    /// Where the expected tag is read or the computed tag is written.
    pub tag: u64,
    /// Where the IV is written.
    pub iv: u64,
    /// The IV as the engine reports it, and the nonce that it gives.
    pub iv_bytes: [u8; 12],
    /// IV XOR mask.
    pub nonce: [u8; 12],
}

/// Work for a PCE.
#[derive(Debug, Clone)]
pub enum PceWork {
    /// Move bytes.
    Transfer(Job),
    /// Write a semaphore, after everything before it.
    Release {
        /// Address in host memory.
        address: u64,
        /// Bytes, at most 8.
        bytes: u32,
        /// Value.
        value: u64,
    },
}

impl Item for PceWork {
    fn word(&self) -> u64 {
        match self {
            Self::Transfer(job) => job.id ^ job.source.rotate_left(24) ^ job.bytes << 1,
            Self::Release { address, value, .. } => address.rotate_left(9) ^ *value | 1 << 63,
        }
    }
}

/// A PCE has sent the last byte of a job to host memory, or has given it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// The job.
    pub job: JobId,
    /// Whether it was carried out.
    pub ok: bool,
}

impl Item for Done {
    fn word(&self) -> u64 {
        self.job << 1 | u64::from(self.ok)
    }
}

/// What the tag queue learns about a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TagReport {
    /// The job.
    pub job: JobId,
    /// Computed by the engine, or fetched from host memory.
    pub computed: bool,
    /// The tag; none if it will never be known.
    pub tag: Option<[u8; 16]>,
}

impl Item for TagReport {
    const FAULTS: &'static [FaultKind] = &[FaultKind::Flip, FaultKind::Drop, FaultKind::Duplicate, FaultKind::Reorder];

    fn word(&self) -> u64 {
        self.job << 2 | u64::from(self.computed) << 1 | u64::from(self.tag.is_some())
    }

    fn flip(&mut self, seed: u64) {
        if let Some(tag) = &mut self.tag {
            tag[(seed / 8 % 16) as usize] ^= 1 << (seed % 8);
        }
    }
}

/// A message that will need a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TagEntry {
    /// The job.
    pub job: JobId,
}

impl Item for TagEntry {
    fn word(&self) -> u64 {
        self.job
    }
}

/// Whether a message is what its sender sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// The job.
    pub job: JobId,
    /// Whether the tags agree.
    pub ok: bool,
}

impl Item for Verdict {
    fn word(&self) -> u64 {
        self.job << 1 | u64::from(self.ok)
    }
}

/// Bytes on their way into device memory.
#[derive(Debug, Clone)]
pub struct MemoryWrite {
    /// The job.
    pub job: JobId,
    /// Whether the job's bytes wait for a verdict before they count.
    pub unverified: bool,
    /// Bytes of this burst.
    pub bytes: u32,
    /// Whether it is the job's last.
    pub last: bool,
    /// Whether a bit of it was inverted on the way. For runs without data.
    pub damaged: bool,
    /// Bytes that become known with this burst, and their address: the burst itself, or the whole message with its last burst.
    pub deposit: Option<(u64, Payload)>,
}

impl Item for MemoryWrite {
    fn word(&self) -> u64 {
        self.job << 20 ^ u64::from(self.bytes) ^ u64::from(self.last) << 63
    }
}

/// A read of device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryRead {
    /// First byte.
    pub address: u64,
    /// Bytes.
    pub bytes: u32,
}

impl Item for MemoryRead {
    fn word(&self) -> u64 {
        self.address ^ u64::from(self.bytes) << 44
    }
}

/// Bytes read from device memory.
#[derive(Debug, Clone)]
pub struct MemoryData {
    /// First byte.
    pub address: u64,
    /// Bytes.
    pub bytes: u32,
    /// Whether a bit was inverted on the way.
    pub damaged: bool,
    /// The bytes.
    pub payload: Payload,
}

impl Item for MemoryData {
    fn word(&self) -> u64 {
        self.address ^ u64::from(self.bytes) << 44
    }
}

/// All bytes of a job are visible in device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Landed {
    /// The job.
    pub job: JobId,
}

impl Item for Landed {
    fn word(&self) -> u64 {
        self.job
    }
}
