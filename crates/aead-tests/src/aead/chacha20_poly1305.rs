use crate::gcm::arbitrary::any_direction;
use proptest::prelude::*;
use sealsim_aead::aead::chacha20_poly1305::*;
use sealsim_aead::aead::flow::Dates;
use sealsim_aead::aead::scheme_timing::SchemeTiming;
use sealsim_aead::gcm::message::{SealOpen, Shape};
use sealsim_aead::gcm::spec::Closing;
use sealsim_aead::units::Cycles;

fn spec(lanes: u32, registers: u32, ways: u32, multipliers: u32, latency: u64) -> ChaCha20Poly1305Spec {
    ChaCha20Poly1305Spec {
        chacha: ChaChaSpec {
            lanes,
            rounds_in_hardware: 20,
            registers_per_round: registers,
            start_interval: Cycles(1),
            keystream_blocks: 1024,
        },
        poly1305: Poly1305Spec {
            ways,
            multipliers,
            closing: Closing::LookAhead,
            product: Cycles(latency - 1),
            reduction: Cycles(1),
            finish: Cycles(3),
        },
        compare: Cycles(1),
    }
}

fn message(spec: &ChaCha20Poly1305Spec, aad: u64, blocks: u64, direction: SealOpen) -> Dates {
    ChaChaTiming::new(spec).unwrap().message(0, &Shape::new(16 * aad, 16 * blocks, direction))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn with_one_accumulator_a_message_has_its_closed_form(
        lanes in 1..4_u32, registers in 1..4_u32, latency in 1..9_u64, aad in 0..20_u64, blocks in 1..200_u64, seal in any::<bool>(),
    ) {
        let direction = if seal { SealOpen::Seal } else { SealOpen::Open };
        let dates = message(&spec(lanes, registers, 1, 1, latency), aad, blocks, direction);
        // r is valid when block 0 leaves its lane; block 1 is next to it, or behind it in a lone lane.
        let r = 20 * u64::from(registers);
        let taken = r + 1 / u64::from(lanes);
        let after_aad = r + aad * latency;
        let entered = after_aad.max(if seal { taken + 1 } else { taken });
        prop_assert_eq!(dates.tag, entered + (blocks + 1) * latency + 3);
        let first = if seal { taken } else { entered };
        prop_assert_eq!(dates.first_text, Some(first + 1));
        let last = dates.last_text.unwrap();
        if !seal {
            prop_assert_eq!(last - first - 1, (blocks - 1) * latency);
        }
    }

    #[test]
    fn ways_and_multipliers_bound_the_throughput_and_reach_the_bound(
        lanes in 1..4_u32, ways in 1..20_u32, multipliers in 1..6_u32, latency in 1..9_u64, direction in any_direction(),
    ) {
        let spec = spec(lanes, 1, ways, multipliers, latency);
        let span = |blocks| message(&spec, 0, blocks, direction).last_text.unwrap();
        // Over whole turns of the accumulators, after the start.
        let turns = 60 * u64::from(ways * multipliers);
        let cycles = span(2 * turns) - span(turns);
        let ports = 4 * u64::from(lanes);
        let per_turn = latency.max(u64::from(ways).div_ceil(multipliers.into()));
        let authenticator = turns * per_turn / u64::from(ways);
        let at_least = (turns / ports).max(turns * latency / u64::from(ways)).max(turns / u64::from(multipliers));
        prop_assert!(cycles + per_turn + 1 >= at_least, "{cycles} {at_least}");
        prop_assert!(cycles <= authenticator.max(turns.div_ceil(ports)) + per_turn + 1, "{cycles} {authenticator}");
    }
}

#[test]
fn powers_of_r_cost_every_message_what_those_of_h_cost_a_key() {
    let first_input = |ways| message(&spec(1, 1, ways, 1, 4), 1, 1, SealOpen::Open).first_input.unwrap();
    // r is valid when block 0 has left its lane; r^2 is a product behind it, r^3 and r^4 another, one cycle apart.
    assert_eq!((first_input(1), first_input(2), first_input(4)), (20, 24, 29));
}

#[test]
fn a_shallow_fifo_slows_the_keystream() {
    let mut shallow = spec(1, 1, 16, 4, 4);
    let deep = message(&shallow, 0, 4000, SealOpen::Open);
    shallow.chacha.keystream_blocks = 7;
    let slow = message(&shallow, 0, 4000, SealOpen::Open);
    // A block of 64 B is in progress from its lane's entrance to its last text, 20 + 1 cycles, and seven may be.
    assert_eq!(slow.last_text.unwrap() / 1000, 3);
    assert!(deep.last_text.unwrap() < 1100);
}

#[test]
fn what_cannot_be_is_refused() {
    let good = spec(1, 1, 4, 1, 4);
    assert!(good.check().is_ok());
    let mut bad = good.clone();
    bad.chacha.rounds_in_hardware = 21;
    assert!(bad.check().is_err());
    let mut bad = good.clone();
    bad.poly1305.ways = 0;
    assert!(bad.check().is_err());
    let mut bad = good;
    (bad.poly1305.product, bad.poly1305.reduction) = (Cycles(0), Cycles(0));
    assert!(bad.check().is_err());
}
