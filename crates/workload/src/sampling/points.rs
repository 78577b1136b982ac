//! Short runs, and what they say of the whole.

use crate::system::{CopyOutcome, Outcome};

#[derive(Debug, Clone)]
pub(super) struct Point {
    pub lengths: Vec<u64>,
    pub outcome: Outcome,
    /// By copy that it made: its place in the whole. They rise.
    pub places: Vec<usize>,
}

/// The whole, as far as it is known.
#[derive(Debug, Clone)]
pub(super) struct Estimate {
    pub middle: Outcome,
    pub low: Outcome,
    pub high: Outcome,
}

impl Point {
    pub fn copy(&self, place: usize) -> Option<&CopyOutcome> {
        self.outcome.copies.get(self.places.binary_search(&place).ok()?)
    }
}

/// A figure so much further; at an end of its range it stays there.
pub(super) fn moved(figure: u64, by: f64) -> u64 {
    let by = by.round();
    if by < 0.0 { figure.saturating_sub(-by as u64) } else { figure.saturating_add(by as u64) }
}
