use crate::aead::arbitrary::any_spec;
use crate::gcm::arbitrary::pattern;
use proptest::prelude::*;
use sealsim_aead::aead::bytes::WireFormat;
use sealsim_aead::aead::path::*;
use sealsim_aead::aead::spec::{AeadSpec, EngineSpec};
use sealsim_aead::gcm::message::SealOpen;
use sealsim_aead::gcm::part::Part;
use sealsim_aead::gcm::spec::{GcmSpec, GhashSpec};
use sealsim_aead::units::{Bytes, Cycles};

proptest! {
    #[test]
    fn what_software_seals_an_engine_opens_and_the_other_way_round(
        spec in any_spec(), seed in any::<u64>(), length in 0..1500_usize, piece in 1..400_usize,
    ) {
        let format = spec.format().with_text_crc(spec.gcm().is_some() && seed & 1 == 1);
        let raw = pattern(seed, spec.model().key_bits() as usize / 8);
        let key = PathKey::new(format, &raw, pattern(seed ^ 1, TAIL).try_into().unwrap()).unwrap();
        let nonce: [u8; 12] = pattern(seed ^ 2, 12).try_into().unwrap();
        let plain = pattern(seed ^ 3, length);

        let mut text = plain.clone();
        let tags = key.seal(nonce, &mut text);
        prop_assert_eq!(tags.len() as u64, format.tag_bytes());
        let mut message = key.begin(nonce, Part::whole(length as u64), SealOpen::Open).unwrap();
        message.seed(&tags);
        text.chunks_mut(piece).for_each(|piece| message.update(piece));
        prop_assert_eq!((&text, &message.tag()), (&plain, &tags));

        let mut message = key.begin(nonce, Part::whole(length as u64), SealOpen::Seal).unwrap();
        if spec.model().buffer().is_some() {
            text.chunks(piece).for_each(|piece| message.absorb(piece));
            message.turn();
        }
        text.chunks_mut(piece).for_each(|piece| message.update(piece));
        prop_assert_eq!(&message.tag(), &tags);
        prop_assert!(key.open(nonce, &mut text.clone(), &tags));
        let mut other = tags.clone();
        other[seed as usize % tags.len()] ^= 1;
        prop_assert!(!key.open(nonce, &mut text, &other));
    }
}

#[test]
fn nonces_of_one_key_differ_where_their_counters_do_and_longer_ones_where_their_masks_do() {
    let aegis =
        sealsim_aead::aead::aegis::AegisSpec { lanes: 1, round: Cycles(1), tag: Some(Bytes(32)), compare: Cycles(1) };
    let format = EngineSpec::Other(AeadSpec::Aegis256(aegis)).format();
    assert_eq!((format.nonce_bytes(), format.tag_bytes(), format.tag_blocks()), (32, 32, 2));
    let tag =
        |tail: u8, counter: u8| PathKey::new(format, &[7; 32], [tail; TAIL]).unwrap().seal([counter; 12], &mut []);
    assert!(tag(0, 0) != tag(0, 1) && tag(0, 0) != tag(1, 0));
    assert_eq!(WireFormat::GCM.nonce_bytes(), 12);
}

#[test]
fn several_tags_are_counted_in_blocks() {
    let mut engine = GcmSpec::four_lanes();
    let unit = Box::new(engine.ghash.clone());
    engine.ghash = GhashSpec::SubChains { chains: 3, chunk: Bytes(64), ports: 4, buffer: 8, unit };
    let format = EngineSpec::Gcm(engine).format();
    assert_eq!((format.tag_bytes(), format.tag_blocks()), (48, 3));
}
