use proptest::prelude::*;
use sealsim_aead::aead::aegis::datapath::Datapath;
use sealsim_aead::aead::aegis::*;
use sealsim_aead::aead::model::Registers;
use sealsim_aead::aead::scheme_timing::SchemeTiming;
use sealsim_aead::gcm::message::{SealOpen, Shape};
use sealsim_aead::gcm::spec::SpecError;
use sealsim_aead::units::{Bytes, Cycles};

fn spec(lanes: u32, round: u64) -> AegisSpec {
    AegisSpec { lanes, round: Cycles(round), tag: None, compare: Cycles(1) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn throughput_tail_and_start_have_their_closed_forms(
        form in prop::sample::select(vec![Form::Wide256, Form::Long128]), lanes in prop::sample::select(vec![1, 2, 4]), round in 1..30_u64, at in 0..1000_u64, aad in 0..50_u64, text in 2..900_u64,
    ) {
        let spec = spec(lanes, round);
        let engine = Aegis { form, spec: &spec };
        let width = engine.width();
        let dates = AegisTiming::new(engine).unwrap().message(at, &Shape::new(aad * width, text * width, SealOpen::Seal));
        let (first, last) = (dates.first_text.unwrap(), dates.last_text.unwrap());
        prop_assert_eq!(dates.first_input.unwrap() - at, 1 + if form == Form::Wide256 { 16 } else { 10 } * round);
        prop_assert_eq!(first - dates.first_input.unwrap(), 1 + aad * round);
        prop_assert_eq!(last - first, (text - 1) * round);
        prop_assert_eq!(dates.tag - last, 8 * round);
    }
}

/// An update of AEGIS-256 brings a block into S0, the next one into S1, which the keystream sees; AEGIS-128L in the same time into S1 and S5.
#[test]
fn a_bit_of_a_block_reaches_the_keystream_two_updates_later_and_not_before() {
    for form in [Form::Wide256, Form::Long128] {
        let (spec, width) = (spec(1, 1), 16 * form.words());
        let mut engine = Datapath::new(Aegis { form, spec: &spec }).unwrap();
        let secret = vec![7; form.key_bytes() as usize];
        let mut sealed = |text: Vec<u8>| engine.message([&secret, &secret, &[], &text], SealOpen::Seal).output;
        let (plain, mut other) = (vec![0; 4 * width], vec![0; 4 * width]);
        other[width] ^= 1;
        let (one, two) = (sealed(plain), sealed(other));
        assert_eq!(one[..width], two[..width]);
        assert_eq!(one[width] ^ two[width], 1);
        assert_eq!(one[width + 1..3 * width], two[width + 1..3 * width], "{form:?}");
        assert_ne!(one[3 * width..], two[3 * width..], "{form:?}");
    }
}

#[test]
fn other_numbers_of_lanes_other_tags_and_rounds_without_latency_are_refused() {
    for lanes in [0, 3, 8] {
        assert_eq!(spec(lanes, 1).check(), Err(SpecError::Lanes(lanes)));
    }
    assert_eq!(
        AegisSpec { tag: Some(Bytes(24)), ..spec(1, 1) }.check(),
        Err(SpecError::SchemeTag(24, "AEGIS", &[16, 32]))
    );
    assert!(spec(1, 0).check().is_err() && spec(4, 1).check().is_ok());
}
