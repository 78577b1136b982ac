//! What ended last, out of what had ended by some date.

use super::Ns;

/// A date in the replay, and the same in the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Both {
    pub played: Ns,
    pub traced: Ns,
}

impl Both {
    /// The later of each.
    pub fn join(&mut self, other: Self) {
        self.played = self.played.max(other.played);
        self.traced = self.traced.max(other.traced);
    }
}

/// The latest dates of those that are in so far, up to a rank. Both putting one in and asking take the logarithm of their number: a Fenwick tree of maxima.
#[derive(Debug, Clone, Default)]
pub(super) struct Latest(Vec<Both>);

/// In the place of what is not in.
const NONE: Both = Both { played: Ns::MAX, traced: Ns::MAX };

impl Latest {
    pub fn new(count: usize) -> Self {
        Self(vec![NONE; count])
    }

    /// Puts in the one of a rank, from 0.
    pub fn put(&mut self, rank: u32, date: Both) {
        let mut place = rank as usize + 1;
        while let Some(node) = self.0.get_mut(place - 1) {
            if *node == NONE {
                *node = date
            } else {
                node.join(date)
            }
            place += place & place.wrapping_neg();
        }
    }

    /// The latest of those with ranks below `count`, if any of them is in.
    pub fn below(&self, count: u32) -> Option<Both> {
        let (mut place, mut latest) = ((count as usize).min(self.0.len()), None::<Both>);
        while place > 0 {
            let date = self.0[place - 1];
            if date != NONE {
                latest.get_or_insert_default().join(date);
            }
            place &= place - 1;
        }
        latest
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
                latest.put(*rank, Both { played: *date, traced: 1000 - *date });
                for count in 0..=50 {
                    let below = || dates[..=known].iter().filter(|(rank, _)| *rank < count);
                    let played = below().map(|(_, date)| *date).max();
                    let traced = below().map(|(_, date)| 1000 - *date).max();
                    let expected = played.zip(traced).map(|(played, traced)| Both { played, traced });
                    prop_assert_eq!(latest.below(count), expected);
                }
            }
        }
    }
}
