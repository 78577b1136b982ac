//! What a collective takes, from short ones.

use super::{
    ask::Sample,
    scaled::{Scaled, scaled},
};
use crate::{
    config::MachineSpec,
    fabric::{protocol::Protocol, spec::FabricMode},
    host::Stride,
    sim::Control,
    system::{Direction, Memory},
    units::Femtos,
    workload::collective::{
        Collective, CollectiveError, CollectiveOutcome, CollectiveRequest, Passing, extent, run_collective, stride,
        transfer_count,
    },
};

/// A collective, and how much of it was simulated.
#[derive(Debug, Clone)]
pub struct SampledCollective {
    pub outcome: CollectiveOutcome,
    /// The least that its time may be.
    pub low: Femtos,
    pub high: Femtos,
    /// Bytes of a GPU's buffer that were simulated, in all runs together.
    pub simulated: u64,
    pub runs: usize,
}

impl SampledCollective {
    /// One that was simulated whole.
    const fn whole(outcome: CollectiveOutcome, bytes: u64) -> Self {
        let (low, high) = (outcome.time, outcome.time);
        Self { outcome, low, high, simulated: bytes, runs: 1 }
    }
}

/// Transfers do not differ by less.
const LEAST: u64 = 64 << 10;

/// By how much transfers of a part of so many bytes differ, so that all engines, or all buffers of the host, have as much more to do. Where a part
/// takes several turns, by whole turns.
fn message(machine: &MachineSpec, protocol: Protocol, (kind, ranks, part): (Collective, usize, u64)) -> u64 {
    let Some(fabric) = &machine.fabric else { return LEAST };
    let turn = Passing::of(fabric, protocol, (kind, ranks)).turn;
    if part > turn {
        return turn;
    }
    let of = match (fabric.mode, fabric.protection(protocol)) {
        (FabricMode::Staged, _) => {
            let stride = |direction| {
                let what = (direction, Memory::Pinned);
                Stride::of((&machine.driver, &machine.staging), machine.sealed_path(), what).step.0
            };
            stride(Direction::H2d).max(stride(Direction::D2h))
        }
        (_, Some(protection)) => protection.message.saturating_mul(u64::from(protection.engines.max(1))),
        (_, None) => fabric.payload.0.saturating_mul(u64::from(fabric.links.max(1))),
    };
    of.saturating_mul(LEAST.div_ceil(of.max(1)).max(1))
}

/// Runs a collective without bytes, or as much of it as is asked for.
pub fn collective(
    machine: &MachineSpec,
    request: &CollectiveRequest,
    sample: Option<Sample>,
    observer: &mut dyn FnMut(Femtos) -> Control,
) -> Result<SampledCollective, CollectiveError> {
    let CollectiveRequest { kind, ranks, bytes, .. } = *request;
    // Short ones are passed on as the long one is.
    let protocol = request.protocol(machine);
    let request = &CollectiveRequest { protocol: Some(protocol), ..request.clone() };
    let mut last = None;
    let found = match sample.filter(|_| !request.carries_bytes() && ranks > 0) {
        Some(sample) => scaled(
            (bytes, stride(kind, ranks, message(machine, protocol, (kind, ranks, extent(kind, ranks, bytes).0)))),
            sample,
            |length| {
                let outcome =
                    run_collective(machine, &CollectiveRequest { bytes: length, ..request.clone() }, observer)?;
                let time = outcome.refused.is_none().then_some(outcome.time.0);
                let before: u64 = last.as_ref().map_or(0, |last: &CollectiveOutcome| last.simulated);
                last = Some(CollectiveOutcome { simulated: before + outcome.simulated, ..outcome });
                Ok::<_, CollectiveError>(time)
            },
        )?,
        None => None,
    };
    let (Some(Scaled { time, low, high, simulated, runs }), Some(last)) = (found, last) else {
        return run_collective(machine, request, observer).map(|outcome| SampledCollective::whole(outcome, bytes));
    };
    let (part, buffer) = extent(kind, ranks, bytes);
    let shared = transfer_count(machine, request).saturating_sub(last.simulated);
    let outcome = CollectiveOutcome { time: Femtos(time), shared, buffer, part, ..last };
    Ok(SampledCollective { outcome, low: Femtos(low), high: Femtos(high), simulated, runs })
}
