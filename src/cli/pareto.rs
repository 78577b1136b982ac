//! `sealsim pareto`: the points that no other point beats.

use super::{Failure, output, plot::PlotFile};
use crate::cost::technology::SYNTHESIS;
use crate::explore::sweep::{
    Folder, FolderRecord, Front, Group, ON_FRONT, ParetoError, Selection, Table, Together, Where,
};
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
there in ps, can be asked for in ns, us, ms and s as well. A parameter may be named by the end of its path, as `release`. Where a study has an
axis of copies, its points are different work, which no front holds against each other: take one with --where, a front --per copy, or all
--copies as one.

Examples:
  sealsim pareto results/ghash-width --min area_total_kge --max gb_per_s --min exposure_ns
  sealsim pareto results/ghash-width --plot front.pdf
  sealsim pareto results/ghash-width --where \"outstanding_reads=64,128 and area_total_kge<3000\" --per outstanding_reads
  sealsim pareto results/mine --where \"copy=h2d:1MiB and release=hold\"
  sealsim pareto results/mine --copies worst
  sealsim pareto results/mine --copies weighted --weight h2d:64MiB=3 --weight d2h:64MiB=1
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
    /// Points that take part: conditions joined by ` and `, each a column, one of = != < <= > >=, and a value, with its unit if it has one; with = and !=
    /// several values separated by commas, and `none` for an axis that does not apply
    #[arg(long = "where", value_name = "CONDITIONS")]
    only: Option<Where>,
    /// A front of its own for each value of a column. May be given several times
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    per: Vec<String>,
    /// Take points that differ in their copy alone as one: by the worst that any copy gives in each objective, or by a weighted mean, harmonic for rates
    #[arg(long, value_enum, value_name = "HOW")]
    copies: Option<Copies>,
    /// The weight of a copy in the mean, 1 if not said; for rates, its part of the bytes. May be given several times
    #[arg(long, value_name = "COPY=NUMBER", requires = "copies", value_parser = weight)]
    weight: Vec<(String, f64)>,
    /// Draw the points and their front: SVG or PDF, by the ending of the file.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// How to print it.
    #[arg(long, value_enum, default_value_t = ParetoFormat::Text)]
    format: ParetoFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ParetoFormat {
    /// Axes and objectives, for people.
    Text,
    /// All columns, an object per point.
    Json,
    /// All columns, as in points.csv.
    Csv,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Copies {
    Worst,
    Weighted,
}

fn weight(text: &str) -> Result<(String, f64), String> {
    let (copy, number) = text.rsplit_once('=').ok_or("write COPY=NUMBER, such as h2d:64MiB=3")?;
    let number = number.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    Ok((copy.to_owned(), number.ok_or("a weight is a number above 0")?))
}

impl Arguments {
    fn selection(&self) -> Result<Selection, Failure> {
        let together = match self.copies {
            None => None,
            Some(Copies::Weighted) => Some(Together::Weighted(self.weight.clone())),
            Some(Copies::Worst) if self.weight.is_empty() => Some(Together::Worst),
            Some(Copies::Worst) => return Err(Failure::Usage(miette!("--weight: the worst of copies has no weights"))),
        };
        Ok(Selection { only: self.only.clone(), per: self.per.clone(), together })
    }
}

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
    let selection = arguments.selection()?;
    let (whole, objectives) = (table, (&min[..], &max[..]));
    let mut table = selection.table(whole.clone(), &record.axes, objectives).map_err(failed)?;
    let draws = Folder::draws(&arguments.folder)?;
    selection.add_certainty(&mut table, (&whole, &draws), &record.axes, objectives).map_err(failed)?;
    let groups = selection.fronts(&table, (&min, &max)).map_err(failed)?;
    if let Some(plot) = plot {
        let [Group { front, .. }] = &groups[..] else {
            let help = "choose one of them with --where";
            return Err(Failure::Usage(miette!(help = help, "--plot draws one front, and there are {}", groups.len())));
        };
        let name = arguments.folder.file_name().unwrap_or(arguments.folder.as_os_str()).to_string_lossy();
        let figure =
            of_front(&name, &table, front, (&min, &max)).map_err(|error| Failure::Usage(miette!("{error}")))?;
        plot.write(&figure.draw())?;
    }
    let text = match arguments.format {
        ParetoFormat::Text => {
            let certainty = [ON_FRONT.to_owned()];
            let wanted = record.axes.iter().chain(&min).chain(&max).chain(&certainty);
            let mut columns: Vec<usize> = wanted.filter_map(|name| table.column(name)).collect();
            let mut seen = std::collections::HashSet::new();
            columns.retain(|column| seen.insert(*column));
            let of_group = |group: &Group| heading(group) + &text(&table, &group.front, &columns);
            output::fitted(&groups.iter().map(of_group).collect::<Vec<_>>().join("\n"))
        }
        ParetoFormat::Json => format!("{:#}\n", json(&table, &groups, (&min, &max))),
        ParetoFormat::Csv => {
            let rows = groups.iter().flat_map(|group| &group.front.rows).map(|row| table.rows[*row].clone()).collect();
            Table { columns: table.columns.clone(), rows }.text()?
        }
    };
    output::print(&text);
    Ok(())
}

fn failed(error: ParetoError) -> Failure {
    match error {
        ParetoError::NoRows => Failure::Verification(miette!("{error}")),
        ParetoError::Mixed { .. } => {
            let help = "give --per copy, --where copy=ONE, or --copies worst or weighted";
            Failure::Usage(miette!(help = help, "{error}"))
        }
        error => Failure::Usage(miette!("{error}")),
    }
}

/// What the rows of a front have in common, if there are others.
fn heading(group: &Group) -> String {
    let values: Vec<_> = group.of.iter().map(|(name, value)| format!("{name} {}", value.shown())).collect();
    if values.is_empty() { String::new() } else { values.join(", ") + ":\n" }
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
    text.extend(nearly(table, front));
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

/// Where parameters were drawn: what the column is, and points beside the front that are on it in half of the draws or more.
fn nearly(table: &Table, front: &Front) -> Option<String> {
    let column = table.column(ON_FRONT)?;
    let beside = front.taken.iter().filter(|row| !front.rows.contains(row)).filter_map(|row| {
        let part = table.rows[*row][column].number().filter(|part| *part >= 0.5)?;
        Some(format!("{} ({:.0} %)", table.rows[*row][0].shown(), part * 100.0))
    });
    let beside: Vec<_> = beside.collect();
    let mut text = format!("{ON_FRONT} is the part of the draws in which a point is on its front\n");
    if !beside.is_empty() {
        text += &format!("points beside it that are on it in half of the draws or more: {}\n", beside.join(", "));
    }
    Some(text)
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

fn json(table: &Table, groups: &[Group], (min, max): (&[String], &[String])) -> Json {
    let point = |row: &usize| {
        let fields = table.columns.iter().zip(&table.rows[*row]);
        Json::Object(fields.map(|(name, value)| (name.clone(), json!(value))).collect::<Map<_, _>>())
    };
    let of_group = |Group { of, front }: &Group| {
        let mut fields = json!({
            "compared": front.compared,
            "left_out": front.left_out,
            "knee": front.knee.map(|row| json!(table.rows[row][0])),
            "points": front.rows.iter().map(point).collect::<Vec<_>>(),
        });
        if !of.is_empty() {
            fields["of"] = Json::Object(of.iter().map(|(name, value)| (name.clone(), json!(value))).collect());
        }
        fields
    };
    let meanings: Map<_, _> = columns(SWEEP).iter().map(|column| (column.name(), json!(column.says()))).collect();
    let mut whole = match groups {
        [group] if group.of.is_empty() => of_group(group),
        groups => json!({ "groups": groups.iter().map(of_group).collect::<Vec<_>>() }),
    };
    (whole["min"], whole["max"], whole["columns"]) = (json!(min), json!(max), Json::Object(meanings));
    whole
}
