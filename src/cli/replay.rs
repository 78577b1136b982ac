//! `sealsim replay`: a profile of a program, played again with confidential computing.

use super::{Failure, output, run::Interruption};
use crate::{
    config::{Layers, Resolved},
    replay::{
        Advice, Answer, Causes, Figures, Job, Known, Operation, Question, ReplayError, Share, Simulator, advise,
        breakdown, costliest, of_design,
    },
    report::{SCHEMA_VERSION, replay as text},
    sim::Control,
    system::RunError,
    validate::pool,
    workload::trace::{self, Input, Trace, TraceError},
};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use miette::miette;
use serde::Serialize;
use std::{
    io::{self, IsTerminal},
    path::PathBuf,
    time::Duration,
};

/// Says what confidential computing costs a program, from a profile that was taken without it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
FILE is what a profiler wrote while the program ran without confidential computing:

  PyTorch profiler   prof.export_chrome_trace(\"trace.json.gz\")
  Nsight Systems     nsys profile --trace cuda PROGRAM, then one of
                       nsys stats --report cuda_gpu_trace --report cuda_api_trace --format csv --output job report.nsys-rep
                       nsys export --type sqlite --output report.sqlite report.nsys-rep
  Chakra             an execution trace (protobuf)

JSON, CSV and Chakra may be packed with gzip. What a file is, is told by its content.

The program's calls, copies and kernels get new dates on the machine of --hw: copies are simulated, each distinct one once; other calls cost \
what its table `calls` says; host time between calls and kernels stay as they are. The first run, off, is the trace played again as it was: it \
shows what the replay itself is off by. docs/replay.md has the rules, and what is not modelled.

Exit status: 0 played; 1 interrupted; 2 wrong arguments; 3 a trace, machine or design that cannot be used; 4 a file cannot be read, or the \
output not written; 5 a fault of the simulation.

Examples:
  sealsim replay trace.json.gz
  sealsim replay job_cuda_gpu_trace.csv --api job_cuda_api_trace.csv --hw h100-tdx-gen5
  sealsim replay report.sqlite --design fastrack --design direct+overlap
  sealsim replay trace.json.gz --format json | jq '.runs[] | {name, slowdown}'")]
pub struct Arguments {
    /// The profile
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The table of calls (cuda_api_trace) that belongs to a table of operations (cuda_gpu_trace)
    #[arg(long, value_name = "FILE")]
    api: Option<PathBuf>,
    /// The machine: a TOML file, or the name of a shipped one. A file takes precedence
    #[arg(long, value_name = "CONFIG", default_value = "h100-nvl-tdx")]
    hw: String,
    /// A design to play the job on as well, or several joined by `+`. May be given several times
    #[arg(long, value_name = "DESIGN[+DESIGN]")]
    design: Vec<String>,
    /// Set one value of the machine, above all files. May be given several times
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Copies simulated at the same time (default: as many as there are cores); the figures do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Tables for people, or one JSON object
    #[arg(long, value_enum, default_value_t = ReplayFormat::Text)]
    format: ReplayFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReplayFormat {
    /// Tables, and advice
    Text,
    /// runs[], breakdown[], operations[], advice[], events; described in docs/replay.md
    Json,
}

/// What a replay prints.
#[derive(Debug, Serialize)]
pub(crate) struct Document {
    schema_version: u32,
    /// The machine.
    pub machine: String,
    /// What the trace was read from.
    pub trace: &'static str,
    /// What became of its events.
    pub events: Events,
    /// What it lacks and what was taken instead.
    pub assumed: Vec<String>,
    /// Off, CC, and the designs.
    pub runs: Vec<Figures>,
    /// What the difference between the first two is made of.
    pub breakdown: Vec<Share>,
    /// The calls that grow most.
    pub operations: Vec<Operation>,
    /// What would give time back.
    pub advice: Vec<Advice>,
}

/// What became of the events of a trace.
#[derive(Debug, Serialize)]
pub(crate) struct Events {
    /// Those that the replay has.
    pub used: u64,
    /// The others.
    pub left_out: Vec<LeftOut>,
}

/// Events that the replay does not have.
#[derive(Debug, Serialize)]
pub(crate) struct LeftOut {
    /// Why.
    pub reason: String,
    /// How many.
    pub count: u64,
}

/// Calls that are listed.
const OPERATIONS: usize = 10;

/// Runs the verb.
///
/// # Errors
/// See the help text for each exit status.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let machine = arguments.machine("")?;
    let designs: Vec<_> = arguments
        .design
        .iter()
        .map(|design| Ok((design, arguments.machine(design)?)))
        .collect::<Result<_, Failure>>()?;
    let interruption = Interruption::listen();
    let go_on = || if interruption.asked() { Control::Stop } else { Control::Continue };
    let bar = bar();
    let trace = arguments.read(&bar, &go_on)?;
    let job = Job::of(&trace, submission(&machine)?);
    if job.ops.is_empty() {
        let help = "profile with CUDA activities: `--trace cuda` of nsys, ProfilerActivity.CUDA of PyTorch";
        return Err(Failure::Config(miette!(help = help, "the trace has no operation of a GPU: nothing to play")));
    }
    let known = Known::default();
    let progress = || bar.inc(1);
    bar.set_message("copies simulated");
    bar.set_position(0);
    let threads = arguments.threads.map_or_else(pool::threads, usize::from);
    let simulator = Simulator { threads, go_on: &go_on, progress: &progress, known: &known };
    let document = answer(&trace, &job, &machine, &designs, simulator);
    bar.finish_and_clear();
    print(arguments.format, &document?)
}

/// From the return of a launch to its operation on an idle stream, ns.
fn submission(machine: &Resolved) -> Result<u64, Failure> {
    let calls = machine.machine.calls.as_ref();
    let calls = calls.ok_or_else(|| failed(ReplayError::NoCalls { machine: machine.name() }))?;
    Ok(calls.submission.off.0 / 1_000_000)
}

fn answer(
    trace: &Trace,
    job: &Job,
    machine: &Resolved,
    designs: &[(&String, Resolved)],
    simulator: Simulator<'_>,
) -> Result<Document, Failure> {
    let question = Question::new(job, machine, simulator).map_err(failed)?;
    let off = question.off(machine).map_err(failed)?;
    let cc = question.secure(machine, Causes::default()).map_err(failed)?;
    let figures = |name: &str, answer: &Answer| question.figures(name, answer, &off.played);
    let mut runs = vec![figures("off", &off), figures("cc", &cc)];
    let shares = breakdown(&question, machine, &cc.played).map_err(failed)?;
    let mut advice = advise(&question, machine, &cc.played).map_err(failed)?;
    for (name, design) in designs {
        let secure = design.machine.confidential_computing;
        let answer =
            if secure { question.secure(design, Causes::default()) } else { question.off(design) }.map_err(failed)?;
        let own = if secure { breakdown(&question, design, &answer.played).map_err(failed)? } else { Vec::new() };
        advice.push(of_design(name, (&cc.played, &shares), (&answer.played, &own)));
        runs.push(figures(name, &answer));
    }
    Ok(Document {
        schema_version: SCHEMA_VERSION,
        machine: machine.name(),
        trace: trace.format.name(),
        events: events(trace),
        assumed: job.assumed.clone(),
        runs,
        breakdown: shares,
        operations: costliest(job, &off.played, &cc.played, OPERATIONS),
        advice,
    })
}

fn events(trace: &Trace) -> Events {
    let left_out = trace.events.left_out.iter();
    let left_out = left_out.map(|(reason, count)| LeftOut { reason: reason.clone(), count: *count });
    Events { used: trace.events.used, left_out: left_out.collect() }
}

impl Arguments {
    /// The machine with a design on it, or with none. Confidential computing is on unless the design says otherwise.
    fn machine(&self, design: &str) -> Result<Resolved, Failure> {
        let secure = Layers::new(&self.hw).resolve()?.machine.confidential_computing;
        let parts = design.split('+').filter(|part| !part.is_empty());
        let layers = parts.fold(Layers::new(&self.hw), Layers::overlay);
        let layers = if secure { layers } else { layers.set("confidential_computing=true") };
        Ok(self.set.iter().fold(layers, Layers::set).resolve()?)
    }

    fn read(&self, bar: &ProgressBar, go_on: &dyn Fn() -> Control) -> Result<Trace, Failure> {
        bar.set_message("bytes read");
        let mut progress = |read: u64, _: Option<u64>| {
            bar.set_position(read);
            go_on()
        };
        let api = self.api.as_deref().map(Input::Path);
        Ok(trace::read(Input::Path(&self.file), api, &mut progress)?)
    }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        match &error {
            _ if error.is_stopped() => Self::Verification(miette!("interrupted: the trace was not read to its end")),
            _ if error.is_unreadable() => Self::InputOutput(error.into()),
            _ => Self::Config(error.into()),
        }
    }
}

fn failed(error: ReplayError) -> Failure {
    match error {
        _ if error.is_stopped() => Failure::Verification(miette!("interrupted: nothing was played")),
        ReplayError::Config(error) => (*error).into(),
        ReplayError::NoCalls { .. } => Failure::Config(miette!(
            help = "write `extends = \"h100-nvl-tdx\"` in the machine's file, or a table [calls] of its own",
            "{error}"
        )),
        ReplayError::Run(ref run) if matches!(**run, RunError::Build(_)) => Failure::Config(miette!("{error}")),
        ReplayError::Run(_) => Failure::Simulation(miette!("{error}")),
        ReplayError::Lost { .. } => Failure::Verification(miette!("{error}")),
    }
}

fn print(format: ReplayFormat, document: &Document) -> Result<(), Failure> {
    let printed = match format {
        ReplayFormat::Text => Ok(text::text(&text::Shown {
            machine: &document.machine,
            trace: document.trace,
            used: document.events.used,
            left_out: document.events.left_out.iter().map(|one| (one.reason.as_str(), one.count)).collect(),
            assumed: &document.assumed,
            runs: &document.runs,
            breakdown: &document.breakdown,
            operations: &document.operations,
            advice: &document.advice,
        })),
        ReplayFormat::Json => serde_json::to_string_pretty(document).map(|json| json + "\n").map_err(io::Error::from),
    };
    printed.map(|text| output::print(&text)).map_err(|error| Failure::output(&error))
}

/// A line on standard error, if it is a terminal.
fn bar() -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {human_pos} {msg}");
    let bar = ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
