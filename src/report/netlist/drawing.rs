//! A netlist as SVG that needs no other file: a box for each unit, a line for all channels between two of them.

use super::{
    carrier,
    layout::{Edge, Layout, positions},
};
use crate::sim::{ChannelOutline, Outline, UnitOutline};
use std::fmt::Write;

/// Size of a box, room between columns and between boxes, and the margin.
const WIDTH: f64 = 132.0;
const HEIGHT: f64 = 46.0;
const ACROSS: f64 = 160.0;
const DOWN: f64 = 34.0;
const MARGIN: f64 = 24.0;
/// How far a line between two boxes of one column bulges.
const BULGE: f64 = 46.0;
const LABEL: usize = 24;

const STYLE: &str = "<style>
text { fill: #222 } .box { fill: #fff; stroke-width: 1.5 } .line { fill: none; stroke: #777 } .tip { fill: #777 }
.name { font-weight: bold } .small { font-size: 9px; fill: #555 } .page { fill: #fff }
@media (prefers-color-scheme: dark) {
text { fill: #ddd } .box { fill: #22272e } .line { stroke: #999 } .tip { fill: #999 } .small { fill: #aaa } .page { fill: #16191d }
}
</style>
<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto-start-reverse\">\
<path class=\"tip\" d=\"M0,0 L8,4 L0,8 z\"/></marker></defs>
";

/// Colours of parts of a machine, in the order in which they come.
const COLOURS: [&str; 6] = ["#21618c", "#7d6608", "#1e8449", "#884ea0", "#b03a2e", "#5d6d7e"];

pub fn svg(outline: &Outline) -> String {
    let layout = Layout::of(outline);
    let rows = layout.columns.iter().map(Vec::len).max().unwrap_or(0) as f64;
    let columns = layout.columns.len() as f64;
    let width = 2.0 * MARGIN + columns * WIDTH + (columns - 1.0).max(0.0) * ACROSS + BULGE;
    let height = 2.0 * MARGIN + rows * HEIGHT + (rows - 1.0).max(0.0) * DOWN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         {STYLE}<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n"
    );
    let corners = corners(outline, &layout, height);
    for edge in &layout.edges {
        draw_edge(&mut svg, edge, &corners);
    }
    let parts = parts(outline);
    for (unit, corner) in outline.units.iter().zip(&corners) {
        let part = parts.iter().position(|part| *part == part_of(unit)).unwrap_or(0);
        draw_unit(&mut svg, unit, *corner, COLOURS[part % COLOURS.len()]);
    }
    svg.push_str("</svg>\n");
    svg
}

fn part_of(unit: &UnitOutline) -> &str {
    unit.path.split('.').next().unwrap_or_default()
}

fn parts(outline: &Outline) -> Vec<&str> {
    let mut parts: Vec<&str> = Vec::new();
    for part in outline.units.iter().map(part_of) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}

/// Left upper corners of the boxes, by unit; each column is centred.
fn corners(outline: &Outline, layout: &Layout<'_>, height: f64) -> Vec<(f64, f64)> {
    let positions = positions(&layout.columns, outline.units.len());
    let corner = |&(column, row): &(usize, usize)| {
        let members = layout.columns[column].len() as f64;
        let tall = members * HEIGHT + (members - 1.0) * DOWN;
        let top = (height - tall) / 2.0;
        (MARGIN + column as f64 * (WIDTH + ACROSS), top + row as f64 * (HEIGHT + DOWN))
    };
    positions.iter().map(corner).collect()
}

fn draw_unit(svg: &mut String, unit: &UnitOutline, (x, y): (f64, f64), colour: &str) {
    let middle = x + WIDTH / 2.0;
    let short = unit.path.split_once('.').map_or(unit.path.as_str(), |(_, name)| name);
    let _ = writeln!(
        svg,
        "<g><title>{} at {}</title><rect class=\"box\" x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"5\" stroke=\"{colour}\"/>\
         <text class=\"name\" x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{short}</text>\
         <text class=\"small\" x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{}, {}</text></g>",
        unit.path,
        unit.clock,
        y + 20.0,
        y + 36.0,
        part_of(unit),
        unit.clock,
    );
}

/// A line from one box to another, with what it carries.
fn draw_edge(svg: &mut String, edge: &Edge<'_>, corners: &[(f64, f64)]) {
    let ((x1, y1), (x2, y2)) = (corners[edge.ends.0], corners[edge.ends.1]);
    let same_column = x1 == x2;
    // Lines leave a box nearer to where they go, so that they do not lie on one another.
    let lean = (y2 - y1).clamp(-3.0 * HEIGHT, 3.0 * HEIGHT) / 9.0;
    let (left, from, to) = (x1 + WIDTH, y1 + HEIGHT / 2.0 + lean, y2 + HEIGHT / 2.0 - lean);
    let right = if same_column { left } else { x2 };
    let reach = if same_column { BULGE } else { (right - left) / 2.0 };
    let back = if same_column { left + reach } else { right - reach };
    let dashed = edge.forth.iter().chain(&edge.back).all(|channel| channel.flight.is_some());
    let mut style = String::new();
    if dashed {
        style.push_str(" stroke-dasharray=\"5 3\"");
    }
    if !edge.back.is_empty() {
        style.push_str(" marker-start=\"url(#tip)\"");
    }
    if !edge.forth.is_empty() {
        style.push_str(" marker-end=\"url(#tip)\"");
    }
    let _ = writeln!(
        svg,
        "<g><title>{}</title><path class=\"line\" d=\"M{left},{from} C{},{from} {back},{to} {right},{to}\"{style}/>",
        titles(edge),
        left + reach,
    );
    // Labels of lines that go down lie near their beginning, those of lines that go up near their end: there they cross least.
    let off = ((to - from) / (HEIGHT + DOWN) * 0.16).clamp(-0.24, 0.24);
    let along: f64 = if same_column { 0.5 } else { 0.5 - off };
    let rest = 1.0 - along;
    let weights = [rest.powi(3), 3.0 * along * rest.powi(2), 3.0 * along.powi(2) * rest, along.powi(3)];
    let at = |points: [f64; 4]| points.iter().zip(weights).map(|(point, weight)| point * weight).sum::<f64>();
    let (x, y) = (at([left, left + reach, back, right]), at([from, from, to, to]));
    for (line, label) in
        [label("", &edge.forth, " \u{2192}"), label("\u{2190} ", &edge.back, "")].into_iter().flatten().enumerate()
    {
        let y = y - 3.0 + 11.0 * line as f64;
        let _ = writeln!(svg, "<text class=\"small\" x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{label}</text>");
    }
    svg.push_str("</g>\n");
}

/// What goes one way, as far as there is room.
fn label(before: &str, channels: &[&ChannelOutline], behind: &str) -> Option<String> {
    let names = channels.iter().map(|channel| channel.path.rsplit('.').next().unwrap_or_default());
    let names = names.collect::<Vec<_>>().join(", ");
    let cut = names.chars().count() > LABEL;
    let shown: String = names.chars().take(LABEL).collect();
    (!names.is_empty()).then(|| format!("{before}{shown}{}{behind}", if cut { "\u{2026}" } else { "" }))
}

fn titles(edge: &Edge<'_>) -> String {
    let all = edge.forth.iter().chain(&edge.back);
    let lines = all.map(|channel| format!("{}: {} of {}", channel.path, carrier(channel), channel.item));
    lines.collect::<Vec<_>>().join("\n")
}
