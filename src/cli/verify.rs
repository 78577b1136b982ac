//! `sealsim verify`: the modelled engine against published values.

use super::{Failure, output::Output};
use crate::config::{Alone, Layers};
use crate::gcm::spec::EngineSpec;
use crate::validate::vectors::{Case, Other, Structural, Subject, read};
use clap::{Args, Subcommand, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use miette::miette;
use serde::Serialize;
use std::{
    fs,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

/// Arguments of `sealsim verify`.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Passes AES-GCM test vectors through the structural engine, cycle by cycle.
    Vectors(Vectors),
}

#[derive(Debug, Args)]
struct Vectors {
    /// NIST CAVP response files (.rsp) or Wycheproof files (.json) for AES-GCM and GMAC, or for the AEAD of an engine with another.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The engine: a shipped one or that of a machine, by path or built-in name (`sealsim list`), or of a TOML file with an engine at
    /// its top level or under `engine`. Its key size does not matter: every vector brings its own. Without it, the engine of `h100-nvl-tdx`.
    #[arg(long, value_name = "CONFIG")]
    engine: Option<PathBuf>,
    /// How the counts are printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

#[derive(Debug, Serialize)]
struct Outcome {
    engine: Alone,
    files: Vec<FileOutcome>,
}

#[derive(Debug, Serialize)]
struct FileOutcome {
    path: String,
    passed: u64,
    failed: u64,
    /// Cases that were not tried. There are none: the field says so.
    skipped: u64,
    failures: Vec<CaseFailure>,
}

#[derive(Debug, Serialize)]
struct CaseFailure {
    case: String,
    what: String,
}

/// Runs the verb.
///
/// # Errors
/// [`Failure::Verification`] if a case fails, [`Failure::InputOutput`] for a file that cannot be read,
/// [`Failure::Config`] for an engine that cannot be built.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let What::Vectors(vectors) = &arguments.what;
    let engine = match &vectors.engine {
        Some(path) => engine_of(path)?,
        None => engine_of(Path::new("h100-nvl-tdx"))?,
    };
    if let Alone::Gcm(engine) = &engine
        && !engine.ghash.wire_compatible()
    {
        let tags = engine.ghash.tags();
        return Err(Failure::Usage(miette!(
            "an engine with {tags} tags per message is not wire-compatible with GCM: published vectors do not apply to it"
        )));
    }
    let mut files = Vec::new();
    for path in &vectors.files {
        files.push((path, cases_of(path)?));
    }
    let progress = progress(files.iter().map(|(_, cases)| cases.len() as u64).sum());
    let mut subject: Box<dyn Subject> = match engine.clone() {
        Alone::Gcm(spec) => Box::new(Structural::new(spec)),
        Alone::Other(spec) => Box::new(Other::new(spec)),
    };
    let files = files.iter().map(|(path, cases)| pass(path, cases, &mut *subject, &progress)).collect();
    progress.finish_and_clear();
    let outcome = Outcome { engine, files };
    print(&outcome, vectors.format).map_err(|error| Failure::output(&error))?;
    match outcome.files.iter().map(|file| file.failed).sum::<u64>() {
        0 => Ok(()),
        failed => Err(Failure::Verification(miette!("{failed} cases failed"))),
    }
}

fn text_of(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::input_output(&path.display().to_string(), &error))
}

fn cases_of(path: &Path) -> Result<Vec<Case>, Failure> {
    let text = text_of(path)?;
    read(&text).map_err(|error| Failure::InputOutput(miette!("{}: {error}", path.display())))
}

/// The engine of a machine or a shipped engine, by path or built-in name, or one at the top level of a file.
fn engine_of(path: &Path) -> Result<Alone, Failure> {
    let layered = || Layers::new(path.to_string_lossy()).resolve_alone().map_err(Failure::from);
    if !path.exists() {
        return layered();
    }
    let refusal = |error: &dyn std::fmt::Display| Failure::Config(miette!("{}: {error}", path.display()));
    let table: toml::Table = text_of(path)?.parse().map_err(|error| refusal(&error))?;
    if ["extends", "engine", "aead", "link", "copy_engine"].iter().any(|key| table.contains_key(*key)) {
        return layered();
    }
    let spec: EngineSpec = table.try_into().map_err(|error| refusal(&error))?;
    spec.check().map_err(|error| refusal(&error))?;
    Ok(Alone::Gcm(spec))
}

fn progress(cases: u64) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} cases, {eta} left");
    ProgressBar::new(cases).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn pass(path: &Path, cases: &[Case], subject: &mut dyn Subject, progress: &ProgressBar) -> FileOutcome {
    let mut failures = Vec::new();
    for case in cases {
        if let Err(mismatch) = case.check(subject) {
            failures.push(CaseFailure { case: case.id.clone(), what: mismatch.to_string() });
        }
        progress.inc(1);
    }
    let failed = failures.len() as u64;
    FileOutcome { path: path.display().to_string(), passed: cases.len() as u64 - failed, failed, skipped: 0, failures }
}

fn print(outcome: &Outcome, format: Format) -> io::Result<()> {
    let mut out = Output;
    if format == Format::Json {
        serde_json::to_writer_pretty(&mut out, outcome)?;
        return writeln!(out);
    }
    for file in &outcome.files {
        writeln!(out, "{}: {} passed, {} failed, {} skipped", file.path, file.passed, file.failed, file.skipped)?;
        for failure in &file.failures {
            writeln!(out, "  {}: {}", failure.case, failure.what)?;
        }
    }
    Ok(())
}
