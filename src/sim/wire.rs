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
//!
//! A receiver whose work on an item follows from the item's date alone need not run for each: on a [lazy](Wire::lazy) wire only items that
//! are [called](Wire::send) for wake it, and it takes the others, with their dates, when it runs.

use super::{
    dated::Dated,
    digest::Digest,
    fault::{Armed, FaultKind, Faults},
    probe::Probe,
    queue::{Channel, Item},
    wake::{UnitId, Wakes},
};
use crate::units::Femtos;
use std::collections::VecDeque;

/// A wire from one unit to another.
#[derive(Debug)]
pub struct Wire<T> {
    name: String,
    sender: UnitId,
    receiver: UnitId,
    items: Dated<T>,
    last_date: Femtos,
    /// Whether it is lazy. If so: the date of the next item that wakes the receiver, or [`Femtos::MAX`], and those behind it.
    lazy: bool,
    next_call: Femtos,
    calls: VecDeque<Femtos>,
    /// Whether the receiver is woken for every item all the same, and how long after its date at the latest.
    attended: Option<Femtos>,
    digest: Digest,
    faults: Option<Box<Faults<T>>>,
    probe: Option<Box<Probe>>,
}

impl<T: Item> Wire<T> {
    /// A wire from `sender` to `receiver`.
    #[must_use]
    pub fn new(name: impl Into<String>, sender: UnitId, receiver: UnitId) -> Self {
        Self {
            name: name.into(),
            sender,
            receiver,
            items: Dated::with_room(0),
            last_date: Femtos(0),
            lazy: false,
            next_call: Femtos::MAX,
            calls: VecDeque::new(),
            attended: None,
            digest: Digest::default(),
            faults: None,
            probe: None,
        }
    }

    /// A lazy wire from `sender` to `receiver`.
    #[must_use]
    pub fn lazy(name: impl Into<String>, sender: UnitId, receiver: UnitId) -> Self {
        Self { lazy: true, ..Self::new(name, sender, receiver) }
    }

    /// The unit that receives.
    #[inline]
    #[must_use]
    pub const fn receiver(&self) -> UnitId {
        self.receiver
    }

    /// Sends `item`, which arrives at `date`.
    #[inline(always)]
    pub fn send(&mut self, date: Femtos, item: T, wakes: &Wakes) {
        self.send_called(date, item, true, wakes);
    }

    /// Sends `item`, which arrives at `date`; on a lazy wire it wakes the receiver only if `call`.
    #[inline(always)]
    pub fn send_called(&mut self, date: Femtos, item: T, call: bool, wakes: &Wakes) {
        if self.faults.is_some() || self.probe.is_some() {
            self.send_watched(date, item.rebuilt(), call, wakes);
        } else {
            self.put(date, item, call, wakes);
        }
    }

    /// Sends the item that `make` makes, the same way; `word` is what [tells it apart](Item::word). It is made in its place on the wire, so that no
    /// copy of it is needed.
    #[inline(always)]
    pub fn send_made(&mut self, date: Femtos, make: impl FnOnce() -> T, word: u64, call: bool, wakes: &Wakes) {
        if self.faults.is_some() || self.probe.is_some() {
            self.send_watched(date, make(), call, wakes);
        } else {
            let first = self.enter(date, word);
            self.items.push_made(self.last_date, || {
                let item = make();
                debug_assert_eq!(item.word(), word, "{}", self.name);
                item
            });
            self.call(first, call, wakes);
        }
    }

    /// Notes an arrival at `date` of what travels within the next item.
    #[inline]
    pub fn note(&mut self, date: Femtos, word: u64) {
        self.last_date = date.max(self.last_date);
        self.digest.add(self.last_date.0, word);
    }

    #[inline(always)]
    fn put(&mut self, date: Femtos, item: T, call: bool, wakes: &Wakes) {
        let first = self.enter(date, item.word());
        self.items.push(self.last_date, item);
        self.call(first, call, wakes);
    }

    /// Notes an item that arrives at `date`; says whether it is the only one.
    #[inline(always)]
    fn enter(&mut self, date: Femtos, word: u64) -> bool {
        self.last_date = date.max(self.last_date);
        self.digest.add(self.last_date.0, word);
        self.items.is_empty()
    }

    /// Wakes the receiver for the newest item, if it is to be woken.
    #[inline(always)]
    fn call(&mut self, first: bool, call: bool, wakes: &Wakes) {
        let date = self.last_date;
        if !self.lazy {
            if first {
                wakes.touch_at(self.receiver, date);
            }
            return;
        }
        if call && self.next_call == Femtos::MAX {
            wakes.touch_at(self.receiver, date);
        } else if let (Some(patience), true) = (self.attended, first) {
            wakes.touch_at(self.receiver, Femtos(date.0.saturating_add(patience.0)));
        }
        if call {
            self.note_call(date);
        }
    }

    fn note_call(&mut self, date: Femtos) {
        if self.next_call == Femtos::MAX {
            self.next_call = date;
        } else {
            self.calls.push_back(date);
        }
    }

    /// The next call has been answered.
    fn answer_call(&mut self) {
        self.next_call = self.calls.pop_front().unwrap_or(Femtos::MAX);
    }

    #[cold]
    fn send_watched(&mut self, date: Femtos, item: T, call: bool, wakes: &Wakes) {
        let passed = match &mut self.faults {
            Some(faults) => faults.pass(item, date),
            None => VecDeque::from([item]),
        };
        // What is held back and let go later has a call of its own no more, so all of them call.
        let call = call || self.faults.is_some();
        for item in passed {
            if let Some(probe) = &self.probe {
                probe.event(date, item.word());
            }
            self.put(date, item, call, wakes);
        }
    }

    /// Takes the oldest item that has arrived.
    #[inline]
    pub fn arrive(&mut self, now: Femtos) -> Option<T> {
        if self.items.first_date() <= now { self.items.pop() } else { None }
    }

    /// The oldest item that has arrived, in its place, from which [`Self::pass`] removes it: cheaper than a copy of a large one.
    #[inline(always)]
    pub fn arrived(&mut self, now: Femtos) -> Option<&mut T> {
        if self.items.first_date() <= now { self.items.front_mut() } else { None }
    }

    /// The oldest item and its date, arrived or not.
    #[inline(always)]
    pub fn front(&mut self) -> Option<(Femtos, &mut T)> {
        let date = self.items.first_date();
        self.items.front_mut().map(|item| (date, item))
    }

    /// Removes the oldest item, which has arrived.
    #[inline(always)]
    pub fn pass(&mut self) {
        if self.next_call == self.items.first_date() {
            self.answer_call();
        }
        self.items.remove();
    }

    /// On a lazy wire: whether the receiver is from now on woken for every item, at most so long after its date.
    #[inline]
    pub const fn attend(&mut self, patience: Option<Femtos>) {
        self.attended = patience;
    }

    /// The item `place` behind the oldest, if it has arrived.
    #[must_use]
    pub fn visible_at(&self, now: Femtos, place: usize) -> Option<&T> {
        self.items.get(place).filter(|(date, _)| *date <= now).map(|(_, item)| item)
    }

    /// Takes the oldest item that has arrived on a lazy wire, with its date.
    #[inline]
    pub fn arrive_dated(&mut self, now: Femtos) -> Option<(Femtos, T)> {
        let date = self.items.first_date();
        if date > now {
            return None;
        }
        if self.next_call <= now {
            self.answer_call();
        }
        self.items.pop().map(|item| (date, item))
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
        if !self.lazy {
            return self.front_date();
        }
        let called = Some(self.next_call).filter(|&called| called != Femtos::MAX);
        match (self.attended, self.front_date()) {
            (Some(patience), Some(front)) => {
                let latest = Femtos(front.0.saturating_add(patience.0));
                Some(called.map_or(latest, |called| called.min(latest)))
            }
            _ => called,
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
        self.digest.value()
    }
    fn fault_kinds(&self) -> &'static [FaultKind] {
        T::FAULTS
    }
    fn arm(&mut self, armed: Armed) {
        self.faults.get_or_insert_with(|| Box::new(Faults::new())).arm(armed);
    }
    fn armed(&self) -> &[Armed] {
        self.faults.as_ref().map_or(&[], |f| f.armed())
    }
    fn listen(&mut self, probe: Probe) {
        self.probe = Some(Box::new(probe));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_arrives_at_its_date_and_not_before() {
        let (mut wire, wakes) = (Wire::new("w", UnitId(0), UnitId(1)), Wakes::default());
        wire.send(Femtos(10), 7u64, &wakes);
        assert_eq!(wire.arrive(Femtos(9)), None);
        assert_eq!(wire.next_arrival(), Some(Femtos(10)));
        assert_eq!(wire.arrive(Femtos(10)), Some(7));
    }

    #[test]
    fn an_item_made_in_its_place_is_as_one_that_is_sent() {
        let wakes = Wakes::default();
        let wires = [false, true].map(|made| {
            let mut wire = Wire::lazy("w", UnitId(0), UnitId(1));
            for (date, item) in [(10, 7_u64), (30, 8), (20, 9)] {
                match made {
                    true => wire.send_made(Femtos(date), || item, item, item == 8, &wakes),
                    false => wire.send_called(Femtos(date), item, item == 8, &wakes),
                }
            }
            let seen = (wire.digest(), wire.next_arrival(), wire.front_date());
            (seen, [(); 4].map(|()| wire.arrive_dated(Femtos(40))))
        });
        assert_eq!(wires[0], wires[1]);
        assert_eq!(wires[0].0.1, Some(Femtos(30)));
    }

    #[test]
    fn the_receiver_is_woken_for_the_first_arrival_only() {
        let (mut wire, wakes) = (Wire::new("w", UnitId(0), UnitId(1)), Wakes::default());
        wire.send(Femtos(10), 7u64, &wakes);
        wire.send(Femtos(20), 8u64, &wakes);
        let mut dated = Vec::new();
        assert!(wakes.any_dated());
        wakes.take_dated(|unit, date| dated.push((unit, date)));
        assert_eq!(dated, [(UnitId(1), Femtos(10))]);
    }
}
