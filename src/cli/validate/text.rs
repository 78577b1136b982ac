//! Errors and curves for people.

use crate::{
    report::plot::{Panel, terminal},
    validate::score::{DatasetScore, Errors},
};
use std::fmt::Write;

/// Each data set: its counts, its errors, its curves.
pub fn text(scores: &[DatasetScore], panels: &[Vec<Panel>]) -> String {
    let mut text = String::new();
    for (score, panels) in scores.iter().zip(panels) {
        text.push_str(&head(score));
        text.push('\n');
        text.push_str(&terminal::draw(panels));
    }
    if panels.iter().any(|panels| !panels.is_empty()) {
        let _ = writeln!(text, "{}\n", terminal::LEGEND);
    }
    text.push_str(&summary(scores));
    text
}

fn head(score: &DatasetScore) -> String {
    let DatasetScore { name, kind, points, points_used_to_fit, points_held_out, rows_left_out, .. } = score;
    if *points == 0 {
        return format!("{name} ({kind}): no points, {rows_left_out} rows not modelled\n");
    }
    let mut text = format!(
        "{name} ({kind}) on {}: {points} points, {points_used_to_fit} used to fit, {points_held_out} held out",
        score.machines.join(", ")
    );
    if *rows_left_out > 0 {
        let _ = write!(text, ", {rows_left_out} rows not modelled");
    }
    text.push('\n');
    let held_out = score.worst_point.as_ref().and_then(|point| {
        Some(Errors {
            mape_percent: score.mape_percent?,
            bias_percent: score.bias_percent?,
            worst_percent: score.worst_percent?,
            worst_point: point.clone(),
        })
    });
    for (what, errors) in [("held out", held_out.as_ref()), ("fitted to", score.fit.as_ref())] {
        if let Some(errors) = errors {
            let _ = writeln!(
                text,
                "  {what}: mean absolute error {:.1} %, bias {:+.1} %, worst {:.1} % at {}",
                errors.mape_percent, errors.bias_percent, errors.worst_percent, errors.worst_point
            );
        }
    }
    text
}

/// One line for each data set.
fn summary(scores: &[DatasetScore]) -> String {
    let width = scores.iter().map(|score| score.name.chars().count()).max().unwrap_or(0).max("data set".len());
    let mut text = format!("{:width$}  held out   error    bias   worst\n", "data set");
    let percent = |value: Option<f64>, sign: bool| match value {
        Some(value) if sign => format!("{value:+.1} %"),
        Some(value) => format!("{value:.1} %"),
        None => "-".into(),
    };
    for score in scores {
        let held_out = format!("{} of {}", score.points_held_out, score.points);
        let [error, bias, worst] = [
            percent(score.mape_percent, false),
            percent(score.bias_percent, true),
            percent(score.worst_percent, false),
        ];
        let _ = writeln!(text, "{:width$}  {held_out:>10}  {error:>7}  {bias:>7}  {worst:>7}", score.name);
    }
    text
}
