//! Whether a pass over the buffers of some work finds the same in the caches from its beginning to its end.

use crate::{
    config::MachineSpec,
    host::Stride,
    system::Direction,
    workload::{Workload, WorkloadStep},
};
use std::collections::{BTreeMap, BTreeSet};

/// Buffers of six times a cache leave exp(-6) of it to be found, by random replacement; of half of it, all is found.
const TIMES: u64 = 6;

/// Whether each GPU's session passes over buffers that its last-level cache holds, or over so many that it holds next to nothing of them.
pub(super) fn are_plain(machine: &MachineSpec, workload: &Workload) -> bool {
    let mut by_gpu: BTreeMap<usize, u64> = BTreeMap::new();
    let mut known = BTreeSet::new();
    let mut steps = workload.steps.iter().flatten().filter_map(|step| match step {
        WorkloadStep::Copy { buffer, .. } => Some(buffer.as_deref()),
        _ => None,
    });
    for copy in &workload.copies {
        let name = steps.next().flatten();
        let own = machine.of_gpu(copy.gpu);
        let secure = own.sealed_path();
        let stride = Stride::of((&own.driver, &own.staging), secure, (copy.direction, copy.memory));
        let passes = copy.direction != Direction::D2d && stride.turn.is_some();
        if passes && name.is_none_or(|name| known.insert(name)) {
            let bytes = by_gpu.entry(copy.gpu).or_default();
            *bytes = bytes.saturating_add(copy.bytes);
        }
    }
    // Sessions of a socket share it: fewer may, so that both bounds are the wider ones.
    let sessions = by_gpu.len().max(1) as u64;
    by_gpu.into_iter().all(|(gpu, bytes)| {
        let cache = machine.of_gpu(gpu).memory.llc.0;
        bytes <= cache / sessions / 2 || bytes >= cache.saturating_mul(TIMES)
    })
}
