//! `sealsim verify`: the modelled engine against published values.

use super::{
    Failure,
    engine::judged,
    output::{self, Format},
    watch::bar,
};
use crate::aead::bytes::Scheme;
use crate::aead::spec::EngineSpec;
use crate::config::Layers;
use crate::files::read_text;
use crate::gcm::message::SealOpen;
use crate::gcm::spec::GcmSpec;
use crate::units::Bytes;
use crate::validate::vectors::{
    Algorithm, Case, EngineParts, Judgement, Mismatch, Problem, Subject, VectorError, VectorParts, join, judge, parse,
    subject,
};
use clap::{Args, Subcommand};
use indicatif::ProgressBar;
use miette::miette;
use serde::Serialize;
use std::{
    io::{self, Write},
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
    /// Passes test vectors of AES-GCM, or of an engine's AEAD, through that engine.
    ///
    /// Engines of AES-GCM and AEGIS are structural: each value comes out of their registers, cycle by cycle. `gcm-siv` and
    /// `chacha20-poly1305` have cycles only: their bytes come from a crate, and it is the crate that a file checks.
    ///
    /// A case that can say nothing about the engine, because the algorithm has no such key or no such tag, is skipped with its reason,
    /// and never counts as passed.
    ///
    /// Exit status: 0 all cases passed; 1 one failed, or was skipped; 2 a file of another algorithm than the engine's, or of one that is
    /// not modelled; 3 a wrong engine; 4 a file that cannot be read, or is none of vectors.
    Vectors(Vectors),
}

#[derive(Debug, Args)]
struct Vectors {
    /// NIST CAVP response files (.rsp) for AES-GCM, NIST ACVP files (.json) for AES-GCM, GMAC and AES-GCM-SIV, Wycheproof files
    /// (.json), text files of pyca and BoringSSL (`COUNT = 1`) of the engine's AEAD, or what `sealsim vectors` writes, of at most 64 MiB each. JSON names its algorithm: AES-GCM and GMAC, or that of an engine with another AEAD. Of ACVP, give
    /// an internalProjection, or a prompt and its expectedResults.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The engine: a shipped one or that of a machine, by path or built-in name (`sealsim list`), or of a TOML file with an engine at
    /// its top level or under `engine`. Its key size does not matter: every vector brings its own. Without it, the engine of `h100-nvl-tdx`.
    #[arg(long, value_name = "CONFIG")]
    engine: Option<PathBuf>,
    /// Show where the first case that fails parts from the engine, and whether the engine is AES-GCM up to there: H, J0, keystream, ciphertext block by block,
    /// GHASH, tag. With a tcId, a Count or a line (`line 15`), of the first failing case that is called so. Only with engines of AES-GCM.
    #[arg(long, value_name = "ID", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    trace_failure: Option<String>,
    /// How the counts are printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Serialize)]
struct Outcome {
    engine: EngineSpec,
    files: Vec<FileOutcome>,
    /// With `--trace-failure`: the first case that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Trace>,
}

/// Where a case parts from the engine.
#[derive(Debug, Serialize)]
struct Trace {
    file: String,
    case: String,
    /// Why it cannot be traced: AES-GCM has no such message.
    refused: Option<String>,
    direction: Option<SealOpen>,
    /// The first stage of the engine that is not software AES-GCM's.
    engine_parts: Option<EngineParts>,
    /// What is not the vector's first.
    vector_parts: Option<VectorParts>,
    #[serde(skip)]
    judgement: Option<Judgement>,
}

#[derive(Debug, Serialize)]
struct FileOutcome {
    path: String,
    passed: u64,
    failed: u64,
    /// Cases that are malformed: they can say nothing about the engine.
    skipped: u64,
    failures: Vec<CaseFailure>,
    /// Those that were skipped, and why.
    skips: Vec<CaseFailure>,
}

#[derive(Debug, Serialize)]
struct CaseFailure {
    case: String,
    what: String,
}

/// The longest file of vectors; the longest published ones have 3 MB.
const MOST: Bytes = Bytes(64 << 20);

const MOST_OF_ENGINE: Bytes = Bytes(1 << 20);

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let What::Vectors(vectors) = &arguments.what;
    let engine = match &vectors.engine {
        Some(path) => engine_of(path)?,
        None => engine_of(Path::new("h100-nvl-tdx"))?,
    };
    if let Some(engine) = engine.gcm()
        && !engine.ghash.wire_compatible()
    {
        let tags = engine.ghash.tags();
        return Err(Failure::Usage(miette!(
            "an engine with {tags} tags per message is not wire-compatible with GCM: published vectors do not apply to it"
        )));
    }
    let mut subject = subject(engine.clone());
    let unnamed = subject.algorithms().first().copied().unwrap_or(Algorithm::AES_GCM);
    let files: Vec<(&PathBuf, Vec<Case>)> = vectors.files.iter().zip(cases_of(&vectors.files, unnamed)?).collect();
    if vectors.trace_failure.is_some() && engine.gcm().is_none() {
        return Err(Failure::Usage(miette!(
            "--trace-failure shows the stages of AES-GCM, and this engine has another AEAD: leave it out"
        )));
    }
    files.iter().try_for_each(|(path, cases)| check_algorithm(path, cases, &engine, &*subject))?;
    let progress = bar(files.iter().map(|(_, cases)| cases.len() as u64).sum(), "{pos}/{len} cases");
    // A file with nothing but another one's answers has no cases of its own.
    let with_cases = files.iter().filter(|(_, cases)| !cases.is_empty());
    let passed: Vec<_> = with_cases.clone().map(|(path, cases)| pass(path, cases, &mut *subject, &progress)).collect();
    progress.finish_and_clear();
    let trace = vectors
        .trace_failure
        .as_ref()
        .zip(engine.gcm())
        .and_then(|(id, spec)| with_cases.zip(&passed).find_map(|((_, cases), file)| trace(spec, cases, file, id)));
    if let (Some(id), None) = (&vectors.trace_failure, &trace)
        && !id.is_empty()
    {
        output::complain(format_args!("--trace-failure: no case that failed is called `{id}`"));
    }
    let outcome = Outcome { engine, files: passed, trace };
    output::print_as(vectors.format, |out| outcome.text(out), &outcome)?;
    let sum = |count: fn(&FileOutcome) -> u64| outcome.files.iter().map(count).sum::<u64>();
    match (sum(|file| file.failed), sum(|file| file.skipped)) {
        (0, 0) => Ok(()),
        (failed, 0) => Err(Failure::Verification(miette!("{failed} cases failed"))),
        (failed, skipped) => {
            Err(Failure::Verification(miette!("{failed} cases failed; {skipped} are malformed and say nothing")))
        }
    }
}

/// The cases of each file; those that do not say of what they are, are of `unnamed`.
fn cases_of(paths: &[PathBuf], unnamed: Algorithm) -> Result<Vec<Vec<Case>>, Failure> {
    let refusal = |path: &Path, error: VectorError| {
        let report = miette!("{}: {error}", path.display());
        if error.problem == Problem::Algorithm { Failure::Usage(report) } else { Failure::InputOutput(report) }
    };
    let mut sheets = Vec::new();
    for path in paths {
        let text = read_text(path, MOST).map_err(Failure::of_file)?;
        sheets.push(parse(&text, unnamed).map_err(|error| refusal(path, error))?);
    }
    join(sheets).map_err(|(file, error)| refusal(&paths[file], error))
}

/// Refuses a file of another algorithm, or one that is mixed: all of its invalid cases would pass.
fn check_algorithm(path: &Path, cases: &[Case], engine: &EngineSpec, subject: &dyn Subject) -> Result<(), Failure> {
    let other = cases.iter().map(|case| case.algorithm).find(|algorithm| !subject.algorithms().contains(algorithm));
    let Some(other) = other else { return Ok(()) };
    let name = engine.model().scheme().map_or("no AEAD", Scheme::name);
    let (path, remedy) = (path.display(), other.engine());
    if let Some(own) =
        cases.iter().map(|case| case.algorithm).find(|algorithm| subject.algorithms().contains(algorithm))
    {
        return Err(Failure::Usage(miette!(
            "{path}: {own} and {other} in one file: one engine has one algorithm; give the {other} in a file of its own, with --engine {remedy}"
        )));
    }
    Err(Failure::Usage(miette!("{other} in {path}, but the engine is one of {name}: give --engine {remedy}")))
}

/// The engine of a machine or a shipped engine, by path or built-in name, or one at the top level of a file.
fn engine_of(path: &Path) -> Result<EngineSpec, Failure> {
    let layered = || Layers::new(path.to_string_lossy()).resolve_standalone().map_err(Failure::from);
    if !path.exists() {
        return layered();
    }
    let refusal = |error: &dyn std::fmt::Display| Failure::Config(miette!("{}: {error}", path.display()));
    let text = read_text(path, MOST_OF_ENGINE).map_err(|error| Failure::of_text(&error))?;
    let table: toml::Table = text.parse().map_err(|error| refusal(&error))?;
    if ["extends", "engine", "aead", "link", "copy_engine"].iter().any(|key| table.contains_key(*key)) {
        return layered();
    }
    let spec: GcmSpec = table.try_into().map_err(|error| refusal(&error))?;
    spec.check().map_err(|error| refusal(&error))?;
    Ok(EngineSpec::Gcm(spec))
}

fn pass(path: &Path, cases: &[Case], subject: &mut dyn Subject, progress: &ProgressBar) -> FileOutcome {
    let (mut failures, mut skips) = (Vec::new(), Vec::new());
    for case in cases {
        if let Err(mismatch) = case.check(subject) {
            let malformed = matches!(mismatch, Mismatch::Malformed(_));
            let list = if malformed { &mut skips } else { &mut failures };
            list.push(CaseFailure { case: case.id.clone(), what: mismatch.to_string() });
        }
        progress.inc(1);
    }
    let (failed, skipped) = (failures.len() as u64, skips.len() as u64);
    let passed = cases.len() as u64 - failed - skipped;
    FileOutcome { path: path.display().to_string(), passed, failed, skipped, failures, skips }
}

/// Blocks of text and AAD of a case that are recorded stage by stage.
const TRACED: u64 = 1 << 12;

/// Where the first failing case of a file parts from the engine; of those called `id`, if that is not empty.
fn trace(spec: &GcmSpec, cases: &[Case], file: &FileOutcome, id: &str) -> Option<Trace> {
    let failed = |case: &&Case| file.failures.iter().any(|failure| failure.case == case.id);
    let case = cases.iter().filter(failed).find(|case| id.is_empty() || case.is_called(id))?;
    let bare = Trace {
        file: file.path.clone(),
        case: case.id.clone(),
        refused: None,
        direction: None,
        engine_parts: None,
        vector_parts: None,
        judgement: None,
    };
    let direction = case.direction();
    let given = case.given(direction)?;
    Some(match judge(spec, given, case.said(direction), TRACED, &mut |_, _| {}) {
        Err(error) => Trace { refused: Some(error.to_string()), ..bare },
        Ok(judgement) => Trace {
            direction: Some(direction),
            engine_parts: judgement.engine.clone(),
            vector_parts: judgement.vector.clone(),
            judgement: Some(judgement),
            ..bare
        },
    })
}

impl Trace {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let way = match self.direction {
            Some(SealOpen::Seal) => ", sealed",
            Some(SealOpen::Open) => ", opened",
            None => "",
        };
        writeln!(out, "\n{}, {}{way}", self.file, self.case)?;
        match (&self.judgement, &self.refused) {
            (Some(judgement), _) => {
                judged::summary(out, judgement, true)?;
                if judgement.engine.is_none() && judgement.vector.is_none() {
                    writeln!(
                        out,
                        "  so        the message is as it should be, and the vector says that it is not valid"
                    )?;
                }
            }
            (None, Some(reason)) => writeln!(out, "refused     {reason}")?,
            (None, None) => {}
        }
        Ok(())
    }
}

impl Outcome {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for file in &self.files {
            writeln!(out, "{}: {} passed, {} failed, {} skipped", file.path, file.passed, file.failed, file.skipped)?;
            for failure in file.failures.iter().chain(&file.skips) {
                writeln!(out, "  {}: {}", failure.case, failure.what)?;
            }
        }
        self.trace.iter().try_for_each(|trace| trace.text(out))
    }
}
