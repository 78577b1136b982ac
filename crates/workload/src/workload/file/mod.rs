//! `--workload FILE|NAME`: what the host does, as docs/workloads.md describes it.
//!
//! ```text
//!  text --> TOML --read--> operations, repeats among them --unroll--> steps --check--> WorkloadFile
//! ```

mod error;
mod examples;
mod fields;
mod head;
mod name;
mod operation;
mod parameters;
mod read;
mod training;
mod unroll;

pub use error::WorkloadFileError;
pub use head::Head;
pub use parameters::Setting;

use super::{copy::CopyArgument, program::WorkloadStep, shipped::ShippedWorkload};
use crate::{
    files::{ReadError, read_text},
    units::Bytes,
};
use error::{Source, Text, UNREADABLE};
use fields::Reader;
use std::{path::Path, sync::Arc};
use toml::de::DeTable;

/// The longest file that is read.
const LONGEST: Bytes = Bytes(1 << 20);

#[derive(Debug)]
pub struct WorkloadFile {
    pub head: Head,
    /// Its copies; a size may be left to the payload.
    pub copies: Vec<CopyArgument>,
    pub steps: Vec<WorkloadStep>,
    /// The error that it is if there is no payload: a copy without size.
    pub without_size: Option<WorkloadFileError>,
}

impl WorkloadFile {
    /// Finds what the command line calls `name`: a file, else a shipped workload. `settings` are values of its parameters.
    pub fn find(name: &Path, settings: &[Setting]) -> Result<Self, WorkloadFileError> {
        let text = name.to_string_lossy();
        if let Some(shipped) = ShippedWorkload::find(&text).filter(|_| !name.exists()) {
            let name = format!("workloads/{}.toml (shipped)", shipped.name);
            return Self::parse_with(&name, shipped.text.to_owned(), settings);
        }
        Self::read(name, settings).map_err(|error| {
            let meant = ShippedWorkload::meant(&text).filter(|_| error.is_unreadable());
            match meant {
                Some(meant) => error.remedy(format!("did you mean the shipped `{meant}`? `sealsim list` names all")),
                None => error,
            }
        })
    }

    pub fn read(path: &Path, settings: &[Setting]) -> Result<Self, WorkloadFileError> {
        let shown = path.display().to_string();
        let text = read_text(path, LONGEST).map_err(|error| match error {
            ReadError::Unreadable { .. } | ReadError::Directory { .. } => {
                WorkloadFileError::new(UNREADABLE, format!("workload {error}"))
            }
            error => WorkloadFileError::new("not_a_file", error.to_string())
                .remedy("a workload is TOML, which is UTF-8 text; repeats make long ones short"),
        })?;
        let mut file = Self::parse_with(&shown, text, settings)?;
        file.head.lies_in(path.parent());
        Ok(file)
    }

    /// Reads the text of the file that messages call `name`.
    pub fn parse(name: &str, text: String) -> Result<Self, WorkloadFileError> {
        Self::parse_with(name, text, &[])
    }

    /// The same with other values for its parameters.
    pub fn parse_with(name: &str, text: String, settings: &[Setting]) -> Result<Self, WorkloadFileError> {
        let source: Source = Arc::new(Text { name: name.to_owned(), text });
        let text = &source.text;
        let mut parsed = DeTable::parse(text).map_err(|error| syntax(&source, &error))?;
        parameters::settle(parsed.get_mut(), settings, &source)?;
        let mut reader = Reader::new(&source);
        let (head, operations) = reader.file(parsed.get_ref(), 0..first_line(text));
        WorkloadFileError::all(reader.errors)?;
        let unrolled = unroll::unroll(&operations, &source)?;
        let without_size = unrolled.without_size().map(|operation| {
            WorkloadFileError::new("missing", "a copy without `size`, and no payload to take it from")
                .at(&source, operation.span.clone())
                .remedy("add for example size = \"64 MiB\", or give a file with --payload")
        });
        Ok(Self { head, copies: unrolled.copies, steps: unrolled.steps, without_size })
    }
}

impl WorkloadFile {
    /// Itself, if one thread of the host does all of it.
    pub fn of_one_thread(self) -> Result<Self, WorkloadFileError> {
        if !self.steps.iter().any(|step| matches!(step, WorkloadStep::Thread { .. })) {
            return Ok(self);
        }
        let what = "a workload of several host threads: a session in full detail has one";
        Err(WorkloadFileError::new("threads", what.to_owned())
            .remedy("`sealsim replay FILE` plays it; without its `thread` operations it can be run"))
    }

    /// Whether there is a collective among its steps.
    pub fn calls_collectives(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, WorkloadStep::Collective { .. }))
    }
}

/// Length of the first line, where what a whole file lacks belongs.
fn first_line(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// A TOML parser's error; at the end of the text it points at the last character.
fn syntax(source: &Source, error: &toml::de::Error) -> WorkloadFileError {
    let text = &source.text;
    let span = error.span().unwrap_or(0..0);
    let last = text.char_indices().next_back().map_or(0, |(at, _)| at);
    let start = span.start.min(last);
    let width = text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    let span = start..span.end.min(text.len()).max(start + width);
    WorkloadFileError::new("syntax", format!("not TOML: {}", error.message()))
        .at(source, span)
        .remedy("docs/workloads.md has examples")
}

#[cfg(test)]
mod tests;
