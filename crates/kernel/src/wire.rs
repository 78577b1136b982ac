//! A wire with a flight time: what is sent arrives at a date that the sender knows.
//!
//! ```text
//!                +----------------------+
//!  Tx send, date |  ~~~~~~ Wire ~~~~~~  | Rx arrive
//!                +----------------------+
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
    board::Board,
    channel::{Carrier, Channel, Link, Side, answers_alike, short_name},
    fault::{Armed, FaultKind, Selectors},
    item::Item,
    probe::Probe,
    transit::{Arrivals, Transit},
    unit::{End, Ends, end_of_channel},
    wake::UnitId,
    watch::Watch,
};
use crate::units::Femtos;
use std::{cell::Cell, fmt, rc::Rc};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sensitivity {
    /// Every item, at its date.
    #[default]
    Every,
    /// What [can be deferred](Tx::send_deferrable) so long after its date as the wire allows, all else at its date.
    Deferring,
    None,
}

/// What both ends of a wire reach.
#[derive(Debug)]
pub(super) struct Wire<T> {
    link: Link,
    flight: Femtos,
    /// How long what can be deferred is.
    window: Femtos,
    items: Transit<T>,
    last_date: Cell<Femtos>,
    sensitivity: Cell<Sensitivity>,
    /// On a wire that defers: the dates of what cannot be.
    pressing: Transit<()>,
    watch: Watch<T>,
}

impl<T: Item> Wire<T> {
    /// A wire on which nothing arrives sooner than `flight` after what caused it; what can be deferred wakes the receiver `window` after its date.
    pub fn new(path: String, flight: Femtos, window: Femtos, board: Rc<Board>) -> Rc<Self> {
        let sensitivity = if window > Femtos(0) { Sensitivity::Deferring } else { Sensitivity::Every };
        Rc::new(Self {
            link: Link::new(path, board),
            flight,
            window,
            items: Transit::with_room(0),
            last_date: Cell::new(Femtos(0)),
            sensitivity: Cell::new(sensitivity),
            pressing: Transit::with_room(0),
            watch: Watch::default(),
        })
    }

    pub fn ends(wire: &Rc<Self>) -> (Tx<T>, Rx<T>) {
        let (arrivals, pressing) = (Arrivals::with_room(0), Arrivals::with_room(0));
        (Tx { wire: Rc::clone(wire) }, Rx { wire: Rc::clone(wire), arrivals, pressing })
    }

    #[inline(always)]
    fn put(&self, date: Femtos, item: T, deferrable: bool) {
        let date = date.max(self.last_date.get());
        self.last_date.set(date);
        let (first, alone) = (self.items.is_empty(), self.pressing.is_empty());
        self.items.push(date, item, |item| self.watch.digest(date, item));
        if self.window > Femtos(0) && !deferrable {
            self.pressing.push(date, (), |()| ());
        }
        match self.sensitivity.get() {
            Sensitivity::Every if first => self.link.touch_receiver_at(date),
            Sensitivity::Deferring if deferrable && first => self.link.touch_receiver_at(self.deferred(date)),
            Sensitivity::Deferring if !deferrable && alone => self.link.touch_receiver_at(date),
            _ => {}
        }
    }

    #[cold]
    fn put_watched(&self, date: Femtos, item: T, deferrable: bool) {
        let date = date.max(self.last_date.get());
        for item in self.watch.pass(item, date, &self.link.board) {
            self.put(date, item, deferrable && !self.link.board.defers_nothing());
        }
    }

    /// When the receiver is notified of an item that is deferred.
    #[inline]
    const fn deferred(&self, date: Femtos) -> Femtos {
        Femtos(date.0.saturating_add(self.window.0))
    }
}

impl<T: Item> Channel for Wire<T> {
    answers_alike!(T);
    fn carrier(&self) -> Carrier {
        Carrier::Wire { flight: self.flight }
    }
    fn fill(&self) -> (usize, usize) {
        (self.items.len(), usize::MAX)
    }
    fn arm(&self, armed: Armed) {
        self.watch.arm(armed);
    }
    fn listen(&self, probe: Probe) {
        self.watch.listen(probe);
    }
}

pub struct Tx<T> {
    wire: Rc<Wire<T>>,
}

impl<T: Item> Tx<T> {
    #[inline(always)]
    pub fn send(&mut self, date: Femtos, item: T) {
        self.pass(date, item, false);
    }

    /// Sends `item`, which arrives at `date` and by itself changes nothing that anybody sees before the wire's window has passed.
    #[inline(always)]
    pub fn send_deferrable(&mut self, date: Femtos, item: T) {
        self.pass(date, item, true);
    }

    #[inline(always)]
    fn pass(&self, date: Femtos, item: T, deferrable: bool) {
        if self.wire.watch.passes() {
            self.wire.put_watched(date, item, deferrable);
        } else {
            self.wire.put(date, item, deferrable);
        }
    }
}

pub struct Rx<T> {
    wire: Rc<Wire<T>>,
    arrivals: Arrivals<T>,
    pressing: Arrivals<()>,
}

impl<T: Item> Rx<T> {
    /// From now on the receiver, which is running, is woken so. On a wire that does not defer, [`Sensitivity::Deferring`] is
    /// [`Sensitivity::Every`].
    #[inline]
    pub fn sense(&mut self, sensitivity: Sensitivity) {
        self.wire.sensitivity.set(match sensitivity {
            Sensitivity::Deferring if self.wire.window == Femtos(0) => Sensitivity::Every,
            other => other,
        });
    }

    /// Takes the oldest item that has arrived.
    #[inline]
    pub fn arrive(&mut self, now: Femtos) -> Option<T> {
        self.arrive_dated(now).map(|(_, item)| item)
    }

    /// Takes the oldest item that has arrived, with its date.
    #[inline(always)]
    pub fn arrive_dated(&mut self, now: Femtos) -> Option<(Femtos, T)> {
        let date = self.wire.items.first_date();
        if date > now {
            return None;
        }
        self.take_pressing(date);
        self.arrivals.pop(&self.wire.items).map(|item| (date, item))
    }

    /// The oldest item that has arrived, where it lies, with its date: what is needed of it is taken before it is [removed](Self::remove).
    #[inline(always)]
    pub fn arrived(&mut self, now: Femtos) -> Option<(Femtos, &mut T)> {
        let date = self.wire.items.first_date();
        if date > now { None } else { self.arrivals.front_mut(&self.wire.items).map(|item| (date, item)) }
    }

    /// Removes the oldest item, which has [arrived](Self::arrived).
    #[inline(always)]
    pub fn remove(&mut self) {
        self.take_pressing(self.wire.items.first_date());
        self.arrivals.remove(&self.wire.items);
    }

    /// The item of this date is being taken.
    #[inline(always)]
    fn take_pressing(&mut self, date: Femtos) {
        if self.wire.pressing.first_date() == date {
            self.pressing.pop(&self.wire.pressing);
        }
    }

    /// The item `place` behind the oldest, if it has arrived.
    pub fn peek_at(&mut self, now: Femtos, place: usize) -> Option<&T> {
        self.arrivals.get(&self.wire.items, place).filter(|(date, _)| *date <= now).map(|(_, item)| item)
    }

    /// Date of the oldest item, arrived or not.
    #[inline]
    pub fn front_date(&self) -> Option<Femtos> {
        Some(self.wire.items.first_date()).filter(|&date| date != Femtos::MAX)
    }

    /// Date of the next arrival that wakes the receiver.
    #[inline]
    pub fn next_arrival(&self) -> Option<Femtos> {
        match self.wire.sensitivity.get() {
            Sensitivity::Every => self.front_date(),
            Sensitivity::Deferring => {
                let deferred = self.front_date().map_or(Femtos::MAX, |date| self.wire.deferred(date));
                Some(self.wire.pressing.first_date().min(deferred)).filter(|&date| date != Femtos::MAX)
            }
            Sensitivity::None => None,
        }
    }
}

end_of_channel!(Tx, wire, Sending);
end_of_channel!(Rx, wire, Receiving);

#[cfg(test)]
mod tests {
    use super::*;

    struct Bench {
        board: Rc<Board>,
        tx: Tx<u64>,
        rx: Rx<u64>,
    }

    /// A wire from unit 0 to unit 1.
    fn bench(window: Femtos) -> Bench {
        let board = Rc::new(Board::default());
        let (tx, rx) = Wire::ends(&Wire::new("w".into(), Femtos(1), window, Rc::clone(&board)));
        tx.attach(UnitId(0));
        rx.attach(UnitId(1));
        Bench { board, tx, rx }
    }

    impl Bench {
        fn woken(&self) -> Vec<(usize, Femtos)> {
            std::iter::from_fn(|| self.board.pop_dated()).collect()
        }
    }

    #[test]
    fn an_item_arrives_at_its_date_and_not_before() {
        let mut wire = bench(Femtos(0));
        wire.tx.send(Femtos(10), 7);
        assert_eq!(wire.rx.peek_at(Femtos(9), 0), None);
        assert_eq!(wire.rx.peek_at(Femtos(10), 0), Some(&7));
        assert_eq!(wire.rx.arrive(Femtos(9)), None);
        assert_eq!(wire.rx.next_arrival(), Some(Femtos(10)));
        assert_eq!(wire.rx.arrive(Femtos(10)), Some(7));
    }

    #[test]
    fn the_receiver_is_woken_for_the_first_arrival_only() {
        let mut wire = bench(Femtos(0));
        wire.tx.send(Femtos(10), 7);
        wire.tx.send(Femtos(20), 8);
        assert!(wire.board.any_dated());
        assert_eq!(wire.woken(), [(1, Femtos(10))]);
    }

    #[test]
    fn what_can_be_deferred_wakes_a_window_later_and_what_presses_at_its_date() {
        let mut wire = bench(Femtos(100));
        wire.tx.send_deferrable(Femtos(10), 1);
        wire.tx.send_deferrable(Femtos(20), 2);
        assert_eq!(wire.woken(), [(1, Femtos(110))]);
        wire.tx.send(Femtos(30), 3);
        wire.tx.send(Femtos(40), 4);
        assert_eq!(wire.woken(), [(1, Femtos(30))]);
        assert_eq!(wire.rx.next_arrival(), Some(Femtos(30)));
        assert_eq!(wire.rx.arrive_dated(Femtos(30)), Some((Femtos(10), 1)));
        for expected in [(Femtos(20), 2), (Femtos(30), 3)] {
            assert_eq!(wire.rx.arrived(Femtos(30)).map(|(date, item)| (date, *item)), Some(expected));
            wire.rx.remove();
        }
        assert!(wire.rx.arrived(Femtos(30)).is_none());
        assert_eq!(wire.rx.next_arrival(), Some(Femtos(40)));
    }

    #[test]
    fn a_receiver_that_senses_nothing_sleeps_until_it_asks() {
        let mut wire = bench(Femtos(0));
        wire.rx.sense(Sensitivity::None);
        wire.tx.send(Femtos(10), 7);
        assert_eq!((wire.woken(), wire.rx.next_arrival()), (vec![], None));
        wire.rx.sense(Sensitivity::Every);
        assert_eq!(wire.rx.next_arrival(), Some(Femtos(10)));
    }
}
