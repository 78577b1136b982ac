//! Of what a collective takes beyond another: launches, the path, and cryptography.

use super::request::CollectiveOutcome;
use crate::{
    config::MachineSpec,
    fabric::spec::{FabricMode, FabricSpec},
    units::Femtos,
};

/// Femtoseconds by which one collective takes longer than another, by why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectiveCost {
    /// The launch takes longer.
    pub launch: i64,
    /// Text goes another way: in a ring instead of through switches that add, over other links, or through the host.
    pub path: i64,
    /// Text is sealed, opened, and submitted for that.
    pub cryptography: i64,
}

/// The machine with the same path between its GPUs and nothing sealed, if it seals. Copies through the host have none under confidential computing.
pub fn unsealed(machine: &MachineSpec) -> Option<MachineSpec> {
    let fabric = machine.fabric.as_ref().filter(|fabric| fabric.mode.seals())?;
    if fabric.mode == FabricMode::Staged {
        return Some(MachineSpec { confidential_computing: false, ..machine.clone() });
    }
    let fabric = Some(FabricSpec { mode: FabricMode::Plain, ..fabric.clone() });
    Some(MachineSpec { fabric, ..machine.clone() })
}

impl CollectiveCost {
    /// What `own` costs over `off`; `unsealed` is the same with nothing sealed, where `own` seals.
    pub fn over(off: &CollectiveOutcome, own: &CollectiveOutcome, unsealed: Option<&CollectiveOutcome>) -> Self {
        let kernel = |outcome: &CollectiveOutcome| outcome.time.saturating_sub(outcome.launch);
        let more = |one: Femtos, other: Femtos| one.0.cast_signed() - other.0.cast_signed();
        let plain = kernel(unsealed.unwrap_or(own));
        Self {
            launch: more(own.launch, off.launch),
            path: more(plain, kernel(off)),
            cryptography: more(kernel(own), plain),
        }
    }
}
