//! What a plan amounts to, and whether a GPU ends with what it must.

use super::{
    choice::turn,
    data::expected,
    kind::Collective,
    request::CollectiveRequest,
    schedule::{PIECE, Passing, Plan, extent, pieces_repeat, plan},
};
use crate::{config::MachineSpec, fabric::protocol::Protocol, units::Femtos};

pub(super) fn transfers(plan: &Plan) -> u64 {
    plan.programs.iter().map(|program| program.sends.len() as u64).sum()
}

/// Transfers of a collective of at least two GPUs. It need not be laid out for that: what is passed on in pieces or turns repeats with each.
pub fn transfer_count(machine: &MachineSpec, request: &CollectiveRequest) -> u64 {
    let CollectiveRequest { kind, ranks, bytes, .. } = *request;
    let protocol = request.protocol(machine);
    let turns = match machine.fabric.as_ref() {
        _ if pieces_repeat(kind) => bytes.div_ceil(PIECE),
        Some(spec) if protocol == Protocol::Nvls => return bytes.div_ceil(turn(spec, ranks)) * ranks as u64,
        Some(spec) if protocol != Protocol::Copies => {
            extent(kind, ranks, bytes).0.div_ceil(Passing::of(spec, protocol, (kind, ranks)).turn)
        }
        _ => 1,
    };
    transfers(&plan(kind, ranks, 1, Passing::COPIES)).saturating_mul(turns)
}

/// From the call to the first transfer.
pub(super) fn launch(machine: &MachineSpec) -> Femtos {
    let fabric = machine.fabric.as_ref();
    fabric.map_or(Femtos(0), |f| if machine.confidential_computing { f.secure_launch } else { f.launch })
}

pub(super) fn is_right(request: &CollectiveRequest, plan: &Plan, rank: usize, memory: Option<&[u8]>) -> bool {
    let (at, mut wanted) = expected(request.kind, plan, request.element, request.seed, rank, request.ranks);
    let Some(there) = memory.and_then(|memory| memory.get(at..at + wanted.len())) else { return false };
    if request.kind == Collective::AllToAll {
        // Nothing was asked for of the part that a GPU has for itself.
        let own = rank * plan.part as usize..(rank + 1) * plan.part as usize;
        wanted[own.clone()].copy_from_slice(&there[own]);
    }
    there == wanted
}
