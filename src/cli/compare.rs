//! `sealsim compare`: designs against each other on one machine.

use super::{
    AlternativeArguments, Failure, WorkArguments, describe, kept,
    machine::machine_of,
    output,
    page::{self, PageArgument, PageFile},
    plot::PlotFile,
    run::Interruption,
    sample::SampleArgument,
    watch::Watch,
};
use crate::{
    config::Resolved,
    explore::{
        self, Candidate, CandidateError, CompareError, Compared, Comparison, Draws, Finished, Grid, Skipped, Work,
    },
    figures::Row,
    pool,
    report::{
        comparison::{self, Document},
        plot::{self, drawing::Drawing},
    },
    system::{Direction, Memory, RunError},
    workload::{Copy, WorkloadFile, read_memory, read_size},
};
use clap::{Args, ValueEnum};
use miette::miette;
use std::path::{Path, PathBuf};

/// Compares designs on one machine: rates, gains, what limits each, and what each costs and risks.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Each design overrides values of the machine, and copies of each size are made one by one, in both directions, as `sealsim run CONFIG --design DESIGN \
--copy DIR:SIZE --data none` makes them. Nothing is extrapolated, unless --sample asks for it. The designs off, h100-cc (the machine as shipped) and \
h100-cc-resealed (data come sealed by the user, the CPU opens them and seals them again) always take part: gains of designs in \
which the user seals for the GPU (direct, fastrack) are stated against h100-cc-resealed, all others against h100-cc. A design is a TOML \
file or the name of a shipped one, or several joined by `+`, of which the last takes precedence. docs/designs.md discusses the results.

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
    #[arg(long, value_name = "MEM", value_parser = read_memory, default_value = "pinned", conflicts_with_all = ["copies", "workload"])]
    memory: Memory,
    /// Copies simulated at the same time (default: as many as there are cores); the figures do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Measure what limits each copy: run it again with the parameters relaxed that may bind, and give the best N
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=20), conflicts_with = "workload")]
    what_if: u8,
    #[command(flatten)]
    sample: SampleArgument,
    /// Draw every number that states a range, and that no design and no `--set` states, N times within it, 200 if N is left out, the same draws for all
    /// designs, and give figures the interval from 5 to 95 %
    /// of the draws, and pairs of designs how often one is faster. Rates and times of copies are wider by the model's residual, 22 % of single calls where they were
    /// measured and 29 % on another host, which is common to all designs and cancels in gains and pairs
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "200", value_parser = clap::value_parser!(u32).range(20..=10_000))]
    uncertainty: Option<u32>,
    /// Where the draws come from
    #[arg(long, value_name = "N", default_value_t = 1, requires = "uncertainty")]
    seed: u64,
    /// Continue where the same command was interrupted: what it had finished is not simulated again
    #[arg(long)]
    resume: bool,
    /// Draw rates over sizes, or the runs of a workload, by design: SVG or PDF, by the ending of the file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Tables for people, one JSON object, or a table for spreadsheets
    #[arg(long, value_enum, default_value_t = CompareFormat::Text)]
    format: CompareFormat,
    /// In text, give all tables: each size, gains over baselines, exposure, forgery bounds, keys, energy and areas
    #[arg(long)]
    all: bool,
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

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let plot = PlotFile::begin(arguments.plot.as_ref())?;
    let question = arguments.question()?;
    let page = arguments.begin()?;
    let Question { own, grid, candidates, .. } = &question;
    let finished = kept::begin(&format!("{grid:?} {:?} {}", arguments.alternatives, own.digest), arguments.resume);
    let watch = Watch::begin(&format!("{} designs", candidates.len()));
    let (observer, progress) = (|| watch.control(), |part| watch.tell(part));
    let compared = explore::compare(candidates, grid, arguments.threads(), &finished, &observer, &progress);
    watch.end();
    let (compared, left) = settle(finished, compared)?;
    let (own, comparison) = question.answered(compared);
    if left.is_ok() {
        plot.map_or(Ok(()), |plot| plot.write(&plot::comparison::drawn(&comparison)))?;
    }
    show((arguments.format, arguments.all), &comparison, (page.filter(|_| left.is_ok()), &own))?;
    left
}

/// What `--format json` prints or, made by a command, what `--report` writes; and what `--plot` draws. What is finished already is not simulated again. Nothing is printed or written.
pub fn answer(
    arguments: &Arguments,
    page: Option<String>,
    interruption: &Interruption,
    finished: &Finished<Row>,
) -> Result<(String, Drawing), Failure> {
    let question = arguments.question()?;
    let observer = || interruption.control();
    let Question { grid, candidates, .. } = &question;
    let compared = explore::compare(candidates, grid, arguments.threads(), finished, &observer, &|_| ());
    let compared = compared.map_err(failed)?;
    if compared.unfinished > 0 {
        return Err(Failure::Verification(miette!("interrupted")));
    }
    let (machine, comparison) = question.answered(compared);
    let configuration = describe::to_json(&machine);
    let text = page::answer(&Document::of(&comparison), page, |page| page.with_configuration(&configuration))?;
    Ok((text, plot::comparison::drawn(&comparison)))
}

struct Question {
    /// The machine without designs.
    own: Resolved,
    grid: Grid,
    candidates: Vec<Candidate>,
    skipped: Vec<Skipped>,
}

impl Question {
    fn answered(self, compared: Compared) -> (Resolved, Comparison) {
        let comparison = compared.on(&self.own, self.grid.work, (&self.candidates, self.skipped));
        (self.own, comparison)
    }
}

/// Says what is kept if anything is left: the failure that it then is comes in addition to what there is to print.
fn settle(
    finished: Finished<Row>,
    compared: Result<Compared, CompareError>,
) -> Result<(Compared, Result<(), Failure>), Failure> {
    let compared = compared.map_err(|error| {
        kept::failed(&finished);
        failed(error)
    })?;
    let Compared { unfinished, pieces, .. } = compared;
    if unfinished == pieces {
        return Err(Failure::Verification(miette!("interrupted: nothing is finished")));
    }
    if unfinished > 0 {
        return Ok((compared, Err(kept::interrupted(&finished, pieces))));
    }
    finished.discard();
    Ok((compared, Ok(())))
}

/// Prints a comparison, and writes its page if one is begun.
fn show(
    (format, all): (CompareFormat, bool),
    comparison: &Comparison,
    (page, machine): (Option<PageFile>, &Resolved),
) -> Result<(), Failure> {
    let document = Document::of(comparison);
    output::print(&match format {
        CompareFormat::Text => comparison::text(comparison, output::width(), all),
        CompareFormat::Csv => comparison.table().text()?,
        CompareFormat::Json => output::json(&document)?,
    });
    let configuration = || describe::to_json(machine);
    page.map_or(Ok(()), |page| page.write(&document, |page| page.with_configuration(&configuration())))
}

impl Arguments {
    fn question(&self) -> Result<Question, Failure> {
        let file = if self.work.workload.is_some() { self.work.file()? } else { None };
        let machine = self.alternatives.machine(&machine_of(self.config.as_deref(), file.as_ref())?);
        let grid = Grid {
            work: self.asked(file)?,
            what_if: self.what_if.into(),
            sample: self.sample.sample,
            uncertainty: self.uncertainty.map(|count| Draws { count, seed: self.seed }),
        };
        let (memory, collectives) = match &grid.work {
            Work::Copies { host_memory, .. } => (*host_memory, false),
            Work::Workload { .. } => (Memory::Pinned, grid.work.calls_collectives()),
        };
        let (candidates, skipped) = explore::asked(&machine, &self.alternatives.design, memory, collectives)?;
        Ok(Question { own: machine.resolve()?, grid, candidates, skipped })
    }

    fn threads(&self) -> usize {
        self.threads.map_or_else(pool::threads, usize::from)
    }

    /// Begins the page, if one is asked for.
    fn begin(&self) -> Result<Option<PageFile>, Failure> {
        let config = self.config.as_deref().map(Path::new);
        let others = [("CONFIG", config), ("--workload", self.work.workload.as_deref())];
        self.page.begin(&others.into_iter().chain(self.alternatives.files()).collect::<Vec<_>>())
    }

    /// A workload, or the copies that are asked for: all of one kind of memory and one GPU, so that one table can show them.
    fn asked(&self, file: Option<WorkloadFile>) -> Result<Work, Failure> {
        if let (Some(name), Some(file)) = (&self.work.workload, file) {
            let summary = file.head.summary.clone();
            return Ok(Work::workload(name.display().to_string(), summary, self.work.timed(Some(file))?));
        }
        if self.work.copies.is_empty() {
            return Ok(Work::both_ways(&once(&self.sizes), self.memory));
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
        Ok(Work::copies(copies.first().map_or(self.memory, |copy| copy.memory), copies))
    }
}

/// Each item where it first stands.
pub(super) fn once<T: Clone + PartialEq>(items: &[T]) -> Vec<T> {
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
        CompareError::Config(_) => Failure::Config(miette!("{error}")),
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
