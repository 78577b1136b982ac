//! Which machine: a configuration with what lies over it, else the one that a workload names.

use super::fault::Fault;
use pyo3::prelude::*;
use sealsim::{
    config::{Layers, Resolved},
    workload::{Setting, WorkloadFile},
};
use std::path::Path;

/// A machine as it is asked for.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct MachineQuestion {
    machine: Option<String>,
    designs: Vec<String>,
    settings: Vec<String>,
}

impl MachineQuestion {
    /// Reads and checks it.
    pub fn resolve(&self, workload: Option<&WorkloadFile>) -> Result<Resolved, Fault> {
        let name = machine_of(self.machine.as_deref(), workload)?;
        let layers = self.designs.iter().fold(Layers::new(name), Layers::overlay);
        Ok(self.settings.iter().fold(layers, Layers::set).resolve()?)
    }
}

/// The machine that is asked for, else the one that a workload names.
pub fn machine_of(machine: Option<&str>, workload: Option<&WorkloadFile>) -> Result<String, Fault> {
    if let Some(machine) = machine {
        return Ok(machine.to_owned());
    }
    let named = workload.map(|file| file.head.machine()).transpose()?.flatten();
    named.ok_or_else(|| {
        Fault::usage("no machine: none is given, and there is no workload that names one")
            .help("give one first, as sealsim.run(\"h100-nvl-tdx\", ...)")
    })
}

/// A workload by name or path, with values for its parameters.
pub fn workload(name: &str, parameters: &[String]) -> Result<WorkloadFile, Fault> {
    let settings = parameters.iter().map(|text| text.parse::<Setting>());
    let settings =
        settings.collect::<Result<Vec<_>, _>>().map_err(|error| Fault::usage(format!("parameters: {error}")))?;
    Ok(WorkloadFile::find(Path::new(name), &settings)?)
}
