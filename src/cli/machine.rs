//! The arguments that choose a machine, shared by all verbs that need one.

use super::Failure;
use crate::{
    config::{ConfigError, Layers, Resolved},
    workload::WorkloadFile,
};
use clap::Args;
use miette::miette;

/// Which machine.
#[derive(Debug, Clone, Args)]
pub struct MachineArguments {
    /// The machine: a TOML file, or the name of a shipped one (see `sealsim list`). A file takes precedence.
    #[arg(value_name = "CONFIG")]
    pub config: String,
    /// What lies over it.
    #[command(flatten)]
    pub overlays: OverlayArguments,
}

/// What lies over a machine.
#[derive(Debug, Clone, Default, Args)]
pub struct OverlayArguments {
    /// A design to lay over the machine: a TOML file, or the name of a shipped one. May be given several times; later
    /// ones lie on top.
    #[arg(long, value_name = "DESIGN")]
    pub design: Vec<String>,
    /// Set one value, above all files, for example `link.max_payload=512B` or `tag_queue.release=hold`. May be given
    /// several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
}

impl MachineArguments {
    /// Reads and checks the machine.
    ///
    /// # Errors
    ///
    /// [`Failure::Config`] with everything that is wrong with it.
    pub fn resolve(&self) -> Result<Resolved, Failure> {
        self.overlays.resolve(&self.config)
    }
}

impl OverlayArguments {
    /// Reads and checks the machine with all that lies over it.
    ///
    /// # Errors
    ///
    /// [`Failure::Config`] with everything that is wrong with it.
    pub fn resolve(&self, machine: &str) -> Result<Resolved, Failure> {
        let layers = self.design.iter().fold(Layers::new(machine), Layers::overlay);
        Ok(self.set.iter().fold(layers, Layers::set).resolve()?)
    }
}

/// The machine that is asked for, else the one that a workload names.
///
/// # Errors
///
/// [`Failure::Usage`] if there is neither, [`Failure::Config`] if the workload names one that does not exist.
pub(super) fn machine_of(config: Option<&str>, workload: Option<&WorkloadFile>) -> Result<String, Failure> {
    if let Some(config) = config {
        return Ok(config.to_owned());
    }
    let named = workload.map(|file| file.head.machine()).transpose()?.flatten();
    named.ok_or_else(|| {
        let help = "name one before --workload, as h100-nvl-tdx (`sealsim list`), or write machine = \"h100-nvl-tdx\" \
                    at the top of the workload";
        Failure::Usage(miette!(help = help, "no machine: there is no CONFIG, and the workload names none"))
    })
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Config(error.into())
    }
}
