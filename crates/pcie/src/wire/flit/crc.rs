//! The CRC of a flit: the eight check bytes of a Reed-Solomon code over GF(2^8).
//!
//! The field is that of x^8 + x^5 + x^3 + x + 1 with the root alpha, the generator g(x) = (x + alpha)(x + alpha^2) ... (x + alpha^8), as
//! an article on gen6 CRCs states them (hifpga.com, "PCIe Gen6 8Byte CRC"). Byte 0 of the flit is the highest coefficient, and the check
//! bytes are the remainder of the 242 bytes times x^8 divided by g. They are sent with the *lowest* coefficient first, so byte 249 has the
//! highest; nothing is preset or complemented. These orders are those of a public encoder, `src/PCI_SIG_8B_CRC.c` of
//! SriramAnanth2912/PCIe6.4_FLIT_ECC_CRC, which multiplies by the generator matrix of the standard.
//!
//! 242 and 8 bytes are a word of a code of length 255 at most with eight check bytes, so two words differ in nine bytes or more: up to eight
//! wrong bytes are always found.

use super::galois::Field;

/// The polynomial of the field, bit 8 for x^8.
pub const POLYNOMIAL: u16 = 0x12b;
/// Check bytes.
pub const BYTES: usize = 8;

const FIELD: Field = Field::new(POLYNOMIAL);

/// g(x) without x^8, highest coefficient first.
pub const GENERATOR: [u8; BYTES] = generator();

const fn generator() -> [u8; BYTES] {
    // Coefficients by power; the leading 1 moves up by one with each factor.
    let mut product = [0; BYTES + 1];
    product[0] = 1;
    let mut degree = 0;
    while degree < BYTES {
        let root = FIELD.power(degree + 1);
        let mut power = degree + 1;
        while power > 0 {
            product[power] = product[power - 1] ^ FIELD.product(product[power], root);
            power -= 1;
        }
        product[0] = FIELD.product(product[0], root);
        degree += 1;
    }
    let mut generator = [0; BYTES];
    let mut index = 0;
    while index < BYTES {
        generator[index] = product[BYTES - 1 - index];
        index += 1;
    }
    generator
}

/// The generator times each element: what a byte that leaves the register adds to it.
static STEPS: [u64; 256] = steps();

const fn steps() -> [u64; 256] {
    let mut steps = [0; 256];
    let mut element = 0;
    while element < 256 {
        let (mut step, mut index) = (0, 0);
        while index < BYTES {
            step = step << 8 | FIELD.product(GENERATOR[index], element as u8) as u64;
            index += 1;
        }
        steps[element] = step;
        element += 1;
    }
    steps
}

/// The check bytes of some bytes in the order in which they are sent: lowest coefficient first.
pub fn of(bytes: &[u8]) -> [u8; BYTES] {
    let step = |register: u64, &byte: &u8| register << 8 ^ STEPS[usize::from((register >> 56) as u8 ^ byte)];
    bytes.iter().fold(0, step).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The value of a polynomial, highest coefficient first.
    fn value(coefficients: &[u8], at: u8) -> u8 {
        coefficients.iter().fold(0, |value, &coefficient| FIELD.product(value, at) ^ coefficient)
    }

    fn roots() -> impl Iterator<Item = u8> {
        (1..=BYTES).map(|exponent| FIELD.power(exponent))
    }

    #[test]
    fn the_generator_has_the_stated_roots_and_no_others() {
        let generator = [&[1][..], &GENERATOR].concat();
        for element in 0..=255 {
            assert_eq!(value(&generator, element) == 0, roots().any(|root| root == element), "{element:02x}");
        }
    }

    proptest! {
        #[test]
        fn bytes_and_check_bytes_are_a_multiple_of_the_generator(bytes in prop::collection::vec(any::<u8>(), 0..248)) {
            let mut check = of(&bytes);
            check.reverse();
            let word = [&bytes[..], &check].concat();
            prop_assert!(roots().all(|root| value(&word, root) == 0));
        }
    }
}
