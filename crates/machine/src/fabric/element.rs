//! Numbers that a collective adds.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Element {
    #[default]
    F32,
    /// The upper half of a binary32; sums are rounded to the nearest, ties to even.
    Bf16,
}

impl Element {
    pub const fn bytes(self) -> u64 {
        match self {
            Self::F32 => 4,
            Self::Bf16 => 2,
        }
    }

    /// The bytes of a number, which is rounded to fit.
    pub fn encode(self, number: f32) -> Vec<u8> {
        match self {
            Self::F32 => number.to_le_bytes().to_vec(),
            Self::Bf16 => rounded(number).to_le_bytes().to_vec(),
        }
    }

    /// The number of these bytes.
    pub fn decode(self, bytes: &[u8]) -> f32 {
        match (self, bytes) {
            (Self::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]),
            (Self::Bf16, &[a, b]) => f32::from_le_bytes([0, 0, a, b]),
            _ => f32::NAN,
        }
    }

    /// Adds each number of `more` to that of `sum`.
    pub fn add(self, sum: &mut [u8], more: &[u8]) {
        let size = self.bytes() as usize;
        for (sum, more) in sum.chunks_exact_mut(size).zip(more.chunks_exact(size)) {
            let total = self.decode(sum) + self.decode(more);
            sum.copy_from_slice(&self.encode(total));
        }
    }
}

/// The upper half of a binary32, rounded to the nearest, ties to even.
fn rounded(number: f32) -> u16 {
    let bits = number.to_bits();
    if number.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    let odd = bits >> 16 & 1;
    ((u64::from(bits) + 0x7fff + u64::from(odd)) >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_bf16_is_the_nearest_to_its_number(number in -1e30f32..1e30) {
            let near = Element::Bf16.decode(&Element::Bf16.encode(number));
            let bits = near.to_bits();
            for other in [bits.wrapping_add(1 << 16), bits.wrapping_sub(1 << 16)] {
                let other = f32::from_bits(other);
                if other.is_finite() {
                    prop_assert!((f64::from(near) - f64::from(number)).abs() <= (f64::from(other) - f64::from(number)).abs());
                }
            }
        }
    }

    #[test]
    fn ties_go_to_even_and_sums_are_those_of_the_numbers() {
        assert_eq!(rounded(f32::from_bits(0x3f80_8000)), 0x3f80);
        assert_eq!(rounded(f32::from_bits(0x3f81_8000)), 0x3f82);
        for element in [Element::F32, Element::Bf16] {
            let mut sum = [element.encode(3.0), element.encode(-1.5)].concat();
            element.add(&mut sum, &[element.encode(4.0), element.encode(0.5)].concat());
            assert_eq!(sum, [element.encode(7.0), element.encode(-1.0)].concat());
        }
    }
}
