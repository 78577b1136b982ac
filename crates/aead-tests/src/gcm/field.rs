use proptest::prelude::*;
use sealsim_aead::gcm::field::*;

/// SP 800-38D, algorithm 1, bit by bit.
fn bit_serial(x: Element, y: Element) -> Element {
    let bits = |of: Element| {
        let bytes = of.to_bytes();
        std::array::from_fn::<_, 128, _>(|n| bytes[n / 8] >> (7 - n % 8) & 1 == 1)
    };
    let (mut v, mut z) = (bits(y), [false; 128]);
    for bit in bits(x) {
        z.iter_mut().zip(v).for_each(|(sum, one)| *sum ^= bit && one);
        let carry = v[127];
        v.rotate_right(1);
        v[0] = false;
        [0, 1, 2, 7].into_iter().for_each(|n| v[n] ^= carry);
    }
    let byte = |n: usize| z[8 * n..][..8].iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
    Element::from_bytes(std::array::from_fn(byte))
}

proptest! {
    #[test]
    fn the_product_is_that_of_the_standards_bit_serial_algorithm(a: u128, b: u128) {
        prop_assert_eq!(Element(a).times(Element(b)), bit_serial(Element(a), Element(b)));
    }

    #[test]
    fn reducing_a_sum_is_summing_what_is_reduced(a: u128, b: u128, c: u128, d: u128) {
        let (a, b, c, d) = (Element(a), Element(b), Element(c), Element(d));
        let mut sum = a.product(b);
        sum ^= c.product(d);
        prop_assert_eq!(sum.reduce(), a.times(b) ^ c.times(d));
    }
}

#[test]
fn single_coefficients_multiply_to_single_coefficients() {
    for i in 0..128 {
        for j in 0..128 - i {
            assert_eq!(Element(1 << (127 - i)).times(Element(1 << (127 - j))), Element(1 << (127 - i - j)));
        }
    }
    assert_eq!(bit_serial(Element(1), Element(2)), Element(1).times(Element(2)));
}
