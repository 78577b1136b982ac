use crate::aead::arbitrary::{any_scheme, longest_key};
use crate::gcm::arbitrary::pattern;
use proptest::prelude::*;
use sealsim_aead::aead::bytes::{Key, Scheme, WireFormat};
use sealsim_aead::aead::stream::*;
use sealsim_aead::gcm::message::SealOpen;

/// Text in pieces through a stream, as often as it passes.
fn through(stream: &mut Stream, twice: bool, text: &mut [u8], piece: usize) {
    if twice {
        text.chunks(piece).for_each(|piece| stream.absorb(piece));
        stream.turn();
    }
    text.chunks_mut(piece).for_each(|piece| stream.update(piece));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn in_pieces_bytes_and_tags_are_those_of_the_crates(
        scheme in any_scheme(), seed in any::<u64>(), short in any::<bool>(), long_tag in any::<bool>(),
        length in 0..2000_usize, piece in 1..300_usize,
    ) {
        let siv = scheme == Scheme::GcmSiv;
        let tag_bytes = match (long_tag, scheme) {
            (true, Scheme::GcmSst) => 12,
            (true, _) if scheme.nonce_bytes() != 12 => 32,
            _ => 16,
        };
        let format = WireFormat::new(scheme, tag_bytes);
        let key = pattern(seed, if siv && short { 16 } else { longest_key(scheme) });
        let (nonce, plain) = (pattern(seed ^ 1, scheme.nonce_bytes()), pattern(seed ^ 2, length));
        let mut cipher = plain.clone();
        let key = Key::new(format, &key).unwrap();
        let tag = key.seal(&nonce, &[], &mut cipher).unwrap();
        prop_assert_eq!(tag.len() as u64, tag_bytes);

        let mut sealed = plain.clone();
        let mut stream = key.begin(&nonce, length as u64, SealOpen::Seal).unwrap();
        through(&mut stream, siv, &mut sealed, piece);
        prop_assert_eq!((&sealed, stream.tag()), (&cipher, tag.clone()));

        let mut stream = key.begin(&nonce, length as u64, SealOpen::Open).unwrap();
        stream.seed(&tag);
        through(&mut stream, false, &mut sealed, piece);
        prop_assert_eq!((sealed, stream.tag()), (plain, tag));
    }

    #[test]
    fn what_was_changed_on_the_way_has_another_tag(
        scheme in any_scheme(), seed in any::<u64>(), length in 1..300_usize,
        place in any::<prop::sample::Index>(),
    ) {
        let key = Key::new(scheme, &pattern(seed, longest_key(scheme))).unwrap();
        let nonce = pattern(seed ^ 1, scheme.nonce_bytes());
        let mut text = pattern(seed ^ 2, length);
        let tag = key.seal(&nonce, &[], &mut text).unwrap();
        text[place.index(length)] ^= 1;
        let mut stream = key.begin(&nonce, length as u64, SealOpen::Open).unwrap();
        stream.seed(&tag);
        stream.update(&mut text);
        prop_assert_ne!(stream.tag(), tag);
    }
}
