//! The bytes of a message whose pieces come in any order.
//!
//! GHASH is a sum: the piece that b blocks follow, the length block among them, adds its own hash times H^b. So pieces are
//! hashed where and when they come, and weighted by their position: H^b from a table of H, H^2, H^4 ... with as many
//! products as b has ones. The counters of a piece follow from its position alone.

use super::{Bytes16, Key, SealOpen, counter, hash_padded, mirrored};
use crate::gcm::field::Element;
use polyval::universal_hash::UniversalHash;
use thiserror::Error;

/// Why a piece is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PieceError {
    #[error("a piece at byte {0}: pieces begin at multiples of 16 bytes")]
    Offset(u64),
    #[error("a piece of {bytes} B at byte {offset} ends within a block, and the message of {text} B goes on")]
    Ends { offset: u64, bytes: u64, text: u64 },
    #[error("a piece of {bytes} B at byte {offset} reaches beyond the message of {text} B")]
    Beyond { offset: u64, bytes: u64, text: u64 },
}

/// A message whose pieces come in any order. Every byte must come once: that is the caller's to see to.
#[derive(Debug, Clone)]
pub struct Scattered {
    direction: SealOpen,
    j0: [u8; 16],
    text_bytes: u64,
    /// H^(2^t) at index t.
    powers: Vec<Element>,
    sum: Element,
}

impl Scattered {
    /// Starts a message of `text_bytes` bytes whose first counter block is known.
    pub fn new(key: &Key, j0: [u8; 16], aad: &[u8], text_bytes: u64, direction: SealOpen) -> Self {
        let powers = std::iter::successors(Some(key.h()), |&power| Some(power.times(power))).take(64).collect();
        let mut message = Self { direction, j0, text_bytes, powers, sum: Element::ZERO };
        message.add(key, aad, text_bytes.div_ceil(16) + 1);
        let length = counter::length_block(aad.len() as u64, text_bytes);
        message.add(key, &length.to_bytes(), 0);
        message
    }

    /// Enciphers or deciphers the piece at byte `offset` in place.
    pub fn update(&mut self, key: &Key, offset: u64, text: &mut [u8]) -> Result<(), PieceError> {
        let bytes = text.len() as u64;
        if !offset.is_multiple_of(16) {
            return Err(PieceError::Offset(offset));
        }
        let end = offset.checked_add(bytes).filter(|&end| end <= self.text_bytes);
        let Some(end) = end else { return Err(PieceError::Beyond { offset, bytes, text: self.text_bytes }) };
        if end < self.text_bytes && !end.is_multiple_of(16) {
            return Err(PieceError::Ends { offset, bytes, text: self.text_bytes });
        }
        let after = self.text_bytes.div_ceil(16) - end.div_ceil(16) + 1;
        if self.direction == SealOpen::Open {
            self.add(key, text, after);
        }
        self.encipher(key, offset / 16, text);
        if self.direction == SealOpen::Seal {
            self.add(key, text, after);
        }
        Ok(())
    }

    fn encipher(&self, key: &Key, first: u64, text: &mut [u8]) {
        for (number, run) in (0..).zip(text.chunks_mut(16 * super::WIDE)) {
            let mut keystream = [Bytes16::default(); super::WIDE];
            for (index, block) in (1..).zip(&mut keystream) {
                let steps = first + number * super::WIDE as u64 + index;
                *block = counter::advanced(self.j0, steps as u32).into();
            }
            key.cipher.encrypt(&mut keystream);
            run.iter_mut().zip(keystream.iter().flatten()).for_each(|(byte, key)| *byte ^= key);
        }
    }

    /// Adds what bytes weigh that `after` blocks follow.
    fn add(&mut self, key: &Key, bytes: &[u8], after: u64) {
        let mut hash = key.empty.clone();
        hash_padded(&mut hash, bytes);
        let value = Element::from_bytes(mirrored(hash.finalize().into()).into());
        let ones = (0..64).filter(|bit| after >> bit & 1 == 1);
        self.sum ^= ones.fold(value, |value, bit| value.times(self.powers[bit]));
    }

    /// The full tag, once every piece has come.
    pub fn tag(&self, key: &Key) -> [u8; 16] {
        (self.sum ^ Element::from_bytes(key.encrypt_block(self.j0))).to_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gcm::arbitrary::pattern;
    use aws_lc_rs::aead;
    use proptest::prelude::*;

    fn by_other_code(key: &[u8], aad: &[u8], plain: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let sealer = aead::LessSafeKey::new(aead::UnboundKey::new(&aead::AES_256_GCM, key).unwrap());
        let (mut text, nonce) = (plain.to_vec(), aead::Nonce::assume_unique_for_key([9; 12]));
        let tag = sealer.seal_in_place_separate_tag(nonce, aead::Aad::from(aad), &mut text).unwrap();
        (text, tag.as_ref().to_vec())
    }

    /// Pieces of these sizes in blocks, over and over, in an order that the seed gives.
    fn pieces(length: usize, blocks: &[usize], seed: u64) -> Vec<(usize, usize)> {
        let (mut all, mut from) = (Vec::new(), 0);
        for size in blocks.iter().cycle() {
            if from >= length {
                break;
            }
            all.push((from, length.min(from + 16 * size)));
            from += 16 * size;
        }
        let mut state = seed;
        for last in (1..all.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            all.swap(last, (state >> 33) as usize % (last + 1));
        }
        all
    }

    fn check(length: usize, aad: usize, blocks: &[usize], seed: u64) {
        let (raw, aad, plain) = (pattern(seed, 32), pattern(seed + 1, aad), pattern(seed + 2, length));
        let (sealed, tag) = by_other_code(&raw, &aad, &plain);
        let key = Key::new(&raw).unwrap();
        let j0 = key.j0(&[9; 12]).unwrap();
        for (direction, from, to) in [(SealOpen::Seal, &plain, &sealed), (SealOpen::Open, &sealed, &plain)] {
            let (mut text, mut message) = (from.clone(), Scattered::new(&key, j0, &aad, length as u64, direction));
            for (from, to) in pieces(length, blocks, seed) {
                message.update(&key, from as u64, &mut text[from..to]).unwrap();
            }
            assert!(&text == to, "{direction:?}, {length} B");
            assert_eq!(message.tag(&key)[..], tag[..], "{direction:?}, {length} B");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
        #[test]
        fn pieces_in_any_order_give_the_tag_of_another_code_base(
            length in 0..20_000_usize, aad in 0..100_usize, blocks in prop::collection::vec(1..200_usize, 1..6), seed in 0..u64::MAX / 2,
        ) {
            check(length, aad, &blocks, seed);
        }
    }

    #[test]
    fn messages_of_16_mib_in_any_order_give_the_tag_of_another_code_base() {
        for (length, blocks) in [(16 << 20, &[4096][..]), ((16 << 20) - 5, &[256, 65, 1024])] {
            check(length, 0, blocks, 77);
        }
    }

    #[test]
    fn pieces_that_do_not_fit_the_message_are_refused() {
        let key = Key::new(&[1; 32]).unwrap();
        let mut message = Scattered::new(&key, [0; 16], &[], 100, SealOpen::Open);
        let mut refused = |offset, bytes| message.update(&key, offset, &mut vec![0; bytes]).unwrap_err();
        assert_eq!(refused(8, 16), PieceError::Offset(8));
        assert_eq!(refused(16, 17), PieceError::Ends { offset: 16, bytes: 17, text: 100 });
        assert_eq!(refused(96, 5), PieceError::Beyond { offset: 96, bytes: 5, text: 100 });
        assert_eq!(refused(u64::MAX - 15, 16), PieceError::Beyond { offset: u64::MAX - 15, bytes: 16, text: 100 });
    }
}
