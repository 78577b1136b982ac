//! What ended last, out of what had ended by some date.

use super::Ns;

/// A date in the replay, and the same in the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Both {
    pub played: Ns,
    pub traced: Ns,
}

impl Both {
    pub fn join(&mut self, other: Self) {
        self.played = self.played.max(other.played);
        self.traced = self.traced.max(other.traced);
    }
}

/// The latest date of those that are in so far, up to a rank. Both putting one in and asking take the logarithm of their number: a Fenwick tree of maxima, each
/// later by one: 0 is where none is in.
#[derive(Debug, Clone, Default)]
pub(super) struct Latest(Vec<Ns>);

impl Latest {
    pub fn new(count: usize) -> Self {
        Self(vec![0; count])
    }

    /// Puts in the one of a rank, from 0.
    pub fn put(&mut self, rank: u32, date: Ns) {
        let mut place = rank as usize + 1;
        while let Some(node) = self.0.get_mut(place - 1) {
            *node = date.saturating_add(1).max(*node);
            place += place & place.wrapping_neg();
        }
    }

    /// The latest of those with ranks below `count`, if any of them is in.
    pub fn below(&self, count: u32) -> Option<Ns> {
        let (mut place, mut latest) = ((count as usize).min(self.0.len()), 0);
        while place > 0 {
            latest = self.0[place - 1].max(latest);
            place &= place - 1;
        }
        latest.checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_greatest_of_those_that_are_in(dates in prop::collection::vec((0_u32..50, 0_u64..1000), 0..80)) {
            let mut latest = Latest::new(50);
            for (known, (rank, date)) in dates.iter().enumerate() {
                latest.put(*rank, *date);
                for count in 0..=50 {
                    let below = || dates[..=known].iter().filter(|(rank, _)| *rank < count);
                    prop_assert_eq!(latest.below(count), below().map(|(_, date)| *date).max());
                }
            }
        }
    }
}
