//! A wire with a flight time: what is sent arrives at a date that the sender knows.
//!
//! ```text
//!             +----------------------+
//!  send, date |  ~~~~~~ Wire ~~~~~~  | arrive
//!             +----------------------+
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts | anything, at any time; nothing overtakes: a date before that of what went before is moved to it |
//! | latency | an item can be taken at the receiver's first edge at or after its date, which lies after the sending |
//! | sensitivity | the receiver says [what wakes it](Sensitivity) |
//!
//! A receiver whose work on an item follows from the item's date alone need not run for each: it takes several, each as at its date, when it
//! runs.

use super::{
    channel::Channel,
    dated::Dated,
    fault::{Armed, FaultKind},
    item::Item,
    probe::Probe,
    wake::{UnitId, Wakes},
    watch::Watch,
};
use crate::units::Femtos;
use std::collections::VecDeque;

/// What wakes the receiver of a wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sensitivity {
    /// Every item, at its date.
    #[default]
    Every,
    /// What [can be deferred](Wire::send_deferrable) so long after its date as the wire [allows](Wire::deferring), all else at its date.
    Deferring,
    /// Nothing.
    None,
}

/// A wire from one unit to another.
#[derive(Debug)]
pub struct Wire<T> {
    name: String,
    sender: UnitId,
    receiver: UnitId,
    items: Dated<T>,
    last_date: Femtos,
    sensitivity: Sensitivity,
    /// How long what can be deferred is.
    window: Femtos,
    /// On a wire that defers: the dates of what cannot be.
    pressing: VecDeque<Femtos>,
    watch: Watch<T>,
}

impl<T: Item> Wire<T> {
    /// A wire from `sender` to `receiver`, which every item wakes.
    #[must_use]
    pub fn new(name: impl Into<String>, sender: UnitId, receiver: UnitId) -> Self {
        Self {
            name: name.into(),
            sender,
            receiver,
            items: Dated::with_room(0),
            last_date: Femtos(0),
            sensitivity: Sensitivity::Every,
            window: Femtos(0),
            pressing: VecDeque::new(),
            watch: Watch::default(),
        }
    }

    /// The same, on which what can be deferred wakes the receiver `window` after its date.
    #[must_use]
    pub fn deferring(self, window: Femtos) -> Self {
        let sensitivity = if window > Femtos(0) { Sensitivity::Deferring } else { Sensitivity::Every };
        Self { window, sensitivity, ..self }
    }

    /// From now on the receiver, which is running, is woken so. On a wire that does not defer, [`Sensitivity::Deferring`] is
    /// [`Sensitivity::Every`].
    #[inline]
    pub fn sense(&mut self, sensitivity: Sensitivity) {
        self.sensitivity = match sensitivity {
            Sensitivity::Deferring if self.window == Femtos(0) => Sensitivity::Every,
            other => other,
        };
    }

    /// Sends `item`, which arrives at `date`.
    #[inline(always)]
    pub fn send(&mut self, date: Femtos, item: T, wakes: &Wakes) {
        if self.watch.passes() {
            self.send_watched(date, item, false, wakes);
        } else {
            self.put(date, item, false, wakes);
        }
    }

    /// Sends `item`, which arrives at `date` and by itself changes nothing that anybody sees before the wire's window has passed.
    #[inline(always)]
    pub fn send_deferrable(&mut self, date: Femtos, item: T, wakes: &Wakes) {
        if self.watch.passes() {
            self.send_watched(date, item, true, wakes);
        } else {
            self.put(date, item, true, wakes);
        }
    }

    #[cold]
    fn send_watched(&mut self, date: Femtos, item: T, deferrable: bool, wakes: &Wakes) {
        for item in self.watch.pass(item, date, wakes) {
            self.put(date, item, deferrable && !wakes.defers_nothing(), wakes);
        }
    }

    #[inline(always)]
    fn put(&mut self, date: Femtos, item: T, deferrable: bool, wakes: &Wakes) {
        self.last_date = date.max(self.last_date);
        let (date, first) = (self.last_date, self.items.is_empty());
        self.watch.digest(date, &item);
        self.items.push(date, item);
        let alone = self.pressing.is_empty();
        if self.window > Femtos(0) && !deferrable {
            self.pressing.push_back(date);
        }
        match self.sensitivity {
            Sensitivity::Every if first => wakes.touch_at(self.receiver, date),
            Sensitivity::Deferring if deferrable && first => wakes.touch_at(self.receiver, self.deferred(date)),
            Sensitivity::Deferring if !deferrable && alone => wakes.touch_at(self.receiver, date),
            _ => {}
        }
    }

    /// When the receiver hears of an item that is deferred.
    #[inline]
    const fn deferred(&self, date: Femtos) -> Femtos {
        Femtos(date.0.saturating_add(self.window.0))
    }

    /// Takes the oldest item that has arrived.
    #[inline]
    pub fn arrive(&mut self, now: Femtos) -> Option<T> {
        self.arrive_dated(now).map(|(_, item)| item)
    }

    /// Takes the oldest item that has arrived, with its date.
    #[inline]
    pub fn arrive_dated(&mut self, now: Femtos) -> Option<(Femtos, T)> {
        let date = self.items.first_date();
        if date > now {
            return None;
        }
        if self.pressing.front() == Some(&date) {
            self.pressing.pop_front();
        }
        self.items.pop().map(|item| (date, item))
    }

    /// The item `place` behind the oldest, if it has arrived.
    #[must_use]
    pub fn visible_at(&self, now: Femtos, place: usize) -> Option<&T> {
        self.items.get(place).filter(|(date, _)| *date <= now).map(|(_, item)| item)
    }

    /// Date of the oldest item, arrived or not.
    #[inline]
    #[must_use]
    pub fn front_date(&self) -> Option<Femtos> {
        Some(self.items.first_date()).filter(|&date| date != Femtos::MAX)
    }

    /// Date of the next arrival that wakes the receiver.
    #[inline]
    #[must_use]
    pub fn next_arrival(&self) -> Option<Femtos> {
        match self.sensitivity {
            Sensitivity::Every => self.front_date(),
            Sensitivity::Deferring => {
                let deferred = self.front_date().map(|date| self.deferred(date));
                self.pressing.front().copied().into_iter().chain(deferred).min()
            }
            Sensitivity::None => None,
        }
    }
}

impl<T: Item> Channel for Wire<T> {
    fn name(&self) -> &str {
        &self.name
    }
    fn ends(&self) -> (UnitId, UnitId) {
        (self.sender, self.receiver)
    }
    fn fill(&self) -> (usize, usize) {
        (self.items.len(), usize::MAX)
    }
    fn digest(&self) -> u64 {
        self.watch.value()
    }
    fn fault_kinds(&self) -> &'static [FaultKind] {
        T::FAULTS
    }
    fn arm(&mut self, armed: Armed, _wakes: &Wakes) {
        self.watch.arm(armed);
    }
    fn armed(&self) -> Vec<Armed> {
        self.watch.armed()
    }
    fn listen(&mut self, probe: Probe) {
        self.watch.listen(probe);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn woken(wakes: &Wakes) -> Vec<(UnitId, Femtos)> {
        let mut dated = Vec::new();
        wakes.take_dated(|unit, date| dated.push((unit, date)));
        dated
    }

    #[test]
    fn an_item_arrives_at_its_date_and_not_before() {
        let (mut wire, wakes) = (Wire::new("w", UnitId(0), UnitId(1)), Wakes::default());
        wire.send(Femtos(10), 7u64, &wakes);
        assert_eq!(wire.arrive(Femtos(9)), None);
        assert_eq!(wire.next_arrival(), Some(Femtos(10)));
        assert_eq!(wire.arrive(Femtos(10)), Some(7));
    }

    #[test]
    fn the_receiver_is_woken_for_the_first_arrival_only() {
        let (mut wire, wakes) = (Wire::new("w", UnitId(0), UnitId(1)), Wakes::default());
        wire.send(Femtos(10), 7u64, &wakes);
        wire.send(Femtos(20), 8u64, &wakes);
        assert!(wakes.any_dated());
        assert_eq!(woken(&wakes), [(UnitId(1), Femtos(10))]);
    }

    #[test]
    fn what_can_be_deferred_wakes_a_window_later_and_what_presses_at_its_date() {
        let wakes = Wakes::default();
        let mut wire = Wire::new("w", UnitId(0), UnitId(1)).deferring(Femtos(100));
        wire.send_deferrable(Femtos(10), 1u64, &wakes);
        wire.send_deferrable(Femtos(20), 2, &wakes);
        assert_eq!(woken(&wakes), [(UnitId(1), Femtos(110))]);
        wire.send(Femtos(30), 3, &wakes);
        wire.send(Femtos(40), 4, &wakes);
        assert_eq!(woken(&wakes), [(UnitId(1), Femtos(30))]);
        assert_eq!(wire.next_arrival(), Some(Femtos(30)));
        let taken: Vec<_> = std::iter::from_fn(|| wire.arrive_dated(Femtos(30))).collect();
        assert_eq!(taken, [(Femtos(10), 1), (Femtos(20), 2), (Femtos(30), 3)]);
        assert_eq!(wire.next_arrival(), Some(Femtos(40)));
    }

    #[test]
    fn a_receiver_that_senses_nothing_sleeps_until_it_asks() {
        let wakes = Wakes::default();
        let mut wire = Wire::new("w", UnitId(0), UnitId(1));
        wire.sense(Sensitivity::None);
        wire.send(Femtos(10), 7u64, &wakes);
        assert_eq!((woken(&wakes), wire.next_arrival()), (vec![], None));
        wire.sense(Sensitivity::Every);
        assert_eq!(wire.next_arrival(), Some(Femtos(10)));
    }
}
