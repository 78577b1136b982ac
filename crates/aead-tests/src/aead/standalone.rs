use crate::aead::arbitrary;
use proptest::prelude::*;
use sealsim_aead::aead::bytes::Key;
use sealsim_aead::aead::spec::EngineSpec;
use sealsim_aead::aead::standalone::*;
use sealsim_aead::gcm::bench::Bench;
use sealsim_aead::gcm::message::SealOpen;
use sealsim_aead::gcm::spec::GcmSpec;
use sealsim_aead::units::Bytes;

fn bench(aad_blocks: u64, blocks: u64, direction: SealOpen, messages: u32) -> Bench {
    Bench { aad_blocks, blocks, direction, messages, seed: 3, trace_blocks: 0 }
}

fn siv(buffer: u64) -> EngineSpec {
    EngineSpec::Other(arbitrary::siv(buffer))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn the_four_parts_sum_up_to_the_total_and_what_is_sealed_opens(
        spec in arbitrary::any_spec(), aad in 0..20_u64, blocks in 0..60_u64, messages in 1..4_u32,
    ) {
        let way = |direction| run(&spec, &bench(aad, blocks, direction, messages)).unwrap();
        let (sealed, opened) = (way(SealOpen::Seal), way(SealOpen::Open));
        let key = Key::new(spec.format(), &hex::decode(&sealed.key).unwrap()).unwrap();
        for (one, other) in sealed.messages.iter().zip(&opened.messages) {
            prop_assert_eq!((&one.tag, &one.output), (&other.tag, &other.input));
            let of = |text: &Option<String>| hex::decode(text.as_ref().unwrap()).unwrap();
            let (nonce, tag) = (hex::decode(&one.iv).unwrap(), hex::decode(&one.tag).unwrap());
            let mut text = of(&one.output);
            prop_assert_eq!(key.open(&nonce, &of(&one.aad), &mut text, &tag), Ok(()));
            prop_assert_eq!(text, of(&one.input));
            for metrics in [one.metrics, other.metrics] {
                let parts = [metrics.setup_cycles, metrics.first_output_cycles, metrics.output_span_cycles, metrics.tail_cycles];
                if blocks > 0 {
                    prop_assert_eq!(parts.into_iter().sum::<Option<i64>>(), metrics.total_cycles);
                }
            }
        }
    }
}

#[test]
fn a_message_beyond_the_buffer_is_opened_and_not_sealed() {
    let sealed = run(&siv(160), &bench(0, 10, SealOpen::Seal, 1)).unwrap();
    assert_eq!((sealed.passes, sealed.messages[0].buffer_bytes), (2, Some(160)));
    let error = run(&siv(160), &bench(0, 11, SealOpen::Seal, 1)).unwrap_err();
    assert!(matches!(error, StandaloneError::Buffer { message: Bytes(176), buffer: Bytes(160) }), "{error}");
    let opened = run(&siv(160), &bench(0, 11, SealOpen::Open, 1)).unwrap();
    assert_eq!((opened.passes, opened.messages[0].buffer_bytes), (1, Some(0)));
}

#[test]
fn gcm_siv_seals_in_twice_the_cycles_that_it_opens_in() {
    let total = |blocks, direction| {
        run(&siv(1 << 20), &bench(0, blocks, direction, 1)).unwrap().messages[0].metrics.total_cycles.unwrap()
    };
    // Over 4,000 blocks on four lanes each pass takes 1,000 cycles more.
    assert_eq!(total(8000, SealOpen::Seal) - total(4000, SealOpen::Seal), 2000);
    assert_eq!(total(8000, SealOpen::Open) - total(4000, SealOpen::Open), 1000);
}

#[test]
fn without_text_what_belongs_to_text_does_not_apply() {
    for direction in [SealOpen::Seal, SealOpen::Open] {
        for spec in [siv(16), EngineSpec::Gcm(GcmSpec::four_lanes())] {
            let metrics = run(&spec, &bench(1, 0, direction, 1)).unwrap().messages[0].metrics;
            assert!(metrics.setup_cycles.is_some() && metrics.total_cycles.is_some());
            let of_text = [metrics.first_output_cycles, metrics.output_span_cycles, metrics.tail_cycles];
            assert_eq!((of_text, metrics.cycles_per_block), ([None; 3], None));
        }
    }
}
