//! GF(2^128) as GCM writes it: the first bit of a block is the coefficient of x^0, and products are taken modulo
//! x^128 + x^7 + x^2 + x + 1 (NIST SP 800-38D, section 6.3).
//!
//! A product is kept in its two halves before the reduction, since hardware registers it there.

use std::ops::{BitXor, BitXorAssign};

/// An element: 16 bytes, the coefficient of x^i in bit 127 - i.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Element(pub u128);

impl Element {
    pub const ZERO: Self = Self(0);
    /// The product's neutral element: the polynomial 1.
    pub const ONE: Self = Self(1 << 127);

    #[inline]
    pub const fn from_bytes(block: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(block))
    }

    #[inline]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Reads up to 16 bytes, padded with zeroes on the right.
    #[inline]
    pub fn from_partial(bytes: &[u8]) -> Self {
        let mut block = [0; 16];
        for (to, from) in block.iter_mut().zip(bytes) {
            *to = *from;
        }
        Self::from_bytes(block)
    }

    /// The carry-less product, not reduced.
    pub fn product(self, other: Self) -> Product {
        // Karatsuba over 64-bit halves. The integer product of two mirrored operands has the coefficient of x^n in bit
        // 254 - n; one shift brings it to bit 255 - n, so that `low` holds x^0 to x^127.
        let (a1, a0) = halves(self.0);
        let (b1, b0) = halves(other.0);
        let (top, bottom) = (carry_less(a1, b1), carry_less(a0, b0));
        let middle = carry_less(a1 ^ a0, b1 ^ b0) ^ top ^ bottom;
        let (left, right) = (top ^ (middle >> 64), bottom ^ (middle << 64));
        Product { low: (left << 1) | (right >> 127), high: right << 1 }
    }

    #[inline]
    pub fn times(self, other: Self) -> Self {
        self.product(other).reduce()
    }
}

impl BitXor for Element {
    type Output = Self;
    fn bitxor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}

impl BitXorAssign for Element {
    fn bitxor_assign(&mut self, other: Self) {
        self.0 ^= other.0;
    }
}

/// A sum of carry-less products before its reduction: 255 coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Product {
    /// Coefficients of x^0 (bit 127) to x^127 (bit 0).
    pub low: u128,
    /// Coefficients of x^128 (bit 127) to x^254 (bit 1).
    pub high: u128,
}

impl Product {
    /// Brings the product below x^128.
    #[inline]
    pub const fn reduce(self) -> Element {
        // x^128 = 1 + x + x^2 + x^7: `high` comes down once; what leaves on the right comes down again.
        let over = (self.high << 127) ^ (self.high << 126) ^ (self.high << 121);
        Element(self.low ^ fold(self.high) ^ fold(over))
    }
}

impl BitXorAssign for Product {
    fn bitxor_assign(&mut self, other: Self) {
        self.low ^= other.low;
        self.high ^= other.high;
    }
}

const fn fold(high: u128) -> u128 {
    high ^ (high >> 1) ^ (high >> 2) ^ (high >> 7)
}

const fn halves(value: u128) -> (u64, u64) {
    ((value >> 64) as u64, value as u64)
}

/// The carry-less product of two words by integer multiplications: every fifth bit of an operand leaves room for the
/// carries of 13 summands in between.
const fn carry_less(a: u64, b: u64) -> u128 {
    const EVERY_FIFTH: u128 = {
        let (mut mask, mut bit) = (0, 0);
        while bit < 128 {
            mask |= 1 << bit;
            bit += 5;
        }
        mask
    };
    let (mut sum, mut i) = (0, 0);
    while i < 5 {
        let x = (a & (EVERY_FIFTH << i) as u64) as u128;
        let mut j = 0;
        while j < 5 {
            let y = (b & (EVERY_FIFTH << j) as u64) as u128;
            // Bits of the product lie at (i + j) mod 5.
            let keep = if i + j < 5 { EVERY_FIFTH << (i + j) } else { EVERY_FIFTH << (i + j - 5) };
            sum ^= (x * y) & keep;
            j += 1;
        }
        i += 1;
    }
    sum
}

/// Powers of one element, the first at index 0.
pub fn powers(h: Element, count: usize) -> Vec<Element> {
    std::iter::successors(Some(h), |&power| Some(power.times(h))).take(count).collect()
}
