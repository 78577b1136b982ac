//! Errors and curves for people.

use super::register::Origin;
use crate::{
    files::excerpt,
    report::plot::{measured::Panel, terminal},
    validate::{
        class::Class,
        score::{DatasetScore, Errors},
        summary::Row,
    },
};
use std::fmt::Write;

/// Each data set: its counts, its errors, its curves.
pub fn text(scores: &[DatasetScore], panels: &[Vec<Panel>], width: usize) -> String {
    let mut text = String::new();
    for (score, panels) in scores.iter().zip(panels) {
        text.push_str(&head(score));
        text.push('\n');
        text.push_str(&terminal::draw(panels, width));
    }
    if panels.iter().any(|panels| !panels.is_empty()) {
        let _ = writeln!(text, "{}\n", terminal::LEGEND);
    }
    text.push_str(&summary(scores));
    text
}

pub fn origins(origins: &[Origin]) -> String {
    let line = |Origin { machine, machine_digest, sealsim }: &Origin| {
        let [machine, digest, sealsim] = [machine, machine_digest, sealsim].map(|text| excerpt(text, 100));
        format!("predicted on {machine}, digest {digest}, by sealsim {sealsim}\n")
    };
    origins.iter().map(line).collect()
}

fn head(score: &DatasetScore) -> String {
    let DatasetScore { name, kind, points, rows_left_out, .. } = score;
    if *points == 0 {
        return format!("{name} ({kind}): no points, {rows_left_out} rows not modelled\n");
    }
    let mut text = format!("{name} ({kind}) on {}: {points} points", score.machines.join(", "));
    for class in Class::ALL {
        let _ = write!(text, ", {} {}", score.of(class).0, class.name());
    }
    if *rows_left_out > 0 {
        let _ = write!(text, ", {rows_left_out} rows not modelled");
    }
    text.push('\n');
    for class in Class::ALL {
        if let Some(errors) = score.of(class).1 {
            let _ = writeln!(
                text,
                "  {}: mean absolute error {:.1} %, bias {:+.1} %, worst {:.1} % at {}",
                class.name(),
                errors.mape_percent,
                errors.bias_percent,
                errors.worst_percent,
                errors.worst_point
            );
        }
    }
    for seen in &score.seen {
        let _ = writeln!(text, "  seen for {}: {} points; {}", seen.parameters.join(", "), seen.points, seen.why);
    }
    text
}

/// One line for each class of points that a data set has.
fn summary(scores: &[DatasetScore]) -> String {
    let width = scores.iter().map(|score| score.name.chars().count()).max().unwrap_or(0).max("data set".len());
    let mut text = format!("{:width$}  class         points    error     bias    worst\n", "data set");
    for score in scores {
        for class in Class::ALL {
            let (points, Some(errors)) = score.of(class) else { continue };
            let points = format!("{points} of {}", score.points);
            let Errors { mape_percent, bias_percent, worst_percent, .. } = errors;
            let _ = writeln!(
                text,
                "{:width$}  {:8}  {points:>10}  {mape_percent:>5.1} %  {bias_percent:>+5.1} %  {worst_percent:>5.1} %",
                score.name,
                class.name(),
            );
        }
    }
    text
}

/// One line for each class of points that a platform has; nothing for a single data set, whose errors are stated already.
pub fn platforms(rows: &[Row], datasets: usize) -> String {
    if datasets < 2 {
        return String::new();
    }
    let width = rows.iter().map(|row| row.title.chars().count()).max().unwrap_or(0).max("platform".len());
    let mut text = format!("\n{:width$}  class     points    error    worst\n", "platform");
    for Row { title, class, points, errors, .. } in rows {
        let Errors { mape_percent, worst_percent, worst_point, .. } = errors;
        let class = class.name();
        let _ = writeln!(
            text,
            "{title:width$}  {class:8}  {points:>6}  {mape_percent:>5.1} %  {worst_percent:>5.1} % at {worst_point}"
        );
    }
    text
}
