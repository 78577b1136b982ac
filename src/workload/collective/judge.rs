//! What a plan amounts to, and whether a GPU ends with what it must.

use super::{
    data::expected,
    kind::Collective,
    request::CollectiveRequest,
    schedule::{PIECE, Plan, pieces_repeat, plan},
};
use crate::{config::MachineSpec, units::Femtos};

/// Transfers of a plan.
pub(super) fn transfers(plan: &Plan) -> u64 {
    plan.programs.iter().map(|program| program.sends.len() as u64).sum()
}

/// Transfers of a collective of so many GPUs, at least two. It need not be laid out for that: what is passed on in pieces repeats with each.
#[must_use]
pub fn transfer_count(kind: Collective, ranks: usize, bytes: u64) -> u64 {
    let pieces = if pieces_repeat(kind) { bytes.div_ceil(PIECE) } else { 1 };
    transfers(&plan(kind, ranks, 1)).saturating_mul(pieces)
}

/// From the call to the first transfer.
pub(super) fn launch(machine: &MachineSpec) -> Femtos {
    let fabric = machine.fabric.as_ref();
    fabric.map_or(Femtos(0), |f| if machine.confidential_computing { f.secure_launch } else { f.launch })
}

/// Whether a GPU ends with what it must.
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
