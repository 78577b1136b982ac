//! Whether a profile was taken with confidential computing on, by what it shows.
//!
//! | in the profile | |
//! | --- | --- |
//! | copies from device to device with one side that is managed | pinned copies, as a profiler names them with CC |
//! | copies between host and device with a side that is managed, not by page faults, with locked memory, slow or with a long context | the same |
//! | a context that took a second or more, with slow copies or slow launches | CC |

use super::{Ns, job::Job, managed::Managed};
use crate::workload::trace::{CallKind, DeviceKind, Direction, Memory, Trace};

/// A context takes 1.1 s with CC, and 0.2 s without.
const CONTEXT: Ns = 1_000_000_000;
/// Copies of at least so many bytes show what copies take: with CC 2 to 6 bytes a nanosecond, without 12 to 55.
const LARGE: u64 = 1 << 20;
const SLOW: u64 = 8;
/// Nine of ten launches take at least so long with CC, and less without.
const LAUNCH: Ns = 9_000;
/// Parts of names of GPUs that have confidential computing: GH200 and GB300 are of them.
const GPUS: [&str; 8] = ["H100", "H200", "H800", "H20", "B100", "B200", "B300", "Blackwell"];
/// Fewer launches say nothing.
const LAUNCHES: usize = 10;

/// Why a job is taken for one with CC on, in a sentence; nothing if it is not.
pub(super) fn secure(trace: &Trace, job: &Job) -> Option<String> {
    let can = |name: &str| name.is_empty() || GPUS.iter().any(|known| name.contains(known));
    if trace.gpu.as_deref().is_some_and(|name| !can(name)) {
        return None;
    }
    let (mut renamed, mut moved, mut rates) = (0, 0, Vec::new());
    for op in &trace.device {
        let DeviceKind::Copy { direction, bytes, source, target } = op.kind else { continue };
        let managed = (source == Memory::Managed) != (target == Memory::Managed);
        *(if direction == Direction::D2d { &mut renamed } else { &mut moved }) += usize::from(managed);
        if bytes >= LARGE && (managed || [source, target].contains(&Memory::Pinned)) {
            rates.push(bytes / op.duration_ns.max(1));
        }
    }
    rates.sort_unstable();
    let slow = rates.get(rates.len() / 2).copied().filter(|rate| *rate < SLOW);
    let context = job.beginning.creates.iter().map(|call| job.calls[*call as usize].duration).max();
    let context = context.filter(|duration| *duration >= CONTEXT);
    let launches = job.calls.iter().filter(|call| call.kind == CallKind::Launch && !call.failed);
    let mut launches: Vec<Ns> = launches.map(|call| call.duration).collect();
    launches.sort_unstable();
    let launch = launches.get(launches.len() / 10).copied();
    let launch = launch.filter(|duration| launches.len() >= LAUNCHES && *duration >= LAUNCH);
    let locks = trace.calls.iter().any(|call| call.what == CallKind::HostAllocate && !call.failed);
    let by_managed = Managed::of(trace).is_none_or(|managed| managed.calls == 0 && managed.faults == 0)
        && (renamed > 0 || moved > 0 && (locks || slow.is_some() || context.is_some()));
    if !by_managed && (context.is_none() || slow.is_none() && launch.is_none()) {
        return None;
    }
    let seen = [
        by_managed.then(|| format!("{} copies of host memory are shown as managed", renamed + moved)),
        slow.map(|rate| format!("large copies take {} GB/s at most", rate + 1)),
        context.map(|duration| format!("the context took {:.2} s", duration as f64 / 1e9)),
        launch.map(|duration| format!("launches take {:.1} us and more", duration as f64 / 1e3)),
    ];
    let seen: Vec<_> = seen.into_iter().flatten().collect();
    Some(format!(
        "The profile looks as if it was taken with confidential computing on: {}. No slow-down is given, which takes a profile with it off.",
        seen.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{BEGIN, call, job, turns};

    /// The reason that is given, if any, of twelve turns in which texts are others, after a call.
    fn reason(gpu: &str, first: &str, takes: u64, others: &[(&str, &str)]) -> String {
        let mut all = turns(12);
        for (from, to) in others {
            all.iter_mut().for_each(|event| *event = event.replace(from, to));
        }
        all.push(call(first, 99, BEGIN - takes - 10, takes));
        let job = job(gpu, &all);
        job.cautions.first().filter(|_| job.no_slowdown).cloned().unwrap_or_default()
    }

    #[test]
    fn a_profile_with_confidential_computing_is_recognised() {
        let (renamed, moved) = (("HtoD (Pinned", "DtoD (Managed"), ("(Pinned", "(Managed"));
        let slow = (r#""dur":26,"#, r#""dur":420,"#);
        let apart = (r#""stream":7,"#, r#""stream":8,"#);
        let launch = (r#""dur":4,"#, r#""dur":11,"#);
        for (gpu, first, takes, others) in [
            ("", "cudaGetDevice", 5, vec![renamed]),
            ("NVIDIA H100 NVL", "cudaMallocHost", 1_170_000, vec![renamed, slow, apart, launch]),
            ("NVIDIA H20", "cudaMallocHost", 300, vec![moved]),
            ("NVIDIA B200", "cudaMalloc", 1_135_000, vec![launch]),
            ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "cudaMalloc", 1_135_000, vec![slow, apart]),
        ] {
            assert!(reason(gpu, first, takes, &others).contains("confidential computing on"), "{gpu} {others:?}");
        }
        for (gpu, first, takes, others) in [
            ("NVIDIA H100 NVL", "cudaGetDevice", 5, vec![]),
            ("NVIDIA H100 NVL", "cudaMalloc", 1_700_000, vec![]),
            ("NVIDIA H100 NVL", "cudaMalloc", 170_000, vec![slow, apart, launch]),
            ("NVIDIA A100-SXM4-80GB", "cudaMalloc", 1_700_000, vec![renamed, slow, apart, launch]),
        ] {
            assert_eq!(reason(gpu, first, takes, &others), "", "{gpu} {others:?}");
        }
        let managed = reason("NVIDIA H100 NVL", "cudaMallocManaged", 1_170_000, &[moved, slow]);
        assert!(managed.contains("uses managed memory"), "{managed}");
    }
}
