//! `sealsim completions`: completion scripts for shells.

use super::{Failure, complete, output::write_bytes};
use clap::{Args, ValueEnum};
use clap_complete::Shell;

/// Prints a completion script for a shell.
///
/// It asks the program what may follow: verbs, options and their values, shipped machines, designs and workloads, files, paths of parameters, fault
/// points.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sealsim completions bash > ~/.local/share/bash-completion/completions/sealsim
  sealsim completions zsh > ~/.zfunc/_sealsim
  sealsim completions fish > ~/.config/fish/completions/sealsim.fish")]
pub struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self) -> Result<(), Failure> {
        let name = self.shell.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        let script = complete::script(&name).map_err(|error| Failure::output(&error))?;
        write_bytes(&script);
        Ok(())
    }
}
