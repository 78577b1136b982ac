use crate::another::aead;
use crate::gcm::arbitrary::pattern;
use proptest::prelude::*;
use sealsim_aead::gcm::bulk::*;
use sealsim_aead::gcm::counter;
use sealsim_aead::gcm::message::SealOpen;

/// Bytes of keys that the other code base has.
const KEYS: &[usize] = if cfg!(feature = "aws-lc") { &[16, 24, 32] } else { &[16, 32] };

/// An AES-GCM from another code base: ciphertext and tag.
fn oracle(key: &[u8], iv: &[u8; 12], aad: &[u8], text: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let algorithm = match key.len() {
        16 => &aead::AES_128_GCM,
        #[cfg(feature = "aws-lc")]
        24 => &aead::AES_192_GCM,
        _ => &aead::AES_256_GCM,
    };
    let sealer = aead::LessSafeKey::new(aead::UnboundKey::new(algorithm, key).unwrap());
    let mut text = text.to_vec();
    let nonce = aead::Nonce::assume_unique_for_key(*iv);
    let tag = sealer.seal_in_place_separate_tag(nonce, aead::Aad::from(aad), &mut text).unwrap();
    (text, tag.as_ref().to_vec())
}

fn in_pieces(key: &Key, iv: &[u8], aad: &[u8], text: &mut [u8], cuts: &[usize], direction: SealOpen) -> [u8; 16] {
    let mut stream = Stream::new(key, iv, aad, direction).unwrap();
    let mut rest = text;
    for &cut in cuts {
        let (piece, left) = rest.split_at_mut(cut.min(rest.len()));
        stream.update(key, piece);
        rest = left;
    }
    stream.update(key, rest);
    stream.tag(key)
}

proptest! {
    #[test]
    fn messages_in_pieces_equal_another_code_base(
        key_bytes in prop::sample::select(KEYS), seed: u64, aad in 0..80_usize, text in 0..20_000_usize,
        cuts in prop::collection::vec(prop_oneof![0..40_usize, 0..3000_usize], 0..20),
    ) {
        let raw = pattern(seed, key_bytes);
        let iv: [u8; 12] = pattern(seed ^ 1, 12).try_into().unwrap();
        let (aad, plain) = (pattern(seed ^ 2, aad), pattern(seed ^ 3, text));
        let (cipher, tag) = oracle(&raw, &iv, &aad, &plain);
        let key = Key::new(&raw).unwrap();
        let mut data = plain.clone();
        prop_assert_eq!(&in_pieces(&key, &iv, &aad, &mut data, &cuts, SealOpen::Seal)[..], &tag[..]);
        prop_assert_eq!(&data, &cipher);
        prop_assert_eq!(&in_pieces(&key, &iv, &aad, &mut data, &cuts, SealOpen::Open)[..], &tag[..]);
        prop_assert_eq!(&data, &plain);
    }
}

#[test]
fn long_messages_equal_another_code_base() {
    let all = [(32, 16 << 20), (24, (1 << 20) + 5), (16, (4 << 20) - 1)].into_iter();
    for (key_bytes, length) in all.filter(|(key_bytes, _)| KEYS.contains(key_bytes)) {
        let raw = pattern(9, key_bytes);
        let (iv, aad, plain) = ([3; 12], pattern(4, 33), pattern(5, length));
        let (cipher, tag) = oracle(&raw, &iv, &aad, &plain);
        let key = Key::new(&raw).unwrap();
        let mut data = plain.clone();
        assert_eq!(key.seal(&iv, &aad, &mut data).unwrap()[..], tag[..]);
        assert!(data == cipher);
        key.open(&iv, &aad, &mut data, &tag).unwrap();
        assert!(data == plain);
    }
}

#[test]
fn a_changed_bit_anywhere_is_a_forgery() {
    let key = Key::new(&[1; 32]).unwrap();
    let (iv, aad) = ([2; 12], [3; 20]);
    let mut sealed = [4; 50];
    let tag = key.seal(&iv, &aad, &mut sealed).unwrap();
    for bit in 0..50 * 8 {
        let mut text = sealed;
        text[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(key.open(&iv, &aad, &mut text, &tag), Err(BulkError::Forged));
    }
    let mut other = aad;
    other[19] ^= 1;
    assert_eq!(key.open(&iv, &other, &mut sealed.clone(), &tag), Err(BulkError::Forged));
    for length in TAG_BYTES {
        let mut short = tag[..length].to_vec();
        assert_eq!(key.open(&iv, &aad, &mut sealed.clone(), &short), Ok(()));
        short[length - 1] ^= 0x80;
        assert_eq!(key.open(&iv, &aad, &mut sealed.clone(), &short), Err(BulkError::Forged));
    }
}

#[test]
fn what_gcm_does_not_allow_is_refused() {
    assert_eq!(Key::new(&[0; 17]).unwrap_err(), BulkError::KeyBytes(17));
    let key = Key::new(&[0; 16]).unwrap();
    assert_eq!(key.seal(&[], &[], &mut []), Err(BulkError::EmptyIv));
    for length in [0, 3, 5, 6, 7, 9, 10, 11, 17] {
        assert_eq!(key.open(&[0; 12], &[], &mut [], &[0; 17][..length]), Err(BulkError::TagBytes(length)));
    }
}

#[test]
fn the_counter_wraps_in_the_middle_of_a_chunk() {
    let key = Key::new(&[5; 32]).unwrap();
    let mut j0 = [6; 16];
    j0[12..].copy_from_slice(&(u32::MAX - 300).to_be_bytes());
    let mut stream = Stream::from_j0(&key, j0, &[], SealOpen::Seal);
    let mut text = vec![0; 16 * 700];
    stream.update(&key, &mut text);
    for (block, steps) in text.chunks(16).zip(1..) {
        assert_eq!(block, key.encrypt_block(counter::advanced(j0, steps)));
    }
}
