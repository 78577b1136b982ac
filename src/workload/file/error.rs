//! What can be wrong with a workload file, where, and what to do about it.

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use std::{fmt, ops::Range, sync::Arc};
use thiserror::Error;

/// A file's name and text.
pub(super) type Source = Arc<NamedSource<String>>;

/// Why a workload file was refused.
#[derive(Debug, Error)]
#[error("{what}")]
pub struct WorkloadFileError {
    what: String,
    kind: &'static str,
    /// Where it is written; nowhere if it is about the file as a whole.
    place: Option<(Source, Range<usize>)>,
    remedy: Option<String>,
    others: Vec<Self>,
}

/// The kind of an error about a file that could not be read at all.
pub(super) const UNREADABLE: &str = "unreadable";

impl WorkloadFileError {
    pub(super) fn new(kind: &'static str, what: impl Into<String>) -> Self {
        Self { what: what.into(), kind, place: None, remedy: None, others: Vec::new() }
    }

    pub(super) fn at(mut self, source: &Source, span: Range<usize>) -> Self {
        self.place = Some((Arc::clone(source), span));
        self
    }

    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// One error out of many, in the order of the text; `Ok` out of none.
    pub(super) fn all(mut errors: Vec<Self>) -> Result<(), Self> {
        errors.sort_by_key(|error| error.place.as_ref().map_or(0, |(_, span)| span.start));
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
        self.place.as_ref().map(|(source, _)| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let (_, span) = self.place.as_ref()?;
        let label = LabeledSpan::new_with_span(Some(self.mark().to_owned()), span.clone());
        Some(Box::new(std::iter::once(label)))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        (!self.others.is_empty())
            .then(|| Box::new(self.others.iter().map(|other| other as &dyn Diagnostic)) as Box<dyn Iterator<Item = _>>)
    }
}
