//! What calls of the CUDA runtime cost, with and without confidential computing.
//!
//! A profile taken without confidential computing says how long each call took then. This table says what becomes of that time: a call takes
//! `permille` thousandths of it and `add` more. Copies between host and device are not here: they are simulated.

use crate::units::Femtos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallsSpec {
    /// What the creation of a context takes longer with confidential computing: the first call of a process, whatever it is.
    pub context: Femtos,
    /// Kernels and graphs.
    pub launch: LaunchCallSpec,
    /// From the return of a launch to the start of its operation on an idle stream.
    pub submission: ModesSpec,
    /// From the end of an operation to the return of a call that waits for it.
    pub completion: ModesSpec,
    /// Between two operations of a stream that are both queued.
    pub gap: ModesSpec,
    /// From the return of a call that records an event to the event on an idle stream.
    pub event: ModesSpec,
    /// What a wait for nothing takes longer with confidential computing.
    pub idle_wait: Femtos,
    /// Most of what a copy's call takes longer in a profile than simulated that is kept with confidential computing.
    pub copy_excess: Femtos,
    /// `cudaMemset` and its like.
    pub memset: CallSpec,
    /// `cudaEventRecord`.
    pub event_record: CallSpec,
    /// `cudaEventCreate`.
    pub event_create: CallSpec,
    /// `cudaStreamWaitEvent`.
    pub stream_wait: CallSpec,
    /// `cudaGetDeviceProperties`.
    pub properties: CallSpec,
    /// `cudaMalloc` and its like.
    pub allocate: SizedSpec,
    /// `cudaFree`, behind what it waits for.
    pub free: SizedSpec,
    /// `cudaMallocHost` and its like.
    pub allocate_host: HostAllocationSpec,
    /// `cudaFreeHost`: the share is of the time that the allocation took.
    pub free_host: CallSpec,
}

/// What a call takes with confidential computing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallSpec {
    /// Thousandths of what it takes without.
    pub permille: u32,
    /// And so much more.
    pub add: Femtos,
}

/// The same of a call that does more from some duration on: it then reaches the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizedSpec {
    /// That duration, without confidential computing.
    pub from: Femtos,
    /// Below it.
    pub short: CallSpec,
    /// From it on.
    pub long: CallSpec,
}

/// Allocations of locked host memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostAllocationSpec {
    /// From which duration on an allocation has pages of its own.
    pub from: Femtos,
    /// Out of a slab that is there.
    pub short: CallSpec,
    /// With pages of its own.
    pub long: CallSpec,
    /// One that makes a slab, in a program that has short ones: all of its time.
    pub slab: Femtos,
    /// Shortest duration of one that makes a slab, without confidential computing.
    pub slab_from: Femtos,
    /// Longest.
    pub slab_to: Femtos,
}

/// A time without and with confidential computing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModesSpec {
    /// Without.
    pub off: Femtos,
    /// With.
    pub secure: Femtos,
}

/// Launches of kernels and graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LaunchCallSpec {
    /// The second launch of a row, without confidential computing. The first loads a module.
    pub second: Femtos,
    /// Each further one.
    pub next: Femtos,
    /// What launches take with confidential computing.
    pub secure: CallSpec,
    /// And how much more under a profiler.
    pub profiled: Femtos,
    /// What the first launch of a function takes longer with confidential computing.
    pub function: Femtos,
    /// Operations of a stream that may wait for the GPU; a launch waits for the next place.
    pub queue: u32,
}
