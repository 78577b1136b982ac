//! Plots of what was measured.

use crate::{
    Measured, ROUNDS,
    question::{Question, Series},
    ratio,
};
use sealsim::{
    files::write_whole,
    report::plot::{
        figure::{Across, Figure, Join, Label, Panel, Point, Series as Curve},
        legend::{Key, Sample},
        mark::Style,
        svg,
    },
};
use std::{io, path::Path};

/// Draws a question into a folder.
pub fn write(folder: &Path, question: &Question, all: &[Vec<Measured>]) -> io::Result<()> {
    let panels = vec![
        panel(question, all, question.up, |series, point| ratio(question, all, series, point)),
        panel(question, all, "Peak memory (MB)", |_, point| point.megabytes),
    ];
    let keys =
        question.series.iter().zip(0..).map(|(series, place)| Key::new(Sample::Curve(Style::of(place)), series.name));
    let notes = vec![format!(
        "Medians of {ROUNDS} interleaved rounds, a process for each point. Flat: time grows as work does."
    )];
    let figure = Figure { title: question.title.to_owned(), panels, keys: keys.collect(), notes };
    write_whole(&folder.join(format!("growth-{}.svg", question.name)), svg::write(&figure.draw()).as_bytes())
}

fn panel(question: &Question, all: &[Vec<Measured>], up: &str, value: impl Fn(&Series, &Measured) -> f64) -> Panel {
    let curve = |((series, points), place): ((&Series, &Vec<Measured>), usize)| Curve {
        name: series.name.to_owned(),
        style: Style::of(place),
        points: points.iter().map(|point| Point::new(point.x as f64, value(series, point))).collect(),
        join: Join::Line,
        levels: Vec::new(),
    };
    let series = question.series.iter().zip(all).zip(0..).map(curve).collect();
    let across = Across::Values(Label::new(question.across));
    Panel { title: String::new(), across, up: Label::new(up), series }
}
