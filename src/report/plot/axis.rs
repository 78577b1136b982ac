//! From values to places, and where a grid has its lines.

/// From values to places between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    pub low: f64,
    pub high: f64,
    /// Whether equal ratios, not equal differences, take equal room.
    pub logarithmic: bool,
    /// Whether its values are whole, and so its ticks.
    pub whole: bool,
}

/// Greatest over least value from which on an axis is logarithmic.
const WIDE: f64 = 16.0;
/// Lines of a grid at most.
const MOST: usize = 8;
/// A lower end may make lines fewer, and so the first one higher again: so often it goes down.
const TRIES: usize = 3;

impl Axis {
    /// From the least to the greatest of some values. A logarithmic one has none that are not positive.
    pub fn over(values: impl Iterator<Item = f64> + Clone, logarithmic: bool) -> Self {
        let mut usable = values.filter(|value| value.is_finite() && (!logarithmic || *value > 0.0));
        let mut low = usable.clone().fold(f64::INFINITY, f64::min);
        let mut high = usable.clone().fold(f64::NEG_INFINITY, f64::max);
        let whole = usable.all(|value| value.fract() == 0.0);
        if low > high {
            (low, high) = (1.0, 10.0)
        }
        Self { low, high, logarithmic, whole }
    }

    /// One for these values: logarithmic if the positive ones differ much, else even. A logarithmic one has no place for zero; one that
    /// has to place all of them is even where there is a zero.
    pub fn suited(values: &[f64], all: bool) -> Self {
        let positive = values.iter().copied().filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) =
            positive.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        let negative = values.iter().any(|value| *value < 0.0);
        let logarithmic = high >= low * WIDE && !negative && !(all && values.contains(&0.0));
        Self::over(values.iter().copied(), logarithmic)
    }

    /// One for these values, which goes down to a tick where most values would lie below the first.
    pub fn reaching(values: &[f64], all: bool, bytes: bool) -> Self {
        let mut axis = Self::suited(values, all);
        let placed = values.iter().filter(|value| axis.has(**value)).count();
        for _ in 0..if axis.logarithmic { TRIES } else { 0 } {
            let ticks = axis.ticks(bytes);
            let (Some(first), Some(second)) = (ticks.first(), ticks.get(1)) else { break };
            let below = values.iter().filter(|value| axis.has(**value) && **value < *first).count();
            if 2 * below <= placed {
                break;
            }
            // As far below the first as the second is above it, and at least from 5 to 2.
            axis.low = first / (second / first).max(2.5);
        }
        axis
    }

    /// The same, from zero if it is even.
    pub fn from_zero(self) -> Self {
        if self.logarithmic { self } else { Self { low: self.low.min(0.0), high: self.high.max(0.0), ..self } }
    }

    /// Where a value is: 0 at the low end, 1 at the high one. An axis of one value has it in the middle.
    pub fn place(&self, value: f64) -> f64 {
        let scaled = |value: f64| if self.logarithmic { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let span = scaled(self.high) - scaled(self.low);
        if span > 0.0 { ((scaled(value) - scaled(self.low)) / span).clamp(0.0, 1.0) } else { 0.5 }
    }

    pub fn has(&self, value: f64) -> bool {
        value.is_finite() && (!self.logarithmic || value > 0.0)
    }

    /// Values at which a grid has a line: few and round ones. Those of bytes are powers of two.
    pub fn ticks(&self, bytes: bool) -> Vec<f64> {
        if self.high <= self.low {
            return vec![self.low];
        }
        match (self.logarithmic, bytes) {
            (true, true) => self.powers(2.0),
            (true, false) if self.high >= self.low * 100.0 => self.decades(),
            (true, false) => self.powers(2.0),
            (false, true) => self.even(2.0),
            (false, false) => self.even(10.0),
        }
    }

    /// The same with their names: three digits, and as many more as tell them apart.
    pub fn named(&self, bytes: bool) -> Vec<(f64, String)> {
        let ticks = self.ticks(bytes);
        let all = |digits: i32| ticks.iter().map(|value| rounded(*value, digits, bytes)).collect::<Vec<_>>();
        let differ = |names: &Vec<String>| names.windows(2).all(|pair| pair[0] != pair[1]);
        let names = (3..=17).map(all).find(differ).unwrap_or_else(|| all(3));
        ticks.iter().copied().zip(names).collect()
    }

    /// Powers of a base, as many apart as keeps them few.
    fn powers(&self, base: f64) -> Vec<f64> {
        let (first, last) = ((self.low.log(base) - 1e-9).ceil() as i32, (self.high.log(base) + 1e-9).floor() as i32);
        let count = usize::try_from(last - first + 1).unwrap_or(0);
        let step = count.div_ceil(MOST).max(1);
        // Those of a step of its own begin at a multiple of it, so that panels of one study agree.
        let begin = first + (-first).rem_euclid(step as i32);
        let powers: Vec<f64> = (begin..=last).step_by(step).map(|power| base.powi(power)).collect();
        if powers.len() > 1 { powers } else { vec![self.low, self.high] }
    }

    /// Powers of ten, with 2 and 5 times each where these are few as well.
    fn decades(&self) -> Vec<f64> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let inside = |value: &f64| (self.low * (1.0 - 1e-9)..=self.high * (1.0 + 1e-9)).contains(value);
        let few = (first..=last).take(MOST).flat_map(|power| [1.0, 2.0, 5.0].map(|times| times * 10_f64.powi(power)));
        let few: Vec<f64> = few.filter(inside).collect();
        if last - first < MOST as i32 && few.len() <= MOST { few } else { self.powers(10.0) }
    }

    /// Multiples of a round step: 1, 2 or 5 times a power of ten, or a power of two.
    fn even(&self, base: f64) -> Vec<f64> {
        let rough = (self.high - self.low) / 6.0;
        let power = base.powf(rough.log(base).floor());
        let multiples: &[f64] = if base == 2.0 { &[1.0, 2.0] } else { &[1.0, 2.0, 5.0, 10.0] };
        let step = multiples.iter().map(|times| times * power).find(|step| *step >= rough).unwrap_or(rough);
        let step = if self.whole { step.max(1.0) } else { step };
        let first = (self.low / step - 1e-9).ceil();
        let values = (0..=MOST).map(|n| (first + n as f64) * step);
        values.filter(|value| *value <= self.high + step * 0.001).collect()
    }
}

/// A figure with three digits: `0.00292`, `43`, `2 MiB` for bytes.
pub fn tick(value: f64, bytes: bool) -> String {
    rounded(value, 3, bytes)
}

fn rounded(value: f64, keep: i32, bytes: bool) -> String {
    if bytes && value >= 1.0 && value < u64::MAX as f64 {
        return crate::units::Bytes(value as u64).to_string();
    }
    let digits = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
    let decimals = (keep - 1 - digits).clamp(0, 17) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_axis_without_extent_has_its_value_in_the_middle() {
        assert_eq!(Axis::over([5.0].into_iter(), true).place(5.0), 0.5);
        assert!((Axis::over([1.0, 100.0].into_iter(), true).place(10.0) - 0.5).abs() < 1e-12);
        assert_eq!(Axis::over(std::iter::empty(), true).place(1.0), 0.0);
    }

    #[test]
    fn ticks_have_three_digits() {
        assert_eq!(
            [0.002_916, 43.037, 2653.4, 0.0, 1.0].map(|value| tick(value, false)),
            ["0.00292", "43", "2653", "0", "1"]
        );
        assert_eq!(tick(2_097_152.0, true), "2 MiB");
    }

    #[test]
    fn grids_have_a_few_round_lines_on_any_axis_and_none_outside() {
        for values in
            [[0.0, 48.7], [823.0, 1288.0], [1.0, 132.0], [1024.0, 1_048_576.0], [5.0, 5.0], [0.0, 0.0], [1e-9, 1e12]]
        {
            for (bytes, all) in [(false, false), (false, true), (true, false), (true, true)] {
                let axis = Axis::suited(&values, all);
                let ticks = axis.ticks(bytes);
                assert!((1..=9).contains(&ticks.len()), "{values:?}: {ticks:?}");
                let inside = |tick: &f64| *tick >= axis.low * 0.999 - 1e-9 && *tick <= axis.high * 1.001 + 1e-9;
                assert!(ticks.iter().all(inside), "{axis:?}: {ticks:?}");
            }
        }
        assert_eq!(Axis::suited(&[0.0, 48.7], false).ticks(false), [0.0, 10.0, 20.0, 30.0, 40.0]);
        assert_eq!(Axis::suited(&[1024.0, 1_048_576.0], false).ticks(true)[..2], [1024.0, 4096.0]);
    }

    #[test]
    fn ticks_of_counts_are_whole() {
        assert_eq!(Axis::suited(&[0.0, 2.0], false).ticks(false), [0.0, 1.0, 2.0]);
        assert!(Axis::suited(&[0.0, 2.5], false).ticks(false).contains(&0.5));
    }

    proptest! {
        #[test]
        fn names_of_ticks_differ(low in -1e6..1e6_f64, over in 1e-6..1e3_f64) {
            let names = Axis::over([low, low + over].into_iter(), false).named(false);
            prop_assert!(names.windows(2).all(|pair| pair[0].1 != pair[1].1), "{:?}", names);
        }

        #[test]
        fn half_of_the_values_of_a_logarithmic_axis_lie_at_its_first_tick_or_above(
            cluster in prop::collection::vec(1.0..9.9_f64, 2..40), outlier in 2..16, down in -12..6, bytes in any::<bool>(),
        ) {
            let scale = if bytes { 1.0 } else { 10_f64.powi(down) };
            let mut values: Vec<f64> = cluster.iter().map(|value| value * scale).collect();
            values.push(10_f64.powi(outlier) * scale);
            let axis = Axis::reaching(&values, true, bytes);
            let ticks = axis.ticks(bytes);
            let below = values.iter().filter(|value| **value < ticks[0] * (1.0 - 1e-9)).count();
            prop_assert!(!axis.logarithmic || 2 * below <= values.len(), "{:?} {:?}", axis, ticks);
            prop_assert!((2..=9).contains(&ticks.len()), "{:?}", ticks);
            prop_assert!(values.iter().all(|value| axis.low <= *value && *value <= axis.high));
            prop_assert!(ticks.iter().all(|tick| *tick >= axis.low * 0.999 && *tick <= axis.high * 1.001), "{:?} {:?}", axis, ticks);
        }
    }

    #[test]
    fn no_logarithmic_axis_has_a_place_for_zero() {
        let axis = Axis::suited(&[0.0, 1.0, 100.0], false);
        assert!(axis.logarithmic && !axis.has(0.0) && axis.low == 1.0);
        assert!(axis.ticks(false).iter().all(|tick| *tick > 0.0));
        assert!(!Axis::suited(&[0.0, 1.0, 100.0], true).logarithmic);
    }
}
