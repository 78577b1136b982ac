//! The error correction of a flit: three interleaved codes, each of which corrects one byte.
//!
//! ```text
//!   byte   0    1    2    3   ...  249   250      251      252      253       254       255
//!   group  0    1    2    0   ...  0     1        2        0        1         2         0
//!          data and CRC                  check    check    check    parity    parity    parity
//! ```
//!
//! Byte i belongs to group i mod 3, so a burst of up to three bytes has one in each group. With d(k) the byte 3k + group, the parity byte is
//! the sum of all d(k) and the check byte the sum of all alpha^(84-k) d(k) in the field of x^8 + x^4 + x^3 + x^2 + 1. If one byte is off by
//! e, the parity is off by e and the check by alpha^(84-k) e, so their quotient gives the place. Group 0 has the bytes k = 0 to 83, groups
//! 1 and 2 end at k = 82 with the same weights; a quotient that names any other byte is uncorrectable.
//!
//! Groups, sums, weights, field, verdicts and the places of the six bytes are those of a public encoder, `src/PCI_SIG_8B_ECC.c` of
//! SriramAnanth2912/PCIe6.4_FLIT_ECC_CRC.

use super::{BYTES, field, galois::Field};

/// The polynomial of the field, bit 8 for x^8.
pub const POLYNOMIAL: u16 = 0x11d;
pub const GROUPS: usize = 3;
/// The exponent of alpha that weighs the first byte of a group; each byte after it has one less.
const FIRST_WEIGHT: usize = 84;

static FIELD: Field = Field::new(POLYNOMIAL);

/// What the code says of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Good,
    /// One byte was wrong and is corrected.
    Corrected {
        /// Its place in the flit.
        byte: u8,
        /// The bits that were wrong.
        flipped: u8,
    },
    /// More than one byte is wrong.
    Uncorrectable,
}

/// The places of the check byte and the parity byte of a group.
const fn places(group: usize) -> (usize, usize) {
    let check = field::ECC.start + (group + GROUPS - field::ECC.start % GROUPS) % GROUPS;
    (check, check + GROUPS)
}

/// Check and parity of the covered bytes of a group.
fn sums(flit: &[u8; BYTES], group: usize) -> (u8, u8) {
    let covered = flit[..field::ECC.start].iter().skip(group).step_by(GROUPS).enumerate();
    covered.fold((0, 0), |(check, parity), (k, &byte)| {
        (check ^ FIELD.product(FIELD.power(FIRST_WEIGHT - k), byte), parity ^ byte)
    })
}

/// Writes the six bytes.
pub fn emit(flit: &mut [u8; BYTES]) {
    for group in 0..GROUPS {
        let (check, parity) = places(group);
        (flit[check], flit[parity]) = sums(flit, group);
    }
}

/// Corrects a flit, and says what each group needed.
pub fn correct(flit: &mut [u8; BYTES]) -> [Verdict; GROUPS] {
    let mut verdicts = [Verdict::Good; GROUPS];
    for (group, verdict) in verdicts.iter_mut().enumerate() {
        *verdict = judge(flit, group);
        if let Verdict::Corrected { byte, flipped } = *verdict {
            flit[usize::from(byte)] ^= flipped;
        }
    }
    verdicts
}

fn judge(flit: &[u8; BYTES], group: usize) -> Verdict {
    let (check_at, parity_at) = places(group);
    let (check, parity) = sums(flit, group);
    let (check, parity) = (check ^ flit[check_at], parity ^ flit[parity_at]);
    let corrected = |byte: usize, flipped| Verdict::Corrected { byte: byte as u8, flipped };
    match (check, parity) {
        (0, 0) => Verdict::Good,
        (0, parity) => corrected(parity_at, parity),
        (check, 0) => corrected(check_at, check),
        (check, parity) => {
            let k = FIELD.quotient_exponent(check, parity).and_then(|weight| FIRST_WEIGHT.checked_sub(weight));
            match k.map(|k| k * GROUPS + group).filter(|&place| place < field::ECC.start) {
                Some(place) => corrected(place, parity),
                None => Verdict::Uncorrectable,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn flit() -> impl Strategy<Value = [u8; BYTES]> {
        any::<[u8; BYTES]>().prop_map(|mut flit| {
            emit(&mut flit);
            flit
        })
    }

    #[test]
    fn the_six_bytes_belong_to_the_groups_of_their_places() {
        assert_eq!([0, 1, 2].map(places), [(252, 255), (250, 253), (251, 254)]);
    }

    #[test]
    fn any_one_wrong_byte_of_any_value_is_corrected() {
        let mut good = std::array::from_fn(|index| index as u8);
        emit(&mut good);
        for byte in 0..=255_u8 {
            for flipped in 1..=255 {
                let mut flit = good;
                flit[usize::from(byte)] ^= flipped;
                let verdicts = correct(&mut flit);
                assert_eq!(flit, good);
                assert_eq!(verdicts[usize::from(byte) % GROUPS], Verdict::Corrected { byte, flipped });
            }
        }
    }

    proptest! {
        #[test]
        fn a_good_flit_stays(flit in flit()) {
            let mut same = flit;
            prop_assert_eq!(correct(&mut same), [Verdict::Good; GROUPS]);
            prop_assert_eq!(same, flit);
        }

        #[test]
        fn a_burst_of_three_bytes_is_corrected(flit in flit(), start in 0..BYTES - 2, burst in any::<[u8; 3]>()) {
            let mut wrong = flit;
            wrong[start..start + 3].iter_mut().zip(burst).for_each(|(byte, flipped)| *byte ^= flipped);
            let verdicts = correct(&mut wrong);
            prop_assert!(!verdicts.contains(&Verdict::Uncorrectable));
            prop_assert_eq!(wrong, flit);
        }

        #[test]
        fn two_wrong_bytes_of_a_group_are_never_called_good(
            flit in flit(), (a, b) in (0..85_usize, 0..85_usize).prop_filter("two places", |(a, b)| a != b),
            group in 0..GROUPS, flips in any::<[std::num::NonZeroU8; 2]>(),
        ) {
            let mut wrong = flit;
            wrong[a * GROUPS + group] ^= flips[0].get();
            wrong[b * GROUPS + group] ^= flips[1].get();
            prop_assert_ne!(correct(&mut wrong)[group], Verdict::Good);
            prop_assert_ne!(wrong, flit);
        }
    }
}
