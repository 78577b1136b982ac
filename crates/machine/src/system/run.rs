//! Runs a machine and reports on it.

use super::{
    asked::asked,
    assembled::Machine,
    onlooker::Onlooker,
    outcome::{Outcome, RunError},
    parts::gpu::Pces,
    portion::Portion,
    request::Request,
    threads::{apart, groups},
};
use crate::{
    aead::spec::EngineSpec,
    config::MachineSpec,
    sim::{Control, Outline, SharedListener},
    units::Femtos,
};
use std::num::NonZero;

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
pub fn run_on(
    machine: &MachineSpec,
    request: Request,
    threads: Option<NonZero<usize>>,
    mut observer: &mut dyn FnMut(Femtos) -> Control,
) -> Result<Outcome, RunError> {
    let asked = asked(&request);
    if let Some(groups) = groups(machine, &request, threads)
        && let Some(portions) = apart(machine, &request, &asked, &groups, observer)?
    {
        return Ok(Portion::joined(portions).outcome(&request.injections));
    }
    Machine::new(machine, request)?.run(&mut observer)
}

/// The same on one thread, while `listener` hears what it wants to hear. The outcome is that of [`run`].
pub fn run_with_listener(
    machine: &MachineSpec,
    request: Request,
    listener: &SharedListener,
    mut observer: &mut dyn FnMut(Femtos) -> Control,
) -> Result<Outcome, RunError> {
    run_observed(machine, request, Some(listener), &mut observer)
}

/// The same before an onlooker, who may look at the machine while it runs. The outcome is that of [`run`].
pub fn run_observed(
    machine: &MachineSpec,
    request: Request,
    listener: Option<&SharedListener>,
    onlooker: &mut dyn Onlooker,
) -> Result<Outcome, RunError> {
    Machine::new(machine, request)?.run_observed(listener, onlooker)
}

/// Builds a machine for a request and does not run it.
pub fn check(machine: &MachineSpec, request: Request) -> Result<(), RunError> {
    Machine::new(machine, request).map(drop)
}

/// What seals and opens in the PCE with this path on the PCE's clock, which is one of a GPU with the number `gpu`; none if nothing does, or there is no such PCE.
pub fn engine_of(machine: &MachineSpec, gpu: usize, path: &str) -> Option<EngineSpec> {
    let (above, _) = path.rsplit_once('.')?;
    let machine = machine.of_gpu(gpu);
    if machine.copy_engine.engine_clock.is_some() || machine.tag_queue.tag_every.is_some() {
        return None;
    }
    Pces::of(&machine, above).ok()?.engine(&machine, path)
}

/// The units and channels of a machine.
pub fn outline(machine: &MachineSpec) -> Result<Outline, RunError> {
    Machine::new(machine, Request::none()).map(|machine| machine.outline())
}
