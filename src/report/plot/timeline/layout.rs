//! Where things are in the picture.

use crate::replay::Ns;

/// The picture and its margins. All are whole, and so are the places of areas.
pub(super) const WIDTH: usize = 1000;
pub(super) const LEFT: usize = 96;
pub(super) const RIGHT: usize = 24;
pub(super) const TOP: usize = 36;
/// Height of rows and what is between them.
pub(super) const THREAD: usize = 32;
pub(super) const GPU: usize = 14;
pub(super) const BETWEEN: usize = 4;
/// Height of what is written above a run, and of a line of the legend.
pub(super) const LINE: usize = 20;

pub(super) fn across(end: Ns, at: f64) -> f64 {
    LEFT as f64 + at / end as f64 * (WIDTH - LEFT - RIGHT) as f64
}
