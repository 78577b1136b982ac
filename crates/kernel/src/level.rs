//! A level that rises and falls, and the highest that it stood at.

use crate::units::Femtos;

/// A level, and its peak between two instants: what rises and falls within one is not seen, so that the order does not matter in which units change a
/// level that they share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Level {
    /// Of the last change.
    date: Femtos,
    value: u64,
    peak: u64,
}

impl Level {
    /// Rises and falls by so much. No `date` lies before an earlier one.
    #[inline]
    pub fn change(&mut self, date: Femtos, rise: u64, fall: u64) {
        if date > self.date {
            self.peak = self.peak.max(self.value);
            self.date = date;
        }
        self.value = self.value.saturating_add(rise).saturating_sub(fall);
    }

    pub const fn value(&self) -> u64 {
        self.value
    }

    /// The highest that it stood at, behind everything that has happened at one instant.
    pub fn peak(&self) -> u64 {
        self.peak.max(self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_that_behind_all_changes_of_an_instant_in_any_order() {
        let changes = [(1, 5, 0), (1, 0, 3), (2, 4, 0), (2, 0, 4), (3, 1, 0), (4, 0, 3)];
        for swapped in [false, true] {
            let mut changes = changes;
            if swapped {
                changes.swap(2, 3);
            }
            let mut level = Level::default();
            level.change(Femtos(0), 4, 0);
            changes.into_iter().for_each(|(date, rise, fall)| level.change(Femtos(date), rise, fall));
            assert_eq!((level.value(), level.peak()), (4, 7), "{swapped}");
        }
    }
}
