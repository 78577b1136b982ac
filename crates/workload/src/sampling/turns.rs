//! The copies of a loop: those of the turns that a run has made, and those of later turns, which go on like them.
//!
//! A host that does not wait is ahead of its GPUs, so what it does while a copy is made depends on how long the loop is. By as much as a copy's
//! dates differ from run to run, they may differ from those of the whole loop; twice that is allowed for.

use super::{
    line::Line,
    looped::Loop,
    parts::{Part, THIRTY_SECONDS},
    points::{Point, moved},
};
use crate::{system::CopyOutcome, units::Femtos};
use std::collections::HashMap;

/// All copies of a loop with their places, from the longest of its runs. `first` is when its first copy
/// begins; `way` is how many halves of their intervals the others lie from the middle.
pub(super) fn all(
    found: &Loop,
    (part, runs): (&Part, &[Point]),
    first: Option<Femtos>,
    way: f64,
) -> Vec<(usize, CopyOutcome)> {
    let Some(run) = runs.last() else { return Vec::new() };
    let slack = way * 2.0 * differences(found, runs) as f64;
    let mut own: Vec<(usize, CopyOutcome)> =
        run.places.iter().copied().zip(run.outcome.copies.iter().cloned()).collect();
    own.retain(|(full, _)| found.makes(*full));
    let made = own.len() / found.copies.max(1);
    let mut later = Vec::new();
    for place in 0..found.copies {
        // Figures of this copy of a turn, by turn and figure.
        let turns: Vec<Vec<u64>> =
            own.iter_mut().skip(place).step_by(found.copies).map(|(_, copy)| figures(copy)).collect();
        let Some((_, model)) = own.get((made.max(1) - 1) * found.copies + place) else { continue };
        let lines = lines(&turns);
        for turn in made..part.whole as usize {
            let mut copy = model.clone();
            let mut lines = lines.iter();
            copy.visit(&mut |_, figure| {
                if let Some(Some((first, line))) = lines.next() {
                    let said = line.at(turn as u64);
                    *figure = moved(*first, said.above + way * said.half);
                }
            });
            later.push((found.copy + turn * found.copies + place, copy));
        }
    }
    own.extend(later);
    let begun = own.first().map_or(0, |(_, copy)| copy.start.0);
    let later = first.map_or(0.0, |first| first.0 as f64 - begun as f64);
    for (_, copy) in &mut own {
        copy.dates(&mut |date| *date = moved(*date, later + slack));
    }
    own
}

/// By how much a date of a copy of the loop differs at most between a run and the longest.
fn differences(found: &Loop, runs: &[Point]) -> u64 {
    let Some((longest, others)) = runs.split_last() else { return 0 };
    let known: HashMap<usize, &CopyOutcome> = longest.places.iter().copied().zip(&longest.outcome.copies).collect();
    let copies = others.iter().flat_map(|run| run.places.iter().zip(&run.outcome.copies));
    let loops = copies.filter(|(full, _)| found.makes(**full));
    let both = loops.filter_map(|(full, copy)| Some((all_dates(copy), all_dates(known.get(full)?))));
    both.flat_map(|(one, other)| one.into_iter().zip(other)).map(|(one, other)| one.abs_diff(other)).max().unwrap_or(0)
}

fn all_dates(copy: &CopyOutcome) -> Vec<u64> {
    let mut all = Vec::new();
    copy.clone().dates(&mut |date| all.push(*date));
    all
}

fn figures(copy: &mut CopyOutcome) -> Vec<u64> {
    let mut all = Vec::new();
    copy.visit(&mut |_, figure| all.push(*figure));
    all
}

/// A line by figure, over turns of the later half, with the figure at its begin.
fn lines(turns: &[Vec<u64>]) -> Vec<Option<(u64, Line)>> {
    let half = turns.len() / 2;
    let count = turns.last().map_or(0, Vec::len);
    let span = turns.len().saturating_sub(half + 1);
    let line = |figure: usize| {
        let point = |share: u64| {
            let turn = half + span * share as usize / 32;
            Some((turn as u64, *turns.get(turn)?.get(figure)?))
        };
        let points: Vec<(u64, u64)> = THIRTY_SECONDS.into_iter().map(point).collect::<Option<_>>()?;
        Some((points.first()?.1, Line::through(&points)?))
    };
    (0..count).map(line).collect()
}
