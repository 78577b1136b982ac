//! Arithmetic in GF(2^8), over a primitive polynomial with the root alpha = 2.

/// Elements that are not 0.
const ORDER: usize = 255;

/// The tables of a field.
pub(super) struct Field {
    /// Powers of alpha, twice, so that the sum of two logarithms is an index.
    powers: [u8; 2 * ORDER],
    logarithms: [u8; 256],
}

impl Field {
    /// The field over a primitive polynomial of degree 8, bit 8 for x^8.
    pub(super) const fn new(polynomial: u16) -> Self {
        let mut field = Self { powers: [0; 2 * ORDER], logarithms: [0; 256] };
        let (mut value, mut exponent) = (1_u16, 0);
        while exponent < ORDER {
            field.powers[exponent] = value as u8;
            field.powers[exponent + ORDER] = value as u8;
            field.logarithms[value as usize] = exponent as u8;
            value <<= 1;
            if value > 0xff {
                value ^= polynomial;
            }
            exponent += 1;
        }
        field
    }

    /// alpha to the power of `exponent`.
    pub(super) const fn power(&self, exponent: usize) -> u8 {
        self.powers[exponent % ORDER]
    }

    pub(super) const fn product(&self, a: u8, b: u8) -> u8 {
        if a == 0 || b == 0 {
            return 0;
        }
        self.powers[self.logarithms[a as usize] as usize + self.logarithms[b as usize] as usize]
    }

    /// The exponent of alpha that gives `a / b`; none if either is 0.
    pub(super) const fn quotient_exponent(&self, a: u8, b: u8) -> Option<usize> {
        if a == 0 || b == 0 {
            return None;
        }
        let (a, b) = (self.logarithms[a as usize] as usize, self.logarithms[b as usize] as usize);
        Some((ORDER + a - b) % ORDER)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{crc, ecc},
        *,
    };

    /// The definition: shift and add, then the remainder.
    fn product_by_bits(polynomial: u16, a: u8, b: u8) -> u8 {
        let mut product = 0_u16;
        for bit in (0..8).rev() {
            product <<= 1;
            if product & 0x100 != 0 {
                product ^= polynomial;
            }
            if b >> bit & 1 == 1 {
                product ^= u16::from(a);
            }
        }
        product as u8
    }

    #[test]
    fn both_polynomials_are_primitive_and_the_tables_multiply_as_defined() {
        for polynomial in [crc::POLYNOMIAL, ecc::POLYNOMIAL] {
            let field = Field::new(polynomial);
            let mut powers: Vec<_> = (0..ORDER).map(|exponent| field.power(exponent)).collect();
            powers.sort_unstable();
            assert!(powers.iter().copied().eq(1..=255), "alpha generates all elements");
            for a in 0..=255 {
                for b in 0..=255 {
                    let product = product_by_bits(polynomial, a, b);
                    assert_eq!(field.product(a, b), product);
                    let quotient = field.quotient_exponent(product, b).map(|exponent| field.power(exponent));
                    assert_eq!(quotient, (product != 0).then_some(a));
                }
            }
        }
    }
}
