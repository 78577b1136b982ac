//! Who runs next: the date of each unit's next tick, in groups whose earliest is kept.
//!
//! A change costs a look at its group, a question a look at each group: a machine has a dozen units, of which a few are ever due soon.

use crate::units::Femtos;

/// Most units: as many as a bit mask holds.
pub(super) const MOST_UNITS: usize = 64;
/// Units of a group.
const GROUP: usize = 4;
const GROUPS: usize = MOST_UNITS / GROUP;

/// The dates of the units' next ticks.
#[derive(Debug, Clone)]
pub(super) struct Agenda {
    /// By group and unit, filled up to whole groups.
    dates: [[Femtos; GROUP]; GROUPS],
    /// By group: the earliest date, and the first unit that has it.
    earliest: [(Femtos, usize); GROUPS],
    /// Groups in use.
    groups: usize,
}

impl Agenda {
    /// So many units, all due at time zero.
    pub fn new(units: usize) -> Self {
        let groups = units.div_ceil(GROUP);
        let mut agenda = Self { dates: [[Femtos::MAX; GROUP]; GROUPS], earliest: [(Femtos::MAX, 0); GROUPS], groups };
        (0..units).for_each(|unit| agenda.set(unit, Femtos(0)));
        agenda
    }

    /// Date of a unit's next tick.
    #[inline]
    pub fn date(&self, unit: usize) -> Femtos {
        self.dates[unit / GROUP % GROUPS][unit % GROUP]
    }

    /// Changes it.
    #[inline]
    pub fn set(&mut self, unit: usize, date: Femtos) {
        let group = unit / GROUP % GROUPS;
        let dates = &mut self.dates[group];
        dates[unit % GROUP] = date;
        let first = group * GROUP;
        let pair = |place: usize| {
            let later = dates[place + 1] < dates[place];
            (if later { dates[place + 1] } else { dates[place] }, first + place + usize::from(later))
        };
        let (low, high) = (pair(0), pair(2));
        self.earliest[group] = if high.0 < low.0 { high } else { low };
    }

    /// The earliest date and the first unit that is due then.
    #[inline]
    pub fn earliest(&self) -> (Femtos, usize) {
        let mut earliest = (Femtos::MAX, 0);
        for &group in &self.earliest[..self.groups] {
            earliest = if group.0 < earliest.0 { group } else { earliest };
        }
        earliest
    }

    /// The units that are due at a date.
    pub fn due(&self, date: Femtos) -> impl Iterator<Item = usize> + '_ {
        let dates = self.dates.iter().flatten().enumerate();
        dates.filter(move |&(_, &due)| due == date).map(|(unit, _)| unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_earliest_is_the_first_of_the_least(
            units in 1usize..=64,
            changes in prop::collection::vec((0usize..64, 0u64..20), 1..200),
        ) {
            let (mut agenda, mut plain) = (Agenda::new(units), vec![0; units]);
            for (unit, date) in changes {
                plain[unit % units] = date;
                agenda.set(unit % units, Femtos(date));
                let least = *plain.iter().min().unwrap();
                let due: Vec<_> = (0..units).filter(|&unit| plain[unit] == least).collect();
                prop_assert_eq!(agenda.earliest(), (Femtos(least), due[0]));
                prop_assert_eq!(agenda.due(Femtos(least)).collect::<Vec<_>>(), due);
                prop_assert_eq!(agenda.date(unit % units), Femtos(date));
            }
        }
    }
}
