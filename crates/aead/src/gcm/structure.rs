//! How a multiplier forms its carry-less product.
//!
//! ```text
//!   schoolbook                        karatsuba, one level
//!
//!   b_0   ----> [ a       ] --+       a0, b0  ------> [ product ] ---------(+)---> low
//!   b_1   ----> [ a x     ] --+(+)    a0+a1, b0+b1 -> [ product ] --(+)----(+)---> middle, x^64 further
//!   ...                       |       a1, b1  ------> [ product ] ---------(+)---> high, x^128 further
//!   b_127 ----> [ a x^127 ] --+
//! ```
//!
//! | structure | partial products of 128 bits |
//! | --- | --- |
//! | `schoolbook` | 128^2 bit products in one array |
//! | `karatsuba`, n levels | 3^n arrays of (128 / 2^n)^2 bit products, and the sums around them |
//!
//! The value is the same whatever the structure; area, depth and energy are not.

use super::field::{Element, Product};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Levels after which Karatsuba's halves are single bits.
pub const MOST_LEVELS: u32 = 7;

/// The structure of a carry-less product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "form", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(title = "form")]
pub enum Structure {
    /// Every bit of one operand with every bit of the other. A digit-serial multiplier has some rows of this array.
    #[default]
    Schoolbook,
    /// Halves multiplied three times instead of four, again and again.
    Karatsuba {
        /// How often operands are halved before the schoolbook takes over: 1 to 7.
        #[schemars(title = "levels of Karatsuba")]
        levels: u32,
    },
}

impl Structure {
    /// Whether this is what a configuration that does not say means.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The product of `a` and `b`, formed as the structure forms it.
    pub fn product(self, a: Element, b: Element) -> Product {
        match self {
            Self::Schoolbook => rows(a, b),
            Self::Karatsuba { levels } => {
                // Here bit i is the coefficient of x^i.
                let (a, b) = (a.0.reverse_bits(), b.0.reverse_bits());
                let (low, middle, high) = thirds(a, b, 64, levels);
                let (low, high) = (low ^ (middle << 64), high ^ (middle >> 64));
                Product { low: low.reverse_bits(), high: high.reverse_bits() }
            }
        }
    }
}

/// One row for each coefficient of `b` that is not zero.
fn rows(a: Element, b: Element) -> Product {
    let (mut sum, mut left) = (Product::default(), b.0);
    while left != 0 {
        let power = left.leading_zeros();
        sum ^= Product { low: a.0 >> power, high: a.0.checked_shl(128 - power).unwrap_or(0) };
        left ^= 1 << (127 - power);
    }
    sum
}

/// Low, middle and high part of a product whose operands are split at bit `half`.
fn thirds(a: u128, b: u128, half: u32, levels: u32) -> (u128, u128, u128) {
    let split = |value: u128| (value & ((1 << half) - 1), value >> half);
    let ((a0, a1), (b0, b1)) = (split(a), split(b));
    let low = narrow(a0, b0, half, levels - 1);
    let high = narrow(a1, b1, half, levels - 1);
    (low, narrow(a0 ^ a1, b0 ^ b1, half, levels - 1) ^ low ^ high, high)
}

/// The product of operands of `bits` bits, at most 64.
fn narrow(a: u128, b: u128, bits: u32, levels: u32) -> u128 {
    if levels > 0 && bits > 1 {
        let (low, middle, high) = thirds(a, b, bits / 2, levels);
        return low ^ (middle << (bits / 2)) ^ (high << bits);
    }
    (0..bits).filter(|bit| b >> bit & 1 == 1).fold(0, |sum, bit| sum ^ (a << bit))
}
