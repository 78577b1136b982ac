//! What can be wrong with a workload file, where, and what to do about it.

use crate::files::{Snippet, excerpt};
use miette::{Diagnostic, LabeledSpan, SourceCode};
use std::{
    fmt,
    ops::Range,
    sync::{Arc, OnceLock},
};
use thiserror::Error;

/// The most errors that are told of at once; the rest are counted.
const MOST: usize = 20;

/// A file's name and text.
pub(super) type Source = Arc<Text>;

/// See [`Source`].
#[derive(Debug)]
pub(super) struct Text {
    pub name: String,
    pub text: String,
}

/// Why a workload file was refused.
#[derive(Debug, Error)]
#[error("{}", excerpt(what, 500))]
pub struct WorkloadFileError {
    what: Box<str>,
    kind: &'static str,
    /// Where it is written; nowhere if it is about the file as a whole.
    place: Option<(Source, Range<usize>)>,
    /// The place as it is shown, once it is.
    shown: OnceLock<Box<Snippet>>,
    remedy: Option<String>,
    others: Vec<Self>,
}

/// The kind of an error about a file that could not be read at all.
pub(super) const UNREADABLE: &str = "unreadable";

impl WorkloadFileError {
    pub(super) fn new(kind: &'static str, what: impl Into<String>) -> Self {
        Self { what: what.into().into(), kind, place: None, shown: OnceLock::new(), remedy: None, others: Vec::new() }
    }

    pub(super) fn at(mut self, source: &Source, span: Range<usize>) -> Self {
        self.place = Some((Arc::clone(source), span));
        self
    }

    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// One error out of many, in the order of the text, of which the first few are kept and the others counted; `Ok` out of none.
    pub(super) fn all(mut errors: Vec<Self>) -> Result<(), Self> {
        errors.sort_by_key(|error| error.place.as_ref().map_or(0, |(_, span)| span.start));
        if let Some(count) = errors.len().checked_sub(MOST).filter(|count| *count > 0) {
            errors.truncate(MOST);
            errors.push(Self::new("more", format!("and {count} more")));
        }
        let mut errors = errors.into_iter();
        match errors.next() {
            None => Ok(()),
            Some(mut first) => {
                first.others.extend(errors);
                Err(first)
            }
        }
    }

    /// Whether the file could not be read, rather than being wrong.
    #[must_use]
    pub fn is_unreadable(&self) -> bool {
        self.kind == UNREADABLE
    }

    /// The place as it is shown.
    fn snippet(&self) -> Option<&Snippet> {
        let (source, span) = self.place.as_ref()?;
        Some(self.shown.get_or_init(|| Box::new(Snippet::new(&source.name, &source.text, span.clone()))))
    }

    /// The short word under the offending text.
    fn mark(&self) -> &'static str {
        match self.kind {
            "unknown_field" | "unknown_operation" => "unknown",
            "missing" => "belongs here",
            _ => "here",
        }
    }
}

impl Diagnostic for WorkloadFileError {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(format!("workload::{}", self.kind)))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.remedy.as_ref().map(|remedy| Box::new(remedy) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.snippet().map(|snippet| snippet as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(self.snippet()?.label(self.mark()))))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        (!self.others.is_empty())
            .then(|| Box::new(self.others.iter().map(|other| other as &dyn Diagnostic)) as Box<dyn Iterator<Item = _>>)
    }
}
