//! What of a trace the replay does not model, and how much of it that concerns.

use super::{Ns, long::LONGEST, nccl::collective};
use crate::workload::trace::{CallKind, DeviceKind, DeviceOp, Direction, HostCall, Memory, Trace, named};

/// In sentences; nothing is said of what does not occur.
pub(super) fn missing(trace: &Trace) -> Vec<String> {
    let ops =
        |what: &dyn Fn(&DeviceOp) -> bool| count(trace.device.iter().filter(|op| what(op)).map(|op| op.duration_ns));
    let calls = |what: &dyn Fn(&HostCall) -> bool| {
        count(trace.calls.iter().filter(|call| what(call)).map(|call| call.duration_ns))
    };
    let managed = |op: &DeviceOp| match op.kind {
        DeviceKind::Copy { source, target, .. } => [source, target].contains(&Memory::Managed),
        _ => false,
    };
    let way = |op: &DeviceOp| match op.kind {
        DeviceKind::Copy { direction, .. } => Some(direction),
        _ => None,
    };
    let towards = |direction| move |op: &DeviceOp| way(op) == Some(direction);
    let between = |op: &DeviceOp| [Some(Direction::H2d), Some(Direction::D2h)].contains(&way(op));
    let long = |op: &DeviceOp| between(op) && matches!(op.kind, DeviceKind::Copy { bytes, .. } if bytes > LONGEST);
    let registers = |call: &HostCall| matches!(call.what, CallKind::Register | CallKind::Unregister);
    let all = [
        (ops(&managed), "copies of managed memory are taken as copies of pinned memory"),
        (
            ops(&|op| is_collective(op) && collective(trace, op).is_none()),
            "collectives keep their length, as the trace does not say what they are, how large or of how many GPUs",
        ),
        (
            ops(&|op| collective(trace, op).is_some()),
            "collectives take longer by what the simulated fabric says, where the machine has one for as many GPUs",
        ),
        (ops(&long), "copies of more than 4 GiB are simulated as copies of 1 GiB, one behind the other"),
        (
            ops(&|op| matches!(op.kind, DeviceKind::Copy { bytes: 0, .. }) && between(op)),
            "copies between host and device do not say how many bytes they move: they keep their time, with confidential computing too",
        ),
        (ops(&towards(Direction::P2p)), "copies between GPUs keep their time"),
        (ops(&towards(Direction::H2h)), "copies within host memory keep their time"),
        (
            calls(&registers),
            "calls that lock or unlock host memory keep their time; with confidential computing they are refused",
        ),
    ];
    let told = all.into_iter().filter(|((count, _), _)| *count > 0);
    told.map(|((count, time), what)| format!("{count} {what} ({:.3} ms in all).", time as f64 / 1e6)).collect()
}

/// What a profile does not show, but its calls and names do: memory of the host that kernels read, and multicast.
pub(super) fn hidden(trace: &Trace) -> Vec<String> {
    let calls = |part: &str| {
        let made =
            trace.calls.iter().filter(|call| !call.failed && call.what != CallKind::Query || part.contains("Get"));
        let has = named(&trace.names, |name| name.contains(part));
        made.filter(|call| has(call.name)).count()
    };
    let locks = trace.calls.iter().filter(|call| call.what == CallKind::HostAllocate && !call.failed).count();
    let touches = |op: &DeviceOp| match op.kind {
        DeviceKind::Copy { source, target, .. } => {
            [source, target].iter().any(|memory| !matches!(memory, Memory::Device | Memory::Pageable))
        }
        _ => false,
    };
    let untouched = locks > 0 && !trace.device.iter().any(touches);
    let (pointers, runs) = (calls("HostGetDevicePointer"), trace.device.iter().any(|op| op.kind == DeviceKind::Kernel));
    let is_fused = named(&trace.names, |name| ["NVLS", "multimem"].iter().any(|part| name.contains(part)));
    let (multicast, fused) = (calls("Multicast"), trace.device.iter().filter(|op| is_fused(op.name)).count());
    let read = || {
        format!(
            "Kernels may read memory of the host directly, which a profile does not show: the program allocates locked memory {locks} times and asks {pointers} \
             times where the GPU finds it{}. What such reads and writes cost with confidential computing is not in these figures.",
            if untouched { ", and no copy touches it" } else { "" }
        )
    };
    let sent = || {
        format!(
            "The program uses multicast between GPUs ({multicast} calls, {fused} kernels), which fails with confidential computing: NVLS and all-reduces that \
             are fused by it are off then. What takes their place is not in these figures."
        )
    };
    let read = (runs && (untouched || pointers > 0)).then(read);
    read.into_iter().chain((multicast + fused > 0).then(sent)).collect()
}

const fn is_collective(op: &DeviceOp) -> bool {
    matches!(op.kind, DeviceKind::Collective(_))
}

/// How many, and how long in all.
fn count(durations: impl Iterator<Item = Ns>) -> (u64, Ns) {
    durations.fold((0, 0), |(count, sum), duration| (count + 1, sum.saturating_add(duration)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{sim::Control, workload::trace::Input};

    #[test]
    fn what_is_not_modelled_is_named_with_its_share() {
        let event = |cat: &str, name: &str, more: &str| {
            format!(
                "{{\"ph\":\"X\",\"cat\":\"{cat}\",\"name\":\"{name}\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":250,\"args\":{{\"device\":0,\"stream\":7{more}}}}}"
            )
        };
        let events = [
            event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", ""),
            event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", ",\"bytes\":64"),
            event("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", ",\"bytes\":4294967297"),
            event("cuda_runtime", "cudaHostRegister", ""),
        ];
        let text = format!("{{\"traceEvents\":[{}]}}", events.join(","));
        let input = Input::Bytes { name: "t", bytes: text.as_bytes() };
        let said = missing(&crate::workload::trace::read(input, None, &mut |_, _| Control::Continue).unwrap());
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said[0].starts_with("1 collectives") && said[0].ends_with("(0.250 ms in all)."), "{said:?}");
        assert!(said[1].starts_with("1 copies of more than 4 GiB"), "{said:?}");
        assert!(said[2].starts_with("1 calls that lock"), "{said:?}");
    }

    #[test]
    fn memory_that_kernels_read_and_multicast_are_told_by_calls_and_names() {
        use super::super::testing::{BEGIN, call, job, op, turns};
        let told = |first: &str, kernel: &str, others: &[(&str, &str)]| {
            let mut all = turns(3);
            for (from, to) in others {
                all.iter_mut().for_each(|event| *event = event.replace(from, to));
            }
            all.extend([call(first, 99, BEGIN - 9, 5), op(kernel, 98, 7, (BEGIN + 5_000, 5))]);
            let cautions = job("", &all).cautions;
            cautions.iter().map(|one| one.contains("multicast")).collect::<Vec<_>>()
        };
        let pageable = [("Pinned", "Pageable")];
        assert_eq!(told("cudaHostAlloc", "k", &pageable), [false]);
        assert_eq!(told("cuMemHostAlloc", "k", &[("gpu_memcpy", "kernel")]), [false]);
        assert_eq!(told("cudaHostGetDevicePointer", "k", &[]), [false]);
        assert_eq!(told("cuMulticastCreate", "k", &[]), [true]);
        assert_eq!(told("cudaFree", "ncclDevKernel_AllReduce_Sum_bf16_NVLS(x)", &[]), [true]);
        assert_eq!(told("cudaFree", "multimem_all_reduce_kernel", &pageable), [true]);
        assert_eq!(
            [told("cudaHostAlloc", "k", &[]), told("cuMulticastGetGranularity", "k", &pageable)],
            [const { Vec::<bool>::new() }; 2]
        );
    }
}
