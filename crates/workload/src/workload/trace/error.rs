//! What can be wrong with a trace, where, and what to do about it.

use super::place::Place;
use crate::files::{Explained, Snippet, excerpt};
use std::{borrow::Cow, fmt};
use thiserror::Error;

/// The most errors that are reported at once; the rest are counted.
const MOST: usize = 20;

/// Why a trace was refused.
#[derive(Debug, Error)]
pub struct TraceError {
    kind: Kind,
    what: Box<str>,
    file: Box<str>,
    place: Option<Box<Place>>,
    snippet: Option<Box<Snippet>>,
    remedy: Option<Box<str>>,
    others: Vec<Self>,
}

crate::units::named! {
    /// What sort of thing is wrong.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Kind {
        /// The system refused, or the compression is damaged.
        Unreadable = "unreadable",
        Stopped = "stopped",
        /// No format that is read.
        Unrecognised = "unrecognised",
        /// Not of the form that its format has.
        Syntax = "syntax",
        /// It ends in the middle.
        Truncated = "truncated",
        /// A column, table or field is missing.
        Missing = "missing",
        Event = "event",
        /// Dates that cannot be of one clock.
        Clock = "clock",
        /// Nothing that a GPU did.
        NoDevice = "no_device",
        /// Errors that are only counted.
        More = "more",
    }
}

impl TraceError {
    pub(super) fn new(kind: Kind, file: &str, what: impl AsRef<str>) -> Self {
        Self {
            kind,
            what: excerpt(what.as_ref(), 500).into(),
            file: file.into(),
            place: None,
            snippet: None,
            remedy: None,
            others: Vec::new(),
        }
    }

    pub(super) fn at(mut self, place: Place) -> Self {
        self.place = Some(Box::new(place));
        self
    }

    /// With the line that is wrong and the bytes of it to point at.
    pub(super) fn showing(mut self, line: &str, marked: std::ops::Range<usize>) -> Self {
        let number = self.place.as_ref().and_then(|place| place.line()).unwrap_or(1);
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        self.snippet = Some(Box::new(Snippet::new(&self.file, line, marked).on_line(number)));
        self
    }

    /// With what was still good in a file that ends early.
    pub(super) fn after(mut self, good: &str) -> Self {
        if self.kind == Kind::Truncated {
            self.what = format!("{}, after {good}", self.what).into();
        }
        self
    }

    pub(super) fn remedy(mut self, remedy: impl AsRef<str>) -> Self {
        self.remedy = Some(excerpt(remedy.as_ref(), 500).into());
        self
    }

    /// Whether the file could not be read, rather than being wrong.
    pub fn is_unreadable(&self) -> bool {
        self.kind == Kind::Unreadable
    }

    /// Whether nothing is wrong: the caller stopped the reading.
    pub fn is_stopped(&self) -> bool {
        self.kind == Kind::Stopped
    }

    /// Where it is wrong; nowhere if it is about the file as a whole.
    pub fn place(&self) -> Option<Place> {
        self.place.as_deref().copied()
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            _ if self.kind == Kind::More => write!(f, "{}", self.what),
            Some(place) => write!(f, "{}, {place}: {}", self.file, self.what),
            None => write!(f, "{}: {}", self.file, self.what),
        }
    }
}

sealsim_machine::diagnostics!(TraceError);

impl Explained for TraceError {
    fn code(&self) -> Cow<'_, str> {
        format!("trace::{}", self.kind.name()).into()
    }

    fn help(&self) -> Option<&str> {
        self.remedy.as_deref()
    }

    fn marked(&self) -> Option<(&Snippet, &'static str)> {
        Some((self.snippet.as_deref()?, "here"))
    }

    fn others(&self) -> &[Self] {
        &self.others
    }
}

/// Errors as they come up: the first few are kept, the others counted.
#[derive(Debug, Default)]
pub(super) struct Faults {
    kept: Vec<TraceError>,
    more: u64,
}

impl Faults {
    pub fn push(&mut self, error: TraceError) {
        if self.kept.len() < MOST {
            self.kept.push(error);
        } else {
            self.more += 1;
        }
    }

    /// One error out of many; `Ok` out of none.
    pub fn result(self) -> Result<(), TraceError> {
        let mut errors = self.kept.into_iter();
        let Some(mut first) = errors.next() else { return Ok(()) };
        first.others.extend(errors);
        if self.more > 0 {
            first.others.push(TraceError::new(Kind::More, &first.file, format!("and {} more", self.more)));
        }
        Err(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_file_and_line_and_shows_the_line() {
        let error = TraceError::new(Kind::Event, "a.csv", "`x` is no number").at(Place::Line(7));
        let error = error.showing("1,x,3", 2..3).remedy("write digits");
        assert_eq!(error.to_string(), "a.csv, line 7: `x` is no number");
        let (snippet, _) = error.marked().unwrap();
        assert_eq!((snippet.line_and_column(), snippet.first_line()), ((7, 3), 7));
        assert_eq!((error.code().as_ref(), error.help()), ("trace::event", Some("write digits")));
    }

    #[test]
    fn the_first_errors_are_kept_and_the_others_counted() {
        let mut faults = Faults::default();
        (1..=25).for_each(|line| faults.push(TraceError::new(Kind::Event, "f", "x").at(Place::Line(line))));
        let error = faults.result().unwrap_err();
        assert_eq!(error.others().len(), MOST);
        assert_eq!(error.others().last().unwrap().to_string(), "and 5 more");
        assert!(Faults::default().result().is_ok());
    }
}
