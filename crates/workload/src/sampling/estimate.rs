//! From the outcomes of short runs to that of the whole.

use super::{
    busiest,
    figures::{RESOLUTION, REST, TIME, alike, settle},
    line::Line,
    parts::{Part, What},
    points::{Estimate, Point, moved},
    turns,
};
use crate::{
    growth::Growth,
    system::{CopyOutcome, Outcome},
};
use std::collections::{HashMap, HashSet};

/// How often the interval of a figure holds what a run of all of it gives, as far as lines and noise go.
pub const CONFIDENCE: f64 = 0.95;

#[derive(Debug, Clone, Copy)]
struct Figure {
    middle: f64,
    half: [f64; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inestimable {
    /// The runs do not have the same figures.
    Unlike,
    /// The whole would take longer than simulated time reaches.
    TooLong,
}

/// The whole. `base` is the run whose parts are all shortest; `longer` are by part those in which it alone is longer, by length.
pub(super) fn estimate(parts: &[Part], base: &Point, longer: &[Vec<Point>]) -> Result<Estimate, Inestimable> {
    let kept: Vec<usize> = base.places.clone();
    let mut runs: Vec<Outcome> =
        std::iter::once(base).chain(longer.iter().flatten()).map(|run| of(run, &kept)).collect();
    alike(&mut runs.iter_mut().collect::<Vec<_>>());
    let tables: Vec<Vec<(Growth, u64)>> = runs.iter_mut().map(table).collect();
    let (first, rest) = tables.split_first().ok_or(Inestimable::Unlike)?;
    if rest.iter().any(|table| table.len() != first.len()) {
        return Err(Inestimable::Unlike);
    }
    let mut figures = Vec::with_capacity(first.len());
    for (place, &(growth, own)) in first.iter().enumerate() {
        let figure = match growth {
            Growth::Peak => peak(tables.iter().filter_map(|table| Some(table.get(place)?.1))),
            _ => {
                let line = line(parts, base, longer, own, &|run| rest[run][place].1).ok_or(Inestimable::Unlike)?;
                line.resolved(growth)
            }
        };
        figures.push((own, figure));
    }
    let write = |shift: &dyn Fn(&Figure) -> f64| {
        let (mut outcome, mut figures) = (runs[0].clone(), figures.iter());
        outcome.visit(&mut |_, figure| {
            if let Some((own, of)) = figures.next() {
                *figure = moved(*own, of.middle + shift(of));
            }
        });
        outcome
    };
    let (mut middle, mut low, mut high) =
        (write(&|_| 0.0), write(&|figure| -figure.half[0]), write(&|figure| figure.half[1]));
    if figures.iter().any(|(own, figure)| *own as f64 + figure.middle >= u64::MAX as f64) {
        return Err(Inestimable::TooLong);
    }
    resolve_states(&runs[0], &middle, &mut low, &mut high);
    settle(&mut middle);
    let mut all = Estimate { middle, low, high };
    all.raise();
    all.fill(parts, &kept, longer);
    busiest::name(&mut all, parts, base, longer);
    Ok(all)
}

/// An outcome with those copies only that all runs make.
fn of(run: &Point, kept: &[usize]) -> Outcome {
    let mut outcome = run.outcome.clone();
    let copies: HashMap<usize, CopyOutcome> =
        run.places.iter().copied().zip(std::mem::take(&mut outcome.copies)).collect();
    outcome.copies = kept.iter().filter_map(|full| copies.get(full).cloned()).collect();
    outcome
}

fn table(outcome: &mut Outcome) -> Vec<(Growth, u64)> {
    let mut all = Vec::new();
    outcome.visit(&mut |growth, figure| all.push((growth, *figure)));
    all
}

impl Figure {
    /// No narrower than short runs show.
    fn resolved(self, growth: Growth) -> Self {
        let part = match growth {
            Growth::Count | Growth::Cycles | Growth::Peak => 0.0,
            Growth::Date => RESOLUTION * TIME,
            Growth::Sum => RESOLUTION * REST,
        };
        Self { half: self.half.map(|half| half.max(part * self.middle.abs())), ..self }
    }
}

/// Makes no interval of a state narrower than a part of what the cycles of its unit grow by; `base` is the shortest run.
fn resolve_states(base: &Outcome, middle: &Outcome, low: &mut Outcome, high: &mut Outcome) {
    for (place, unit) in middle.units.iter().enumerate() {
        let grown = unit.cycles.saturating_sub(base.units[place].cycles);
        let least = (RESOLUTION * REST * grown as f64) as u64;
        let widen = |middle: u64, low: &mut u64, high: &mut u64| {
            if middle > 0 {
                *low = (*low).min(middle.saturating_sub(least));
                *high = (*high).max(middle + least);
            }
        };
        let (low, high) = (&mut low.units[place], &mut high.units[place]);
        widen(unit.busy, &mut low.busy, &mut high.busy);
        widen(unit.idle, &mut low.idle, &mut high.idle);
        let stalls = unit.stalls.iter().zip(&mut low.stalls).zip(&mut high.stalls);
        stalls.for_each(|((middle, low), high)| widen(middle.1, &mut low.1, &mut high.1));
    }
}

/// The largest that was seen, and how much larger it may be, above the first.
fn peak(seen: impl Iterator<Item = u64> + Clone) -> Figure {
    let first = seen.clone().next().unwrap_or(0);
    let (least, most) = (seen.clone().min().unwrap_or(0), seen.max().unwrap_or(0));
    Figure { middle: most as f64 - first as f64, half: [0.0, (most - least) as f64] }
}

/// A line for each part; what they add to the figure of the shortest run adds up. `figure` gives those of the longer runs in their order.
fn line(
    parts: &[Part],
    base: &Point,
    longer: &[Vec<Point>],
    own: u64,
    figure: &dyn Fn(usize) -> u64,
) -> Option<Figure> {
    let (mut next, mut middle, mut squares, mut launches) = (0, 0.0, 0.0_f64, 0.0);
    for (place, (part, runs)) in parts.iter().zip(longer).enumerate() {
        let mut points = vec![(base.lengths[place], own)];
        for run in runs {
            points.push((run.lengths[place], figure(next)));
            next += 1;
        }
        let line = Line::through(&points)?;
        let said = line.at(part.whole);
        middle += said.above;
        squares += said.half * said.half;
        let longest = points.last().map_or(0, |point| point.0);
        if line.slope() != 0.0 {
            launches += part.more_launches(longest) as f64 * line.fixed() / 2.0;
        }
    }
    let half = squares.sqrt() + launches;
    Some(Figure { middle: middle + launches, half: [half, half] })
}

impl Estimate {
    /// A message that was not seen may be visible unverified for as much longer than the longest as that is longer than the mean.
    fn raise(&mut self) {
        for (middle, high) in self.middle.gpus.iter().zip(&mut self.high.gpus) {
            let mean = middle.tag_queue.total_exposure.0.checked_div(middle.key_work[0].messages).unwrap_or(0);
            let longest = &mut high.tag_queue.longest_exposure.0;
            *longest += middle.tag_queue.longest_exposure.0.saturating_sub(mean);
        }
    }

    /// Gives copies their whole length, and adds those that the shortest run did not make.
    fn fill(&mut self, parts: &[Part], kept: &[usize], longer: &[Vec<Point>]) {
        for (outcome, way) in [(&mut self.middle, 0.0), (&mut self.low, -1.0), (&mut self.high, 1.0)] {
            let mut copies: Vec<(usize, CopyOutcome)> =
                kept.iter().copied().zip(std::mem::take(&mut outcome.copies)).collect();
            for (part, runs) in parts.iter().zip(longer) {
                match &part.what {
                    What::Copies(places) => {
                        let places: HashSet<usize> = places.iter().copied().collect();
                        let own = copies.iter_mut().filter(|(full, _)| places.contains(full));
                        own.for_each(|(_, copy)| copy.bytes = part.whole);
                    }
                    What::Turns(found) => {
                        // Other parts that come before the loop are longer than in its runs.
                        let first = copies.iter().find(|(full, _)| *full == found.copy).map(|(_, copy)| copy.start);
                        copies.retain(|(full, _)| !found.makes(*full));
                        copies.extend(turns::all(found, (part, runs), first, way));
                    }
                }
            }
            copies.sort_by_key(|(full, _)| *full);
            outcome.copies = copies.into_iter().map(|(_, copy)| copy).collect();
        }
    }
}
