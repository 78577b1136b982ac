//! What the GPU's side of the path is built of.

use super::release::Release;
use crate::gcm::spec::GhashSpec;
use crate::units::{Bytes, BytesPerCycle, Cycles, Femtos, Frequency};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The copy engine: logical engines (LCE) on physical ones (PCE).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CopyEngineSpec {
    /// Clock.
    #[schemars(title = "clock")]
    pub clock: Frequency,
    /// PCEs of the LCE that serves system memory, with confidential computing on.
    #[schemars(title = "PCEs, CC on", extend("relaxes" = "up"))]
    pub pces_secure: u32,
    /// The same, off.
    #[schemars(title = "PCEs, CC off", extend("relaxes" = "up"))]
    pub pces_plain: u32,
    /// Read requests that one PCE may have outstanding.
    #[schemars(title = "reads under way per PCE", extend("relaxes" = "up"))]
    pub outstanding_reads: u32,
    /// Least cycles between two read requests of one PCE.
    #[schemars(title = "interval between reads of a PCE", extend("relaxes" = "down"))]
    pub request_interval: Cycles,
    /// From a doorbell to the first decoded method.
    #[schemars(title = "doorbell to first method", extend("relaxes" = "down"))]
    pub fetch: Cycles,
    /// Cycles per method word decoded.
    #[schemars(title = "time per method word", extend("relaxes" = "down"))]
    pub method_word: Cycles,
    /// From LAUNCH_DMA to the first read request.
    #[schemars(title = "launch to first read", extend("relaxes" = "down"))]
    pub launch: Cycles,
    /// Room in one PCE for data that is asked for and not yet passed on.
    #[schemars(title = "read buffer per PCE", extend("relaxes" = "up"))]
    pub read_buffer: Bytes,
    /// Bytes that a PCE hands to device memory in one write, or asks from it in one read.
    #[schemars(title = "burst to device memory")]
    pub burst: Bytes,
    /// From the semaphore at the end of a push to the first launch of the next one on the same engine.
    #[schemars(title = "turnaround between pushes", extend("relaxes" = "down"))]
    pub turnaround: Cycles,
    /// A flush to the host's memory (FLUSH_TYPE SYS) behind the last write: until it is known to be visible there.
    #[schemars(title = "flush to host memory", extend("relaxes" = "down"))]
    pub flush: Cycles,
    /// Bytes of a plain launch that go to one PCE before the next one takes over.
    #[schemars(title = "stripe per PCE")]
    pub stripe: Bytes,
    /// Stripes that each PCE of a plain launch may have in flight.
    #[schemars(title = "stripes in flight per PCE", extend("relaxes" = "up"))]
    pub stripes_in_flight: u32,
    /// Time without a completion after which a read has failed.
    #[schemars(title = "completion timeout")]
    pub completion_timeout: Femtos,
    /// Secure messages that one LCE may have in flight.
    #[schemars(title = "messages in flight", extend("relaxes" = "up"))]
    pub messages_in_flight: u32,
    /// When a message from host memory begins to be opened.
    #[schemars(title = "start of opening")]
    pub opens: Opens,
    /// The authenticator of the PCEs that open, where it differs from `engine.ghash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "opening GHASH")]
    pub open_ghash: Option<GhashSpec>,
    /// How the PCEs of an LCE share its secure messages; `per_pce` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "sharing among PCEs")]
    pub sharing: Option<Sharing>,
    /// Clock of what seals and opens for PCEs, and of the way from it where they share it; `clock` if absent. Engines that seal for peers keep `clock`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "clock of engines")]
    pub engine_clock: Option<Frequency>,
    /// With a shared engine or GHASH: from a PCE to it, and from it to a PCE; one cycle if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "wire to a shared engine", extend("relaxes" = "down"))]
    pub engine_wire: Option<Cycles>,
    /// With a shared engine or GHASH: bytes of a message after which another PCE has its turn; if absent, a message keeps it until its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "turn on a shared engine")]
    pub engine_turn: Option<Bytes>,
    /// Who shares which of the units that seal, open and hold; each PCE has its own of all that is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "pools")]
    pub pools: Option<PoolsSpec>,
    /// Time without any progress after which a hand-over inside host or GPU that does not come is signalled; if absent, whoever waits for it waits for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "hand-over timeout")]
    pub handover_timeout: Option<Femtos>,
}

/// When another PCE has its turn at what PCEs share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turns {
    /// When a message is through.
    Message,
    /// After so many bytes of a message, which have all come before the turn begins.
    Bytes(u64),
    /// When all bytes that had come as the turn began are through, at most so many.
    Need(u64),
}

/// Which units the PCEs of a GPU that seal and open have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Common {
    Nothing,
    /// Their GHASH; each has its own AES lanes.
    Ghash,
    Engine,
}

impl CopyEngineSpec {
    /// What PCEs have in common; none if `sharing` and `pools` contradict each other, or AES lanes are shared and GHASH is not.
    pub fn common(&self) -> Option<Common> {
        let shared = self.sharing == Some(Sharing::Shared);
        let row = |row: fn(&PoolsSpec) -> Option<Sharers>| self.pools.as_ref().and_then(row);
        let default = if shared { Sharers::Gpu } else { Sharers::Pce };
        let (aes, ghash) = (row(|pools| pools.aes).unwrap_or(default), row(|pools| pools.ghash).unwrap_or(default));
        let split = self.sharing == Some(Sharing::Split);
        match (aes, ghash) {
            (Sharers::Pce, Sharers::Pce) if !shared => Some(Common::Nothing),
            (Sharers::Pce, Sharers::Gpu) if !shared && !split => Some(Common::Ghash),
            (Sharers::Gpu, Sharers::Gpu) if !split => Some(Common::Engine),
            _ => None,
        }
    }

    /// Clock of what seals and opens.
    pub fn clock_of_engines(&self) -> Frequency {
        self.engine_clock.unwrap_or(self.clock)
    }

    /// How PCEs take turns at it.
    pub fn turns(&self) -> Turns {
        let bytes = self.engine_turn.map(|bytes| bytes.0);
        match (self.pools.as_ref().and_then(|pools| pools.turns), bytes) {
            (Some(TurnPolicy::Need), most) => Turns::Need(most.unwrap_or(u64::MAX)),
            (_, Some(bytes)) => Turns::Bytes(bytes),
            (_, None) => Turns::Message,
        }
    }

    /// Who shares a quarantine, of the size `tag_queue.quarantine`.
    pub fn quarantine_sharers(&self) -> Sharers {
        self.pools.as_ref().and_then(|pools| pools.quarantine).unwrap_or_default()
    }
}

/// Units of PCEs as pools: the size of each stands where the unit is described, who shares it here.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoolsSpec {
    /// AES lanes, `engine.aes` in each pool. Where the PCEs share them they share GHASH too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "sharers of AES lanes")]
    pub aes: Option<Sharers>,
    /// GHASH, `engine.ghash` in each pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "sharers of GHASH")]
    pub ghash: Option<Sharers>,
    /// When another PCE has its turn; by default `bytes` if `engine_turn` says of how many, else `message`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "turns of PCEs")]
    pub turns: Option<TurnPolicy>,
    /// Quarantines of `tag_queue.quarantine` bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "sharers of a quarantine")]
    pub quarantine: Option<Sharers>,
}

/// When another PCE has its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnPolicy {
    /// When a message is through.
    Message,
    /// After `engine_turn` bytes of a message.
    Bytes,
    /// When the bytes are through that had come as the turn began, at most `engine_turn` of them.
    Need,
}

/// Who shares the units of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sharers {
    /// Nobody: each PCE has its own.
    #[default]
    Pce,
    /// All PCEs of the GPU that seal or open.
    Gpu,
}

/// How the PCEs of an LCE share its secure messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sharing {
    /// Each message goes to one PCE whole.
    PerPce,
    /// Each message is split into contiguous parts, one for each PCE, whose shares of the tag are summed.
    Split,
    /// Each message goes to one PCE whole; all PCEs, those of the other direction too, have one AES-GCM engine between them.
    Shared,
}

/// When a message from host memory begins to be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Opens {
    /// With its first bytes, while the others arrive.
    Arriving,
    /// When all of it has arrived: it waits in device memory, as ciphertext.
    Arrived,
}

/// Bytes that go ahead under `skid` where nothing is said: a quarter of the longest message of the shipped machines. Assumed.
pub const SKID: Bytes = Bytes(256 << 10);

/// The queue of messages whose tags are not yet verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TagQueueSpec {
    /// Entries.
    #[schemars(title = "entries", extend("relaxes" = "up"))]
    pub depth: u32,
    /// Comparators.
    #[schemars(title = "comparators", extend("relaxes" = "up"))]
    pub comparators: u32,
    /// Order in which entries retire.
    #[schemars(title = "order of retirement")]
    pub retirement: Retirement,
    /// When consumers may see plaintext.
    #[schemars(title = "release policy")]
    pub release: Release,
    /// Room for plaintext that waits for its verdict, under `hold` and `skid`.
    #[schemars(title = "room for quarantine", extend("relaxes" = "up"))]
    pub quarantine: Bytes,
    /// Where that room is; in the copy engines if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "place of quarantine")]
    pub quarantine_in: Option<QuarantineIn>,
    /// Bytes of each PCE that go on to device memory ahead of their verdict, under `skid`; [`SKID`] if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "room ahead of the verdict", extend("relaxes" = "up"))]
    pub skid: Option<Bytes>,
    /// When the expected tag is fetched.
    #[schemars(title = "fetch of tags")]
    pub fetch: TagFetch,
    /// Where tags lie in host memory; `separate` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "placement of tags")]
    pub placement: Option<TagPlacement>,
    /// Bytes of a message that each of its tags covers, the last one fewer: a piece, which has a verdict of its own. One tag covers all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "bytes per tag")]
    pub tag_every: Option<Bytes>,
    /// Whether each entry has parity bits, one of what says which message it is of and one of each tag; no if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "parity of entries")]
    pub parity: Option<bool>,
    /// Whether each comparator has a twin that must agree with it; no if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "twins of comparators")]
    pub twin_comparators: Option<bool>,
}

/// Where plaintext waits for its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuarantineIn {
    /// In memories of the copy engines.
    CopyEngine,
    /// In device memory, apart from its destination: it is written there, and read from there when it is verified.
    DeviceMemory,
}

impl TagQueueSpec {
    /// Whether plaintext waits in device memory.
    pub fn waits_in_memory(&self) -> bool {
        self.release == Release::Hold && self.quarantine_in == Some(QuarantineIn::DeviceMemory)
    }

    /// Bytes of each PCE that go on to device memory ahead of their verdict.
    pub fn ahead(&self) -> u64 {
        self.release.ahead(self.skid.unwrap_or(SKID).0)
    }
}

/// Order in which tag-queue entries retire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Retirement {
    /// In launch order.
    InOrder,
    /// As their verdicts come.
    OutOfOrder,
}

/// When the expected tag is fetched from host memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TagFetch {
    /// Before the data.
    BeforeData,
    /// After the data.
    AfterData,
}

/// Where the tag of a message lies in host memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TagPlacement {
    /// In a buffer of tags, read and written on its own.
    #[default]
    Separate,
    /// Right behind the ciphertext, read and written with it.
    Inline,
}

/// Device memory behind the L2, as the copy engine sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HbmSpec {
    /// Clock.
    #[schemars(title = "clock")]
    pub clock: Frequency,
    /// Bytes taken per cycle.
    #[schemars(title = "write rate", extend("relaxes" = "up"))]
    pub write_rate: BytesPerCycle,
    /// From a write being taken to its bytes being visible.
    #[schemars(title = "write latency", extend("relaxes" = "down"))]
    pub write_latency: Cycles,
    /// Bytes given per cycle.
    #[schemars(title = "read rate", extend("relaxes" = "up"))]
    pub read_rate: BytesPerCycle,
    /// From a read being taken to its bytes being there.
    #[schemars(title = "read latency", extend("relaxes" = "down"))]
    pub read_latency: Cycles,
}

/// Kernels, and what hands out the work of streams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComputeSpec {
    /// Clock of the kernels.
    #[schemars(title = "clock")]
    pub clock: Frequency,
    /// Cycles of the copy engine's clock from the moment at which a push may go to its engine to when it goes there. For a push that
    /// waits for nothing they are part of `copy_engine.fetch`.
    #[schemars(title = "scheduling time", extend("relaxes" = "down"))]
    pub schedule: Cycles,
    /// Kernels that run at once.
    #[schemars(title = "kernels at once", extend("relaxes" = "up"))]
    pub slots: u32,
    /// From a kernel's hand-over to its start.
    #[schemars(title = "launch of a kernel", extend("relaxes" = "down"))]
    pub launch: Cycles,
    /// How long a kernel lasts, in thousandths of the time that it is said to run.
    #[schemars(title = "stretch of kernels (thousandths)")]
    pub stretch: u32,
    /// A copy within device memory, made by a kernel: what it takes beyond its bytes.
    #[schemars(title = "launch of a copy in device memory", extend("relaxes" = "down"))]
    pub copy_launch: Cycles,
    /// Level-two cache: a copy stays in it if source and destination fit.
    #[schemars(title = "L2 cache")]
    pub l2: Bytes,
    /// Bytes copied per cycle within it.
    #[schemars(title = "copy rate within the L2 cache", extend("relaxes" = "up"))]
    pub copy_rate_l2: BytesPerCycle,
    /// Bytes copied per cycle from and to device memory.
    #[schemars(title = "copy rate in device memory", extend("relaxes" = "up"))]
    pub copy_rate_hbm: BytesPerCycle,
}

impl ComputeSpec {
    /// Cycles for the bytes of a copy within device memory.
    pub fn cycles_of_copy(&self, bytes: u64) -> u64 {
        let fits = bytes.saturating_mul(2) <= self.l2.0;
        if fits { self.copy_rate_l2 } else { self.copy_rate_hbm }.cycles_for(bytes)
    }
}

/// What units on a bench are built of.
#[cfg(test)]
mod bench {
    use super::*;

    impl CopyEngineSpec {
        pub fn bench() -> Self {
            Self {
                clock: Frequency(1_000_000_000),
                pces_secure: 1,
                pces_plain: 1,
                outstanding_reads: 8,
                request_interval: Cycles(1),
                fetch: Cycles(1),
                method_word: Cycles(1),
                launch: Cycles(10),
                read_buffer: Bytes(8192),
                burst: Bytes(512),
                stripe: Bytes(4096),
                stripes_in_flight: 4,
                completion_timeout: Femtos(500 * 1_000_000),
                messages_in_flight: 2,
                opens: Opens::Arriving,
                open_ghash: None,
                sharing: None,
                engine_clock: None,
                engine_wire: None,
                engine_turn: None,
                pools: None,
                handover_timeout: None,
                flush: Cycles(0),
                turnaround: Cycles(0),
            }
        }
    }

    impl TagQueueSpec {
        pub fn bench() -> Self {
            Self {
                depth: 8,
                comparators: 1,
                retirement: Retirement::InOrder,
                release: Release::WithholdCompletion,
                quarantine: Bytes(0),
                quarantine_in: None,
                skid: None,
                fetch: TagFetch::AfterData,
                placement: None,
                tag_every: None,
                parity: None,
                twin_comparators: None,
            }
        }
    }
}
