//! Between what figures lie when parameters are drawn, and how often one design is faster than another.

use super::{Shown, Way, digits, number, picos, section, three};
use crate::{
    explore::{Comparison, Design, Pair, Residual, Uncertainty},
    figures::{
        Row, Value,
        table::{AREA_TOTAL, EXPOSURE, OVER_BASELINE, OVER_OFF, RATE, TIME},
    },
    report::table::Table,
    units::Bytes,
    workload::direction_name,
};

/// Designs that a table of pairs has a column each for.
const MOST_COLUMNS: usize = 12;

fn micros(value: &Value) -> String {
    number(value, |picos| digits(picos * 1e-6))
}

const COPY: [Shown; 4] = [
    ("GB/s", &RATE, three),
    ("x baseline", &OVER_BASELINE, three),
    ("exposure us", &EXPOSURE, micros),
    ("area kGE", &AREA_TOTAL, three),
];

const WORKLOAD: [Shown; 4] = [
    ("end", &TIME, picos),
    ("x off", &OVER_OFF, three),
    ("exposure", &EXPOSURE, picos),
    ("area kGE", &AREA_TOTAL, three),
];

/// Of the longest copies of a direction.
pub(super) fn of_copies(text: &mut String, way: &Way<'_>, bytes: u64) {
    let Some(uncertainty) = &way.comparison.uncertainty else { return };
    let direction = direction_name(way.direction);
    section(text, &format!("{direction} of {}: {}", Bytes(bytes), heading(uncertainty)));
    let rows = of_each(way.comparison, |design| design.row(way.direction, bytes));
    intervals(&rows, &COPY).push_to(text, way.width);
    text.push_str(&Residual::sentence(&uncertainty.residuals));
    let is_it = |pair: &&Pair| pair.direction == Some(direction) && pair.bytes == Some(bytes);
    let pairs: Vec<_> = uncertainty.pairs.iter().filter(is_it).collect();
    faster(text, (&rows, &pairs), way.width);
}

pub(super) fn of_workload(text: &mut String, (comparison, width): (&Comparison, usize)) {
    let Some(uncertainty) = &comparison.uncertainty else { return };
    section(text, &heading(uncertainty));
    let rows = of_each(comparison, |design| design.rows().first());
    intervals(&rows, &WORKLOAD).push_to(text, width);
    faster(text, (&rows, &uncertainty.pairs.iter().collect::<Vec<_>>()), width);
}

fn of_each(comparison: &Comparison, row: impl Fn(&Design) -> Option<&Row>) -> Vec<(&str, &Row)> {
    comparison.designs.iter().filter_map(|design| Some((&*design.name, row(design)?))).collect()
}

fn heading(uncertainty: &Uncertainty) -> String {
    let Uncertainty { draws, refused, varied, moved_per_draw, .. } = uncertainty;
    let refused = if *refused == 0 { String::new() } else { format!("; {refused} more gave no answer") };
    format!("5 to 95 % of {draws} draws of {varied} parameters ({moved_per_draw:.1} moved per draw{refused})")
}

fn intervals(rows: &[(&str, &Row)], shown: &[Shown]) -> Table {
    let head: Vec<_> = ["design"].into_iter().chain(shown.iter().map(|(head, ..)| *head)).collect();
    let mut table = Table::new(&head, &[0]);
    for (name, row) in rows {
        let cell = |(_, figure, text): &Shown| match row.interval_90.get(figure.name) {
            Some([low, high]) if low < high => format!("{}..{}", text(&(*low).into()), text(&(*high).into())),
            Some([low, _]) => text(&(*low).into()),
            None => "-".to_owned(),
        };
        table.row([(*name).to_owned()].into_iter().chain(shown.iter().map(cell)));
    }
    table
}

/// In what part of the draws the design of a row is faster than that of a column.
fn faster(text: &mut String, (rows, pairs): (&[(&str, &Row)], &[&Pair]), width: usize) {
    if !(2..=MOST_COLUMNS).contains(&rows.len()) {
        return;
    }
    section(text, "in what part of the draws a design is faster than that of a column");
    let numbers: Vec<_> = (1..=rows.len()).map(|number| format!("[{number}]")).collect();
    let head: Vec<_> = ["design"].into_iter().chain(numbers.iter().map(String::as_str)).collect();
    let mut table = Table::new(&head, &[0]);
    for ((own, _), number) in rows.iter().zip(&numbers) {
        let cell = |(other, _): &(&str, &Row)| {
            let both = pairs.iter().find_map(|pair| match (pair.design.as_str(), pair.other.as_str()) {
                (design, against) if (design, against) == (own, other) => Some(pair.faster),
                (design, against) if (design, against) == (other, own) => Some(pair.slower),
                _ => None,
            });
            both.map_or_else(|| "-".to_owned(), |part| format!("{:.0} %", part * 100.0))
        };
        table.row([format!("{number} {own}")].into_iter().chain(rows.iter().map(cell)));
    }
    table.push_to(text, width);
}
