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
use crate::sim::{self, SimulationError};

/// Runs a system to its end.
pub(super) fn simulate(
    mut system: System,
    request: &Request,
    asked: &[Asked],
    observer: &mut dyn Onlooker,
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
        if let Some(port) = parts.insecure(netlist) {
            let why = format!("a MAC was wrong at the {port} port: the IDE stream is insecure");
            netlist.unit_mut(&parts.host.driver).give_up(run.end, why);
        }
    }
    Ok(Portion::of(request, &system, (&run, &kept), asked))
}
