//! A queue in a ring of places.
//!
//! As `VecDeque`, with three differences that queues and wires need: its size is a power of two, an item is taken where it lies, and each may
//! have a label, which lies apart, so that labels are looked at without the items.

/// Items in order, each with a label, in a ring whose size is a power of two.
#[derive(Debug)]
pub struct Ring<T, L = ()> {
    places: Vec<Option<T>>,
    labels: Vec<L>,
    first: usize,
    count: usize,
}

impl<T, L: Copy + Default> Default for Ring<T, L> {
    fn default() -> Self {
        Self::with_room(0)
    }
}

impl<T> Ring<T> {
    #[inline(always)]
    pub fn push(&mut self, item: T) {
        self.push_labelled((), item);
    }
}

impl<T, L: Copy + Default> Ring<T, L> {
    /// An empty ring with room for `count` items; it grows beyond.
    pub fn with_room(count: usize) -> Self {
        let size = (count + 1).max(4).next_power_of_two();
        let places = std::iter::repeat_with(|| None).take(size).collect();
        Self { places, labels: vec![L::default(); size], first: 0, count: 0 }
    }

    #[inline(always)]
    const fn place(&self, number: usize) -> usize {
        self.first.wrapping_add(number) & (self.places.len() - 1)
    }

    #[inline(always)]
    pub const fn len(&self) -> usize {
        self.count
    }

    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline(always)]
    pub fn push_labelled(&mut self, label: L, item: T) {
        if self.count + 1 == self.places.len() {
            self.grow();
        }
        let place = self.place(self.count);
        self.count += 1;
        self.labels[place] = label;
        debug_assert!(self.places[place].is_none());
        // Nothing is there that could be dropped. Were it dropped nevertheless, the item would be copied once more, to outlive that.
        std::mem::forget(self.places[place].replace(item));
    }

    #[inline(always)]
    pub fn back(&self) -> Option<&T> {
        self.places[self.place(self.count.wrapping_sub(1))].as_ref()
    }

    /// Makes room: one place is always free.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.places.rotate_left(self.first);
        self.labels.rotate_left(self.first);
        self.first = 0;
        let size = self.places.len() * 2;
        self.places.resize_with(size, || None);
        self.labels.resize(size, L::default());
    }

    #[inline(always)]
    pub fn front(&self) -> Option<&T> {
        self.places[self.first].as_ref()
    }

    /// The oldest item, to take what is needed of it before it is [removed](Self::remove).
    #[inline(always)]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        self.places[self.first].as_mut()
    }

    #[inline(always)]
    pub fn front_label(&self) -> Option<L> {
        (self.count > 0).then(|| self.labels[self.first])
    }

    #[inline(always)]
    pub fn get(&self, number: usize) -> Option<&T> {
        if number < self.count { self.places[self.place(number)].as_ref() } else { None }
    }

    /// The item `number` behind the oldest, and its label.
    #[inline(always)]
    pub fn get_labelled(&self, number: usize) -> Option<(L, &T)> {
        self.get(number).map(|item| (self.labels[self.place(number)], item))
    }

    #[inline(always)]
    pub fn pop(&mut self) -> Option<T> {
        let item = self.places[self.first].take();
        self.advance(item.is_some());
        item
    }

    #[inline(always)]
    pub fn remove(&mut self) {
        let place = &mut self.places[self.first];
        let there = place.is_some();
        *place = None;
        self.advance(there);
    }

    #[inline(always)]
    const fn advance(&mut self, there: bool) {
        let there = there as usize;
        self.count -= there;
        // One that has become empty begins anew, so that what passes one by one always lies in the same place, which the host's caches hold.
        let next = (self.first + there) & (self.places.len() - 1);
        self.first = if self.count == 0 { 0 } else { next };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn it_holds_what_a_deque_holds(steps in prop::collection::vec(0u8..8, 0..200)) {
            let (mut ring, mut deque) = (Ring::with_room(1), VecDeque::new());
            let label = |item: &usize| item * 7;
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    0..4 => {
                        ring.push_labelled(label(&number), number);
                        deque.push_back(number);
                    }
                    4 => {
                        ring.remove();
                        deque.pop_front();
                    }
                    _ => prop_assert_eq!(ring.pop(), deque.pop_front()),
                }
                prop_assert_eq!((ring.len(), ring.is_empty()), (deque.len(), deque.is_empty()));
                prop_assert_eq!(ring.front(), deque.front());
                prop_assert_eq!(ring.front_mut().cloned(), deque.front().copied());
                prop_assert_eq!(ring.front_label(), deque.front().map(label));
                prop_assert_eq!(ring.back(), deque.back());
                let last = deque.len().checked_sub(1);
                prop_assert_eq!(last.and_then(|last| ring.get_labelled(last)), deque.back().map(|item| (label(item), item)));
                prop_assert!((0..=deque.len()).all(|place| ring.get(place) == deque.get(place)));
            }
            prop_assert!(std::iter::from_fn(|| ring.pop()).eq(deque));
        }
    }
}
