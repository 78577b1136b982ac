//! `sealsim pareto`: the points that no other point beats.

use super::{Failure, output, plot::PlotFile};
use crate::cost::technology::SYNTHESIS;
use crate::explore::sweep::{FolderRecord, Front, ParetoError, Table, front};
use crate::figures::{columns, table::SWEEP};
use crate::report::plot::chart::of_front;
use clap::{Args, ValueEnum};
use miette::miette;
use serde_json::{Map, Value as Json, json};
use std::{collections::BTreeMap, path::PathBuf};

/// Shows the front of a sweep: the points that no other point beats in every objective.
#[derive(Debug, Args)]
#[command(
    after_help = "Without --min and --max, the objectives of the study are taken. Columns are those of points.csv; times,
there in ps, can be asked for in ns, us, ms and s as well.

Examples:
  sealsim pareto results/ghash-width --min area_total_kge --max gb_per_s --min exposure_ns
  sealsim pareto results/ghash-width --plot front.pdf
  sealsim pareto results/ghash-width --format csv > front.csv"
)]
pub struct Arguments {
    /// A folder that `sealsim sweep` has written.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// A column to be small. May be given several times.
    #[arg(long, value_name = "COLUMN")]
    min: Vec<String>,
    /// A column to be large. May be given several times.
    #[arg(long, value_name = "COLUMN")]
    max: Vec<String>,
    /// Draw the points and their front: SVG or PDF, by the ending of the file.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// How to print it.
    #[arg(long, value_enum, default_value_t = ParetoFormat::Text)]
    format: ParetoFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ParetoFormat {
    /// Axes and objectives, for people.
    Text,
    /// All columns, an object per point.
    Json,
    /// All columns, as in points.csv.
    Csv,
}

/// Runs the verb.
///
/// # Errors
/// [`Failure::InputOutput`] for a folder without a table, [`Failure::Usage`] for a column that is not in it.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let plot = PlotFile::begin(arguments.plot.as_ref())?;
    let record = FolderRecord::read(&arguments.folder)?;
    let file = arguments.folder.join("points.csv");
    let mut table = Table::read_csv(&file)?;
    let (mut min, mut max) = (arguments.min.clone(), arguments.max.clone());
    if min.is_empty() && max.is_empty() {
        (min, max) = (record.min.clone(), record.max.clone());
    }
    min.iter().chain(&max).for_each(|name| table.add_in_unit(name));
    let front = front(&table, &min, &max).map_err(|error| match error {
        ParetoError::NoRows => Failure::Verification(miette!("{error}")),
        error => Failure::Usage(miette!("{error}")),
    })?;
    if let Some(plot) = plot {
        let name = arguments.folder.file_name().unwrap_or(arguments.folder.as_os_str()).to_string_lossy();
        let figure =
            of_front(&name, &table, &front, (&min, &max)).map_err(|error| Failure::Usage(miette!("{error}")))?;
        plot.write(&figure.draw())?;
    }
    let shown: Vec<usize> = match arguments.format {
        ParetoFormat::Text => {
            let wanted = record.axes.iter().chain(&min).chain(&max);
            let mut columns: Vec<usize> = wanted.filter_map(|name| table.column(name)).collect();
            let mut seen = std::collections::HashSet::new();
            columns.retain(|column| seen.insert(*column));
            columns
        }
        ParetoFormat::Json | ParetoFormat::Csv => (0..table.columns.len()).collect(),
    };
    let text = match arguments.format {
        ParetoFormat::Text => output::fitted(&text(&table, &front, &shown)),
        ParetoFormat::Json => format!("{:#}\n", json(&table, &front, &min, &max)),
        ParetoFormat::Csv => {
            let rows = front.rows.iter().map(|row| table.rows[*row].clone()).collect();
            Table { columns: table.columns.clone(), rows }.text()?
        }
    };
    output::print(&text);
    Ok(())
}

fn text(table: &Table, front: &Front, shown: &[usize]) -> String {
    let head: Vec<String> = shown.iter().map(|column| table.columns[*column].clone()).collect();
    let rows = front.rows.iter().map(|row| {
        shown.iter().map(|column| {
            let value = &table.rows[*row][*column];
            match value.number() {
                Some(number) if number.fract() != 0.0 => format!("{number:.4}"),
                _ => value.shown(),
            }
        })
    });
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(rows.map(Iterator::collect)).collect();
    let knee = front.rows.iter().position(|row| Some(*row) == front.knee).map(|place| place + 1);
    let width = |column: usize| lines.iter().map(|line| line[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..shown.len()).map(width).collect();
    let mut text = String::new();
    for (place, line) in lines.iter().enumerate() {
        let cells: Vec<String> = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
        text += &cells.join("  ");
        text += if Some(place) == knee { "  knee\n" } else { "\n" };
    }
    for (note, points) in notes(table, front) {
        text += &format!("note on {points}: {note}\n");
    }
    let costs = |column: &usize| ["area_", "pj_"].iter().any(|begin| table.columns[*column].starts_with(begin));
    if shown.iter().any(costs) {
        text += &format!("note on areas and energies: {SYNTHESIS}\n");
    }
    text += &format!("{} of {} points are on the front", front.rows.len(), front.compared);
    if front.left_out > 0 {
        text += &format!(
            "; {} without a number in some objective, or that do not close at their clock, were left out",
            front.left_out
        );
    }
    text + "\n"
}

/// What is said of the costs of points on the front, and of which: all of them, or so many.
fn notes(table: &Table, front: &Front) -> Vec<(String, String)> {
    let Some(column) = table.column("cost_notes") else { return Vec::new() };
    let mut points: BTreeMap<String, usize> = BTreeMap::new();
    for row in &front.rows {
        for note in table.rows[*row][column].shown().split(" | ").filter(|note| !note.is_empty()) {
            *points.entry(note.to_owned()).or_default() += 1;
        }
    }
    let all = front.rows.len();
    let of = |count: usize| if count == all { "all points".to_owned() } else { format!("{count} points") };
    points.into_iter().map(|(note, count)| (note, of(count))).collect()
}

fn json(table: &Table, front: &Front, min: &[String], max: &[String]) -> Json {
    let point = |row: &usize| {
        let fields = table.columns.iter().zip(&table.rows[*row]);
        Json::Object(fields.map(|(name, value)| (name.clone(), json!(value))).collect::<Map<_, _>>())
    };
    let meanings: Map<_, _> = columns(SWEEP).iter().map(|column| (column.name(), json!(column.says()))).collect();
    json!({
        "min": min,
        "max": max,
        "compared": front.compared,
        "left_out": front.left_out,
        "knee": front.knee.map(|row| json!(table.rows[row][0])),
        "points": front.rows.iter().map(point).collect::<Vec<_>>(),
        "columns": meanings,
    })
}
