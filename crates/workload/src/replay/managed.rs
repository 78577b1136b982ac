//! Managed memory, which the replay does not model: a profile in which it moves gets no slow-down.
//!
//! | in the profile | |
//! | --- | --- |
//! | migrations: copies between host and device with a side that is managed (`Unified Host-to-Device`, `Managed -> Device`) | managed |
//! | page faults of unified memory (tables `CUDA_UM_...` of Nsight Systems) | managed |
//! | calls that allocate managed memory, or move it ahead (`cudaMallocManaged`, `cudaMemPrefetchAsync`) and do not fail | managed |
//! | copies with a side that is managed, and nothing else of the above | may be [pinned memory with confidential computing](super::secure) |

use crate::workload::trace::{DeviceKind, DeviceOp, Direction, Memory, Trace, named};

/// How much of managed memory a profile shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Managed {
    /// Copies that the driver makes, or that the program makes of managed memory.
    pub copies: u64,
    pub faults: u64,
    /// Calls that allocate managed memory or move it ahead.
    pub calls: u64,
}

/// Parts of names of calls that allocate managed memory, or move it.
const CALLS: &[&str] = &["MallocManaged", "MemAllocManaged", "MemPrefetch"];

impl Managed {
    /// What a profile shows; nothing if there is no managed memory in it.
    pub(super) fn of(trace: &Trace) -> Option<Self> {
        let moves = |op: &&DeviceOp| match op.kind {
            DeviceKind::Copy { direction, source, target, .. } => {
                [source, target].contains(&Memory::Managed) && matches!(direction, Direction::H2d | Direction::D2h)
            }
            _ => false,
        };
        let is_managed = named(&trace.names, |name| CALLS.iter().any(|part| name.contains(part)));
        let faults = trace.events.left_out.iter().filter(|(reason, _)| reason.contains("table CUDA_UM_"));
        let found = Self {
            copies: trace.device.iter().filter(moves).count() as u64,
            faults: faults.fold(0, |sum, (_, count)| sum.saturating_add(*count)),
            calls: trace.calls.iter().filter(|call| !call.failed && is_managed(call.name)).count() as u64,
        };
        (found != Self::default()).then_some(found)
    }

    pub(super) fn notice(self) -> String {
        let Self { copies, faults, calls } = self;
        let parts = [(copies, "copies of it"), (faults, "page faults"), (calls, "calls that allocate or move it")];
        let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        format!(
            "No slow-down is given: the program uses managed memory ({}), whose page faults and migrations with confidential computing are not modelled; \
             measured programs took 6 to 250 times as long. Only calls that neither wait for the GPU nor copy are told, each by itself.",
            parts.collect::<Vec<_>>().join(", ")
        )
    }
}
