//! Marks of a row as areas.

use super::{
    layout::{LEFT, RIGHT, WIDTH},
    legend::named,
};
use crate::{
    replay::{Mark, Ns, Span},
    report::plot::{
        columns::Columns,
        drawing::{Drawing, Paint, Step},
    },
};

/// For each column, how high the areas of these marks reach, one above the other: whole pixels, at least one for what is there.
pub(super) fn shares(spans: &[(Mark, Span)], marks: &[Mark], columns: Columns, high: usize) -> Vec<Vec<usize>> {
    let taken: Vec<Vec<Ns>> = marks.iter().map(|mark| columns.taken(spans, *mark)).collect();
    let mut below = vec![0; columns.count()];
    let mut areas = Vec::new();
    for of_mark in &taken {
        for (column, time) in of_mark.iter().enumerate().filter(|(_, time)| **time > 0) {
            let share = *time as f64 / columns.length(column) as f64;
            let own = ((share * high as f64).round() as usize).max(1);
            below[column] = (below[column] + own).min(high);
        }
        areas.push(below.clone());
    }
    areas
}

/// The areas, from the highest to the lowest, so that each covers what of those behind it does not show.
/// What each says, `says` knows.
pub(super) fn areas(
    drawing: &mut Drawing,
    areas: &[Vec<usize>],
    (marks, columns, low): (&[Mark], Columns, usize),
    says: impl Fn(Mark) -> String,
) {
    let place = |column: usize| (LEFT + column * (WIDTH - LEFT - RIGHT) / columns.count()) as f64;
    for (area, mark) in areas.iter().zip(marks).rev() {
        if area.iter().all(|up| *up == 0) {
            continue;
        }
        let mut steps = vec![Step::Move(LEFT as f64, low as f64)];
        let mut last = low as f64;
        for (column, up) in area.iter().enumerate().filter(|(column, up)| *column == 0 || **up != area[column - 1]) {
            if column > 0 {
                steps.push(Step::Line(place(column), last));
            }
            last = (low - up) as f64;
            steps.push(Step::Line(place(column), last));
        }
        if last < low as f64 {
            steps.extend([last, low as f64].map(|up| Step::Line(place(columns.count()), up)));
        }
        steps.push(Step::Close);
        drawing.path(steps, Paint::fill(named(*mark).1));
        drawing.hints.insert(drawing.items.len() - 1, says(*mark));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_as_high_as_their_shares() {
        let marks = [(Mark::Copies, Span { start: 0, end: 50 }), (Mark::Waits, Span { start: 50, end: 51 })];
        let areas = shares(&marks, &Mark::HOST, Columns::new(1, 100), 32);
        assert_eq!(areas, [vec![0], vec![16], vec![16], vec![17], vec![17]]);
    }
}
