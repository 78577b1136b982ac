//! Runs a collective on the fabric, and says what came of it.

use super::super::{
    faults::{all_points, arm_netlist},
    outcome::RunError,
};
use super::{
    build::{FabricNetlist, netlist},
    request::FabricRequest,
};
use crate::{
    config::MachineSpec,
    fabric::memory::Memory,
    sim::{self, Account, Control, Effect, SimulationError},
    system::FaultPoint,
    units::Femtos,
};

#[derive(Debug, Clone)]
pub struct RankOutcome {
    /// When all of its work was done, if it was.
    pub finished: Option<Femtos>,
    /// Receives that are through, and all that there are.
    pub received: (usize, usize),
    pub memory: Memory,
    /// Flits of packets that its port has sent.
    pub flits: u64,
}

#[derive(Debug, Clone)]
pub struct FabricOutcome {
    /// When the last GPU was done, or when something was refused.
    pub end: Femtos,
    pub ranks: Vec<RankOutcome>,
    /// Why it did not end, if it did not: a tag that was wrong, a packet that did not fit, or one that never came.
    pub refused: Option<String>,
    /// Path of each unit, and what it did with its cycles.
    pub units: Vec<(String, Account)>,
    /// Digest of all that passed, by channel.
    pub digests: Vec<(String, u64)>,
    pub effects: Vec<Effect>,
    pub ticks: u64,
}

impl FabricOutcome {
    pub fn complete(&self) -> bool {
        self.ranks.iter().all(|rank| rank.finished.is_some())
    }
}

/// The fault points of a collective.
pub fn fabric_fault_points(machine: &MachineSpec, mut request: FabricRequest) -> Result<Vec<FaultPoint>, RunError> {
    let built = netlist(machine, &mut request)?;
    Ok(all_points(&built.netlist))
}

/// Runs a collective. A GPU that refuses what it gets is no error but an outcome.
///
/// # Errors
/// [`RunError`]: no such machine, or the observer asked to stop.
pub fn run_fabric(
    machine: &MachineSpec,
    mut request: FabricRequest,
    observer: &mut dyn FnMut(Femtos) -> Control,
) -> Result<FabricOutcome, RunError> {
    let FabricNetlist { mut netlist, places } = netlist(machine, &mut request)?;
    arm_netlist(&mut netlist, &request.injections, request.seed)?;
    let mut observer = observer;
    let ended = sim::run(&mut netlist, request.kernel, request.order, &mut observer);
    let (end, refused, accounts, ticks) = match ended {
        Ok(run) => (run.end, None, run.accounts, run.ticks),
        Err(SimulationError::Fault { at, what, .. }) => (at, Some(what), Vec::new(), 0),
        Err(error @ SimulationError::Deadlock { at, .. }) if !request.injections.is_empty() => {
            (at, Some(format!("something never came: {error}")), Vec::new(), 0)
        }
        Err(error) => return Err(error.into()),
    };
    let ranks = places.iter().map(|place| {
        let rank = netlist.unit(&place.rank);
        RankOutcome {
            finished: rank.finished(),
            received: rank.received(),
            memory: place.memory.borrow().clone(),
            flits: netlist.unit(&place.port).flits(),
        }
    });
    Ok(FabricOutcome {
        end,
        ranks: ranks.collect(),
        refused,
        units: netlist.units().iter().map(|unit| unit.name.clone()).zip(accounts).collect(),
        digests: netlist.channels().map(|channel| (channel.path().to_owned(), channel.digest())).collect(),
        effects: netlist.effects(),
        ticks,
    })
}
