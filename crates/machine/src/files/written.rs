//! Where in a text something is written.

use super::Snippet;
use std::{ops::Range, path::PathBuf, sync::Arc};

/// A text that something is read from: a file, a shipped file, or one `--set`.
#[derive(Debug)]
pub struct Source {
    /// How messages call it: a path as the user wrote it, `h100-nvl-tdx.toml (shipped)`, or `--set`.
    pub name: String,
    pub text: String,
    pub(crate) origin: Origin,
    /// Which line of a longer text it begins with, from 1.
    pub(crate) line: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A file: its path, with links resolved.
    File(PathBuf),
    /// A file that is built into the program, by its path below `hw-configs/`.
    Shipped(&'static str),
    /// The command line, or whoever calls.
    Given,
}

impl Source {
    /// A text that messages call `name`.
    pub fn new(name: &str, text: String) -> Arc<Self> {
        Arc::new(Self { name: name.to_owned(), text, origin: Origin::Given, line: 1 })
    }

    /// One line of a longer text: this one, from 1.
    pub fn line(name: &str, text: &str, line: usize) -> Arc<Self> {
        Arc::new(Self { name: name.to_owned(), text: text.to_owned(), origin: Origin::Given, line })
    }

    /// Some of it as it is shown.
    pub fn snippet(&self, span: Range<usize>) -> Snippet {
        Snippet::new(&self.name, &self.text, span).on_line(self.line)
    }
}

/// A stretch of a source.
#[derive(Debug, Clone)]
pub struct Place {
    pub source: Arc<Source>,
    pub span: Range<usize>,
}

impl Place {
    pub fn new(source: &Arc<Source>, span: Range<usize>) -> Self {
        Self { source: Arc::clone(source), span }
    }

    /// The text that stands there.
    pub fn text(&self) -> &str {
        self.source.text.get(self.span.clone()).unwrap_or_default()
    }

    /// Line and column, from 1; the column counts characters.
    pub fn line_and_column(&self) -> (usize, usize) {
        let before = self.source.text.get(..self.span.start).unwrap_or(&self.source.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + self.source.line, before[line_start..].chars().count() + 1)
    }
}
