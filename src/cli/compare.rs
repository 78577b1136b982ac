//! `sealsim compare`: designs against each other on one machine.

use super::{
    Failure, describe,
    machine::machine_of,
    output,
    page::{PageArgument, PageFile},
    plot::PlotFile,
    run::Interruption,
};
use crate::{
    config::{Layers, Resolved},
    cost::technology::{PROCESS_SPREAD, SYNTHESIS},
    explore::{self, Baseline, Candidate, CandidateError, CompareError, Comparison, Grid, Skipped, WorkloadComparison},
    report::{SCHEMA_VERSION, comparison, plot},
    sim::{Control, Kernel, SimulationError},
    system::{DataMode, Memory, RunError},
    validate::pool,
    workload::{CopyError, Setting, Workload, WorkloadFile, read_memory, read_size, sized},
};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use miette::miette;
use serde::Serialize;
use std::{
    io::{self, IsTerminal},
    path::{Path, PathBuf},
};

/// Holds designs against each other on one machine: rates, gains, what limits each, and what each costs and risks.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Each design is laid over the machine, and copies of each size are made one by one, both ways, as `sealsim run CONFIG --design DESIGN \
--copy DIR:SIZE --data none` makes them. Nothing is extrapolated. The designs off, h100-cc (the machine as it is) and \
h100-cc-resealed (data come sealed by the user, the CPU opens them and seals them again) always take part: gains of designs in \
which the user seals for the GPU (direct, fastrack) are stated against h100-cc-resealed, all others against h100-cc. A design is a TOML \
file or the name of a shipped one, or several joined by `+`, the last on top. docs/designs.md reads the results.

With --workload each design runs a whole workload instead, a TOML file or the name of a shipped one, and gets one row: end of the run, \
times as long as off, copies by direction, how long the GPU is idle, exposure, area, and what limits most of the time of copies. The \
machine is the workload's own if CONFIG is left out.

Exit status: 0 compared; 1 interrupted, or a copy was not delivered; 2 wrong arguments; 3 a machine or design that is none; 4 the output \
cannot be written; 5 a fault of the simulation.

Examples:
  sealsim compare h100-nvl-tdx
  sealsim compare h100-nvl-tdx --design direct --design direct+overlap --size 64MiB
  sealsim compare h100-nvl-tdx --design fastrack --design my-idea.toml --size 64KiB,1MiB --format csv
  sealsim compare --workload weight-streaming --design fastrack --design two-pces
  sealsim compare h100-tdx-gen5 --workload my-job.toml --format csv
  sealsim compare h100-nvl-tdx --design direct --design overlap --plot rates.pdf
  sealsim compare --workload ddp-bert-large --param bucket_cap=100MiB
  sealsim compare h100-nvl-tdx --report designs.html    # a page with curves and tables
  sealsim compare h100-nvl-tdx --format json | jq '.designs[] | {name, copies: [.copies[] | {direction, bytes, gb_per_s}]}'")]
pub struct Arguments {
    /// The machine: a TOML file, or the name of a shipped one. A file takes precedence. May be left out for a workload that names its
    /// machine
    #[arg(value_name = "CONFIG", required_unless_present = "workload")]
    config: Option<String>,
    /// Run this workload with each design instead of single copies: a TOML file, or the name of a shipped one. A file takes precedence
    #[arg(long, value_name = "FILE|NAME", conflicts_with_all = ["sizes", "memory", "what_if"])]
    workload: Option<PathBuf>,
    /// Set a parameter of the workload, as bucket_cap=100MiB. May be given several times
    #[arg(long, value_name = "NAME=VALUE", requires = "workload")]
    param: Vec<Setting>,
    /// A design, or several joined by `+` (default: every shipped design that matters to what runs). May be given several times
    #[arg(long, value_name = "DESIGN[+DESIGN]")]
    design: Vec<String>,
    /// Size of a copy, as 64MiB. May be given several times, or separated by commas
    #[arg(long = "size", value_name = "SIZE", value_delimiter = ',', value_parser = read_size,
          default_values = ["4KiB", "64KiB", "1MiB", "64MiB", "1GiB"])]
    sizes: Vec<u64>,
    /// Kind of host memory, pinned or pageable
    #[arg(long, value_name = "MEM", value_parser = memory, default_value = "pinned")]
    memory: Memory,
    /// Copies simulated at the same time (default: as many as there are cores); the figures do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Measure what limits each copy: run it again with the parameters relaxed that may bind, and give the best N
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=20))]
    what_if: u8,
    /// Draw rates over sizes, or the runs of a workload, by design: SVG or PDF, by the ending of the file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Tables for people, one JSON object, or a table for spreadsheets
    #[arg(long, value_enum, default_value_t = CompareFormat::Text)]
    format: CompareFormat,
    #[command(flatten)]
    page: PageArgument,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CompareFormat {
    /// Tables by direction
    Text,
    /// designs[] with name, baseline and copies[], or the figures of a workload; described in docs/results.md
    Json,
    /// A row for each design, direction and size, or for each design
    Csv,
}

#[derive(Debug, Serialize)]
struct Document<C> {
    schema_version: u32,
    #[serde(flatten)]
    comparison: C,
}

fn memory(text: &str) -> Result<Memory, CopyError> {
    read_memory(text)
}

/// Runs the verb.
///
/// # Errors
/// See the help text for each exit status.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    match arguments.workload.as_deref() {
        None => copies(arguments),
        Some(name) => workload(arguments, name),
    }
}

/// Single copies of each size.
fn copies(arguments: &Arguments) -> Result<(), Failure> {
    let file = PlotFile::begin(arguments.plot.as_ref())?;
    let config = machine_of(arguments.config.as_deref(), None)?;
    let page = arguments.begin()?;
    let (candidates, skipped) = arguments.candidates(&config, false)?;
    let what_if = usize::from(arguments.what_if);
    let grid = Grid { sizes: once(&arguments.sizes), memory: arguments.memory, what_if };
    let (threads, interruption) = (arguments.threads(), Interruption::listen());
    let observer = || if interruption.asked() { Control::Stop } else { Control::Continue };
    let bar = bar(candidates.len());
    let progress = |part: f64| bar.inc((part * PARTS as f64) as u64);
    let designs = explore::compare(&candidates, &grid, threads, &observer, &progress);
    bar.finish_and_clear();
    let machine = Layers::new(&config).resolve()?;
    let comparison = Comparison {
        machine: machine.name(),
        host_memory: grid.memory,
        sizes_bytes: grid.sizes,
        process_spread_factor: PROCESS_SPREAD,
        cost_source: SYNTHESIS,
        designs: designs.map_err(failed)?,
        skipped,
    };
    file.map_or(Ok(()), |file| file.write(&plot::comparison::rates(&comparison).draw()))?;
    show(arguments.format, comparison, (page, &machine), comparison::text, comparison::csv)
}

/// A whole workload.
fn workload(arguments: &Arguments, name: &Path) -> Result<(), Failure> {
    let plot_file = PlotFile::begin(arguments.plot.as_ref())?;
    let mut file = WorkloadFile::find(name, &arguments.param)?;
    file.without_size.take().map_or(Ok(()), Err)?;
    let config = machine_of(arguments.config.as_deref(), Some(&file))?;
    let page = arguments.begin()?;
    let collectives = file.calls_collectives();
    let (candidates, skipped) = arguments.candidates(&config, collectives)?;
    let copies = sized(&file.copies, None).map_err(|error| Failure::Usage(miette!("{error}")))?;
    let (data, kernel) = (DataMode::None, Kernel::Skip);
    let job =
        Workload { copies, steps: Some(file.steps), payload: None, data, seed: 0, kernel, injections: Vec::new() };
    let (kernels, length) = explore::kernels(&job);
    let (threads, interruption) = (arguments.threads(), Interruption::listen());
    let observer = || if interruption.asked() { Control::Stop } else { Control::Continue };
    let bar = bar(candidates.len());
    let progress = |part: f64| bar.inc((part * PARTS as f64) as u64);
    let designs = explore::compare_workload(&candidates, &job, threads, &observer, &progress);
    bar.finish_and_clear();
    let machine = Layers::new(&config).resolve()?;
    let comparison = WorkloadComparison {
        machine: machine.name(),
        workload: name.display().to_string(),
        workload_summary: file.head.summary,
        kernels,
        kernels_ps: length.picos(),
        process_spread_factor: PROCESS_SPREAD,
        cost_source: SYNTHESIS,
        designs: designs.map_err(failed)?,
        skipped,
    };
    plot_file.map_or(Ok(()), |file| file.write(&plot::comparison::runs(&comparison).draw()))?;
    let (text, csv) = (comparison::workload::text, comparison::workload::csv);
    show(arguments.format, comparison, (page, &machine), text, csv)
}

/// Prints a comparison, and writes its page if one is begun.
fn show<C: Serialize>(
    format: CompareFormat,
    comparison: C,
    (page, machine): (Option<PageFile>, &Resolved),
    text: impl FnOnce(&C, usize) -> String,
    csv: impl FnOnce(&C) -> String,
) -> Result<(), Failure> {
    let document = Document { schema_version: SCHEMA_VERSION, comparison };
    let printed = match format {
        CompareFormat::Text => Ok(text(&document.comparison, output::width())),
        CompareFormat::Csv => Ok(csv(&document.comparison)),
        CompareFormat::Json => serde_json::to_string_pretty(&document).map(|json| json + "\n").map_err(io::Error::from),
    };
    printed.map(|text| output::print(&text)).map_err(|error| Failure::output(&error))?;
    let configuration = || describe::to_json(machine);
    page.map_or(Ok(()), |page| page.write(&document, |page| page.with_configuration(&configuration())))
}

impl Arguments {
    /// Begins the page, if one is asked for.
    fn begin(&self) -> Result<Option<PageFile>, Failure> {
        let config = self.config.as_deref().map(Path::new);
        let designs =
            self.design.iter().flat_map(|design| design.split('+')).map(|name| ("--design", Some(Path::new(name))));
        let others = [("CONFIG", config), ("--workload", self.workload.as_deref())];
        self.page.begin(&others.into_iter().chain(designs).collect::<Vec<_>>())
    }

    fn threads(&self) -> usize {
        self.threads.map_or_else(pool::threads, usize::from)
    }

    /// The designs asked for behind the baselines, or all that are shipped: those of the fabric where there are collectives. Baselines that
    /// the machine cannot have are skipped, a design that was asked for must be possible.
    fn candidates(&self, config: &str, collectives: bool) -> Result<(Vec<Candidate>, Vec<Skipped>), Failure> {
        match (self.design.is_empty(), collectives) {
            (true, true) => return Ok(explore::shipped_fabric(config, self.memory)?),
            (true, false) => return Ok(explore::shipped(config, self.memory)?),
            (false, _) => {}
        }
        Layers::new(config).resolve()?;
        let (mut candidates, mut skipped) = (Vec::new(), Vec::new());
        let baselines = Baseline::ALL.map(Baseline::design);
        for name in baselines.into_iter().filter(|name| !self.design.iter().any(|design| design == name)) {
            let off = collectives && name == Baseline::Off.design();
            let named = || explore::named(config, name, self.memory);
            match if off { explore::nothing_protected(config, self.memory) } else { named() } {
                Ok(candidate) => candidates.push(candidate),
                Err(error) => skipped.push(Skipped { name: name.to_owned(), reason: error.to_string() }),
            }
        }
        for name in once(&self.design) {
            candidates.push(explore::named(config, &name, self.memory)?);
        }
        let rank = |candidate: &Candidate| baselines.iter().position(|name| *name == candidate.name);
        candidates.sort_by_key(|candidate| rank(candidate).unwrap_or(baselines.len()));
        Ok((candidates, skipped))
    }
}

/// Each item where it first stands.
fn once<T: Clone + PartialEq>(items: &[T]) -> Vec<T> {
    let first = |(place, item): &(usize, &T)| !items[..*place].contains(item);
    items.iter().enumerate().filter(first).map(|(_, item)| item.clone()).collect()
}

impl From<CandidateError> for Failure {
    fn from(error: CandidateError) -> Self {
        match error {
            CandidateError::Config(error) => error.into(),
            CandidateError::Missing { .. } => Self::Usage(miette!("--design {error}")),
            CandidateError::NothingSealed { .. } | CandidateError::Build { .. } => {
                Self::Config(miette!("--design {error}"))
            }
        }
    }
}

fn failed(error: CompareError) -> Failure {
    match &error {
        CompareError::Run { error: RunError::Simulation(SimulationError::Stopped { .. }), .. } => {
            Failure::Verification(miette!("interrupted: nothing was compared"))
        }
        CompareError::Run { error: RunError::NoGpu { .. }, .. } => Failure::Usage(miette!("{error}")),
        CompareError::Run { error: RunError::Build(_), .. } => Failure::Config(miette!("{error}")),
        CompareError::Run { .. } => Failure::Simulation(miette!("{error}")),
        CompareError::NotDelivered { .. } => Failure::Verification(miette!("{error}")),
        CompareError::Collective { .. } => {
            let help = "a machine with a fabric for as many GPUs, such as generic-16gpu, or fewer with --param ranks=2";
            Failure::Config(miette!(help = help, "{error}"))
        }
    }
}

/// Steps of the bar.
const PARTS: u64 = 1_000_000;

/// A bar on standard error, if it is a terminal.
fn bar(designs: usize) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_bar} {percent:>3} % of {msg}, {eta} left");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(PARTS).with_style(style).with_message(format!("{designs} designs"))
}
