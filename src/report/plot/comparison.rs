//! Designs side by side: rates over sizes, and runs of a workload.

use super::{
    bars::{Bar, BarPanel, Bars, paint},
    figure::{Across, Figure, Join, Label, Panel, Point, Series},
    legend::{Key, Sample},
    mark::Style,
};
use crate::{
    explore::{Comparison, WorkloadComparison, WorkloadFigures},
    system::Direction,
    workload::{direction_name, memory_name},
};

/// Rates of copies by their length, a panel for each way, a curve for each design.
#[must_use]
pub fn rates(comparison: &Comparison) -> Figure {
    let panel = |direction: Direction| {
        let series = comparison.designs.iter().enumerate().map(|(number, design)| {
            let copies = design.copies.iter().filter(|copy| copy.direction == direction);
            let mut points: Vec<_> = copies.map(|copy| Point::new(copy.bytes as f64, copy.gb_per_s)).collect();
            points.sort_by(|one, other| one.x.total_cmp(&other.x));
            let (name, style) = (design.name.clone(), Style::of(number));
            Series { name, style, points, join: Join::Line, levels: Vec::new() }
        });
        Panel {
            title: format!("{} copies", direction_name(direction)),
            across: Across::Values(Label::new("Length of a copy (bytes)")),
            up: Label::new("Rate (GB/s)"),
            series: series.collect(),
        }
    };
    let keys = comparison.designs.iter().enumerate();
    let keys = keys.map(|(number, design)| Key::new(Sample::Curve(Style::of(number)), design.name.clone()));
    let memory = memory_name(comparison.host_memory);
    Figure {
        title: format!("{}, {memory} host memory: rate from the call of a copy to its return", comparison.machine),
        panels: [Direction::H2d, Direction::D2h].map(panel).to_vec(),
        keys: keys.collect(),
        notes: skipped(comparison.skipped.iter().map(|skipped| skipped.name.as_str())),
    }
}

fn skipped<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let names: Vec<_> = names.collect();
    if names.is_empty() { Vec::new() } else { vec![format!("Not compared: {}.", names.join(", "))] }
}

/// When a workload ends by design, and for how long plaintext is visible unverified.
#[must_use]
pub fn runs(comparison: &WorkloadComparison) -> Bars {
    let style = Style::of(0);
    let panel = |label: &str, scale: f64, of: &dyn Fn(&WorkloadFigures) -> u64| {
        let row = |design: &WorkloadFigures| {
            let figure = of(design) as f64 * scale;
            vec![Bar { to: Some(figure), ends: None, style, text: super::axis::tick(figure, false) }]
        };
        BarPanel { label: Label::new(label), base: 0.0, rows: comparison.designs.iter().map(row).collect() }
    };
    let longest = comparison.designs.iter().map(|design| design.end_ps).max().unwrap_or(0);
    let (unit, scale) = if longest < 1_000_000_000 { ("µs", 1e-6) } else { ("ms", 1e-9) };
    let mut panels = vec![panel(&format!("End of the run ({unit})"), scale, &|design| design.end_ps)];
    if comparison.designs.iter().any(|design| design.exposure_ps > 0) {
        panels.push(panel("Longest exposure of a message (µs)", 1e-6, &|design| design.exposure_ps));
    }
    Bars {
        title: format!("{} on {}", comparison.workload, comparison.machine),
        names: comparison.designs.iter().map(|design| design.name.clone()).collect(),
        panels,
        keys: vec![Key::new(Sample::Area(paint(style)), "a run of the workload with the design")],
        notes: skipped(comparison.skipped.iter().map(|skipped| skipped.name.as_str())),
    }
}
