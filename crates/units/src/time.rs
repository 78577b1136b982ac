//! Arithmetic on times.
//!
//! Operators panic where [`std::time::Duration`]'s do: if a sum, a product or a difference is no time. Whatever follows from what users
//! write takes the checked or the saturating form.

use super::Femtos;
use std::{
    iter::Sum,
    ops::{Add, AddAssign, Mul, Sub, SubAssign},
};

/// What an operator says when there is no such time.
const TOO_LATE: &str = "a time beyond the end of simulated time";
const NEGATIVE: &str = "a time before zero";

impl Femtos {
    /// No time.
    pub const ZERO: Self = Self(0);

    /// The sum; none beyond [`Femtos::MAX`].
    #[must_use]
    #[inline]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// From `other` to `self`; none if `other` is later.
    #[must_use]
    #[inline]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// So many times as long; none beyond [`Femtos::MAX`].
    #[must_use]
    #[inline]
    pub fn checked_mul(self, times: u64) -> Option<Self> {
        self.0.checked_mul(times).map(Self)
    }

    /// The sum, at most [`Femtos::MAX`].
    #[must_use]
    #[inline]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// From `other` to `self`; zero if `other` is later.
    #[must_use]
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// So many times as long, at most [`Femtos::MAX`].
    #[must_use]
    #[inline]
    pub const fn saturating_mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl Add for Femtos {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        self.checked_add(other).expect(TOO_LATE)
    }
}

impl AddAssign for Femtos {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Femtos {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        self.checked_sub(other).expect(NEGATIVE)
    }
}

impl SubAssign for Femtos {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<u64> for Femtos {
    type Output = Self;

    #[inline]
    fn mul(self, times: u64) -> Self {
        self.checked_mul(times).expect(TOO_LATE)
    }
}

impl Sum for Femtos {
    #[inline]
    fn sum<I: Iterator<Item = Self>>(times: I) -> Self {
        times.fold(Self::ZERO, Self::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::panic::catch_unwind;

    proptest! {
        #[test]
        fn times_are_reckoned_as_integers(a in 0..=u64::MAX / 8, b in 0..=u64::MAX / 8, times in 0u64..8) {
            let (early, late) = (Femtos(a.min(b)), Femtos(a.max(b)));
            prop_assert_eq!(early + late, Femtos(a + b));
            prop_assert_eq!(late - early, Femtos(a.abs_diff(b)));
            prop_assert_eq!(early * times, Femtos(a.min(b) * times));
            prop_assert_eq!([early, late, early].into_iter().sum::<Femtos>(), Femtos(a + b + a.min(b)));
            let mut counted = early;
            counted += late;
            counted -= early;
            prop_assert_eq!(counted, late);
        }

        #[test]
        fn the_checked_and_saturating_forms_agree_about_what_is_no_time(a: u64, b: u64) {
            let (a, b) = (Femtos(a), Femtos(b));
            prop_assert_eq!(a.checked_add(b).unwrap_or(Femtos::MAX), a.saturating_add(b));
            prop_assert_eq!(a.checked_sub(b).unwrap_or(Femtos::ZERO), a.saturating_sub(b));
            prop_assert_eq!(a.checked_mul(b.0).unwrap_or(Femtos::MAX), a.saturating_mul(b.0));
            prop_assert_eq!(a.checked_add(b).is_none(), u128::from(a.0) + u128::from(b.0) > u128::from(u64::MAX));
            prop_assert_eq!(a.checked_sub(b).is_none(), a < b);
            prop_assert_eq!(a.checked_mul(b.0).is_none(), u128::from(a.0) * u128::from(b.0) > u128::from(u64::MAX));
        }
    }

    #[test]
    fn an_operator_never_wraps_around_in_any_build() {
        assert!(catch_unwind(|| Femtos::MAX + Femtos(1)).is_err());
        assert!(catch_unwind(|| Femtos(1) - Femtos(2)).is_err());
        assert!(catch_unwind(|| Femtos::MAX * 2).is_err());
        assert!(catch_unwind(|| [Femtos::MAX, Femtos(1)].into_iter().sum::<Femtos>()).is_err());
    }
}
