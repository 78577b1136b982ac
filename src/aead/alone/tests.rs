use super::*;
use crate::aead::aegis256::Aegis256Spec;
use crate::aead::chacha20_poly1305::{ChaCha20Poly1305Spec, ChaChaSpec, Poly1305Spec};
use crate::aead::gcm_siv::GcmSivSpec;
use crate::gcm::arbitrary::{any_engine, any_simple_ghash};
use crate::gcm::spec::Closing;
use crate::units::Cycles;
use proptest::prelude::*;

fn any_aead() -> impl Strategy<Value = AeadSpec> {
    let cycles = || (0..5_u64).prop_map(Cycles);
    let siv = (any_engine(), any_simple_ghash()).prop_map(|(engine, polyval)| {
        AeadSpec::GcmSiv(GcmSivSpec {
            key_bits: if engine.key_bits == 192 { 256 } else { engine.key_bits },
            aes: engine.aes,
            polyval,
            key_setup: engine.key_setup,
            buffer: Bytes(960),
            compare: engine.compare,
        })
    });
    let aegis = (prop::sample::select(vec![1, 2, 4]), 1..5_u64, cycles())
        .prop_map(|(lanes, round, compare)| AeadSpec::Aegis256(Aegis256Spec { lanes, round: Cycles(round), compare }));
    let chacha = (1..4_u32, 1..21_u32, 0..4_u32, 0..9_u64, 1..40_u32).prop_map(
        |(lanes, rounds_in_hardware, registers_per_round, interval, keystream_blocks)| ChaChaSpec {
            lanes,
            rounds_in_hardware,
            registers_per_round,
            start_interval: Cycles(interval),
            keystream_blocks,
        },
    );
    let closing = prop::sample::select(vec![Closing::LookAhead, Closing::Afterwards]);
    let poly1305 = (1..20_u32, 1..6_u32, closing, 0..5_u64, 1..4_u64, cycles()).prop_map(
        |(ways, multipliers, closing, product, reduction, finish)| Poly1305Spec {
            ways,
            multipliers,
            closing,
            product: Cycles(product),
            reduction: Cycles(reduction),
            finish,
        },
    );
    let chacha = (chacha, poly1305, cycles()).prop_map(|(chacha, poly1305, compare)| {
        AeadSpec::ChaCha20Poly1305(ChaCha20Poly1305Spec { chacha, poly1305, compare })
    });
    prop_oneof![siv, aegis, chacha]
}

fn bench(aad_blocks: u64, blocks: u64, direction: Direction, messages: u32) -> Bench {
    Bench { aad_blocks, blocks, direction, messages, seed: 3, trace_blocks: 0 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn the_four_parts_sum_up_to_the_total_and_what_is_sealed_opens(
        spec in any_aead(), aad in 0..20_u64, blocks in 0..60_u64, messages in 1..4_u32,
    ) {
        let way = |direction| run(&spec, &bench(aad, blocks, direction, messages)).unwrap();
        let (sealed, opened) = (way(Direction::Seal), way(Direction::Open));
        let key = Key::new(spec.scheme().unwrap(), &hex::decode(&sealed.key).unwrap()).unwrap();
        for (one, other) in sealed.messages.iter().zip(&opened.messages) {
            prop_assert_eq!((&one.common.tag, &one.common.output), (&other.common.tag, &other.common.input));
            let of = |text: &Option<String>| hex::decode(text.as_ref().unwrap()).unwrap();
            let (nonce, tag) = (hex::decode(&one.common.iv).unwrap(), hex::decode(&one.common.tag).unwrap());
            let mut text = of(&one.common.output);
            prop_assert_eq!(key.open(&nonce, &of(&one.common.aad), &mut text, &tag.try_into().unwrap()), Ok(()));
            prop_assert_eq!(text, of(&one.common.input));
            for metrics in [one.common.metrics, other.common.metrics] {
                let parts = [metrics.setup_cycles, metrics.first_output_cycles, metrics.output_span_cycles, metrics.tail_cycles];
                if blocks > 0 {
                    prop_assert_eq!(parts.into_iter().sum::<Option<u64>>(), metrics.total_cycles);
                }
            }
        }
    }
}

fn siv(buffer: u64) -> AeadSpec {
    let engine = crate::gcm::spec::EngineSpec::four_lanes();
    AeadSpec::GcmSiv(GcmSivSpec {
        key_bits: 256,
        aes: engine.aes,
        polyval: engine.ghash,
        key_setup: Cycles(20),
        buffer: Bytes(buffer),
        compare: Cycles(1),
    })
}

#[test]
fn a_message_beyond_the_buffer_is_opened_and_not_sealed() {
    let sealed = run(&siv(160), &bench(0, 10, Direction::Seal, 1)).unwrap();
    assert_eq!((sealed.passes, sealed.messages[0].buffer_bytes), (2, 160));
    let error = run(&siv(160), &bench(0, 11, Direction::Seal, 1)).unwrap_err();
    assert!(matches!(error, AloneError::Buffer { message: Bytes(176), buffer: Bytes(160) }), "{error}");
    let opened = run(&siv(160), &bench(0, 11, Direction::Open, 1)).unwrap();
    assert_eq!((opened.passes, opened.messages[0].buffer_bytes), (1, 0));
}

#[test]
fn gcm_siv_seals_in_twice_the_cycles_that_it_opens_in() {
    let total = |blocks, direction| {
        run(&siv(1 << 20), &bench(0, blocks, direction, 1)).unwrap().messages[0].common.metrics.total_cycles.unwrap()
    };
    // Over 4,000 blocks on four lanes each pass takes 1,000 cycles more.
    assert_eq!(total(8000, Direction::Seal) - total(4000, Direction::Seal), 2000);
    assert_eq!(total(8000, Direction::Open) - total(4000, Direction::Open), 1000);
}

#[test]
fn without_text_what_belongs_to_text_does_not_apply() {
    for direction in [Direction::Seal, Direction::Open] {
        let metrics = run(&siv(16), &bench(1, 0, direction, 1)).unwrap().messages[0].common.metrics;
        assert!(metrics.setup_cycles.is_some() && metrics.total_cycles.is_some());
        assert_eq!((metrics.first_output_cycles, metrics.tail_cycles, metrics.cycles_per_block), (None, None, None));
    }
}
