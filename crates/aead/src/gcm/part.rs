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
pub fn power(h: Element, n: u64) -> Element {
    let rest = (0..n.ilog2()).rev();
    rest.fold(h, |y, bit| if n >> bit & 1 == 1 { y.times(y).times(h) } else { y.times(y) })
}
