//! What a shell may put behind the words of a command line: shipped names, files, paths of parameters, fault points.
//!
//! A script of `sealsim completions` calls the program with [`VARIABLE`] set and the words so far. What an argument takes is known by the name
//! of its value (`CONFIG`, `DESIGN`, ...), so that a new verb is completed as soon as it calls its values like the others.

mod bash;
mod candidates;

use super::Arguments;
use bash::Bash;
use clap::{Arg, Command, CommandFactory, error::Result};
use clap_complete::{
    ArgValueCompleter, CompleteEnv,
    env::{Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh},
};
use std::{env, io};

/// The environment variable that says for which shell to complete.
const VARIABLE: &str = "SEALSIM_COMPLETE";

const SHELLS: Shells<'static> = Shells(&[&Bash, &Elvish, &Fish, &Powershell, &Zsh]);

/// Answers a shell that asks what may follow. True if one has asked: nothing else is then to be done.
pub fn answer() -> Result<bool> {
    let asked = CompleteEnv::with_factory(command).var(VARIABLE).bin("sealsim").shells(SHELLS);
    asked.try_complete(env::args_os(), env::current_dir().ok().as_deref())
}

/// The script with which the shell of this name asks.
pub fn script(shell: &str) -> io::Result<Vec<u8>> {
    let mut script = Vec::new();
    let known: &dyn EnvCompleter =
        SHELLS.completer(shell).ok_or_else(|| io::Error::other(format!("no completions for {shell}")))?;
    known.write_registration(VARIABLE, "sealsim", "sealsim", "sealsim", &mut script)?;
    Ok(script)
}

/// The program's arguments, with what each may be.
fn command() -> Command {
    with_candidates(Arguments::command())
}

fn with_candidates(command: Command) -> Command {
    command.mut_args(with_candidate).mut_subcommands(with_candidates)
}

fn with_candidate(argument: Arg) -> Arg {
    let name = argument.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let completer = match name.as_deref() {
        Some("CONFIG" | "CONFIG|MANIFEST") => ArgValueCompleter::new(candidates::machines),
        Some("DESIGN" | "DESIGN[+DESIGN]") => ArgValueCompleter::new(candidates::designs),
        Some("FILE|NAME") => ArgValueCompleter::new(candidates::workloads),
        Some("PATH=VALUE") => ArgValueCompleter::new(candidates::settings),
        Some(name) if name.starts_with("POINT") => ArgValueCompleter::new(candidates::fault_points),
        _ => return argument,
    };
    argument.add(completer)
}
