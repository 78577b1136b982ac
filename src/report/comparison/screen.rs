//! The first screen of a comparison: one table, the fastest first, and what is as fast as the machine or slower in a line each.

use super::{digits, number, three};
use crate::{
    explore::{Comparison, Design, Work},
    figures::{
        Figure, Row, Value,
        table::{BUSIEST, EXPOSURE, OVER_BASELINE, OVER_OFF, RATE, TIME},
    },
    report::{
        layout::{part, screen},
        replay::cut,
        table::Table,
        text::time,
    },
    system::Direction,
    units::Bytes,
    workload::{direction_name, memory_name},
};
use std::fmt::Write;

/// Rows that are all shown, and most that are.
const FEW: usize = 12;
const MOST: usize = 16;
/// What differs by less is the same.
const SAME: f64 = 0.01;
/// Characters of a name and of a unit.
const NAME: usize = 18;
const UNIT: usize = 14;

struct Line<'d> {
    design: &'d Design,
    row: &'d Row,
    /// Times as fast as the machine as it is.
    x: Option<f64>,
    other: Option<&'d Row>,
}

/// The comparison in at most thirty lines.
pub(super) fn text(comparison: &Comparison, width: usize) -> String {
    let (mut text, ways) = head(comparison);
    let row = |design: &'_ Design| find_row(design, &ways, 0).cloned();
    let machine = comparison.designs.iter().find(|design| design.name == "h100-cc").and_then(row);
    let x = |row: &Row| machine.as_ref().and_then(|machine| ratio(machine.number(&TIME), row.number(&TIME)));
    let line = |design| {
        let row = find_row(design, &ways, 0)?;
        Some(Line { design, row, x: x(row), other: find_row(design, &ways, 1) })
    };
    let mut lines: Vec<Line<'_>> = comparison.designs.iter().filter_map(line).collect();
    lines.sort_by(|one, other| other.x.unwrap_or(0.0).total_cmp(&one.x.unwrap_or(0.0)));
    let folds = lines.len() > FEW;
    let is_apart = |line: &Line<'_>| !folds || line.design.name == "h100-cc" || line.x.is_none_or(|x| x >= 1.0 + SAME);
    let (shown, folded): (Vec<_>, Vec<_>) = lines.into_iter().partition(is_apart);
    table(&shown, &ways, comparison.uncertainty.is_some()).push_to(&mut text, width);
    if let Some(more) = shown.len().checked_sub(MOST).filter(|more| *more > 0) {
        let _ = writeln!(text, "  and {more} more designs that are faster than h100-cc (--all)");
    }
    text.push('\n');
    let (same, slower): (Vec<_>, Vec<_>) = folded.into_iter().partition(|line| line.x.is_some_and(|x| x > 1.0 - SAME));
    let unverified = |row: &Row| row.number(&EXPOSURE).unwrap_or(0.0);
    let named = |line: &Line<'_>| {
        let (own, today) = (unverified(line.row), machine.as_ref().map_or(0.0, unverified));
        let differs = (own - today).abs() > SAME * today.max(1.0);
        let note = if differs { format!(" (unverified {})", time(own as u64)) } else { String::new() };
        line.design.name.clone() + &note
    };
    listed(&mut text, "Within 1 % of h100-cc", same.iter().map(named));
    let lost = |line: &Line<'_>| format!("{} {}", line.design.name, number(&line.x.into(), digits));
    listed(&mut text, "Slower, x today", slower.iter().map(lost));
    let resealed = shown.iter().chain(&slower).filter(|line| line.design.baseline == Some("h100-cc-resealed"));
    let gains = resealed.map(|line| format!("{} {}", line.design.name, three(line.row.get(&OVER_BASELINE))));
    listed(&mut text, "The user seals for the GPU, so against h100-cc-resealed", gains);
    if !comparison.skipped.is_empty() {
        let _ = writeln!(text, "{} designs are not possible on this machine (--all)", comparison.skipped.len());
    }
    if !comparison.cautions.is_empty() {
        text += "Errors are large or not known for a part of this (--all, docs/accuracy.md)\n";
    }
    screen(&text, "--all: other sizes, forgery, energy, keys   --report FILE: a page   --plot FILE", width)
}

fn ratio(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    Some(one? / other.filter(|other| *other > 0.0)?)
}

fn listed(text: &mut String, what: &str, names: impl Iterator<Item = String>) {
    let names: Vec<_> = names.collect();
    if !names.is_empty() {
        let _ = writeln!(text, "{what}: {}", names.join(", "));
    }
}

/// What is compared, and by direction the longest copy.
fn head(comparison: &Comparison) -> (String, Vec<(Direction, u64)>) {
    let (machine, count) = (&comparison.machine, comparison.designs.len());
    match &comparison.work {
        Work::Workload { workload, .. } => {
            (format!("{workload} on {machine}: {count} designs; today's path is h100-cc\n\n"), Vec::new())
        }
        Work::Copies { host_memory, copies, .. } => {
            let longest = |direction| {
                let of = copies.iter().filter(|copy| copy.direction == direction).map(|copy| copy.bytes);
                Some((direction, of.max()?))
            };
            let ways: Vec<_> = [Direction::H2d, Direction::D2h].into_iter().filter_map(longest).collect();
            let sizes = ways.iter().map(|(way, bytes)| format!("{} {}", direction_name(*way), Bytes(*bytes)));
            let (sizes, memory) = (sizes.collect::<Vec<_>>().join(", "), memory_name(*host_memory));
            (format!("{machine}, {memory}, {sizes}: {count} designs; today's path is h100-cc\n\n"), ways)
        }
    }
}

/// The row of a design for the first or second direction, or for its workload.
fn find_row<'d>(design: &'d Design, ways: &[(Direction, u64)], place: usize) -> Option<&'d Row> {
    match ways.get(place) {
        Some(&(direction, bytes)) => design.row(direction, bytes),
        None => design.rows().first().filter(|_| ways.is_empty() && place == 0),
    }
}

fn table(lines: &[Line<'_>], ways: &[(Direction, u64)], draws: bool) -> Table {
    let (figure, shown): (&Figure, fn(&Value) -> String) =
        if ways.is_empty() { (&TIME, picos) } else { (&RATE, three) };
    let name = |place: usize| ways.get(place).map_or("end", |(way, _)| direction_name(*way));
    let heads = ["design", name(0), "x today", if ways.is_empty() { "x off" } else { name(1) }];
    let mut head = heads.to_vec();
    head.extend(draws.then_some("5 to 95 %"));
    head.extend(["unverified", "kGE", "busiest"]);
    let mut table = Table::new(&head, &[0, head.len() - 1]);
    for Line { design, row, x, other } in lines.iter().take(MOST) {
        let second = match ways.is_empty() {
            true => three(row.get(&OVER_OFF)),
            false => other.map_or_else(|| "-".to_owned(), |row| three(row.get(&RATE))),
        };
        let mut cells = vec![cut(&design.name, NAME), shown(row.get(figure)), number(&(*x).into(), digits), second];
        let interval = row.interval_90.get(figure.name).map(|ends| ends.map(|end| shown(&end.into())).join(".."));
        cells.extend(draws.then(|| interval.unwrap_or_else(|| "-".to_owned())));
        let area = design.cost.area_total().map(|area| area.middle());
        let limit = row.limited_by_parts.as_ref().and_then(|limit| limit.best.first());
        let busiest = row.busiest_parts.as_ref().map(|busiest| part(&busiest.unit).to_owned());
        let busiest = limit.map(|limit| limit.parameter.clone()).or(busiest);
        cells.extend([
            picos(row.get(&EXPOSURE)),
            number(&area.filter(|area| *area > 0.0).into(), |area| format!("{area:.0}")),
            cut(&busiest.unwrap_or_else(|| row.get(&BUSIEST).shown()), UNIT),
        ]);
        table.row(cells);
    }
    table
}

/// A time; where there is none of it, a dash.
fn picos(value: &Value) -> String {
    value.number().filter(|picos| *picos > 0.0).map_or_else(|| "-".to_owned(), |picos| time(picos as u64))
}
