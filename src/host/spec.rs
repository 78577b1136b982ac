//! What the host's side of the path is built of.

use crate::units::{Bytes, BytesPerCycle, Cycles, Frequency};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The CPU that runs driver and cipher.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CpuSpec {
    /// Core clock; the cipher's and the driver's cycles are counted in it.
    pub clock: Frequency,
}

/// AES-GCM in software on the CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CipherSpec {
    /// Threads that seal or open different messages at once.
    pub threads: u32,
    /// Sealing rate of one thread.
    pub seal_rate: BytesPerCycle,
    /// Opening rate of one thread.
    pub open_rate: BytesPerCycle,
    /// Cost of each message, whatever its size.
    pub per_message: Cycles,
}

/// Shared (unprotected) memory through which sealed messages pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StagingSpec {
    /// Size of one buffer.
    pub buffer: Bytes,
    /// Buffers in the pool.
    pub buffers: u32,
}

/// How one kind of host memory travels under confidential computing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathSpec {
    /// Longest message: one IV, one tag, one launch.
    pub message: Bytes,
    /// Bytes that are sealed before their launches are submitted together in one push.
    pub push: Bytes,
}

/// Driver and runtime work around the copies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriverSpec {
    /// From the API call to the first work on the copy.
    pub call: Cycles,
    /// Building a push, plain.
    pub push: Cycles,
    /// What sealing a push and handing it over through the launch channel adds under confidential computing.
    pub secure_push: Cycles,
    /// From the semaphore's release being visible to the driver having seen it, plain.
    pub completion: Cycles,
    /// What opening an encrypted completion record adds.
    pub secure_completion: Cycles,
    /// Pageable memory without confidential computing: copy rate into pinned staging.
    pub pageable_copy_rate: BytesPerCycle,
    /// Pinned memory under confidential computing.
    pub pinned: PathSpec,
    /// Pageable memory under confidential computing; without it, its copies into pinned staging have the same sizes.
    pub pageable: PathSpec,
}
