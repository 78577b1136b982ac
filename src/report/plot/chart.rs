//! A table's columns against one of them, as SVG that needs no other file: what a study found.
//!
//! Every row is a mark. A curve runs through the best mark at each place, where best is what the study's objectives say. A row without a
//! place is what the curve is held against: a dashed line across.

use super::{
    Axis,
    svg::{rule, text},
    tick,
};
use crate::explore::sweep::{StudySpec, Table, Value};
use std::fmt::Write;
use thiserror::Error;

/// Size of a panel and of the margins around its area. A panel alone is wider.
const ALONE: f64 = 640.0;
const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 48.0;
/// Height of a line of the legend.
const LINE: f64 = 18.0;

/// Colours of curves, told apart by people who do not see red and green apart as well (Okabe and Ito).
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"];

/// Greatest over least value from which on a scale is logarithmic.
const WIDE: f64 = 16.0;

/// How far below the least figure the foot of a logarithmic scale is that stands for nothing.
const FOOT: f64 = 4.0;

/// Why there is no plot.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ChartError {
    /// Nothing is asked for.
    #[error(
        "the study says nothing of a plot: give it plot = {{ x = \"COLUMN\", y = [\"COLUMN\"], by = [\"COLUMN\"] }}"
    )]
    NoPlot,
    /// No such column.
    #[error("plot: no column `{name}`; there are {known}")]
    Unknown {
        /// As asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A column without numbers.
    #[error("plot: column `{name}` holds no numbers")]
    NoNumbers {
        /// Which.
        name: String,
    },
}

/// A plot of one or more columns against one.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What it is of.
    pub title: String,
    /// What stands along all horizontal axes.
    pub x: String,
    /// One for each column, from left to right.
    pub panels: Vec<ChartPanel>,
}

/// One column against the horizontal axis.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartPanel {
    /// What stands along the vertical axis.
    pub y: String,
    /// Curves by the values of the columns that tell them apart.
    pub series: Vec<Series>,
}

/// What has one colour.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What tells it apart.
    pub name: String,
    /// All its marks.
    pub marks: Vec<(f64, f64)>,
    /// The best mark at each place, from left to right.
    pub curve: Vec<(f64, f64)>,
    /// Figures of rows without a place.
    pub levels: Vec<f64>,
}

/// A column with the scale of its figures: picoseconds are shown as microseconds.
struct Column {
    place: usize,
    label: String,
    scale: f64,
}

impl Column {
    fn of(table: &Table, name: &str) -> Result<Self, ChartError> {
        let known = || table.columns.join(", ");
        let unknown = || ChartError::Unknown { name: name.to_owned(), known: known() };
        let place = table.column(name).ok_or_else(unknown)?;
        let (label, scale) = match name.strip_suffix("_ps") {
            Some(stem) => (format!("{stem}_us"), 1e-6),
            None => (name.to_owned(), 1.0),
        };
        Ok(Self { place, label, scale })
    }

    fn number(&self, row: &[Value]) -> Option<f64> {
        row[self.place].number().map(|number| number * self.scale)
    }
}

impl Chart {
    /// The plot that a study asks for, of its table.
    ///
    /// # Errors
    /// If it asks for none, or for columns that are not there or hold no numbers.
    pub fn of(study: &StudySpec, table: &Table) -> Result<Self, ChartError> {
        let plot = study.plot.as_ref().ok_or(ChartError::NoPlot)?;
        let x = Column::of(table, &plot.x)?;
        let by = plot.by.iter().map(|name| Column::of(table, name)).collect::<Result<Vec<_>, _>>()?;
        let mut panels = Vec::new();
        for name in &plot.y {
            let y = Column::of(table, name)?;
            let least = study.objectives.min.contains(name);
            let series = series(table, &x, &y, &by, least);
            if series.iter().all(|one| one.marks.is_empty()) {
                return Err(ChartError::NoNumbers { name: name.clone() });
            }
            panels.push(ChartPanel { y: y.label, series });
        }
        Ok(Self { title: format!("{}: {}", study.name, study.summary), x: x.label, panels })
    }

    /// The plot as SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        let legend = self.panels.first().map_or(0, |panel| panel.series.len());
        let each = if self.panels.len() > 1 { WIDTH } else { ALONE };
        let (width, height) = (each * self.panels.len().max(1) as f64, HEIGHT + LINE * (legend as f64 + 1.0));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        text(&mut svg, LEFT, 16.0, "start", &self.title);
        for (place, panel) in self.panels.iter().enumerate() {
            let _ = writeln!(svg, "<g transform=\"translate({} 0)\">", each * place as f64);
            panel.draw(&mut svg, &self.x, each);
            svg.push_str("</g>\n");
        }
        for (place, series) in self.panels.first().iter().flat_map(|panel| panel.series.iter().enumerate()) {
            let up = HEIGHT + LINE * (place as f64 + 0.5);
            mark(&mut svg, (LEFT, up), size(place, legend), colour(place));
            text(&mut svg, LEFT + 10.0, up + 4.0, "start", &series.name);
        }
        svg.push_str("</svg>\n");
        svg
    }
}

/// The series of a column, in the order in which the table has them.
fn series(table: &Table, x: &Column, y: &Column, by: &[Column], least: bool) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for row in &table.rows {
        let Some(figure) = y.number(row) else { continue };
        let names = by.iter().map(|column| format!("{} {}", column.label, row[column.place].shown()));
        let name = names.collect::<Vec<_>>().join(", ");
        let place = all.iter().position(|one| one.name == name).unwrap_or_else(|| {
            all.push(Series { name, marks: Vec::new(), curve: Vec::new(), levels: Vec::new() });
            all.len() - 1
        });
        match x.number(row) {
            Some(across) => all[place].marks.push((across, figure)),
            None => all[place].levels.push(figure),
        }
    }
    all.iter_mut().for_each(|one| one.curve = best(&one.marks, least));
    all
}

/// The least or the greatest figure at each place.
fn best(marks: &[(f64, f64)], least: bool) -> Vec<(f64, f64)> {
    let mut marks = marks.to_vec();
    let better = |one: f64, other: f64| if least { one.total_cmp(&other) } else { other.total_cmp(&one) };
    marks.sort_by(|one, other| one.0.total_cmp(&other.0).then(better(one.1, other.1)));
    marks.dedup_by(|one, other| one.0 == other.0);
    marks
}

fn colour(place: usize) -> &'static str {
    COLOURS[place % COLOURS.len()]
}

/// Radius of marks: of those at one place, the first drawn is the largest, so that each is seen.
fn size(place: usize, series: usize) -> f64 {
    2.5 + 1.5 * (series - place).min(4) as f64 - 1.5
}

fn mark(svg: &mut String, (x, y): (f64, f64), radius: f64, colour: &str) {
    let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{colour}\"/>");
}

/// A scale over figures: logarithmic over a wide range, with nothing at its foot if there is nothing among them; else from nothing, if it
/// is vertical.
fn scale(values: &[f64], from_nothing: bool) -> Axis {
    let positive = values.iter().copied().filter(|value| *value > 0.0);
    let (low, high) = positive.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    if high >= low * WIDE {
        let low = if values.contains(&0.0) { low / FOOT } else { low };
        return Axis { low, high, logarithmic: true };
    }
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    Axis { low: if from_nothing { least.min(0.0) } else { least }, high: high.max(least), logarithmic: false }
}

/// Round values at which the grid has a line.
pub(super) fn ticks(axis: Axis, label: &str) -> Vec<f64> {
    if axis.logarithmic {
        let base: f64 = if label.ends_with("bytes") { 4.0 } else { 2.0 };
        let powers = (axis.high / axis.low).log(base);
        let base = base.powi((powers / 6.0).ceil().max(1.0) as i32);
        let first = axis.low.log(base).ceil() as i32;
        return (first..first + 12).map(|power| base.powi(power)).filter(|value| *value <= axis.high * 1.001).collect();
    }
    if axis.high <= axis.low {
        return vec![axis.low];
    }
    let rough = (axis.high - axis.low) / 6.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].map(|times| times * power).into_iter().find(|step| *step >= rough).unwrap_or(rough);
    let first = (axis.low / step).ceil();
    (0..12).map(|n| (first + f64::from(n)) * step).filter(|value| *value <= axis.high + step * 0.001).collect()
}

impl ChartPanel {
    fn draw(&self, svg: &mut String, x_label: &str, width: f64) {
        let marks = || self.series.iter().flat_map(|one| one.marks.iter().copied());
        let across: Vec<f64> = marks().map(|mark| mark.0).collect();
        let levels = self.series.iter().flat_map(|one| one.levels.iter().copied());
        let figures: Vec<f64> = marks().map(|mark| mark.1).chain(levels).collect();
        let (x, y) = (scale(&across, false), scale(&figures, true));
        let (right, bottom) = (width - RIGHT, HEIGHT - BOTTOM);
        let at_x = |value: f64| LEFT + x.place(value) * (right - LEFT);
        let at_y = |value: f64| bottom - y.place(value) * (bottom - TOP);
        let kind = |label: &str| if label.ends_with("bytes") { "bytes" } else { "" }.to_owned();
        for value in ticks(x, x_label) {
            rule(svg, at_x(value), TOP, at_x(value), bottom);
            text(svg, at_x(value), bottom + 16.0, "middle", &tick(value, &kind(x_label)));
        }
        let nothing = (y.logarithmic && figures.contains(&0.0)).then_some(0.0);
        let above = |value: &f64| nothing.is_none() || *value > y.low * FOOT * 0.99;
        for value in ticks(y, &self.y).into_iter().filter(above).chain(nothing) {
            rule(svg, LEFT, at_y(value), right, at_y(value));
            text(svg, LEFT - 6.0, at_y(value) + 4.0, "end", &tick(value, &kind(&self.y)));
        }
        text(svg, right, bottom + 34.0, "end", x_label);
        text(svg, LEFT, TOP - 8.0, "start", &self.y);
        for (place, one) in self.series.iter().enumerate() {
            let colour = colour(place);
            for level in &one.levels {
                let up = at_y(*level);
                let _ = writeln!(
                    svg,
                    "<line x1=\"{LEFT:.1}\" y1=\"{up:.1}\" x2=\"{right:.1}\" y2=\"{up:.1}\" stroke=\"{colour}\" \
                     stroke-dasharray=\"5 4\"/>"
                );
            }
            let path: Vec<_> = one.curve.iter().map(|(x, y)| format!("{:.1},{:.1}", at_x(*x), at_y(*y))).collect();
            let _ = writeln!(svg, "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\"/>", path.join(" "));
            one.marks.iter().for_each(|(x, y)| mark(svg, (at_x(*x), at_y(*y)), size(place, self.series.len()), colour));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::sweep::Plot;

    fn table() -> Table {
        let columns = ["index", "a", "b", "t_ps", "kind"].map(str::to_owned).to_vec();
        let row = |a: Option<i64>, b: i64, kind: &str| {
            let a = a.map_or(Value::None, Value::Integer);
            let text = |text: &str| Value::Text(text.to_owned());
            vec![Value::Integer(0), a, Value::Integer(b), Value::Integer(b * 1_000_000), text(kind)]
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

    #[test]
    fn a_curve_runs_through_the_best_mark_at_each_place_and_a_row_without_one_is_a_level() {
        let chart = Chart::of(&study("a", "b", &[]), &table()).unwrap();
        let [one, other] = &chart.panels[0].series[..] else { panic!("{chart:?}") };
        assert_eq!((one.name.as_str(), &one.curve[..]), ("kind one", &[(1.0, 5.0), (2.0, 7.0)][..]));
        assert_eq!((&other.curve[..], &other.levels[..]), (&[(1.0, 4.0)][..], &[6.0][..]));
        let least = Chart::of(&study("a", "b", &["b"]), &table()).unwrap();
        assert_eq!(least.panels[0].series[0].curve, [(1.0, 3.0), (2.0, 7.0)]);
    }

    #[test]
    fn every_row_is_a_mark_inside_the_picture() {
        let svg = Chart::of(&study("a", "t_ps", &[]), &table()).unwrap().svg();
        // Four marks and two of the legend.
        assert_eq!(svg.matches("<circle").count(), 4 + 2);
        assert_eq!((svg.matches("<polyline").count(), svg.matches("stroke-dasharray").count()), (2, 1));
        assert!(svg.contains(">t_us<") && svg.contains("kind other&lt;") && !svg.contains("NaN"), "{svg}");
        for part in svg.split("cy=\"").skip(1) {
            let place: f64 = part.split('"').next().and_then(|text| text.parse().ok()).unwrap();
            assert!((0.0..=HEIGHT + 3.0 * LINE).contains(&place), "{place}");
        }
    }

    #[test]
    fn what_cannot_be_plotted_says_why() {
        let error = |study: &StudySpec| Chart::of(study, &table()).unwrap_err().to_string();
        assert!(error(&study("c", "b", &[])).contains("no column `c`; there are index, a, b"));
        assert!(error(&study("a", "kind", &[])).contains("no numbers"));
        let mut none = study("a", "b", &[]);
        none.plot = None;
        assert!(error(&none).contains("plot = { x"));
    }

    #[test]
    fn grids_have_a_few_round_lines_on_any_scale() {
        for values in [[0.0, 48.7], [823.0, 1288.0], [1.0, 132.0], [1024.0, 1_048_576.0], [5.0, 5.0], [0.0, 0.0]] {
            for vertical in [false, true] {
                let ticks = ticks(scale(&values, vertical), "");
                assert!((1..=8).contains(&ticks.len()), "{values:?}: {ticks:?}");
            }
        }
        assert_eq!(ticks(scale(&[0.0, 48.7], true), ""), [0.0, 10.0, 20.0, 30.0, 40.0]);
        // Nothing has a place of its own below the least figure of a logarithmic scale.
        let axis = scale(&[0.0, 1.0, 100.0], true);
        assert!(axis.logarithmic && axis.place(0.0) == 0.0 && axis.place(1.0) > 0.1);
        assert_eq!(ticks(scale(&[1024.0, 1_048_576.0], false), "x_bytes")[..2], [1024.0, 4096.0]);
    }
}
