//! A machine that has been built for a request and has not run yet: other units can be put into it.

use super::{
    asked::{Asked, asked},
    faults,
    machine::{Parts, System},
    onlooker::Onlooker,
    outcome::{Outcome, RunError},
    parts::{gpu::Gpu, host::Host},
    request::Request,
    simulate::simulate,
};
use crate::{
    config::MachineSpec,
    sim::{Clock, Ends, ExchangeError, Netlist, Outline, SharedListener, Unit, UnitId},
};
use thiserror::Error;

/// Why a unit of a machine stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReplaceError {
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    #[error("`{path}` cannot be replaced: reports ask it for more than its ports show; others can stand for {}", free.join(", "))]
    Asked {
        path: String,
        /// Paths of those that can be replaced.
        free: Vec<String>,
    },
}

/// A machine and the copies that it is to make.
///
/// Units of one's own get into it [in the place of](Self::replace) shipped ones or [in front of their ports](Self::rewire). Driver, tags and bytes are
/// those of the machine, and accounts, waves and fault points of its channels are there for each unit. A machine runs once, so that nothing can be exchanged
/// once it has begun.
///
/// ```
/// use sealsim_machine::{config::Layers, gpu::tag_queue::TagQueue, sim::{Clock, Control}, system::{Machine, Request}, units::Cycles};
///
/// let spec = Layers::new("h100-nvl-tdx").resolve()?.machine;
/// let mut machine = Machine::new(&spec, Request::h2d(1 << 20))?;
/// let slow = TagQueue::new(&spec.tag_queue, Cycles(5000), Clock::new(spec.copy_engine.clock)?);
/// machine.replace("gpu.tag_queue", slow)?;
/// assert!(machine.run(&mut |_| Control::Continue)?.copies[0].delivered);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Machine {
    system: System,
    request: Request,
    asked: Vec<Asked>,
}

impl Machine {
    /// A machine for a request, on one thread.
    pub fn new(machine: &MachineSpec, mut request: Request) -> Result<Self, RunError> {
        let asked = asked(&request);
        let system = System::new(machine, &mut request)?;
        Ok(Self { system, request, asked })
    }

    pub fn outline(&self) -> Outline {
        self.system.netlist.outline()
    }

    /// Puts a unit of one's own in the place of the one at `path`, whose clock and ports it gets.
    ///
    /// # Errors
    /// [`ReplaceError`]: there is no such unit, its ports are of another type, or reports ask it for more than its ports show.
    pub fn replace<U: Unit>(&mut self, path: &str, unit: U) -> Result<(), ReplaceError> {
        let netlist = &mut self.system.netlist;
        let asked: Vec<_> =
            self.system.parts.iter().flat_map(asked_units).map(|UnitId(unit)| usize::from(unit)).collect();
        let units = || netlist.units().iter().enumerate();
        let free = || units().filter(|(place, _)| !asked.contains(place)).map(|(_, unit)| unit.name.clone()).collect();
        match units().find(|(_, unit)| unit.name == path) {
            None => Err(ExchangeError::Unknown { path: path.to_owned(), known: free() }.into()),
            Some((place, _)) if asked.contains(&place) => {
                Err(ReplaceError::Asked { path: path.to_owned(), free: free() })
            }
            Some(_) => Ok(netlist.replace(path, unit)?),
        }
    }

    /// Lets `wire` exchange ends among the ports of any unit, and add what they then lead to: see [`Netlist::rewire`].
    ///
    /// # Errors
    /// [`ExchangeError`]: there is no such unit, or its ports are of another type. An end that nothing holds is found when the machine is to run.
    pub fn rewire<P: Ends + 'static>(
        &mut self,
        path: &str,
        wire: impl FnOnce(&mut Netlist, Clock, &mut P),
    ) -> Result<(), ExchangeError> {
        self.system.netlist.rewire(path, wire)
    }

    /// Runs it and reports.
    ///
    /// # Errors
    /// [`RunError`]; a copy that is not delivered is no error but an outcome.
    pub fn run(self, onlooker: &mut dyn Onlooker) -> Result<Outcome, RunError> {
        self.run_observed(None, onlooker)
    }

    /// The same while `listener` hears what it wants to hear.
    pub fn run_observed(
        self,
        listener: Option<&SharedListener>,
        onlooker: &mut dyn Onlooker,
    ) -> Result<Outcome, RunError> {
        let Self { mut system, request, asked } = self;
        faults::arm(&mut system, &request.injections, request.seed)?;
        listener.into_iter().for_each(|listener| system.netlist.listen(listener));
        Ok(simulate(system, &request, &asked, onlooker)?.outcome(&request.injections))
    }
}

/// The units that reports ask by their types.
fn asked_units(Parts { host, link, gpu, .. }: &Parts) -> Vec<UnitId> {
    let Host { driver, cipher, openers, memory: _ } = host;
    let Gpu { front_ends, compute, tags: _, hbm, pces } = gpu;
    let ports = [link.host_port.id(), link.gpu_port.id()];
    let mut units = vec![driver.id(), cipher.id(), compute.id(), hbm.id()];
    units.extend(openers.iter().map(|openers| openers.id()));
    units.extend(front_ends.iter().map(|front_end| front_end.id()));
    units.extend(ports.into_iter().chain(pces.iter().map(|pce| pce.id())));
    units
}
