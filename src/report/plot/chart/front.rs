//! A front among all points of a sweep.

use super::{ChartError, Column, interval};
use crate::{
    explore::sweep::{Front, ON_FRONT, Table},
    report::plot::{
        figure::{Across, Figure, Join, Label, Panel, Point, Series},
        legend::{Key, Sample},
        mark::Style,
    },
};
use std::collections::HashSet;

const ON: Style = Style::of(0);
const OFF: Style = Style::of(4).hollow();
const KNEE: Style = Style::of(1);

/// The points of a table with its front: each further objective against the first, or one alone against the points' numbers.
///
/// With two objectives the front is joined by steps, which bound what is reached; with more it is not joined, since then its points on two
/// axes do not bound anything.
pub fn of_front(
    name: &str,
    table: &Table,
    front: &Front,
    (min, max): (&[String], &[String]),
) -> Result<Figure, ChartError> {
    let objectives: Vec<&String> = min.iter().chain(max).collect();
    let (first, others) = objectives.split_first().ok_or(ChartError::NoPlot)?;
    let number = "index".to_owned();
    let (x, ys) = if others.is_empty() { (&number, vec![*first]) } else { (*first, others.to_vec()) };
    let across = Column::of(table, x)?;
    let mut figure = Figure {
        title: format!("{name}: {} of {} points are on the front", front.rows.len(), front.compared),
        panels: Vec::new(),
        keys: vec![Key::new(Sample::Mark(OFF), "other points")],
        notes: vec![format!("Small is better: {}. Large is better: {}.", told(min), told(max))],
    };
    let joined = objectives.len() == 2;
    for y in &ys {
        let up = Column::of(table, y)?;
        figure.panels.push(panel(table, front, (&across, &up), (joined, min.contains(x))));
    }
    figure.keys.insert(0, Key::new(Sample::Mark(ON), "the front"));
    if front.knee.is_some() {
        figure.keys.insert(1, Key::new(Sample::Mark(KNEE), "its knee"));
    }
    if joined {
        figure.keys.push(Key::new(Sample::Line(ON.line()), "what the front bounds"));
    }
    if figure
        .panels
        .iter()
        .flat_map(|panel| &panel.series)
        .flat_map(|one| &one.points)
        .any(|point| point.ends.is_some())
    {
        figure.keys.push(Key::new(Sample::Interval, interval(table.column(ON_FRONT).is_some())));
    }
    if objectives.len() > 2 {
        figure.notes.push(format!("The front is one of {} objectives together.", objectives.len()));
    }
    Ok(figure)
}

fn told(names: &[String]) -> String {
    let words: Vec<_> =
        names.iter().map(|name| crate::explore::sweep::Heading::of(name).words.to_lowercase()).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

fn panel(table: &Table, front: &Front, (x, y): (&Column, &Column), (joined, x_small): (bool, bool)) -> Panel {
    let point = |row: usize| {
        let row = &table.rows[row];
        Some(Point { ends: y.ends(row), ..Point::new(x.number(row)?, y.number(row)?) })
    };
    let known: HashSet<usize> = front.rows.iter().copied().collect();
    let rest = (0..table.rows.len()).filter(|row| !known.contains(row)).filter_map(point);
    // Intervals of all points of a sweep would cover it.
    let rest = rest.map(|point| Point { ends: None, ..point }).collect();
    let mut on: Vec<Point> = front.rows.iter().copied().filter_map(point).collect();
    on.sort_by(|one, other| if x_small { one.x.total_cmp(&other.x) } else { other.x.total_cmp(&one.x) });
    let knee: Vec<Point> = front.knee.into_iter().filter_map(point).collect();
    let bound = if joined { on.clone() } else { Vec::new() };
    on.retain(|point| !knee.iter().any(|knee| knee.x == point.x && knee.y == point.y));
    let series = |name: &str, style: Style, points: Vec<Point>, join: Join| Series {
        name: name.to_owned(),
        style,
        points,
        join,
        levels: Vec::new(),
    };
    let series = vec![
        series("other points", OFF, rest, Join::Apart),
        series("what the front bounds", ON, bound, Join::Steps),
        series("the front", ON, on, Join::Apart),
        series("the knee", KNEE, knee, Join::Apart),
    ];
    let across = Across::Values(Label::new(&x.heading.label()));
    Panel { title: String::new(), across, up: y.label(), series }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{explore::sweep::front, figures::Value};

    fn table() -> Table {
        let columns = ["index", "area_kge", "gb_per_s", "messages"].map(str::to_owned).to_vec();
        let rows = [(1, 10, 5), (2, 30, 5), (4, 40, 5), (3, 20, 5), (4, 39, 9)];
        let row = |(place, (area, rate, messages)): (usize, &(i64, i64, i64))| {
            [place as i64, *area, *rate, *messages].map(Value::Integer).to_vec()
        };
        Table { columns, rows: rows.iter().enumerate().map(row).collect() }
    }

    fn figure(min: &[&str], max: &[&str]) -> Figure {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let (table, min, max) = (table(), owned(min), owned(max));
        of_front("s", &table, &front(&table, &min, &max).unwrap(), (&min, &max)).unwrap()
    }

    #[test]
    fn a_front_of_two_objectives_is_joined_by_steps_and_all_points_are_there() {
        let figure = figure(&["area_kge"], &["gb_per_s"]);
        let [rest, bound, on, knee] = &figure.panels[0].series[..] else { panic!("{figure:?}") };
        assert_eq!((rest.points.len(), on.points.len(), knee.points.len()), (2, 2, 1));
        assert_eq!((rest.join, bound.join, on.join), (Join::Apart, Join::Steps, Join::Apart));
        assert!(bound.points.windows(2).all(|pair| pair[0].x < pair[1].x && pair[0].y < pair[1].y));
        assert_eq!(figure.panels[0].up.text, "Rate (GB/s)");
    }

    #[test]
    fn a_front_of_more_objectives_has_a_panel_for_each_and_is_not_joined() {
        let figure = figure(&["area_kge"], &["gb_per_s", "messages"]);
        assert_eq!(figure.panels.len(), 2);
        assert!(
            figure
                .panels
                .iter()
                .flat_map(|panel| &panel.series)
                .filter(|one| !one.points.is_empty())
                .all(|one| one.join == Join::Apart)
        );
        assert!(figure.notes.iter().any(|note| note.contains("3 objectives")));
    }

    #[test]
    fn one_objective_stands_against_the_number_of_the_point() {
        let Across::Values(label) = &figure(&[], &["gb_per_s"]).panels[0].across.clone() else { panic!("names") };
        assert_eq!(label.text, "Number of the point");
    }
}
