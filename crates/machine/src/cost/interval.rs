//! A value that is known between two bounds.

use serde::Serialize;
use std::ops::{Add, Mul};

/// From `low` to `high`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Interval {
    /// The least that it may be.
    pub low: f64,
    pub high: f64,
}

impl Interval {
    pub const fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    /// A value without a stated uncertainty.
    pub const fn exact(value: f64) -> Self {
        Self { low: value, high: value }
    }

    /// A value that may be off by this part of it either way.
    pub const fn around(value: f64, part: f64) -> Self {
        Self { low: value * (1.0 - part), high: value * (1.0 + part) }
    }

    /// The least interval that holds both.
    pub const fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    pub const fn middle(self) -> f64 {
        f64::midpoint(self.low, self.high)
    }

    pub fn holds(self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

impl Add for Interval {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { low: self.low + other.low, high: self.high + other.high }
    }
}

/// By a count or a factor that is not negative.
impl Mul<f64> for Interval {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self { low: self.low * factor, high: self.high * factor }
    }
}

impl std::iter::Sum for Interval {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_multiples_keep_the_bounds_in_order() {
        let sum: Interval = [Interval::new(1.0, 2.0), Interval::exact(3.0) * 2.0].into_iter().sum();
        assert_eq!(sum, Interval::new(7.0, 8.0));
        assert_eq!(sum.middle(), 7.5);
        assert!(sum.holds(7.0) && !sum.holds(8.1));
        assert_eq!(Interval::exact(1.0).hull(Interval::new(4.0, 5.0)), Interval::new(1.0, 5.0));
    }
}
