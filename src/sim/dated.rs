//! Items in the order of their dates, in a [ring](Ring). Who asks when the oldest is due, which is asked far more often than items come, does not go to
//! its place for it.

use super::ring::Ring;
use crate::units::Femtos;

/// Items with dates, oldest first.
#[derive(Debug)]
pub(super) struct Dated<T> {
    items: Ring<(Femtos, T)>,
    /// The date of the oldest; [`Femtos::MAX`] if there is none.
    first: Femtos,
}

impl<T> Dated<T> {
    /// None, with room for `count`; it grows beyond.
    pub fn with_room(count: usize) -> Self {
        Self { items: Ring::with_room(count), first: Femtos::MAX }
    }

    /// Items in it.
    #[inline(always)]
    pub const fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The date of the oldest; [`Femtos::MAX`] if there is none.
    #[inline(always)]
    pub const fn first_date(&self) -> Femtos {
        self.first
    }

    /// Appends an item.
    #[inline(always)]
    pub fn push(&mut self, date: Femtos, item: T) {
        if self.items.is_empty() {
            self.first = date;
        }
        self.items.push((date, item));
    }

    /// The one `number` behind the oldest, and its date.
    #[inline(always)]
    pub fn get(&self, number: usize) -> Option<&(Femtos, T)> {
        self.items.get(number)
    }

    /// Takes the oldest.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<T> {
        let taken = self.items.pop();
        self.look();
        taken.map(|(_, item)| item)
    }

    #[inline(always)]
    fn look(&mut self) {
        self.first = self.items.front().map_or(Femtos::MAX, |&(date, _)| date);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_date_is_that_of_the_oldest(steps in prop::collection::vec(0u8..6, 0..200)) {
            let mut dated = Dated::with_room(1);
            for (number, step) in (0..).zip(steps) {
                match step {
                    0..3 => dated.push(Femtos(number), number),
                    _ => prop_assert_eq!(Some(dated.first_date()).filter(|_| !dated.is_empty()), dated.pop().map(Femtos)),
                }
                let oldest = dated.get(0).map_or(Femtos::MAX, |&(date, _)| date);
                prop_assert_eq!((dated.first_date(), dated.is_empty()), (oldest, dated.get(0).is_none()));
            }
        }
    }
}
