//! A stage for people.

use super::{ParameterOutcome, StageOutcome};
use std::fmt::Write;

/// Its errors before and after, its parameters, its points.
pub fn text(stage: &StageOutcome) -> String {
    let mut text =
        format!("stage {}: {} parameters, {} points\n", stage.name, stage.parameters.len(), stage.points.len());
    for (when, errors) in [("before", &stage.before), ("after", &stage.after)] {
        if let Some(errors) = errors {
            let _ = writeln!(
                text,
                "  {when}: mean absolute error {:.2} %, worst {:.2} % at {}",
                errors.mape_percent, errors.worst_percent, errors.worst_point
            );
        }
    }
    text.push('\n');
    let rows = stage.parameters.iter().map(|one| {
        let range = format!("{} to {}", one.low, one.high);
        [one.path.clone(), one.before.clone(), one.after.clone(), range, judged(one)]
    });
    let head = ["parameter", "before", "after", "range", "how well determined"].map(str::to_owned);
    text.push_str(&aligned(std::iter::once(head).chain(rows).collect()));
    text.push('\n');
    let rows = stage.points.iter().map(|point| {
        let figure = |value: f64| format!("{value:.4} {}", point.unit);
        [point.label.clone(), figure(point.measured), figure(point.simulated), format!("{:+.2} %", point.error_percent)]
    });
    let head = ["point", "measured", "simulated", "error"].map(str::to_owned);
    text.push_str(&aligned(std::iter::once(head).chain(rows).collect()));
    text.push('\n');
    text
}

fn judged(one: &ParameterOutcome) -> String {
    let with = one.strongest_with.as_deref().zip(one.strongest_correlation);
    let mut text = match (one.determined, with) {
        ("known", _) => format!("standard error {}", error(one)),
        ("together", Some((with, much))) => format!("not apart from {with} (correlation {much:.3})"),
        ("exact", _) => "as many parameters as points: no error can be stated".into(),
        _ => "not determined by these points".into(),
    };
    if one.at_bound && one.determined != "not" {
        text.push_str(", at its bound");
    }
    if let (true, Some((with, much))) = (one.determined == "known", with) {
        let _ = write!(text, "; correlation {much:+.2} with {with}");
    }
    text
}

/// In the base unit of the value, in percent of it where that says more.
fn error(one: &ParameterOutcome) -> String {
    let error = one.standard_error.unwrap_or(0.0);
    match one.after.split_once(' ') {
        Some((_, unit)) if unit.starts_with("cycle") => format!("{error:.1} cycles"),
        Some((number, unit)) => {
            let shown: f64 = number.parse().unwrap_or(0.0);
            let base = base(unit);
            format!("{:.2} %", 100.0 * error / (shown * base).max(f64::MIN_POSITIVE))
        }
        None => format!("{error:.2}"),
    }
}

fn base(unit: &str) -> f64 {
    let scales = crate::units::KINDS.iter().flat_map(|known| known.1.scales);
    scales.filter(|scale| scale.unit == unit).map(|scale| scale.factor as f64).next().unwrap_or(1.0)
}

/// Columns to the width of their longest cell.
fn aligned<const N: usize>(rows: Vec<[String; N]>) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<_> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let cells: Vec<_> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
        format!("  {}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}
