use crate::another::aead;
use crate::gcm::arbitrary::{any_controlled_engine, any_engine, multiplier, pattern, serial};
use proptest::prelude::*;
use sealsim_aead::gcm::engine::*;
use sealsim_aead::gcm::field::Element;
use sealsim_aead::gcm::message::SealOpen;
use sealsim_aead::gcm::spec::{Closing, GcmSpec, GhashSpec};
use sealsim_aead::gcm::{bulk, counter};
use sealsim_aead::units::Bytes;
use std::collections::HashSet;

fn ready(spec: &GcmSpec, key: &[u8]) -> Engine {
    let mut engine = Engine::new(spec).unwrap();
    engine.load_key(key).unwrap();
    engine
}

#[test]
fn long_messages_equal_another_code_base() {
    let unit = || Box::new(serial(1, 1));
    let designs = [
        GcmSpec::four_lanes().ghash,
        serial(0, 1),
        GhashSpec::Interleaved {
            ways: 9,
            multipliers: 4,
            closing: Closing::Afterwards,
            multiplier: multiplier(2, 1, 128),
        },
        GhashSpec::Interleaved {
            ways: 9,
            multipliers: 4,
            closing: Closing::LookAhead,
            multiplier: multiplier(2, 1, 128),
        },
        GhashSpec::Aggregated { width: 5, groups: 3, multiplier: multiplier(2, 1, 128) },
        GhashSpec::Segmented { units: 3, segment: 37, ports: 4, buffer: 50, unit: unit() },
        GhashSpec::MessageParallel { units: 2, ports: 4, buffer: 9, unit: unit() },
        GhashSpec::SubChains { chains: 1, chunk: Bytes(48), ports: 4, buffer: 9, unit: unit() },
    ];
    let (key, iv, aad, plain) = (pattern(1, 32), [8; 12], pattern(2, 100), pattern(3, 100_001));
    let sealer = aead::LessSafeKey::new(aead::UnboundKey::new(&aead::AES_256_GCM, &key).unwrap());
    let mut expected = plain.clone();
    let nonce = aead::Nonce::assume_unique_for_key(iv);
    let tag = sealer.seal_in_place_separate_tag(nonce, aead::Aad::from(&aad), &mut expected).unwrap();
    for ghash in designs {
        let spec = GcmSpec { ghash, ..GcmSpec::four_lanes() };
        let mut engine = ready(&spec, &key);
        for (text, direction, other) in [(&plain, SealOpen::Seal, &expected), (&expected, SealOpen::Open, &plain)] {
            engine.start(&iv, &aad, text.len() as u64, direction).unwrap();
            for piece in text.chunks(777) {
                engine.offer(piece);
            }
            let (out, got) = engine.run(&mut Vec::new()).unwrap();
            assert!(&out == other, "{direction:?} with {:?}", spec.ghash);
            assert_eq!(got, tag.as_ref());
        }
    }
}

#[test]
fn what_the_engine_cannot_take_is_refused() {
    let spec = GcmSpec::four_lanes();
    let mut engine = Engine::new(&spec).unwrap();
    assert_eq!(engine.load_key(&[0; 16]), Err(EngineError::KeyBits { expected: 256, got: 128 }));
    assert_eq!(engine.start(&[0; 12], &[], 0, SealOpen::Seal), Err(EngineError::NoKey));
    engine.load_key(&[0; 32]).unwrap();
    assert_eq!(engine.start(&[], &[], 0, SealOpen::Seal), Err(EngineError::EmptyIv));
    engine.start(&[0; 12], &[], 0, SealOpen::Seal).unwrap();
    assert_eq!(engine.load_key(&[1; 32]), Err(EngineError::InUse));
    engine.run(&mut Vec::new()).unwrap();
    assert_eq!(engine.load_key(&[1; 32]), Ok(()));
    assert!(Engine::new(&GcmSpec { key_bits: 64, ..spec }).is_err());
}

#[test]
fn the_registers_hold_the_powers_of_h_the_mask_and_the_states_of_aes() {
    let (spec, key) = (GcmSpec::four_lanes(), pattern(4, 32));
    let reference = bulk::Key::new(&key).unwrap();
    let mut engine = ready(&spec, &key);
    let mut events = Vec::new();
    while events.is_empty() {
        engine.step(&mut events);
    }
    let at = engine.cycle();
    engine.start(&[5; 12], &[], 64, SealOpen::Seal).unwrap();
    let mut powers = Vec::new();
    engine.registers(&mut |unit, name, _, value| {
        if (unit, name) == ("ghash", "power") {
            powers.push(Element(*value));
        }
    });
    assert_eq!(powers, sealsim_aead::gcm::field::powers(reference.h(), 16));
    let (mut masks, mut states) = (Vec::new(), Vec::new());
    while masks.is_empty() {
        engine.step(&mut events);
        let cycle = engine.cycle();
        engine.registers(&mut |unit, name, index, value| match (unit, name) {
            ("tag", "mask") => masks.push((cycle, *value)),
            ("aes", "state") if index == cycle.saturating_sub(at + 1) as usize => states.push(*value),
            _ => {}
        });
    }
    let j0 = counter::j0_of_96_bits(&[5; 12]);
    assert_eq!(masks, [(at + 14, u128::from_be_bytes(reference.encrypt_block(j0)))]);
    // One register after another held J0's state, a different one after each round.
    assert_eq!(states.len(), 13);
    assert_eq!(states.iter().collect::<HashSet<_>>().len(), 13);
}

proptest! {
    #[test]
    fn no_two_registers_go_by_one_name(
        spec in prop_oneof![any_engine(), any_controlled_engine()], aad in 0..100_usize, blocks in 0..40_usize,
    ) {
        let mut engine = ready(&spec, &pattern(1, spec.key_bits as usize / 8));
        engine.start(&[7; 12], &pattern(2, aad), 16 * blocks as u64, SealOpen::Seal).unwrap();
        engine.offer(&pattern(3, 16 * blocks));
        while !engine.idle() {
            engine.step(&mut Vec::new());
            let (mut seen, mut twice) = (HashSet::new(), None);
            engine.all_registers(&mut |register, _, _| twice = twice.or((!seen.insert(register)).then_some(register)));
            prop_assert_eq!(twice, None, "in cycle {}", engine.cycle());
        }
    }
}
