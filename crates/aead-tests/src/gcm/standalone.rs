use crate::gcm::arbitrary::{any_controlled_engine, any_direction};
use proptest::prelude::*;
use sealsim_aead::gcm::bench::Bench;
use sealsim_aead::gcm::message::SealOpen;
use sealsim_aead::gcm::spec::GcmSpec;
use sealsim_aead::gcm::standalone::*;

fn bench(aad_blocks: u64, blocks: u64, direction: SealOpen, messages: u32) -> Bench {
    Bench { aad_blocks, blocks, direction, messages, seed: 3, trace_blocks: 2 }
}

fn any_bench() -> impl Strategy<Value = Bench> {
    (0..20_u64, 0..60_u64, any_direction(), 1..4_u32)
        .prop_map(|(aad, text, way, messages)| bench(aad, text, way, messages))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn whatever_its_control_an_engine_gives_aes_gcm(spec in any_controlled_engine(), bench in any_bench()) {
        let outcome = run(&spec, &bench);
        prop_assert!(outcome.is_ok(), "{:?}", outcome.err());
    }
}

#[test]
fn a_second_message_finds_key_and_powers() {
    let messages = run(&GcmSpec::four_lanes(), &bench(1, 8, SealOpen::Seal, 3)).unwrap().messages;
    assert!(messages[0].metrics.total_cycles > messages[1].metrics.total_cycles);
    assert_eq!(messages[1].metrics, messages[2].metrics);
    assert_ne!(messages[1].iv, messages[2].iv);
}

#[test]
fn the_trace_ends_each_block_in_the_keystream_that_it_is_sealed_with() {
    let outcome = run(&GcmSpec::four_lanes(), &bench(2, 5, SealOpen::Seal, 1)).unwrap();
    let trace = outcome.trace.unwrap();
    assert_eq!(trace.blocks.len(), 2);
    for block in &trace.blocks {
        assert_eq!(block.aes_rounds.len(), 15);
        let [keystream, input, output] = [block.aes_rounds.last().unwrap(), &block.input, &block.output]
            .map(|text| u128::from_str_radix(text, 16).unwrap());
        assert_eq!(keystream ^ input, output);
    }
    let shown = outcome.messages[0].output.as_ref().unwrap();
    assert_eq!(shown[..64], format!("{}{}", trace.blocks[0].output, trace.blocks[1].output));
    assert!(!trace.accumulators.is_empty());
}
