//! The operations of a call: of most calls one, which then takes no memory of its own.

use std::ops::{Deref, DerefMut};

#[derive(Debug, Clone)]
pub struct Ops(Held);

#[derive(Debug, Clone)]
enum Held {
    Few(u32, [u32; 1]),
    #[expect(clippy::box_collection, reason = "a million calls are a third shorter")]
    Many(Box<Vec<u32>>),
}

impl Default for Ops {
    fn default() -> Self {
        Self(Held::Few(0, [0]))
    }
}

impl Ops {
    pub const fn one(place: u32) -> Self {
        Self(Held::Few(1, [place]))
    }

    pub fn push(&mut self, place: u32) {
        match &mut self.0 {
            Held::Many(all) => all.push(place),
            Held::Few(0, _) => *self = Self::one(place),
            Held::Few(_, [first]) => self.0 = Held::Many(Box::new(vec![*first, place])),
        }
    }
}

impl Extend<u32> for Ops {
    fn extend<T: IntoIterator<Item = u32>>(&mut self, places: T) {
        places.into_iter().for_each(|place| self.push(place));
    }
}

impl Deref for Ops {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match &self.0 {
            Held::Few(count, one) => &one[..*count as usize],
            Held::Many(all) => all,
        }
    }
}

impl DerefMut for Ops {
    fn deref_mut(&mut self) -> &mut [u32] {
        match &mut self.0 {
            Held::Few(count, one) => &mut one[..*count as usize],
            Held::Many(all) => all,
        }
    }
}

impl<'a> IntoIterator for &'a Ops {
    type Item = &'a u32;
    type IntoIter = std::slice::Iter<'a, u32>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// What only some operations have, by their places, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sparse<T>(pub Vec<(u32, T)>);

impl<T: Copy> Sparse<T> {
    /// What there is of all, in their order.
    pub fn of(all: impl IntoIterator<Item = Option<T>>) -> Self {
        Self((0..).zip(all).filter_map(|(place, one)| Some((place, one?))).collect())
    }

    /// What the operation at a place has.
    pub fn get(&self, place: usize) -> Option<T> {
        let found = self.0.binary_search_by_key(&(place as u64), |(place, _)| u64::from(*place));
        found.ok().map(|found| self.0[found].1)
    }

    /// Something else of the same operations, or of some of them.
    pub fn filter_map<U>(&self, of: impl Fn(usize, T) -> Option<U>) -> Sparse<U> {
        Sparse(self.0.iter().filter_map(|(place, one)| Some((*place, of(*place as usize, *one)?))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn they_are_a_list_and_what_some_have_is_found(places in prop::collection::vec(any::<u32>(), 0..6), some in prop::collection::vec(any::<Option<u8>>(), 0..20)) {
            let mut ops = Ops::default();
            ops.extend(places.iter().copied());
            prop_assert_eq!(&ops[..], &places[..]);
            ops.reverse();
            prop_assert!(ops.into_iter().eq(places.iter().rev()));
            let sparse = Sparse::of(some.iter().copied());
            for place in 0..some.len() + 2 {
                prop_assert_eq!(sparse.get(place), some.get(place).copied().flatten());
                let odd = |one: u8| (one % 2 == 1).then(|| u16::from(one));
                prop_assert_eq!(sparse.filter_map(|_, one| odd(one)).get(place), sparse.get(place).and_then(odd));
            }
        }
    }
}
