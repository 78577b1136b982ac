//! What a study found: columns of its table against one of them; and its front.
//!
//! Every row is a mark. A curve runs through the best mark at each place, where best is what the study's objectives say; the other marks are
//! outlines. A row without a place is what the curve is compared with: a dashed line across. Places that are no numbers are names, and then
//! there is no curve.

mod front;

pub use front::of_front;

use super::{
    figure::{Across, Figure, Join, Label, Panel, Point, Series},
    legend::{Key, Sample},
    mark::Style,
};
use crate::explore::sweep::{Heading, StudySpec, Table};
use crate::figures::Value;
use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ChartError {
    #[error(
        "the study says nothing of a plot: give it plot = {{ x = \"COLUMN\", y = [\"COLUMN\"], by = [\"COLUMN\"] }}"
    )]
    NoPlot,
    #[error("plot: no column `{name}`; there are {known}")]
    Unknown { name: String, known: String },
    #[error("plot: column `{name}` holds no numbers")]
    NoNumbers { name: String },
}

struct Column {
    place: usize,
    heading: Heading,
    /// Where the least and the greatest value of each figure stand, if the table has them.
    ends: Option<(usize, usize)>,
}

impl Column {
    fn of(table: &Table, name: &str) -> Result<Self, ChartError> {
        let known = || table.columns.join(", ");
        let unknown = || ChartError::Unknown { name: name.to_owned(), known: known() };
        let place = table.column(name).ok_or_else(unknown)?;
        let ends = table.column(&format!("{name}_low")).zip(table.column(&format!("{name}_high")));
        Ok(Self { place, heading: Heading::of(name), ends })
    }

    fn scaled(&self, value: &Value) -> Option<f64> {
        value.number().filter(|number| number.is_finite()).map(|number| number * self.heading.scale)
    }

    fn number(&self, row: &[Value]) -> Option<f64> {
        self.scaled(&row[self.place])
    }

    fn ends(&self, row: &[Value]) -> Option<(f64, f64)> {
        let (low, high) = self.ends?;
        self.scaled(&row[low]).zip(self.scaled(&row[high]))
    }

    fn label(&self) -> Label {
        Label::new(&self.heading.label())
    }

    /// A value as people see it, with what it is of.
    fn told(&self, row: &[Value]) -> String {
        let value = &row[self.place];
        let text = match (self.heading.unit, self.number(row)) {
            (_, None) => value.shown().replace('_', " "),
            (Some("bytes"), Some(bytes)) => super::axis::tick(bytes, true),
            (Some(unit), Some(number)) => format!("{number} {unit}"),
            (None, Some(number)) => number.to_string(),
        };
        format!("{}: {}", self.heading.words, if text.is_empty() { "none" } else { &text })
    }
}

/// Marks of one colour.
#[derive(Debug, Default)]
struct Found {
    name: String,
    marks: Vec<Point>,
    levels: Vec<f64>,
}

/// The plot that a study asks for, of its table.
pub fn of_study(study: &StudySpec, table: &Table) -> Result<Figure, ChartError> {
    let plot = study.plot.as_ref().ok_or(ChartError::NoPlot)?;
    let x = Column::of(table, &plot.x)?;
    let by = plot.by.iter().map(|name| Column::of(table, name)).collect::<Result<Vec<_>, _>>()?;
    let names = names(table, &x);
    let mut figure = Figure {
        title: format!("{}: {}", study.name, study.summary),
        panels: Vec::new(),
        keys: Vec::new(),
        notes: Vec::new(),
    };
    let mut intervals = false;
    for name in &plot.y {
        let y = Column::of(table, name)?;
        let found = found(table, (&x, &y), &by, names.as_deref());
        if found.iter().all(|one| one.marks.is_empty()) {
            return Err(ChartError::NoNumbers { name: name.clone() });
        }
        intervals |= found.iter().flat_map(|one| &one.marks).any(|mark| mark.ends.is_some());
        let least = study.objectives.min.contains(name);
        let across = match &names {
            Some(names) => Across::Names(x.heading.words.clone(), names.clone()),
            None => Across::Values(x.label()),
        };
        let panel = panel(&found, across, y.label(), least);
        if panel.series.len() > found.len() {
            let best = if least { "least" } else { "greatest" };
            figure.notes.push(format!("{}: a curve joins the {best} at each place.", y.heading.words));
        }
        if figure.panels.is_empty() {
            figure.keys = keys(&found, &panel, &x);
        } else if !figure.keys.iter().any(|key| key.text == OTHERS) {
            figure.keys.extend(keys(&found, &panel, &x).into_iter().filter(|key| key.text == OTHERS));
        }
        figure.panels.push(panel);
    }
    if intervals {
        let drawn = study.uncertainty.is_some();
        figure.keys.push(Key::new(Sample::Interval, interval(drawn)));
    }
    Ok(figure)
}

/// What a bar spans, as the caption of a plot has it.
const fn interval(drawn: bool) -> &'static str {
    if drawn { "5 to 95 % of the draws of parameters" } else { "least to greatest value of the cost model" }
}

const OTHERS: &str = "outlines: other points of the study, off the curve";

/// The values of a column of names, in the order of the table. None for a column of numbers.
fn names(table: &Table, column: &Column) -> Option<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for row in &table.rows {
        match &row[column.place] {
            Value::Text(name) if !names.contains(name) => names.push(name.clone()),
            _ => {}
        }
    }
    (!names.is_empty()).then_some(names)
}

/// By the values that distinguish curves, in the order in which the table has them.
fn found(table: &Table, (x, y): (&Column, &Column), by: &[Column], names: Option<&[String]>) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    for row in &table.rows {
        let Some(figure) = y.number(row) else { continue };
        let name = by.iter().map(|column| column.told(row)).collect::<Vec<_>>().join(", ");
        let place = all.iter().position(|one| one.name == name).unwrap_or_else(|| {
            all.push(Found { name, ..Found::default() });
            all.len() - 1
        });
        let across = match names {
            Some(names) => names.iter().position(|name| *name == row[x.place].shown()).map(|place| place as f64),
            None => x.number(row),
        };
        match across {
            Some(across) => all[place].marks.push(Point { ends: y.ends(row), ..Point::new(across, figure) }),
            None => all[place].levels.push(figure),
        }
    }
    all
}

/// The curves, and behind them the marks that are on none.
fn panel(found: &[Found], across: Across, up: Label, least: bool) -> Panel {
    let named = matches!(across, Across::Names(..));
    let (mut curves, mut others) = (Vec::new(), Vec::new());
    for (number, Found { name, marks, levels }) in found.iter().enumerate() {
        let (name, style) = (name.clone(), Style::of(number));
        if named {
            let (points, levels) = (marks.clone(), levels.clone());
            curves.push(Series { name, style, points, join: Join::Apart, levels });
            continue;
        }
        let (best, rest) = best(marks, least);
        curves.push(Series { name: name.clone(), style, points: best, join: Join::Line, levels: levels.clone() });
        if !rest.is_empty() {
            let style = style.hollow();
            others.push(Series { name, style, points: rest, join: Join::Apart, levels: Vec::new() });
        }
    }
    // What is off a curve lies below it.
    others.append(&mut curves);
    Panel { title: String::new(), across, up, series: others }
}

/// The least or the greatest figure at each place, and the others, which are not where a curve has a mark.
fn best(marks: &[Point], least: bool) -> (Vec<Point>, Vec<Point>) {
    let mut marks = marks.to_vec();
    let better = |one: f64, other: f64| if least { one.total_cmp(&other) } else { other.total_cmp(&one) };
    marks.sort_by(|one, other| one.x.total_cmp(&other.x).then(better(one.y, other.y)));
    let (mut best, mut rest): (Vec<Point>, Vec<Point>) = (Vec::new(), Vec::new());
    for mark in marks {
        match best.last() {
            Some(last) if last.x == mark.x && last.y == mark.y => {}
            Some(last) if last.x == mark.x => rest.push(mark),
            _ => best.push(mark),
        }
    }
    (best, rest)
}

fn keys(found: &[Found], panel: &Panel, x: &Column) -> Vec<Key> {
    let mut keys = Vec::new();
    let named = matches!(panel.across, Across::Names(..));
    for (number, one) in found.iter().enumerate() {
        let style = Style::of(number);
        let sample = if named { Sample::Mark(style) } else { Sample::Curve(style) };
        let name = if one.name.is_empty() { "points of the study" } else { &one.name };
        if !one.marks.is_empty() {
            keys.push(Key::new(sample, name));
        }
        if !one.levels.is_empty() {
            let text = format!("{name}, where there is no {}", x.heading.words);
            keys.push(Key::new(Sample::Line(super::panel::level(style)), text));
        }
    }
    let hollow = panel.series.iter().find(|one| one.style.hollow);
    keys.extend(hollow.map(|one| Key::new(Sample::Mark(one.style), OTHERS)));
    keys
}

#[cfg(test)]
mod tests {
    use super::super::{drawing::Item, svg};
    use super::*;
    use crate::explore::sweep::Plot;

    fn table() -> Table {
        let columns = ["index", "a", "b", "t_ps", "kind", "b_low", "b_high"].map(str::to_owned).to_vec();
        let row = |a: Option<i64>, b: i64, kind: &str| {
            let a = a.map_or(Value::None, Value::Integer);
            let text = |text: &str| Value::Text(text.to_owned());
            let ends = [Value::Integer(b - 1), Value::Integer(b + 1)];
            let [low, high] = ends;
            vec![Value::Integer(0), a, Value::Integer(b), Value::Integer(b * 1_000_000), text(kind), low, high]
        };
        let rows = vec![
            row(Some(2), 7, "one"),
            row(Some(1), 3, "one"),
            row(Some(1), 5, "one"),
            row(Some(1), 4, "other<"),
            row(None, 6, "other<"),
        ];
        Table { columns, rows }
    }

    fn study(x: &str, y: &str, min: &[&str]) -> StudySpec {
        let mut study: StudySpec =
            toml::from_str("name = \"n\"\nsummary = \"s\"\nmachine = \"m\"\ncopy = \"h2d:1MiB\"").unwrap();
        study.plot = Some(Plot { x: x.into(), y: vec![y.into()], by: vec!["kind".into()] });
        study.objectives.min = min.iter().map(|&name| name.into()).collect();
        study
    }

    fn places(series: &Series) -> Vec<(f64, f64)> {
        series.points.iter().map(|point| (point.x, point.y)).collect()
    }

    #[test]
    fn a_curve_runs_through_the_best_mark_at_each_place_and_a_row_without_one_is_a_level() {
        let figure = of_study(&study("a", "b", &[]), &table()).unwrap();
        let [off, one, other] = &figure.panels[0].series[..] else { panic!("{figure:?}") };
        assert_eq!((one.name.as_str(), places(one)), ("kind: one", vec![(1.0, 5.0), (2.0, 7.0)]));
        assert_eq!((places(off), off.style.hollow, off.join), (vec![(1.0, 3.0)], true, Join::Apart));
        assert_eq!((places(other), &other.levels[..]), (vec![(1.0, 4.0)], &[6.0][..]));
        assert_eq!(one.points[0].ends, Some((4.0, 6.0)));
        let texts: Vec<_> = figure.keys.iter().map(|key| key.text.as_str()).collect();
        assert_eq!(texts[..3], ["kind: one", "kind: other<", "kind: other<, where there is no a"]);
        assert_eq!(texts[3..], [OTHERS, "least to greatest value of the cost model"]);
        let least = of_study(&study("a", "b", &["b"]), &table()).unwrap();
        assert_eq!(places(&least.panels[0].series[1]), [(1.0, 3.0), (2.0, 7.0)]);
    }

    #[test]
    fn names_have_places_of_their_own_and_no_curve() {
        let figure = of_study(&study("kind", "b", &[]), &table()).unwrap();
        let panel = &figure.panels[0];
        assert_eq!(panel.across, Across::Names("kind".into(), vec!["one".into(), "other<".into()]));
        assert!(panel.series.iter().all(|one| one.join == Join::Apart && one.levels.is_empty()));
    }

    #[test]
    fn every_item_is_inside_the_picture() {
        let drawing = of_study(&study("a", "t_ps", &[]), &table()).unwrap().draw();
        for item in &drawing.items {
            let (x, y) = match item {
                Item::Disc(at, ..) => *at,
                Item::Text(text) => text.at,
                Item::Path(..) => continue,
            };
            assert!((0.0..=drawing.width).contains(&x) && (0.0..=drawing.height).contains(&y), "{item:?}");
        }
        let svg = svg::write(&drawing);
        assert!(svg.contains("kind: other&lt;") && !svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn what_cannot_be_plotted_says_why() {
        let error = |study: &StudySpec| of_study(study, &table()).unwrap_err().to_string();
        assert!(error(&study("c", "b", &[])).contains("no column `c`; there are index, a, b"));
        assert!(error(&study("a", "kind", &[])).contains("no numbers"));
        let mut none = study("a", "b", &[]);
        none.plot = None;
        assert!(error(&none).contains("plot = { x"));
    }
}
