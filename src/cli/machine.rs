//! The arguments that choose a machine, shared by all verbs that need one.

use super::Failure;
use crate::config::{ConfigError, Layers, Resolved};
use clap::Args;

/// Which machine.
#[derive(Debug, Clone, Args)]
pub struct MachineArguments {
    /// The machine: a TOML file, or the name of a shipped one (see `sealsim list`). A file takes precedence.
    #[arg(value_name = "CONFIG")]
    pub config: String,
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
        let layers = Layers::new(&self.config);
        let layers = self.design.iter().fold(layers, Layers::overlay);
        Ok(self.set.iter().fold(layers, Layers::set).resolve()?)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Config(error.into())
    }
}
