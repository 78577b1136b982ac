use crate::aead::arbitrary::{any_scheme, longest_key};
use crate::another::aead;
use crate::gcm::arbitrary::pattern;
use proptest::prelude::*;
use sealsim_aead::aead::bytes::*;
use sealsim_aead::aead::spec::Scheme;
use sealsim_aead::gcm::message::SealOpen;

/// draft-irtf-cfrg-aegis-aead: the first vectors of AEGIS-256X2 and of AEGIS-256X4, without and with AAD and text.
#[test]
fn aegis_256x_gives_the_tags_of_its_draft() {
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

/// draft-irtf-cfrg-aegis-aead, appendix A.2: the first two vectors of AEGIS-128L, a block of zeroes and no text, with tags of both lengths.
#[test]
fn aegis_128l_gives_the_bytes_of_its_draft() {
    let [key, nonce] = [0x1001_0000, 0x1000_0200].map(|start: u32| {
        let bytes = start.to_be_bytes();
        let start = &bytes[bytes.iter().position(|byte| *byte != 0).unwrap()..];
        [start, &vec![0; 16 - start.len()]].concat()
    });
    for (tag_bytes, block, none) in [
        (16, "abe0ece80c24868a226a35d16bdae37a", "c2b879a67def9d74e6c14f708bbcc9b4"),
        (
            32,
            "25835bfbb21632176cf03840687cb968cace4617af1bd0f7d064c639a5c79ee4",
            "1360dc9db8ae42455f6e5b6a9d488ea4f2184c4e12120249335c4ee84bafe25d",
        ),
    ] {
        let key = Key::new(WireFormat::new(Scheme::Aegis128L, tag_bytes), &key).unwrap();
        let mut text = [0; 16];
        assert_eq!(hex::encode(key.seal(&nonce, &[], &mut text).unwrap()), block);
        assert_eq!(hex::encode(text), "c1c0e58bd913006feba00f4b3cc3594e");
        assert_eq!(hex::encode(key.seal(&nonce, &[], &mut []).unwrap()), none);
    }
}

/// Schemes that another code base has, with its algorithm and bytes of its key.
const OF_ANOTHER: &[(Scheme, &aead::Algorithm, usize)] = &[
    (Scheme::ChaCha20Poly1305, &aead::CHACHA20_POLY1305, 32),
    #[cfg(feature = "aws-lc")]
    (Scheme::GcmSiv, &aead::AES_128_GCM_SIV, 16),
    #[cfg(feature = "aws-lc")]
    (Scheme::GcmSiv, &aead::AES_256_GCM_SIV, 32),
];

proptest! {
    #[test]
    fn aes_gcm_siv_and_chacha20_poly1305_are_those_of_another_code_base(
        seed in any::<u64>(), aad in 0..80_usize, length in 0..3000_usize,
    ) {
        for &(scheme, other, key_bytes) in OF_ANOTHER {
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
        seed in any::<u64>(), length in 0..300_usize, scheme in any_scheme(), bit in any::<prop::sample::Index>(), long in any::<bool>(),
    ) {
        let tag_bytes = if long && scheme.nonce_bytes() != 12 { 32 } else { 16 };
        let key = Key::new(WireFormat::new(scheme, tag_bytes), &pattern(seed, longest_key(scheme))).unwrap();
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
    for scheme in Scheme::ALL {
        for length in [0, 15, 23, 31, 33] {
            let error = Key::new(scheme, &pattern(1, length)).unwrap_err();
            assert!(matches!(error, BytesError::KeyBytes(of, ..) if of == length), "{scheme:?}");
        }
        let key = Key::new(scheme, &vec![0; longest_key(scheme)]).unwrap();
        let right = scheme.nonce_bytes();
        assert!(key.begin(&vec![0; right], 0, SealOpen::Seal).is_ok());
        for length in [0, 11, 17, 31, 33] {
            let refused = BytesError::NonceBytes(length, scheme.name(), right);
            assert_eq!(key.seal(&vec![0; length], &[], &mut []), Err(refused));
            assert_eq!(key.begin(&vec![0; length], 0, SealOpen::Seal).map(|_| ()), Err(refused));
        }
    }
    assert!(Key::new(Scheme::GcmSiv, &[0; 16]).is_ok() && Key::new(Scheme::Aegis256, &[0; 16]).is_err());
    assert!(Key::new(Scheme::AesGcm, &[0; 24]).is_ok() && Key::new(Scheme::GcmSiv, &[0; 24]).is_err());
}
