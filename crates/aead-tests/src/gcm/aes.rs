use proptest::prelude::*;
use sealsim_aead::gcm::aes::*;
use sealsim_aead::gcm::bulk;
use sealsim_aead::gcm::field::Element;
use sealsim_aead::gcm::spec::AesSpec;
use sealsim_aead::units::Cycles;

fn spec(rounds_in_hardware: u32, registers_per_round: u32, start_interval: u64) -> AesSpec {
    let start_interval = Cycles(start_interval);
    AesSpec { lanes: 1, rounds_in_hardware, registers_per_round, start_interval, keystream_blocks: 1 }
}

/// Offers a block in every cycle; gives the cycles in which blocks entered, and what came out when.
fn saturate(spec: &AesSpec, key: &[u8], cycles: u64) -> (Vec<u64>, Vec<(u64, u64, Element)>) {
    let keys = RoundKeys::expand(key).unwrap();
    let mut lane = Lane::new(spec, keys.rounds());
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    for cycle in 0..cycles {
        ends.extend(lane.clock(&keys).map(|(block, tag)| (cycle, tag, block)));
        if lane.free() {
            lane.start(&keys, u128::from(cycle).to_be_bytes(), cycle);
            starts.push(cycle);
        }
    }
    (starts, ends)
}

proptest! {
    #[test]
    fn every_lane_gives_aes_after_its_latency(
        rounds in 1..=14_u32, registers in 0..4_u32, interval in 0..20_u64,
        key in prop::sample::select(vec![16, 24, 32_usize]).prop_flat_map(|n| prop::collection::vec(any::<u8>(), n)),
    ) {
        let spec = spec(rounds, registers, interval);
        let reference = bulk::Key::new(&key).unwrap();
        let (_, ends) = saturate(&spec, &key, 200);
        prop_assert!(!ends.is_empty());
        for (cycle, start, block) in ends {
            prop_assert_eq!(cycle - start, spec.latency(key.len() as u32 / 4 + 6));
            prop_assert_eq!(block.to_bytes(), reference.encrypt_block(u128::from(start).to_be_bytes()));
        }
    }
}

#[test]
fn an_unrolled_lane_takes_a_block_in_every_cycle() {
    assert_eq!(saturate(&spec(14, 1, 0), &[0; 32], 50).0, (0..50).collect::<Vec<_>>());
    assert_eq!(saturate(&spec(14, 0, 1), &[0; 32], 50).0, (0..50).collect::<Vec<_>>());
}

#[test]
fn a_lane_of_half_the_rounds_takes_as_many_blocks_as_it_has_places_and_then_waits() {
    let (starts, _) = saturate(&spec(7, 1, 0), &[0; 32], 29);
    assert_eq!(starts, (0..7).chain(14..21).chain([28]).collect::<Vec<_>>());
}

#[test]
fn the_start_interval_holds_beyond_what_the_passes_impose() {
    assert_eq!(saturate(&spec(14, 1, 5), &[0; 32], 16).0, [0, 5, 10, 15]);
    assert_eq!(saturate(&spec(1, 1, 16), &[0; 32], 33).0, [0, 16, 32]);
    assert_eq!(saturate(&spec(1, 1, 14), &[0; 32], 29).0, [0, 14, 28]);
}

#[test]
fn keys_of_other_lengths_are_refused() {
    assert!(RoundKeys::expand(&[0; 20]).is_none());
    assert_eq!(RoundKeys::expand(&[0; 24]).map(|keys| keys.rounds()), Some(12));
}
