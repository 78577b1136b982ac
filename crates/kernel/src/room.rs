//! A bound that is asked for nothing but room, and the most room that was asked for.

use std::cell::Cell;

/// A bound of which a unit learns nothing but whether so much is within it.
///
/// The unit's run depends on the answers alone. Of all bounds from the most that was asked for upwards each answer is yes: where the own bound is one of these, its run
/// is the run of them all, of smaller ones than itself too. What was asked for counts though it was refused for another reason.
#[derive(Debug, Clone)]
pub struct Room {
    bound: u64,
    asked: Cell<u64>,
}

impl Room {
    pub const fn new(bound: u64) -> Self {
        Self { bound, asked: Cell::new(0) }
    }

    /// Whether there is room for so much in all.
    #[inline]
    pub fn holds(&self, all: u64) -> bool {
        if all > self.asked.get() {
            self.asked.set(all);
        }
        all <= self.bound
    }

    /// The most that was asked for.
    pub const fn asked(&self) -> u64 {
        self.asked.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_counts_whether_there_is_room_or_not() {
        let room = Room::new(4);
        assert_eq!(
            [2, 4, 6, 3].map(|all| (room.holds(all), room.asked())),
            [(true, 2), (true, 4), (false, 6), (true, 6)]
        );
    }
}
