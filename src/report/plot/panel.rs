//! One pair of axes: where everything is, and drawing it.

use super::{
    axis::{Axis, tick},
    drawing::{Anchor, BLACK, Drawing, GREY, GRID, LINE, Paint, SIZE, Stroke, Text, cut, wrapped},
    figure::{Across, Join, Label, Panel, Point, Series, centred},
    font,
    legend::interval,
    mark::{RADIUS, Style},
};
use std::collections::BTreeMap;

/// Room within the frame for marks, and for those that are side by side.
const PAD: f64 = 10.0;
const SIDE: f64 = 22.0;
/// Marks whose places are as near as this share one.
const NEAR: f64 = 3.0;
/// Size of the number of marks that share a place.
const SMALL: f64 = 9.0;
/// Where it may be, from the middle of its mark to the middle of its base line, in radii.
const BESIDE: [(f64, f64); 8] =
    [(2.6, -0.4), (-2.6, -0.4), (2.6, 2.2), (-2.6, 2.2), (0.0, -1.8), (0.0, 3.8), (4.4, -0.4), (-4.4, -0.4)];
/// Widest name of a category in pixels.
const NAME: f64 = 150.0;
/// Between the panel and its right neighbour.
const RIGHT: f64 = 14.0;

/// A panel with its axes and its margins.
#[derive(Debug)]
pub(super) struct Layout<'p> {
    panel: &'p Panel,
    x: Axis,
    y: Axis,
    /// Outer width, and height of the frame.
    width: f64,
    frame: f64,
    left: f64,
    top: f64,
    bottom: f64,
    /// Whether names of categories run upwards.
    upwards: bool,
}

/// The frame in a picture, and how values get into it.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: Axis,
    y: Axis,
}

impl Frame {
    fn across(&self, value: f64) -> f64 {
        self.left + SIDE + self.x.place(value) * (self.right - self.left - 2.0 * SIDE)
    }

    fn up(&self, value: f64) -> f64 {
        self.bottom - PAD - self.y.place(value) * (self.bottom - self.top - 2.0 * PAD)
    }
}

#[derive(Clone)]
struct Placed {
    series: usize,
    point: usize,
    style: Style,
    at: (f64, f64),
    /// The marks that it stands for, by number.
    shares: Vec<usize>,
    ends: Option<(f64, f64)>,
}

impl<'p> Layout<'p> {
    /// The layout of a panel of a width whose frame has a height.
    pub fn of(panel: &'p Panel, width: f64, frame: f64) -> Self {
        let points = || panel.series.iter().flat_map(|one| &one.points);
        let x = match &panel.across {
            Across::Names(_, names) => {
                Axis { low: -0.5, high: (names.len().max(1) as f64) - 0.5, logarithmic: false, whole: true }
            }
            Across::Values(label) => {
                Axis::reaching(&points().map(|point| point.x).collect::<Vec<_>>(), true, label.bytes)
            }
        };
        let ends = |point: &Point| point.ends.map_or([point.y; 3], |(low, high)| [low, point.y, high]);
        let levels = panel.series.iter().flat_map(|one| one.levels.iter().copied());
        let values: Vec<f64> = points().flat_map(ends).chain(levels).collect();
        let y = Axis::reaching(&values, false, panel.up.bytes).from_zero();
        let widest = y.named(panel.up.bytes).into_iter().map(|(_, name)| font::width(&name, SIZE));
        let words = wrapped(&panel.up.text, frame).len() as f64;
        let left = LINE * words + 8.0 + widest.fold(0.0, f64::max) + 6.0;
        let mut layout = Self { panel, x, y, width, frame, left, top: 10.0, bottom: 0.0, upwards: false };
        if !panel.title.is_empty() {
            layout.top += LINE;
        }
        layout.upwards = matches!(&panel.across, Across::Names(_, names) if names.iter().any(|name| {
            font::width(name, SIZE) + 8.0 > layout.inner() / names.len() as f64
        }));
        let below = match &panel.across {
            Across::Names(_, names) if layout.upwards => {
                let widest = names.iter().map(|name| font::width(name, SIZE)).fold(0.0, f64::max);
                widest.min(NAME) + 8.0
            }
            _ => 18.0,
        };
        layout.bottom = below + LINE * wrapped(layout.across_text(), layout.inner()).len() as f64 + 12.0;
        layout
    }

    fn inner(&self) -> f64 {
        self.width - self.left - RIGHT
    }

    fn across_text(&self) -> &str {
        match &self.panel.across {
            Across::Values(label) => &label.text,
            Across::Names(label, _) => label,
        }
    }

    pub fn height(&self) -> f64 {
        self.top + self.frame + self.bottom
    }

    /// What has no place on its axes.
    pub fn notes(&self) -> Vec<String> {
        let label = &self.panel.up.text;
        let without = |one: &&Series| {
            one.points.iter().map(|point| point.y).chain(one.levels.iter().copied()).any(|y| !self.y.has(y))
        };
        let mut names: Vec<&str> = self.panel.series.iter().filter(without).map(|one| one.name.as_str()).collect();
        names.dedup();
        let zero = format!("{label} is 0, which has no place on a logarithmic axis, for: {}", names.join("; "));
        if names.is_empty() { Vec::new() } else { vec![zero] }
    }

    fn frame_at(&self, (left, top): (f64, f64)) -> Frame {
        Frame {
            left: left + self.left,
            right: left + self.width - RIGHT,
            top: top + self.top,
            bottom: top + self.top + self.frame,
            x: self.x,
            y: self.y,
        }
    }

    /// Draws it below and to the right of a place.
    pub fn draw(&self, drawing: &mut Drawing, origin: (f64, f64)) {
        let frame = self.frame_at(origin);
        self.grid(drawing, &frame);
        self.labels(drawing, &frame, origin);
        let corners = ((frame.left, frame.top), (frame.right, frame.bottom));
        drawing.rectangle(corners.0, corners.1, Paint::stroke(Stroke::solid(GREY, 0.8)));
        for one in &self.panel.series {
            curve(drawing, &frame, one);
        }
        let all = self.placed(&frame);
        let says = |number: &usize| self.says(&self.panel.series[all[*number].series], all[*number].point);
        let marks = self.apart(&all);
        for Placed { style, at, shares, ends, .. } in &marks {
            if let Some(ends) = ends {
                interval(drawing, at.0, *ends, Stroke::solid(style.colour(), 1.0));
            }
            style.mark(drawing, *at);
            drawing.hints.insert(drawing.items.len() - 1, shares.iter().map(says).collect::<Vec<_>>().join("\n"));
        }
        numbers(drawing, &marks);
    }

    /// What a point is: its series, its place, its figure.
    fn says(&self, one: &Series, point: usize) -> String {
        let Point { x, y, .. } = one.points[point];
        let place = match &self.panel.across {
            Across::Values(label) => tick(x, label.bytes),
            Across::Names(_, names) => names.get(x as usize).cloned().unwrap_or_default(),
        };
        format!("{}, {place}; {}: {}", one.name, self.panel.up.text, tick(y, self.panel.up.bytes))
    }

    fn grid(&self, drawing: &mut Drawing, frame: &Frame) {
        let line = Stroke::solid(GRID, 0.8);
        for (value, name) in self.y.named(self.panel.up.bytes) {
            let y = frame.up(value);
            drawing.lines(&[(frame.left, y), (frame.right, y)], line);
            drawing.text((frame.left - 5.0, y + 4.0), Anchor::End, &name);
        }
        let below = frame.bottom + 15.0;
        match &self.panel.across {
            Across::Values(label) => {
                for (value, text) in self.spaced(frame, label) {
                    let x = frame.across(value);
                    drawing.lines(&[(x, frame.top), (x, frame.bottom)], line);
                    drawing.text((x, below), Anchor::Middle, &text);
                }
            }
            Across::Names(_, names) => {
                for (place, name) in names.iter().enumerate() {
                    let x = frame.across(place as f64);
                    drawing.lines(&[(x, frame.bottom), (x, frame.bottom + 4.0)], Stroke::solid(GREY, 0.8));
                    if self.upwards {
                        let text = cut(name, NAME);
                        let at = (x + 4.0, frame.bottom + 8.0);
                        let (anchor, colour) = (Anchor::End, BLACK);
                        drawing.item_of_text(Text { at, anchor, size: SIZE, upwards: true, colour, text });
                    } else {
                        drawing.text((x, below), Anchor::Middle, name);
                    }
                }
            }
        }
    }

    /// Lines of the grid along the horizontal axis whose figures do not meet: every one, or every other, or so on.
    fn spaced(&self, frame: &Frame, label: &Label) -> Vec<(f64, String)> {
        let ticks = self.x.named(label.bytes);
        let meet = |one: &(f64, String), next: &(f64, String)| {
            let half = (font::width(&one.1, SIZE) + font::width(&next.1, SIZE)) / 2.0;
            frame.across(next.0) - frame.across(one.0) < half + 6.0
        };
        let kept = |step: usize| ticks.iter().step_by(step).cloned().collect::<Vec<_>>();
        let fits = |step: &usize| kept(*step).windows(2).all(|pair| !meet(&pair[0], &pair[1]));
        kept((1..=ticks.len().max(1)).find(fits).unwrap_or(1))
    }

    fn labels(&self, drawing: &mut Drawing, frame: &Frame, origin: (f64, f64)) {
        let middle = (frame.left + frame.right) / 2.0;
        if !self.panel.title.is_empty() {
            drawing.text((middle, frame.top - 8.0), Anchor::Middle, &cut(&self.panel.title, self.inner()));
        }
        let lines = wrapped(self.across_text(), self.inner());
        let low = origin.1 + self.height() - LINE * lines.len() as f64 + 2.0;
        centred(drawing, (middle, low), &lines);
        for (place, text) in wrapped(&self.panel.up.text, self.frame).into_iter().enumerate() {
            let at = (origin.0 + 12.0 + LINE * place as f64, (frame.top + frame.bottom) / 2.0);
            let (anchor, colour) = (Anchor::Middle, BLACK);
            drawing.item_of_text(Text { at, anchor, size: SIZE, upwards: true, colour, text });
        }
    }

    fn placed(&self, frame: &Frame) -> Vec<Placed> {
        let of = |(series, one): (usize, &Series)| {
            let has = |(_, point): &(usize, &Point)| self.y.has(point.y) && self.x.has(point.x);
            let marks = one.points.iter().enumerate().filter(has).map(move |(number, point)| {
                let ends = point.ends.filter(|ends| self.y.has(ends.0) && self.y.has(ends.1) && ends.0 < ends.1);
                let ends = ends.map(|(low, high)| (frame.up(high), frame.up(low)));
                let style = point.style.unwrap_or(one.style);
                let at = (frame.across(point.x), frame.up(point.y));
                Placed { series, point: number, style, at, shares: Vec::new(), ends }
            });
            marks.collect::<Vec<_>>()
        };
        let marked = self.panel.series.iter().enumerate().filter(|(_, one)| one.join != Join::Steps);
        marked.flat_map(of).collect()
    }

    /// Marks that would lie on each other, so that each is seen. A place that is a figure is kept.
    fn apart(&self, marks: &[Placed]) -> Vec<Placed> {
        match &self.panel.across {
            Across::Names(..) => spread(marks),
            Across::Values(_) => merged(marks),
        }
    }

    /// What a reader must know of marks that share a place, if some do.
    pub fn shares(&self) -> Option<&'static str> {
        let frame = self.frame_at((0.0, 0.0));
        let shares = together(&self.placed(&frame)).iter().any(|marks| marks.len() > 1);
        shares.then_some(match &self.panel.across {
            Across::Names(..) => "Marks side by side share the place in their middle.",
            Across::Values(_) => "A number beside a mark: so many share its place.",
        })
    }
}

/// The line of figures without a place: of longer dashes than any curve's.
pub(super) fn level(style: Style) -> Stroke {
    Stroke { colour: style.colour(), width: 1.3, dashes: &[14.0, 5.0] }
}

fn curve(drawing: &mut Drawing, frame: &Frame, one: &Series) {
    for figure in one.levels.iter().filter(|figure| frame.y.has(**figure)) {
        let y = frame.up(*figure);
        drawing.lines(&[(frame.left, y), (frame.right, y)], level(one.style));
    }
    let points = one.points.iter().filter(|point| frame.y.has(point.y) && frame.x.has(point.x));
    let mut path: Vec<(f64, f64)> = Vec::new();
    for point in points {
        let (x, y) = (frame.across(point.x), frame.up(point.y));
        if let Some(last) = path.last().filter(|_| one.join == Join::Steps) {
            path.push((x, last.1));
        }
        path.push((x, y));
    }
    if one.join != Join::Apart && path.len() > 1 {
        drawing.lines(&path, one.style.line());
    }
}

/// Marks that would lie on each other, by number.
fn together(marks: &[Placed]) -> Vec<Vec<usize>> {
    let mut columns: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (number, mark) in marks.iter().enumerate() {
        columns.entry((mark.at.0 / NEAR).round() as i64).or_default().push(number);
    }
    let mut groups = Vec::new();
    for mut column in columns.into_values() {
        column.sort_by(|one, other| marks[*one].at.1.total_cmp(&marks[*other].at.1));
        let mut last = f64::NEG_INFINITY;
        for number in column {
            let mark = &marks[number];
            if mark.at.1 - last > 1.5 * RADIUS {
                groups.push(Vec::new());
                last = mark.at.1;
            }
            groups.last_mut().into_iter().for_each(|group| group.push(number));
        }
    }
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups
}

/// Of marks that would lie on each other the last, which stands for all of them.
fn merged(marks: &[Placed]) -> Vec<Placed> {
    let mut groups = together(marks);
    groups.sort_by_key(|group| group.last().copied());
    let one = |shares: Vec<usize>| shares.last().map(|last| Placed { shares: shares.clone(), ..marks[*last].clone() });
    groups.into_iter().filter_map(one).collect()
}

/// Says of each mark that stands for several for how many, where its number covers neither a mark nor another number.
fn numbers(drawing: &mut Drawing, marks: &[Placed]) {
    let around = |(x, y): (f64, f64), (wide, high): (f64, f64)| [x - wide, x + wide, y - high, y + high];
    let meet = |one: &[f64; 4], other: &[f64; 4]| {
        one[0] < other[1] && other[0] < one[1] && one[2] < other[3] && other[2] < one[3]
    };
    let mut taken: Vec<_> = marks.iter().map(|mark| around(mark.at, (RADIUS, RADIUS))).collect();
    for mark in marks.iter().filter(|mark| mark.shares.len() > 1) {
        let text = mark.shares.len().to_string();
        let half = font::width(&text, SMALL) / 2.0 + 1.0;
        let placed = BESIDE.iter().map(|(x, y)| (mark.at.0 + x * RADIUS, mark.at.1 + y * RADIUS));
        let area = |at: (f64, f64)| around((at.0, at.1 - SMALL / 3.0), (half, SMALL / 2.0));
        let Some(at) = placed.into_iter().find(|at| !taken.iter().any(|one| meet(one, &area(*at)))) else { continue };
        taken.push(area(at));
        let (anchor, colour) = (Anchor::Middle, GREY);
        drawing.item_of_text(Text { at, anchor, size: SMALL, upwards: false, colour, text });
    }
}

/// Marks that would lie on each other are side by side, their places in the middle. Of equal ones of a series there is one.
fn spread(marks: &[Placed]) -> Vec<Placed> {
    let mut moved = Vec::new();
    for mut group in together(marks) {
        let is = |one: usize, other: usize| {
            marks[one].series == marks[other].series && (marks[one].at.1 - marks[other].at.1).abs() < 1.0
        };
        group.sort_by_key(|number| marks[*number].series);
        group.dedup_by(|one, other| is(*one, *other));
        let step = 2.0 * RADIUS + 1.0;
        let half = step * (group.len() - 1) as f64 / 2.0;
        for (place, number) in group.into_iter().enumerate() {
            let mark = marks[number].clone();
            moved.push(Placed {
                at: (mark.at.0 - half + step * place as f64, mark.at.1),
                shares: vec![number],
                ..mark
            });
        }
    }
    moved.sort_by_key(|mark| mark.shares[0]);
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(series: usize, at: (f64, f64)) -> Placed {
        Placed { series, point: 0, style: Style::of(series), at, shares: Vec::new(), ends: None }
    }

    #[test]
    fn marks_at_one_place_stand_side_by_side_around_it() {
        let marks = vec![mark(0, (50.0, 20.0)), mark(1, (50.0, 21.0)), mark(2, (50.0, 20.0)), mark(0, (50.0, 90.0))];
        let moved: Vec<_> = spread(&marks).iter().map(|mark| (mark.series, mark.at)).collect();
        let step = 2.0 * RADIUS + 1.0;
        assert_eq!(moved, [(0, (50.0 - step, 20.0)), (1, (50.0, 21.0)), (2, (50.0 + step, 20.0)), (0, (50.0, 90.0))]);
    }

    #[test]
    fn marks_that_share_a_figure_are_one_with_their_number() {
        let mut marks: Vec<_> = (0..12).map(|series| mark(series, (50.0, 20.0))).collect();
        marks.push(mark(0, (90.0, 20.0)));
        let merged = merged(&marks);
        let of: Vec<_> = merged.iter().map(|mark| (mark.series, mark.at, mark.shares.len())).collect();
        assert_eq!(of, [(11, (50.0, 20.0), 12), (0, (90.0, 20.0), 1)]);
        let mut drawing = Drawing::new(200.0, 50.0);
        numbers(&mut drawing, &merged);
        let texts = drawing.items.iter().filter_map(|item| match item {
            super::super::drawing::Item::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        assert_eq!(texts.collect::<Vec<_>>(), ["12"]);
    }

    #[test]
    fn equal_marks_of_a_series_are_one() {
        assert_eq!(spread(&[mark(0, (50.0, 20.0)), mark(0, (50.0, 20.0))]).len(), 1);
        assert_eq!(spread(&[mark(0, (50.0, 20.0)), mark(0, (50.0, 24.0))]).len(), 2);
    }

    #[test]
    fn a_zero_is_told_and_not_drawn_on_a_logarithmic_axis() {
        let points = [0.0, 1.0, 100.0].iter().map(|y| Point::new(*y, *y)).collect();
        let series =
            vec![Series { name: "eager".into(), style: Style::of(0), points, join: Join::Line, levels: Vec::new() }];
        let across = Across::Values(Label::new("Length (bytes)"));
        let panel = Panel { title: String::new(), across, up: Label::new("Exposure (µs)"), series };
        let layout = Layout::of(&panel, 400.0, 300.0);
        let frame = layout.frame_at((0.0, 0.0));
        assert_eq!(layout.placed(&frame).len(), 2);
        assert_eq!(layout.notes(), ["Exposure (µs) is 0, which has no place on a logarithmic axis, for: eager"]);
    }
}
