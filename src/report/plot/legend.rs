//! What marks, lines and areas mean, below a plot.

use super::{
    drawing::{Anchor, BLACK, Drawing, LINE, Paint, SIZE, Stroke, cut, wrapped},
    font,
    mark::Style,
};

/// What is before a text of the legend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sample {
    Mark(Style),
    /// A mark on a line.
    Curve(Style),
    /// A line without marks.
    Line(Stroke),
    /// An interval around a mark.
    Interval,
    Area(Paint),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    pub sample: Sample,
    pub text: String,
}

impl Key {
    pub fn new(sample: Sample, text: impl Into<String>) -> Self {
        Self { sample, text: text.into() }
    }
}

/// A legend of a width: keys in columns, notes below.
#[derive(Debug, Clone, Copy)]
pub(super) struct Legend<'a> {
    pub keys: &'a [Key],
    pub notes: &'a [String],
    pub width: f64,
}

const SAMPLE: f64 = 30.0;
const GAP: f64 = 8.0;
/// Between columns of keys.
const BETWEEN: f64 = 22.0;
/// From one key to the next.
const ROW: f64 = 18.0;

impl Legend<'_> {
    /// Width of a column of keys, and how many there are.
    fn columns(&self) -> (f64, usize) {
        let widest = self.keys.iter().map(|key| font::width(&key.text, SIZE)).fold(0.0, f64::max);
        let each = (SAMPLE + GAP + widest + BETWEEN).min(self.width);
        (each, ((self.width / each) as usize).clamp(1, self.keys.len().max(1)))
    }

    fn rows(&self) -> usize {
        self.keys.len().div_ceil(self.columns().1)
    }

    fn lines(&self) -> usize {
        self.notes.iter().map(|note| wrapped(note, self.width).len()).sum()
    }

    pub fn height(&self) -> f64 {
        let notes = if self.notes.is_empty() { 0.0 } else { LINE * self.lines() as f64 + 4.0 };
        ROW * self.rows() as f64 + notes + 6.0
    }

    /// Draws it below and to the right of a place. Keys run down each column.
    pub fn draw(&self, drawing: &mut Drawing, (left, top): (f64, f64)) {
        let (each, rows) = (self.columns().0, self.rows().max(1));
        for (place, key) in self.keys.iter().enumerate() {
            let at = (left + each * (place / rows) as f64, top + ROW * ((place % rows) as f64 + 0.5) + 4.0);
            key.sample.draw(drawing, at);
            let text = cut(&key.text, each - SAMPLE - GAP);
            drawing.text((at.0 + SAMPLE + GAP, at.1 + 4.0), Anchor::Start, &text);
        }
        let mut low = top + ROW * self.rows() as f64 + 20.0;
        for note in self.notes {
            low = drawing.paragraph((left, low), self.width, note);
        }
    }
}

impl Sample {
    /// Draws it to the right of a place, at its height.
    fn draw(self, drawing: &mut Drawing, (left, y): (f64, f64)) {
        let (middle, right) = (left + SAMPLE / 2.0, left + SAMPLE);
        match self {
            Self::Mark(style) => style.mark(drawing, (middle, y)),
            Self::Curve(style) => {
                drawing.lines(&[(left, y), (right, y)], style.line());
                style.mark(drawing, (middle, y));
            }
            Self::Line(stroke) => drawing.lines(&[(left, y), (right, y)], stroke),
            Self::Interval => interval(drawing, middle, (y - 7.0, y + 7.0), Stroke::solid(BLACK, 1.0)),
            Self::Area(paint) => drawing.rectangle((middle - 9.0, y - 5.0), (middle + 9.0, y + 5.0), paint),
        }
    }
}

/// From the least to the greatest value, with a short line at both ends.
pub(super) fn interval(drawing: &mut Drawing, x: f64, (top, low): (f64, f64), stroke: Stroke) {
    for line in [[(x, top), (x, low)], [(x - 3.0, top), (x + 3.0, top)], [(x - 3.0, low), (x + 3.0, low)]] {
        drawing.lines(&line, stroke);
    }
}

#[cfg(test)]
mod tests {
    use super::super::drawing::Item;
    use super::*;

    #[test]
    fn every_key_and_every_note_is_inside() {
        let keys: Vec<Key> =
            (0..23).map(|n| Key::new(Sample::Curve(Style::of(n)), format!("design number {n}"))).collect();
        let notes = ["a note of many words that does not fit into one line of a narrow picture".to_owned()];
        for width in [150.0, 400.0, 900.0] {
            let legend = Legend { keys: &keys, notes: &notes, width };
            let mut drawing = Drawing::new(width, legend.height());
            legend.draw(&mut drawing, (0.0, 0.0));
            let mut texts = 0;
            for item in &drawing.items {
                if let Item::Text(text) = item {
                    let right = text.at.0 + font::width(&text.text, text.size);
                    assert!(right <= width && text.at.1 <= drawing.height, "{text:?}");
                    texts += 1;
                }
            }
            assert!(texts > keys.len(), "{texts}");
        }
    }
}
