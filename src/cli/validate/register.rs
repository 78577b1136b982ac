//! Predictions: made without a measurement, and joined with one later.

use super::super::{Failure, output};
use super::bench::{Bench, table_text};
use crate::{
    explore::simulator,
    files::write_whole,
    validate::{
        catalogue::Dataset,
        measured::{self, Predicted},
        register::{self, JoinError},
        score::DatasetScore,
    },
};
use miette::miette;
use serde::Serialize;
use std::path::Path;

/// Predicts what a table asks for, into a file or onto standard output.
pub fn predict(bench: &Bench, asked: &Path, out: Option<&Path>) -> Result<(), Failure> {
    output::refuse_stream("--out", out)?;
    let points = measured::asked(&asked.display().to_string(), &table_text(asked)?);
    let points = points.map_err(|error| Failure::InputOutput(error.into()))?;
    let (machines, figures) = bench.figures(&points)?;
    let machine = |platform: &String| {
        machines.get(platform).map(|machine| (machine.name(), machine.digest.clone())).unwrap_or_default()
    };
    let predictions = points.into_iter().zip(figures).map(|(mut point, figure)| {
        let (machine, machine_digest) = machine(&point.platform);
        point.measured = figure;
        Predicted { point, machine, machine_digest, sealsim: simulator().to_owned() }
    });
    let table = register::table(&predictions.collect::<Vec<_>>());
    match out {
        Some(path) => write_whole(path, &table).map_err(Failure::of_file),
        None => {
            output::print(&String::from_utf8_lossy(&table));
            Ok(())
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Origin {
    pub machine: String,
    pub machine_digest: String,
    pub sealsim: String,
}

pub struct Scored {
    pub dataset: Dataset,
    pub score: DatasetScore,
    pub origins: Vec<Origin>,
}

pub fn score(predictions: &Path, measured: &Path) -> Result<Scored, Failure> {
    let [predicted_file, measured_file] = [predictions, measured].map(|path| path.display().to_string());
    let predicted = measured::predicted(&predicted_file, &table_text(predictions)?);
    let predicted = predicted.map_err(|error| Failure::InputOutput(error.into()))?;
    let dataset = Dataset::read(&name(predictions), &measured_file, &table_text(measured)?)?;
    let figures =
        register::join(&predicted_file, &predicted, &measured_file, &dataset).map_err(|error| match error {
            JoinError::Kind { .. } => Failure::InputOutput(miette!(help = "measure what was asked for", "{error}")),
            JoinError::Rows(_) => {
                let help =
                    "rows join by platform, mode, exact size, and what was copied or called; each needs one partner";
                Failure::Verification(miette!(help = help, "{error}"))
            }
        })?;
    let mut origins: Vec<Origin> = Vec::new();
    for Predicted { machine, machine_digest, sealsim, .. } in predicted {
        let origin = Origin { machine, machine_digest, sealsim };
        if !origins.contains(&origin) {
            origins.push(origin);
        }
    }
    let machines = origins.iter().map(|origin| origin.machine.clone()).collect();
    let score = DatasetScore::new(&dataset, machines, &figures);
    Ok(Scored { dataset, score, origins })
}

/// What a table is called: its file's name without the ending.
pub fn name(path: &Path) -> String {
    path.file_stem().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
