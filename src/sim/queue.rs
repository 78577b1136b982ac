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
//! wakes the receiver; a sender may also ask to be woken after a number of pops ([`Out::watch_pops`]).
//!
//! A receiver that takes items [as at earlier edges](Queue::wait) need not run for each: from a [patient](Queue::patient) queue it hears of
//! those that [can wait](Item::can_wait) later, as long as their number leaves the sender room and nobody counts pops.

use super::{
    dated::Dated,
    digest::Digest,
    fault::{Armed, FaultKind, Faults, Flip},
    probe::Probe,
    wake::{UnitId, Wakes},
};
use crate::units::Femtos;
use std::{cell::Cell, rc::Rc};

/// What travels through queues and wires.
pub trait Item: Clone {
    /// The faults that can befall one in passing.
    const FAULTS: &'static [FaultKind] = &[FaultKind::Drop, FaultKind::Duplicate, FaultKind::Reorder];

    /// The same item, put together anew from its parts: for the rare ways that hand it on by its address, so that on the common way it need
    /// have none.
    #[must_use]
    fn rebuilt(self) -> Self {
        self
    }

    /// A word that tells it apart from others, for the event digest. It must not depend on payload bytes.
    fn word(&self) -> u64;

    /// Whether a receiver that takes items late may hear of it late.
    fn can_wait(&self) -> bool {
        false
    }

    /// Inverts a bit that `seed` picks; none if there is none.
    fn flip(&mut self, _seed: u64) -> Option<Flip> {
        None
    }

    /// Inverts a bit of its framing token.
    fn flip_token(&mut self, _seed: u64) -> Option<Flip> {
        None
    }

    /// Inverts a bit that only IDE protects.
    fn flip_protected(&mut self, _seed: u64) -> Option<Flip> {
        None
    }
}

/// Fault points and probes of a queue; absent while nobody asks for them.
#[derive(Debug)]
struct Watch<T> {
    faults: Faults<T>,
    probe: Option<Probe>,
}

/// A bounded registered queue.
#[derive(Debug)]
pub struct Queue<T> {
    name: String,
    sender: UnitId,
    receiver: UnitId,
    capacity: usize,
    /// With the instants at which they were pushed.
    items: Dated<T>,
    /// Items in all queues to the same receiver, if it counts them.
    among: Option<Rc<Cell<usize>>>,
    /// With fewer items than this it may keep its receiver waiting.
    patient: usize,
    /// How late the receiver may hear of an item, and until when it will run anyway.
    patience: Option<(Femtos, Femtos)>,
    /// Whether the sender sees to it that the receiver runs in time, and so is to know when it hears at once.
    kept_up: bool,
    /// The instant of the latest pop, and how many were popped at it.
    popped_at: Femtos,
    popped: usize,
    pops: u64,
    wake_at_pops: u64,
    sender_waits: bool,
    digest: Digest,
    watch: Option<Box<Watch<T>>>,
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
            items: Dated::with_room(capacity.min(64)),
            among: None,
            patient: 0,
            patience: None,
            kept_up: false,
            popped_at: Femtos::MAX,
            popped: 0,
            pops: 0,
            wake_at_pops: u64::MAX,
            sender_waits: false,
            digest: Digest::default(),
            watch: None,
        }
    }

    /// The same, patient with fewer than `items` items. The room above is for what the sender pushes until the receiver runs.
    #[must_use]
    pub const fn patient(mut self, items: usize) -> Self {
        self.patient = items;
        self
    }

    /// The same, counted in `count` with others of its receiver, so that it sees at a glance that nothing is in any of them.
    #[must_use]
    pub fn among(mut self, count: &Rc<Cell<usize>>) -> Self {
        self.among = Some(Rc::clone(count));
        self
    }

    /// For a receiver that takes items as at earlier edges: whether nobody would notice if it took those in here late.
    #[inline]
    #[must_use]
    pub const fn can_wait(&self) -> bool {
        self.items.is_empty()
            || (self.items.len() < self.patient && self.wake_at_pops == u64::MAX && !self.sender_waits)
    }

    /// From now on the receiver, which will run at `next` at the latest, need hear only `patience` later of items that can wait; with none, it
    /// hears of every item at once.
    #[inline]
    pub fn wait(&mut self, patience: Option<(Femtos, Femtos)>, wakes: &Wakes) {
        if self.kept_up && patience.is_none() && self.patience.is_some() {
            wakes.touch(self.sender);
        }
        self.patience = patience;
    }

    /// Whether the receiver need not hear at once of items that can wait.
    #[inline]
    #[must_use]
    pub const fn receiver_is_late(&self) -> bool {
        self.patience.is_some()
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

    /// Whether the sender has found no room, and waits for a pop.
    #[inline]
    #[must_use]
    pub const fn sender_waits(&self) -> bool {
        self.sender_waits
    }

    /// Items in it, with those that are not yet visible.
    #[inline]
    #[must_use]
    pub const fn held(&self) -> usize {
        self.items.len()
    }

    /// The item `place` behind the oldest, if the receiver sees it at `now`.
    #[must_use]
    pub fn visible_at(&self, now: Femtos, place: usize) -> Option<&T> {
        self.items.get(place).filter(|(pushed, _)| *pushed < now).map(|(_, item)| item)
    }

    /// The instant at which the oldest item was pushed.
    #[must_use]
    #[inline]
    pub fn front_date(&self) -> Option<Femtos> {
        Some(self.items.first_date()).filter(|&date| date != Femtos::MAX)
    }

    fn watch(&mut self) -> &mut Watch<T> {
        self.watch.get_or_insert_with(|| Box::new(Watch { faults: Faults::new(), probe: None }))
    }

    #[inline]
    fn occupied(&self, now: Femtos) -> usize {
        self.items.len() + if self.popped_at == now { self.popped } else { 0 }
    }

    #[inline]
    fn shows(&self, now: Femtos) -> bool {
        self.items.first_date() < now
    }

    /// After a push at `now`: whether the receiver will run early enough to take it as at its own edge.
    #[inline]
    fn waits(&self, now: Femtos, wakes: &Wakes) -> bool {
        let Some((patience, next)) = self.patience else { return false };
        let waits = (self.kept_up || self.items.len() < self.patient) && self.wake_at_pops == u64::MAX;
        let latest = Femtos(now.0.saturating_add(patience.0));
        if waits && !self.kept_up && self.items.len() == 1 && latest < next {
            wakes.touch_at(self.receiver, latest);
        }
        waits
    }

    #[inline(always)]
    fn append(&mut self, now: Femtos, item: T) {
        self.digest.add(now.0, item.word());
        self.items.push(now, item);
        if let Some(count) = &self.among {
            count.set(count.get() + 1);
        }
    }

    #[cold]
    fn append_watched(&mut self, now: Femtos, item: T) {
        let watch = self.watch();
        let passed = watch.faults.pass(item, now);
        for item in passed {
            if let Some(probe) = self.watch.as_ref().and_then(|w| w.probe.as_ref()) {
                probe.event(now, item.word());
            }
            self.append(now, item);
        }
    }
}

/// What the machine and its reports may ask of any queue or wire.
pub trait Channel {
    /// Its name.
    fn name(&self) -> &str;
    /// The unit that sends into it, and the one that receives.
    fn ends(&self) -> (UnitId, UnitId);
    /// Items in it, and how many it can hold.
    fn fill(&self) -> (usize, usize);
    /// Digest of all that was pushed.
    fn digest(&self) -> u64;
    /// The faults that can be armed here.
    fn fault_kinds(&self) -> &'static [FaultKind];
    /// Arms a fault.
    fn arm(&mut self, armed: Armed);
    /// The faults that were armed here, and what became of them.
    fn armed(&self) -> &[Armed];
    /// Sends each push to `probe` from now on.
    fn listen(&mut self, probe: Probe);
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
        self.digest.value()
    }
    fn fault_kinds(&self) -> &'static [FaultKind] {
        T::FAULTS
    }
    fn arm(&mut self, armed: Armed) {
        self.watch().faults.arm(armed);
    }
    fn armed(&self) -> &[Armed] {
        self.watch.as_ref().map_or(&[], |w| w.faults.armed())
    }
    fn listen(&mut self, probe: Probe) {
        self.watch().probe = Some(probe);
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
            self.hasten();
        }
        room
    }

    /// Calls a receiver that waits: the sender is interested in what it takes.
    #[inline]
    fn hasten(&self) {
        if self.queue.patience.is_some() && !self.queue.items.is_empty() {
            self.wakes.touch(self.queue.receiver);
        }
    }

    /// Pushes an item. The sender has made sure that there is room.
    #[inline(always)]
    pub fn push(&mut self, item: T) {
        let can_wait = item.can_wait();
        debug_assert!(
            self.queue.watch.is_some() || self.queue.occupied(self.now) < self.queue.capacity,
            "{} is full",
            self.queue.name
        );
        if self.queue.watch.is_some() {
            self.queue.append_watched(self.now, item.rebuilt());
        } else {
            self.queue.append(self.now, item);
        }
        if !(can_wait && self.queue.waits(self.now, self.wakes)) {
            self.wakes.touch(self.queue.receiver);
        }
    }

    /// Notes a push at an instant `date` that has passed, of what is pushed now within an item.
    #[inline]
    pub fn note(&mut self, date: Femtos, word: u64) {
        self.queue.digest.add(date.0, word);
    }

    /// Whether the receiver need not hear at once of items that can wait.
    #[inline]
    #[must_use]
    pub const fn receiver_is_late(&self) -> bool {
        self.queue.receiver_is_late()
    }

    /// Whether nothing is in it, not even what is not yet visible.
    #[inline]
    #[must_use]
    pub fn is_vacant(&self) -> bool {
        self.queue.is_vacant()
    }

    /// Whether the sender has found no room, and waits for a pop.
    #[inline]
    #[must_use]
    pub const fn sender_waits(&self) -> bool {
        self.queue.sender_waits()
    }

    /// The same end at another instant.
    #[inline]
    pub const fn turn_to(&mut self, now: Femtos) {
        self.now = now;
    }

    /// From now on the sender sees to it that a receiver that may hear of an item late runs in time, and is woken when it hears at once again.
    #[inline]
    pub const fn keep_up(&mut self, keeps: bool) {
        self.queue.kept_up = keeps;
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
        self.hasten();
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

    /// The oldest visible item, in its place, from which [`Self::pass`] removes it.
    #[inline]
    pub fn head(&mut self) -> Option<&mut T> {
        if self.is_empty() { None } else { self.queue.items.front_mut() }
    }

    /// Removes the oldest visible item.
    #[inline(always)]
    pub fn pass(&mut self) {
        if !self.is_empty() {
            self.note_pop();
            self.queue.items.remove();
        }
    }

    /// The unit that receives.
    #[inline]
    #[must_use]
    pub const fn receiver(&self) -> UnitId {
        self.queue.receiver
    }

    /// The instant at which the oldest item was pushed.
    #[inline]
    #[must_use]
    pub fn front_date(&self) -> Option<Femtos> {
        self.queue.front_date()
    }

    /// The same end at another instant.
    #[inline]
    pub const fn turn_to(&mut self, now: Femtos) {
        self.now = now;
    }

    /// From now on somebody runs this receiver in time where it hears late of items that [can wait](Item::can_wait); or else it hears of every
    /// item at once, and the sender of that.
    #[inline]
    pub fn hear_late(&mut self, late: bool) {
        if !late && self.queue.patience.is_some() {
            self.wakes.touch(self.queue.sender);
        }
        self.queue.patience = late.then_some((Femtos::MAX, Femtos(0)));
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
        if let Some(count) = &queue.among {
            count.set(count.get() - 1);
        }
        if queue.sender_waits || queue.pops >= queue.wake_at_pops {
            queue.sender_waits = false;
            queue.wake_at_pops = u64::MAX;
            self.wakes.touch(queue.sender);
        }
    }
}

/// A plain word, for tests and simple handshakes.
impl Item for u64 {
    fn word(&self) -> u64 {
        *self
    }
    fn flip(&mut self, seed: u64) -> Option<Flip> {
        let before = *self;
        *self ^= 1 << (seed % 64);
        Some(Flip::of_header(before, *self))
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
        q.arm(Armed::new(&injection, 0, 0));
        for n in 1..=3 {
            q.output(Femtos(n), &wakes).push(n);
        }
        let mut input = q.input(Femtos(9), &wakes);
        assert_eq!((input.pop(), input.pop(), input.pop()), (Some(1), Some(3), None));
        assert!(matches!(q.armed()[0].effect(), crate::sim::Effect::Struck { .. }));
    }
}
