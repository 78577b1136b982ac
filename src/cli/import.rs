//! `sealsim import`: a profile as a workload file.

use super::{
    Failure, output,
    profile::{ProfileArguments, Progress},
};
use crate::replay::{Job, import};
use clap::Args;
use miette::miette;

/// From the return of a launch to its operation on an idle stream, ns: it tells which operations waited for their calls.
const SUBMISSION: u64 = 1_400;

/// Makes a workload file of a profile: its copies, kernels, streams and waits.
#[derive(Debug, Args)]
#[command(after_long_help = "\
The profile is one that `sealsim replay` reads. The workload has its copies, kernels and fills (as kernels), in the order of their calls, \
synchronisations, and events where an operation waited for another stream. Host time between calls is not in it, nor what other calls cost: \
use `sealsim replay` to ask what a program would take.

Exit status: 0 written; 1 interrupted; 2 wrong arguments; 3 a trace that cannot be used; 4 a file cannot be read, or the output not written.

Examples:
  sealsim import trace.json.gz > job.toml && sealsim run h100-nvl-tdx --workload job.toml --data none
  sealsim import job_cuda_gpu_trace.csv --api job_cuda_api_trace.csv > job.toml")]
pub struct Arguments {
    #[command(flatten)]
    profile: ProfileArguments,
}

/// Runs the verb.
///
/// # Errors
/// See the help text for each exit status.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let trace = arguments.profile.read(&Progress::listen())?;
    let job = Job::of(&trace, SUBMISSION);
    let text = import(&job, &arguments.profile.file().display().to_string());
    let text = text.map_err(|error| Failure::Config(miette!(help = "cut the trace to a part of it", "{error}")))?;
    output::print(&text);
    Ok(())
}
