//! Bounded registered queues between units.
//!
//! ```text
//!            +-----------------+
//!  Out push >|  Queue, n deep  |> In pop
//!            +-----------------+
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts per cycle | as many as there is room for |
//! | latency | what is pushed is visible at the first edge of the receiver's clock strictly after the push |
//! | room | what is popped frees room for the sender at its first edge strictly after the pop |
//!
//! So the order in which two units tick at one instant cannot matter. A full queue wakes a sender that found it full; a push
//! wakes the receiver, unless it is [deferred](Out::push_deferrable); a sender may also ask to be woken after a number of pops
//! ([`Out::watch_pops`]).

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

/// A bounded registered queue.
#[derive(Debug)]
pub struct Queue<T> {
    name: String,
    sender: UnitId,
    receiver: UnitId,
    capacity: usize,
    /// Whether items may be deferred.
    defers: bool,
    /// With the instants at which they were pushed.
    items: Dated<T>,
    /// The instant of the latest pop, and how many were popped at it.
    popped_at: Femtos,
    popped: usize,
    pops: u64,
    wake_at_pops: u64,
    sender_waits: bool,
    watch: Watch<T>,
}

impl<T: Item> Queue<T> {
    /// A queue of `capacity` items from `sender` to `receiver`.
    #[must_use]
    pub fn new(name: impl Into<String>, sender: UnitId, receiver: UnitId, capacity: usize) -> Self {
        Self {
            name: name.into(),
            sender,
            receiver,
            capacity,
            defers: false,
            items: Dated::with_room(capacity.min(64)),
            popped_at: Femtos::MAX,
            popped: 0,
            pops: 0,
            wake_at_pops: u64::MAX,
            sender_waits: false,
            watch: Watch::default(),
        }
    }

    /// The same, for [deferrable](Out::push_deferrable) items too.
    #[must_use]
    pub const fn deferring(mut self) -> Self {
        self.defers = true;
        self
    }

    /// The sending end, at an instant.
    #[inline]
    pub fn output<'a>(&'a mut self, now: Femtos, wakes: &'a Wakes) -> Out<'a, T> {
        Out { queue: self, now, wakes }
    }

    /// The receiving end, at an instant.
    #[inline]
    pub fn input<'a>(&'a mut self, now: Femtos, wakes: &'a Wakes) -> In<'a, T> {
        In { queue: self, now, wakes }
    }

    /// Whether nothing is in it, not even what is not yet visible.
    #[inline]
    #[must_use]
    pub fn is_vacant(&self) -> bool {
        self.items.is_empty()
    }

    /// The item `place` behind the oldest, if the receiver sees it at `now`.
    #[must_use]
    pub fn visible_at(&self, now: Femtos, place: usize) -> Option<&T> {
        self.items.get(place).filter(|(pushed, _)| *pushed < now).map(|(_, item)| item)
    }

    #[inline]
    fn occupied(&self, now: Femtos) -> usize {
        self.items.len() + if self.popped_at == now { self.popped } else { 0 }
    }

    #[inline]
    fn shows(&self, now: Femtos) -> bool {
        self.items.first_date() < now
    }

    #[inline(always)]
    fn append(&mut self, now: Femtos, item: T) {
        self.watch.digest(now, &item);
        self.items.push(now, item);
    }

    #[cold]
    fn append_watched(&mut self, now: Femtos, item: T, wakes: &Wakes) {
        for item in self.watch.pass(item, now, wakes) {
            self.append(now, item);
        }
    }
}

impl<T: Item> Channel for Queue<T> {
    fn name(&self) -> &str {
        &self.name
    }
    fn ends(&self) -> (UnitId, UnitId) {
        (self.sender, self.receiver)
    }
    fn fill(&self) -> (usize, usize) {
        (self.items.len(), self.capacity)
    }
    fn digest(&self) -> u64 {
        self.watch.value()
    }
    fn fault_kinds(&self) -> &'static [FaultKind] {
        T::FAULTS
    }
    fn arm(&mut self, armed: Armed, wakes: &Wakes) {
        if self.defers {
            // What is deferred comes after its instant, and a fault strikes when it comes.
            wakes.defer_nothing();
        }
        self.watch.arm(armed);
    }
    fn armed(&self) -> Vec<Armed> {
        self.watch.armed()
    }
    fn listen(&mut self, probe: Probe) {
        self.watch.listen(probe);
    }
}

/// The sending end of a queue at one instant.
#[derive(Debug)]
pub struct Out<'a, T> {
    queue: &'a mut Queue<T>,
    now: Femtos,
    wakes: &'a Wakes,
}

impl<T: Item> Out<'_, T> {
    /// The instant.
    #[must_use]
    pub const fn now(&self) -> Femtos {
        self.now
    }

    /// Whether one more item fits. If not, the sender is woken when there is room.
    #[inline]
    pub fn has_room(&mut self) -> bool {
        self.room(1) > 0
    }

    /// How many items fit. If fewer than `wanted` do, the sender is woken when there is more room.
    #[inline]
    pub fn room(&mut self, wanted: usize) -> usize {
        let room = self.queue.capacity.saturating_sub(self.queue.occupied(self.now));
        if room < wanted {
            self.queue.sender_waits = true;
            // Room that the receiver has made at this very instant is there at the next edge.
            if self.queue.popped_at == self.now {
                self.wakes.touch(self.queue.sender);
            }
        }
        room
    }

    /// Pushes an item. The sender has made sure that there is room.
    #[inline(always)]
    pub fn push(&mut self, item: T) {
        self.put(item);
        self.wakes.touch(self.queue.receiver);
    }

    /// Pushes an item that changes nothing for the receiver until another one comes: it does not wake it. Nobody may wait for its pop.
    #[inline(always)]
    pub fn push_deferrable(&mut self, item: T) {
        self.put(item);
        debug_assert!(self.queue.defers, "{} defers nothing", self.queue.name);
        if self.wakes.defers_nothing() {
            self.wakes.touch(self.queue.receiver);
        }
    }

    #[inline(always)]
    fn put(&mut self, item: T) {
        let queue = &mut *self.queue;
        if queue.watch.passes() {
            queue.append_watched(self.now, item, self.wakes);
        } else {
            debug_assert!(queue.occupied(self.now) < queue.capacity, "{} is full", queue.name);
            queue.append(self.now, item);
        }
    }

    /// How many items the receiver has popped, as visible now.
    #[inline]
    #[must_use]
    pub fn pops(&self) -> u64 {
        self.queue.pops - if self.queue.popped_at == self.now { self.queue.popped as u64 } else { 0 }
    }

    /// Asks to be woken once the receiver has popped `pops` items in all.
    #[inline]
    pub fn watch_pops(&mut self, pops: u64) {
        self.queue.wake_at_pops = pops;
        if self.queue.pops >= pops {
            self.wakes.touch(self.queue.sender);
        }
    }
}

/// The receiving end of a queue at one instant.
#[derive(Debug)]
pub struct In<'a, T> {
    queue: &'a mut Queue<T>,
    now: Femtos,
    wakes: &'a Wakes,
}

impl<T: Item> In<'_, T> {
    /// The oldest visible item.
    #[inline]
    #[must_use]
    pub fn peek(&self) -> Option<&T> {
        self.peek_at(0)
    }

    /// The item `place` behind the oldest, if it is visible.
    #[inline]
    #[must_use]
    pub fn peek_at(&self, place: usize) -> Option<&T> {
        self.queue.visible_at(self.now, place)
    }

    /// Whether nothing is visible.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.queue.shows(self.now)
    }

    /// Takes the oldest visible item.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        self.note_pop();
        self.queue.items.pop()
    }

    #[inline(always)]
    fn note_pop(&mut self) {
        let queue = &mut *self.queue;
        if queue.popped_at == self.now {
            queue.popped += 1;
        } else {
            queue.popped_at = self.now;
            queue.popped = 1;
        }
        queue.pops += 1;
        if queue.sender_waits || queue.pops >= queue.wake_at_pops {
            queue.sender_waits = false;
            queue.wake_at_pops = u64::MAX;
            self.wakes.touch(queue.sender);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(capacity: usize) -> Queue<u64> {
        Queue::new("q", UnitId(0), UnitId(1), capacity)
    }

    #[test]
    fn a_push_is_visible_strictly_after_its_instant() {
        let (mut q, wakes) = (queue(2), Wakes::default());
        q.output(Femtos(10), &wakes).push(7);
        assert!(q.input(Femtos(10), &wakes).peek().is_none());
        assert_eq!(q.input(Femtos(11), &wakes).pop(), Some(7));
        assert_eq!(wakes.take_next_edge(), 0b10);
    }

    #[test]
    fn room_from_a_pop_is_visible_strictly_after_its_instant() {
        let (mut q, wakes) = (queue(1), Wakes::default());
        q.output(Femtos(1), &wakes).push(7);
        assert_eq!(q.input(Femtos(5), &wakes).pop(), Some(7));
        assert!(!q.output(Femtos(5), &wakes).has_room());
        assert!(q.output(Femtos(6), &wakes).has_room());
    }

    #[test]
    fn only_a_sender_that_found_the_queue_full_is_woken_by_a_pop() {
        let (mut q, wakes) = (queue(1), Wakes::default());
        q.output(Femtos(1), &wakes).push(7);
        assert!(!q.output(Femtos(2), &wakes).has_room());
        wakes.take_next_edge();
        q.input(Femtos(3), &wakes).pop();
        assert_eq!(wakes.take_next_edge(), 0b01);
        q.output(Femtos(4), &wakes).push(8);
        wakes.take_next_edge();
        q.input(Femtos(5), &wakes).pop();
        assert_eq!(wakes.take_next_edge(), 0);
    }

    #[test]
    fn an_armed_fault_strikes_at_its_passage_only() {
        let (mut q, wakes) = (queue(8), Wakes::default());
        let injection = super::super::fault::Injection { place: "q".into(), kind: FaultKind::Drop, passage: 2 };
        q.arm(Armed::new(&injection, 0, 0), &wakes);
        for n in 1..=3 {
            q.output(Femtos(n), &wakes).push(n);
        }
        let mut input = q.input(Femtos(9), &wakes);
        assert_eq!((input.pop(), input.pop(), input.pop()), (Some(1), Some(3), None));
        assert!(matches!(q.armed()[0].effect(), crate::sim::Effect::Struck { .. }));
    }
}
