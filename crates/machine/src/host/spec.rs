//! What the host's side of the path is built of.

use super::law::PageableUpload;
use crate::units::{Bytes, BytesPerCycle, Cycles, Frequency};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The CPU that runs driver and cipher.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CpuSpec {
    /// Core clock; the cipher's and the driver's cycles are counted in it.
    #[schemars(title = "clock")]
    pub clock: Frequency,
    /// The family of its cores, by which `cipher.library` finds its rates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "core")]
    pub core: Option<String>,
}

/// AES-GCM, or the path's other AEAD, in software on the CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CipherSpec {
    /// The library with the least version that has its code. The rates of `cpu.core` follow from it where they are not stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "library")]
    pub library: Option<String>,
    /// Threads that seal or open different messages at once.
    #[schemars(title = "threads", extend("relaxes" = "up"))]
    pub threads: u32,
    /// Sealing rate of one thread.
    #[schemars(title = "sealing rate per thread", extend("relaxes" = "up"))]
    pub seal_rate: BytesPerCycle,
    /// Opening rate of one thread.
    #[schemars(title = "opening rate per thread", extend("relaxes" = "up"))]
    pub open_rate: BytesPerCycle,
    /// Cost of each message, whatever its size.
    #[schemars(title = "cost per message", extend("relaxes" = "down"))]
    pub per_message: Cycles,
    /// What the library alone takes for a message, if that is more than `per_message`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "library's cost per message", extend("relaxes" = "down"))]
    pub call: Option<Cycles>,
    /// What the library takes more for a message of 768 B or more, whose code first makes further powers of the hash key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "the same, more for a long message", extend("relaxes" = "down"))]
    pub call_long: Option<Cycles>,
    /// Whether the thread that made the call does the cipher's work itself, between its other work. There is one thread then.
    #[schemars(title = "on the calling thread")]
    pub on_caller: bool,
    /// What the CPU does to the user's data.
    #[schemars(title = "work")]
    pub work: CipherWork,
    /// Sealing before the call and opening after it. All of it is done within the call if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "ahead of calls:")]
    pub ahead: Option<AheadSpec>,
    /// Rate at which one thread makes the CRC of the text that is added to the tag; absent: there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "rate of a CRC of the text", extend("relaxes" = "up"))]
    pub text_crc: Option<BytesPerCycle>,
}

impl CipherSpec {
    /// The shortest message that pays `call_long`: 48 blocks.
    const LONG: u64 = 768;

    /// Cycles of a message besides those of its bytes.
    pub fn fixed(&self, bytes: u64) -> u64 {
        let long = self.call_long.filter(|_| bytes >= Self::LONG);
        let [call, long] = [self.call, long].map(|cost| cost.map_or(0, |cost| cost.0));
        self.per_message.0.max(call.saturating_add(long))
    }
}

/// Longer copies to the GPU are predicted and sealed before they are asked for, with IVs that are predicted too; longer copies from it are
/// opened after their calls have returned. So PipeLLM does.
///
/// The prediction is right for a given part of the copies. Which data a misprediction is of does not matter, only what it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AheadSpec {
    /// Threads that seal ahead, each at `cipher.seal_rate`.
    #[schemars(title = "sealing threads", extend("relaxes" = "up"))]
    pub workers: u32,
    /// Threads that open what calls have left to them, each at `cipher.open_rate`; 0 where calls open all themselves.
    #[schemars(title = "opening threads", extend("relaxes" = "up"))]
    pub open_workers: u32,
    /// Shortest copy that is treated so; shorter ones are sealed and opened within their calls.
    #[schemars(title = "shortest copy")]
    pub least: Bytes,
    /// Of 1000 such copies to the GPU so many are predicted correctly. Misses are spread evenly over the program.
    #[schemars(title = "hits (thousandths)")]
    pub hit_permille: u32,
    /// IVs that a misprediction has taken beyond those that the copy needs. Each is used up by a copy of a byte.
    #[schemars(title = "IVs lost per wrong guess")]
    pub nops: u32,
    /// Room for messages that are sealed and not yet asked for.
    #[schemars(title = "buffer")]
    pub buffer: Bytes,
}

/// What the CPU does to the user's data under confidential computing, on the path to the GPU; on the path back the reverse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CipherWork {
    /// They are plaintext in private memory: it seals them into staging.
    #[default]
    Seal,
    /// They came sealed by the user, a tag for each message: it opens them and seals them again for the GPU.
    Reseal,
    /// They came sealed by the user for the GPU, which has the user's key: it copies them into staging as they are.
    Forward,
    /// The same, and they lie in shared memory already: it does nothing.
    InPlace,
}

/// Private memory behind the caches of the core that seals, opens and copies.
///
/// What a pass over memory costs beyond its work on bytes in the L2 is given as rates: the part of fetching that the core does not hide
/// behind that work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemorySpec {
    /// Capacity of the core's L2.
    #[schemars(title = "L2 cache")]
    pub l2: Bytes,
    /// Capacity of the last-level cache that the guest finds.
    #[schemars(title = "last-level cache")]
    pub llc: Bytes,
    /// What is not in the L2 costs bytes / this rate more.
    #[schemars(title = "last-level cache rate", extend("relaxes" = "up"))]
    pub llc_rate: BytesPerCycle,
    /// What is not in the last-level cache either costs bytes / this rate on top.
    #[schemars(title = "DRAM rate", extend("relaxes" = "up"))]
    pub dram_rate: BytesPerCycle,
    /// A copy from pageable memory to staging takes bytes / this rate longer for what is in no cache. If absent, `driver.pageable_copy_rate` holds for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "DRAM rate of plain copies", extend("relaxes" = "up"))]
    pub copy_dram_rate: Option<BytesPerCycle>,
    /// Opening takes bytes / this rate longer where its destination is in no cache. If absent, stores wait for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "DRAM rate of opening", extend("relaxes" = "up"))]
    pub open_dram_rate: Option<BytesPerCycle>,
    /// What all cores of a socket together get from its memory; sessions of several GPUs share it. No limit if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "rate of a socket", extend("relaxes" = "up"))]
    pub socket_rate: Option<BytesPerCycle>,
    /// First touch of a 4 KiB page of pageable memory, in a buffer of less than 2 MiB.
    #[schemars(title = "first touch of a page", extend("relaxes" = "down"))]
    pub first_touch: Cycles,
    /// First touch of a huge page of 2 MiB, in which longer pageable buffers lie.
    #[schemars(title = "first touch of a huge page", extend("relaxes" = "down"))]
    pub first_touch_huge: Cycles,
    /// First touch of a page of pinned memory by the CPU, which only happens under confidential computing.
    #[schemars(title = "first touch of a pinned page", extend("relaxes" = "down"))]
    pub first_touch_pinned: Cycles,
}

/// What it costs to reach the memory of another socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NumaSpec {
    /// Added to each read and write of a GPU, in cycles of the root complex.
    #[schemars(title = "latency", extend("relaxes" = "down"))]
    pub latency: Cycles,
    /// What the link between sockets carries one way, in cycles of the CPU. GPUs and cores that cross it share it in equal parts.
    #[schemars(title = "rate", extend("relaxes" = "up"))]
    pub rate: BytesPerCycle,
}

/// How many pushes of a copy through staging may be in flight: submitted and not yet done with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InFlightSpec {
    /// Host to device: from the first byte put into staging until the GPU has fetched them.
    #[schemars(title = "h2d", extend("relaxes" = "up"))]
    pub h2d: u32,
    /// Device to host: from the push until its bytes are where they belong.
    #[schemars(title = "d2h", extend("relaxes" = "up"))]
    pub d2h: u32,
}

/// Copies of few bytes through staging: they take one more pass over their bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmallSpec {
    /// Longest such copy; 0 B for none.
    #[schemars(title = "longest")]
    pub limit: Bytes,
    /// Longest such copy from the GPU; as `limit` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "longest d2h")]
    pub limit_d2h: Option<Bytes>,
    /// Rate of the pass.
    #[schemars(title = "rate", extend("relaxes" = "up"))]
    pub rate: BytesPerCycle,
    /// Under confidential computing: each line of 64 B of the copy's first page that is in no cache costs this on top, before any
    /// prefetcher has seen the stream.
    #[schemars(title = "time per cold line, CC on", extend("relaxes" = "down"))]
    pub secure_cold_line: Cycles,
    /// Under confidential computing: what else is in no cache costs bytes / this rate on top.
    #[schemars(title = "cold rate, CC on", extend("relaxes" = "up"))]
    pub secure_cold_rate: BytesPerCycle,
}

impl SmallSpec {
    /// Whether a copy takes that pass; `outward` if it comes from the GPU.
    pub fn covers(&self, bytes: Bytes, outward: bool) -> bool {
        bytes <= self.limit_d2h.filter(|_| outward).unwrap_or(self.limit)
    }
}

/// What a call costs more when the caches have been driven out since the last one: the driver's own data and page tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ColdCallSpec {
    /// A copy to the GPU.
    #[schemars(title = "h2d", extend("relaxes" = "down"))]
    pub h2d: Cycles,
    /// A copy from the GPU.
    #[schemars(title = "d2h", extend("relaxes" = "down"))]
    pub d2h: Cycles,
    /// What confidential computing adds.
    #[schemars(title = "more with CC", extend("relaxes" = "down"))]
    pub secure: Cycles,
}

/// Shared (unprotected) memory through which sealed messages pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StagingSpec {
    /// Size of one buffer.
    #[schemars(title = "buffer size")]
    pub buffer: Bytes,
    /// Buffers in the pool.
    #[schemars(title = "buffers", extend("relaxes" = "up"))]
    pub buffers: u32,
}

/// How one kind of host memory travels under confidential computing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathSpec {
    /// Messages are so long, but for a copy's last: one IV, one tag, one launch.
    #[schemars(title = "message length")]
    pub message: Bytes,
    /// Bytes that are sealed before their launches are submitted together in one push; from the GPU, [`DriverSpec::push_d2h`] counts.
    #[schemars(title = "push length")]
    pub push: Bytes,
}

/// Bytes that one push brings from the GPU into staging, in whole messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PushD2hSpec {
    /// Of pinned memory, under confidential computing.
    #[schemars(title = "pinned memory, CC on")]
    pub pinned: Bytes,
    /// Of pageable memory, under confidential computing.
    #[schemars(title = "pageable memory, CC on")]
    pub pageable: Bytes,
    /// Of pageable memory without.
    #[schemars(title = "pageable memory, CC off")]
    pub pageable_plain: Bytes,
}

/// Driver and runtime work around the copies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriverSpec {
    /// From the API call to the first work on the copy.
    #[schemars(title = "call to first work", extend("relaxes" = "down"))]
    pub call: Cycles,
    /// Building a push of a copy, plain.
    #[schemars(title = "building of a push", extend("relaxes" = "down"))]
    pub push: Cycles,
    /// Call and push of a kernel, or of a copy within the GPU, plain.
    #[schemars(title = "launch of a kernel", extend("relaxes" = "down"))]
    pub launch: Cycles,
    /// What sealing a push and handing it over through the launch channel adds under confidential computing.
    #[schemars(title = "sealing of a push", extend("relaxes" = "down"))]
    pub secure_push: Cycles,
    /// From the semaphore's release being visible to the driver having seen it, plain.
    #[schemars(title = "completion", extend("relaxes" = "down"))]
    pub completion: Cycles,
    /// What opening an encrypted completion record adds.
    #[schemars(title = "opening of a completion record", extend("relaxes" = "down"))]
    pub secure_completion: Cycles,
    /// Pageable memory without confidential computing: copy rate into pinned staging.
    #[schemars(title = "copy rate into staging, pageable memory, CC off", extend("relaxes" = "up"))]
    pub pageable_copy_rate: BytesPerCycle,
    /// Pinned memory under confidential computing.
    #[schemars(title = "pinned memory,")]
    pub pinned: PathSpec,
    /// Pageable memory under confidential computing.
    #[schemars(title = "pageable memory,")]
    pub pageable: PathSpec,
    /// Pageable memory without: pieces that are copied through pinned staging.
    #[schemars(title = "pageable memory, CC off,")]
    pub pageable_plain: PathSpec,
    /// Pushes from the GPU.
    #[schemars(title = "d2h push length,")]
    pub push_d2h: PushD2hSpec,
    /// Pushes in flight under confidential computing, of pinned memory.
    #[schemars(title = "pushes under way, pinned memory, CC on,")]
    pub in_flight: InFlightSpec,
    /// The same of pageable memory.
    #[schemars(title = "pushes under way, pageable memory, CC on,")]
    pub in_flight_pageable: InFlightSpec,
    /// Pushes in flight without, of pageable memory.
    #[schemars(title = "pushes under way, pageable memory, CC off,")]
    pub in_flight_plain: InFlightSpec,
    /// Copies of few bytes.
    #[schemars(title = "small copies,")]
    pub small: SmallSpec,
    /// Calls after the caches were driven out.
    #[schemars(title = "cold call,")]
    pub cold_call: ColdCallSpec,
    /// When a call from pageable memory to the GPU returns under confidential computing.
    #[serde(default)]
    #[schemars(title = "return of uploads of pageable memory, CC on")]
    pub pageable_upload: PageableUpload,
    /// The same without.
    #[serde(default)]
    #[schemars(title = "return of uploads of pageable memory, CC off")]
    pub pageable_upload_plain: PageableUpload,
}

impl DriverSpec {
    /// When a call from pageable memory to the GPU returns in a mode.
    pub const fn upload(&self, secure: bool) -> PageableUpload {
        if secure { self.pageable_upload } else { self.pageable_upload_plain }
    }
}
