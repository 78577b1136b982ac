//! `sealsim risk`: what a failing tag leaves behind under each release policy.

use super::{Failure, MachineArguments, WorkArguments, compare::once, output, plot::PlotFile, watch::Watch};
use crate::{
    explore::{Failures, FailuresError, Question, failures},
    gpu::release::Release,
    pool,
    report::{SCHEMA_VERSION, failed_tags, plot},
    sim::SimulationError,
    system::{Direction, RunError},
};
use clap::{
    Args, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use miette::miette;
use serde::Serialize;
use std::path::PathBuf;

/// Lets tags fail, one at a time, and measures under each release policy what was visible by then, what had started, and what is lost.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Messages to the GPU are opened before their tags are known to be right. The release policy says who may use the plaintext until then:

  hold                 none: it waits in quarantine (room for two messages at least)
  withhold_completion  it lies in device memory, but the semaphore that its consumers wait for is not released
  eager                consumers start when it has landed, and are squashed if the tag turns out wrong

The copy is simulated once without a failure, then once for each message with that message's tag inverted in staging, or for as many drawn \
ones as --failures says. Every figure is measured in these runs. The host is no early consumer: its call returns when all is verified, \
under every policy.

Exit status: 0 measured; 1 interrupted; 2 wrong arguments; 3 a machine that is none, or one without tags of messages; 4 the output \
cannot be written; 5 a fault of the simulation.

Examples:
  sealsim risk h100-nvl-tdx --copy h2d:4MiB
  sealsim risk h100-nvl-tdx --design fastrack --copy h2d:64MiB --failures 16 --seed 7
  sealsim risk h100-nvl-tdx --design serial-ghash --copy h2d:4MiB --release eager --format csv
  sealsim risk h100-nvl-tdx --copy h2d:4MiB --plot risk.pdf
  sealsim risk h100-nvl-tdx --copy h2d:1MiB --format json | jq '.policies[] | {release, failures: [.failures[].squashed_work_ps]}'

docs/designs.md reads the results, docs/results.md describes the fields.")]
pub struct Arguments {
    #[command(flatten)]
    machine: MachineArguments,
    #[command(flatten)]
    work: WorkArguments,
    /// A release policy (default: all). May be given several times, or separated by commas
    #[arg(long, value_parser = policy(), value_name = "POLICY", value_delimiter = ',',
          default_values = Release::ALL.map(Release::name))]
    release: Vec<Release>,
    /// Most messages that fail, each in a run of its own; drawn if the copy has more
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    failures: u32,
    /// Of the draw, and of the bits that are inverted
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Runs simulated at the same time (default: as many as there are cores); the figures do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Draw what was visible, squashed and lost under each policy: SVG or PDF, by the ending of the file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Tables for people, one JSON object, or a table for spreadsheets
    #[arg(long, value_enum, default_value_t = RiskFormat::Text)]
    format: RiskFormat,
}

fn policy() -> impl TypedValueParser<Value = Release> {
    let known = Release::ALL.map(|release| PossibleValue::new(release.name()).help(release.summary()));
    PossibleValuesParser::new(known).try_map(|name| {
        let release = Release::ALL.into_iter().find(|release| release.name() == name);
        release.ok_or_else(|| format!("no release policy `{name}`"))
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RiskFormat {
    /// A row for each policy
    Text,
    /// policies[] with failures[]; described in docs/results.md
    Json,
    /// A row for each policy and failure
    Csv,
}

#[derive(Debug, Serialize)]
struct Document {
    schema_version: u32,
    #[serde(flatten)]
    answer: Failures,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let question = arguments.question()?;
    let plot = PlotFile::begin(arguments.plot.as_ref())?;
    let watch = Watch::begin("the runs");
    let (observer, progress) = (|| watch.control(), |part| watch.tell(part));
    let threads = arguments.threads.map_or_else(pool::threads, usize::from);
    let answer = failures(&question, threads, &observer, &progress);
    watch.end();
    let answer = answer.map_err(failed)?;
    plot.map_or(Ok(()), |plot| plot.write(&plot::failures::failures(&answer).draw()))?;
    output::print(&match arguments.format {
        RiskFormat::Text => failed_tags::text(&answer, output::width()),
        RiskFormat::Csv => failed_tags::csv(&answer).map_err(|error| Failure::output(&error.into()))?,
        RiskFormat::Json => output::json(&Document { schema_version: SCHEMA_VERSION, answer })?,
    });
    Ok(())
}

impl Arguments {
    fn question(&self) -> Result<Question, Failure> {
        let help = "give one copy to the GPU, for example --copy h2d:4MiB";
        let refused = |text: &str| Failure::Usage(miette!(help = help, "{text}"));
        if self.work.workload.is_some() {
            return Err(refused("--workload: a failing tag is followed through a single copy"));
        }
        let copies = self.work.timed(self.work.file()?)?.copies;
        let [copy] = copies[..] else {
            return Err(refused(&format!("{} copies: a failing tag is followed through a single one", copies.len())));
        };
        if copy.direction != Direction::H2d {
            return Err(refused(
                "--copy: release policies are about messages to the GPU; what comes back is checked by the CPU before anything uses it",
            ));
        }
        Ok(Question {
            layers: self.machine.overlays.layers(&self.machine.config),
            policies: once(&self.release),
            bytes: copy.bytes,
            memory: copy.memory,
            failures: self.failures,
            seed: self.seed,
        })
    }
}

fn failed(error: FailuresError) -> Failure {
    match error {
        FailuresError::Config(error) => error.into(),
        FailuresError::Run { error: RunError::Simulation(SimulationError::Stopped { .. }), .. } => {
            Failure::Verification(miette!("interrupted: nothing was measured"))
        }
        error @ (FailuresError::NoTags { .. } | FailuresError::Run { error: RunError::Build(_), .. }) => {
            Failure::Config(miette!("{error}"))
        }
        error => Failure::Simulation(miette!("{error}")),
    }
}
