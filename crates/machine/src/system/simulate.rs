//! A system, run to its end.

use super::{
    asked::Asked,
    kept::{Keeper, Kept},
    machine::{Parts, System},
    onlooker::Onlooker,
    outcome::RunError,
    portion::Portion,
    request::Request,
    shares::CopyAccounts,
};
use crate::sim::{self, ErrorSignal, Signalled, SimulationError, UnitError};

/// Runs a system to its end.
pub(super) fn simulate(
    mut system: System,
    request: &Request,
    asked: &[Asked],
    observer: &mut dyn Onlooker,
) -> Result<Portion, RunError> {
    let System { netlist, parts } = &mut system;
    if request.answers {
        parts.iter().flat_map(|parts| &parts.gpu.pces).for_each(|pce| netlist.unit_mut(pce).note_answers());
    }
    let kept = |parts: &Parts| Kept { accounts: CopyAccounts::new(parts.copies.len()), tag_counts: Vec::new() };
    let kept = parts.iter().map(kept).collect();
    let mut keeper = Keeper { observer, parts, kept };
    let ended = sim::run(netlist, request.kernel, request.order, &mut keeper);
    let kept = keeper.kept;
    let payload = |what: &String| system.parts.iter().any(|parts| parts.ledger.borrow().fault() == Some(what));
    let run = match ended {
        Ok(run) => run,
        Err(SimulationError::Fault { what, .. }) if payload(&what) => return Err(RunError::Payload(what)),
        Err(error) => return Err(timed_out(error, &system).into()),
    };
    let System { netlist, parts } = &mut system;
    for parts in parts {
        if let Some(port) = parts.insecure(netlist) {
            let why = format!("a MAC was wrong at the {port} port: the IDE stream is insecure");
            netlist.unit_mut(&parts.host.driver).give_up(run.end, why);
        }
    }
    Ok(Portion::of(request, &system, (&run, &kept), asked))
}

/// A hand-over inside host or GPU that has not come within its timeout.
const HANDOVER_TIMEOUT: ErrorSignal = ErrorSignal::uncorrected("handover_timeout", "a hand-over that never came");

/// How a machine in which nothing can happen any more ends where hand-overs have a timeout. All that still happens starts the timers anew, so the one that
/// expires does so that long after the last event; it is that of a unit that waits for another one, if there is one.
fn timed_out(error: SimulationError, system: &System) -> SimulationError {
    let timeout = system.parts.iter().filter_map(|parts| parts.machine.copy_engine.handover_timeout).min();
    let (SimulationError::Deadlock { at, waits, seen }, Some(timeout)) = (&error, timeout) else { return error };
    let Some(wait) = waits.iter().find(|wait| wait.on.is_some()).or(waits.first()) else { return error };
    let (unit, first) = (wait.unit.clone(), at.saturating_add(timeout));
    let on = wait.on.as_ref().map_or_else(String::new, |(other, queue)| format!(" from {other} through {queue}"));
    let what = format!("hand-over timeout: nothing has come to {unit}{on} for {timeout}");
    let mut seen = seen.clone();
    seen.errors.push(UnitError { unit, signalled: Signalled { signal: HANDOVER_TIMEOUT, first, count: 1 } });
    SimulationError::Fault { at: first, what, seen }
}
