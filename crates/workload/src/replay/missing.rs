//! What of a trace the replay does not model, and how much of it that concerns.

use super::{Ns, long::LONGEST, nccl::collective};
use crate::workload::trace::{CallKind, DeviceKind, DeviceOp, Direction, HostCall, Memory, Trace};

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

const fn is_collective(op: &DeviceOp) -> bool {
    matches!(op.kind, DeviceKind::Collective { .. })
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
}
