//! Points with all parameters varied together, and how they become machines.
//!
//! A value drawn from its own range may contradict others: a buffer too small for a message, a timer shorter than a round trip, a count that
//! is no power of two. It is then moved to the nearest value found that makes a machine with those before it; in the worst case that is the
//! parameter's own.

use super::range::Range;
use super::variant::Variant;
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

/// A value of a range: the range's place, and a number of base units.
pub(in crate::explore) type Setting = (usize, u64);

/// A point that is a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::explore) struct Drawn {
    /// A value of each range.
    pub settings: Vec<Setting>,
    /// Places of the ranges whose value was moved.
    pub moved: Vec<usize>,
    /// Of these, how many went back to the parameter's own value.
    pub own: usize,
}

/// One value of each range per sample; every part of a range, of as many as there are samples, is taken once. What is drawn for a path depends on it
/// and the seed alone, so that designs that set it draw from the same place of their own range.
pub(in crate::explore) fn hypercube(ranges: &[Range], samples: u32, seed: u64) -> Vec<Vec<Setting>> {
    let mut points = vec![Vec::new(); samples as usize];
    for (place, range) in ranges.iter().enumerate() {
        let Some(amounts) = range.amounts() else { continue };
        for (point, part) in points.iter_mut().zip(parts(&range.path, samples, seed)) {
            point.push((place, quantile(amounts, part)));
        }
    }
    points
}

/// A value of each range that a part of its probability lies below; ranges without a part keep their own.
pub(super) fn at(ranges: &[Range], part: impl Fn(&str) -> Option<f64>) -> Vec<Setting> {
    let value = |(place, range): (usize, &Range)| Some((place, quantile(range.amounts()?, part(&range.path)?)));
    ranges.iter().enumerate().filter_map(value).collect()
}

/// The middles of as many equal parts of a probability as there are samples, in an order that the name and the seed give.
pub(in crate::explore) fn parts(name: &str, samples: u32, seed: u64) -> impl Iterator<Item = f64> {
    let digest = Sha256::digest(format!("{seed} {name}"));
    let mut random = ChaCha8Rng::from_seed(digest.into());
    let mut cells: Vec<u32> = (0..samples).collect();
    cells.shuffle(&mut random);
    cells.into_iter().map(move |cell| (f64::from(cell) + 0.5) / f64::from(samples))
}

/// A side of a range that spans more than so many times is drawn by its logarithm.
const BY_LOGARITHM: f64 = 4.0;

/// The value that a part of the probability lies below. The own value is the median: half lies on each side of it, evenly, or evenly by logarithm where the
/// side spans more than [`BY_LOGARITHM`]. A value at an end of its range has all of one half.
fn quantile((own, low, high): (u64, u64, u64), part: f64) -> u64 {
    let (from, to, within) =
        if part < 0.5 { (low.min(own), own, 2.0 * part) } else { (own, high.max(own), 2.0 * part - 1.0) };
    let (from, to) = (from as f64, to as f64);
    let value = if from > 0.0 && to > BY_LOGARITHM * from {
        from * power(to / from, within)
    } else {
        from + (to - from) * within
    };
    value.round() as u64
}

/// A number to a power from 0 to 1, of square roots alone: these are the same on each host.
fn power(of: f64, mut exponent: f64) -> f64 {
    if exponent >= 1.0 {
        return of;
    }
    let (mut root, mut product) = (of, 1.0);
    for _ in 0..40 {
        (root, exponent) = (root.sqrt(), exponent * 2.0);
        if exponent >= 1.0 {
            (product, exponent) = (product * root, exponent - 1.0);
        }
    }
    product
}

/// The settings of a variant: those of its parameters.
pub(in crate::explore) fn of_variant(ranges: &[Range], settings: &[Setting], variant: usize) -> Vec<String> {
    let own = settings.iter().filter(|(place, _)| ranges[*place].applies[variant]);
    own.map(|(place, value)| format!("{}={}", ranges[*place].path, ranges[*place].written(*value))).collect()
}

/// Whether every variant is a machine with these settings.
fn possible(variants: &[Variant], ranges: &[Range], settings: &[Setting]) -> bool {
    variants.iter().enumerate().all(|(place, variant)| variant.base.possible(&of_variant(ranges, settings, place)))
}

/// Makes a point a machine, whatever the variant.
pub(in crate::explore) fn repaired(variants: &[Variant], ranges: &[Range], point: &[Setting]) -> Drawn {
    let (mut settings, mut moved, mut own) = (point.to_vec(), Vec::new(), 0);
    // What is before `good` makes a machine.
    let mut good = 0;
    while !possible(variants, ranges, &settings) {
        // Some value behind a stretch that makes a machine contradicts it.
        let mut bad = settings.len();
        while bad - good > 1 {
            let middle = usize::midpoint(good, bad);
            if possible(variants, ranges, &settings[..middle]) { good = middle } else { bad = middle }
        }
        let (place, wanted) = settings[good];
        let value = nearest(variants, ranges, &settings[..good], (place, wanted));
        settings[good].1 = value;
        moved.push(place);
        own += usize::from(ranges[place].amounts().is_some_and(|(own, ..)| own == value));
        good += 1;
        if good == settings.len() {
            break;
        }
    }
    Drawn { settings, moved, own }
}

/// The value nearest to a wanted one that makes a machine together with `others`, of those that are tried: round ones around it, and the last
/// on the way to the parameter's own value, which always does.
pub(super) fn nearest(variants: &[Variant], ranges: &[Range], others: &[Setting], (place, wanted): Setting) -> u64 {
    let Some((own, low, high)) = ranges[place].amounts() else { return wanted };
    let fits = |value: u64| {
        let mut settings = others.to_vec();
        settings.push((place, value));
        possible(variants, ranges, &settings)
    };
    if fits(wanted) {
        return wanted;
    }
    let mut round: Vec<u64> = [32, 64, 128, 256, 512, 4096, 1 << 20]
        .into_iter()
        .flat_map(|unit| [wanted / unit * unit, wanted.div_ceil(unit).saturating_mul(unit)])
        .chain([wanted.checked_next_power_of_two().unwrap_or(wanted), (wanted / 2 + 1).next_power_of_two()])
        .chain([32, 256, 768])
        .filter(|value| (low..=high).contains(value))
        .collect();
    round.sort_by_key(|value| (value.abs_diff(wanted), *value));
    round.dedup();
    let (mut good, mut bad) = (own, wanted);
    while good.abs_diff(bad) > 1 {
        let middle = u64::midpoint(good, bad);
        if fits(middle) { good = middle } else { bad = middle }
    }
    let nearer = |value: &u64| value.abs_diff(wanted) < good.abs_diff(wanted);
    round.into_iter().take_while(nearer).find(|value| fits(*value)).unwrap_or(good)
}

#[cfg(test)]
mod tests {
    use super::super::range::ranges;
    use super::super::variant::variants;
    use super::*;
    use crate::config::{Kind, Layers};
    use crate::system::Memory;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn range(low: &str, high: &str) -> Range {
        let [path, value, low, high] = ["p", low, low, high].map(str::to_owned);
        Range { path, kind: Kind::Assumed, value, low, high, of: Vec::new(), applies: vec![true] }
    }

    #[test]
    fn each_range_is_cut_into_as_many_parts_as_there_are_samples_and_each_part_is_taken_once() {
        let mut ranges = [range("0 cycles", "100 cycles"), range("10", "20")];
        ranges[0].value = "50 cycles".into();
        let points = hypercube(&ranges, 10, 1);
        assert_eq!(points, hypercube(&ranges, 10, 1));
        assert_ne!(points, hypercube(&ranges, 10, 2));
        let first: BTreeSet<u64> = points.iter().map(|point| point[0].1).collect();
        assert_eq!(first, (0..10).map(|n| 10 * n + 5).collect());
        assert_eq!(of_variant(&ranges, &points[0], 0)[0], format!("p={} cycles", points[0][0].1));
        // Those of a path are the same whatever else is drawn.
        let alone = hypercube(&ranges[..1], 10, 1);
        assert!(points.iter().zip(&alone).all(|(both, one)| both[0] == one[0]));
    }

    proptest! {
        #[test]
        fn the_own_value_is_the_median_of_what_is_drawn(
            mut amounts in prop::array::uniform3(0u64..1 << 40),
            parts in prop::array::uniform2(0.0..1.0f64),
        ) {
            amounts.sort_unstable();
            let [low, own, high] = amounts;
            let at = |part| quantile((own, low, high), part);
            prop_assert_eq!((at(0.0), at(0.5), at(1.0)), (low, own, high));
            let [less, more] = if parts[0] <= parts[1] { parts } else { [parts[1], parts[0]] };
            prop_assert!(low <= at(less) && at(less) <= at(more) && at(more) <= high);
        }

        #[test]
        fn a_power_of_square_roots_is_a_power(of in 1.0..1e6f64, exponent in 0.0..=1.0f64) {
            let ratio = power(of, exponent) / of.powf(exponent);
            prop_assert!((ratio - 1.0).abs() < 1e-9, "{ratio}");
        }
    }

    #[test]
    fn a_wide_side_is_drawn_by_its_logarithm_and_a_narrow_one_evenly() {
        assert_eq!([0.25, 0.75].map(|part| quantile((100, 1, 400), part)), [10, 250]);
        assert_eq!([0.25, 0.75].map(|part| quantile((100, 0, 1_000_000), part)), [50, 10_000]);
        assert_eq!([0.1, 0.49, 0.6].map(|part| quantile((8, 8, 18), part)), [8, 8, 10]);
    }

    #[test]
    fn a_repaired_point_is_a_machine_and_what_was_possible_stays_as_drawn() {
        let designs = ["overlap".to_owned()];
        let variants = variants(&Layers::new("h100-nvl-tdx"), &designs, Memory::Pinned).unwrap();
        let (ranges, _) = ranges(&variants);
        let mut repairs = 0;
        for point in hypercube(&ranges, 6, 3) {
            let drawn = repaired(&variants, &ranges, &point);
            assert!(possible(&variants, &ranges, &drawn.settings));
            for (wanted, got) in point.iter().zip(&drawn.settings) {
                let (_, low, high) = ranges[got.0].amounts().unwrap();
                assert_eq!(wanted.1 != got.1, drawn.moved.contains(&got.0), "{}", ranges[got.0].path);
                assert!((low..=high).contains(&got.1), "{}", ranges[got.0].path);
            }
            repairs += drawn.moved.len();
            // Once repaired, it needs no further repair.
            assert_eq!(repaired(&variants, &ranges, &drawn.settings).moved, Vec::<usize>::new());
        }
        assert!(repairs > 0, "no draw contradicted another");
    }

    #[test]
    fn a_value_that_is_none_moves_to_the_nearest_that_is_one() {
        let variants = variants(&Layers::new("h100-nvl-tdx"), &[], Memory::Pinned).unwrap();
        let mut one = range("100 B", "4 KiB");
        (one.path, one.value) = ("link.max_read_request".into(), "512 B".into());
        let at = |wanted| nearest(&variants, std::slice::from_ref(&one), &[], (0, wanted));
        assert_eq!([at(1024), at(1100), at(1900), at(600), at(101)], [1024, 1024, 2048, 512, 128]);
    }
}
