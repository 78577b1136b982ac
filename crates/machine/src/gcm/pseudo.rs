//! A tag's stand-in for runs that carry no bytes.

/// A constant that makes neighbours differ in half of their bits, and the mixing behind it: SplitMix64 (Steele, Lea and Flood, "Fast
/// splittable pseudorandom number generators", OOPSLA 2014).
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// What takes the place of a tag where no bytes are carried: a hash of nonce, length and `place` among the tags of a message. Two ends agree on
/// it if and only if they agree on these, which is when they would agree on the tag, but for chance. No tag is a bit away from another one.
fn hashed(nonce: [u8; 12], bytes: u64, place: u64) -> [u8; 16] {
    let mut words = [0; 16];
    words[..12].copy_from_slice(&nonce);
    let whole = u128::from_le_bytes(words);
    let halves = [whole as u64, (whole >> 64) as u64, bytes, place];
    let fold = |start: u64| halves.into_iter().fold(start, |state, half| mix(state.wrapping_add(GOLDEN) ^ half));
    let mut tag = [0; 16];
    tag[..8].copy_from_slice(&fold(1).to_le_bytes());
    tag[8..].copy_from_slice(&fold(2).to_le_bytes());
    tag
}

/// The stand-in for a message's tag.
pub fn pseudo_tag(nonce: [u8; 12], bytes: u64) -> [u8; 16] {
    hashed(nonce, bytes, 0)
}

/// The share of a part in the pseudo tag of a message of `bytes` bytes: the shares of all parts sum to the message's tag.
pub fn pseudo_share(nonce: [u8; 12], bytes: u64, last: bool) -> [u8; 16] {
    if last { pseudo_tag(nonce, bytes) } else { [0; 16] }
}

/// What takes the place of so many bytes of tags.
pub fn pseudo_tags(nonce: [u8; 12], bytes: u64, tag_bytes: u64) -> Vec<u8> {
    (0..).flat_map(|place| hashed(nonce, bytes, place)).take(tag_bytes as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ends_that_disagree_on_anything_have_tags_that_differ_in_many_bits(
            nonce in any::<[u8; 12]>(), other in any::<[u8; 12]>(), bytes in 0u64..1 << 32, more in 0u64..1 << 32,
        ) {
            let tag = u128::from_le_bytes(pseudo_tag(nonce, bytes));
            let apart = |other: [u8; 16]| (tag ^ u128::from_le_bytes(other)).count_ones();
            prop_assert_eq!(apart(pseudo_tag(other, bytes)) > 20, nonce != other);
            prop_assert_eq!(apart(pseudo_tag(nonce, more)) > 20, bytes != more);
            let mut next = nonce;
            next[0] ^= 1;
            prop_assert!(apart(pseudo_tag(next, bytes)) > 20);
        }
    }

    #[test]
    fn shares_sum_to_the_tag_and_the_first_of_several_is_that_of_one() {
        let (nonce, bytes) = ([3; 12], 4096);
        let sum = [false, false, true].map(|last| u128::from_le_bytes(pseudo_share(nonce, bytes, last)));
        assert_eq!(sum.iter().fold(0, |sum, share| sum ^ share).to_le_bytes(), pseudo_tag(nonce, bytes));
        let tags = pseudo_tags(nonce, bytes, 44);
        assert_eq!((&tags[..16], tags.len()), (&pseudo_tag(nonce, bytes)[..], 44));
        assert!(tags[16..32] != tags[..16] && tags[32..] != tags[..12] && tags[32..] != tags[16..28]);
    }
}
