//! What a call of the runtime or driver is for, by its name: `cudaMemcpyAsync`, `hipMemcpyAsync` and `cuMemcpyHtoDAsync_v2` copy.

use super::model::{CallKind, Waited};

/// Where in a name a word has to be.
enum At {
    Whole,
    Start,
    Anywhere,
}

use At::{Anywhere, Start, Whole};

/// Names without prefix and suffix, in order: the first that fits counts.
const TABLE: &[(At, &[&str], CallKind)] = &[
    (Start, &["MemcpyAsync"], CallKind::Copy { blocking: false }),
    (Start, &["Memcpy"], CallKind::Copy { blocking: true }),
    (Start, &["Memset"], CallKind::Memset),
    (Start, &["GraphLaunch"], CallKind::GraphLaunch),
    (Whole, &["LaunchHostFunc"], CallKind::Other),
    (Start, &["Launch", "ModuleLaunch", "ExtLaunch", "ExtModuleLaunch", "HccModuleLaunch"], CallKind::Launch),
    (Anywhere, &["EnqueueKernelLaunch"], CallKind::Launch),
    (Whole, &["DeviceSynchronize", "CtxSynchronize", "ThreadSynchronize"], CallKind::Synchronize(Waited::Device)),
    (Whole, &["StreamSynchronize"], CallKind::Synchronize(Waited::Stream)),
    (Whole, &["EventSynchronize"], CallKind::Synchronize(Waited::Event)),
    (Start, &["EventRecord"], CallKind::EventRecord),
    (Whole, &["StreamWaitEvent"], CallKind::StreamWait),
    (Whole, &["MallocHost", "HostAlloc", "HostMalloc", "MemAllocHost", "MemHostAlloc"], CallKind::HostAllocate),
    (Whole, &["HostRegister", "MemHostRegister"], CallKind::Register),
    (Whole, &["HostUnregister", "MemHostUnregister"], CallKind::Unregister),
    (Start, &["Malloc", "MemAlloc", "MemCreate", "MemMap", "ExtMalloc"], CallKind::Allocate),
    (Start, &["Free", "MemFree", "HostFree", "MemUnmap", "MemRelease"], CallKind::Free),
    (Start, &["ModuleLoad", "LibraryLoad"], CallKind::Load),
    (Anywhere, &["Get", "Query", "IsCapturing", "Occupancy", "ElapsedTime", "CanAccessPeer"], CallKind::Query),
];

pub(super) fn kind(name: &str) -> CallKind {
    let stem = stem(name);
    let fits = |at: &At, words: &[&str]| {
        words.iter().any(|word| match at {
            Whole => stem == *word,
            Start => stem.starts_with(word),
            Anywhere => stem.contains(word),
        })
    };
    let found = TABLE.iter().find(|(at, words, _)| fits(at, words)).map_or(CallKind::Other, |(_, _, kind)| *kind);
    match found {
        // `MemcpyHtoDAsync`, `Memcpy2DToArrayAsync`, `MemcpyPeerAsync`.
        CallKind::Copy { .. } => CallKind::Copy { blocking: !stem.contains("Async") },
        other => other,
    }
}

/// A name without the prefix of its interface and without what distinguishes versions of one call.
fn stem(name: &str) -> &str {
    let mut stem = ["cuda", "hip", "cu"].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    while let Some((rest, suffix)) = stem.rsplit_once('_') {
        let version = suffix.strip_prefix('v').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        if !(version || ["ptsz", "ptds", "spt"].contains(&suffix)) {
            break;
        }
        stem = rest;
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_told_by_their_names() {
        use CallKind::*;
        let names = [
            ("cudaMemcpy", Copy { blocking: true }),
            ("cudaMemcpyAsync_ptsz", Copy { blocking: false }),
            ("cuMemcpyHtoDAsync_v2_ptsz", Copy { blocking: false }),
            ("hipMemcpyWithStream", Copy { blocking: true }),
            ("cudaMemcpy2DToArrayAsync", Copy { blocking: false }),
            ("cudaMemsetAsync", Memset),
            ("cudaLaunchKernelExC_v11060", Launch),
            ("hipExtModuleLaunchKernel", Launch),
            ("cudaLaunchHostFunc", Other),
            ("cudaGraphLaunch_v10000", GraphLaunch),
            ("cudaDeviceSynchronize", Synchronize(Waited::Device)),
            ("cuStreamSynchronize", Synchronize(Waited::Stream)),
            ("cudaEventSynchronize", Synchronize(Waited::Event)),
            ("cudaEventRecordWithFlags", EventRecord),
            ("cudaStreamWaitEvent", StreamWait),
            ("cudaMallocHost", HostAllocate),
            ("cudaMallocAsync", Allocate),
            ("cuMemAlloc_v2", Allocate),
            ("cudaFreeHost", Free),
            ("cudaHostRegister", Register),
            ("cuModuleLoadData", Load),
            ("cuModuleGetLoadingMode", Query),
            ("cudaEventQuery", Query),
            ("cudaStreamIsCapturing_v10000", Query),
            ("cudaEventCreate", Other),
            ("", Other),
        ];
        names.into_iter().for_each(|(name, expected)| assert_eq!(kind(name), expected, "{name}"));
    }
}
