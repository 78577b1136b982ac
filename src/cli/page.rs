//! `--report`: a page of results in addition to what a verb prints.

use super::{
    Failure, output,
    places::{Named, refuse_clash},
};
use crate::{
    files::WholeFile,
    report::html::{Page, PageError},
};
use clap::Args;
use miette::miette;
use serde::Serialize;
use std::{
    io::Write,
    path::{Path, PathBuf},
};

/// Where a page goes, if one is asked for.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct PageArgument {
    /// Write a page of the results into this file: HTML with plots, which opens offline
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

impl PageArgument {
    /// Begins the file, so that one that cannot be written says so before anything is simulated. `others` are files that are read or
    /// written next to it.
    pub fn begin(&self, others: &[Named<'_>]) -> Result<Option<PageFile>, Failure> {
        self.report.as_deref().map(|path| PageFile::begin("--report", path, others)).transpose()
    }
}

/// A page in progress: it takes its name when it is whole.
pub(super) struct PageFile(WholeFile);

impl PageFile {
    /// Begins a page. `flag` is what the command line calls it.
    pub fn begin(flag: &str, path: &Path, others: &[Named<'_>]) -> Result<Self, Failure> {
        output::refuse_stream(flag, Some(path))?;
        refuse_clash(others, &[(flag, Some(path))])?;
        WholeFile::create(path).map(Self).map_err(Failure::of_file)
    }

    /// Writes what a verb prints as JSON, with what `add` adds to it.
    pub fn write(
        self,
        report: &impl Serialize,
        add: impl FnOnce(Page) -> Result<Page, PageError>,
    ) -> Result<(), Failure> {
        self.keep_html(&answer(report, Some(command_line()), add)?)
    }

    pub fn keep(self, page: &Page) -> Result<(), Failure> {
        self.keep_html(&page.html().map_err(no_page)?)
    }

    fn keep_html(mut self, html: &str) -> Result<(), Failure> {
        let written = self.0.write_all(html.as_bytes());
        written.and_then(|()| self.0.keep()).map_err(Failure::of_file)
    }
}

/// The page, made by a command, of what a verb prints as JSON, with what `add` adds to it; without a command, the JSON.
pub(super) fn answer(
    report: &impl Serialize,
    page: Option<String>,
    add: impl FnOnce(Page) -> Result<Page, PageError>,
) -> Result<String, Failure> {
    let Some(command) = page else { return output::json(report) };
    Page::of(report, command).and_then(add).and_then(|page| page.html()).map_err(no_page)
}

/// A page of what a verb has found itself fails for figures that have no form in JSON.
fn no_page(error: PageError) -> Failure {
    Failure::InputOutput(miette!("no page: {error}"))
}

pub(super) fn command_line() -> String {
    let mut words = vec!["sealsim".to_owned()];
    words.extend(std::env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy())));
    words.join(" ")
}

pub(super) fn shell_words(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word of a command line, in quotes if a shell would take it apart.
pub(super) fn quoted(word: &str) -> String {
    let plain = |one: char| one.is_ascii_alphanumeric() || "-_./:=+,@%".contains(one);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_take_them_apart() {
        let known = [
            ("--set", "--set"),
            ("a b", "'a b'"),
            ("", "''"),
            ("it's", r"'it'\''s'"),
            ("$(x)", "'$(x)'"),
            ("hbm.write_rate=5 B/cycle", "'hbm.write_rate=5 B/cycle'"),
            ("h2d:65536:pinned", "h2d:65536:pinned"),
        ];
        for (word, shown) in known {
            assert_eq!(quoted(word), shown);
        }
    }
}
