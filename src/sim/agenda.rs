//! When each unit ticks next.

use crate::units::Femtos;

/// No place.
const NONE: u8 = u8::MAX;

/// The dates of the next ticks. Units that wait for their ports alone are left out of the search for the earliest.
#[derive(Debug)]
pub(super) struct Agenda {
    /// By unit; [`Femtos::MAX`] if it waits for its ports alone.
    next: Vec<Femtos>,
    /// By unit: its place among the dated ones, or none.
    places: Vec<u8>,
    /// The dated units and their dates, in no order.
    dated: Vec<(Femtos, u8)>,
}

impl Agenda {
    /// All of `count` units, at most 64, tick at time zero.
    pub fn new(count: u8) -> Self {
        Self {
            next: vec![Femtos(0); usize::from(count)],
            places: (0..count).collect(),
            dated: (0..count).map(|unit| (Femtos(0), unit)).collect(),
        }
    }

    /// The date of a unit.
    #[inline]
    pub fn date(&self, unit: usize) -> Femtos {
        self.next[unit]
    }

    /// Gives a unit another date.
    #[inline]
    pub fn set(&mut self, unit: usize, date: Femtos) {
        self.next[unit] = date;
        let place = self.places[unit];
        match self.dated.get_mut(usize::from(place)) {
            Some(dated) if date != Femtos::MAX => dated.0 = date,
            Some(_) => self.remove(unit),
            None if date != Femtos::MAX => self.insert(unit, date),
            None => {}
        }
    }

    fn insert(&mut self, unit: usize, date: Femtos) {
        self.places[unit] = self.dated.len() as u8;
        self.dated.push((date, unit as u8));
    }

    fn remove(&mut self, unit: usize) {
        let place = std::mem::replace(&mut self.places[unit], NONE);
        self.dated.swap_remove(usize::from(place));
        if let Some(&(_, moved)) = self.dated.get(usize::from(place)) {
            self.places[usize::from(moved)] = place;
        }
    }

    /// The earliest date and a unit that is due then; [`Femtos::MAX`] if there is none.
    #[inline]
    pub fn earliest(&self) -> (Femtos, usize) {
        let (mut date, mut unit) = (Femtos::MAX, 0);
        for &(next, candidate) in &self.dated {
            let earlier = next < date;
            date = if earlier { next } else { date };
            unit = if earlier { candidate } else { unit };
        }
        (date, usize::from(unit))
    }

    /// The units due at a date, by number.
    pub fn due(&self, date: Femtos) -> Vec<usize> {
        (0..self.next.len()).filter(|&unit| self.next[unit] == date).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_earliest_is_that_of_all_whatever_has_changed(
            changes in prop::collection::vec((0usize..9, prop_oneof![Just(u64::MAX), 0u64..20]), 0..80),
        ) {
            let (mut agenda, mut dates) = (Agenda::new(9), [Femtos(0); 9]);
            for (unit, date) in changes {
                agenda.set(unit, Femtos(date));
                dates[unit] = Femtos(date);
                let (earliest, due) = agenda.earliest();
                prop_assert_eq!(Some(&earliest), dates.iter().min());
                prop_assert!(earliest == Femtos::MAX || dates[due] == earliest);
                prop_assert_eq!(agenda.date(unit), dates[unit]);
            }
        }
    }
}
