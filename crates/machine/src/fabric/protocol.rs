//! How a collective's kernel passes text on: NCCL's protocols.
//!
//! | protocol | on the wire | a step | in the end |
//! | --- | --- | --- | --- |
//! | `copies` | text | the host submits it | what is added is added after the transfer |
//! | `ll` | a flag of 4 B with each 4 B of text | stores carry the flags, `nccl.ll_step` | the last part is taken out of its lines at `nccl.flag_rate` |
//! | `ll128` | 120 B of text in lines of 128 B | the same, `nccl.ll128_step` | the last part is copied out of the buffer at `reduce_rate` |
//! | `simple` | text | a fence and a flag, `step` | the same |
//! | `nvls` | text, in packets of `nccl.multicast_payload`; each is asked for by a flit | `step` | the last turn is copied out of the buffer |
//!
//! An all-to-all is sends and receives: one channel passes on a part of LL; Simple goes in turns of `nccl.send_chunk` for each channel, which the others
//! share. In the end the kernel copies a GPU's own part and, by Simple, the last turn of each peer out of its buffer.
//!
//! But for `copies`, sums are made as text is passed on, so that only the last pass shows.

use super::spec::{FabricMode, FabricSpec};
use crate::units::{Bytes, BytesPerCycle, Femtos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What NCCL's kernels take, and what it goes by when it chooses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NcclSpec {
    /// What each kernel takes beside its transfers, as calls back to back show it.
    #[schemars(title = "kernel of a collective")]
    pub kernel: Femtos,
    /// LL: from a part being there to what follows from it.
    #[schemars(title = "time between steps, LL")]
    pub ll_step: Femtos,
    /// The same for LL128.
    #[schemars(title = "time between steps, LL128")]
    pub ll128_step: Femtos,
    /// Simple: before the first step, once.
    #[schemars(title = "start, Simple")]
    pub simple_start: Femtos,
    /// Sends and receives: what each kernel takes beside its transfers.
    #[schemars(title = "kernel of sends and receives")]
    pub send_kernel: Femtos,
    /// Sends and receives by Simple: before the first, once.
    #[schemars(title = "start of sends, Simple")]
    pub send_start: Femtos,
    /// Sends and receives by Simple: most text of a channel at a time.
    #[schemars(title = "chunk of a channel, sends")]
    pub send_chunk: Bytes,
    /// Reduction in switches: before the first turn, once. NCCL expects it too.
    #[schemars(title = "start, NVLS")]
    pub nvls_start: Femtos,
    /// LL: text that is taken out of flagged lines, per cycle of `clock`.
    #[schemars(title = "rate out of flagged lines")]
    pub flag_rate: BytesPerCycle,
    /// Channels: blocks of threads, each with a part of every buffer.
    #[schemars(title = "channels")]
    pub channels: u32,
    /// Simple: most text of a channel in a step.
    #[schemars(title = "chunk of a channel")]
    pub chunk: Bytes,
    /// NVLS: the same, for each GPU.
    #[schemars(title = "chunk of a channel, NVLS")]
    pub nvls_chunk: Bytes,
    /// NVLS: text of a packet.
    #[schemars(title = "payload of a reduction in switches")]
    pub multicast_payload: Bytes,
    /// Whether links are NVLink's: LL128 needs the order of its stores.
    #[schemars(title = "NVLink")]
    pub nvlink: bool,
    /// Whether switches add, with confidential computing off.
    #[schemars(title = "reduction in switches")]
    pub nvls: bool,
    /// What NCCL expects of Simple in a ring, per cycle of `clock`.
    #[schemars(title = "expected rate")]
    pub expected_rate: BytesPerCycle,
    /// What NCCL expects of LL at the most, per cycle of `clock`.
    #[schemars(title = "expected rate of LL, at the most")]
    pub expected_ll: BytesPerCycle,
}

crate::units::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Protocol {
        /// Copies that the host submits.
        Copies = "copies",
        Ll = "ll",
        Ll128 = "ll128",
        Simple = "simple",
        /// Switches add and distribute.
        Nvls = "nvls",
    }
}

impl Protocol {
    /// Those of a kernel that passes text on in a ring.
    pub const RINGS: [Self; 3] = [Self::Ll, Self::Ll128, Self::Simple];

    /// Bytes of text in so many on the wire.
    const fn share(self) -> (u64, u64) {
        match self {
            Self::Ll => (4, 8),
            Self::Ll128 => (120, 128),
            _ => (1, 1),
        }
    }
}

/// How text is cut into packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framing {
    /// Most text of a packet.
    pub payload: u64,
    /// Bytes of text in so many on the wire.
    pub share: (u64, u64),
    pub flit: u64,
    /// Flits in addition to the text.
    pub header: u64,
    /// Flits that come back for a packet.
    pub response: u64,
}

impl Framing {
    /// Flits of a packet with so much text and a tag of so many flits.
    pub const fn flits(self, bytes: u64, tag: u64) -> u64 {
        let (text, wire) = self.share;
        self.header + (bytes * wire).div_ceil(text).div_ceil(self.flit) + tag
    }
}

impl FabricSpec {
    pub const fn framing(&self, protocol: Protocol) -> Framing {
        let (share, nvls) = (protocol.share(), matches!(protocol, Protocol::Nvls));
        let text = (self.payload.0 * share.0 / share.1) & !15;
        let payload = if nvls { self.nccl.multicast_payload.0 } else { text };
        let payload = if payload == 0 { 16 } else { payload };
        let asked = if nvls { 1 } else { 0 };
        Framing { payload, share, flit: self.flit.0, header: self.header.0, response: self.response.0 + asked }
    }

    /// What a step takes beyond its text.
    pub const fn step_time(&self, protocol: Protocol) -> Femtos {
        match protocol {
            Protocol::Ll => self.nccl.ll_step,
            Protocol::Ll128 => self.nccl.ll128_step,
            Protocol::Copies if matches!(self.mode, FabricMode::Direct) => Femtos(self.step.0 + self.submission.0),
            Protocol::Copies if matches!(self.mode, FabricMode::PeerStaging) => {
                Femtos(self.step.0 + 2 * self.submission.0)
            }
            Protocol::Copies | Protocol::Simple | Protocol::Nvls => self.step,
        }
    }

    /// What a kernel takes beside its steps, one of sends and receives or another.
    pub const fn start(&self, protocol: Protocol, sends: bool) -> Femtos {
        let nccl = &self.nccl;
        let (kernel, simple) = match sends {
            true => (nccl.send_kernel.0, nccl.send_start.0),
            false => (nccl.kernel.0, nccl.simple_start.0),
        };
        match protocol {
            Protocol::Copies => Femtos(0),
            Protocol::Ll | Protocol::Ll128 => Femtos(kernel),
            Protocol::Simple => Femtos(kernel + simple),
            Protocol::Nvls => Femtos(kernel + nccl.nvls_start.0),
        }
    }

    /// Text that is added, or taken out of a buffer, per cycle.
    pub const fn pass_rate(&self, protocol: Protocol) -> BytesPerCycle {
        if matches!(protocol, Protocol::Ll) { self.nccl.flag_rate } else { self.reduce_rate }
    }

    /// Most text of a GPU's part that passes in one turn.
    pub const fn turn(&self, protocol: Protocol) -> u64 {
        match protocol {
            Protocol::Simple => (self.nccl.channels as u64).saturating_mul(self.nccl.chunk.0) & !15,
            Protocol::Nvls => (self.nccl.channels as u64).saturating_mul(self.nccl.nvls_chunk.0) & !15,
            _ => u64::MAX,
        }
    }

    /// Most text that one of so many peers is sent in one turn: the channels are shared out.
    pub const fn send_turn(&self, protocol: Protocol, peers: u64) -> u64 {
        let each = self.nccl.channels as u64 / if peers == 0 { 1 } else { peers };
        match protocol {
            Protocol::Simple => (if each == 0 { 1 } else { each }).saturating_mul(self.nccl.send_chunk.0) & !15,
            _ => u64::MAX,
        }
    }
}
