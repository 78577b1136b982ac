//! A GCM message in parts that are hashed apart.
//!
//! ```text
//!   part 0 : X_1 .. X_a      --> P_0 = sum X_j H^(a + 1 - j)     --> P_0 H^(n_0) --+
//!   part 1 : X_(a+1) .. X_b  --> P_1                             --> P_1 H^(n_1) --(+)--> tag
//!   last   : ..., length     --> as a message of its own         --> + E(K, J0)  --+
//! ```
//!
//! Each part begins with an accumulator of zero and at its own counter. n_i is the number of blocks behind part i, the length block
//! included. The sum of all shares is GCM's own tag, whatever the cut, since GHASH is linear in its blocks.
//!
//! | | |
//! | --- | --- |
//! | where parts are cut | at whole blocks |
//! | H^n | by squaring and multiplying, from the top bit of n down: floor(log2 n) squarings and a product for each other set bit |
//! | share of a part | one more product, P_i times H^(n_i); none for the last part, which takes length block and mask instead |

use super::{
    bulk::{Key, Stream},
    counter,
    field::Element,
    message::SealOpen,
};

/// A part of a message without AAD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// First byte of the message's text that belongs to it: a multiple of 16.
    pub start: u64,
    /// Its bytes; a multiple of 16 but for the last part.
    pub bytes: u64,
    /// Bytes of the whole text.
    pub total: u64,
}

impl Part {
    pub const fn whole(bytes: u64) -> Self {
        Self { start: 0, bytes, total: bytes }
    }

    /// Whether nothing but the length block comes behind it.
    #[inline]
    pub const fn is_last(&self) -> bool {
        self.start + self.bytes == self.total
    }

    /// Blocks behind it, the length block included.
    #[inline]
    pub const fn behind(&self) -> u64 {
        (self.total - self.start - self.bytes).div_ceil(16) + 1
    }

    /// Products, one after the other, that make the power of H for it: none for the last part.
    pub const fn power_products(&self) -> u64 {
        let power = self.behind();
        (power.ilog2() + power.count_ones() - 1) as u64
    }

    /// Its bytes' stream: keystream from its own counter on, GHASH from zero.
    pub fn stream(&self, key: &Key, nonce: [u8; 12], direction: SealOpen) -> Stream {
        let j0 = counter::advanced(counter::j0_of_96_bits(&nonce), (self.start / 16) as u32);
        Stream::from_j0(key, j0, &[], direction)
    }

    /// Its share of the tag, when all its bytes have passed.
    pub fn share(&self, key: &Key, nonce: [u8; 12], stream: &Stream) -> [u8; 16] {
        match self.is_last() {
            true => self.chunk_tag(key, nonce, stream, 0),
            false => stream.sum().times(power(key.h(), self.behind())).to_bytes(),
        }
    }

    /// The tag of the chain with this number, which has no other chunk than this part (see [`chains`](super::bulk::chains)).
    pub fn chunk_tag(&self, key: &Key, nonce: [u8; 12], stream: &Stream, chain: u32) -> [u8; 16] {
        let mask = counter::of_block(counter::j0_of_96_bits(&nonce), chain.into(), u64::MAX);
        let value = (stream.sum() ^ counter::length_block(0, self.total)).times(key.h());
        (value ^ Element::from_bytes(key.encrypt_block(mask))).to_bytes()
    }
}

/// `h` to the power of `n` > 0.
fn power(h: Element, n: u64) -> Element {
    let rest = (0..n.ilog2()).rev();
    rest.fold(h, |y, bit| if n >> bit & 1 == 1 { y.times(y).times(h) } else { y.times(y) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gcm::arbitrary::any_direction;
    use crate::gcm::{
        bulk::chains::{ChainFormat, Chains},
        field,
    };
    use proptest::prelude::*;

    #[test]
    fn powers_by_squaring_are_the_powers_and_take_the_products_they_say() {
        let h = Element(0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e);
        for (n, expected) in (1..70).zip(field::powers(h, 69)) {
            assert_eq!(power(h, n), expected, "{n}");
        }
        let products = [(1, 0), (2, 1), (3, 2), (4, 2), (7, 4), (8, 3), (65_536, 16), (65_537, 17)];
        for (n, products) in products {
            let part = Part { start: 0, bytes: 16, total: 16 * n };
            assert_eq!((part.behind(), part.power_products()), (n, products));
        }
    }

    proptest! {
        #[test]
        fn the_shares_of_any_cut_sum_to_the_tag_of_the_whole(
            text in prop::collection::vec(any::<u8>(), 1..3000), cuts in prop::collection::btree_set(1usize..190, 0..8),
            key: [u8; 32], nonce: [u8; 12], direction in any_direction(),
        ) {
            let key = Key::new(&key).unwrap();
            let mut whole = text.clone();
            let mut stream = Stream::new(&key, &nonce, &[], direction).unwrap();
            stream.update(&key, &mut whole);
            let total = text.len() as u64;
            let ends: Vec<_> = cuts.into_iter().map(|cut| 16 * cut).filter(|&cut| cut < text.len()).chain([text.len()]).collect();
            let (mut start, mut sum, mut joined) = (0, Element::ZERO, Vec::new());
            for end in ends {
                let part = Part { start: start as u64, bytes: (end - start) as u64, total };
                let mut piece = text[start..end].to_vec();
                let mut stream = part.stream(&key, nonce, direction);
                stream.update(&key, &mut piece);
                sum ^= Element::from_bytes(part.share(&key, nonce, &stream));
                joined.extend(piece);
                start = end;
            }
            prop_assert_eq!(joined, whole);
            prop_assert_eq!(sum.to_bytes(), stream.tag(&key));
        }

        #[test]
        fn chunks_that_are_opened_apart_have_the_tags_of_their_message(
            text in prop::collection::vec(any::<u8>(), 1..3000), chunk in (2u64..60).prop_map(|blocks| 16 * blocks), key: [u8; 32], nonce: [u8; 12],
        ) {
            let (total, longest) = (text.len() as u64, ChainFormat { chains: 99, chunk, by_chunk: true, ..ChainFormat::GCM });
            let (mut cipher, key) = (text.clone(), Key::new(&key).unwrap());
            let seal = |format: ChainFormat, text: &mut [u8]| {
                let mut message = Chains::new(format.of_message(total), &key, &nonce, &[], SealOpen::Seal).unwrap();
                message.update(&key, text);
                message.on_wire(&key)
            };
            let tags = seal(longest, &mut cipher);
            let format = ChainFormat { chains: total.div_ceil(chunk) as u32, by_chunk: false, ..longest };
            prop_assert_eq!(&tags, &seal(format, &mut text.clone()));
            for (number, (plain, sealed)) in text.chunks(chunk as usize).zip(cipher.chunks(chunk as usize)).enumerate() {
                let mut piece = sealed.to_vec();
                let part = Part { start: number as u64 * chunk, bytes: piece.len() as u64, total };
                let mut stream = part.stream(&key, nonce, SealOpen::Open);
                stream.update(&key, &mut piece);
                prop_assert_eq!(&piece, plain);
                prop_assert_eq!(&part.chunk_tag(&key, nonce, &stream, number as u32)[..], &tags[16 * number..][..16]);
            }
        }
    }
}
