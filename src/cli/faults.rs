//! `sealsim faults`: what faults that are drawn at random come to.

use super::{
    Failure, OverlayArguments, SettingArguments, Switch, WorkArguments,
    machine::machine_of,
    output,
    page::{PageArgument, PageFile, command_line, quoted},
    run::Interruption,
    watch::bar,
};
use crate::{
    config::Resolved,
    explore::faults::{Campaign, CampaignError, Extent, Question, Single, campaign, single},
    pool,
    report::{
        SCHEMA_VERSION,
        fault_points::{self, Shown, Stated},
        fault_sets,
    },
    system::RunError,
    workload::Workload,
};
use clap::{Args, ValueEnum};
use miette::miette;
use serde::Serialize;

/// Draws sets of faults, runs the machine with each, and says which are harmless, detected (by which signal, after how long), silent, or hang.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Every run makes the copies of --copy or --workload, or 64 KiB each way. Every set has one to --most faults, each at a transfer of a fault point that the copies pass (`sealsim list --faults` names the points). Each is run \
twice: with `--data exact`, and with `--data none`, on the `every-cycle` kernel if --both-kernels says so. What every copy leaves is kept apart from \
the machine and compared with the source. These are findings, in which the simulator contradicts itself: a copy that is called delivered and is not equal, bytes that arrive without \
having been verified where messages are sealed, a copy that fails without a signal, a verdict that depends on data mode or kernel, a run that does \
not end, and a panic.

Each set has a class. harmless: all copies are right, and no unit signals an error. detected: a unit signals one (a tag that differs, an LCRC, a replay, \
a timeout, an error status), possibly repaired, and no copy was reported complete before that is wrong. silent: a copy was reported complete, \
is wrong, and until then no unit had signalled an uncorrected error; only the comparison outside the machine shows it. hang: the machine waits for ever; the only \
timeout that is modelled is that of reads over PCIe (copy_engine.completion_timeout). Rates are those of the draw; with --most 1 those of single faults. Their bounds \
are Wilson's 95 % intervals.

With --exhaustive single no set is drawn: each single fault is tried once in every distinct state of each copy (4 KiB each way), also in the registers of the engines of copy engines, by the names that waves give them; the table is by point. --members draws further faults among them, at other bits of other bytes, and says how many come to the same.

Exit status: 0 all sets have a class, silent ones included; 1 a finding, or interrupted: every finding is shown with the command that repeats it; 2 wrong \
arguments; 3 a machine that is none; 4 the output cannot be written; 5 the machine fails without a fault.

Examples:
  sealsim faults h100-nvl-tdx --most 1 --sets 1000
  sealsim faults h100-nvl-tdx --design fastrack --sets 2000 --seed 7
  sealsim faults h100-nvl-tdx --design off --copy d2h:64KiB --most 2
  sealsim faults h100-nvl-tdx --design ide --format csv > sets.csv
  sealsim faults h100-nvl-tdx --exhaustive single --per-point 20 --report faults.html

docs/faults.md explains the classes and compares designs.")]
pub struct Arguments {
    /// The machine: a TOML file, or the name of a shipped one (see `sealsim list`). A file takes precedence. May be left out for a
    /// workload that names its machine
    #[arg(value_name = "CONFIG", required_unless_present = "workload")]
    config: Option<String>,
    #[command(flatten)]
    overlays: OverlayArguments,
    #[command(flatten)]
    work: WorkArguments,
    /// Try every single fault of each copy, one after the other, instead of sets
    #[arg(long, value_enum, conflicts_with_all = ["sets", "most", "both_kernels", "workload"])]
    exhaustive: Option<Exhaustive>,
    /// Most states of a point that are tried, drawn evenly (default: all)
    #[arg(long, value_name = "N", requires = "exhaustive", value_parser = clap::value_parser!(u32).range(1..))]
    per_point: Option<u32>,
    /// Faults that are drawn among those that were tried, at other bits, and compared with them
    #[arg(long, value_name = "N", requires = "exhaustive", default_value_t = 0)]
    members: u32,
    #[command(flatten)]
    page: PageArgument,
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
    /// Classes with bounds, signals with latencies, and the findings
    Text,
    /// classes[] and sets[]; described in docs/results.md
    Json,
    /// A row for each set
    Csv,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Exhaustive {
    /// One fault in a run
    Single,
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

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (machine, workload) = arguments.asked()?;
    let resolved = arguments.overlays.resolve(&machine)?;
    let command = arguments.command(&machine, &workload);
    let question = Question {
        machine: resolved.machine.clone(),
        workload,
        sets: arguments.sets,
        most: arguments.most,
        seed: arguments.seed,
        both_kernels: arguments.both_kernels,
    };
    let page = arguments.page.begin(&[])?;
    if arguments.exhaustive.is_some() {
        return arguments.all_single(&question, &resolved, page);
    }
    if page.is_some() {
        return Err(Failure::Usage(miette!(help = "add --exhaustive single", "--report has no page of sets")));
    }
    let interruption = Interruption::listen();
    let observer = || interruption.control();
    let threads = arguments.threads.map_or_else(pool::threads, usize::from);
    let bar = bar(arguments.sets, SETS);
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
            "{findings} of {} sets: the simulator contradicts itself",
            arguments.sets
        ))),
    }
}

fn print(format: FaultsFormat, document: Document) -> Result<(), Failure> {
    output::print(&match format {
        FaultsFormat::Text => {
            let text = fault_sets::text(&document.campaign, &document.command, output::width());
            output::fitted(&format!("{}: {text}", document.machine))
        }
        FaultsFormat::Csv => fault_sets::csv(&document.campaign)?,
        FaultsFormat::Json => output::json(&document)?,
    });
    Ok(())
}

#[derive(Debug, Serialize)]
struct SingleDocument<'a> {
    schema_version: u32,
    machine: &'a str,
    digest: &'a str,
    command: &'a str,
    #[serde(flatten)]
    single: &'a Single,
}

/// The same with what a page shows.
#[derive(Debug, Serialize)]
struct PageDocument<'a> {
    #[serde(flatten)]
    document: SingleDocument<'a>,
    #[serde(flatten)]
    shown: Shown<'a>,
}

impl Arguments {
    fn all_single(&self, question: &Question, resolved: &Resolved, page: Option<PageFile>) -> Result<(), Failure> {
        let interruption = Interruption::listen();
        let observer = || interruption.control();
        let threads = self.threads.map_or_else(pool::threads, usize::from);
        let extent = Extent { per_point: self.per_point.map(|most| most as usize), members: self.members as usize };
        let bar = bar(0, SETS);
        let told: (&dyn Fn(u64), &(dyn Fn() + Sync)) = (&|all| bar.set_length(all), &|| bar.inc(1));
        let answer = single(question, extent, threads, &observer, told);
        bar.finish_and_clear();
        let answer = answer.map_err(failed)?;
        let copies: Vec<_> = question.workload.copies.iter().map(ToString::to_string).collect();
        let stated = Stated {
            machine: resolved.name(),
            digest: resolved.digest.clone(),
            copies: copies.join(", "),
            per_point: extent.per_point,
            seed: self.seed,
            command: command_line(),
        };
        let findings = answer.findings.len();
        let Stated { machine, digest, command, .. } = &stated;
        let document = || SingleDocument { schema_version: SCHEMA_VERSION, machine, digest, command, single: &answer };
        let printed = match self.format {
            FaultsFormat::Text => Ok(fault_points::text(&answer, &stated, output::width())),
            FaultsFormat::Csv => fault_points::csv(&answer, &stated).map_err(Failure::from),
            FaultsFormat::Json => output::json(&document()),
        };
        if let Some(page) = page {
            page.write(&PageDocument { document: document(), shown: Shown::of(&answer, &stated) }, Ok)?;
        }
        output::print(&printed?);
        match findings {
            0 => Ok(()),
            _ => Err(Failure::Verification(miette!("{findings} faults: the simulator contradicts itself"))),
        }
    }

    /// The machine and what every run makes.
    fn asked(&self) -> Result<(String, Workload), Failure> {
        let mut work = self.work.clone();
        if !work.is_given() {
            let copies = if self.exhaustive.is_some() { ["h2d:4KiB", "d2h:4KiB"] } else { ["h2d:64KiB", "d2h:64KiB"] };
            work.copies = copies.iter().filter_map(|copy| copy.parse().ok()).collect();
        }
        let file = work.file()?;
        let machine = machine_of(self.config.as_deref(), file.as_ref())?;
        Ok((machine, work.timed(file)?))
    }

    /// The run that a set of faults is laid on, as a shell takes it.
    fn command(&self, machine: &str, workload: &Workload) -> String {
        let mut words = vec!["sealsim".to_owned(), "run".to_owned(), quoted(machine)];
        let mut option = |name: &str, value: &str| words.extend([format!("--{name}"), quoted(value)]);
        self.overlays.design.iter().for_each(|design| option("design", design));
        let SettingArguments { set, cc } = &self.overlays.settings;
        set.iter().for_each(|set| option("set", set));
        cc.iter().for_each(|cc| option("cc", if *cc == Switch::On { "on" } else { "off" }));
        match &self.work.workload {
            None => workload.copies.iter().for_each(|copy| option("copy", &copy.to_string())),
            Some(name) => option("workload", &name.to_string_lossy()),
        }
        self.work.param.iter().for_each(|setting| option("param", &setting.to_string()));
        words.join(" ")
    }
}

const SETS: &str = "{pos} of {len} sets";

fn failed(error: CampaignError) -> Failure {
    match error {
        CampaignError::Stopped => Failure::Verification(miette!("interrupted: nothing was judged")),
        CampaignError::Messages { .. } => Failure::Usage(miette!("--copy: {error}")),
        CampaignError::TooLong { .. } => Failure::Usage(miette!("--copy: {error}")),
        CampaignError::Collective(error) => Failure::Config(miette!("{error}")),
        CampaignError::Sound(RunError::Build(_)) => Failure::Config(miette!("{error}")),
        CampaignError::Sound(_) | CampaignError::NotDelivered { .. } => Failure::Simulation(miette!("{error}")),
    }
}
