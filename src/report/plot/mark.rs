//! Marks, which shapes distinguish as well as colours.

use super::drawing::{Colour, Drawing, Paint, Stroke, WHITE, closed, open};
use crate::report::names::{self, COLOUR_COUNT};

/// Dashes of lines, so that those that lie on each other are seen.
const DASHES: [&[f64]; 5] = [&[], &[7.0, 3.0], &[2.0, 3.0], &[9.0, 3.0, 2.0, 3.0], &[4.0, 4.0]];

/// Half the width of a mark in pixels.
pub const RADIUS: f64 = 4.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Disc,
    Square,
    Triangle,
    Diamond,
    Down,
    Cross,
    Plus,
    Bar,
}

const FORMS: [Form; 8] =
    [Form::Disc, Form::Square, Form::Triangle, Form::Diamond, Form::Down, Form::Cross, Form::Plus, Form::Bar];

/// What distinguishes one series from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Its number. Colours, shapes and dashes repeat, but not together before 64. The script of pages counts alike.
    pub number: usize,
    pub hollow: bool,
    /// How many shapes it is on from its own.
    shape: usize,
}

impl Style {
    /// A series by its number, with filled marks.
    pub const fn of(number: usize) -> Self {
        Self { number, hollow: false, shape: 0 }
    }

    pub const fn hollow(self) -> Self {
        Self { hollow: true, ..self }
    }

    /// The same colour with another shape for each `kind` below 8, 0 being its own.
    pub const fn kind(self, kind: usize) -> Self {
        Self { shape: kind, ..self }
    }

    pub fn colour(self) -> Colour {
        names::colour(self.number + self.number / COLOUR_COUNT)
    }

    pub fn line(self) -> Stroke {
        Stroke { colour: self.colour(), width: 1.3, dashes: DASHES[self.number % DASHES.len()] }
    }

    pub fn mark(self, drawing: &mut Drawing, (x, y): (f64, f64)) {
        let edge = Stroke::solid(self.colour(), 1.3);
        let fill = if self.hollow { WHITE } else { self.colour() };
        let paint = Paint { fill: Some(fill), stroke: Some(edge) };
        let at = |(across, up): (f64, f64)| (x + across * RADIUS, y - up * RADIUS);
        let area = |drawing: &mut Drawing, points: &[(f64, f64)]| {
            drawing.path(closed(&points.iter().copied().map(at).collect::<Vec<_>>()), paint);
        };
        let stroke = |drawing: &mut Drawing, lines: [[(f64, f64); 2]; 2]| {
            let width = if self.hollow { 1.3 } else { 2.2 };
            let steps = lines.iter().flat_map(|line| open(&line.map(at))).collect();
            drawing.path(steps, Paint::stroke(Stroke::solid(self.colour(), width)));
        };
        match FORMS[(self.number + self.shape) % FORMS.len()] {
            Form::Disc => drawing.disc((x, y), 0.85 * RADIUS, paint),
            Form::Square => area(drawing, &[(-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)]),
            Form::Triangle => area(drawing, &[(-1.0, -0.75), (1.0, -0.75), (0.0, 1.0)]),
            Form::Diamond => area(drawing, &[(-1.05, 0.0), (0.0, -1.05), (1.05, 0.0), (0.0, 1.05)]),
            Form::Down => area(drawing, &[(-1.0, 0.75), (1.0, 0.75), (0.0, -1.0)]),
            Form::Cross => stroke(drawing, [[(-0.9, -0.9), (0.9, 0.9)], [(-0.9, 0.9), (0.9, -0.9)]]),
            Form::Plus => stroke(drawing, [[(-1.1, 0.0), (1.1, 0.0)], [(0.0, -1.1), (0.0, 1.1)]]),
            Form::Bar => area(drawing, &[(-0.4, -1.1), (0.4, -1.1), (0.4, 1.1), (-0.4, 1.1)]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn sixty_four_series_differ_and_neighbours_in_colour_and_dashes() {
        let drawn = |style: Style| {
            let mut drawing = Drawing::new(20.0, 20.0);
            style.mark(&mut drawing, (10.0, 10.0));
            format!("{:?}", drawing.items)
        };
        assert_eq!((0..64).map(|number| drawn(Style::of(number))).collect::<HashSet<_>>().len(), 64);
        for number in 0..20 {
            let kinds: HashSet<_> = (0..8).map(|kind| drawn(Style::of(number).kind(kind))).collect();
            assert!(kinds.len() == 8 && Style::of(number).kind(3).colour() == Style::of(number).colour());
            let (one, next) = (Style::of(number), Style::of(number + 1));
            assert!(one.colour() != next.colour() && one.line().dashes != next.line().dashes);
        }
    }
}
