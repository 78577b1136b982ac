//! What can be wrong with a workload file, where, and what to do about it.

use crate::files::{Explained, Snippet, excerpt};
use std::{
    borrow::Cow,
    ops::Range,
    sync::{Arc, OnceLock},
};
use thiserror::Error;

/// The most errors that are reported at once; the rest are counted.
const MOST: usize = 20;

/// A file's name and text.
pub(super) type Source = Arc<Text>;

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

sealsim_machine::diagnostics!(WorkloadFileError);

impl Explained for WorkloadFileError {
    fn code(&self) -> Cow<'_, str> {
        format!("workload::{}", self.kind).into()
    }

    fn help(&self) -> Option<&str> {
        self.remedy.as_deref()
    }

    fn marked(&self) -> Option<(&Snippet, &'static str)> {
        Some((self.snippet()?, self.mark()))
    }

    fn others(&self) -> &[Self] {
        &self.others
    }
}
