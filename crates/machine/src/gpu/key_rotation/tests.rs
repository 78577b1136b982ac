//! Facts about work and thresholds.

use super::*;

#[test]
fn work_is_blocks_of_the_sum_of_bytes_plus_messages() {
    let mut work = Work::default();
    for _ in 0..4 {
        work.add(12);
    }
    assert_eq!(work.units(), 3 + 4);
    work.add(4096);
    assert_eq!(work.units(), 259 + 5);
}

#[test]
fn thresholds_follow_the_attacker_advantage() {
    let at = |advantage| Thresholds::for_advantage(advantage).unwrap();
    assert_eq!(at(DEFAULT_ADVANTAGE), Thresholds::default());
    assert_eq!(at(60), Thresholds { lower: 23_296_003_999, upper: 24_296_003_999 });
    assert_eq!((at(50).upper, at(65).upper), (777_472_127_993, u32::MAX.into()));
    for outside in [0, 49, 66, u32::MAX] {
        assert_eq!(Thresholds::for_advantage(outside), Err(AdvantageError(outside)));
    }
}

#[test]
fn one_bit_of_advantage_costs_a_factor_of_root_two() {
    for (advantage, pair) in ADVANTAGES.zip(UPPER.windows(2)) {
        let ratio = pair[0] as f64 / pair[1] as f64;
        assert!((ratio - 2f64.sqrt()).abs() < 1e-3, "{advantage}: {ratio}");
    }
}

#[test]
fn at_the_default_a_key_seals_388_gb_and_372_gb_before_it_is_asked() {
    let gigabytes = |units: u64| units as f64 * 16.0 / 1e9;
    let thresholds = Thresholds::default();
    assert!((gigabytes(thresholds.upper) - 388.7).abs() < 0.1);
    assert!((gigabytes(thresholds.lower) - 372.7).abs() < 0.1);
    // Messages of 4 KiB add one unit to each 256.
    let messages = thresholds.upper / 257;
    assert!((messages as f64 * 4096.0 / 1e9 - 387.2).abs() < 0.1);
}
