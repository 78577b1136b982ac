//! `sealsim calibrate`: parameters from measurements.

mod text;

use super::{
    Failure, output,
    run::Interruption,
    validate::{Bench, TableMode, catalogue, read_dataset},
};
use crate::{
    config::{Layers, MachineSpec, Resolved},
    files::read_text,
    pool,
    report::SCHEMA_VERSION,
    units::Bytes,
    validate::{
        calibrate::{
            Determination, Entry, Finding, Stage, StageFile, Tuned, Variable, WriteError, findings, fit, write,
        },
        catalogue::Dataset,
        class::Class,
        measured::Point,
        score::{Errors, Scored},
    },
};
use clap::{Args, ValueEnum};
use miette::miette;
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

/// Fits parameters of a machine to measured points, and says how well the points determine each.
#[derive(Debug, Args)]
#[command(after_long_help = "\
A stage file lists stages; each has parameters with bounds and the points that they are fitted to. A stage starts from the values of \
the configuration and of the stages before it, and looks for the least sum of squared relative errors. For each parameter the program \
prints its standard error, the parameter that it is most entangled with, and whether the points determine it at all. Points that \
`sealsim validate` states errors over are refused. docs/validation.md describes stage files. A stage file has at most 1 MiB, a table of \
measurements at most 16 MiB.

With --write the values go into a configuration file after each stage, with provenance `calibrated` and the range that was found, and \
the digests of all points that were fitted to, which `sealsim validate` then does not hold out; the rest of the file does not change. An interrupted calibration continues with --from.

Exit status: as for `sealsim validate`.

Examples:
  sealsim calibrate validation/calibrate/example.toml
  sealsim calibrate stages.toml --measured mine.csv --hw mine.toml --write mine.toml
  sealsim calibrate stages.toml --stage submission --format json | jq '.stages[].parameters'")]
pub struct Arguments {
    /// The stage file
    #[arg(value_name = "STAGES")]
    stages: PathBuf,
    /// The machine to start from (default: the stage file's `config`)
    #[arg(long, value_name = "CONFIG")]
    hw: Option<String>,
    /// Set one value of the machine, above all files. May be given several times
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// A table of measurements, the JSON of nvbandwidth, or what bandwidthTest or nccl-tests print, that stages may name by its file's name without ending. May be given several times
    #[arg(long, value_name = "FILE")]
    measured: Vec<PathBuf>,
    /// The mode in which nvbandwidth, bandwidthTest or nccl-tests made a file of --measured: they do not say
    #[arg(long, value_enum, value_name = "MODE", default_value_t = TableMode::Cc)]
    mode: TableMode,
    /// Only these stages. May be given several times
    #[arg(long = "stage", value_name = "NAME")]
    only: Vec<String>,
    /// Begin with this stage
    #[arg(long, value_name = "NAME", conflicts_with = "only")]
    from: Option<String>,
    /// Write what was found into this configuration file, which is made if it is not there
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Points simulated at the same time (default: as many as there are cores); the figures do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Text for people, or one JSON object
    #[arg(long, value_enum, default_value_t = CalibrateFormat::Text)]
    format: CalibrateFormat,
}

const LONGEST_STAGES: Bytes = Bytes(1 << 20);

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CalibrateFormat {
    /// Tables of parameters and points
    Text,
    /// stages[] with parameters[] and points[]
    Json,
}

#[derive(Debug, Serialize)]
struct Outcome {
    schema_version: u32,
    machine: String,
    stages: Vec<StageOutcome>,
}

#[derive(Debug, Serialize)]
struct StageOutcome {
    name: String,
    rounds: usize,
    before: Option<Errors>,
    after: Option<Errors>,
    parameters: Vec<ParameterOutcome>,
    points: Vec<Scored>,
}

#[derive(Debug, Serialize)]
struct ParameterOutcome {
    path: String,
    before: String,
    after: String,
    /// Least and greatest value that it may have after this.
    low: String,
    high: String,
    at_bound: bool,
    /// `known`, `together`, `exact` or `not`.
    determined: &'static str,
    /// In the parameter's base unit, if it is known.
    standard_error: Option<f64>,
    /// The parameter that it is most entangled with.
    strongest_with: Option<String>,
    strongest_correlation: Option<f64>,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    output::refuse_stream("--write", arguments.write.as_deref())?;
    let shown = arguments.stages.display().to_string();
    let text = read_text(&arguments.stages, LONGEST_STAGES).map_err(Failure::of_file)?;
    let file = StageFile::read(&shown, &text)?;
    let config = arguments.hw.clone().or(file.config.clone()).ok_or_else(|| {
        Failure::Usage(miette!(help = "write `config` in it, or give --hw", "{shown} names no machine to start from"))
    })?;
    let mut calibration = Calibration::new(arguments, config)?;
    let stages = arguments.chosen(&file.stages)?;
    let mut outcomes = Vec::new();
    for stage in stages {
        let outcome = calibration.stage(stage, arguments.write.is_some())?;
        if let Some(path) = &arguments.write {
            write(path, &calibration.config, &calibration.entries, &calibration.seen).map_err(unwritten)?;
        }
        if arguments.format == CalibrateFormat::Text {
            output::print(&output::fitted(&text::text(&outcome)));
        }
        outcomes.push(outcome);
    }
    if arguments.format == CalibrateFormat::Json {
        let outcome =
            Outcome { schema_version: SCHEMA_VERSION, machine: calibration.machine()?.name(), stages: outcomes };
        output::print(&output::json(&outcome)?);
    }
    Ok(())
}

fn unwritten(error: WriteError) -> Failure {
    match error {
        WriteError::Config(error) => Failure::Config((*error).into()),
        WriteError::Content { .. } => Failure::Config(miette!("{error}")),
        WriteError::File { .. } | WriteError::Unwritten(_) | WriteError::Unfit(_) => {
            Failure::InputOutput(miette!("{error}"))
        }
    }
}

impl Arguments {
    fn chosen<'s>(&self, stages: &'s [Stage]) -> Result<Vec<&'s Stage>, Failure> {
        let place = |name: &String| {
            let unknown = || {
                let names: Vec<_> = stages.iter().map(|stage| stage.name.as_str()).collect();
                let help = format!("there is {}", names.join(", "));
                Failure::Usage(miette!(help = help, "there is no stage `{name}`"))
            };
            stages.iter().position(|stage| stage.name == *name).ok_or_else(unknown)
        };
        if let Some(name) = &self.from {
            return Ok(stages[place(name)?..].iter().collect());
        }
        let only = self.only.iter().map(place).collect::<Result<Vec<_>, _>>()?;
        let wanted = |(number, _): &(usize, &Stage)| only.is_empty() || only.contains(number);
        Ok(stages.iter().enumerate().filter(wanted).map(|(_, stage)| stage).collect())
    }
}

struct Calibration {
    config: String,
    settings: Vec<String>,
    found: BTreeMap<String, String>,
    /// What goes into a file.
    entries: Vec<Entry>,
    /// Digests of the points that the machine at the start and the stages so far were fitted to.
    seen: BTreeSet<String>,
    datasets: Vec<Dataset>,
    bench: Bench,
}

impl Calibration {
    fn new(arguments: &Arguments, config: String) -> Result<Self, Failure> {
        let catalogue = catalogue()?;
        let mut datasets = catalogue.datasets;
        for path in &arguments.measured {
            let mut dataset = read_dataset(path, arguments.mode)?;
            // One's own points are one's own to fit to.
            dataset.points.iter_mut().for_each(|point| point.1 = Class::Fitted);
            datasets.retain(|known| known.name != dataset.name);
            datasets.push(dataset);
        }
        let mut bench = Bench::new(catalogue.platforms, Interruption::listen());
        bench.threads = arguments.threads.map_or_else(pool::threads, usize::from);
        let settings = arguments.set.clone();
        Ok(Self {
            config,
            settings,
            found: BTreeMap::new(),
            entries: Vec::new(),
            seen: BTreeSet::new(),
            datasets,
            bench,
        })
    }

    fn machine(&self) -> Result<Resolved, Failure> {
        self.machine_with(&[], &[])
    }

    /// The machine with what was found so far, and a candidate on top.
    fn machine_with(&self, parameters: &[Tuned], candidate: &[i128]) -> Result<Resolved, Failure> {
        let mut layers = self.settings.iter().fold(Layers::new(&self.config), |layers, setting| layers.set(setting));
        for (path, value) in &self.found {
            layers = layers.set(format!("{path}={value}"));
        }
        for (parameter, value) in parameters.iter().zip(candidate) {
            for path in parameter.paths() {
                layers = layers.set(format!("{path}={}", parameter.text(*value)));
            }
        }
        Ok(layers.resolve()?)
    }

    /// Fits one stage, and keeps what it finds.
    fn stage(&mut self, stage: &Stage, written: bool) -> Result<StageOutcome, Failure> {
        let points: Vec<Point> = stage.points(&self.datasets)?.into_iter().cloned().collect();
        let start = self.unfitted()?;
        self.seen.extend(start.fitted_to.iter().cloned());
        self.seen.extend(points.iter().map(Point::digest));
        let parameters = stage.parameters(&start)?;
        let variables: Vec<_> = parameters.iter().map(|parameter| parameter.variable).collect();
        let mut known: BTreeMap<Vec<i128>, Vec<f64>> = BTreeMap::new();
        let mut residuals = |candidates: &[Vec<i128>]| self.residuals(&parameters, &points, candidates, &mut known);
        let fit = fit(&variables, &mut residuals)?;
        let findings = findings(&variables, &fit);
        let scored = |residuals: &[f64]| -> Vec<_> {
            let pairs = points.iter().zip(residuals);
            pairs
                .map(|(point, residual)| Scored::new(point, Class::Fitted, point.measured * (1.0 + residual)))
                .collect()
        };
        let (before, after) = (scored(&fit.before), scored(&fit.residuals));
        for (place, finding) in findings.iter().enumerate() {
            self.keep(stage, points.len(), &parameters, place, finding, written);
        }
        Ok(StageOutcome {
            name: stage.name.clone(),
            rounds: fit.rounds,
            before: Errors::over(before.iter()),
            after: Errors::over(after.iter()),
            parameters: (0..parameters.len()).map(|place| outcome(&parameters, place, &findings[place])).collect(),
            points: after,
        })
    }

    /// The machine so far, its provenance that of the file where nothing was found yet.
    fn unfitted(&self) -> Result<Resolved, Failure> {
        let mut fitted = self.machine()?;
        let stated = Layers::new(&self.config).resolve()?;
        for parameter in &mut fitted.parameters {
            if let Some(known) = stated.parameter(&parameter.path) {
                parameter.provenance.clone_from(&known.provenance);
            }
        }
        Ok(fitted)
    }

    /// Relative errors at each candidate; each is simulated once.
    fn residuals(
        &self,
        parameters: &[Tuned],
        points: &[Point],
        candidates: &[Vec<i128>],
        known: &mut BTreeMap<Vec<i128>, Vec<f64>>,
    ) -> Result<Vec<Vec<f64>>, Failure> {
        let mut new: Vec<&Vec<i128>> = candidates.iter().filter(|one| !known.contains_key(*one)).collect();
        new.sort();
        new.dedup();
        let machines: Vec<MachineSpec> = new
            .iter()
            .map(|candidate| Ok(self.machine_with(parameters, candidate)?.machine))
            .collect::<Result<_, Failure>>()?;
        let work: Vec<_> =
            machines.iter().flat_map(|machine| points.iter().map(move |point| (machine, point))).collect();
        let figures = self.bench.simulate(&work)?;
        for (candidate, figures) in new.into_iter().zip(figures.chunks(points.len())) {
            let errors = figures.iter().zip(points).map(|(figure, point)| figure / point.measured - 1.0).collect();
            known.insert(candidate.clone(), errors);
        }
        Ok(candidates.iter().map(|candidate| known.get(candidate).cloned().unwrap_or_default()).collect())
    }

    /// Takes over what was found, unless the points say nothing about it.
    fn keep(
        &mut self,
        stage: &Stage,
        points: usize,
        parameters: &[Tuned],
        place: usize,
        finding: &Finding,
        written: bool,
    ) {
        if finding.determination == Determination::Not {
            return;
        }
        let tuned = &parameters[place];
        for path in tuned.paths() {
            self.found.insert(path.clone(), tuned.text(finding.value));
            if !written {
                continue;
            }
            let entry = Entry {
                path: path.clone(),
                value: tuned.text(finding.value),
                low: tuned.text(finding.low),
                high: tuned.text(finding.high),
                bare: tuned.is_bare(),
                source: source(stage, points, parameters, finding),
            };
            self.entries.retain(|known| known.path != entry.path);
            self.entries.push(entry);
        }
    }
}

/// What a file says about where a value comes from.
fn source(stage: &Stage, points: usize, parameters: &[Tuned], finding: &Finding) -> String {
    let selections = stage.points.iter().map(|selection| {
        let which = selection.selector.text().replace('"', "'");
        if which.is_empty() { selection.dataset.clone() } else { format!("{} ({which})", selection.dataset) }
    });
    let selections = selections.collect::<Vec<_>>().join("; ");
    let judged = match finding.determination {
        Determination::Known { .. } if finding.at_bound => "at its bound",
        Determination::Known { .. } => "range of two standard errors",
        Determination::Together { .. } => "not determined apart from ",
        Determination::Exact => "as many parameters as points, so without an error",
        Determination::Not => "not determined",
    };
    let with = match finding.determination {
        Determination::Together { with, correlation } => {
            format!("{} (correlation {correlation:.3})", parameters[with].path)
        }
        _ => String::new(),
    };
    format!("sealsim calibrate, stage {}: {points} points of {selections}; {judged}{with}", stage.name)
}

fn outcome(parameters: &[Tuned], place: usize, finding: &Finding) -> ParameterOutcome {
    let tuned = &parameters[place];
    let Variable { start, .. } = tuned.variable;
    let (determined, standard_error) = match finding.determination {
        Determination::Known { error } => ("known", Some(error)),
        Determination::Together { .. } => ("together", None),
        Determination::Exact => ("exact", None),
        Determination::Not => ("not", None),
    };
    ParameterOutcome {
        path: tuned.path.clone(),
        before: tuned.text(start),
        after: tuned.text(finding.value),
        low: tuned.text(finding.low),
        high: tuned.text(finding.high),
        at_bound: finding.at_bound,
        determined,
        standard_error,
        strongest_with: finding.strongest.map(|(with, _)| parameters[with].path.clone()),
        strongest_correlation: finding.strongest.map(|(_, correlation)| correlation),
    }
}
