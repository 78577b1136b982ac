//! Sizes that a profiler prints rounded.
//!
//! Nsight Systems prints megabytes with three decimals, so that 12 B is `0.000`. The throughput next to it says more: it is the exact size
//! times a whole number, one second divided by the duration with what is left over dropped.
//!
//! ```text
//!  16.777 MB     -> 16,776,500 .. 16,777,500 B
//!  2868.904 MB/s -> 2,868,903,500 .. 2,868,904,500 B/s  / (1e9 / 5,815,253 = 171)  -> 16,777,214 .. 16,777,219 B
//! ```

/// A second, ns.
const SECOND: u64 = 1_000_000_000;

/// Bytes per second that no machine moves.
pub(super) const MOST_RATE: u64 = 1_000_000_000_000_000;

/// How far apart size and throughput may be without contradicting each other.
const ALIKE: f64 = 0.01;

/// A number as it is printed, in bytes or bytes per second, and half of its last digit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Printed {
    pub value: f64,
    pub half: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub bytes: u64,
    /// How far off it can be, bytes.
    pub off_by: u64,
}

/// The size of an operation of which size or throughput is printed. Of the sizes that print alike it is the roundest: a
/// multiple of the largest power of two or of ten. `None`: nothing is printed, or size and throughput contradict each other.
pub(super) fn size(size: Option<Printed>, rate: Option<Printed>, duration_ns: u64) -> Option<Size> {
    let sizes = size.map_or(Some((0, u64::MAX)), |size| range(size, 1.0))?;
    let Some(rate) = rate.filter(|_| duration_ns > 0) else {
        return size.map(|_| roundest(sizes).1);
    };
    // Other versions may keep what the first drops. Where both fit, sizes are rather round than not.
    let per_second = [(SECOND / duration_ns) as f64, SECOND as f64 / duration_ns as f64];
    let by_rate = per_second.into_iter().filter(|times| *times > 0.0).filter_map(|times| range(rate, times));
    let agreeing: Vec<_> = by_rate.filter_map(|range| both(range, sizes)).collect();
    let best = agreeing.iter().map(|range| roundest(*range));
    let best = best.reduce(|one, other| if other.0 > one.0 { other } else { one });
    match (best, size) {
        (Some((_, size)), _) => {
            // It may be a size of the other way.
            let off_by = agreeing.iter().map(|range| furthest(size.bytes, *range)).max().unwrap_or(0);
            Some(Size { off_by, ..size })
        }
        // Versions may round the throughput in yet another way; the size still holds.
        (None, Some(size)) if alike(size, rate, duration_ns) => Some(roundest(sizes).1),
        (None, _) => None,
    }
}

/// Whether a throughput is nearly that of a size.
fn alike(size: Printed, rate: Printed, duration_ns: u64) -> bool {
    let by_rate = rate.value / SECOND as f64 * duration_ns as f64;
    (by_rate - size.value).abs() <= size.value * ALIKE
}

/// The whole numbers that print as `printed` once multiplied by `times`.
fn range(printed: Printed, times: f64) -> Option<(u64, u64)> {
    let slack = printed.value * 1e-12;
    let least = ((printed.value - printed.half - slack) / times).ceil().max(0.0);
    let most = ((printed.value + printed.half + slack) / times).floor();
    (least <= most).then_some((least as u64, most as u64))
}

fn both(one: (u64, u64), other: (u64, u64)) -> Option<(u64, u64)> {
    let (least, most) = (one.0.max(other.0), one.1.min(other.1));
    (least <= most).then_some((least, most))
}

/// The roundest size of a range, and the power of two or ten that makes it so.
fn roundest((least, most): (u64, u64)) -> (u64, Size) {
    // An operation on nothing is not recorded.
    let least = if most > 0 { least.max(1) } else { least };
    let multiple = |unit: u64| least.div_ceil(unit).checked_mul(unit).filter(|bytes| *bytes <= most);
    let mut binary = (0..63).rev().map(|power| 1 << power);
    let mut decimal = (0..19).rev().map(|power| 10_u64.pow(power));
    // The first multiple of each kind, with its unit.
    let binary = binary.find_map(|unit| Some((unit, multiple(unit)?)));
    let decimal = decimal.find_map(|unit| Some((unit, multiple(unit)?)));
    let (unit, bytes) = binary.max(decimal).unwrap_or((1, least));
    (unit, Size { bytes, off_by: furthest(bytes, (least, most)) })
}

fn furthest(bytes: u64, (least, most): (u64, u64)) -> u64 {
    bytes.abs_diff(least).max(bytes.abs_diff(most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn megabytes(value: f64) -> Printed {
        Printed { value: value * 1e6, half: 500.0 }
    }

    #[test]
    fn throughput_says_what_the_size_does_not() {
        let read = |mb, rate, ns| size(Some(megabytes(mb)), Some(megabytes(rate)), ns).unwrap();
        assert_eq!(read(0.0, 6.944, 1728), Size { bytes: 12, off_by: 0 });
        assert_eq!(read(0.164, 29_936.026, 5473), Size { bytes: 163_840, off_by: 0 });
        assert_eq!(read(4.0, 3720.0, 1_074_195).bytes, 4_000_000);
        assert_eq!(read(16.777, 2868.904, 5_815_253).bytes, 1 << 24);
        assert!(read(67.109, 2550.137, 25_680_752).off_by <= 20);
    }

    #[test]
    fn without_throughput_the_roundest_size_that_prints_alike_is_taken() {
        let read = |mb| size(Some(megabytes(mb)), None, 0).unwrap();
        assert_eq!([read(16.777).bytes, read(8.389).bytes, read(0.0).bytes], [1 << 24, 1 << 23, 256]);
        assert_eq!(read(4.0), Size { bytes: 4_000_000, off_by: 500 });
        assert_eq!(size(Some(megabytes(100.0)), Some(megabytes(100_500.0)), 1_000_000).unwrap().bytes, 100_000_000);
        assert_eq!(size(Some(megabytes(100.0)), Some(megabytes(102_000.0)), 1_000_000), None);
        assert_eq!(size(None, None, 5), None);
        assert_eq!(size(Some(megabytes(0.0)), Some(megabytes(9000.0)), 1_000_000), None);
        assert_eq!(size(Some(Printed { value: 12.0, half: 0.5 }), None, 0), Some(Size { bytes: 12, off_by: 0 }));
    }

    #[test]
    fn of_two_ways_to_compute_a_throughput_the_one_of_the_rounder_size_is_taken() {
        let ns = 1_500_000;
        for per_second in [(SECOND / ns) as f64, SECOND as f64 / ns as f64] {
            let rate = (65_536.0 * per_second / 1000.0).round() / 1000.0;
            assert_eq!(size(Some(megabytes(0.066)), Some(megabytes(rate)), ns).unwrap().bytes, 65_536);
        }
    }

    proptest! {
        #[test]
        fn sizes_are_as_near_as_they_say(bytes in 1_u64..1 << 40, ns in 1_u64..1_000_000) {
            let rate = bytes as f64 * (SECOND / ns) as f64;
            let round = |value: f64| Printed { value: (value / 1000.0).round() * 1000.0, half: 500.0 };
            let read = size(Some(round(bytes as f64)), Some(round(rate)), ns).unwrap();
            prop_assert!(read.bytes.abs_diff(bytes) <= read.off_by);
        }

        #[test]
        fn any_numbers_are_read_or_refused(a: f64, b: f64, c: f64, d: f64, ns: u64) {
            let _ = size(Some(Printed { value: a, half: b }), Some(Printed { value: c, half: d }), ns);
        }
    }
}
