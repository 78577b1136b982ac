//! Why something that people wrote is refused: what is wrong, where, and what to do about it.

use super::{Explained, Place, Snippet};
use std::{borrow::Cow, sync::OnceLock};
use thiserror::Error;

/// The most that are reported at once; the rest are counted.
const MOST: usize = 20;

/// Why something that people wrote is refused.
#[derive(Debug, Clone, Error)]
#[error("{what}")]
pub struct Refusal {
    /// What was being read: the first part of the code.
    room: &'static str,
    /// What sort of thing is wrong: the second part.
    kind: &'static str,
    /// The short word under the offending text.
    word: &'static str,
    what: Box<str>,
    place: Option<Box<(Place, OnceLock<Snippet>)>>,
    remedy: Option<Box<str>>,
    /// Further ones that were found in the same go.
    pub others: Vec<Self>,
}

impl Refusal {
    /// Nowhere in particular, and without a remedy. The code is `room::kind`, or `room` alone.
    pub fn new(room: &'static str, kind: &'static str, what: impl Into<String>) -> Self {
        Self { room, kind, word: "here", what: what.into().into(), place: None, remedy: None, others: Vec::new() }
    }

    pub fn at<'p>(mut self, place: impl Into<Option<&'p Place>>) -> Self {
        self.place = place.into().map(|place| Box::new((place.clone(), OnceLock::new())));
        self
    }

    /// With another word than "here" under the offending text.
    pub const fn marked_as(mut self, word: &'static str) -> Self {
        self.word = word;
        self
    }

    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into().into());
        self
    }

    /// Where it is written. `None`: nowhere in particular, or outside of any text.
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref().map(|place| &place.0)
    }

    pub fn is(&self, code: &str) -> bool {
        self.code() == code
    }

    /// Itself and all that was found with it.
    pub fn each(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.others)
    }
}

crate::diagnostics!(Refusal);

impl Explained for Refusal {
    fn code(&self) -> Cow<'_, str> {
        if self.kind.is_empty() { self.room.into() } else { format!("{}::{}", self.room, self.kind).into() }
    }

    fn help(&self) -> Option<&str> {
        self.remedy.as_deref()
    }

    fn marked(&self) -> Option<(&Snippet, &'static str)> {
        let (Place { source, span }, shown) = self.place.as_deref()?;
        Some((shown.get_or_init(|| source.snippet(span.clone())), self.word))
    }

    fn others(&self) -> &[Self] {
        &self.others
    }
}

/// What is refused, as it comes up: the first few are kept, the others counted.
#[derive(Debug, Default)]
pub struct Refusals {
    kept: Vec<Refusal>,
    more: usize,
}

impl Refusals {
    /// Adds one, which is made only if it is kept: to find out what was meant takes a search.
    pub fn push(&mut self, refusal: impl FnOnce() -> Refusal) {
        if self.kept.len() < MOST {
            self.kept.push(refusal());
        } else {
            self.more += 1;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// In the order of the text.
    pub fn sorted(mut self) -> Self {
        self.kept.sort_by_key(|refusal| refusal.place().map_or(0, |place| place.span.start));
        self
    }

    /// One out of many; `Ok` out of none.
    pub fn result(self) -> Result<(), Refusal> {
        let mut kept = self.kept.into_iter();
        let Some(mut first) = kept.next() else { return Ok(()) };
        first.others.extend(kept);
        if self.more > 0 {
            first.others.push(Refusal::new(first.room, "more", format!("and {} more", self.more)));
        }
        Err(first)
    }
}

impl Extend<Refusal> for Refusals {
    fn extend<I: IntoIterator<Item = Refusal>>(&mut self, refusals: I) {
        refusals.into_iter().for_each(|refusal| self.push(|| refusal));
    }
}

impl FromIterator<Refusal> for Refusals {
    fn from_iter<I: IntoIterator<Item = Refusal>>(refusals: I) -> Self {
        let mut all = Self::default();
        all.extend(refusals);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Source;

    #[test]
    fn the_first_are_kept_and_the_others_counted() {
        let all: Refusals = (1..=25).map(|_| Refusal::new("trace", "event", "x")).collect();
        let refusal = all.result().unwrap_err();
        assert_eq!((refusal.others.len(), refusal.others[19].to_string()), (MOST, "and 5 more".to_owned()));
        assert!(refusal.others[19].is("trace::more") && Refusals::default().result().is_ok());
    }

    #[test]
    fn they_are_told_in_the_order_of_the_text() {
        let source = Source::new("it", "one\ntwo".into());
        let at = |start| Refusal::new("it", "", "x").at(&Place::new(&source, start..start + 1));
        let refusal = [at(4), at(0)].into_iter().collect::<Refusals>().sorted().result().unwrap_err();
        let lines = refusal.each().map(|one| one.place().unwrap().line_and_column().0);
        assert_eq!(lines.collect::<Vec<_>>(), [1, 2]);
    }
}
