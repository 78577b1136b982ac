//! Items in transit between the two ends of a channel.
//!
//! The sender's end appends to a ring that both ends reach; the receiver's end has a ring of its own, which it changes for the other when it is empty.
//! So an item can be looked at where it lies, no item is moved twice as a rule, and nothing is borrowed at run time.

use super::ring::Ring;
use crate::units::Femtos;
use std::{cell::Cell, fmt};

/// Items, labelled with their dates.
type Items<T> = Box<Ring<T, Femtos>>;

/// What both ends reach.
pub(super) struct Transit<T> {
    /// None only while an end is at it.
    sent: Cell<Option<Items<T>>>,
    /// Items in both rings.
    count: Cell<usize>,
    /// The date of the oldest; [`Femtos::MAX`] if there is none.
    first: Cell<Femtos>,
}

impl<T> fmt::Debug for Transit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} items from {:?} on", self.len(), self.first_date())
    }
}

impl<T> Transit<T> {
    /// None, with room for `count`; it grows beyond.
    pub fn with_room(count: usize) -> Self {
        let sent = Cell::new(Some(Box::new(Ring::with_room(count))));
        Self { sent, count: Cell::new(0), first: Cell::new(Femtos::MAX) }
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.count.get()
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.count.get() == 0
    }

    /// The date of the oldest; [`Femtos::MAX`] if there is none.
    #[inline(always)]
    pub fn first_date(&self) -> Femtos {
        self.first.get()
    }

    /// Appends an item, and shows it where it lies: looked at before, it would be copied once more.
    #[inline(always)]
    pub fn push(&self, date: Femtos, item: T, look: impl FnMut(&T)) {
        let Some(mut sent) = self.sent.take() else { return };
        let count = self.count.get();
        if count == 0 {
            self.first.set(date);
        }
        self.count.set(count + 1);
        sent.push_labelled(date, item);
        sent.back().into_iter().for_each(look);
        self.give_back(sent);
    }

    /// Puts the ring back where it was taken from: nothing is there that could be dropped.
    #[inline(always)]
    fn give_back(&self, ring: Items<T>) {
        std::mem::forget(self.sent.replace(Some(ring)));
    }
}

/// What the receiver's end has to itself: the oldest items.
#[derive(Debug)]
pub(super) struct Arrivals<T> {
    items: Items<T>,
}

impl<T> Arrivals<T> {
    /// None, with room for `count`.
    pub fn with_room(count: usize) -> Self {
        Self { items: Box::new(Ring::with_room(count)) }
    }

    /// Takes over what has been sent, if nothing older is left.
    #[inline(always)]
    fn refill(&mut self, transit: &Transit<T>) {
        if self.items.is_empty() && !transit.is_empty() {
            let sent = transit.sent.take().unwrap_or_default();
            transit.give_back(std::mem::replace(&mut self.items, sent));
        }
    }

    /// The one `number` behind the oldest, and its date.
    #[inline(always)]
    pub fn get(&mut self, transit: &Transit<T>, number: usize) -> Option<(Femtos, &T)> {
        self.refill(transit);
        if number >= self.items.len() && number < transit.len() {
            self.take_over(transit);
        }
        self.items.get_labelled(number)
    }

    /// Moves all that has been sent behind what is here.
    #[cold]
    fn take_over(&mut self, transit: &Transit<T>) {
        let mut sent = transit.sent.take().unwrap_or_default();
        while let (Some(date), Some(item)) = (sent.front_label(), sent.pop()) {
            self.items.push_labelled(date, item);
        }
        transit.give_back(sent);
    }

    #[inline(always)]
    pub fn pop(&mut self, transit: &Transit<T>) -> Option<T> {
        self.refill(transit);
        let taken = self.items.pop()?;
        self.note_taken(transit);
        Some(taken)
    }

    /// The oldest where it lies, to take what is needed of it before it is [removed](Self::remove).
    #[inline(always)]
    pub fn front_mut(&mut self, transit: &Transit<T>) -> Option<&mut T> {
        self.refill(transit);
        self.items.front_mut()
    }

    /// Removes the oldest, which [`Arrivals::front_mut`] has shown.
    #[inline(always)]
    pub fn remove(&mut self, transit: &Transit<T>) {
        if !self.items.is_empty() {
            self.items.remove();
            self.note_taken(transit);
        }
    }

    #[inline(always)]
    fn note_taken(&mut self, transit: &Transit<T>) {
        transit.count.set(transit.count.get() - 1);
        self.refill(transit);
        transit.first.set(self.items.front_label().unwrap_or(Femtos::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn items_come_out_as_they_went_in_and_can_be_looked_at(steps in prop::collection::vec(0u8..8, 0..200)) {
            let (transit, mut arrivals) = (Transit::with_room(1), Arrivals::with_room(1));
            let mut deque = VecDeque::new();
            for (number, step) in (0..).zip(steps) {
                match step {
                    0..4 => {
                        transit.push(Femtos(number), number, |&item| assert_eq!(item, number));
                        deque.push_back((Femtos(number), number));
                    }
                    4 => {
                        let place = number as usize % 4;
                        prop_assert_eq!(arrivals.get(&transit, place), deque.get(place).map(|(date, item)| (*date, item)));
                    }
                    5 => {
                        prop_assert_eq!(arrivals.front_mut(&transit).copied(), deque.front().map(|&(_, item)| item));
                        arrivals.remove(&transit);
                        deque.pop_front();
                    }
                    _ => prop_assert_eq!(arrivals.pop(&transit), deque.pop_front().map(|(_, item)| item)),
                }
                prop_assert_eq!((transit.len(), transit.is_empty()), (deque.len(), deque.is_empty()));
                prop_assert_eq!(transit.first_date(), deque.front().map_or(Femtos::MAX, |&(date, _)| date));
            }
        }
    }
}
