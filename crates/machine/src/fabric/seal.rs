//! Keys and IVs between GPUs.

use crate::{
    gcm::message::SealOpen,
    sealing::{Format, Key, Message},
};
use std::rc::Rc;

#[derive(Debug, Clone)]
pub struct PairKeys {
    format: Format,
    ranks: usize,
    /// By pair, the lower number first.
    keys: Rc<Vec<Key>>,
}

impl PairKeys {
    /// A key for each pair of so many GPUs, which `make` gives.
    pub fn new<E>(
        format: Format,
        ranks: usize,
        mut make: impl FnMut(usize, usize) -> Result<Key, E>,
    ) -> Result<Self, E> {
        let mut keys = Vec::with_capacity(ranks * ranks);
        for low in 0..ranks {
            for high in 0..ranks {
                keys.push(make(low.min(high), low.max(high))?);
            }
        }
        Ok(Self { format, ranks, keys: Rc::new(keys) })
    }

    /// The key of two GPUs.
    pub fn of(&self, one: u8, other: u8) -> Option<&Key> {
        let (low, high) = (one.min(other), one.max(other));
        self.keys.get(usize::from(low) * self.ranks + usize::from(high))
    }

    /// A message between two GPUs that begins; none if there is no such key.
    pub fn begin(&self, source: u8, target: u8, message: u64, direction: SealOpen) -> Option<Message> {
        Message::new(self.format, self.of(source, target)?, nonce(source, target, message), direction)
    }
}

/// The IV of a message. Each direction of a pair has IVs of its own under the pair's key: its ends, then the number of the message.
pub fn nonce(source: u8, target: u8, message: u64) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[0] = source;
    nonce[1] = target;
    nonce[4..].copy_from_slice(&message.to_be_bytes());
    nonce
}
