//! A picture as plain data: paths, discs and texts, placed in pixels from the upper left corner. What draws adds to it; what writes files
//! ([`svg`](super::svg), `pdf`) reads it, so that all files of a picture show the same.

use super::font;
use crate::files::is_hidden;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

pub const BLACK: Colour = Colour(0, 0, 0);
pub const WHITE: Colour = Colour(255, 255, 255);
pub const GRID: Colour = Colour(0xdd, 0xdd, 0xdd);
/// What is behind the others: names of ends, notes, frames.
pub const GREY: Colour = Colour(0x55, 0x55, 0x55);

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stroke {
    pub colour: Colour,
    pub width: f64,
    /// Lengths of dashes and of what is between them, in pixels; none for a line without.
    pub dashes: &'static [f64],
}

impl Stroke {
    pub const fn solid(colour: Colour, width: f64) -> Self {
        Self { colour, width, dashes: &[] }
    }
}

/// What a path or a disc is painted with.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Paint {
    pub fill: Option<Colour>,
    pub stroke: Option<Stroke>,
}

impl Paint {
    pub const fn fill(colour: Colour) -> Self {
        Self { fill: Some(colour), stroke: None }
    }

    pub const fn stroke(stroke: Stroke) -> Self {
        Self { fill: None, stroke: Some(stroke) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// The path begins anew here.
    Move(f64, f64),
    Line(f64, f64),
    /// A straight line to where the path began.
    Close,
}

/// Which part of a text is at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// Where its base line is.
    pub at: (f64, f64),
    pub anchor: Anchor,
    pub size: f64,
    pub upwards: bool,
    pub colour: Colour,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    Path(Vec<Step>, Paint),
    /// A disc: middle, radius.
    Disc((f64, f64), f64, Paint),
    Text(Text),
}

/// A picture. What comes later covers what came before.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    pub width: f64,
    pub height: f64,
    pub items: Vec<Item>,
    /// What some items say to whom points at them, by their number.
    pub hints: BTreeMap<usize, String>,
}

/// Size of texts in pixels, if nothing else is said.
pub const SIZE: f64 = 12.0;
/// From one line of text to the next, in pixels.
pub const LINE: f64 = 16.0;

impl Drawing {
    pub fn new(width: f64, height: f64) -> Self {
        let mut drawing = Self { width, height, items: Vec::new(), hints: BTreeMap::new() };
        drawing.rectangle((0.0, 0.0), (width, height), Paint::fill(WHITE));
        drawing
    }

    pub fn path(&mut self, steps: Vec<Step>, paint: Paint) {
        self.items.push(Item::Path(steps, paint));
    }

    pub fn disc(&mut self, at: (f64, f64), radius: f64, paint: Paint) {
        self.items.push(Item::Disc(at, radius, paint));
    }

    /// A rectangle by two opposite corners.
    pub fn rectangle(&mut self, (left, top): (f64, f64), (right, low): (f64, f64), paint: Paint) {
        let corners = [(left, top), (right, top), (right, low), (left, low)];
        self.path(closed(&corners), paint);
    }

    pub fn lines(&mut self, points: &[(f64, f64)], stroke: Stroke) {
        self.path(open(points), Paint::stroke(stroke));
    }

    /// A text in black and of the usual size.
    pub fn text(&mut self, at: (f64, f64), anchor: Anchor, text: &str) {
        self.item_of_text(Text { at, anchor, size: SIZE, upwards: false, colour: BLACK, text: text.to_owned() });
    }

    /// A text as it says itself. Characters that no file can have become question marks.
    pub fn item_of_text(&mut self, mut text: Text) {
        // What XML does not have, names of files may.
        let unusable = |one: char| is_hidden(one) || matches!(one, '\n' | '\t' | '\u{fffe}' | '\u{ffff}');
        text.text = text.text.replace(unusable, "?");
        self.items.push(Item::Text(text));
    }

    /// A text in lines of at most so many pixels, the first at `at`. Returns where the next line would be.
    pub fn paragraph(&mut self, (x, mut y): (f64, f64), width: f64, text: &str) -> f64 {
        for line in wrapped(text, width) {
            self.text((x, y), Anchor::Start, &line);
            y += LINE;
        }
        y
    }
}

/// A path from point to point that ends at the last.
pub fn open(points: &[(f64, f64)]) -> Vec<Step> {
    let steps = points.iter().enumerate();
    steps.map(|(place, &(x, y))| if place == 0 { Step::Move(x, y) } else { Step::Line(x, y) }).collect()
}

/// A path from point to point and back to the first.
pub fn closed(points: &[(f64, f64)]) -> Vec<Step> {
    open(points).into_iter().chain([Step::Close]).collect()
}

/// A text in lines of at most so many pixels, broken between words. A word that is longer has a line of its own.
pub fn wrapped(text: &str, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if font::width(&format!("{line} {word}"), SIZE) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A text cut to a width, with an ellipsis where something is missing.
pub fn cut(text: &str, width: f64) -> String {
    if font::width(text, SIZE) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for letter in text.chars() {
        if font::width(&format!("{kept}{letter}…"), SIZE) > width {
            break;
        }
        kept.push(letter);
    }
    kept + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_no_wider_than_asked_for_and_lose_no_word() {
        let text = "a line joins the points of one curve, marks off it are other points of the study";
        let lines = wrapped(text, 120.0);
        assert!(lines.len() > 2 && lines.iter().all(|line| font::width(line, SIZE) <= 120.0), "{lines:?}");
        assert_eq!(lines.join(" "), text);
        assert_eq!(wrapped("Donaudampfschiff fahren", 20.0), ["Donaudampfschiff", "fahren"]);
    }

    #[test]
    fn a_cut_text_fits_and_says_that_it_is_cut() {
        let long = "x".repeat(500);
        let short = cut(&long, 100.0);
        assert!(short.ends_with('…') && font::width(&short, SIZE) <= 100.0, "{short}");
        assert_eq!(cut("short", 100.0), "short");
    }
}
