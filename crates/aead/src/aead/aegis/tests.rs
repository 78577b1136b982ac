use super::datapath::Datapath;
use super::*;
use crate::aead::bytes::{Key, Scheme, WireFormat};
use crate::aead::model::Clocked;
use crate::gcm::arbitrary::pattern;
use crate::gcm::message::SealOpen;
use proptest::prelude::*;

const SCHEMES: [(Form, u32, Scheme); 6] = [
    (Form::Wide256, 1, Scheme::Aegis256),
    (Form::Wide256, 2, Scheme::Aegis256X2),
    (Form::Wide256, 4, Scheme::Aegis256X4),
    (Form::Long128, 1, Scheme::Aegis128L),
    (Form::Long128, 2, Scheme::Aegis128X2),
    (Form::Long128, 4, Scheme::Aegis128X4),
];

fn spec(lanes: u32, round: u64) -> AegisSpec {
    AegisSpec { lanes, round: Cycles(round), tag: None, compare: Cycles(1) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn the_registers_give_the_bytes_of_the_crate_and_the_cycles_of_the_timing_model(
        (form, lanes, scheme) in prop::sample::select(SCHEMES.to_vec()), round in 1..6_u64, seed in any::<u64>(), long in any::<bool>(),
        messages in prop::collection::vec((0..200_usize, 0..700_usize, any::<bool>()), 1..4),
    ) {
        let tag_bytes = if long { 32 } else { 16 };
        let spec = AegisSpec { tag: Some(Bytes(tag_bytes)), ..spec(lanes, round) };
        let format = WireFormat::new(scheme, tag_bytes);
        let (mut timing, mut engine) = (AegisTiming::new(Aegis { form, spec: &spec }).unwrap(), Datapath::new(Aegis { form, spec: &spec }).unwrap());
        for (number, (aad, length, seal)) in messages.into_iter().enumerate() {
            let of = |part: u64, length| pattern(seed ^ (8 * number as u64 + part), length);
            let (key, nonce, aad, plain) = (of(0, form.key_bytes() as usize), of(1, form.key_bytes() as usize), of(2, aad), of(3, length));
            let mut cipher = plain.clone();
            let expected = Key::new(format, &key).unwrap().seal(&nonce, &aad, &mut cipher).unwrap();
            let direction = if seal { SealOpen::Seal } else { SealOpen::Open };
            let (input, output) = if seal { (plain, cipher) } else { (cipher, plain) };
            let start = engine.cycle();
            let shape = Shape::new(aad.len() as u64, input.len() as u64, direction);
            let Clocked { dates, taken, output: text, tag } = engine.message([&key, &nonce, &aad, &input], direction);
            prop_assert_eq!(text, output);
            prop_assert_eq!(tag, expected);
            prop_assert_eq!(Dates { verdict: dates.tag + 1, ..dates }, timing.message(start, &shape));
            prop_assert!(taken.windows(2).all(|pair| pair[1] - pair[0] == round));
        }
    }

    #[test]
    fn throughput_tail_and_start_have_their_closed_forms(
        (form, lanes, _) in prop::sample::select(SCHEMES.to_vec()), round in 1..30_u64, at in 0..1000_u64, aad in 0..50_u64, text in 2..900_u64,
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
