//! Runs a machine and reports on it.

use super::{
    faults,
    kept::{Keeper, Kept},
    limits,
    machine::{Parts, System},
    outcome::{Outcome, RunError},
    portion::Portion,
    request::{CopyRequest, Direction, Memory, Operation, Pages, Request},
    shares::CopyAccounts,
    threads::{apart, groups},
};
use crate::{
    config::MachineSpec,
    gpu::pce::Pce,
    sim::{self, Control, Netlist, Observer, Outline, SimulationError},
    units::Femtos,
};
use std::{collections::BTreeSet, num::NonZero};

/// What is remembered of a copy while its bytes are in the machine.
pub(super) struct Asked {
    pub direction: Direction,
    pub bytes: u64,
    pub memory: Memory,
    pub place: limits::Place,
    pub pages: Pages,
    /// Whether the program drives out the caches before it.
    pub flushed: bool,
}

/// Builds a machine, makes the copies of `request` on it, and reports. `observer` is asked now and then, with the simulated time,
/// whether to go on. A run that carries no bytes takes as many threads as this computer runs at once and the machine has use for.
///
/// # Errors
/// [`RunError`]; a copy that is not delivered is no error but an outcome.
pub fn run(
    machine: &MachineSpec,
    request: Request,
    observer: &mut dyn FnMut(Femtos) -> Control,
) -> Result<Outcome, RunError> {
    run_on(machine, request, None, observer)
}

/// The same on so many threads at most. The outcome does not depend on how many.
///
/// # Errors
/// Those of [`run`].
pub fn run_on(
    machine: &MachineSpec,
    mut request: Request,
    threads: Option<NonZero<usize>>,
    mut observer: &mut dyn FnMut(Femtos) -> Control,
) -> Result<Outcome, RunError> {
    let asked = asked(&request);
    if let Some(groups) = groups(machine, &request, threads)
        && let Some(portions) = apart(machine, &request, &asked, &groups, observer)?
    {
        return Ok(Portion::joined(portions).outcome(&request.injections));
    }
    let mut system = System::new(machine, &mut request)?;
    faults::arm(&mut system, &request.injections, request.seed)?;
    Ok(simulate(system, &request, &asked, &mut observer)?.outcome(&request.injections))
}

/// Runs a system to its end.
pub(super) fn simulate(
    mut system: System,
    request: &Request,
    asked: &[Asked],
    observer: &mut dyn Observer,
) -> Result<Portion, RunError> {
    let System { netlist, parts } = &mut system;
    let kept = |parts: &Parts| Kept { accounts: CopyAccounts::new(parts.copies.len()), tag_counts: Vec::new() };
    let kept = parts.iter().map(kept).collect();
    let mut keeper = Keeper { observer, parts, kept };
    let ended = sim::run(netlist, request.kernel, request.order, &mut keeper);
    let kept = keeper.kept;
    let payload = |what: &String| system.parts.iter().any(|parts| parts.ledger.borrow().fault() == Some(what));
    let run = match ended {
        Ok(run) => run,
        Err(SimulationError::Fault { what, .. }) if payload(&what) => return Err(RunError::Payload(what)),
        Err(error) => return Err(error.into()),
    };
    let System { netlist, parts } = &mut system;
    for parts in parts {
        if let Some(port) = insecure(netlist, parts) {
            let why = format!("a MAC was wrong at the {port} port: the IDE stream is insecure");
            netlist.unit_mut(&parts.host.driver).give_up(run.end, why);
        }
    }
    Ok(Portion::of(request, &system, (&run, &kept), asked))
}

fn asked(request: &Request) -> Vec<Asked> {
    let asked = request.copies.iter();
    let mut asked: Vec<_> = asked
        .map(|&CopyRequest { direction, bytes, memory, pages, .. }| Asked {
            direction,
            bytes,
            memory,
            place: limits::Place::default(),
            pages,
            flushed: false,
        })
        .collect();
    let (mut flushed, mut kernels) = (BTreeSet::new(), BTreeSet::new());
    for step in &request.program {
        match step.operation {
            Operation::Flush { .. } => _ = flushed.insert(step.gpu),
            Operation::Copy { copy, .. } => {
                if let Some(asked) = asked.get_mut(copy) {
                    let behind_kernels = kernels.contains(&(step.gpu, step.stream));
                    asked.place = limits::Place { stream: Some(step.stream), behind_kernels };
                    asked.flushed = flushed.contains(&step.gpu);
                }
                flushed.remove(&step.gpu);
            }
            Operation::Kernel { .. } | Operation::Wait { .. } => _ = kernels.insert((step.gpu, step.stream)),
            Operation::Record { .. } | Operation::Sync => {}
        }
    }
    asked
}

/// Builds a machine for a request and does not run it.
///
/// # Errors
/// [`RunError::Build`] if there can be no such machine.
pub fn check(machine: &MachineSpec, mut request: Request) -> Result<(), RunError> {
    System::new(machine, &mut request).map(drop)
}

/// The units and channels of a machine.
///
/// # Errors
/// [`RunError::Build`] if there can be no such machine.
pub fn outline(machine: &MachineSpec) -> Result<Outline, RunError> {
    System::new(machine, &mut Request::none()).map(|system| system.netlist.outline())
}

/// The port that has found a wrong MAC, if one has.
pub(super) fn insecure(netlist: &Netlist, Parts { link, .. }: &Parts) -> Option<&'static str> {
    let ports = [("host", &link.host_port), ("GPU", &link.gpu_port)];
    ports.into_iter().find(|(_, port)| netlist.unit(port).insecure()).map(|(name, _)| name)
}

/// The PCEs of a GPU.
pub(super) fn pces<'a>(netlist: &'a Netlist, parts: &'a Parts) -> impl Iterator<Item = &'a Pce> {
    parts.gpu.pces.iter().map(|pce| netlist.unit(pce))
}
