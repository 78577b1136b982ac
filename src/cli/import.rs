//! `sealsim import`: a profile as a workload file.

use super::{
    Failure, output,
    profile::{ProfileArguments, Progress},
    replay::{failed, submission},
};
use crate::{
    config::Layers,
    pool,
    replay::{End, Job, Known, Question, Simulator, import},
};
use clap::Args;
use miette::miette;

/// Makes a workload file of a profile: its copies, kernels, streams and waits.
#[derive(Debug, Args)]
#[command(after_long_help = "\
The profile is one that `sealsim replay` reads. The workload has its copies, kernels and fills (as kernels), in the order of their calls, \
synchronisations, and events where an operation waited for another stream. Copies that are alike share a buffer, whose pages are what a replay takes them \
to be. Host time between calls is not in it, nor what other calls cost: \
use `sealsim replay` to ask what a program would take.

Exit status: 0 written; 1 interrupted; 2 wrong arguments; 3 a trace that cannot be used; 4 a file cannot be read, or the output not written.

Examples:
  sealsim import trace.json.gz > job.toml && sealsim run h100-nvl-tdx --workload job.toml --data none
  sealsim import job_cuda_gpu_trace.csv --api job_cuda_api_trace.csv > job.toml")]
pub struct Arguments {
    #[command(flatten)]
    profile: ProfileArguments,
    /// The machine on which the program was profiled: what its calls took shows what memory they used. A TOML file, or the name of a shipped one. A file
    /// takes precedence
    #[arg(long, value_name = "CONFIG", default_value = "h100-nvl-tdx")]
    hw: String,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let machine = Layers::new(&arguments.hw).confidential_computing(true).resolve()?;
    let progress = Progress::listen();
    let trace = arguments.profile.read(&progress)?;
    let job = Job::of(&trace, submission(&machine)?);
    progress.count("copies simulated");
    let (known, one_more, go_on) = (Known::default(), || progress.one_more(), || progress.go_on());
    let threads = pool::threads();
    let simulator =
        Simulator { threads, go_on: &go_on, progress: &one_more, known: &known, sample: None, end: End::Middle };
    let question = Question::new(&job, &machine, simulator).map_err(failed)?;
    let text = import(&job, &question.keys, &arguments.profile.file().display().to_string());
    let text = text.map_err(|error| Failure::Config(miette!(help = "cut the trace to a part of it", "{error}")))?;
    output::print(&text);
    Ok(())
}
