//! `sealsim report`: a page of results that are there already.

use super::{
    Failure,
    page::{PageFile, command_line},
    rerun,
    run::{Interruption, RunFormat},
};
use crate::{
    explore::sweep::{FolderRecord, Table},
    files::{parse_json, read_text},
    report::html::{Page, PageError, study::StudyReport},
    units::Bytes,
};
use clap::Args;
use miette::miette;
use std::path::{Path, PathBuf};

/// The longest JSON: that of a manifest.
const MOST: Bytes = Bytes(64 << 20);

/// Make a page of results: one HTML file with plots, which opens offline.
#[derive(Debug, Args)]
#[command(after_long_help = "\
INPUT is one of

  a manifest         of `sealsim run --manifest`: the run is made again, and must be the same
  a sweep's folder   with study.json and points.csv
  JSON               that run, rerun, compare, replay or validate printed with --format json

It is recognised by its content. The page holds these results as JSON, and draws them: for a run the timeline, where the time went, \
what limits and the configuration; for designs the curves over size and cost against rate; for a sweep the front of two columns and the configuration \
behind each point; for a replay its runs one over the other; for a validation measured against simulated figures.

The verbs run, compare, sweep, replay and validate write the same page with --report FILE. It then also has what their JSON has not: the \
configuration, the timelines of a replay, the curves of a validation.

Exit status: 0 written; 1 a manifest's run is not the same, or interrupted; 2 wrong arguments; 3 a manifest that is broken, or JSON of something \
else; 4 a file that cannot be read or written; 5 a fault of the simulation.

Examples:
  sealsim report results/ghash-width --out ghash-width.html
  sealsim run h100-nvl-tdx --copy h2d:16MiB --manifest run.json && sealsim report run.json --out run.html
  sealsim compare h100-nvl-tdx --format json > designs.json && sealsim report designs.json --out designs.html
  sealsim replay trace.json.gz --report replay.html")]
pub struct Arguments {
    /// A manifest, a sweep's folder, or the JSON of run, compare, replay or validate
    #[arg(value_name = "INPUT")]
    input: PathBuf,
    /// Where the page goes
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (input, out) = (arguments.input.as_path(), arguments.out.as_path());
    if input.is_dir() {
        let files = study_files(input);
        let file = PageFile::begin("--out", out, &files.each_ref().map(|path| ("INPUT", Some(path.as_path()))))?;
        return file.write(&study_report(input)?, Ok);
    }
    let file = PageFile::begin("--out", out, &[("INPUT", Some(input))])?;
    let text = read_text(input, MOST).map_err(|error| Failure::of_text(&error))?;
    let shown = input.display().to_string();
    let value = parse_json(&text).map_err(|error| refused(&shown, &PageError::NotJson(error.to_string())))?;
    if value.get("config").is_some() && value.get("event_digest").is_some() {
        drop(value);
        let mut job = rerun::job(&shown, &text, RunFormat::Nothing)?;
        job.page = Some(file);
        return job.execute(&Interruption::listen());
    }
    let page = Page::of_json(&text, command_line()).map_err(|error| refused(&shown, &error))?;
    file.keep(&page)
}

/// Files of a sweep's folder: none of them may be the page.
pub(super) fn study_files(folder: &Path) -> [PathBuf; 4] {
    ["study.json", "points.jsonl", "points.csv", "points.parquet"].map(|name| folder.join(name))
}

pub(super) fn study_report(folder: &Path) -> Result<StudyReport, Failure> {
    let record = FolderRecord::read(folder)?;
    Ok(StudyReport::new(record, Table::read_csv(&folder.join("points.csv"))?))
}

fn refused(shown: &str, error: &PageError) -> Failure {
    let help =
        "a page shows a manifest, a sweep's folder, or what run, compare, replay or validate print with --format json";
    Failure::Config(miette!(help = help, "{shown}: {error}"))
}
