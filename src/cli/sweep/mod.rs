//! `sealsim sweep`: a study's points into one table.

mod array;
mod engine;
mod hq;
mod hyperqueue;
mod over;
mod slurm;
mod status;

use super::{
    Failure,
    output::{self, Output},
    page::PageFile,
    plot::PlotFile,
    report::{study_files, study_report},
    run::Interruption,
    watch::bar,
};
use crate::explore::Residual;
use crate::explore::sweep::{
    BoundedLines, Damaged, Ended, Folder, FolderError, FolderRecord, Gathering, Point, PointRow, Reason, Shard,
    Stopped, Study, StudyError, Table, TableError, Tabled, discard, gather, sealed,
};
use crate::figures::{Value, table::RATE};
use crate::files::{json_fault, read_text};
use crate::pool;
use crate::report::{
    layout::{digits, some},
    plot::chart::{ChartError, of_study},
};
use crate::units::Bytes;
use clap::{Args, Subcommand};
use engine::{Engine, EngineArguments, MOST_SHARDS};
use hyperqueue::Submission;
use miette::miette;
use over::OverArguments;
use std::{
    ffi::OsString,
    io::{self, BufRead, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

/// Runs a study: every point of its axes, into one table.
///
/// A point that the folder already holds is not run again, so an interrupted sweep continues. The table is the same
/// for any number of threads.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "The folder holds study.json, points.jsonl (a line per point, as they end), and in the end points.csv and points.parquet. docs/studies.md \
describes studies and columns. A study has at most 1 MiB, 64 axes and 10,000,000 points; a line of points or rows at most 1 MiB, whatever their number.

Examples:
  sealsim sweep studies/ghash-width.toml --out results/ghash-width --plot ghash-width.svg --report ghash-width.html
  sealsim sweep studies/ghash-width.toml --out results/pageable --copy h2d:16MiB:pageable --set cpu.clock=3GHz
  sealsim pareto results/ghash-width --min area_total_kge --max gb_per_s
  sealsim sweep studies/ghash-width.toml --out results/ghash-width --engine hq        # on workers of HyperQueue (`hq`)
  sealsim sweep studies/ghash-width.toml --out results/ghash-width --engine slurm     # scripts for sbatch
  sealsim sweep status results/ghash-width                                            # how far any of them is
  sealsim sweep studies/ghash-width.toml --out here --shard 1/4                       # a quarter, on this machine
  sealsim sweep merge studies/ghash-width.toml here there --out results/ghash-width   # folders of several machines
  sealsim sweep plan studies/ghash-width.toml | split -l 100     # pieces for other machines
  sealsim sweep run-point studies/ghash-width.toml < piece > rows
  sealsim sweep merge studies/ghash-width.toml rows* --out results/ghash-width"
)]
pub struct Arguments {
    #[command(subcommand)]
    piece: Option<Piece>,
    #[command(flatten)]
    whole: Whole,
}

#[derive(Debug, Args)]
struct Whole {
    /// The study: a TOML file. May be left out for a folder that has one, to continue it.
    #[arg(value_name = "STUDY")]
    study: Option<PathBuf>,
    #[command(flatten)]
    over: OverArguments,
    /// The folder of results; made if it is not there.
    #[arg(long, value_name = "FOLDER", required = true)]
    out: Option<PathBuf>,
    /// Run one part of the study, the I-th of N, into a file of its own in the folder, which other shards may share. `sealsim sweep gather` writes the table of a
    /// folder, `sealsim sweep merge` that of several.
    #[arg(long, value_name = "I/N", conflicts_with_all = ["plot", "report", "engine", "chunk", "at_once"])]
    shard: Option<Shard>,
    /// Draw what the study's `plot` asks for: SVG or PDF, by the ending of the file.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Write a page of the results into this file: HTML with plots, which opens offline
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Points at work at once; as many as this computer has cores, if not said.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Simulate each point, though its figures may be known from another that differs only in bounds that its run has not reached.
    #[arg(long, conflicts_with = "engine")]
    again: bool,
    #[command(flatten)]
    engine: EngineArguments,
}

const SHOWN: usize = 5;

/// So often the shards that are missing are submitted: those that come back damaged, again.
const SUBMISSIONS: u32 = 3;
/// How often a shard that another process runs is looked at.
const POLL_EVERY: Duration = Duration::from_millis(500);

const LONGEST_STUDY: Bytes = Bytes(1 << 20);

#[derive(Debug, Subcommand)]
enum Piece {
    /// Prints the points, a line of JSON each.
    Plan {
        /// The study: a TOML file.
        #[arg(value_name = "STUDY")]
        study: PathBuf,
        #[command(flatten)]
        over: OverArguments,
    },
    /// Runs points that `plan` printed, read from standard input, and prints a line of JSON for each.
    RunPoint {
        /// The study: a TOML file.
        #[arg(value_name = "STUDY")]
        study: PathBuf,
        #[command(flatten)]
        over: OverArguments,
        /// Runs points once an empty line or the end follows them, so many at once, and prints rows as they end: points that differ only in bounds share
        /// a run as in a sweep. If not said, each point runs as it comes.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
        threads: Option<u16>,
    },
    /// Puts lines that `run-point` printed, and rows of other folders of the study, into a folder, and writes the table of what is there.
    Merge {
        /// The study: a TOML file.
        #[arg(value_name = "STUDY")]
        study: PathBuf,
        #[command(flatten)]
        over: OverArguments,
        /// Files of lines, and folders.
        #[arg(value_name = "ROWS")]
        rows: Vec<PathBuf>,
        /// The folder of results; made if it is not there.
        #[arg(long, value_name = "FOLDER")]
        out: PathBuf,
    },
    Status(status::Arguments),
    /// What jobs of earlier versions ran.
    #[command(hide = true)]
    Chunk {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<OsString>,
    },
    /// Takes the rows of all shards that are there, and writes the table. The last job of `--engine slurm` does this.
    Gather {
        /// The folder of results.
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
    },
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        match error {
            StudyError::Refused(error) => error.into(),
            error => Self::Config(miette!("{error}")),
        }
    }
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        match error {
            FolderError::OtherStudy { .. } | FolderError::OtherVersion { .. } | FolderError::Foreign { .. } => {
                Self::Usage(miette!(help = "give another folder with --out", "{error}"))
            }
            error => Self::InputOutput(miette!("{error}")),
        }
    }
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Self {
        match error {
            TableError::Folder(error) => error.into(),
            TableError::Study(error) => error.into(),
            error => Self::InputOutput(miette!("{error}")),
        }
    }
}

impl From<Ended> for Failure {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Stopped => Self::Verification(miette!("interrupted")),
            Ended::Folder(error) => error.into(),
            Ended::Study(error) => error.into(),
        }
    }
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let whole = &arguments.whole;
    match (&arguments.piece, &whole.study, &whole.out) {
        (Some(Piece::Plan { study, over }), ..) => plan(&read(study, over)?.0),
        (Some(Piece::RunPoint { study, over, threads }), ..) => run_points(&read(study, over)?.0, *threads),
        (Some(Piece::Merge { study, over, rows, out }), ..) => merge(read(study, over)?, rows, out),
        (Some(Piece::Status(arguments)), ..) => status::run(arguments),
        (Some(Piece::Chunk { .. }), ..) => Err(no_chunks()),
        (Some(Piece::Gather { folder }), ..) => merge(of_folder(folder, &OverArguments::default())?, &[], folder),
        (None, study, Some(out)) => sweep(whole, study.as_deref(), out),
        (None, ..) => {
            Err(Failure::Usage(miette!("give a study and --out, or one of plan, run-point, merge, status and gather")))
        }
    }
}

fn no_chunks() -> Failure {
    let help =
        "submit the sweep again: its jobs run `sealsim sweep --out FOLDER --shard I/N`, and rows that are there stay";
    Failure::Usage(miette!(help = help, "`sweep chunk`: a sweep is no longer cut into chunks"))
}

/// Reads a study with what the command line lays over it; its text comes with it.
fn read(path: &Path, over: &OverArguments) -> Result<(Study, String), Failure> {
    let text = read_text(path, LONGEST_STUDY).map_err(Failure::of_file)?;
    parsed(path, over.over(text)?)
}

/// The study of a folder, likewise. Whether it still means the same, the folder says when it is opened.
fn of_folder(folder: &Path, over: &OverArguments) -> Result<(Study, String), Failure> {
    parsed(folder, over.over(FolderRecord::read(folder)?.text)?)
}

fn parsed(path: &Path, text: String) -> Result<(Study, String), Failure> {
    let study = Study::read(&path.display().to_string(), &text).map_err(|error| match error {
        StudyError::Refused(error) => Failure::from(error),
        error => Failure::Config(miette!("{}: {error}", path.display())),
    })?;
    Ok((study, text))
}

fn plan(study: &Study) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(Output);
    for point in study.points()? {
        line(&mut out, &point)?;
        if output::is_lost() {
            break;
        }
    }
    out.flush().map_err(|error| Failure::output(&error))
}

fn line(out: &mut impl Write, value: &impl serde::Serialize) -> Result<(), Failure> {
    let written = serde_json::to_writer(&mut *out, value).map_err(io::Error::from).and_then(|()| writeln!(out));
    written.map_err(|error| Failure::output(&error))
}

fn run_points(study: &Study, threads: Option<u16>) -> Result<(), Failure> {
    let interruption = Interruption::listen();
    let printed = AtomicUsize::new(0);
    let run = |points: Vec<Point>| -> Result<(), Failure> {
        let (observer, threads) = (|| interruption.control(), threads.map_or(1, usize::from));
        let ended = study.each(points.into_iter(), threads, &observer, &|row| {
            print(&row, printed.fetch_add(1, Ordering::Relaxed) + 1).map_err(Printed::Failed)
        });
        ended.map_err(|ended| match ended {
            Printed::Stopped => interrupted(printed.load(Ordering::Relaxed)),
            Printed::Failed(failure) => failure,
        })
    };
    let mut points = Vec::new();
    for (text, number) in io::BufReader::new(BoundedLines::new(io::stdin().lock())).lines().zip(1..) {
        let text = text.map_err(|error| Failure::input_output("standard input", &error))?;
        if threads.is_none() || !text.is_empty() {
            points.push(point(study, &text, number)?);
        }
        if threads.is_none() || text.is_empty() {
            run(std::mem::take(&mut points))?;
        }
    }
    run(points)
}

enum Printed {
    Stopped,
    Failed(Failure),
}

impl From<Stopped> for Printed {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

/// The point of a line of standard input.
fn point(study: &Study, text: &str, number: u64) -> Result<Point, Failure> {
    let wrong = |error: serde_json::Error| {
        Failure::InputOutput(miette!("standard input, line {number}: {}", json_fault(&error)))
    };
    let point: Point = serde_json::from_str(text).map_err(wrong)?;
    if !study.owns(&point) {
        return Err(Failure::InputOutput(miette!(
            help = "`sealsim sweep plan` prints the points of a study; study and simulator must be the same",
            "standard input, line {number}: point {} is none of this study",
            point.id
        )));
    }
    Ok(point)
}

/// Prints a row, in one piece.
fn print(row: &PointRow, number: usize) -> Result<(), Failure> {
    let line = row.to_json().map_err(|error| Failure::output(&error.into()))?;
    let mut out = Output;
    out.write_all(&[&sealed(line)[..], b"\n"].concat()).map_err(|error| Failure::output(&error))?;
    out.flush().map_err(|error| Failure::output(&error))?;
    if output::is_lost() {
        return Err(Failure::InputOutput(miette!(
            help = "what was printed is whole; give `run-point` the points whose rows are missing",
            "standard output takes no more at row {number}: the points that follow have not run"
        )));
    }
    Ok(())
}

fn interrupted(done: impl std::fmt::Display) -> Failure {
    Failure::Verification(miette!("interrupted after {done} points; run the same command again to go on"))
}

fn merge((study, text): (Study, String), rows: &[PathBuf], out: &Path) -> Result<(), Failure> {
    let mut folder = Folder::open(out, &study, &text)?;
    gathered(&study, &mut folder)?;
    let mut gathering = Gathering::new(&study, &mut folder)?;
    rows.iter().try_for_each(|path| gathering.take(path))?;
    finish(&study, &folder)
}

fn sweep(whole: &Whole, path: Option<&Path>, out: &Path) -> Result<(), Failure> {
    whole.engine.check()?;
    let (mut study, text) = path.map_or_else(|| of_folder(out, &whole.over), |path| read(path, &whole.over))?;
    study.again = whole.again;
    if whole.plot.is_some() && study.spec.plot.is_none() {
        return Err(Failure::Config(miette!("{}", ChartError::NoPlot)));
    }
    if let Some(shard) = whole.shard {
        return run_shard(whole, shard, (&study, &text), out);
    }
    let plot = PlotFile::begin(whole.plot.as_ref())?;
    let mut folder = Folder::open(out, &study, &text)?;
    // It may lie in the folder, which is there by now.
    let page = whole.begin(path, out)?;
    let interruption = Interruption::listen();
    match whole.engine.engine {
        Engine::Local => {
            gathered(&study, &mut folder)?;
            local(whole, &study, &mut folder, &interruption)?;
        }
        Engine::Hq => on_workers(whole, &study, &mut folder, &interruption)?,
        Engine::Slurm => {
            if let Some(shards) = whole.engine.shards(&study, &mut folder, slurm::MOST_JOBS)? {
                return slurm::write(&whole.engine, &shards);
            }
        }
    }
    finish(&study, &folder)?;
    plot.map_or(Ok(()), |plot| draw(&study, out, plot))?;
    page.map_or(Ok(()), |page| page.write(&study_report(out)?, Ok))
}

/// Runs a shard. Another process that runs it comes first; what that leaves is run here.
fn run_shard(whole: &Whole, shard: Shard, (study, text): (&Study, &str), out: &Path) -> Result<(), Failure> {
    let interruption = Interruption::listen();
    let mut folder = loop {
        match Folder::of_shard(out, study, text, shard) {
            Err(FolderError::InUse { .. }) if !interruption.asked() => thread::sleep(POLL_EVERY),
            folder => break folder?,
        }
    };
    said(&Vec::from_iter(folder.take_damaged()));
    local(whole, study, &mut folder, &interruption)?;
    let (points, rows) = (study.progress(&folder)?.0, shard.rows(out));
    output::print(&format!("{points} points of shard {shard} have rows in {}\n", rows.display()));
    Ok(())
}

/// Takes the rows of shards into the folder, and says which files are damaged; whether any is.
fn gathered(study: &Study, folder: &mut Folder) -> Result<bool, Failure> {
    let damaged = gather(study, folder)?;
    said(&damaged);
    Ok(!damaged.is_empty())
}

fn said(damaged: &[Damaged]) {
    for Damaged { path, why } in damaged.iter().take(SHOWN) {
        let text = format!("{why}: the points that are missing are run again; what was there is {}", path.display());
        output::complain(text);
    }
    if damaged.len() > SHOWN {
        output::complain(format_args!("{} more files are damaged likewise", damaged.len() - SHOWN));
    }
}

/// Runs what a folder lacks, over threads.
fn local(whole: &Whole, study: &Study, folder: &mut Folder, interruption: &Interruption) -> Result<(), Failure> {
    let (total, done) = study.progress(folder)?;
    let bar = bar(total, POINTS).with_position(done);
    let threads = whole.threads.map_or_else(pool::threads, usize::from);
    let result = study.sweep(folder, threads, &|| interruption.control(), &|| bar.inc(1));
    bar.finish_and_clear();
    match result {
        Ok(()) => Ok(()),
        Err(Ended::Stopped) => Err(interrupted(study.progress(folder)?.1)),
        Err(ended) => Err(ended.into()),
    }
}

fn on_workers(whole: &Whole, study: &Study, folder: &mut Folder, interruption: &Interruption) -> Result<(), Failure> {
    hq::workers()?;
    for _ in 0..SUBMISSIONS {
        let Some(shards) = whole.engine.shards(study, folder, MOST_SHARDS)? else { return Ok(()) };
        let (total, done) = study.progress(folder)?;
        let bar = bar(total, POINTS).with_position(done);
        let result = Submission { study, folder: &mut *folder, shards, interruption, bar: &bar }.run();
        bar.finish_and_clear();
        result?;
    }
    let (total, done) = study.progress(folder)?;
    if done == total {
        return Ok(());
    }
    Err(Failure::InputOutput(miette!(
        help = "does the disk keep what workers write? What has rows stays; the same command submits what is missing",
        "{} points have no rows, although their shards were submitted {SUBMISSIONS} times",
        total - done
    )))
}

impl Whole {
    fn begin(&self, study: Option<&Path>, out: &Path) -> Result<Option<PageFile>, Failure> {
        let files = study_files(out);
        let mut others = vec![("STUDY", study), ("--plot", self.plot.as_deref())];
        others.extend(files.iter().map(|path| ("--out", Some(path.as_path()))));
        self.report.as_deref().map(|path| PageFile::begin("--report", path, &others)).transpose()
    }
}

const POINTS: &str = "{pos}/{len} points, {per_sec}";

fn draw(study: &Study, folder: &Path, plot: PlotFile) -> Result<(), Failure> {
    let table = Table::read_csv(&folder.join("points.csv"))?;
    let figure = of_study(&study.spec, &table).map_err(|error| Failure::Config(miette!("{error}")))?;
    plot.write(&figure.draw())
}

/// Writes the tables of what is there, and says what it is.
/// Of so many points the end of a sweep says which is best.
const MOST_READ: u64 = 100_000;

/// The fastest point and the slowest, if the points are copies of which there is more than one.
fn ends(study: &Study, folder: &Folder, rows: u64) -> Result<String, Failure> {
    if !(2..=MOST_READ).contains(&rows) {
        return Ok(String::new());
    }
    let table = Table::read_csv(&folder.path().join("points.csv"))?;
    let Some(rate) = table.columns.iter().position(|column| column == RATE.name) else { return Ok(String::new()) };
    let known = |row: &&Vec<Value>| row[rate].number().is_some();
    let order = |one: &&Vec<Value>, other: &&Vec<Value>| {
        one[rate].number().unwrap_or(0.0).total_cmp(&other[rate].number().unwrap_or(0.0))
    };
    let told = |what: &str, row: &Vec<Value>| {
        let axes = table.columns.iter().zip(row).skip(1).take(study.spec.axis.len());
        let axes = axes.map(|(column, value)| format!("{column} = {}", value.shown())).collect::<Vec<_>>().join(", ");
        format!("{what}: {} GB/s, {axes}\n", digits(row[rate].number().unwrap_or(0.0)))
    };
    let all = || table.rows.iter().filter(known);
    let ends = [("fastest", all().max_by(order)), ("slowest", all().min_by(order))];
    Ok(ends.into_iter().filter_map(|(what, row)| Some(told(what, row?))).collect())
}

fn finish(study: &Study, folder: &Folder) -> Result<(), Failure> {
    let Tabled { rows, refused, reasons, missing, origins } = study.tabulate(folder)?;
    if missing == 0 {
        discard(folder)?;
    }
    let shown = folder.path().display();
    let mut text = ends(study, folder, rows)?;
    text += &format!("{rows} points in {shown}/points.csv and points.parquet");
    if refused > 0 {
        text += &format!("; {refused} of them have no figures (column error says why)");
    }
    text += &status::origins(&origins);
    if missing > 0 {
        text += &format!("; {missing} have not run");
    }
    text.push('\n');
    let why = reasons.iter().map(|Reason { first, points }| format!("  {points} of {refused}: {first}"));
    text.extend(some(why.collect(), SHOWN).iter().map(|line| format!("{line}\n")));
    text += &Residual::sentence(&study.residuals());
    output::print(&output::fitted(&text));
    match reasons.first().filter(|_| refused == rows) {
        Some(Reason { first, .. }) => {
            Err(Failure::Config(miette!("no point of the study is possible; the first: {first}")))
        }
        None => Ok(()),
    }
}
