//! Designs side by side, for people and for spreadsheets.

mod costs;
mod screen;
mod uncertain;
mod workload;

use super::{
    SCHEMA_VERSION,
    layout::{digits, fitted},
    table::Table,
    text::time,
};
use crate::{
    explore::{Comparison, Design, Work},
    figures::{
        Figure, Value,
        table::{BUSIEST, EXPOSURE, FIRST_VERIFIED, OF_OFF, OVER_BASELINE, QUARANTINE, RATE, TAGS},
    },
    sampling::Told,
    system::{Direction, Memory},
    units::Bytes,
    workload::{Copy, direction_name, memory_name},
};
use serde::Serialize;
use std::fmt::Write;

/// A comparison with the version of its form.
#[derive(Debug, Serialize)]
pub struct Document<'c> {
    schema_version: u32,
    #[serde(flatten)]
    comparison: &'c Comparison,
}

impl<'c> Document<'c> {
    pub const fn of(comparison: &'c Comparison) -> Self {
        Self { schema_version: SCHEMA_VERSION, comparison }
    }
}

/// The comparison in at most `width` columns: a first screen, or all tables.
pub fn text(comparison: &Comparison, width: usize, all: bool) -> String {
    if !all {
        return screen::text(comparison, width);
    }
    let (mut text, after) = match &comparison.work {
        Work::Copies { host_memory, copies, .. } => {
            (copies_text(comparison, (*host_memory, copies), width), COPIES_AFTER)
        }
        Work::Workload { .. } => (workload::text(comparison, width), workload::AFTER),
    };
    for skipped in &comparison.skipped {
        let _ = writeln!(text, "\nnot compared: {}: {}", skipped.name, skipped.reason);
    }
    let cautions = &comparison.cautions;
    if !cautions.is_empty() {
        let _ = writeln!(text, "\nErrors are large or not known (docs/accuracy.md) for:\n  {}", cautions.join("\n  "));
    }
    text.push_str(after);
    fitted(&text, width)
}

const COPIES_AFTER: &str = "
A design in which the user seals has the baseline h100-cc-resealed, any other h100-cc. First verified: from the call until the \
first message is where it belongs and has its verdict. Exposure: longest time that unverified plaintext is visible. --format \
json and csv say all of this for each size.\n";

/// Rates, gains, and what limits the longest copies.
fn copies_text(comparison: &Comparison, (host_memory, copies): (Memory, &[Copy]), width: usize) -> String {
    let memory = memory_name(host_memory);
    let mut text = format!("{}: designs one by one, each copy alone, host memory {memory}\n", comparison.machine);
    sampled(&mut text, comparison.designs.iter().flat_map(Design::sampled));
    for direction in [Direction::H2d, Direction::D2h] {
        let sizes = copies.iter().filter(|copy| copy.direction == direction).map(|copy| copy.bytes).collect();
        Way { direction, sizes, comparison, width }.text(&mut text);
    }
    costs::costs(&mut text, (comparison, width));
    text
}

/// Says how much of what was to be sampled was simulated, and how far off its times may be.
fn sampled<'t>(text: &mut String, all: impl Iterator<Item = &'t Told> + Clone) {
    if all.clone().next().is_none() {
        return;
    }
    let parts = all.clone().filter(|told| !told.is_all());
    let most = parts.clone().map(Told::part).fold(0.0, f64::max) * 100.0;
    let (count, of) = (parts.count(), all.count());
    let _ = writeln!(
        text,
        "sampled: {count} of {of} figures of time are estimates, within {most:.3} % (95 % sure); --format json and csv have the intervals"
    );
}

struct Way<'c> {
    direction: Direction,
    /// In the order in which they were asked for.
    sizes: Vec<u64>,
    comparison: &'c Comparison,
    width: usize,
}

/// A column of a table for people: its head, and how it shows a figure.
type Shown = (&'static str, &'static Figure, fn(&Value) -> String);

/// Of the longest copies: what happens to their messages.
const DETAILS: [Shown; 4] = [
    ("first verified", &FIRST_VERIFIED, micros),
    ("exposure", &EXPOSURE, micros),
    ("quarantine", &QUARANTINE, size),
    ("tags", &TAGS, plain),
];

impl Way<'_> {
    fn text(&self, text: &mut String) {
        let Some(longest) = self.sizes.iter().copied().max() else { return };
        let (way, size) = (direction_name(self.direction), Bytes(longest));
        section(text, &format!("{way}: GB/s from the call to the copy's end (GB = 10^9 bytes)"));
        self.grid(text, &RATE, three);
        section(text, &format!("{way}: times as fast as the baseline"));
        self.grid(text, &OVER_BASELINE, three);
        section(text, &format!("{way}: part of the rate without confidential computing"));
        self.grid(text, &OF_OFF, |part| number(part, |part| format!("{} %", digits(part * 100.0))));
        section(text, &format!("{way} of {size}: times in us"));
        self.rows(text, longest, &DETAILS, true);
        section(text, &format!("{way} of {size}: exposure, forgery bounds, life of keys"));
        self.rows(text, longest, &costs::RISKS, false);
        text.push_str(costs::FORGERY);
        section(text, &format!("{way} of {size}: energy on GPU and link in uJ, middle of its range"));
        self.rows(text, longest, &costs::ENERGIES, false);
        uncertain::of_copies(text, self, longest);
    }

    /// A row for each design, a column for each size; before gains, one for the baseline.
    fn grid(&self, text: &mut String, figure: &Figure, shown: fn(&Value) -> String) {
        let names: Vec<_> = self.sizes.iter().map(|size| Bytes(*size).to_string()).collect();
        let baseline = (figure.name == OVER_BASELINE.name).then_some("baseline");
        let head = ["design"].into_iter().chain(baseline).chain(names.iter().map(String::as_str));
        let left: &[usize] = if baseline.is_some() { &[0, 1] } else { &[0] };
        let mut table = Table::new(&head.collect::<Vec<_>>(), left);
        for design in &self.comparison.designs {
            let cell =
                |size: &u64| shown(design.row(self.direction, *size).map_or(&Value::None, |row| row.get(figure)));
            let baseline = baseline.map(|_| design.baseline.unwrap_or("-").to_owned());
            table.row([design.name.clone()].into_iter().chain(baseline).chain(self.sizes.iter().map(cell)));
        }
        table.push_to(text, self.width);
    }

    /// A row for each design, a column for each figure, and if wanted what limits it, or who is busiest.
    fn rows(&self, text: &mut String, bytes: u64, shown: &[Shown], limited: bool) {
        let measured = self.comparison.designs.iter().flat_map(Design::rows).any(|row| row.limited_by_parts.is_some());
        let limit = limited.then_some(if measured { "limited by" } else { "busiest" });
        let head: Vec<_> = ["design"].into_iter().chain(shown.iter().map(|(head, ..)| *head)).chain(limit).collect();
        let left: &[usize] = if limited { &[0, shown.len() + 1] } else { &[0] };
        let mut table = Table::new(&head, left);
        for design in &self.comparison.designs {
            let Some(row) = design.row(self.direction, bytes) else { continue };
            let cells = shown.iter().map(|(_, figure, shown)| shown(row.get(figure)));
            let limit = limited.then(|| match &row.limited_by_parts {
                Some(limit) => limit.short(),
                None => row.get(&BUSIEST).shown(),
            });
            table.row([design.name.clone()].into_iter().chain(cells).chain(limit));
        }
        table.push_to(text, self.width);
    }
}

fn section(text: &mut String, title: &str) {
    let _ = writeln!(text, "\n{title}");
}

/// A number, or a dash where there is none.
fn number(value: &Value, shown: impl Fn(f64) -> String) -> String {
    value.number().map_or_else(|| "-".to_owned(), shown)
}

fn three(value: &Value) -> String {
    number(value, digits)
}

fn picos(value: &Value) -> String {
    number(value, |picos| time(picos as u64))
}

fn micros(value: &Value) -> String {
    number(value, |picos| format!("{:.2}", picos * 1e-6))
}

fn size(value: &Value) -> String {
    number(value, |bytes| Bytes(bytes as u64).to_string())
}

fn plain(value: &Value) -> String {
    number(value, |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let shown = [5.012e-5, 0.0123, 0.1726, 0.9999, 1.0, 2.664, 13.02, 44.86, 123.4, 1234.5].map(digits);
        assert_eq!(shown, ["0.0000501", "0.012", "0.173", "1.00", "1.00", "2.66", "13.0", "44.9", "123", "1234"]);
    }
}
