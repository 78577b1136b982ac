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
    #[schemars(title = "context creation, more with CC")]
    pub context: Femtos,
    /// Kernels and graphs.
    #[schemars(title = "launch:")]
    pub launch: LaunchCallSpec,
    /// From the return of a launch to the start of its operation on an idle stream.
    #[schemars(title = "submission,")]
    pub submission: ModesSpec,
    /// From the end of an operation to the return of a call that waits for it.
    #[schemars(title = "completion,")]
    pub completion: ModesSpec,
    /// Between two operations of a stream that are both queued.
    #[schemars(title = "gap between operations,")]
    pub gap: ModesSpec,
    /// From the return of a call that records an event to the event on an idle stream.
    #[schemars(title = "recorded event,")]
    pub event: ModesSpec,
    /// What a wait for nothing takes longer with confidential computing.
    #[schemars(title = "wait for nothing, more with CC")]
    pub idle_wait: Femtos,
    /// Most of what a copy's call takes longer in a profile than simulated that is kept with confidential computing.
    #[schemars(title = "excess of a copy that is kept")]
    pub copy_excess: Femtos,
    /// `cudaMemset` and its like.
    #[schemars(title = "memset,")]
    pub memset: CallSpec,
    /// `cudaEventRecord`.
    #[schemars(title = "event record,")]
    pub event_record: CallSpec,
    /// `cudaEventCreate`.
    #[schemars(title = "event creation,")]
    pub event_create: CallSpec,
    /// `cudaStreamWaitEvent`.
    #[schemars(title = "stream wait,")]
    pub stream_wait: CallSpec,
    /// `cudaGetDeviceProperties`.
    #[schemars(title = "device properties,")]
    pub properties: CallSpec,
    /// `cudaMalloc` and its like.
    #[schemars(title = "allocation,")]
    pub allocate: SizedSpec,
    /// `cudaFree`, behind what it waits for.
    #[schemars(title = "free,")]
    pub free: SizedSpec,
    /// `cudaMallocHost` and its like.
    #[schemars(title = "host allocation,")]
    pub allocate_host: HostAllocationSpec,
    /// `cudaFreeHost`: the share is of the time that the allocation took.
    #[schemars(title = "host free,")]
    pub free_host: CallSpec,
}

impl LaunchCallSpec {
    /// What a launch takes longer with confidential computing, of one that takes so long without; under a profiler not counted.
    pub fn more(&self, off: Femtos) -> Femtos {
        let twice = u128::from(off.0) * u128::from(self.secure.permille) / 1000;
        let more = u64::try_from(twice).unwrap_or(u64::MAX).saturating_sub(off.0).saturating_add(self.secure.add.0);
        Femtos(more).min(self.most)
    }
}

/// What a call takes with confidential computing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallSpec {
    /// Thousandths of what it takes without.
    #[schemars(title = "factor with CC (thousandths)")]
    pub permille: u32,
    /// And so much more.
    #[schemars(title = "more with CC")]
    pub add: Femtos,
}

/// The same of a call that does more from some duration on: it then reaches the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizedSpec {
    /// That duration, without confidential computing.
    #[schemars(title = "least long duration")]
    pub from: Femtos,
    /// Below it.
    #[schemars(title = "short,")]
    pub short: CallSpec,
    /// From it on.
    #[schemars(title = "long,")]
    pub long: CallSpec,
}

/// Allocations of locked host memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostAllocationSpec {
    /// From which duration on an allocation has pages of its own.
    #[schemars(title = "least duration with own pages")]
    pub from: Femtos,
    /// Out of a slab that is there.
    #[schemars(title = "in a slab,")]
    pub short: CallSpec,
    /// With pages of its own.
    #[schemars(title = "own pages,")]
    pub long: CallSpec,
    /// One that makes a slab, in a program that has short ones: all of its time.
    #[schemars(title = "making a slab")]
    pub slab: Femtos,
    /// Shortest duration of one that makes a slab, without confidential computing.
    #[schemars(title = "shortest that makes a slab")]
    pub slab_from: Femtos,
    /// Longest.
    #[schemars(title = "longest that makes a slab")]
    pub slab_to: Femtos,
}

/// A time without and with confidential computing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModesSpec {
    /// Without.
    #[schemars(title = "CC off")]
    pub off: Femtos,
    /// With.
    #[schemars(title = "CC on")]
    pub secure: Femtos,
}

/// Launches of kernels and graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LaunchCallSpec {
    /// The second launch of a row, without confidential computing. The first loads a module.
    #[schemars(title = "second of a row")]
    pub second: Femtos,
    /// Each further one.
    #[schemars(title = "each further")]
    pub next: Femtos,
    /// What launches take with confidential computing.
    #[schemars(title = "all,")]
    pub secure: CallSpec,
    /// But so much more at most, profiler included: what was measured.
    #[schemars(title = "most more with CC")]
    pub most: Femtos,
    /// And how much more under a profiler.
    #[schemars(title = "more under a profiler")]
    pub profiled: Femtos,
    /// What the first launch of a function takes longer with confidential computing.
    #[schemars(title = "first of a function, more with CC")]
    pub function: Femtos,
    /// Operations of a stream that may wait for the GPU; a launch waits for the next place.
    #[schemars(title = "queue of a stream")]
    pub queue: u32,
}
