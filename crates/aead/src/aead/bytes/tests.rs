use super::*;
use crate::gcm::arbitrary::pattern;
use aws_lc_rs::aead;
use proptest::prelude::*;

const SCHEMES: [Scheme; 5] =
    [Scheme::GcmSiv, Scheme::Aegis256, Scheme::Aegis256X2, Scheme::Aegis256X4, Scheme::ChaCha20Poly1305];

#[test]
fn aegis_256x_gives_the_tags_of_its_draft() {
    // draft-irtf-cfrg-aegis-aead: the first vectors of AEGIS-256X2 and of AEGIS-256X4, without and with AAD and text.
    let (key, nonce): (Vec<u8>, Vec<u8>) = ((0..32).collect(), (0x10..0x30).collect());
    let (aad, text) = ([1, 2, 3, 4].repeat(2), [4, 5, 6, 7].repeat(30));
    for (scheme, empty, whole) in [
        (Scheme::Aegis256X2, "62cdbab084c83dacdb945bb446f049c8", "635d391828520bf1512763f0c8f5cdbd"),
        (Scheme::Aegis256X4, "3b7fee6cee7bf17888ad11ed2397beb4", "b63b611b13975e2f3dc3cb6c2397bfcd"),
    ] {
        let key = Key::new(scheme, &key).unwrap();
        let seal = |aad: &[u8], text: &[u8]| hex::encode(key.seal(&nonce, aad, &mut text.to_vec()).unwrap());
        assert_eq!((seal(&[], &[]), seal(&aad, &text)), (empty.into(), whole.into()), "{scheme:?}");
    }
}

proptest! {
    #[test]
    fn aes_gcm_siv_and_chacha20_poly1305_are_those_of_another_code_base(
        seed in any::<u64>(), aad in 0..80_usize, length in 0..3000_usize, short in any::<bool>(),
    ) {
        for (scheme, other, key_bytes) in [
            (Scheme::ChaCha20Poly1305, &aead::CHACHA20_POLY1305, 32),
            if short {
                (Scheme::GcmSiv, &aead::AES_128_GCM_SIV, 16)
            } else {
                (Scheme::GcmSiv, &aead::AES_256_GCM_SIV, 32)
            },
        ] {
            let (key, nonce) = (pattern(seed, key_bytes), pattern(seed ^ 1, 12));
            let (aad, mut text) = (pattern(seed ^ 2, aad), pattern(seed ^ 3, length));
            let mut expected = text.clone();
            let oracle = aead::LessSafeKey::new(aead::UnboundKey::new(other, &key).unwrap());
            let unique = aead::Nonce::try_assume_unique_for_key(&nonce).unwrap();
            oracle.seal_in_place_append_tag(unique, aead::Aad::from(&aad), &mut expected).unwrap();
            let tag = Key::new(scheme, &key).unwrap().seal(&nonce, &aad, &mut text).unwrap();
            text.extend(tag);
            prop_assert_eq!(text, expected);
        }
    }

    #[test]
    fn what_was_sealed_opens_and_with_a_bit_changed_does_not(
        seed in any::<u64>(), length in 0..300_usize, scheme in prop::sample::select(SCHEMES.to_vec()), bit in any::<prop::sample::Index>(), long in any::<bool>(),
    ) {
        let tag_bytes = if long && scheme.nonce_bytes() == 32 { 32 } else { 16 };
        let key = Key::new(WireFormat { scheme, tag_bytes }, &pattern(seed, 32)).unwrap();
        let (nonce, aad, plain) = (pattern(seed ^ 1, scheme.nonce_bytes()), pattern(seed ^ 2, 33), pattern(seed ^ 3, length));
        let mut text = plain.clone();
        let tag = key.seal(&nonce, &aad, &mut text).unwrap();
        let cipher = text.clone();
        prop_assert_eq!(key.open(&nonce, &aad, &mut text, &tag), Ok(()));
        prop_assert_eq!(text, plain);
        let mut all = [&cipher[..], &tag].concat();
        let bit = bit.index(8 * all.len());
        all[bit / 8] ^= 1 << (bit % 8);
        let (text, tag) = all.split_at_mut(length);
        prop_assert_eq!(key.open(&nonce, &aad, text, tag), Err(BytesError::Forged));
    }
}

#[test]
fn a_key_or_nonce_of_another_length_is_refused() {
    for scheme in SCHEMES {
        for length in [0, 15, 24, 31, 33] {
            assert!(Key::new(scheme, &pattern(1, length)).is_err(), "{scheme:?}");
        }
        let key = Key::new(scheme, &[0; 32]).unwrap();
        for length in [0, 11, 16, 31, 33] {
            let right = scheme.nonce_bytes();
            let refused = Err(BytesError::NonceBytes(length, scheme.name(), right));
            assert_eq!(key.seal(&vec![0; length], &[], &mut []), refused);
        }
    }
    assert!(Key::new(Scheme::GcmSiv, &[0; 16]).is_ok() && Key::new(Scheme::Aegis256, &[0; 16]).is_err());
}
