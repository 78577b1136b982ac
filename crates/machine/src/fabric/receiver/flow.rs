//! What comes from one GPU: its transfers in their order, split into messages.

use super::opening::Opening;
use crate::fabric::memory::Text;
use std::{collections::VecDeque, sync::Arc};

#[derive(Debug)]
pub(super) struct Flow {
    sizes: Vec<u64>,
    /// Longest message; none if a transfer is one.
    message: Option<u64>,
    /// Messages that may be in transit at once.
    window: u64,
    /// The transfer and the place in it where the next message begins.
    next: (usize, u64),
    /// Messages from number `first` on, each with its transfer.
    open: VecDeque<(usize, Opening)>,
    first: u64,
    /// Number of the first message that is not whole.
    incomplete: u64,
    /// The transfer that is delivered next, what of it was found right, and its text.
    delivering: usize,
    right: u64,
    text: Option<Vec<u8>>,
}

impl Flow {
    pub const fn new(sizes: Vec<u64>, message: Option<u64>, window: u64) -> Self {
        Self {
            sizes,
            message,
            window,
            next: (0, 0),
            open: VecDeque::new(),
            first: 0,
            incomplete: 0,
            delivering: 0,
            right: 0,
            text: None,
        }
    }

    /// Whether parts of messages are there that are not delivered.
    pub fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The message of that number, if it may come now.
    pub fn opening(&mut self, number: u64) -> Option<&mut Opening> {
        while let Some((_, opening)) = self.open.get((self.incomplete - self.first) as usize)
            && opening.whole()
        {
            self.incomplete += 1;
        }
        let place = number.checked_sub(self.first).filter(|_| number < self.incomplete + self.window)?;
        while self.open.len() as u64 <= place {
            let (transfer, start) = self.next;
            let size = *self.sizes.get(transfer)?;
            let bytes = self.message.map_or(size - start, |most| most.min(size - start));
            self.open.push_back((transfer, Opening::new(start, bytes, self.message.is_some())));
            self.next = if start + bytes == size { (transfer + 1, 0) } else { (transfer, start + bytes) };
        }
        self.open.get_mut(place as usize).map(|(_, opening)| opening)
    }

    /// The verdict on a message is there: says whether it is right. Without keys nothing is sealed, or the run carries no bytes.
    pub fn verdict(&mut self, number: u64, keyed: bool) -> bool {
        let place = number.checked_sub(self.first);
        let Some((_, opening)) = place.and_then(|place| self.open.get_mut(place as usize)) else { return false };
        opening.right = opening.is_right(keyed);
        opening.right
    }

    /// The next transfer whose messages were all found right.
    pub fn next_delivery(&mut self) -> Option<(u64, Text)> {
        let size = *self.sizes.get(self.delivering)?;
        while self.right < size && self.open.front().is_some_and(|(_, opening)| opening.right) {
            let Some((_, opening)) = self.open.pop_front() else { break };
            self.first += 1;
            self.incomplete = self.incomplete.max(self.first);
            self.right += opening.bytes;
            if let Some(text) = opening.text {
                self.text.get_or_insert_default().extend(text);
            }
        }
        if self.right < size {
            return None;
        }
        (self.delivering, self.right) = (self.delivering + 1, 0);
        Some((size, self.text.take().map(Arc::new)))
    }
}
