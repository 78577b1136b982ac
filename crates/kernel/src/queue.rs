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
//! wakes the receiver, unless it is [deferred](Out::push_deferrable), or lies behind another item and the receiver senses
//! [the head only](In::sense_head); a sender may also ask to be woken after a number of pops
//! ([`Out::watch_pops`]).

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
use std::{
    cell::{Cell, OnceCell},
    fmt,
    rc::Rc,
};

/// What both ends of a queue reach.
#[derive(Debug)]
pub(super) struct Queue<T> {
    link: Link,
    capacity: usize,
    defers: bool,
    /// With the instants at which they were pushed.
    items: Transit<T>,
    /// The instant of the latest pop, and how many were popped at it.
    popped_at: Cell<Femtos>,
    popped: Cell<usize>,
    pops: Cell<u64>,
    wake_at_pops: Cell<u64>,
    /// The pop from which on somebody looks: that one, or the first if the queue has a probe.
    look_at_pops: Cell<u64>,
    probe: OnceCell<Probe>,
    sender_waits: Cell<bool>,
    /// Whether an item behind another one wakes nobody.
    head_only: Cell<bool>,
    watch: Watch<T>,
}

/// Places that a queue has from the first on; a deeper one grows.
const ROOM: usize = 64;

impl<T: Item> Queue<T> {
    /// A queue of `capacity` items; with `defers` for [deferrable](Out::push_deferrable) items too.
    pub fn new(path: String, capacity: usize, defers: bool, board: Rc<Board>) -> Rc<Self> {
        Rc::new(Self {
            link: Link::new(path, board),
            capacity,
            defers,
            items: Transit::with_room(capacity.min(ROOM)),
            popped_at: Cell::new(Femtos::MAX),
            popped: Cell::new(0),
            pops: Cell::new(0),
            wake_at_pops: Cell::new(u64::MAX),
            look_at_pops: Cell::new(u64::MAX),
            probe: OnceCell::new(),
            sender_waits: Cell::new(false),
            head_only: Cell::new(false),
            watch: Watch::default(),
        })
    }

    pub fn ends(queue: &Rc<Self>) -> (Out<T>, In<T>) {
        let arrivals = Arrivals::with_room(queue.capacity.min(ROOM));
        (Out { queue: Rc::clone(queue) }, In { queue: Rc::clone(queue), arrivals })
    }

    #[inline]
    fn occupied(&self, now: Femtos) -> usize {
        self.items.len() + if self.popped_at.get() == now { self.popped.get() } else { 0 }
    }

    #[inline(always)]
    fn append(&self, now: Femtos, item: T) {
        self.items.push(now, item, |item| self.watch.digest(now, item));
    }

    #[cold]
    fn append_watched(&self, now: Femtos, item: T) {
        for item in self.watch.pass(item, now, &self.link.board) {
            self.append(now, item);
        }
    }

    #[inline(always)]
    fn note_pop(&self, now: Femtos) {
        if self.popped_at.get() == now {
            self.popped.set(self.popped.get() + 1);
        } else {
            self.popped_at.set(now);
            self.popped.set(1);
        }
        self.pops.set(self.pops.get() + 1);
        if self.sender_waits.get() || self.pops.get() >= self.look_at_pops.get() {
            self.look_at_pop(now);
        }
    }

    #[cold]
    fn tell_of_pop(&self, now: Femtos) {
        if let Some(probe) = self.probe.get() {
            probe.taken(now);
        }
    }

    #[inline]
    fn look_at_pop(&self, now: Femtos) {
        if self.probe.get().is_some() {
            self.tell_of_pop(now);
        }
        if self.sender_waits.get() || self.pops.get() >= self.wake_at_pops.get() {
            self.sender_waits.set(false);
            self.wake_at(u64::MAX);
            self.link.touch_sender();
        }
    }

    #[inline]
    fn wake_at(&self, pops: u64) {
        self.wake_at_pops.set(pops);
        self.look_at_pops.set(if self.probe.get().is_some() { 0 } else { pops });
    }
}

impl<T: Item> Channel for Queue<T> {
    answers_alike!(T);
    fn carrier(&self) -> Carrier {
        Carrier::Queue { depth: self.capacity }
    }
    fn fill(&self) -> (usize, usize) {
        (self.items.len(), self.capacity)
    }
    fn arm(&self, armed: Armed) {
        if self.defers {
            // What is deferred comes after its instant, and a fault activates when it comes.
            self.link.board.defer_nothing();
        }
        self.watch.arm(armed);
    }
    fn listen(&self, probe: Probe) {
        _ = self.probe.set(probe.clone());
        self.look_at_pops.set(0);
        self.watch.listen(probe);
    }
}

pub struct Out<T> {
    queue: Rc<Queue<T>>,
}

impl<T: Item> Out<T> {
    /// Whether one more item fits. If not, the sender is woken when there is room.
    #[inline]
    pub fn has_room(&mut self, now: Femtos) -> bool {
        self.room(now, 1) > 0
    }

    /// How many items fit. If fewer than `wanted` do, the sender is woken when there is more room.
    #[inline]
    pub fn room(&mut self, now: Femtos, wanted: usize) -> usize {
        let queue = &*self.queue;
        let room = queue.capacity.saturating_sub(queue.occupied(now));
        if room < wanted {
            queue.sender_waits.set(true);
            // Room that the receiver has made at this very instant is there at the next edge.
            if queue.popped_at.get() == now {
                queue.link.touch_sender();
            }
        }
        room
    }

    /// Pushes an item. The sender has made sure that there is room.
    #[inline(always)]
    pub fn push(&mut self, now: Femtos, item: T) {
        let unseen = self.queue.head_only.get() && !self.queue.items.is_empty();
        self.put(now, item);
        if !unseen {
            self.queue.link.touch_receiver();
        }
    }

    /// Pushes an item that changes nothing for the receiver until another one comes: it does not wake it. Nobody may wait for its pop.
    #[inline(always)]
    pub fn push_deferrable(&mut self, now: Femtos, item: T) {
        self.put(now, item);
        let Queue { link, defers, .. } = &*self.queue;
        debug_assert!(defers, "{} defers nothing", link.path);
        if link.board.defers_nothing() {
            link.touch_receiver();
        }
    }

    #[inline(always)]
    fn put(&self, now: Femtos, item: T) {
        let queue = &*self.queue;
        if queue.watch.passes() {
            queue.append_watched(now, item);
        } else {
            debug_assert!(queue.occupied(now) < queue.capacity, "{} is full", queue.link.path);
            queue.append(now, item);
        }
    }

    /// How many items the receiver has popped, as visible now.
    #[inline]
    pub fn pops(&self, now: Femtos) -> u64 {
        let queue = &*self.queue;
        queue.pops.get() - if queue.popped_at.get() == now { queue.popped.get() as u64 } else { 0 }
    }

    /// Asks to be woken once the receiver has popped `pops` items in all.
    #[inline]
    pub fn watch_pops(&mut self, pops: u64) {
        self.queue.wake_at(pops);
        if self.queue.pops.get() >= pops {
            self.queue.link.touch_sender();
        }
    }
}

pub struct In<T> {
    queue: Rc<Queue<T>>,
    arrivals: Arrivals<T>,
}

impl<T: Item> In<T> {
    /// The oldest visible item.
    #[inline]
    pub fn peek(&mut self, now: Femtos) -> Option<&T> {
        self.peek_at(now, 0)
    }

    /// The item `place` behind the oldest, if it is visible.
    #[inline(always)]
    pub fn peek_at(&mut self, now: Femtos, place: usize) -> Option<&T> {
        if self.is_empty(now) { None } else { self.peek_among(now, place) }
    }

    #[inline]
    fn peek_among(&mut self, now: Femtos, place: usize) -> Option<&T> {
        let item = self.arrivals.get(&self.queue.items, place);
        item.filter(|(pushed, _)| *pushed < now).map(|(_, item)| item)
    }

    /// When the oldest visible item was pushed.
    #[inline]
    pub fn front_date(&self, now: Femtos) -> Option<Femtos> {
        Some(self.queue.items.first_date()).filter(|date| *date < now)
    }

    #[inline]
    pub fn is_empty(&self, now: Femtos) -> bool {
        self.queue.items.first_date() >= now
    }

    /// From now on the receiver, which is running and looks at nothing but the oldest item, is woken only by a push into the empty queue. Returns
    /// whether what is there now is visible from its next edge on, at which it must run. Where items may be deferred, every push goes on to wake it.
    #[inline]
    pub fn sense_head(&self, now: Femtos) -> bool {
        self.queue.head_only.set(!self.queue.defers);
        !self.is_vacant() && self.is_empty(now)
    }

    /// Whether nothing is in it, not even what is not yet visible.
    #[inline]
    pub fn is_vacant(&self) -> bool {
        self.queue.items.is_empty()
    }

    /// The oldest visible item where it lies, to take what is needed of it before it is [removed](Self::remove).
    #[inline(always)]
    pub fn front_mut(&mut self, now: Femtos) -> Option<&mut T> {
        if self.is_empty(now) { None } else { self.arrivals.front_mut(&self.queue.items) }
    }

    #[inline(always)]
    pub fn remove(&mut self, now: Femtos) {
        if !self.is_empty(now) {
            self.queue.note_pop(now);
            self.arrivals.remove(&self.queue.items);
        }
    }

    /// Takes the oldest visible item.
    #[inline]
    pub fn pop(&mut self, now: Femtos) -> Option<T> {
        if self.is_empty(now) {
            return None;
        }
        self.queue.note_pop(now);
        self.arrivals.pop(&self.queue.items)
    }
}

end_of_channel!(Out, queue, Sending);
end_of_channel!(In, queue, Receiving);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Effect, Injection};

    struct Bench {
        board: Rc<Board>,
        queue: Rc<Queue<u64>>,
        out: Out<u64>,
        input: In<u64>,
    }

    /// A queue between units 0 and 1.
    fn bench(capacity: usize) -> Bench {
        bench_of(Queue::new("q".into(), capacity, false, Rc::default()))
    }

    fn bench_of(queue: Rc<Queue<u64>>) -> Bench {
        let board = Rc::clone(&queue.link.board);
        let (out, input) = Queue::ends(&queue);
        out.attach(UnitId(0));
        input.attach(UnitId(1));
        Bench { board, queue, out, input }
    }

    impl Bench {
        fn woken(&self) -> Vec<usize> {
            std::iter::from_fn(|| self.board.pop_next_edge()).collect()
        }
    }

    #[test]
    fn a_push_is_visible_strictly_after_its_instant() {
        let mut q = bench(2);
        q.out.push(Femtos(10), 7);
        assert!(q.input.peek(Femtos(10)).is_none());
        assert_eq!(q.input.peek(Femtos(11)), Some(&7));
        assert_eq!(q.input.peek_at(Femtos(11), 1), None);
        assert_eq!(q.input.pop(Femtos(11)), Some(7));
        assert_eq!(q.woken(), [1]);
    }

    #[test]
    fn room_from_a_pop_is_visible_strictly_after_its_instant() {
        let mut q = bench(1);
        q.out.push(Femtos(1), 7);
        assert_eq!(q.input.front_mut(Femtos(1)), None);
        q.input.remove(Femtos(1));
        assert_eq!(q.input.front_mut(Femtos(5)), Some(&mut 7));
        q.input.remove(Femtos(5));
        assert!(!q.out.has_room(Femtos(5)));
        assert!(q.out.has_room(Femtos(6)));
    }

    #[test]
    fn only_a_sender_that_found_the_queue_full_is_woken_by_a_pop() {
        let mut q = bench(1);
        q.out.push(Femtos(1), 7);
        assert!(!q.out.has_room(Femtos(2)));
        q.woken();
        q.input.pop(Femtos(3));
        assert_eq!(q.woken(), [0]);
        q.out.push(Femtos(4), 8);
        q.woken();
        q.input.pop(Femtos(5));
        assert!(q.woken().is_empty());
    }

    #[test]
    fn a_receiver_that_senses_the_head_is_not_woken_by_what_comes_behind_it() {
        let mut q = bench(3);
        assert!(!q.input.sense_head(Femtos(0)));
        q.out.push(Femtos(1), 7);
        assert_eq!(q.woken(), [1]);
        assert!(q.input.sense_head(Femtos(1)), "it is visible from the next edge on");
        q.out.push(Femtos(1), 8);
        q.out.push(Femtos(2), 9);
        assert!(q.woken().is_empty());
        assert_eq!([7, 8].map(|_| q.input.pop(Femtos(2))), [Some(7), Some(8)]);
        assert!(q.input.sense_head(Femtos(2)), "the next one came at this instant");
        assert_eq!(q.input.pop(Femtos(3)), Some(9));
        q.out.push(Femtos(3), 10);
        assert_eq!(q.woken(), [1]);
    }

    #[test]
    fn where_items_are_deferred_every_push_wakes() {
        let mut q = bench_of(Queue::new("q".into(), 3, true, Rc::default()));
        assert!(!q.input.sense_head(Femtos(0)));
        q.out.push_deferrable(Femtos(1), 7);
        assert!(q.woken().is_empty());
        q.out.push(Femtos(2), 8);
        assert_eq!(q.woken(), [1]);
    }

    #[test]
    fn an_armed_fault_strikes_at_its_transfer_only() {
        let mut q = bench(8);
        let injection = Injection::nth("q", FaultKind::Drop, 2);
        q.queue.arm(Armed::new(&injection, 0, 0));
        for n in 1..=3 {
            q.out.push(Femtos(n), n);
        }
        assert_eq!([0, 1, 2].map(|_| q.input.pop(Femtos(9))), [Some(1), Some(3), None]);
        assert!(matches!(q.queue.armed()[0].effect(), Effect::Struck { .. }));
    }
}
