//! Designs side by side over one workload. Lines of text fit 80 columns for the shipped designs.

use super::{digits, number, picos, section, three};
use crate::{
    explore::{Comparison, Design, Work},
    figures::{
        Figure, Row,
        table::{
            BUSIEST, COLLECTIVES, COLLECTIVES_BYTES, COLLECTIVES_EXPOSED, COLLECTIVES_SIMULATED, COLLECTIVES_TIME,
            D2D_BYTES, D2D_COPIES, D2H_BYTES, D2H_COPIES, D2H_DEVICE, EXPOSURE, H2D_BYTES, H2D_COPIES, H2D_DEVICE,
            IDLE, OVER_OFF, TIME,
        },
    },
    report::{table::Table, text::time},
    units::Bytes,
};
use std::fmt::Write;

/// The comparison as tables: a row for each design.
pub(super) fn text(comparison: &Comparison, width: usize) -> String {
    let Work::Workload { workload, workload_summary, kernels, kernels_ps, .. } = &comparison.work else {
        return String::new();
    };
    let mut text = format!("{workload} on {}, timing alone\n", comparison.machine);
    if let Some(summary) = workload_summary {
        let _ = writeln!(text, "{summary}");
    }
    super::sampled(&mut text, comparison.designs.iter().flat_map(Design::sampled));
    if let Some(first) = comparison.designs.iter().flat_map(Design::rows).next() {
        let count = |figure| first.number(figure).unwrap_or(0.0) as u64;
        let ways =
            [("h2d", &H2D_COPIES, &H2D_BYTES), ("d2h", &D2H_COPIES, &D2H_BYTES), ("d2d", &D2D_COPIES, &D2D_BYTES)];
        let ways = ways.map(|(name, copies, bytes)| (name, count(copies), count(bytes)));
        let ways = ways.into_iter().filter(|(_, copies, _)| *copies > 0);
        let ways: Vec<_> = ways.map(|(name, copies, bytes)| format!("{copies} {name} of {}", size(bytes))).collect();
        let ways = if ways.is_empty() { vec!["none".to_owned()] } else { ways };
        let _ = writeln!(text, "copies: {}; kernels: {kernels} of {}", ways.join(", "), time(*kernels_ps));
        if first.number(&COLLECTIVES).is_some() {
            let (calls, simulated) = (count(&COLLECTIVES), count(&COLLECTIVES_SIMULATED));
            let bytes = size(count(&COLLECTIVES_BYTES));
            let _ = writeln!(text, "collectives: {calls} of {bytes}; {simulated} simulated, the others are equal");
        }
    }
    section(&mut text, "end of the run, times as long as off, and where the time goes");
    ends(comparison).push_to(&mut text, width);
    section(&mut text, "what it shows unverified, what it costs, and what limits it");
    details(comparison).push_to(&mut text, width);
    super::uncertain::of_workload(&mut text, (comparison, width));
    text
}

/// What is said behind them.
pub(super) const AFTER: &str = "
h2d, d2h: time in which the device moved a copy of that direction. GPU idle: no
kernel ran. Exposure: longest time that unverified plaintext is visible. Area:
engines, quarantine and tags on the GPU, middle of its range, in kGE. Exposed:
how much earlier it would end if collectives took no time, measured. Limited
by: `kernels`, or the parameter behind most of the time of copies, by accounts.
--format json and csv say more.
";

fn rows(comparison: &Comparison) -> impl Iterator<Item = (&Design, &Row)> {
    comparison.designs.iter().flat_map(|design| design.rows().iter().map(move |row| (design, row)))
}

fn ends(comparison: &Comparison) -> Table {
    let collectives = rows(comparison).any(|(_, row)| row.number(&COLLECTIVES).is_some());
    let head = ["design", "end", "x off", "h2d", "d2h", "collectives", "exposed", "GPU idle"];
    let mut table = Table::new(&head, &[0]);
    for (design, row) in rows(comparison) {
        table.row([
            design.name.clone(),
            picos(row.get(&TIME)),
            three(row.get(&OVER_OFF)),
            device(row, &H2D_COPIES, &H2D_DEVICE),
            device(row, &D2H_COPIES, &D2H_DEVICE),
            picos(row.get(&COLLECTIVES_TIME)),
            picos(row.get(&COLLECTIVES_EXPOSED)),
            number(row.get(&IDLE), |idle| format!("{:.1} %", idle * 100.0)),
        ]);
    }
    table.only(|column| collectives || !(5..7).contains(&column))
}

fn details(comparison: &Comparison) -> Table {
    let mut table = Table::new(&["design", "exposure", "area", "busiest"], &[0, 3]);
    for (design, row) in rows(comparison) {
        let area = design.cost.area_total().map(|area| area.middle());
        let limit = row.get(&BUSIEST).shown();
        table.row([design.name.clone(), picos(row.get(&EXPOSURE)), three(&area.into()), limit]);
    }
    table
}

fn device(row: &Row, copies: &Figure, device: &Figure) -> String {
    if row.number(copies) == Some(0.0) { "-".to_owned() } else { picos(row.get(device)) }
}

/// A size in few characters.
fn size(bytes: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < units.len() {
        (value, unit) = (value / 1000.0, unit + 1);
    }
    if unit == 0 { Bytes(bytes).to_string() } else { format!("{} {}", digits(value), units[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        assert_eq!([999, 3700, 150_994_944, 2_500_000_000].map(size), ["999 B", "3.70 kB", "151 MB", "2.50 GB"]);
    }
}
