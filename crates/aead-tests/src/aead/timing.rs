use crate::aead::arbitrary::any_aead;
use crate::gcm::arbitrary::any_direction;
use proptest::prelude::*;
use sealsim_aead::aead::spec::AeadSpec;
use sealsim_aead::aead::timing::*;
use sealsim_aead::aead::{aegis, flow::Dates};
use sealsim_aead::gcm::message::{SealOpen, Shape};
use sealsim_aead::gcm::part::Part;
use sealsim_aead::gcm::timing::{Accepted, Finished, Limit, Waits};
use sealsim_aead::units::Cycles;

/// What an engine alone says of a message, and the same engine fed in bursts that are all there.
fn both(spec: &AeadSpec, blocks: u64, direction: SealOpen, burst: u64) -> (Dates, AeadTiming, Accepted, Finished) {
    let mut alone = spec.timing().unwrap();
    let start = alone.load_key(0);
    let dates = alone.message(start, &Shape::new(0, 16 * blocks, direction));
    let mut timing = AeadTiming::new(spec).unwrap();
    timing.load_key(0);
    timing.start(0, Part::whole(16 * blocks), direction);
    let passes = if alone.passes_twice(direction) { 2 } else { 1 };
    let mut accepted = Accepted { consumed: 0, out: 0, limit: Limit::Data };
    for _ in 0..passes {
        let mut left = 16 * blocks;
        while left > 0 {
            accepted = timing.accept(start, left.min(burst) as u32);
            left -= left.min(burst);
        }
    }
    let finished = timing.finish();
    (dates, timing, accepted, finished)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn fed_in_bursts_that_are_there_an_engine_takes_the_cycles_that_it_takes_alone(
        spec in any_aead(), blocks in 1..200_u64, direction in any_direction(), burst in 1..500_u64,
    ) {
        let (dates, timing, accepted, finished) = both(&spec, blocks, direction, burst);
        prop_assert_eq!(finished, Finished { tag: dates.tag, verdict: dates.verdict });
        prop_assert_eq!(Some(accepted.out), dates.last_text);
        prop_assert_eq!(timing.done(), dates.done());
    }

    #[test]
    fn text_that_comes_later_is_taken_later_and_never_before_it_is_there(
        spec in any_aead(), gaps in prop::collection::vec(0..90_u64, 1..12), direction in any_direction(),
    ) {
        let mut timing = AeadTiming::new(&spec).unwrap();
        timing.load_key(0);
        timing.start(0, Part::whole(64 * gaps.len() as u64), direction);
        let passes = if spec.timing().unwrap().passes_twice(direction) { 2 } else { 1 };
        let (mut now, mut before) = (0, 0);
        for gap in gaps.iter().cycle().take(passes * gaps.len()) {
            now += gap;
            let accepted = timing.accept(now, 64);
            prop_assert!(accepted.consumed >= now.max(before) && accepted.out > accepted.consumed);
            before = accepted.consumed;
        }
        let finished = timing.finish();
        prop_assert!(finished.tag > 0 && timing.busy(u64::MAX) <= timing.done());
    }
}

#[test]
fn a_slow_state_makes_text_wait_and_says_so() {
    let aegis = aegis::AegisSpec { lanes: 2, round: Cycles(3), tag: None, compare: Cycles(0) };
    let mut timing = AeadTiming::new(&AeadSpec::Aegis256(aegis)).unwrap();
    timing.start(0, Part::whole(128), SealOpen::Seal);
    // 1 + 16 x 3 cycles, then a block of 32 bytes every third cycle.
    let accepted = timing.accept(100, 128);
    assert_eq!(accepted, Accepted { consumed: 109, out: 110, limit: Limit::Aes });
    assert_eq!(timing.waits(), Waits { aes: 6, ghash: 0 });
    assert_eq!(timing.finish().tag, 109 + 3 + 21 + 1);
    assert_eq!(timing.busy(1000), 49 + (134 - 100));
}

#[test]
fn gcm_siv_opens_only_once_the_tag_is_there() {
    let spec = crate::aead::arbitrary::siv(1 << 20);
    let first = |seed| {
        let mut timing = AeadTiming::new(&spec).unwrap();
        timing.start(0, Part::whole(64), SealOpen::Open);
        timing.seed(seed);
        timing.accept(0, 64).out
    };
    assert_eq!(first(0), first(10));
    assert_eq!(first(1500) - first(1000), 500);
}
