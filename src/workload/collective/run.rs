//! Runs a collective, and checks what each GPU ends with.

use super::{
    data::input,
    judge::{is_right, launch, transfer_count, transfers},
    kind::Collective,
    request::{CollectiveError, CollectiveOutcome, CollectiveRequest, Extent, MOST_RANKS},
    schedule::{folded, plan},
    staged::run_rounds,
};
use crate::{
    config::MachineSpec,
    fabric::{
        memory::Memory,
        spec::{FabricMode, Topology},
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
///
/// # Errors
/// [`CollectiveError`].
pub fn run_collective(
    machine: &MachineSpec,
    request: &CollectiveRequest,
    observer: &mut dyn FnMut(Femtos) -> Control,
) -> Result<CollectiveOutcome, CollectiveError> {
    let mode = check(machine, request)?;
    if mode == FabricMode::Staged {
        return run_rounds(machine, request, observer);
    }
    let fold = if request.carries_bytes() || request.extent == Extent::Full {
        None
    } else {
        folded(request.kind, request.ranks, request.bytes)
    };
    let all = transfer_count(request.kind, request.ranks, request.bytes);
    let mut plan = fold.unwrap_or_else(|| plan(request.kind, request.ranks, request.bytes));
    let memory = |rank| {
        let bytes = || input(&plan, request.element, request.seed, rank);
        Memory::new(request.carries_bytes().then(bytes), request.element)
    };
    let (simulated, ranks) = (transfers(&plan), plan.programs.len());
    let memories = (0..ranks).map(memory).collect();
    let fabric = FabricRequest {
        memories,
        // What there is of them grows with the bytes.
        programs: std::mem::take(&mut plan.programs),
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
        time: outcome.end,
        launch: launch(machine),
        simulated,
        shared: all - simulated,
        buffer: plan.buffer,
        part: plan.part,
        finished: if ranks == 1 { finished * request.ranks } else { finished },
        wrong,
        refused: outcome.refused,
    })
}

/// Where faults can be placed in a collective.
///
/// # Errors
/// [`CollectiveError`].
pub fn collective_fault_points(
    machine: &MachineSpec,
    kind: Collective,
    ranks: usize,
) -> Result<Vec<FaultPoint>, CollectiveError> {
    let request = CollectiveRequest::new(kind, ranks, SMALL);
    if check(machine, &request)? == FabricMode::Staged {
        return Err(CollectiveError::StagedFaults);
    }
    let plan = plan(kind, ranks, SMALL);
    let fabric = FabricRequest {
        memories: plan.programs.iter().map(|_| Memory::new(None, request.element)).collect(),
        programs: plan.programs,
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
