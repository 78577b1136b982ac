//! A clock domain's edges on the global femtosecond axis.
//!
//! Edge n of a clock of f Hz is at ceil(n x 10^15 / f) femtoseconds, so two clocks never drift by rounding.

use crate::units::{Femtos, Frequency};
use thiserror::Error;

/// Femtoseconds in a second.
const SECOND: u64 = 1_000_000_000_000_000;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("a clock of {frequency} cannot be simulated: it must lie between 1 kHz and 1 THz")]
pub struct ClockError {
    pub frequency: Frequency,
}

/// Multiplication by numerator / denominator and rounding, up or down, without a division.
///
/// What is below one of the factor is kept as `fraction` / 2^`shift`, cut off, so that less than n / 2^`shift` is missing from a product.
/// Products are multiples of 1 / denominator; half of that is added before they are rounded down. So the result is exact as long as no more
/// is missing than that half: for n below `limit`. Beyond it, [`Scale::of`] divides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Scale {
    whole: u64,
    fraction: u64,
    add: u128,
    /// `shift` less the 64 of a word.
    beyond_word: u32,
    limit: u64,
    numerator: u64,
    denominator: u64,
    up: bool,
}

impl Scale {
    const BITS: u32 = 64;

    /// From a numerator and a denominator of at most 2^50 each.
    const fn new(numerator: u64, denominator: u64, up: bool) -> Self {
        let (whole, rest) = (numerator / denominator, numerator % denominator);
        // A fraction far below one has as many bits more behind the point.
        let extra = match (denominator - 1).checked_div(rest) {
            Some(ratio) if ratio > 1 => ratio.ilog2(),
            _ => 0,
        };
        let shift = Self::BITS + extra;
        let divisor = denominator as u128;
        let (high, low) = (((rest as u128) << Self::BITS) / divisor, ((rest as u128) << Self::BITS) % divisor);
        let fraction = (high << extra) + (low << extra) / divisor;
        let one = 1u128 << shift;
        let half_step = one / (2 * divisor);
        let limit = u64::MAX / (whole + 1);
        let limit = if half_step < limit as u128 { half_step as u64 } else { limit };
        Self {
            whole,
            fraction: fraction as u64,
            add: if up { one - half_step - 1 } else { half_step },
            beyond_word: extra,
            limit: if limit < 1 << 63 { limit } else { 1 << 63 },
            numerator,
            denominator,
            up,
        }
    }

    /// n times the factor, rounded; at most `u64::MAX`.
    #[inline]
    const fn of(&self, n: u64) -> u64 {
        if n < self.limit {
            let sum = n as u128 * self.fraction as u128 + self.add;
            n * self.whole + ((sum >> Self::BITS) as u64 >> self.beyond_word)
        } else {
            self.divide(n)
        }
    }

    #[cold]
    const fn divide(&self, n: u64) -> u64 {
        let add = if self.up { self.denominator - 1 } else { 0 };
        let quotient = (n as u128 * self.numerator as u128 + add as u128) / self.denominator as u128;
        if quotient > u64::MAX as u128 { u64::MAX } else { quotient as u64 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    frequency: Frequency,
    /// From edges to femtoseconds, rounded up.
    dates: Scale,
    /// From femtoseconds to edges that lie at or before them, less one for the first.
    edges: Scale,
}

/// A moment as a unit sees it: the edge of its clock and the global time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Number of the edge.
    pub cycle: u64,
    pub time: Femtos,
}

impl Clock {
    /// A clock of the given frequency.
    pub fn new(frequency: Frequency) -> Result<Self, ClockError> {
        if !(1_000..=1_000_000_000_000).contains(&frequency.0) {
            return Err(ClockError { frequency });
        }
        let common = greatest_common_divisor(SECOND, frequency.0);
        let (period, edges) = (SECOND / common, frequency.0 / common);
        Ok(Self { frequency, dates: Scale::new(period, edges, true), edges: Scale::new(edges, period, false) })
    }

    pub const fn frequency(&self) -> Frequency {
        self.frequency
    }

    /// Date of edge `cycle`; [`Femtos::MAX`] if that is out of range.
    #[inline]
    pub const fn edge(&self, cycle: u64) -> Femtos {
        Femtos(self.dates.of(cycle))
    }

    /// Number of the first edge strictly after `time`.
    #[inline(always)]
    pub const fn first_after(&self, time: Femtos) -> u64 {
        self.edges.of(time.0).saturating_add(1)
    }

    /// Number of the first edge at or after `time`.
    #[inline]
    pub fn first_from(&self, time: Femtos) -> u64 {
        if time.0 == 0 { 0 } else { self.first_after(Femtos(time.0 - 1)) }
    }

    /// Whole cycles that a duration takes, rounded up.
    pub fn cycles_in(&self, duration: Femtos) -> u64 {
        self.first_from(duration)
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_edge_is_the_ceiling_of_n_periods(hz in 1_000u64..=1_000_000_000_000, n in 0u64..1 << 40) {
            let clock = Clock::new(Frequency(hz)).unwrap();
            let exact = (u128::from(n) * u128::from(SECOND)).div_ceil(u128::from(hz));
            let expected = u64::try_from(exact).unwrap_or(u64::MAX);
            prop_assert_eq!(clock.edge(n), Femtos(expected));
        }

        #[test]
        fn the_first_edge_after_an_edge_is_the_next(hz in 1_000u64..=1_000_000_000_000, n in 0u64..1 << 30) {
            let clock = Clock::new(Frequency(hz)).unwrap();
            prop_assume!(clock.edge(n + 1) < Femtos::MAX);
            prop_assert_eq!(clock.first_after(clock.edge(n)), n + 1);
            prop_assert_eq!(clock.first_from(clock.edge(n)), n);
            prop_assert_eq!(clock.first_from(Femtos(clock.edge(n).0 + 1)), n + 1);
        }
    }

    proptest! {
        #[test]
        fn a_scale_gives_what_a_division_gives(
            numerator in 1u64..1 << 50,
            denominator in 1u64..1 << 50,
            small in 1u64..2000,
            n in any::<u64>(),
            near in 0u64..1000,
            up in any::<bool>(),
        ) {
            for (numerator, denominator) in [(numerator, denominator), (numerator, small), (small, denominator), (small, 1)] {
                let scale = Scale::new(numerator, denominator, up);
                for n in [n, n >> 20, n >> 40, near, scale.limit.saturating_sub(near + 1), scale.limit.saturating_add(near)] {
                    prop_assert_eq!(scale.of(n), scale.divide(n), "{:?} of {}", scale, n);
                }
            }
        }
    }

    #[test]
    fn a_frequency_of_zero_is_refused() {
        assert!(Clock::new(Frequency(0)).is_err());
    }
}
