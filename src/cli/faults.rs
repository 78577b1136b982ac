//! `sealsim faults`: an adversary that draws sets of faults.

use super::{Failure, MachineArguments, output, run::Interruption};
use crate::{
    explore::faults::{Campaign, CampaignError, Question, campaign},
    report::{SCHEMA_VERSION, fault_sets},
    sim::Control,
    system::RunError,
    validate::pool,
    workload::{Copy, CopyArgument, sized},
};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use miette::miette;
use serde::Serialize;
use std::io::{self, IsTerminal};

/// Draws sets of faults, runs the machine with each, and tells who caught what after how long, and whether anything wrong was called right.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Every set has one to --most faults, each at a passage of a fault point that the copies pass (`sealsim list --faults` names the points). Each is run \
twice: with `--data exact`, and with `--data none`, on the `every-cycle` kernel if --both-kernels says so. What every copy leaves is kept apart from \
the machine and compared with the source. These are findings: a copy that is called delivered and is not equal, bytes that arrive without \
having been verified where messages are sealed, a verdict that depends on data mode or kernel, a run that does not end, and a panic.

A run that hangs is no finding: a machine without a timeout for what was lost waits for ever, and nothing was called delivered.

Exit status: 0 nothing wrong was called right; 1 something was, or interrupted: every finding is shown with the command that repeats it; 2 wrong \
arguments; 3 a machine that is none; 4 the output cannot be written; 5 the machine fails without a fault.

Examples:
  sealsim faults h100-nvl-tdx
  sealsim faults h100-nvl-tdx --design fastrack --sets 2000 --seed 7
  sealsim faults h100-nvl-tdx --design off --copy d2h:64KiB --most 2
  sealsim faults h100-nvl-tdx --design ide --format csv > sets.csv

docs/faults.md reads the tables of the shipped designs.")]
pub struct Arguments {
    #[command(flatten)]
    machine: MachineArguments,
    /// A copy that every run makes; may be given several times
    #[arg(long, value_name = "DIR:SIZE[:MEM]", default_values = ["h2d:64KiB", "d2h:64KiB"])]
    copy: Vec<CopyArgument>,
    /// How many sets are drawn
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    sets: u64,
    /// Most faults of a set
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=64))]
    most: u32,
    /// Of the draw, of payloads and of the bits that are inverted
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Run each set without data on the `every-cycle` kernel: slow where a timeout of the machine is long
    #[arg(long)]
    both_kernels: bool,
    /// Sets run at the same time (default: as many as there are cores); the answer does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Tables for people, one JSON object, or a table for spreadsheets with a row for each set
    #[arg(long, value_enum, default_value_t = FaultsFormat::Text)]
    format: FaultsFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FaultsFormat {
    /// Who caught how many sets, and the findings
    Text,
    /// sets[]; described in docs/results.md
    Json,
    /// A row for each set
    Csv,
}

#[derive(Debug, Serialize)]
struct Document {
    schema_version: u32,
    machine: String,
    /// Run with the faults of a set behind it.
    command: String,
    #[serde(flatten)]
    campaign: Campaign,
}

/// Runs the verb.
///
/// # Errors
/// See the help text for each exit status.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let resolved = arguments.machine.resolve()?;
    let copies = sized(&arguments.copy, None).map_err(|error| Failure::Usage(miette!("--copy: {error}")))?;
    let command = arguments.command(&copies);
    let question = Question {
        machine: resolved.machine.clone(),
        copies,
        sets: arguments.sets,
        most: arguments.most,
        seed: arguments.seed,
        both_kernels: arguments.both_kernels,
    };
    let interruption = Interruption::listen();
    let observer = || if interruption.asked() { Control::Stop } else { Control::Continue };
    let threads = arguments.threads.map_or_else(pool::threads, usize::from);
    let bar = bar(arguments.sets);
    let answer = campaign(&question, threads, &observer, &|| bar.inc(1));
    bar.finish_and_clear();
    let answer = answer.map_err(failed)?;
    let findings = answer.findings().count();
    print(
        arguments.format,
        Document { schema_version: SCHEMA_VERSION, machine: resolved.name(), command, campaign: answer },
    )?;
    match findings {
        0 => Ok(()),
        _ => Err(Failure::Verification(miette!(
            "{findings} of {} sets: something wrong was called right",
            arguments.sets
        ))),
    }
}

fn print(format: FaultsFormat, document: Document) -> Result<(), Failure> {
    let printed = match format {
        FaultsFormat::Text => {
            let text = fault_sets::text(&document.campaign, &document.command, output::width());
            Ok(output::fitted(&format!("{}: {text}", document.machine)))
        }
        FaultsFormat::Csv => fault_sets::csv(&document.campaign).map_err(io::Error::other),
        FaultsFormat::Json => serde_json::to_string_pretty(&document).map(|json| json + "\n").map_err(io::Error::from),
    };
    printed.map(|text| output::print(&text)).map_err(|error| Failure::output(&error))
}

impl Arguments {
    /// The run that a set of faults is laid on, as a shell takes it.
    fn command(&self, copies: &[Copy]) -> String {
        let mut words = vec!["sealsim".to_owned(), "run".to_owned(), quoted(&self.machine.config)];
        let mut option = |name: &str, value: &str| words.extend([format!("--{name}"), quoted(value)]);
        self.machine.overlays.design.iter().for_each(|design| option("design", design));
        self.machine.overlays.set.iter().for_each(|set| option("set", set));
        copies.iter().for_each(|copy| option("copy", &copy.to_string()));
        words.join(" ")
    }
}

/// A word of a command line, in quotes if a shell would take it apart.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:+,%@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn failed(error: CampaignError) -> Failure {
    match error {
        CampaignError::Stopped => Failure::Verification(miette!("interrupted: nothing was judged")),
        CampaignError::TooLong { .. } => Failure::Usage(miette!("--copy: {error}")),
        CampaignError::Sound(RunError::Build(_)) => Failure::Config(miette!("{error}")),
        CampaignError::Sound(_) | CampaignError::NotDelivered { .. } => Failure::Simulation(miette!("{error}")),
    }
}

/// A bar on standard error, if it is a terminal.
fn bar(sets: u64) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_bar} {pos} of {len} sets, {eta} left");
    ProgressBar::new(sets).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_a_shell_would_take_apart_is_quoted() {
        assert_eq!(quoted("hbm.write_rate=5 B/cycle"), "'hbm.write_rate=5 B/cycle'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("h2d:65536:pinned"), "h2d:65536:pinned");
    }
}
