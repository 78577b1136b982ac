//! Designs side by side: rates over sizes, and runs of a workload.

use super::{
    bars::{Bar, BarPanel, Bars, paint},
    drawing::Drawing,
    figure::{Across, Figure, Join, Label, Panel, Point, Series},
    legend::{Key, Sample},
    mark::Style,
};
use crate::{
    explore::{Comparison, Design, Work, way},
    figures::{
        Figure as Shown, Row,
        table::{BYTES, EXPOSURE, RATE, TIME},
    },
    sampling::Told,
    system::{Direction, Memory},
    workload::{Copy, direction_name, memory_name},
};

/// Designs whose rates differ by no more than this at every length are one curve, of the first of them.
const ALIKE: f64 = 0.01;

pub fn drawn(comparison: &Comparison) -> Drawing {
    match &comparison.work {
        Work::Copies { host_memory, copies, .. } => rates(comparison, (*host_memory, copies)).draw(),
        Work::Workload { workload, .. } => runs(comparison, workload).draw(),
    }
}

/// Rates of copies by their length, a panel for each direction, a curve for each design.
fn rates(comparison: &Comparison, (host_memory, copies): (Memory, &[Copy])) -> Figure {
    let groups = alike(&comparison.designs);
    let panel = |direction: Direction| {
        let series = groups.iter().enumerate().map(|(number, group)| {
            let rows = group[0].rows().iter().filter(|row| way(row) == Some(direction));
            let point = |row: &Row| Some(Point::new(row.number(&BYTES)?, row.number(&RATE)?));
            let mut points: Vec<_> = rows.filter_map(point).collect();
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
    let told = comparison.designs.iter().flat_map(Design::sampled);
    let memory = memory_name(host_memory);
    let is_asked = |way: &Direction| copies.iter().any(|copy| copy.direction == *way);
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
    let style = Style::of(0);
    let of = |design: &Design, figure| design.rows().first().and_then(|row| row.number(figure)).unwrap_or(0.0);
    let panel = |label: &str, scale: f64, figure: &'static Shown| {
        let row = |design: &Design| {
            let figure = of(design, figure) * scale;
            vec![Bar { to: Some(figure), ends: None, style, text: super::axis::tick(figure, false) }]
        };
        BarPanel { label: Label::new(label), base: 0.0, rows: comparison.designs.iter().map(row).collect() }
    };
    let most = |figure| comparison.designs.iter().map(|design| of(design, figure)).fold(0.0, f64::max);
    let (unit, scale) = if most(&TIME) < 1e9 { ("µs", 1e-6) } else { ("ms", 1e-9) };
    let mut panels = vec![panel(&format!("End of the run ({unit})"), scale, &TIME)];
    if most(&EXPOSURE) > 0.0 {
        panels.push(panel("Longest exposure of a message (µs)", 1e-6, &EXPOSURE));
    }
    Bars {
        title: format!("{workload} on {}", comparison.machine),
        names: comparison.designs.iter().map(|design| design.name.clone()).collect(),
        panels,
        keys: vec![Key::new(Sample::Area(paint(style)), "a run of the workload with the design")],
        notes: skipped(comparison.skipped.iter().map(|skipped| skipped.name.as_str()))
            .into_iter()
            .chain(sampled(comparison.designs.iter().flat_map(Design::sampled)))
            .collect(),
    }
}
