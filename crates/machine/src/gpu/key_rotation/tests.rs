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
fn at_the_default_a_key_seals_388_gb_and_372_gb_before_it_is_asked() {
    let gigabytes = |units: u64| units as f64 * 16.0 / 1e9;
    let thresholds = Thresholds::default();
    assert_eq!(thresholds, Thresholds { lower: 23_296_003_999, upper: 24_296_003_999 });
    assert!((gigabytes(thresholds.upper) - 388.7).abs() < 0.1);
    assert!((gigabytes(thresholds.lower) - 372.7).abs() < 0.1);
    // Messages of 4 KiB add one unit to each 256.
    let messages = thresholds.upper / 257;
    assert!((messages as f64 * 4096.0 / 1e9 - 387.2).abs() < 0.1);
}
