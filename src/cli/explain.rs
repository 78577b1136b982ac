//! `sealsim explain`: why a run took as long as it took.

use super::{
    Failure, OverlayArguments, WorkArguments,
    machine::machine_of,
    output,
    rerun::{self, Again},
    run::{Interruption, Progress, RunFormat},
};
use crate::{
    config::Resolved,
    explore::explain::{ExplainError, Which, free_first, observe},
    report::explain::Explanation,
    sim::Kernel,
    system::DataMode,
    workload::Workload,
};
use clap::Args;
use miette::miette;
use std::path::Path;

/// Say why a run took as long as it took: the path of waits from its end back to its beginning.
#[derive(Debug, Args)]
#[command(after_long_help = "\
What is explained is a run of copies or of a workload on a machine, or the run of a manifest, which is repeated without its data and faults. From the end of the last copy the path goes back through the units: what a unit was \
doing, what it waited for, who sent that, what that one was doing before, until the run begins. The table adds up to the run's time.

What would be first if the first cause took no time is measured: its parameter is relaxed until it is as good as free, and the run is \
made again.

`latency` is time of a unit whose cycle counts say idle: what passes through it without occupying it. `flight` and `queue` are times on \
channels. docs/tour.md shows one message with its path.

Exit status: 0 explained; 1 interrupted; 2 wrong arguments, or no such message; 3 a manifest that cannot be read, or a run of too many events; 4 a file that \
cannot be read; 5 a fault of the simulation.

Examples:
  sealsim explain h100-nvl-tdx --copy h2d:16MiB
  sealsim explain h100-nvl-tdx --design direct+overlap --copy h2d:16MiB --message slowest
  sealsim run h100-nvl-tdx --copy h2d:16MiB --manifest run.json && sealsim explain run.json
  sealsim explain run.json --message slowest
  sealsim explain run.json --message @120us --top 30
  sealsim explain run.json --format json | jq '.path.shares[:5]'")]
pub struct Arguments {
    /// The machine, with --copy or --workload: a TOML file, or the name of a shipped one. Without these, a manifest that `sealsim run
    /// --manifest` wrote
    #[arg(value_name = "CONFIG|MANIFEST", required_unless_present = "workload")]
    subject: Option<String>,
    #[command(flatten)]
    overlays: OverlayArguments,
    #[command(flatten)]
    work: WorkArguments,
    /// Explain a message as well: its number from 1, `slowest`, or the one that is in progress at a time, as @120us
    #[arg(long, value_name = "N|slowest|@TIME", value_parser = which)]
    message: Option<Which>,
    /// Lines of each table; the rest is summed
    #[arg(long, value_name = "N", default_value_t = 12)]
    top: usize,
    /// Text for people, or one JSON object
    #[arg(long, value_enum, default_value_t = RunFormat::Text)]
    format: RunFormat,
}

fn which(text: &str) -> Result<Which, String> {
    if text == "slowest" {
        return Ok(Which::Slowest);
    }
    if let Some(time) = text.strip_prefix('@') {
        return time.parse().map(Which::At).map_err(|error| format!("{error}"));
    }
    let number = text.parse().ok().filter(|number| *number > 0);
    number.map(Which::Number).ok_or_else(|| "write a number from 1, `slowest`, or a time as @120us".to_owned())
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let explanation = explanation(arguments, &Interruption::listen(), false)?;
    let text = match arguments.format {
        RunFormat::Json => output::json(&explanation)?,
        _ => output::fitted(&explanation.text(arguments.top)),
    };
    output::print(&text);
    Ok(())
}

/// What `--format json` prints; nothing is printed.
pub fn answer(arguments: &Arguments, interruption: &Interruption) -> Result<String, Failure> {
    output::json(&explanation(arguments, interruption, true)?)
}

fn explanation(arguments: &Arguments, interruption: &Interruption, is_silent: bool) -> Result<Explanation, Failure> {
    let (resolved, workload) = arguments.asked()?;
    let workload = workload.only_timing(u64::MAX);
    let mut progress = Progress::new(workload.bytes(), DataMode::None, Kernel::Skip, is_silent);
    let mut observer = |now| {
        progress.show(now, &[]);
        interruption.control()
    };
    let collectives = rerun::collectives(&resolved, &workload, &mut observer)?;
    let repeat = || workload.unwatched(&collectives);
    let first = repeat().map_err(ExplainError::from);
    let observed = first.and_then(|request| observe(&resolved.machine, request, &mut observer)).map_err(failed)?;
    let message = arguments.message.map(|which| observed.message(which)).transpose().map_err(failed)?;
    let freed = free_first(&resolved, &observed, &repeat, &mut observer).map_err(failed)?;
    Ok(Explanation::new(&observed, freed.as_ref(), message))
}

impl Arguments {
    /// The machine and what it runs.
    fn asked(&self) -> Result<(Resolved, Workload), Failure> {
        match &self.subject {
            Some(manifest) if !self.work.is_given() => {
                if !self.overlays.is_empty() {
                    let help = "give a machine with --copy or --workload, or leave out what overrides it";
                    let text = "--design, --set and --cc lie over a machine; a manifest has one already";
                    return Err(Failure::Usage(miette!(help = help, "{text}")));
                }
                let path = Path::new(manifest);
                let is_machine = !path.is_file() || path.extension().is_some_and(|ending| ending == "toml");
                if is_machine && self.overlays.resolve(manifest).is_ok() {
                    self.work.file()?;
                }
                let Again { resolved, workload, .. } = rerun::read(path)?;
                Ok((resolved, workload))
            }
            config => {
                let file = self.work.file()?;
                let resolved = self.overlays.resolve(&machine_of(config.as_deref(), file.as_ref())?)?;
                Ok((resolved, self.work.timed(file)?))
            }
        }
    }
}

/// The failure of a run that cannot be explained.
pub(super) fn failed(error: ExplainError) -> Failure {
    match error {
        ExplainError::Run(error) => Failure::of_run(&error, "interrupted: nothing was explained"),
        ExplainError::TooLong(_) => Failure::Config(miette!("{error}")),
        ExplainError::NoMessage { .. } => Failure::Usage(miette!("--message: {error}")),
    }
}
