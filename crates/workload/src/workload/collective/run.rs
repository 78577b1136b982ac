//! Runs a collective, and checks what each GPU ends with.

use super::{
    choice::{in_switches as carried, start, turn},
    data::input,
    judge::{is_right, launch, transfers},
    kind::Collective,
    request::{CollectiveError, CollectiveOutcome, CollectiveRequest, Extent, MOST_RANKS},
    schedule::{Passing, Plan, extent, folded, in_switches, plan},
    staged::run_rounds,
};
use crate::{
    config::MachineSpec,
    fabric::{
        memory::Memory,
        protocol::Protocol,
        spec::{FabricMode, FabricSpec, Topology},
    },
    sim::{Control, Order},
    system::{FabricRequest, FaultPoint, fabric_fault_points, run_fabric},
    units::Femtos,
};

/// A buffer that has to be of some size.
const SMALL: u64 = 4096;

/// Most bytes of all buffers of a run that carries them.
const MOST_BYTES: u64 = 2 << 30;

/// Runs a collective. What is refused is no error but an outcome.
pub fn run_collective(
    machine: &MachineSpec,
    request: &CollectiveRequest,
    observer: &mut dyn FnMut(Femtos) -> Control,
) -> Result<CollectiveOutcome, CollectiveError> {
    let mode = check(machine, request)?;
    if mode == FabricMode::Staged {
        return run_rounds(machine, request, observer);
    }
    let spec = machine.fabric.as_ref().ok_or(CollectiveError::NoFabric)?;
    let protocol = request.protocol(machine);
    let shares = !request.carries_bytes() && request.extent == Extent::Shared;
    if protocol == Protocol::Nvls && !shares {
        return timed_by_one(machine, request, observer);
    }
    let mut plan = laid_out(spec, request, (protocol, shares));
    let memory = |rank| {
        let bytes = || input(&plan, request.element, request.seed, rank);
        Memory::new(request.carries_bytes().then(bytes), request.element)
    };
    let (simulated, ranks) = (transfers(&plan), plan.programs.len());
    let memories = (0..ranks).map(memory).collect();
    let launch = launch(machine);
    let fabric = FabricRequest {
        protocol,
        begin: Femtos(launch.0.saturating_add(start(spec, protocol, (request.kind, request.ranks, request.bytes)).0)),
        memories,
        // What there is of them grows with the bytes.
        programs: std::mem::take(&mut plan.programs),
        ranks: request.ranks,
        seed: request.seed,
        kernel: request.kernel,
        order: Order::Ascending,
        injections: request.injections.clone(),
    };
    let outcome = run_fabric(machine, fabric, observer)?;
    let finished = outcome.ranks.iter().filter(|rank| rank.finished.is_some()).count();
    let wrong = request.carries_bytes().then(|| {
        let ranks = outcome.ranks.iter().enumerate().filter(|(_, rank)| rank.finished.is_some());
        ranks.filter(|(number, rank)| !is_right(request, &plan, *number, rank.memory.bytes())).count()
    });
    Ok(CollectiveOutcome {
        mode,
        protocol,
        time: outcome.end,
        launch,
        simulated,
        shared: if ranks == 1 { simulated * (request.ranks as u64 - 1) } else { 0 },
        buffer: plan.buffer,
        part: plan.part,
        finished: if ranks == 1 { finished * request.ranks } else { finished },
        wrong,
        refused: outcome.refused,
    })
}

/// What each GPU does, or the one that stands for all.
fn laid_out(spec: &FabricSpec, request: &CollectiveRequest, (protocol, shares): (Protocol, bool)) -> Plan {
    let CollectiveRequest { kind, ranks, bytes, .. } = *request;
    let passing = Passing::of(spec, protocol, (kind, ranks));
    if protocol == Protocol::Nvls {
        let (part, buffer) = extent(kind, ranks, bytes);
        let program = in_switches(buffer, turn(spec, ranks), |bytes| carried(bytes, ranks));
        return Plan { programs: vec![program], buffer, part, results: 0 };
    }
    let fold = if shares { folded(kind, ranks, bytes, passing) } else { None };
    fold.unwrap_or_else(|| plan(kind, ranks, bytes, passing))
}

/// A reduction in switches of which every GPU, or its bytes, are asked for: one GPU gives the time, and a ring of all the sums.
fn timed_by_one(
    machine: &MachineSpec,
    request: &CollectiveRequest,
    observer: &mut dyn FnMut(Femtos) -> Control,
) -> Result<CollectiveOutcome, CollectiveError> {
    let one = CollectiveRequest {
        kernel: request.kernel,
        ..CollectiveRequest::new(request.kind, request.ranks, request.bytes)
    };
    let timed = run_collective(machine, &CollectiveRequest { protocol: Some(Protocol::Nvls), ..one }, observer)?;
    let ring = CollectiveRequest { protocol: Some(Protocol::Simple), ..request.clone() };
    let summed = run_collective(machine, &ring, observer)?;
    let time = if summed.refused.is_some() { summed.time } else { timed.time };
    Ok(CollectiveOutcome { protocol: Protocol::Nvls, time, ..summed })
}

pub fn collective_fault_points(
    machine: &MachineSpec,
    kind: Collective,
    ranks: usize,
) -> Result<Vec<FaultPoint>, CollectiveError> {
    let request = CollectiveRequest::new(kind, ranks, SMALL);
    if check(machine, &request)? == FabricMode::Staged {
        return Err(CollectiveError::StagedFaults);
    }
    let spec = machine.fabric.as_ref().ok_or(CollectiveError::NoFabric)?;
    let protocol = request.protocol(machine);
    let plan = plan(kind, ranks, SMALL, Passing::of(spec, protocol, (kind, ranks)));
    let fabric = FabricRequest {
        protocol,
        begin: launch(machine),
        memories: plan.programs.iter().map(|_| Memory::new(None, request.element)).collect(),
        programs: plan.programs,
        ranks,
        seed: request.seed,
        kernel: request.kernel,
        order: Order::Ascending,
        injections: Vec::new(),
    };
    Ok(fabric_fault_points(machine, fabric)?)
}

fn check(machine: &MachineSpec, request: &CollectiveRequest) -> Result<FabricMode, CollectiveError> {
    let fabric = machine.fabric.as_ref().ok_or(CollectiveError::NoFabric)?;
    let ranks = request.ranks;
    if !(2..=MOST_RANKS).contains(&ranks) {
        return Err(CollectiveError::Ranks(ranks));
    }
    if request.bytes == 0 {
        return Err(CollectiveError::Empty);
    }
    if request.carries_bytes() && request.bytes.saturating_mul(ranks as u64) > MOST_BYTES {
        return Err(CollectiveError::TooLong { ranks, bytes: request.bytes });
    }
    if fabric.mode == FabricMode::Staged {
        if machine.gpus() < ranks {
            return Err(CollectiveError::Gpus { gpus: machine.gpus(), ranks });
        }
        if !request.injections.is_empty() {
            return Err(CollectiveError::StagedFaults);
        }
    } else if fabric.topology == Topology::Bridge && ranks > 2 {
        return Err(CollectiveError::Bridge(ranks));
    }
    Ok(fabric.mode)
}
