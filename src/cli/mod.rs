//! The command line: one file per verb.

mod calibrate;
mod collective;
mod compare;
mod complete;
mod completions;
mod cost_table;
mod describe;
mod diff;
mod engine;
mod example;
mod explain;
mod failure;
mod faults;
mod import;
mod kept;
pub mod lab;
mod list;
mod list_faults;
mod loopback;
mod machine;
mod man;
mod new_machine;
mod output;
mod page;
mod pareto;
mod places;
mod plot;
mod profile;
mod reference;
mod replay;
mod report;
mod rerun;
mod risk;
mod rtl;
mod run;
mod sample;
mod schema;
mod search;
mod sensitivity;
mod signals;
mod sweep;
mod tlp;
mod validate;
mod vectors;
mod verify;
mod watch;
mod work;

use crate::files::remove_unfinished;
use clap::{Parser, Subcommand};
use std::{ffi::OsString, io::ErrorKind, process::ExitCode};

pub use failure::Failure;
pub use machine::{AlternativeArguments, MachineArguments, OverlayArguments, SettingArguments, Switch};
pub use run::Interruption;
pub use work::WorkArguments;

/// Simulates the sealed copy path between a CPU TEE and a GPU TEE.
#[derive(Debug, Parser)]
#[command(name = "sealsim", version, arg_required_else_help = true)]
struct Arguments {
    /// Print the licences of all that is compiled in, and exit.
    #[arg(long)]
    licences: bool,
    #[command(subcommand)]
    verb: Option<Verb>,
}

/// Crates, font, vectors and profiles, each with its licence; `.ci/notice` makes it.
const NOTICE: &str = include_str!("../../NOTICE");

#[derive(Debug, Subcommand)]
enum Verb {
    Run(Box<run::Arguments>),
    Rerun(rerun::Arguments),
    Explain(explain::Arguments),
    Diff(diff::Arguments),
    Compare(compare::Arguments),
    Lab(lab::Arguments),
    Collective(collective::Arguments),
    Describe(describe::Describe),
    List(list::List),
    Example(example::Arguments),
    Schema(schema::Schema),
    Completions(completions::Completions),
    Man(man::Man),
    Reference(reference::Reference),
    Tlp(tlp::Arguments),
    Engine(engine::Arguments),
    Rtl(rtl::Arguments),
    Replay(replay::Arguments),
    Import(import::Arguments),
    CostTable(cost_table::Arguments),
    Sweep(Box<sweep::Arguments>),
    Search(Box<search::Arguments>),
    Pareto(pareto::Arguments),
    Report(report::Arguments),
    Sensitivity(sensitivity::Arguments),
    Risk(risk::Arguments),
    Faults(faults::Arguments),
    Validate(validate::Arguments),
    Calibrate(calibrate::Arguments),
    NewMachine(new_machine::Arguments),
    /// Checks the modelled hardware against published values.
    Verify(verify::Arguments),
    /// Makes messages for benches.
    Vectors(vectors::Arguments),
}

/// Whether the program would understand these arguments, its own name first. Nothing is run.
pub fn understands(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> bool {
    Arguments::try_parse_from(arguments).is_ok()
}

/// The program: its verbs, on the arguments of the process.
#[derive(Debug, Default)]
pub struct Program {}

impl Program {
    /// The program as it is shipped.
    pub const fn new() -> Self {
        Self {}
    }

    /// Does what the arguments of the process ask for and gives the exit status.
    pub fn run(self) -> ExitCode {
        signals::listen();
        match complete::answer() {
            Ok(false) => {}
            Ok(true) => return ExitCode::SUCCESS,
            Err(error) => {
                // What a shell does not get, nobody sees.
                let _ = output::show_usage(&error);
                return ExitCode::from(2);
            }
        }
        let arguments = match Arguments::try_parse() {
            Ok(arguments) => arguments,
            Err(error) => {
                let printed = output::show_usage(&error);
                if error.use_stderr() {
                    return ExitCode::from(2);
                }
                // A reader of the help that has closed the pipe has what it wanted.
                let failed = printed.err().filter(|error| error.kind() != ErrorKind::BrokenPipe);
                return Failure::exit(failed.map_or(Ok(()), |error| Err(Failure::output(&error))));
            }
        };
        let Some(verb) = arguments.verb.filter(|_| !arguments.licences) else {
            output::print(NOTICE);
            return Failure::exit(Ok(()));
        };
        let result: Result<(), Failure> = match verb {
            Verb::Run(arguments) => run::run(&arguments),
            Verb::Rerun(arguments) => rerun::run(&arguments),
            Verb::Explain(arguments) => explain::run(&arguments),
            Verb::Diff(arguments) => diff::run(&arguments),
            Verb::Compare(arguments) => compare::run(&arguments),
            Verb::Lab(arguments) => lab::run(&arguments),
            Verb::Collective(arguments) => collective::run(&arguments),
            Verb::Describe(verb) => verb.run(),
            Verb::List(verb) => verb.run(),
            Verb::Example(arguments) => example::run(&arguments),
            Verb::Schema(verb) => verb.run(),
            Verb::Completions(verb) => verb.run(),
            Verb::Man(verb) => verb.run(),
            Verb::Reference(verb) => verb.run(),
            Verb::Tlp(arguments) => tlp::run(arguments),
            Verb::Engine(arguments) => engine::run(&arguments),
            Verb::Rtl(arguments) => rtl::run(&arguments),
            Verb::Replay(arguments) => replay::run(&arguments),
            Verb::Import(arguments) => import::run(&arguments),
            Verb::CostTable(arguments) => cost_table::run(&arguments),
            Verb::Sweep(arguments) => sweep::run(&arguments),
            Verb::Search(arguments) => search::run(&arguments),
            Verb::Pareto(arguments) => pareto::run(&arguments),
            Verb::Report(arguments) => report::run(&arguments),
            Verb::Sensitivity(arguments) => sensitivity::run(&arguments),
            Verb::Risk(arguments) => risk::run(&arguments),
            Verb::Faults(arguments) => faults::run(&arguments),
            Verb::Validate(arguments) => validate::run(&arguments),
            Verb::Calibrate(arguments) => calibrate::run(&arguments),
            Verb::NewMachine(arguments) => new_machine::run(&arguments),
            Verb::Verify(arguments) => verify::run(&arguments),
            Verb::Vectors(arguments) => vectors::run(&arguments),
        };
        signals::note_end();
        // What a thread leaves that is still at work.
        remove_unfinished();
        Failure::exit(result)
    }
}
