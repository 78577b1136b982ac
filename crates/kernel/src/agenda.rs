//! When each unit runs next, and which is first.
//!
//! Units are in blocks, and each block knows its first. Who looks for the first of all looks at the blocks; who changes a date looks at one block.
//! So a machine of 256 units costs a few times what one of 16 costs, not 16 times.

use crate::units::Femtos;

/// Units of a block.
const BLOCK: usize = 8;

/// The dates of all units; [`Femtos::MAX`] for one that sleeps.
#[derive(Debug)]
pub(super) struct Agenda {
    dates: Vec<[Femtos; BLOCK]>,
    /// By block: the earliest date and who has it.
    first: Vec<(Femtos, usize)>,
}

impl Agenda {
    /// So many units, all due at time zero.
    pub fn new(units: usize) -> Self {
        let blocks = units.div_ceil(BLOCK);
        let mut agenda = Self { dates: vec![[Femtos::MAX; BLOCK]; blocks], first: vec![(Femtos::MAX, 0); blocks] };
        (0..units).for_each(|unit| agenda.set(unit, Femtos(0)));
        agenda
    }

    #[inline(always)]
    pub fn of(&self, unit: usize) -> Femtos {
        self.dates[unit / BLOCK][unit % BLOCK]
    }

    /// A unit runs next at `date`.
    #[inline(always)]
    pub fn set(&mut self, unit: usize, date: Femtos) {
        let block = unit / BLOCK;
        let dates = &mut self.dates[block];
        dates[unit % BLOCK] = date;
        let (mut first, mut place) = (dates[0], 0);
        for (other, &date) in dates.iter().enumerate().skip(1) {
            let earlier = date < first;
            first = if earlier { date } else { first };
            place = if earlier { other } else { place };
        }
        self.first[block] = (first, block * BLOCK + place);
    }

    /// A unit runs next at `date`, which is earlier than when it was to.
    #[inline(always)]
    pub fn bring_forward(&mut self, unit: usize, date: Femtos) {
        self.dates[unit / BLOCK][unit % BLOCK] = date;
        let first = &mut self.first[unit / BLOCK];
        if (date, unit) < *first {
            *first = (date, unit);
        }
    }

    /// The earliest date, and the first unit that is due then.
    #[inline(always)]
    pub fn earliest(&self) -> (Femtos, usize) {
        let (mut date, mut unit) = (Femtos::MAX, 0);
        for &(first, place) in &self.first {
            let earlier = first < date;
            date = if earlier { first } else { date };
            unit = if earlier { place } else { unit };
        }
        (date, unit)
    }

    /// Everybody who is due at a date.
    pub fn due(&self, date: Femtos) -> impl Iterator<Item = usize> {
        self.dates.as_flattened().iter().enumerate().filter(move |(_, next)| **next == date).map(|(unit, _)| unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_that_of_a_plain_search(
            units in 1usize..100, changes in prop::collection::vec((0usize..100, 0u64..50), 0..200),
        ) {
            let (mut agenda, mut dates) = (Agenda::new(units), vec![Femtos(0); units]);
            for (unit, date) in changes {
                let (unit, date) = (unit % units, Femtos(date));
                if date < dates[unit] {
                    agenda.bring_forward(unit, date);
                } else {
                    agenda.set(unit, date);
                }
                dates[unit] = date;
                let (earliest, who) = agenda.earliest();
                prop_assert_eq!(Some(&earliest), dates.iter().min());
                let due: Vec<_> = (0..units).filter(|&unit| dates[unit] == earliest).collect();
                prop_assert_eq!((who, agenda.of(unit)), (due[0], date));
                prop_assert_eq!(agenda.due(earliest).collect::<Vec<_>>(), due);
            }
        }
    }
}
