//! Plots of series as data: panels with their axes, a legend, notes. [`Figure::draw`] makes the picture.

use super::{
    drawing::{Anchor, Drawing, LINE, wrapped},
    legend::{Key, Legend},
    mark::Style,
    panel,
};
use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Words with the unit: `Rate (GB/s)`.
    pub text: String,
    /// Whether figures are bytes, and so shown as `64 KiB`.
    pub bytes: bool,
}

impl Label {
    /// Words with a unit that is not bytes.
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), bytes: text.ends_with("(bytes)") }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Across {
    Values(Label),
    /// Names, side by side; a point's place is the number of its name.
    Names(String, Vec<String>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Its place along the horizontal axis.
    pub x: f64,
    pub y: f64,
    /// Least and greatest value that the figure may have.
    pub ends: Option<(f64, f64)>,
    /// How its mark looks, if not as those of its series.
    pub style: Option<Style>,
}

impl Point {
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y, ends: None, style: None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    Apart,
    Line,
    /// By steps: what a point has holds until the next one. The points themselves have no marks.
    Steps,
}

/// Points that are distinguished from others by colour and shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    pub name: String,
    pub style: Style,
    /// Its points, from left to right if they are joined.
    pub points: Vec<Point>,
    pub join: Join,
    /// Figures without a place on the horizontal axis: dashed lines across.
    pub levels: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// What is above it, if anything.
    pub title: String,
    pub across: Across,
    pub up: Label,
    /// What is drawn, the last on top.
    pub series: Vec<Series>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    pub title: String,
    /// Its panels, in the order of reading.
    pub panels: Vec<Panel>,
    pub keys: Vec<Key>,
    /// What else a reader must know.
    pub notes: Vec<String>,
}

/// Width of a panel, by how many are side by side: 1, 2, 3.
const WIDTHS: [f64; 3] = [640.0, 430.0, 400.0];
const HEIGHT: f64 = 310.0;
/// Room around the picture.
pub(super) const ROOM: f64 = 10.0;

impl Figure {
    pub fn draw(&self) -> Drawing {
        let abreast = self.panels.len().clamp(1, WIDTHS.len());
        let each = WIDTHS[abreast - 1];
        let width = each * abreast as f64 + 2.0 * ROOM;
        let title = wrapped(&self.title, width - 2.0 * ROOM).len();
        let drawn: Vec<_> = self.panels.iter().map(|panel| panel::Layout::of(panel, each, HEIGHT)).collect();
        let rows: Vec<f64> =
            drawn.chunks(abreast).map(|row| row.iter().map(panel::Layout::height).fold(0.0, f64::max)).collect();
        let mut notes = self.notes.clone();
        notes.extend(drawn.iter().flat_map(panel::Layout::notes));
        let shares: BTreeSet<_> = drawn.iter().filter_map(panel::Layout::shares).collect();
        notes.extend(shares.into_iter().map(str::to_owned));
        let legend = Legend { keys: &self.keys, notes: &notes, width: width - 2.0 * ROOM };
        let head = ROOM + LINE * title as f64;
        let height = head + rows.iter().sum::<f64>() + legend.height() + ROOM;
        let mut drawing = Drawing::new(width, height);
        drawing.paragraph((ROOM, ROOM + 12.0), width - 2.0 * ROOM, &self.title);
        let mut top = head;
        for (row, high) in drawn.chunks(abreast).zip(rows) {
            for (place, layout) in row.iter().enumerate() {
                layout.draw(&mut drawing, (ROOM + each * place as f64, top));
            }
            top += high;
        }
        legend.draw(&mut drawing, (ROOM, top));
        drawing
    }
}

pub(super) fn centred(drawing: &mut Drawing, (x, mut y): (f64, f64), lines: &[String]) {
    for line in lines {
        drawing.text((x, y), Anchor::Middle, line);
        y += LINE;
    }
}
