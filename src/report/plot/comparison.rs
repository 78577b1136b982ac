//! Designs side by side: rates over sizes, and runs of a workload.

use super::{
    bars::{Bar, BarPanel, Bars, paint},
    figure::{Across, Figure, Join, Label, Panel, Point, Series},
    legend::{Key, Sample},
    mark::Style,
};
use crate::{
    explore::{Comparison, CopyFigures, DesignFigures, WorkloadComparison, WorkloadFigures},
    sampling::Told,
    system::Direction,
    workload::{direction_name, memory_name},
};

/// Designs whose rates differ by no more than this at every length are one curve, of the first of them.
const ALIKE: f64 = 0.01;

/// Rates of copies by their length, a panel for each direction, a curve for each design.
#[must_use]
pub fn rates(comparison: &Comparison) -> Figure {
    let groups = alike(&comparison.designs);
    let panel = |direction: Direction| {
        let series = groups.iter().enumerate().map(|(number, group)| {
            let copies = group[0].copies.iter().filter(|copy| copy.direction == direction);
            let mut points: Vec<_> = copies.map(|copy| Point::new(copy.bytes as f64, copy.gb_per_s)).collect();
            points.sort_by(|one, other| one.x.total_cmp(&other.x));
            let (name, style) = (group[0].name.clone(), Style::of(number));
            Series { name, style, points, join: Join::Line, levels: Vec::new() }
        });
        Panel {
            title: format!("{} copies", direction_name(direction)),
            across: Across::Values(Label::new("Length of a copy (bytes)")),
            up: Label::new("Rate (GB/s)"),
            series: series.collect(),
        }
    };
    let keys = groups.iter().enumerate().map(|(number, group)| {
        let more = if group.len() > 1 { format!(" and {} more", group.len() - 1) } else { String::new() };
        Key::new(Sample::Curve(Style::of(number)), format!("{}{more}", group[0].name))
    });
    let several = groups.iter().filter(|group| group.len() > 1).map(|group| {
        let others: Vec<_> = group[1..].iter().map(|design| design.name.as_str()).collect();
        let within = 100.0 * ALIKE;
        format!("Within {within} % of {} at every length: {}.", group[0].name, others.join(", "))
    });
    let told = comparison.designs.iter().flat_map(|design| &design.copies).filter_map(|copy| copy.sampled.as_ref());
    let memory = memory_name(comparison.host_memory);
    let is_asked = |way: &Direction| comparison.copies.iter().any(|copy| copy.direction == *way);
    let asked = [Direction::H2d, Direction::D2h].into_iter().filter(is_asked);
    Figure {
        title: format!("{}, {memory} host memory: rate from the call of a copy to its end", comparison.machine),
        panels: asked.map(panel).collect(),
        keys: keys.collect(),
        notes: several
            .chain(skipped(comparison.skipped.iter().map(|skipped| skipped.name.as_str())))
            .chain(sampled(told))
            .collect(),
    }
}

/// Designs with those that are as fast: each goes to the first that it is like.
fn alike(designs: &[DesignFigures]) -> Vec<Vec<&DesignFigures>> {
    let like = |one: &DesignFigures, other: &DesignFigures| {
        let same = |(one, other): (&CopyFigures, &CopyFigures)| {
            let place = (one.direction, one.bytes) == (other.direction, other.bytes);
            place && (one.gb_per_s / other.gb_per_s - 1.0).abs() <= ALIKE
        };
        one.copies.len() == other.copies.len() && one.copies.iter().zip(&other.copies).all(same)
    };
    let mut groups: Vec<Vec<&DesignFigures>> = Vec::new();
    for design in designs {
        match groups.iter_mut().find(|group| like(design, group[0])) {
            Some(group) => group.push(design),
            None => groups.push(vec![design]),
        }
    }
    groups
}

/// Says of times that are estimates that they are.
fn sampled<'t>(all: impl Iterator<Item = &'t Told>) -> Option<String> {
    let off = all.filter(|told| !told.is_all()).map(Told::part).reduce(f64::max)?;
    Some(format!("Sampled: times are estimates, within {:.3} % (95 % sure).", off * 100.0))
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
    let longest = comparison.designs.iter().map(|design| design.time_ps).max().unwrap_or(0);
    let (unit, scale) = if longest < 1_000_000_000 { ("µs", 1e-6) } else { ("ms", 1e-9) };
    let mut panels = vec![panel(&format!("End of the run ({unit})"), scale, &|design| design.time_ps)];
    if comparison.designs.iter().any(|design| design.exposure_ps > 0) {
        panels.push(panel("Longest exposure of a message (µs)", 1e-6, &|design| design.exposure_ps));
    }
    Bars {
        title: format!("{} on {}", comparison.workload, comparison.machine),
        names: comparison.designs.iter().map(|design| design.name.clone()).collect(),
        panels,
        keys: vec![Key::new(Sample::Area(paint(style)), "a run of the workload with the design")],
        notes: skipped(comparison.skipped.iter().map(|skipped| skipped.name.as_str()))
            .into_iter()
            .chain(sampled(comparison.designs.iter().filter_map(|design| design.sampled.as_ref())))
            .collect(),
    }
}
