//! Horizontal bars by name, in panels side by side.

use super::{
    axis::Axis,
    drawing::{Anchor, BLACK, Colour, Drawing, GREY, GRID, LINE, Paint, SIZE, Stroke, Text, cut, wrapped},
    figure::{Label, ROOM, centred},
    font,
    legend::{Key, Legend},
    mark::Style,
};

#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Where it ends; it begins at the panel's base. None where there is nothing to show but a text.
    pub to: Option<f64>,
    /// Least and greatest value that its figure has.
    pub ends: Option<(f64, f64)>,
    /// Its colour; an outline if hollow.
    pub style: Style,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct BarPanel {
    /// What they are, with their unit.
    pub label: Label,
    pub base: f64,
    /// By name: its bars, one below the other.
    pub rows: Vec<Vec<Bar>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    pub title: String,
    /// From top to bottom.
    pub names: Vec<String>,
    pub panels: Vec<BarPanel>,
    pub keys: Vec<Key>,
    /// What else a reader must know.
    pub notes: Vec<String>,
}

/// Width of a panel, by how many there are.
const WIDTHS: [f64; 3] = [440.0, 300.0, 240.0];
/// Widest name in pixels.
const NAME: f64 = 300.0;
/// Height of a bar, and what is between those of two names.
const BAR: f64 = 13.0;
const BETWEEN: f64 = 9.0;
/// Size of the texts at the ends of bars.
const SMALL: f64 = 10.0;

struct Frame<'b> {
    panel: &'b BarPanel,
    axis: Axis,
    left: f64,
    right: f64,
    /// Room for texts on both sides of the bars.
    texts: (f64, f64),
}

impl Frame<'_> {
    fn across(&self, value: f64) -> f64 {
        let (left, right) = (self.left + self.texts.0, self.right - self.texts.1);
        left + self.axis.place(value) * (right - left)
    }
}

impl BarPanel {
    fn frame(&self, left: f64, width: f64) -> Frame<'_> {
        let bars = || self.rows.iter().flatten();
        let values =
            bars().flat_map(|bar| bar.to.into_iter().chain(bar.ends.into_iter().flat_map(|(low, high)| [low, high])));
        let values: Vec<f64> = values.chain([self.base]).collect();
        let widest = |below: bool| {
            let side = bars().filter(|bar| bar.to.is_some_and(|to| to < self.base) == below);
            side.map(|bar| font::width(&bar.text, SMALL)).fold(0.0, f64::max)
        };
        let texts = ((widest(true) + 8.0).min(width / 3.0), (widest(false) + 8.0).min(width / 3.0));
        Frame { panel: self, axis: Axis::over(values.iter().copied(), false), left, right: left + width, texts }
    }
}

impl Bars {
    fn row(&self, name: usize) -> f64 {
        let bars = self.panels.iter().filter_map(|panel| panel.rows.get(name)).map(Vec::len).max().unwrap_or(1);
        BAR * bars.max(1) as f64 + BETWEEN
    }

    pub fn draw(&self) -> Drawing {
        let widest = self.names.iter().map(|name| font::width(name, SIZE)).fold(0.0, f64::max).min(NAME);
        let left = ROOM + widest + 10.0;
        let each = WIDTHS[self.panels.len().clamp(1, WIDTHS.len()) - 1];
        let width = left + (each + 14.0) * self.panels.len() as f64 + ROOM;
        let inner = width - 2.0 * ROOM;
        let title = wrapped(&self.title, inner).len();
        let top = ROOM + LINE * title as f64 + 10.0;
        let low = top + (0..self.names.len()).map(|name| self.row(name)).sum::<f64>() + BETWEEN;
        let labels = self.panels.iter().map(|panel| wrapped(&panel.label.text, each).len()).max().unwrap_or(0);
        let below = 22.0 + LINE * labels as f64 + 10.0;
        let legend = Legend { keys: &self.keys, notes: &self.notes, width: inner };
        let mut drawing = Drawing::new(width, low + below + legend.height() + ROOM);
        drawing.paragraph((ROOM, ROOM + 12.0), inner, &self.title);
        for (place, panel) in self.panels.iter().enumerate() {
            let frame = panel.frame(left + (each + 14.0) * place as f64, each);
            self.panel(&mut drawing, &frame, (top, low));
        }
        let mut row = top + BETWEEN;
        for (place, name) in self.names.iter().enumerate() {
            let middle = row + (self.row(place) - BETWEEN) / 2.0 + 4.0;
            drawing.text((left - 8.0, middle), Anchor::End, &cut(name, NAME));
            row += self.row(place);
        }
        legend.draw(&mut drawing, (ROOM, low + below));
        drawing
    }

    fn panel(&self, drawing: &mut Drawing, frame: &Frame<'_>, (top, low): (f64, f64)) {
        let (label, base) = (&frame.panel.label, frame.across(frame.panel.base));
        let mut last = f64::NEG_INFINITY;
        for (value, text) in frame.axis.named(label.bytes) {
            let x = frame.across(value);
            drawing.lines(&[(x, top), (x, low)], Stroke::solid(GRID, 0.8));
            let half = font::width(&text, SIZE) / 2.0;
            if x - half > last + 4.0 {
                drawing.text((x, low + 15.0), Anchor::Middle, &text);
                last = x + half;
            }
        }
        drawing.rectangle((frame.left, top), (frame.right, low), Paint::stroke(Stroke::solid(GREY, 0.8)));
        let mut row = top + BETWEEN;
        for (place, bars) in frame.panel.rows.iter().enumerate() {
            for (number, bar) in bars.iter().enumerate() {
                bar.draw(drawing, frame, row + BAR * number as f64);
            }
            row += self.row(place);
        }
        drawing.lines(&[(base, top), (base, low)], Stroke::solid(BLACK, 1.0));
        centred(
            drawing,
            ((frame.left + frame.right) / 2.0, low + 34.0),
            &wrapped(&label.text, frame.right - frame.left),
        );
    }
}

pub fn paint(style: Style) -> Paint {
    let light = |part: u8| part / 4 + 191;
    let Colour(red, green, blue) = style.colour();
    let pale = Colour(light(red), light(green), light(blue));
    let fill = if style.hollow { pale } else { style.colour() };
    Paint { fill: Some(fill), stroke: Some(Stroke::solid(style.colour(), 1.0)) }
}

impl Bar {
    fn draw(&self, drawing: &mut Drawing, frame: &Frame<'_>, top: f64) {
        let base = frame.across(frame.panel.base);
        let to = self.to.map_or(base, |to| frame.across(to));
        let (left, right) = (base.min(to), base.max(to));
        if right > left {
            drawing.rectangle((left, top + 1.0), (right, top + BAR - 1.0), paint(self.style));
        }
        let middle = top + BAR / 2.0;
        let mut reach = (left, right);
        if let Some((low, high)) = self.ends.filter(|(low, high)| low < high) {
            let (low, high) = (frame.across(low), frame.across(high));
            let line = Stroke::solid(BLACK, 1.0);
            drawing.lines(&[(low, middle), (high, middle)], line);
            for x in [low, high] {
                drawing.lines(&[(x, middle - 3.0), (x, middle + 3.0)], line);
            }
            reach = (left.min(low), right.max(high));
        }
        let below = to < base;
        let (x, anchor) = if below { (reach.0 - 4.0, Anchor::End) } else { (reach.1 + 4.0, Anchor::Start) };
        let (at, colour, text) = ((x, middle + 3.5), BLACK, self.text.clone());
        drawing.item_of_text(Text { at, anchor, size: SMALL, upwards: false, colour, text });
    }
}

#[cfg(test)]
mod tests {
    use super::super::drawing::Item;
    use super::super::legend::Sample;
    use super::*;

    #[test]
    fn bars_with_their_texts_are_inside_the_picture_on_both_sides_of_the_base() {
        let bar = |to: f64, text: &str| Bar { to: Some(to), ends: None, style: Style::of(0), text: text.into() };
        let rows = vec![vec![bar(2.0, "at 1.2 B/cycle"), bar(9.0, "at 3 B/cycle")], vec![bar(5.0, "")]];
        let panel = BarPanel { label: Label::new("Rate (GB/s)"), base: 5.0, rows };
        let names = vec!["CPU cipher sealing rate per thread".to_owned(), "nothing".to_owned()];
        let keys = vec![Key::new(Sample::Area(paint(Style::of(0))), "a bar")];
        let bars = Bars { title: "t".into(), names, panels: vec![panel.clone(), panel], keys, notes: Vec::new() };
        let drawing = bars.draw();
        let mut rectangles = 0;
        for item in &drawing.items {
            match item {
                Item::Text(text) if !text.upwards => {
                    let wide = font::width(&text.text, text.size);
                    let left = match text.anchor {
                        Anchor::Start => text.at.0,
                        Anchor::Middle => text.at.0 - wide / 2.0,
                        Anchor::End => text.at.0 - wide,
                    };
                    assert!(left >= 0.0 && left + wide <= drawing.width && text.at.1 < drawing.height, "{text:?}");
                }
                Item::Path(_, paint) if paint.fill == Some(Style::of(0).colour()) => rectangles += 1,
                _ => {}
            }
        }
        // Two bars in each panel, none for the third, which has no length, and the legend's.
        assert_eq!(rectangles, 2 * 2 + 1);
    }
}
