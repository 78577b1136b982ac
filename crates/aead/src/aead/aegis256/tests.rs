use super::datapath::{Datapath, Event};
use super::*;
use crate::aead::bytes::{Key, Scheme, WireFormat};
use crate::aead::scheme::Scheme as _;
use crate::gcm::arbitrary::pattern;
use crate::gcm::message::SealOpen;
use proptest::prelude::*;

fn spec(lanes: u32, round: u64) -> Aegis256Spec {
    Aegis256Spec { lanes, round: Cycles(round), tag: None, compare: Cycles(1) }
}

/// What one message of the datapath shows: dates, text, tag, and the cycle of each block taken.
fn run(engine: &mut Datapath, input: &[Vec<u8>; 4], direction: SealOpen) -> (Dates, Vec<u8>, Vec<u8>, Vec<u64>) {
    let [key, nonce, aad, text] = input;
    engine.start(&key[..].try_into().unwrap(), &nonce[..].try_into().unwrap(), aad, text, direction);
    let (mut dates, mut output, mut taken, mut tag) = (Dates::default(), Vec::new(), Vec::new(), None);
    while tag.is_none() {
        engine.step(&mut |at, event| match event {
            Event::Aad => _ = dates.first_input.get_or_insert(at),
            Event::Taken => {
                dates.first_input.get_or_insert(at);
                taken.push(at);
            }
            Event::Text(bytes) => {
                dates.first_text.get_or_insert(at);
                dates.last_text = Some(at);
                output.extend(bytes);
            }
            Event::Tag(value) => {
                dates.tag = at;
                dates.verdict = at + 1;
                tag = Some(value);
            }
        });
    }
    (dates, output, tag.unwrap(), taken)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn the_registers_give_the_bytes_of_the_crate_and_the_cycles_of_the_timing_model(
        (lanes, scheme) in prop::sample::select(vec![(1, Scheme::Aegis256), (2, Scheme::Aegis256X2), (4, Scheme::Aegis256X4)]),
        round in 1..6_u64, seed in any::<u64>(), long in any::<bool>(),
        messages in prop::collection::vec((0..200_usize, 0..700_usize, any::<bool>()), 1..4),
    ) {
        let tag_bytes = if long { 32 } else { 16 };
        let spec = Aegis256Spec { tag: Some(Bytes(tag_bytes)), ..spec(lanes, round) };
        let format = WireFormat { scheme, tag_bytes: tag_bytes as usize };
        let (mut timing, mut engine) = (Aegis256Timing::new(&spec).unwrap(), Datapath::new(&spec).unwrap());
        for (number, (aad, length, seal)) in messages.into_iter().enumerate() {
            let of = |part: u64, length| pattern(seed ^ (8 * number as u64 + part), length);
            let (key, nonce, aad, plain) = (of(0, 32), of(1, 32), of(2, aad), of(3, length));
            let mut cipher = plain.clone();
            let expected = Key::new(format, &key).unwrap().seal(&nonce, &aad, &mut cipher).unwrap();
            let direction = if seal { SealOpen::Seal } else { SealOpen::Open };
            let (input, output) = if seal { (plain, cipher) } else { (cipher, plain) };
            let start = engine.cycle();
            let shape = Shape::new(aad.len() as u64, input.len() as u64, direction);
            let (dates, text, tag, taken) = run(&mut engine, &[key, nonce, aad, input], direction);
            prop_assert_eq!(text, output);
            prop_assert_eq!(tag, expected);
            prop_assert_eq!(dates, timing.message(start, &shape));
            prop_assert!(taken.windows(2).all(|pair| pair[1] - pair[0] == round));
        }
    }

    #[test]
    fn throughput_tail_and_start_have_their_closed_forms(
        lanes in prop::sample::select(vec![1_u32, 2, 4]), round in 1..30_u64, at in 0..1000_u64, aad in 0..50_u64, text in 2..900_u64,
    ) {
        let width = 16 * u64::from(lanes);
        let dates = Aegis256Timing::new(&spec(lanes, round)).unwrap().message(at, &Shape::new(aad * width, text * width, SealOpen::Seal));
        let (first, last) = (dates.first_text.unwrap(), dates.last_text.unwrap());
        prop_assert_eq!(dates.first_input.unwrap() - at, 1 + 16 * round);
        prop_assert_eq!(first - dates.first_input.unwrap(), 1 + aad * round);
        prop_assert_eq!(last - first, (text - 1) * round);
        prop_assert_eq!(dates.tag - last, 8 * round);
    }
}

#[test]
fn a_bit_of_a_block_reaches_the_keystream_two_blocks_later_and_not_before() {
    let mut engine = Datapath::new(&spec(1, 1)).unwrap();
    let mut sealed = |text: Vec<u8>| run(&mut engine, &[vec![7; 32], vec![9; 32], Vec::new(), text], SealOpen::Seal).1;
    let (plain, mut other) = (vec![0; 64], vec![0; 64]);
    other[16] ^= 1;
    let (one, two) = (sealed(plain), sealed(other));
    assert_eq!(one[..16], two[..16]);
    assert_eq!(one[16] ^ two[16], 1);
    // An update brings the block into S0, the next one into S1, which the keystream sees.
    assert_eq!(one[17..48], two[17..48]);
    assert_ne!(one[48..], two[48..]);
}

#[test]
fn other_numbers_of_lanes_other_tags_and_rounds_without_latency_are_refused() {
    for lanes in [0, 3, 8] {
        assert_eq!(spec(lanes, 1).check(), Err(SpecError::Lanes(lanes)));
    }
    assert_eq!(Aegis256Spec { tag: Some(Bytes(24)), ..spec(1, 1) }.check(), Err(SpecError::SchemeTag(24)));
    assert!(spec(1, 0).check().is_err() && spec(4, 1).check().is_ok());
}
