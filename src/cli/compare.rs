//! `sealsim compare`: designs against each other on one machine.

use super::{
    AlternativeArguments, Failure, WorkArguments, describe,
    kept::Kept,
    machine::machine_of,
    output,
    page::{PageArgument, PageFile},
    plot::PlotFile,
    sample::SampleArgument,
    watch::Watch,
};
use crate::{
    config::Resolved,
    cost::technology::{PROCESS_SPREAD, SYNTHESIS},
    explore::{self, CandidateError, CompareError, Comparison, Grid, WorkloadComparison},
    report::{
        comparison::{self, Document},
        plot,
    },
    system::{Direction, Memory, RunError},
    validate::pool,
    workload::{Copy, CopyError, read_memory, read_size},
};
use clap::{Args, ValueEnum};
use miette::miette;
use serde::{Serialize, de::DeserializeOwned};
use std::{
    io,
    path::{Path, PathBuf},
};

/// Holds designs against each other on one machine: rates, gains, what limits each, and what each costs and risks.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Each design is laid over the machine, and copies of each size are made one by one, both ways, as `sealsim run CONFIG --design DESIGN \
--copy DIR:SIZE --data none` makes them. Nothing is extrapolated, unless --sample asks for it. The designs off, h100-cc (the machine as it is) and \
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
  sealsim compare h100-nvl-tdx --size 1GiB,64GiB,1TiB --sample auto
  sealsim compare h100-nvl-tdx --design direct --design overlap --plot rates.pdf
  sealsim compare --workload ddp-bert-large --param bucket_cap=100MiB
  sealsim compare h100-nvl-tdx --report designs.html    # a page with curves and tables
  sealsim compare h100-nvl-tdx --format json | jq '.designs[] | {name, copies: [.copies[] | {direction, bytes, gb_per_s}]}'")]
pub struct Arguments {
    /// The machine: a TOML file, or the name of a shipped one (see `sealsim list`). A file takes precedence. May be left out for a workload that names its
    /// machine
    #[arg(value_name = "CONFIG", required_unless_present = "workload")]
    config: Option<String>,
    #[command(flatten)]
    alternatives: AlternativeArguments,
    #[command(flatten)]
    work: WorkArguments,
    /// Size of copies in both directions, as 64MiB, where no --copy says which. May be given several times, or separated by commas
    #[arg(long = "size", conflicts_with_all = ["copies", "workload"], value_name = "SIZE", value_delimiter = ',', value_parser = read_size,
          default_values = ["4KiB", "64KiB", "1MiB", "64MiB", "1GiB"])]
    sizes: Vec<u64>,
    /// Kind of host memory of these, pinned or pageable
    #[arg(long, value_name = "MEM", value_parser = memory, default_value = "pinned", conflicts_with_all = ["copies", "workload"])]
    memory: Memory,
    /// Copies simulated at the same time (default: as many as there are cores); the figures do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Measure what limits each copy: run it again with the parameters relaxed that may bind, and give the best N
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=20), conflicts_with = "workload")]
    what_if: u8,
    #[command(flatten)]
    sample: SampleArgument,
    /// Go on where the same command was interrupted: what it had finished is not simulated again
    #[arg(long)]
    resume: bool,
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

fn memory(text: &str) -> Result<Memory, CopyError> {
    read_memory(text)
}

/// Runs the verb.
///
/// # Errors
/// See the help text for each exit status.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    match arguments.work.workload.as_deref() {
        None => copies(arguments),
        Some(name) => workload(arguments, name),
    }
}

/// Single copies.
fn copies(arguments: &Arguments) -> Result<(), Failure> {
    let file = PlotFile::begin(arguments.plot.as_ref())?;
    let machine = arguments.alternatives.machine(&machine_of(arguments.config.as_deref(), None)?);
    let page = arguments.begin()?;
    let grid = arguments.grid()?;
    let host_memory = grid.copies.first().map_or(arguments.memory, |copy| copy.memory);
    let (candidates, skipped) = explore::asked(&machine, &arguments.alternatives.design, host_memory, false)?;
    let own = machine.resolve()?;
    let kept = Kept::of(&format!("{grid:?} {:?} {}", arguments.alternatives, own.digest), arguments.resume);
    let (watch, threads) = (Watch::begin(format!("{} designs", candidates.len())), arguments.threads());
    let (observer, progress) = (|| watch.control(), |part| watch.tell(part));
    let compared = explore::compare(&candidates, &grid, threads, &kept.finished, &observer, &progress);
    watch.end();
    let (compared, left) = settle(kept, compared, |compared| (compared.unfinished, compared.pieces))?;
    let comparison = Comparison {
        machine: own.name(),
        host_memory,
        sizes_bytes: once(&grid.copies.iter().map(|copy| copy.bytes).collect::<Vec<_>>()),
        copies: grid.copies,
        process_spread_factor: PROCESS_SPREAD,
        cost_source: SYNTHESIS,
        cautions: explore::cautions(&own, &candidates, false),
        designs: compared.designs,
        skipped,
        unfinished: compared.unfinished,
    };
    let figure = || plot::comparison::rates(&comparison).draw();
    file.filter(|_| left.is_ok()).map_or(Ok(()), |file| file.write(&figure()))?;
    let page = page.filter(|_| left.is_ok());
    show(arguments.format, &comparison, (page, &own), comparison::text, comparison::csv)?;
    left
}

/// A whole workload.
fn workload(arguments: &Arguments, name: &Path) -> Result<(), Failure> {
    let plot_file = PlotFile::begin(arguments.plot.as_ref())?;
    let Some(file) = arguments.work.file()? else { return Ok(()) };
    let machine = arguments.alternatives.machine(&machine_of(arguments.config.as_deref(), Some(&file))?);
    let page = arguments.begin()?;
    let (designs, collectives) = (&arguments.alternatives.design, file.calls_collectives());
    let (candidates, skipped) = explore::asked(&machine, designs, Memory::Pinned, collectives)?;
    let workload_summary = file.head.summary.clone();
    let job = arguments.work.timed(Some(file))?;
    let (kernels, length) = explore::kernels(&job);
    let own = machine.resolve()?;
    let kept = Kept::of(
        &format!("{job:?} {:?} {:?} {}", arguments.sample, arguments.alternatives, own.digest),
        arguments.resume,
    );
    let (watch, threads) = (Watch::begin(format!("{} designs", candidates.len())), arguments.threads());
    let (observer, progress) = (|| watch.control(), |part| watch.tell(part));
    let compared = explore::compare_workload(
        &candidates,
        (&job, arguments.sample.sample),
        threads,
        &kept.finished,
        &observer,
        &progress,
    );
    watch.end();
    let (compared, left) = settle(kept, compared, |compared| (compared.unfinished, compared.pieces))?;
    let comparison = WorkloadComparison {
        machine: own.name(),
        workload: name.display().to_string(),
        workload_summary,
        kernels,
        kernels_ps: length.picos(),
        process_spread_factor: PROCESS_SPREAD,
        cost_source: SYNTHESIS,
        cautions: explore::cautions(&own, &candidates, collectives),
        designs: compared.designs,
        skipped,
        unfinished: compared.unfinished,
    };
    let figure = || plot::comparison::runs(&comparison).draw();
    plot_file.filter(|_| left.is_ok()).map_or(Ok(()), |file| file.write(&figure()))?;
    let page = page.filter(|_| left.is_ok());
    let (text, csv) = (comparison::workload::text, comparison::workload::csv);
    show(arguments.format, &comparison, (page, &own), text, csv)?;
    left
}

/// Keeps what is finished if anything is left of so many pieces: the failure that it then is comes in addition to what there is to print.
fn settle<T: Serialize + DeserializeOwned, R>(
    kept: Kept<T>,
    compared: Result<R, CompareError>,
    left: impl Fn(&R) -> (usize, usize),
) -> Result<(R, Result<(), Failure>), Failure> {
    let compared = match compared {
        Ok(compared) => compared,
        Err(error) => {
            kept.failed();
            return Err(failed(error));
        }
    };
    let (unfinished, pieces) = left(&compared);
    if unfinished == pieces {
        return Err(Failure::Verification(miette!("interrupted: nothing is finished")));
    }
    if unfinished > 0 {
        let failure = kept.interrupted(pieces);
        return Ok((compared, Err(failure)));
    }
    kept.done();
    Ok((compared, Ok(())))
}

/// Prints a comparison, and writes its page if one is begun.
fn show<C: Serialize>(
    format: CompareFormat,
    comparison: &C,
    (page, machine): (Option<PageFile>, &Resolved),
    text: impl FnOnce(&C, usize) -> String,
    csv: impl FnOnce(&C) -> String,
) -> Result<(), Failure> {
    let document = Document::of(comparison);
    let printed = match format {
        CompareFormat::Text => Ok(text(comparison, output::width())),
        CompareFormat::Csv => Ok(csv(comparison)),
        CompareFormat::Json => document.json().map(|json| json + "\n").map_err(io::Error::from),
    };
    printed.map(|text| output::print(&text)).map_err(|error| Failure::output(&error))?;
    let configuration = || describe::to_json(machine);
    page.map_or(Ok(()), |page| page.write(&document, |page| page.with_configuration(&configuration())))
}

impl Arguments {
    /// Begins the page, if one is asked for.
    fn begin(&self) -> Result<Option<PageFile>, Failure> {
        let config = self.config.as_deref().map(Path::new);
        let others = [("CONFIG", config), ("--workload", self.work.workload.as_deref())];
        self.page.begin(&others.into_iter().chain(self.alternatives.files()).collect::<Vec<_>>())
    }

    /// The copies that are asked for: all of one kind of memory and one GPU, so that one table can show them.
    fn grid(&self) -> Result<Grid, Failure> {
        let what_if = usize::from(self.what_if);
        if self.work.copies.is_empty() {
            return Ok(Grid {
                sample: self.sample.sample,
                ..Grid::both_ways(&once(&self.sizes), self.memory, what_if)
            });
        }
        let copies = once(&self.work.timed(None)?.copies);
        let refused = |text: &str, help: &str| Err(Failure::Usage(miette!(help = help.to_owned(), "--copy: {text}")));
        if copies.iter().any(|copy| copy.direction == Direction::D2d) {
            return refused("a copy within the GPU is not sealed", "give copies h2d or d2h, or a --workload");
        }
        let end = |copy: &Copy| (copy.gpu, copy.memory);
        if copies.windows(2).any(|two| end(&two[0]) != end(&two[1])) {
            return refused("copies of several GPUs or kinds of memory", "compare them in a command each");
        }
        Ok(Grid { copies, what_if, sample: self.sample.sample })
    }

    fn threads(&self) -> usize {
        self.threads.map_or_else(pool::threads, usize::from)
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
            CandidateError::StillOn { .. } => {
                let help = "write --cc on instead: it lies below designs, so that `off` stays off";
                Self::Config(miette!(help = help, "--design {error}"))
            }
            CandidateError::NothingSealed { .. } | CandidateError::Build { .. } => {
                Self::Config(miette!("--design {error}"))
            }
        }
    }
}

fn failed(error: CompareError) -> Failure {
    match &error {
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
