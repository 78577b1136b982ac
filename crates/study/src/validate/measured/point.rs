//! One measured figure and what was done to get it.

use crate::{
    gpu::sm::spec::{AesKernel, GhashKernel},
    system::Direction,
    units::{Bytes, Femtos},
    workload::collective::CollectiveCall,
};
use sha2::{Digest, Sha256};
use std::{collections::BTreeMap, sync::Arc};

crate::units::named! {
    /// Whether confidential computing was on.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Mode {
        Off = "off",
        Cc = "cc",
    }
}

crate::units::named! {
    /// Where the host's end of a copy lies.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum HostMemory {
        Pinned = "pinned",
        Pageable = "pageable",
        /// None: both ends are on the GPU.
        Device = "device",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copied {
    pub direction: Direction,
    pub memory: HostMemory,
    pub bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    pub copy: Copied,
    pub count: u64,
}

/// Whether the streams' work is issued one after the other or side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// All of one stream, then all of the next.
    Sequential,
    /// All copies to the GPU, then all kernels, then all copies back.
    Pipelined,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// Bytes to the GPU, and as many back, over all streams.
    pub bytes_each_way: u64,
    /// How long each stream's kernel runs by itself.
    pub kernel: Femtos,
    pub streams: u32,
    pub schedule: Schedule,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmKernel {
    /// How it enciphers, if it does.
    pub aes: Option<AesKernel>,
    /// How it authenticates, if it does. One that does neither multiplies bit matrices.
    pub ghash: Option<GhashKernel>,
    /// Whether a single thread sums the values of all blocks of threads, and that counts.
    pub serial: bool,
    pub sms: u32,
    pub warps: u32,
    /// Bytes of text on all SMs together.
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Experiment {
    /// Many copies of one buffer, one after the other.
    Bandwidth(Copied),
    /// One synchronous call, as its caller sees it.
    Call(Copied),
    /// One copy, as the device sees it.
    Span(Copied),
    Overlap(Overlap),
    /// All copies of a program, as the device sees them, sizes estimated from totals and counts.
    Totals(Vec<Group>),
    /// The copies of a program in their order; those of one direction count, as the device sees them.
    Program {
        copies: Arc<Vec<Copied>>,
        counted: Direction,
    },
    /// A kernel on SMs, its text in device memory.
    SmKernel(SmKernel),
    Collective(CollectiveCall),
    /// A core seals at this clock, messages of this size if the table says it.
    Cipher {
        clock_ghz: f64,
        bytes: Option<u64>,
    },
}

impl Experiment {
    /// What it is, for distinguishing points whose labels and figures are alike.
    const fn name(&self) -> &'static str {
        match self {
            Self::Bandwidth(_) => "bandwidth",
            Self::Call(_) => "call",
            Self::Span(_) => "span",
            Self::Overlap(_) => "overlap",
            Self::Totals(_) => "totals",
            Self::Program { .. } => "program",
            Self::SmKernel(_) => "sm_kernel",
            Self::Collective(_) => "collective",
            Self::Cipher { .. } => "cipher",
        }
    }
}

/// Where a point is in a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    pub panel: String,
    pub series: String,
    /// Place along the curve.
    pub x: f64,
    pub x_label: &'static str,
}

#[derive(Debug, Clone)]
pub struct Point {
    pub platform: String,
    pub mode: Mode,
    pub line: usize,
    /// What it is, in a few words.
    pub label: String,
    /// Its cells by column, for selecting it.
    pub cells: BTreeMap<String, String>,
    pub experiment: Experiment,
    pub measured: f64,
    pub unit: &'static str,
    pub curve: Curve,
}

const DIGEST_DIGITS: usize = 16;

impl Point {
    /// What the point is known by, whatever its table, line and platform are called: 16 hexadecimal digits of a SHA-256 over what was done
    /// and what was measured.
    pub fn digest(&self) -> String {
        let Self { experiment, label, measured, unit, .. } = self;
        let text = format!("{}\n{label}\n{measured:?} {unit}", experiment.name());
        let mut digest = hex::encode(Sha256::digest(text));
        digest.truncate(DIGEST_DIGITS);
        digest
    }
}

/// A row, or a part of one, that the model does not cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub line: usize,
    pub why: &'static str,
}

/// `64 MiB`, and `524281 B` for what is no round number.
pub(super) fn size(bytes: u64) -> String {
    let text = Bytes(bytes).to_string();
    let binary = text.ends_with("iB") && !text.contains('.');
    if binary { text } else { format!("{bytes} B") }
}
