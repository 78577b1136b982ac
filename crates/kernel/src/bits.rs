//! A set of small numbers that the ends of channels change through a shared reference.

use std::cell::Cell;

/// Numbers below `64 * 64`, by bit. An empty set costs one look.
#[derive(Debug)]
pub(super) struct Bits {
    /// Which words are not zero.
    summary: Cell<u64>,
    words: Box<[Cell<u64>]>,
}

impl Bits {
    const WORD: usize = 64;
    pub const MOST: usize = Self::WORD * Self::WORD;

    /// The empty set of numbers below `count`, at most [`Self::MOST`].
    pub fn below(count: usize) -> Self {
        debug_assert!(count <= Self::MOST);
        Self { summary: Cell::new(0), words: vec![Cell::new(0); count.div_ceil(Self::WORD)].into() }
    }

    #[inline(always)]
    pub fn add(&self, number: usize) {
        let place = number / Self::WORD;
        if let Some(word) = self.words.get(place) {
            word.set(word.get() | 1 << (number % Self::WORD));
            self.summary.set(self.summary.get() | 1 << place);
        }
    }

    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.summary.get() == 0
    }

    #[inline(always)]
    pub fn pop(&self) -> Option<usize> {
        let summary = self.summary.get();
        let place = summary.trailing_zeros() as usize;
        let cell = self.words.get(place)?;
        let word = cell.get();
        let rest = word & word.wrapping_sub(1);
        cell.set(rest);
        if rest == 0 {
            self.summary.set(summary & (summary - 1));
        }
        Some(place * Self::WORD + word.trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_holds_what_was_added_once(numbers in prop::collection::vec(0..Bits::MOST, 0..50)) {
            let bits = Bits::below(Bits::MOST);
            numbers.iter().for_each(|&number| bits.add(number));
            prop_assert_eq!(bits.is_empty(), numbers.is_empty());
            let taken: Vec<_> = std::iter::from_fn(|| bits.pop()).collect();
            prop_assert_eq!(taken, numbers.into_iter().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>());
            prop_assert!(bits.is_empty());
        }
    }
}
