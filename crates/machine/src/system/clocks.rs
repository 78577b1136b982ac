//! The clocks of a machine.

use super::outcome::RunError;
use crate::{config::MachineSpec, sim::Clock};
use std::fmt::Display;

/// Says of what cannot be built that it cannot.
pub(super) fn build<T, E: Display>(result: Result<T, E>) -> Result<T, RunError> {
    result.map_err(|error| RunError::Build(error.to_string()))
}

pub(super) struct Clocks {
    pub cpu: Clock,
    pub root_complex: Clock,
    pub mac: Clock,
    pub copy_engine: Clock,
    /// Of what seals and opens for PCEs.
    pub engines: Clock,
    pub compute: Clock,
    pub hbm: Clock,
    pub sm: Option<Clock>,
}

impl Clocks {
    pub fn new(machine: &MachineSpec) -> Result<Self, RunError> {
        Ok(Self {
            cpu: build(Clock::new(machine.cpu.clock))?,
            root_complex: build(Clock::new(machine.root_complex.clock))?,
            mac: build(Clock::new(machine.link.mac_clock))?,
            copy_engine: build(Clock::new(machine.copy_engine.clock))?,
            engines: build(Clock::new(machine.copy_engine.clock_of_engines()))?,
            compute: build(Clock::new(machine.compute.clock))?,
            hbm: build(Clock::new(machine.hbm.clock))?,
            sm: machine.sealing_sms().map(|sm| build(Clock::new(sm.clock))).transpose()?,
        })
    }
}
