//! SHA-256 over bytes that arrive out of order.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Most bytes that wait for an earlier piece.
pub const HELD_BYTES: usize = 256 << 20;

/// A digest that takes pieces in any order. A piece that comes early is held until its turn.
///
/// If more than [`HELD_BYTES`] would have to wait, because bytes in front of them never came, the digest is given up:
/// memory stays bounded.
#[derive(Debug, Default)]
pub struct Ordered {
    hash: Sha256,
    next: u64,
    early: BTreeMap<u64, Vec<u8>>,
    held: usize,
    given_up: bool,
}

impl Ordered {
    /// Takes the bytes that belong at `offset`.
    pub fn put(&mut self, offset: u64, bytes: &[u8]) {
        if offset == self.next {
            self.hash.update(bytes);
            self.next += bytes.len() as u64;
            self.catch_up();
        } else if !self.given_up && !bytes.is_empty() {
            self.hold(offset, bytes);
        }
    }

    fn hold(&mut self, offset: u64, bytes: &[u8]) {
        self.held += bytes.len();
        self.early.insert(offset, bytes.to_vec());
        if self.held > HELD_BYTES {
            self.given_up = true;
            self.early.clear();
        }
    }

    fn catch_up(&mut self) {
        while let Some(bytes) = self.early.remove(&self.next) {
            self.hash.update(&bytes);
            self.next += bytes.len() as u64;
            self.held -= bytes.len();
        }
    }

    /// The digest in hexadecimal if exactly the first `bytes` bytes have come.
    pub fn digest(&self, bytes: u64) -> Option<String> {
        (self.next == bytes && self.early.is_empty()).then(|| hex::encode(self.hash.clone().finalize()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_order_of_pieces_gives_the_digest_of_the_whole(
            cuts in prop::collection::btree_set(1usize..5000, 0..20), seed: u64
        ) {
            let whole: Vec<u8> = (0..5000u32).map(|i| (i * 7 + i / 256) as u8).collect();
            let edges: Vec<_> = [0].into_iter().chain(cuts).chain([5000]).collect();
            let mut pieces: Vec<_> = edges.windows(2).map(|w| (w[0], w[1])).collect();
            pieces.sort_by_key(|&(start, _)| (start as u64 + 1).wrapping_mul(seed | 1).rotate_left(17));
            let mut ordered = Ordered::default();
            for (start, end) in pieces {
                prop_assert_eq!(ordered.digest(5000), None);
                ordered.put(start as u64, &whole[start..end]);
            }
            prop_assert_eq!(ordered.digest(5000), Some(hex::encode(Sha256::digest(&whole))));
            prop_assert_eq!((ordered.held, ordered.early.len()), (0, 0));
        }
    }

    #[test]
    fn a_hole_gives_no_digest_and_holds_a_bounded_number_of_bytes() {
        let mut ordered = Ordered::default();
        let piece = vec![1; 64 << 20];
        for turn in 1..8 {
            ordered.put(turn * piece.len() as u64, &piece);
            let held: usize = ordered.early.values().map(Vec::len).sum();
            assert!(held <= HELD_BYTES);
        }
        assert!(ordered.early.is_empty());
        ordered.put(0, &piece);
        assert_eq!(ordered.digest(8 * piece.len() as u64), None);
    }
}
