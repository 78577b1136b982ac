//! What a fabric is built of: links, packets, a switch, and who seals on the way.

use super::protocol::{NcclSpec, Protocol};
use crate::{
    gcm::spec::GcmSpec,
    units::{Bytes, BytesPerCycle, Cycles, Femtos, Frequency},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Links between GPUs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FabricSpec {
    /// How what passes between GPUs is protected.
    #[schemars(title = "protection")]
    pub mode: FabricMode,
    /// What lies between the GPUs.
    #[schemars(title = "topology")]
    pub topology: Topology,
    /// Clock of the links: each moves a flit per cycle and direction.
    #[schemars(title = "clock")]
    pub clock: Frequency,
    /// Links of a GPU. A packet takes one of them.
    #[schemars(title = "links per GPU")]
    pub links: u32,
    /// Bytes of a flit.
    #[schemars(title = "flit length")]
    pub flit: Bytes,
    /// Most text of a packet.
    #[schemars(title = "packet payload")]
    pub payload: Bytes,
    /// Flits of a packet in addition to its text.
    #[schemars(title = "header per packet")]
    pub header: Cycles,
    /// Flits that the receiver of a packet sends back for it.
    #[schemars(title = "response per packet")]
    pub response: Cycles,
    /// From the last flit leaving a port to its being at the other end.
    #[schemars(title = "flight time")]
    pub flight: Femtos,
    /// Packets for which the receiver of a bundle of links has room.
    #[schemars(title = "receive buffer (packets)")]
    pub buffer: u32,
    /// From a packet being received by the switch to its egress port seeing it.
    #[schemars(title = "switch latency")]
    pub switch_latency: Femtos,
    /// From a transfer's start to its first text being read from device memory.
    #[schemars(title = "read latency")]
    pub read_latency: Femtos,
    /// From the last text of a transfer to its being seen in device memory.
    #[schemars(title = "write latency")]
    pub write_latency: Femtos,
    /// Received text that is added to what is there, or copied out of a buffer, per cycle of `clock`.
    #[schemars(title = "reduction rate")]
    pub reduce_rate: BytesPerCycle,
    /// From a transfer being there to what follows from it, within a running collective.
    #[schemars(title = "time between steps of a collective")]
    pub step: Femtos,
    /// Start of a collective, without confidential computing.
    #[schemars(title = "launch of a collective, CC off")]
    pub launch: Femtos,
    /// And with it.
    #[schemars(title = "launch of a collective, CC on")]
    pub secure_launch: Femtos,
    /// What NCCL's kernels take, where no copy engines are used.
    #[schemars(title = "NCCL")]
    pub nccl: NcclSpec,
    /// Where GPUs reach each other over PCIe: what passes through the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "path through the host")]
    pub host: Option<HostPathSpec>,
    /// `direct`: copy engines of a GPU that seal for its peers, and as many that open.
    #[schemars(title = "copy engines that seal for peers")]
    pub copy_engines: u32,
    /// `direct`: longest message.
    #[schemars(title = "longest message to a peer")]
    pub message: Bytes,
    /// `direct`: what each step takes beyond its copies, as the host submits them. `peer_staging`: twice, to seal and to fetch.
    #[schemars(title = "submission per step to a peer")]
    pub submission: Femtos,
    /// `link` and `pad_ahead`: AES-GCM in the ports, one for each link.
    #[schemars(title = "port")]
    pub engine: GcmSpec,
    /// `link`: flits of a packet's security tag.
    #[schemars(title = "tag per packet")]
    pub tag: Cycles,
    /// `pad_ahead`: text that one MAC covers.
    #[schemars(title = "text per MAC")]
    pub batch: Bytes,
}

/// What passes through the host: what goes from the GPUs beneath one root port to others. GPUs are numbered in the order of root ports and sockets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostPathSpec {
    /// GPUs beneath one root port, which reach each other without the host.
    #[schemars(title = "GPUs beneath a root port")]
    pub root_port: u32,
    /// GPUs of one socket.
    #[schemars(title = "GPUs of a socket")]
    pub socket: u32,
    /// From a packet of a GPU to its next, within a socket.
    #[schemars(title = "interval of packets through the host")]
    pub interval: Femtos,
    /// The same from one socket to another.
    #[schemars(title = "interval of packets between sockets")]
    pub socket_interval: Femtos,
}

crate::units::named! {
    /// How what passes between GPUs is protected.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum FabricMode {
        /// Not at all.
        Plain = "plain",
        /// The fabric lies within the trust boundary: it is plain, and copies between host and GPU are sealed.
        TrustedFabric = "trusted_fabric",
        /// There is no fabric to trust: each hop is a sealed copy to the host, and another one to the next GPU.
        Staged = "staged",
        /// The sender's copy engines seal messages for the receiver's, under a key of the pair.
        Direct = "direct",
        /// The same by way of device memory that is not protected: the sender seals messages into it, the receiver copies and opens them.
        PeerStaging = "peer_staging",
        /// The ports seal each packet, whose security tag carries the IV.
        Link = "link",
        /// The ports have keystream ready before the text comes, and one MAC covers a batch of packets.
        PadAhead = "pad_ahead",
    }
}

impl FabricMode {
    /// Whether what passes between GPUs is sealed.
    pub const fn seals(self) -> bool {
        matches!(self, Self::Staged | Self::Direct | Self::PeerStaging | Self::Link | Self::PadAhead)
    }

    pub const fn is_between_engines(self) -> bool {
        matches!(self, Self::Direct | Self::PeerStaging)
    }
}

/// What lies between the GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Topology {
    /// A switch, to which each GPU has all its links.
    Switch,
    /// All links of two GPUs go to each other.
    Bridge,
}

/// Who seals and opens on the way, and how text is cut for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protection {
    /// Engines that seal at each GPU, and as many that open.
    pub engines: u32,
    pub message: u64,
    /// Flits of the tag, where each packet carries one.
    pub tag_in_packet: Option<u64>,
    /// Whether a message's keystream is made before its text comes.
    pub ahead: bool,
    /// Whether a message is opened when all of it has arrived, by whichever engine is free.
    pub stored: bool,
    /// From a message being sealed to its leaving, where the sender has it in device memory between.
    pub staging: Option<Femtos>,
}

impl FabricSpec {
    /// From one packet to the next that the host passes on between these GPUs; nothing without the host.
    pub fn host_interval(&self, one: usize, other: usize) -> Femtos {
        let Some(host) = &self.host else { return Femtos::ZERO };
        let apart = |group: u32| one / group.max(1) as usize != other / group.max(1) as usize;
        match (apart(host.socket), apart(host.root_port)) {
            (true, _) => host.socket_interval,
            (false, true) => host.interval,
            (false, false) => Femtos::ZERO,
        }
    }

    /// The longest of these in a ring of so many.
    pub fn ring_interval(&self, ranks: usize) -> Femtos {
        let hops = (0..ranks).map(|rank| self.host_interval(rank, (rank + 1) % ranks));
        hops.max().unwrap_or_default()
    }

    /// Who seals on the links, if anybody does.
    pub const fn protection(&self, protocol: Protocol) -> Option<Protection> {
        let in_ports = Protection {
            engines: self.links,
            message: self.framing(protocol).payload,
            tag_in_packet: Some(self.tag.0),
            ahead: false,
            stored: false,
            staging: None,
        };
        match self.mode {
            FabricMode::Plain | FabricMode::TrustedFabric | FabricMode::Staged => None,
            FabricMode::Link => Some(in_ports),
            FabricMode::PadAhead => {
                Some(Protection { message: self.batch.0, tag_in_packet: None, ahead: true, ..in_ports })
            }
            FabricMode::Direct | FabricMode::PeerStaging => Some(Protection {
                engines: self.copy_engines,
                message: self.message.0,
                tag_in_packet: None,
                ahead: false,
                stored: true,
                staging: match self.mode {
                    FabricMode::PeerStaging => Some(Femtos(self.write_latency.0 + self.read_latency.0)),
                    _ => None,
                },
            }),
        }
    }
}
