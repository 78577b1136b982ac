//! Designs side by side: rates over sizes, and runs of a workload.

use super::{
    axis::tick,
    bars::{Bar, BarPanel, Bars},
    drawing::Drawing,
    figure::{Across, Figure, Join, Label, Panel, Point, Series},
    legend::{Key, Sample},
    mark::Style,
};
use crate::{
    explore::{Comparison, Design, Work, way},
    figures::{
        Row,
        table::{BYTES, EXPOSURE, RATE, TIME},
    },
    sampling::Told,
    system::{Direction, Memory},
    units::Bytes,
    workload::{Copy, direction_name, memory_name},
};
use std::cmp::Ordering;

/// Designs whose rates differ by no more than this at every length are one curve, of the first of them.
const ALIKE: f64 = 0.01;

pub fn drawn(comparison: &Comparison) -> Drawing {
    match &comparison.work {
        Work::Copies { host_memory, copies, .. } if copies.iter().all(|copy| copy.bytes == copies[0].bytes) => {
            one_length(comparison, (*host_memory, copies)).draw()
        }
        Work::Copies { host_memory, copies, .. } => rates(comparison, (*host_memory, copies)).draw(),
        Work::Workload { workload, .. } => runs(comparison, workload).draw(),
    }
}

/// Rates of copies by their length, a panel for each direction, a curve for each design.
fn rates(comparison: &Comparison, (host_memory, copies): (Memory, &[Copy])) -> Figure {
    let groups = alike(&comparison.designs);
    // A design has one colour in all pictures of a comparison.
    let style = |group: &[&Design]| {
        Style::of(comparison.designs.iter().position(|design| design.name == group[0].name).unwrap_or(0))
    };
    let panel = |direction: Direction| {
        let series = groups.iter().map(|group| {
            let rows = group[0].rows().iter().filter(|row| way(row) == Some(direction));
            let point = |row: &Row| Some(Point::new(row.number(&BYTES)?, row.number(&RATE)?));
            let mut points: Vec<_> = rows.filter_map(point).collect();
            points.sort_by(|one, other| one.x.total_cmp(&other.x));
            let (name, style) = (group[0].name.clone(), style(group));
            Series { name, style, points, join: Join::Line, levels: Vec::new() }
        });
        Panel {
            title: format!("{} copies", direction_name(direction)),
            across: Across::Values(Label::new("Length of a copy (bytes)")),
            up: Label::new("Rate (GB/s)"),
            series: series.collect(),
        }
    };
    let keys = groups.iter().map(|group| {
        let more = if group.len() > 1 { format!(" and {} more", group.len() - 1) } else { String::new() };
        Key::new(Sample::Curve(style(group)), format!("{}{more}", group[0].name))
    });
    let several = groups.iter().filter(|group| group.len() > 1).map(|group| {
        let others: Vec<_> = group[1..].iter().map(|design| design.name.as_str()).collect();
        let within = 100.0 * ALIKE;
        format!("Within {within} % of {} at every length: {}.", group[0].name, others.join(", "))
    });
    let told = comparison.designs.iter().flat_map(Design::sampled);
    Figure {
        title: title(comparison, host_memory),
        panels: asked(copies).map(panel).collect(),
        keys: keys.collect(),
        notes: several
            .chain(skipped(comparison.skipped.iter().map(|skipped| skipped.name.as_str())))
            .chain(sampled(told))
            .collect(),
    }
}

fn title(comparison: &Comparison, host_memory: Memory) -> String {
    let memory = memory_name(host_memory);
    format!("{}, {memory} host memory: rate from the call of a copy to its end", comparison.machine)
}

fn asked(copies: &[Copy]) -> impl Iterator<Item = Direction> {
    [Direction::H2d, Direction::D2h].into_iter().filter(|way| copies.iter().any(|copy| copy.direction == *way))
}

/// Rates of copies of one length, a panel for each direction, the fastest design on top.
fn one_length(comparison: &Comparison, (host_memory, copies): (Memory, &[Copy])) -> Bars {
    let rate = |design: &Design, direction| {
        design.rows().iter().find(|row| way(row) == Some(direction)).and_then(|row| row.number(&RATE))
    };
    let mut sorted: Vec<_> = comparison.designs.iter().enumerate().collect();
    let first = asked(copies).next().unwrap_or(Direction::H2d);
    sorted.sort_by(|one, other| rate(other.1, first).partial_cmp(&rate(one.1, first)).unwrap_or(Ordering::Equal));
    let label = |way| format!("{} copies of {}: rate (GB/s)", direction_name(way), Bytes(copies[0].bytes));
    let panels = asked(copies).map(|way| panel(&label(way), &sorted, |design| rate(design, way)));
    bars(comparison, title(comparison, host_memory), &sorted, panels.collect())
}

/// A figure of designs, which have the colours that they have in all pictures of a comparison.
fn panel(label: &str, designs: &[(usize, &Design)], of: impl Fn(&Design) -> Option<f64>) -> BarPanel {
    let row = |(number, design): &(usize, &Design)| {
        let to = of(design);
        let text = to.map_or_else(|| "none".to_owned(), |figure| tick(figure, false));
        vec![Bar { to, ends: None, style: Style::of(*number), text }]
    };
    BarPanel { label: Label::new(label), base: 0.0, rows: designs.iter().map(row).collect() }
}

fn bars(comparison: &Comparison, title: String, designs: &[(usize, &Design)], panels: Vec<BarPanel>) -> Bars {
    let names = designs.iter().map(|(_, design)| design.name.clone()).collect();
    let skipped = skipped(comparison.skipped.iter().map(|skipped| skipped.name.as_str()));
    let notes = skipped.into_iter().chain(sampled(comparison.designs.iter().flat_map(Design::sampled))).collect();
    Bars { title, names, panels, keys: Vec::new(), notes }
}

/// Designs with those that are as fast: each goes to the first that it is like.
fn alike(designs: &[Design]) -> Vec<Vec<&Design>> {
    let like = |one: &Design, other: &Design| {
        let same = |(one, other): (&Row, &Row)| {
            let place = (way(one), one.get(&BYTES)) == (way(other), other.get(&BYTES));
            let rates = one.number(&RATE).zip(other.number(&RATE));
            place && rates.is_some_and(|(one, other)| (one / other - 1.0).abs() <= ALIKE)
        };
        one.rows().len() == other.rows().len() && one.rows().iter().zip(other.rows()).all(same)
    };
    let mut groups: Vec<Vec<&Design>> = Vec::new();
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
fn runs(comparison: &Comparison, workload: &str) -> Bars {
    let designs: Vec<_> = comparison.designs.iter().enumerate().collect();
    let of = |design: &Design, figure| design.rows().first().and_then(|row| row.number(figure)).unwrap_or(0.0);
    let most = |figure| comparison.designs.iter().map(|design| of(design, figure)).fold(0.0, f64::max);
    let (unit, scale) = if most(&TIME) < 1e9 { ("µs", 1e-6) } else { ("ms", 1e-9) };
    let mut panels =
        vec![panel(&format!("End of the run ({unit})"), &designs, |design| Some(of(design, &TIME) * scale))];
    if most(&EXPOSURE) > 0.0 {
        let label = "Longest exposure of a message (µs)";
        panels.push(panel(label, &designs, |design| Some(of(design, &EXPOSURE) * 1e-6)));
    }
    bars(comparison, format!("{workload} on {}", comparison.machine), &designs, panels)
}
