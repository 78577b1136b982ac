//! Keys and IVs between GPUs.

use crate::{
    aead::{path::PathKey, stream::Stream},
    gcm::{message::SealOpen, part::Part},
};
use std::rc::Rc;

#[derive(Debug, Clone)]
pub struct PairKeys {
    ranks: usize,
    /// By pair, the lower number first.
    keys: Rc<Vec<PathKey>>,
}

impl PairKeys {
    /// A key for each pair of so many GPUs, which `make` gives.
    pub fn new<E>(ranks: usize, mut make: impl FnMut(usize, usize) -> Result<PathKey, E>) -> Result<Self, E> {
        let mut keys = Vec::with_capacity(ranks * ranks);
        for low in 0..ranks {
            for high in 0..ranks {
                keys.push(make(low.min(high), low.max(high))?);
            }
        }
        Ok(Self { ranks, keys: Rc::new(keys) })
    }

    /// A message of so many bytes between two GPUs that begins; none if they have no key.
    pub fn begin(&self, (source, target): (u8, u8), message: u64, bytes: u64, direction: SealOpen) -> Option<Stream> {
        let (low, high) = (source.min(target), source.max(target));
        let key = self.keys.get(usize::from(low) * self.ranks + usize::from(high))?;
        key.begin(nonce(source, target, message), Part::whole(bytes), direction)
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
