//! Tags of runs without data: they tell the same verdicts as real ones from nonce, length and whether anything was damaged.

/// Multipliers that mix one half of the tag into the other.
const ROUNDS: [u64; 4] = [0x9E37_79B9_7F4A_7C15, 0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB, 0xD6E8_FEB8_6659_FD93];

/// What stands for the tag of a message of `bytes` bytes under `nonce` where a run carries no bytes.
///
/// It is a permutation of nonce and length, so for messages below 4 GiB two undamaged tags agree if and only if nonce and length
/// do. A damaged message has another tag than the same message undamaged.
#[must_use]
pub fn pseudo_tag(nonce: [u8; 12], bytes: u64, damaged: bool) -> [u8; 16] {
    let mut whole = [0; 16];
    whole[..12].copy_from_slice(&nonce);
    whole[12..].copy_from_slice(&((bytes ^ bytes >> 32) as u32).to_le_bytes());
    let whole = u128::from_le_bytes(whole);
    let (mut low, mut high) = (whole as u64, (whole >> 64) as u64);
    for round in ROUNDS {
        let mixed = (high ^ high >> 29).wrapping_mul(round);
        (low, high) = (high, low ^ mixed ^ mixed >> 32);
    }
    let tag = u128::from(high) << 64 | u128::from(low);
    if damaged { !tag } else { tag }.to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tags_agree_if_and_only_if_nonce_and_length_do(
            nonce in any::<[u8; 12]>(), bytes in 0u64..1 << 32, bit in 0u32..128,
        ) {
            let mut other = nonce;
            let mut length = bytes;
            if bit < 96 { other[bit as usize / 8] ^= 1 << (bit % 8) } else { length ^= 1 << (bit - 96) }
            prop_assert_eq!(pseudo_tag(nonce, bytes, false), pseudo_tag(nonce, bytes, false));
            prop_assert_ne!(pseudo_tag(nonce, bytes, false), pseudo_tag(other, length, false));
        }

        #[test]
        fn damage_always_shows(nonce in any::<[u8; 12]>(), bytes in any::<u64>()) {
            prop_assert_ne!(pseudo_tag(nonce, bytes, true), pseudo_tag(nonce, bytes, false));
        }
    }
}
