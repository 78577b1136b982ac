//! `sealsim completions`: completion scripts for shells.

use super::{Arguments, Failure, output::Output};
use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};
use std::io::Write;

/// Prints a completion script for a shell.
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
        let mut script = Vec::new();
        // The generator panics where it cannot write, which this cannot.
        generate(self.shell, &mut Arguments::command(), "sealsim", &mut script);
        Output.write_all(&script).map_err(|error| Failure::output(&error))
    }
}
