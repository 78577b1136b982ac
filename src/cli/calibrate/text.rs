//! A stage for people.

use super::{ParameterOutcome, StageOutcome};
use crate::report::table::Table;
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
    let mut table = Table::new(&["parameter", "before", "after", "range", "how well determined"], &[0, 1, 2, 3, 4]);
    for one in &stage.parameters {
        let range = format!("{} to {}", one.low, one.high);
        table.row([one.path.clone(), one.before.clone(), one.after.clone(), range, judged(one)]);
    }
    table.push_to(&mut text, usize::MAX);
    text.push('\n');
    let mut table = Table::new(&["point", "measured", "simulated", "error"], &[0, 1, 2, 3]);
    for point in &stage.points {
        let [measured, simulated] = [point.measured, point.simulated].map(|value| format!("{value:.4} {}", point.unit));
        table.row([point.label.clone(), measured, simulated, format!("{:+.2} %", point.error_percent)]);
    }
    table.push_to(&mut text, usize::MAX);
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
