//! Designs side by side, for people and for spreadsheets.

mod costs;
pub mod workload;

use super::{SCHEMA_VERSION, layout::fitted, table::Table};
use crate::{
    explore::{Comparison, CopyFigures, DesignFigures},
    sampling::Told,
    system::Direction,
    units::Bytes,
    workload::{direction_name, memory_name},
};
use serde::Serialize;
use std::fmt::Write;

/// A comparison, of copies or of a workload, with the version of its form.
#[derive(Debug, Serialize)]
pub struct Document<'c, C> {
    schema_version: u32,
    #[serde(flatten)]
    comparison: &'c C,
}

impl<'c, C: Serialize> Document<'c, C> {
    pub const fn of(comparison: &'c C) -> Self {
        Self { schema_version: SCHEMA_VERSION, comparison }
    }

    /// As one JSON object.
    ///
    /// # Errors
    /// What the writer says.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }
}

/// The comparison as tables of at most `width` columns: rates, gains, and what limits the longest copies.
#[must_use]
pub fn text(comparison: &Comparison, width: usize) -> String {
    let mut text = format!(
        "{}: designs one by one, each copy alone, host memory {}\n",
        comparison.machine,
        memory_name(comparison.host_memory)
    );
    let copies = comparison.designs.iter().flat_map(|design| &design.copies);
    sampled(&mut text, copies.filter_map(|copy| copy.sampled.as_ref()));
    for direction in [Direction::H2d, Direction::D2h] {
        way(&mut text, (comparison, width), direction);
    }
    costs::costs(&mut text, (comparison, width));
    for skipped in &comparison.skipped {
        let _ = writeln!(text, "\nnot compared: {}: {}", skipped.name, skipped.reason);
    }
    cautions(&mut text, &comparison.cautions);
    text.push_str(
        "\nA design in which the user seals has the baseline h100-cc-resealed, any other h100-cc. First verified: from the call until the \
         first message is where it belongs and has its verdict. Exposure: longest time that unverified plaintext is visible. --format \
         json and csv say all of this for each size.\n",
    );
    fitted(&text, width)
}

/// Says what the figures rest on whose error is large or not known.
pub(super) fn cautions(text: &mut String, cautions: &[String]) {
    if !cautions.is_empty() {
        let _ = writeln!(text, "\nErrors are large or not known (docs/accuracy.md) for:\n  {}", cautions.join("\n  "));
    }
}

/// Says how much of what was to be sampled was simulated, and how far off its times may be.
pub(super) fn sampled<'t>(text: &mut String, all: impl Iterator<Item = &'t Told> + Clone) {
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

/// Cells of what was sampled: the part that was simulated, and the ends of some intervals; empty where it was not to be sampled.
pub(super) fn interval_cells(told: Option<&Told>, places: &[&str]) -> Vec<String> {
    let part = told.map_or_else(String::new, |told| (told.simulated as f64 / told.of.max(1) as f64).to_string());
    let ends = places.iter().flat_map(|place| {
        let ends = told.and_then(|told| told.intervals.get(*place));
        [0, 1].map(|end| ends.map_or_else(String::new, |ends| ends[end].to_string()))
    });
    std::iter::once(part).chain(ends).collect()
}

/// Copies in one direction.
fn way(text: &mut String, (comparison, width): (&Comparison, usize), direction: Direction) {
    let Some(longest) = sizes(comparison, direction).max() else { return };
    let way = direction_name(direction);
    section(text, &format!("{way}: GB/s from the call to the copy's end (GB = 10^9 bytes)"));
    grid(text, (comparison, width), direction, None, |copy| Some(digits(copy.gb_per_s)));
    section(text, &format!("{way}: times as fast as the baseline"));
    let baseline = |design: &DesignFigures| design.baseline.unwrap_or("-").to_owned();
    grid(text, (comparison, width), direction, Some(&baseline), |copy| copy.speedup_over_baseline.map(digits));
    section(text, &format!("{way}: part of the rate without confidential computing"));
    let percent = |part: f64| format!("{} %", digits(part * 100.0));
    grid(text, (comparison, width), direction, None, |copy| copy.fraction_of_off.map(percent));
    section(text, &format!("{way} of {}: times in us", Bytes(longest)));
    details(text, (comparison, width), direction, longest);
    section(text, &format!("{way} of {}: exposure, forgery bounds, life of keys", Bytes(longest)));
    costs::risks(text, (comparison, width), direction, longest);
}

/// Sizes of the copies in one direction, in the order in which they were asked for.
fn sizes(comparison: &Comparison, direction: Direction) -> impl Iterator<Item = u64> {
    comparison.copies.iter().filter(move |copy| copy.direction == direction).map(|copy| copy.bytes)
}

fn section(text: &mut String, title: &str) {
    let _ = writeln!(text, "\n{title}");
}

fn push(text: &mut String, table: &Table, width: usize) {
    for line in table.fitted(width.saturating_sub(2)) {
        let _ = writeln!(text, "{}", format!("  {line}").trim_end());
    }
}

fn of(design: &DesignFigures, direction: Direction, bytes: u64) -> Option<&CopyFigures> {
    design.copies.iter().find(|copy| copy.direction == direction && copy.bytes == bytes)
}

/// A row for each design, a column for each size; before them, if wanted, one for the baseline.
fn grid(
    text: &mut String,
    (comparison, width): (&Comparison, usize),
    direction: Direction,
    baseline: Option<&dyn Fn(&DesignFigures) -> String>,
    cell: impl Fn(&CopyFigures) -> Option<String>,
) {
    let sizes: Vec<_> = sizes(comparison, direction).collect();
    let names: Vec<_> = sizes.iter().map(|size| Bytes(*size).to_string()).collect();
    let head = ["design"].into_iter().chain(baseline.map(|_| "baseline")).chain(names.iter().map(String::as_str));
    let left: &[usize] = if baseline.is_some() { &[0, 1] } else { &[0] };
    let mut table = Table::new(&head.collect::<Vec<_>>(), left);
    for design in &comparison.designs {
        let cells =
            sizes.iter().map(|size| of(design, direction, *size).and_then(&cell).unwrap_or_else(|| "-".to_owned()));
        table.row([design.name.clone()].into_iter().chain(baseline.map(|baseline| baseline(design))).chain(cells));
    }
    push(text, &table, width);
}

fn details(text: &mut String, (comparison, width): (&Comparison, usize), direction: Direction, bytes: u64) {
    let head = ["design", "first verified", "exposure", "quarantine", "tags", "limited by"];
    let mut table = Table::new(&head, &[0, 5]);
    for design in &comparison.designs {
        let Some(copy) = of(design, direction, bytes) else { continue };
        let micros = |picos: u64| format!("{:.2}", picos as f64 * 1e-6);
        table.row([
            design.name.clone(),
            copy.first_verified_ps.map_or_else(|| "-".to_owned(), micros),
            micros(copy.exposure_ps),
            Bytes(copy.quarantine_bytes).to_string(),
            copy.tags_verified.to_string(),
            copy.limited_by_parts.short(),
        ]);
    }
    push(text, &table, width);
}

/// Three digits, or as many as stand before the point.
fn digits(value: f64) -> String {
    let before = if value >= 1.0 { value.log10().floor() as usize } else { 0 };
    format!("{value:.*}", 2_usize.saturating_sub(before) + usize::from(value < 0.9995))
}

const COLUMNS: &str = "design,direction,bytes,gb_per_s,time_ps,baseline,speedup_over_baseline,speedup_over_h100_cc,fraction_of_off,\
                       first_verified_ps,messages,tags_verified,quarantine_bytes,exposure_ps,limited_by_unit,limited_by_state,limited_by_fraction,limited_by_parameter,limited_by_value,\
                       relaxed_to,gain_percent,next";

const COST_COLUMNS: &str = ",exposure_total_ps,exposed_bytes,exposed_byte_ns,tag_bits,forgery_log2,after_first_success,key_budget_messages,key_budget_bytes,iv_budget_messages,iv_budget_bytes,\
                            engines,area_kge_low,area_kge_high,pj_per_byte_low,pj_per_byte_high,sms_used,quarantine_capacity_bytes,\
                            tag_queue_capacity_bytes,storage_sram_kge_low,storage_sram_kge_high,storage_flip_flop_kge,\
                            quarantine_sram_kge,area_total_kge_low,area_total_kge,area_total_kge_high,cost_missing,cost_notes,simulated_part,gb_per_s_low,gb_per_s_high,time_ps_low,time_ps_high,\
                            exposure_ps_low,exposure_ps_high,exposure_total_ps_low,exposure_total_ps_high";

/// Figures whose intervals have columns.
const INTERVALS: [&str; 4] = ["/gb_per_s", "/time_ps", "/exposure_ps", "/exposure_total_ps"];

/// One row for each design, direction and size; a cell without a value is empty.
#[must_use]
pub fn csv(comparison: &Comparison) -> String {
    let mut text = format!("{COLUMNS}{COST_COLUMNS}\n");
    for design in &comparison.designs {
        for copy in &design.copies {
            let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
            let limit = &copy.limited_by_parts;
            let cells = [
                quoted(&design.name),
                direction_name(copy.direction).to_owned(),
                copy.bytes.to_string(),
                copy.gb_per_s.to_string(),
                copy.time_ps.to_string(),
                design.baseline.unwrap_or_default().to_owned(),
                number(copy.speedup_over_baseline),
                number(copy.speedup_over_h100_cc),
                number(copy.fraction_of_off),
                copy.first_verified_ps.map_or_else(String::new, |picos| picos.to_string()),
                copy.messages.to_string(),
                copy.tags_verified.to_string(),
                copy.quarantine_bytes.to_string(),
                copy.exposure_ps.to_string(),
                limit.unit.clone(),
                limit.state.clone(),
                limit.fraction.to_string(),
                limit.parameter.clone().unwrap_or_default(),
                limit.value.clone().unwrap_or_default(),
                limit.relaxed_to.clone().unwrap_or_default(),
                number(limit.gain_percent),
                limit.next.clone().unwrap_or_default(),
            ];
            let costs = costs::cells(&design.cost, copy);
            let intervals = interval_cells(copy.sampled.as_ref(), &INTERVALS);
            let _ = writeln!(text, "{},{},{}", cells.join(","), costs.join(","), intervals.join(","));
        }
    }
    text
}

/// A cell of CSV: in quotes where it holds what separates cells.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let shown = [0.0123, 0.1726, 0.9999, 1.0, 2.664, 13.02, 44.86, 123.4, 1234.5].map(digits);
        assert_eq!(shown, ["0.012", "0.173", "1.00", "1.00", "2.66", "13.0", "44.9", "123", "1234"]);
    }

    #[test]
    fn a_name_with_a_comma_stays_one_cell() {
        assert_eq!(quoted("a,b.toml"), "\"a,b.toml\"");
        assert_eq!(quoted("say \"x\""), "\"say \"\"x\"\"\"");
        assert_eq!(quoted("direct+overlap"), "direct+overlap");
    }
}
