//! Collectives as profilers write them.

use crate::workload::{
    collective::{Collective, CollectiveCall},
    trace::{Communication, DeviceKind, DeviceOp, Trace},
};

/// The collective that an operation is, if the trace says which one, how large, and of how many GPUs.
pub(super) fn collective(trace: &Trace, op: &DeviceOp) -> Option<CollectiveCall> {
    let DeviceKind::Collective(sent) = &op.kind else { return None };
    let Communication { op, bytes_in, bytes_out, ranks, .. } = **sent;
    let kind = kind(trace.name(op))?;
    let bytes = if kind == Collective::AllGather { bytes_out.or(bytes_in) } else { bytes_in.or(bytes_out) }?;
    let call = CollectiveCall { kind, ranks: ranks? as usize, bytes };
    call.refuse().is_none().then_some(call)
}

/// A collective by a profiler's name: `allreduce`, `_allgather_base`, `ReduceScatter`.
fn kind(name: &str) -> Option<Collective> {
    let plain = |name: &str| -> String {
        name.chars().filter(char::is_ascii_alphanumeric).map(|one| one.to_ascii_lowercase()).collect()
    };
    let name = plain(name);
    let mut there = Collective::ALL.into_iter().filter(|kind| *kind != Collective::TreeAllReduce);
    there.find(|kind| name.contains(&plain(kind.name())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collectives_are_known_by_any_of_their_names() {
        let names = ["allreduce", "_allgather_base", "ReduceScatter", "all_to_all", "broadcast", "SendRecv", ""];
        let expected = [
            Some(Collective::AllReduce),
            Some(Collective::AllGather),
            Some(Collective::ReduceScatter),
            Some(Collective::AllToAll),
            Some(Collective::Broadcast),
            None,
            None,
        ];
        assert_eq!(names.map(kind), expected);
    }
}
