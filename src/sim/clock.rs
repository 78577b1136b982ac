//! A clock domain's edges on the global femtosecond axis.
//!
//! Edge n of a clock of f Hz is at ceil(n x 10^15 / f) femtoseconds, so two clocks never drift by rounding.

use crate::units::{Femtos, Frequency};
use thiserror::Error;

/// Femtoseconds in a second.
const SECOND: u64 = 1_000_000_000_000_000;

/// A frequency that no clock can have.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("a clock of {frequency} cannot be simulated: it must lie between 1 kHz and 1 THz")]
pub struct ClockError {
    /// The frequency.
    pub frequency: Frequency,
}

/// Division by a number that does not change: a multiplication by its reciprocal and one correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Divisor {
    value: u64,
    reciprocal: u64,
}

impl Divisor {
    const fn new(value: u64) -> Self {
        Self { value, reciprocal: u64::MAX / value }
    }

    /// Quotient and remainder. The estimate is at most two too small.
    #[inline]
    const fn divide(self, number: u64) -> (u64, u64) {
        let mut quotient = ((number as u128 * self.reciprocal as u128) >> 64) as u64;
        let mut rest = number - quotient * self.value;
        while rest >= self.value {
            quotient += 1;
            rest -= self.value;
        }
        (quotient, rest)
    }
}

/// A clock: a period of `period / edges` femtoseconds in lowest terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    frequency: Frequency,
    /// Femtoseconds after which the pattern of edges repeats.
    period: Divisor,
    /// Edges in that time.
    edges: Divisor,
}

/// A moment as a unit sees it: the edge of its clock and the global time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Number of the edge.
    pub cycle: u64,
    /// Its date.
    pub time: Femtos,
}

impl Clock {
    /// A clock of the given frequency.
    ///
    /// # Errors
    /// If the frequency lies outside 1 kHz to 1 THz.
    pub fn new(frequency: Frequency) -> Result<Self, ClockError> {
        if !(1_000..=1_000_000_000_000).contains(&frequency.0) {
            return Err(ClockError { frequency });
        }
        let common = greatest_common_divisor(SECOND, frequency.0);
        Ok(Self { frequency, period: Divisor::new(SECOND / common), edges: Divisor::new(frequency.0 / common) })
    }

    /// The frequency.
    #[must_use]
    pub const fn frequency(&self) -> Frequency {
        self.frequency
    }

    /// Date of edge `cycle`; [`Femtos::MAX`] if that is out of range.
    #[must_use]
    #[inline]
    pub fn edge(&self, cycle: u64) -> Femtos {
        if self.edges.value == 1 {
            return Femtos(cycle.saturating_mul(self.period.value));
        }
        let (turns, rest) = self.edges.divide(cycle);
        let within = multiply_divide(rest, self.period.value, self.edges, self.edges.value - 1);
        Femtos(turns.saturating_mul(self.period.value).saturating_add(within))
    }

    /// Number of the first edge strictly after `time`.
    #[must_use]
    #[inline]
    pub fn first_after(&self, time: Femtos) -> u64 {
        let (turns, rest) = self.period.divide(time.0);
        if self.edges.value == 1 {
            return turns + 1;
        }
        (turns * self.edges.value).saturating_add(multiply_divide(rest, self.edges.value, self.period, 0)) + 1
    }

    /// Number of the first edge at or after `time`.
    #[must_use]
    #[inline]
    pub fn first_from(&self, time: Femtos) -> u64 {
        if time.0 == 0 { 0 } else { self.first_after(Femtos(time.0 - 1)) }
    }

    /// Whole cycles that a duration takes, rounded up.
    #[must_use]
    pub fn cycles_in(&self, duration: Femtos) -> u64 {
        self.first_from(duration)
    }
}

/// (a x b + add) / c, rounded down, where the result fits.
#[inline]
fn multiply_divide(a: u64, b: u64, c: Divisor, add: u64) -> u64 {
    match a.checked_mul(b).and_then(|product| product.checked_add(add)) {
        Some(product) => c.divide(product).0,
        None => ((u128::from(a) * u128::from(b) + u128::from(add)) / u128::from(c.value)) as u64,
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
        fn a_division_by_the_reciprocal_is_a_division(number in any::<u64>(), value in 1u64.., small in 1u64..1000) {
            for value in [value, small] {
                prop_assert_eq!(Divisor::new(value).divide(number), (number / value, number % value));
            }
        }
    }

    #[test]
    fn a_frequency_of_zero_is_refused() {
        assert!(Clock::new(Frequency(0)).is_err());
    }
}
