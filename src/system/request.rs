//! What is asked of a machine.

pub use crate::host::{Operation, Pages, Step};
use crate::sim::{Injection, Kernel, Order};
use serde::{Deserialize, Serialize};
use std::{fmt, io};

/// Which way a copy goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Host to device.
    H2d,
    /// Device to host.
    D2h,
    /// Within the device.
    D2d,
}

/// The kind of host memory of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// Page-locked memory.
    Pinned,
    /// Ordinary memory.
    Pageable,
}

/// Whether a run carries bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataMode {
    /// Every byte is sealed, carried, checked and opened.
    #[default]
    Exact,
    /// Only the timing.
    None,
}

/// Where a copy's bytes come from. It is read front to back, parts of it possibly more than once.
pub trait PayloadSource {
    /// Fills `into` with the bytes from `offset` on.
    ///
    /// # Errors
    /// If they cannot be read.
    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()>;
}

/// Where a copy's verified bytes go. Pieces may come out of order; none comes twice.
pub trait PayloadSink {
    /// Takes bytes that belong at `offset`.
    ///
    /// # Errors
    /// If they cannot be kept.
    fn put(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;
}

/// One copy.
pub struct CopyRequest {
    /// Which way.
    pub direction: Direction,
    /// Bytes.
    pub bytes: u64,
    /// Kind of host memory.
    pub memory: Memory,
    /// Number of the host's buffer: copies of one buffer find in the caches what earlier ones left there.
    pub buffer: u32,
    /// State of that buffer when the run begins; the first copy of a buffer decides.
    pub pages: Pages,
    /// Where the bytes come from; not used without data.
    pub source: Box<dyn PayloadSource>,
    /// Where they go; not used without data. The machine itself compares what arrives with the source.
    pub sink: Option<Box<dyn PayloadSink>>,
}

impl fmt::Debug for CopyRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {} bytes, {:?}", self.direction, self.bytes, self.memory)
    }
}

/// One run.
#[derive(Debug)]
pub struct Request {
    /// The copies.
    pub copies: Vec<CopyRequest>,
    /// What the host does, in order; if empty, it makes the copies one after the other on one stream and waits for each.
    pub program: Vec<Step>,
    /// Whether the copies' bytes are the user's.
    pub data: DataMode,
    /// Seed of keys, IV masks and of the bits that faults pick.
    pub seed: u64,
    /// Which kernel drives the machine.
    pub kernel: Kernel,
    /// In which order units tick at one instant.
    pub order: Order,
    /// Faults.
    pub injections: Vec<Injection>,
}

impl Request {
    /// Whether the run carries bytes. One with faults always does, since what a fault does depends on bytes: sources are then read in every
    /// data mode.
    #[must_use]
    pub fn carries_bytes(&self) -> bool {
        self.data == DataMode::Exact || !self.injections.is_empty()
    }
}
