//! What a PCIe link and a root complex are built of.

use crate::units::{Bytes, Cycles, Femtos, Frequency};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A PCIe gen3 to gen5 link with 128b/130b encoding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// PCIe generation: 3, 4, 5 or 6. A link of generation 6 is in flit mode.
    #[schemars(title = "PCIe generation")]
    pub generation: u32,
    /// Lanes: 1, 2, 4, 8 or 16.
    #[schemars(title = "lanes")]
    pub lanes: u32,
    /// Clock of the MACs of both ports, which move 4 bytes of each lane in a cycle. Follows from the generation unless stated.
    #[schemars(title = "MAC clock", extend("relaxes" = "up"))]
    pub mac_clock: Frequency,
    /// Maximum payload size of a TLP.
    #[schemars(title = "maximum payload", extend("relaxes" = "up"))]
    pub max_payload: Bytes,
    /// Maximum read request size.
    #[schemars(title = "maximum read request", extend("relaxes" = "up"))]
    pub max_read_request: Bytes,
    /// Read completion boundary of the root complex: 64 B or 128 B.
    #[schemars(title = "read completion boundary")]
    pub read_completion_boundary: Bytes,
    /// Tags that a requester may have in flight: 32, 256, 768 (10-bit) or, in flit mode, 15,360 (14-bit).
    #[schemars(title = "read tags in flight", extend("relaxes" = "up"))]
    pub read_tags: u32,
    /// From the last symbol leaving one MAC to the TLP being checked in the other: PHY, wire, de-skew. Follows from the clock of the MACs unless
    /// stated: 150 ns.
    #[schemars(title = "flight time", extend("relaxes" = "physics"))]
    pub flight: Cycles,
    /// Latency of a retimer between the ports, in each direction; there is none if absent. Of two, the sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "retimer latency", extend("relaxes" = "physics"))]
    pub retimer: Option<Cycles>,
    /// In flit mode: flits that no error correction saves, of 10^9. None if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "flit errors (of 10^9)")]
    pub flit_errors: Option<u32>,
    /// Longest time that a received TLP waits for its Ack. Follows from lanes and maximum payload unless stated.
    #[schemars(title = "Ack latency", extend("relaxes" = "down"))]
    pub ack_latency: Cycles,
    /// TLPs that the replay buffer holds.
    #[schemars(title = "replay buffer (TLPs)", extend("relaxes" = "up"))]
    pub replay_tlps: u32,
    /// Time without an Ack after which the replay buffer is sent again.
    #[schemars(title = "replay timer")]
    pub replay_timer: Cycles,
    /// Blocks between two SKP ordered sets.
    #[schemars(title = "blocks between SKP ordered sets")]
    pub skp_interval_blocks: u32,
    /// Time that a Recovery takes until TLPs flow again.
    #[schemars(title = "Recovery time", extend("relaxes" = "down"))]
    pub recovery: Femtos,
    /// Longest time between two credit updates for a pool that has changed. Follows from the clock of the MACs unless stated: 30 us.
    #[schemars(title = "interval of credit updates", extend("relaxes" = "down"))]
    pub credit_update: Cycles,
    /// Credits that the root complex advertises.
    #[schemars(title = "host credits for")]
    pub host_credits: CreditSpec,
    /// Credits that the GPU advertises.
    #[schemars(title = "GPU credits for")]
    pub gpu_credits: CreditSpec,
    /// Whether TLPs carry an end-to-end CRC.
    #[schemars(title = "ECRC")]
    pub ecrc: bool,
    /// Whether both ports have IDE: an engine for AES-GCM in front of the link.
    #[schemars(title = "IDE capability")]
    pub ide_capable: bool,
    /// IDE, where it is on: TLPs are encrypted and authenticated between the ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "IDE")]
    pub ide: Option<IdeSpec>,
}

/// IDE on a link, in non-flit mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdeSpec {
    /// TLPs of a sub-stream that may share a MAC: 1, 2, 4 or 8.
    #[schemars(title = "TLPs per MAC", extend("relaxes" = "up"))]
    pub aggregation: u32,
    /// Whether a MAC that covers data comes with a CRC of the plaintext.
    #[schemars(title = "PCRC")]
    pub pcrc: bool,
    /// How long a TLP that nothing follows waits for company before it goes with a MAC.
    #[schemars(title = "flush time of a MAC", extend("relaxes" = "down"))]
    pub flush: Cycles,
    /// The engine of the host port.
    #[schemars(title = "host")]
    pub host: IdeEngineSpec,
    /// The engine of the GPU port.
    #[schemars(title = "GPU")]
    pub gpu: IdeEngineSpec,
}

/// The AES-GCM engine of a port, in cycles of the MAC of the link; each direction has its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdeEngineSpec {
    /// AES blocks per cycle.
    #[schemars(title = "AES blocks per cycle", extend("relaxes" = "up"))]
    pub lanes: u32,
    /// GHASH products per cycle.
    #[schemars(title = "GHASH products per cycle", extend("relaxes" = "up"))]
    pub multipliers: u32,
    /// What the pipeline adds to a TLP's way, in each direction.
    #[schemars(title = "latency", extend("relaxes" = "down"))]
    pub latency: Cycles,
}

/// Advertised flow-control credits of one port; 0 is infinite. A data credit is 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreditSpec {
    /// Posted headers.
    #[schemars(title = "posted headers", extend("relaxes" = "up"))]
    pub posted_headers: u32,
    /// Posted data.
    #[schemars(title = "posted data", extend("relaxes" = "up"))]
    pub posted_data: u32,
    /// Non-posted headers.
    #[schemars(title = "non-posted headers", extend("relaxes" = "up"))]
    pub non_posted_headers: u32,
    /// Non-posted data.
    #[schemars(title = "non-posted data", extend("relaxes" = "up"))]
    pub non_posted_data: u32,
    /// Completion headers.
    #[schemars(title = "completion headers", extend("relaxes" = "up"))]
    pub completion_headers: u32,
    /// Completion data.
    #[schemars(title = "completion data", extend("relaxes" = "up"))]
    pub completion_data: u32,
}

/// A switch between a root port and several GPUs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchSpec {
    /// From a TLP being received to it being ready to be sent on.
    #[schemars(title = "latency", extend("relaxes" = "down"))]
    pub latency: Femtos,
    /// Whether that time runs from a TLP's first DW rather than from its last. A switch that stores and forwards checks the whole TLP first.
    #[schemars(title = "cut-through")]
    pub cut_through: bool,
    /// Whether requests of a GPU for another below the same switch go straight to it; if not, ACS sends them upstream.
    #[serde(default)]
    #[schemars(title = "peer-to-peer requests")]
    pub peer_to_peer: bool,
    /// Credits that each of its ports advertises.
    #[schemars(title = "credits for")]
    pub credits: CreditSpec,
    /// Number of the root complex that it is below, among those that several share; one of its own if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "shared root complex")]
    pub root: Option<u32>,
    /// The link between it and the root port; as the machine's links if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "link")]
    pub link: Option<LinkSpec>,
}

/// The root complex in front of host memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RootComplexSpec {
    /// Clock.
    #[schemars(title = "clock")]
    pub clock: Frequency,
    /// From a read request arriving to its first data being there.
    #[schemars(title = "read latency", extend("relaxes" = "down"))]
    pub read_latency: Cycles,
    /// Further latency of every read under confidential computing: what the GPU then reads is memory shared with the guest.
    #[schemars(title = "additional read latency, CC on", extend("relaxes" = "down"))]
    pub secure_read_latency: Cycles,
    /// Further latency of a read, spread by address between zero and this.
    #[schemars(title = "read latency spread", extend("relaxes" = "down"))]
    pub read_spread: Cycles,
    /// Least cycles between two reads that enter service.
    #[schemars(title = "interval between reads", extend("relaxes" = "down"))]
    pub read_interval: Cycles,
    /// Reads in service at once.
    #[schemars(title = "reads in service", extend("relaxes" = "up"))]
    pub reads_in_service: u32,
    /// Largest completion, a multiple of the read completion boundary, at most the maximum payload.
    #[schemars(title = "completion payload", extend("relaxes" = "up"))]
    pub completion_payload: Bytes,
    /// From a write arriving to its bytes being visible to the CPU.
    #[schemars(title = "write latency", extend("relaxes" = "down"))]
    pub write_latency: Cycles,
    /// Writes that are not yet visible at once; the next ones wait, and with them their credits.
    #[schemars(title = "writes in service", extend("relaxes" = "up"))]
    pub writes_in_service: u32,
}
