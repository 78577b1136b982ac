//! A plot as SVG that needs no other file.

use super::{Axis, Line, Panel, tick};
use crate::validate::measured::Mode;
use std::fmt::Write;

/// Size of the picture and of the margins around its area.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 84.0;

const fn colour(mode: Mode) -> &'static str {
    match mode {
        Mode::Cc => "#b03a2e",
        Mode::Off => "#21618c",
    }
}

const fn named(mode: Mode) -> &'static str {
    match mode {
        Mode::Cc => "CC on",
        Mode::Off => "CC off",
    }
}

/// The plot.
#[must_use]
pub fn draw(panel: &Panel) -> String {
    let (x, y) = (panel.x_axis().widened(), panel.y_axis().widened());
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    text(&mut svg, LEFT, 24.0, "start", &panel.title);
    grid(&mut svg, panel, x, y);
    for (place, line) in panel.curves.iter().enumerate() {
        curve(&mut svg, line, x, y);
        legend(&mut svg, line.mode, place);
    }
    svg.push_str("</svg>\n");
    svg
}

fn across(x: Axis, value: f64) -> f64 {
    LEFT + x.place(value) * (WIDTH - LEFT - RIGHT)
}

fn up(y: Axis, value: f64) -> f64 {
    HEIGHT - BOTTOM - y.place(value) * (HEIGHT - TOP - BOTTOM)
}

fn grid(svg: &mut String, panel: &Panel, x: Axis, y: Axis) {
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    for value in ticks(x, panel.x_label) {
        let place = across(x, value);
        rule(svg, place, TOP, place, bottom);
        text(svg, place, bottom + 16.0, "middle", &tick(value, panel.x_label));
    }
    for value in ticks(y, panel.unit) {
        let place = up(y, value);
        rule(svg, LEFT, place, right, place);
        text(svg, LEFT - 6.0, place + 4.0, "end", &tick(value, panel.unit));
    }
    text(svg, right, bottom + 34.0, "end", panel.x_label);
    text(svg, LEFT - 6.0, TOP - 8.0, "end", panel.unit);
}

/// Values at which the grid has a line: powers of ten, or of two for sizes and streams; else a few even steps.
fn ticks(axis: Axis, label: &str) -> Vec<f64> {
    if !axis.logarithmic {
        let step = ((axis.high - axis.low) / 10.0).ceil().max(1.0);
        let first = (axis.low / step).ceil() as i64;
        return (first..first + 11).map(|n| n as f64 * step).filter(|value| *value <= axis.high).collect();
    }
    let base: f64 = match label {
        "bytes" => 16.0,
        "streams" => 2.0,
        _ => 10.0,
    };
    let (low, high) = (axis.low.log(base).ceil() as i32, axis.high.log(base).floor() as i32);
    let powers: Vec<_> = (low..=high.min(low + 40)).map(|power| base.powi(power)).collect();
    // An axis within one power has its ends alone.
    if powers.len() > 1 { powers } else { vec![axis.low, axis.high] }
}

/// Measured: a line with filled marks. Simulated: a dashed line with open ones.
fn curve(svg: &mut String, line: &Line, x: Axis, y: Axis) {
    let colour = colour(line.mode);
    let measured = line.points.iter().map(|point| (across(x, point.0), up(y, point.1)));
    let simulated = line.points.iter().map(|point| (across(x, point.0), up(y, point.2)));
    for (points, dashes, fill) in [
        (measured.collect::<Vec<_>>(), "", colour),
        (simulated.collect::<Vec<_>>(), " stroke-dasharray=\"5 4\"", "white"),
    ] {
        let path = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ");
        let _ = writeln!(svg, "<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\"{dashes}/>");
        for (x, y) in points {
            let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{fill}\" stroke=\"{colour}\"/>");
        }
    }
}

fn legend(svg: &mut String, mode: Mode, row: usize) {
    let (colour, height) = (colour(mode), HEIGHT - 30.0 + 18.0 * row as f64);
    for (start, dashes, fill, what) in
        [(LEFT, "", colour, "measured"), (LEFT + 180.0, " stroke-dasharray=\"5 4\"", "white", "simulated")]
    {
        let end = start + 30.0;
        let _ = writeln!(
            svg,
            "<line x1=\"{start}\" y1=\"{height}\" x2=\"{end}\" y2=\"{height}\" stroke=\"{colour}\"{dashes}/>\
             <circle cx=\"{}\" cy=\"{height}\" r=\"3\" fill=\"{fill}\" stroke=\"{colour}\"/>",
            start + 15.0
        );
        text(svg, end + 8.0, height + 4.0, "start", &format!("{}, {what}", named(mode)));
    }
}

pub(super) fn rule(svg: &mut String, x1: f64, y1: f64, x2: f64, y2: f64) {
    let _ = writeln!(svg, "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#dddddd\"/>");
}

pub(super) fn text(svg: &mut String, x: f64, y: f64, anchor: &str, text: &str) {
    // What XML does not have, names of files may.
    let text = text.replace(|one: char| one.is_control() || matches!(one, '\u{fffe}' | '\u{ffff}'), "?");
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>");
}

#[cfg(test)]
mod tests {
    use super::super::tests::panel;
    use super::*;

    #[test]
    fn every_point_is_drawn_twice_inside_the_picture() {
        let svg = draw(&panel());
        assert_eq!(svg.matches("<circle").count(), 2 * 4 + 2 * 2);
        assert_eq!(svg.matches("<polyline").count(), 4);
        assert!(svg.contains(">a&lt;b: pinned h2d<") && !svg.contains("NaN"));
        for part in svg.split("cx=\"").skip(1) {
            let place: f64 = part.split('"').next().and_then(|text| text.parse().ok()).unwrap();
            assert!((0.0..=WIDTH).contains(&place), "{place}");
        }
    }

    #[test]
    fn the_grid_has_lines_for_any_axis() {
        for (low, high, logarithmic, label) in
            [(64.0, 1e9, true, "bytes"), (1.0, 20.0, false, ""), (3.0, 4.0, true, "")]
        {
            let count = ticks(Axis { low, high, logarithmic }, label).len();
            assert!((2..=20).contains(&count), "{low} to {high}: {count}");
        }
    }
}
