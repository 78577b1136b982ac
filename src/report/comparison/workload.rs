//! Designs side by side over one workload, for people and for spreadsheets. Lines of text fit 80 columns for the shipped designs.

use super::{digits, fitted, push, quoted, section};
use crate::{
    explore::{CollectiveFigures, WayFigures, WorkloadComparison, WorkloadFigures},
    report::{table::Table, text::time},
    units::Bytes,
};
use std::fmt::Write;

/// The comparison as tables: a row for each design.
#[must_use]
pub fn text(comparison: &WorkloadComparison, width: usize) -> String {
    let mut text = format!("{} on {}, timing alone\n", comparison.workload, comparison.machine);
    if let Some(summary) = &comparison.workload_summary {
        let _ = writeln!(text, "{summary}");
    }
    super::sampled(&mut text, comparison.designs.iter().filter_map(|design| design.sampled.as_ref()));
    if let Some(first) = comparison.designs.first() {
        let ways = [("h2d", &first.h2d), ("d2h", &first.d2h), ("d2d", &first.d2d)];
        let ways = ways.into_iter().filter(|(_, way)| way.copies > 0);
        let ways: Vec<_> = ways.map(|(name, way)| format!("{} {name} of {}", way.copies, size(way.bytes))).collect();
        let kernels = time(comparison.kernels_ps);
        let ways = if ways.is_empty() { vec!["none".to_owned()] } else { ways };
        let _ = writeln!(text, "copies: {}; kernels: {} of {kernels}", ways.join(", "), comparison.kernels);
        if let Some(all) = &first.collectives {
            let (calls, bytes, simulated) = (all.calls, size(all.bytes), all.simulated);
            let _ = writeln!(text, "collectives: {calls} of {bytes}; {simulated} simulated, the others are equal");
        }
    }
    section(&mut text, "end of the run, times as long as off, and where the time goes");
    push(&mut text, &ends(comparison), width);
    section(&mut text, "what it shows unverified, what it costs, and what limits it");
    push(&mut text, &details(comparison), width);
    for skipped in &comparison.skipped {
        let _ = writeln!(text, "\nnot compared: {}: {}", skipped.name, skipped.reason);
    }
    super::cautions(&mut text, &comparison.cautions);
    text.push_str(
        "\nh2d, d2h: time in which the device moved a copy of that direction. GPU idle: no\n\
         kernel ran. Exposure: longest time that unverified plaintext is visible. Area:\n\
         engines, quarantine and tags on the GPU, middle of its range, in kGE. Exposed:\n\
         how much earlier it would end if collectives took no time, measured. Limited\n\
         by: `kernels`, or the parameter behind most of the time of copies, by accounts.\n\
         --format json and csv say more.\n",
    );
    fitted(&text, width)
}

fn ends(comparison: &WorkloadComparison) -> Table {
    let collectives = comparison.designs.iter().any(|design| design.collectives.is_some());
    let head = ["design", "end", "x off", "h2d", "d2h", "collectives", "exposed", "GPU idle"];
    let kept = |place: usize| collectives || !(5..7).contains(&place);
    let shown: Vec<_> = head.into_iter().enumerate().filter(|(place, _)| kept(*place)).map(|(_, cell)| cell).collect();
    let mut table = Table::new(&shown, &[0]);
    for design in &comparison.designs {
        let of = |time_ps: &dyn Fn(&CollectiveFigures) -> u64| design.collectives.as_ref().map_or(0, time_ps);
        let cells = [
            design.name.clone(),
            time(design.time_ps),
            design.slowdown_over_off.map_or_else(|| "-".to_owned(), digits),
            device(&design.h2d),
            device(&design.d2h),
            time(of(&|all| all.time_ps)),
            time(of(&|all| all.exposed_ps)),
            format!("{:.1} %", design.gpu_idle * 100.0),
        ];
        table.row(cells.into_iter().enumerate().filter(|(place, _)| kept(*place)).map(|(_, cell)| cell));
    }
    table
}

fn details(comparison: &WorkloadComparison) -> Table {
    let mut table = Table::new(&["design", "exposure", "area", "limited by"], &[0, 3]);
    for design in &comparison.designs {
        table.row([
            design.name.clone(),
            time(design.exposure_ps),
            design.cost.area_total_kge.map_or_else(|| "-".to_owned(), digits),
            design.limit(),
        ]);
    }
    table
}

fn device(way: &WayFigures) -> String {
    if way.copies == 0 { "-".to_owned() } else { time(way.device_ps) }
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

const COLUMNS: &str = "workload,design,time_ps,slowdown_over_off,speedup_over_h100_cc,h2d_copies,h2d_bytes,h2d_device_ps,h2d_calls_ps,\
                       d2h_copies,d2h_bytes,d2h_device_ps,d2h_calls_ps,d2d_copies,d2d_bytes,d2d_device_ps,d2d_calls_ps,gpu_idle,collectives,\
                       collectives_ps,collectives_exposed_ps,messages,tags_verified,quarantine_bytes,exposure_ps,exposure_total_ps,exposed_bytes,exposed_byte_ns,area_total_kge_low,area_total_kge,area_total_kge_high,\
                       limited_by_parameter,limited_by_value,limited_by_unit,limited_by_state,limited_by_fraction,simulated_part,time_ps_low,time_ps_high";

/// One row for each design; a cell without a value is empty.
#[must_use]
pub fn csv(comparison: &WorkloadComparison) -> String {
    let mut text = format!("{COLUMNS}\n");
    for design in &comparison.designs {
        let _ = writeln!(text, "{},{}", quoted(&comparison.workload), cells(design).join(","));
    }
    text
}

fn cells(design: &WorkloadFigures) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let mut cells = vec![
        quoted(&design.name),
        design.time_ps.to_string(),
        number(design.slowdown_over_off),
        number(design.speedup_over_h100_cc),
    ];
    for way in [&design.h2d, &design.d2h, &design.d2d] {
        cells.extend([way.copies as u64, way.bytes, way.device_ps, way.calls_ps].map(|figure| figure.to_string()));
    }
    cells.push(design.gpu_idle.to_string());
    let collectives = design.collectives.map(|all| [all.calls, all.time_ps, all.exposed_ps]);
    cells.extend(collectives.map_or_else(|| vec![String::new(); 3], |all| all.map(|one| one.to_string()).into()));
    let exposure = [design.exposure_ps, design.exposure_total_ps, design.exposed_bytes, design.exposed_byte_ns];
    cells.extend([design.messages, design.tags_verified, design.quarantine_bytes].map(|figure| figure.to_string()));
    cells.extend(exposure.map(|figure| figure.to_string()));
    let cost = &design.cost;
    cells.extend([cost.area_total_kge_low, cost.area_total_kge, cost.area_total_kge_high].map(number));
    let limit = design.limited_by_parts.as_ref();
    cells.push(limit.and_then(|limit| limit.parameter.clone()).unwrap_or_default());
    cells.push(limit.and_then(|limit| limit.value.as_deref()).map(quoted).unwrap_or_default());
    cells.push(limit.map(|limit| limit.unit.clone()).unwrap_or_default());
    cells.push(limit.map(|limit| limit.state.clone()).unwrap_or_default());
    cells.push(number(limit.map(|limit| limit.part)));
    cells.extend(super::interval_cells(design.sampled.as_ref(), &["/time_ps"]));
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        assert_eq!([999, 3700, 150_994_944, 2_500_000_000].map(size), ["999 B", "3.70 kB", "151 MB", "2.50 GB"]);
    }

    #[test]
    fn each_row_has_as_many_cells_as_there_are_columns() {
        let text = csv(&WorkloadComparison {
            cautions: Vec::new(),
            machine: "m".into(),
            workload: "w".into(),
            workload_summary: None,
            kernels: 0,
            kernels_ps: 0,
            process_spread_factor: 2.0,
            cost_source: "",
            designs: vec![WorkloadFigures {
                name: "d".into(),
                summary: String::new(),
                confidential_computing: false,
                config_digest: String::new(),
                assumed_parameters: 0,
                cost: crate::explore::Price::default(),
                time_ps: 1,
                slowdown_over_off: None,
                speedup_over_h100_cc: None,
                h2d: WayFigures::default(),
                d2h: WayFigures::default(),
                d2d: WayFigures::default(),
                gpu_idle: 1.0,
                collectives: None,
                messages: 0,
                tags_verified: 0,
                quarantine_bytes: 0,
                exposure_ps: 0,
                exposure_total_ps: 0,
                exposed_bytes: 0,
                exposed_byte_ns: 0,
                limited_by_parts: None,
                sampled: None,
            }],
            skipped: Vec::new(),
            unfinished: 0,
        });
        let widths: Vec<_> = text.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(widths, [39, 39]);
    }
}
