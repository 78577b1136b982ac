//! A tag's stand-in for runs that carry no data.

/// What takes the place of a tag where no bytes are carried. Two ends agree on it if and only if they agree on nonce and length
/// and nothing was damaged on the way, which is when they would agree on the tag (but for a forgery by chance, 2^-128).
#[must_use]
pub fn pseudo_tag(nonce: [u8; 12], bytes: u64, damaged: bool) -> [u8; 16] {
    let mut tag = [0; 16];
    tag[..12].copy_from_slice(&nonce);
    tag[12..].copy_from_slice(&(bytes as u32).to_le_bytes());
    tag[15] ^= (bytes >> 32) as u8;
    if damaged {
        tag[0] ^= 0xff;
        tag[15] ^= 0x80;
    }
    tag
}

/// The share of a part in the pseudo tag of a message of `bytes` bytes: the shares of all parts, each with its own `number`, below 8, sum to
/// the message's tag, and if and only if no part is damaged to that of an undamaged one.
#[must_use]
pub fn pseudo_share(nonce: [u8; 12], bytes: u64, number: u32, last: bool, damaged: bool) -> [u8; 16] {
    if last {
        return pseudo_tag(nonce, bytes, damaged);
    }
    let mut share = [0; 16];
    share[1 + number as usize % 8] = if damaged { 0xff } else { 0 };
    share
}

/// What takes the place of `count` tags: the stand-in for one, told apart by their places.
#[must_use]
pub fn pseudo_tags(nonce: [u8; 12], bytes: u64, damaged: bool, count: u32) -> Vec<u8> {
    let one = pseudo_tag(nonce, bytes, damaged);
    (0..count)
        .flat_map(|place| {
            let mut tag = one;
            tag[1] ^= place as u8;
            tag
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ends_that_disagree_on_anything_have_other_tags(
            nonce in any::<[u8; 12]>(), other in any::<[u8; 12]>(), bytes in 0u64..1 << 32, more in 0u64..1 << 32,
        ) {
            let tag = pseudo_tag(nonce, bytes, false);
            prop_assert_ne!(tag, pseudo_tag(nonce, bytes, true));
            prop_assert_eq!(tag == pseudo_tag(other, bytes, false), nonce == other);
            prop_assert_eq!(tag == pseudo_tag(nonce, more, false), bytes == more);
        }
    }
}
