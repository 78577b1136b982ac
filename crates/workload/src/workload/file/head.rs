//! What a workload file says about itself: its machine, a line of what it is, where its sizes come from.

use super::{
    error::{Source, WorkloadFileError},
    examples::example,
    fields::{Given, Reader, short},
};
use crate::config::{Role, Shipped, nearest};
use std::{
    ops::Range,
    path::{Path, PathBuf},
};
use toml::{Spanned, de::DeValue};

pub(super) const FIELDS: [&str; 3] = ["machine", "summary", "source"];

/// The longest summary, in characters: what a list shows in a line.
const LONGEST: usize = 160;

#[derive(Debug, Default)]
pub struct Head {
    pub summary: Option<String>,
    /// Where its sizes come from.
    pub source: Vec<String>,
    machine: Option<Machine>,
}

/// A machine that is named, and where.
#[derive(Debug)]
struct Machine {
    name: String,
    from: Source,
    span: Range<usize>,
    /// Of the workload's file.
    folder: Option<PathBuf>,
}

impl Head {
    /// Its machine as [`Layers`](crate::config::Layers) take it: a file next to the workload's, else one from here, else a shipped one.
    pub fn machine(&self) -> Result<Option<String>, WorkloadFileError> {
        self.machine.as_ref().map(Machine::find).transpose()
    }

    /// The file that says all this lies in this folder.
    pub(super) fn lies_in(&mut self, folder: Option<&Path>) {
        if let Some(machine) = &mut self.machine {
            machine.folder = folder.map(Path::to_owned);
        }
    }
}

impl Machine {
    fn find(&self) -> Result<String, WorkloadFileError> {
        let beside = self.folder.as_ref().map(|folder| folder.join(&self.name)).filter(|path| path.is_file());
        if let Some(path) = beside.as_deref().and_then(Path::to_str) {
            return Ok(path.to_owned());
        }
        if Path::new(&self.name).is_file() || Shipped::find(Role::Machine, &self.name).is_some() {
            return Ok(self.name.clone());
        }
        let meant = nearest(&self.name, Shipped::names(Role::Machine));
        let meant = meant.map_or_else(String::new, |name| format!("did you mean \"{name}\"? "));
        let what = format!("`machine`: there is no machine \"{}\"", short(&self.name));
        let remedy = format!("{meant}it is a file beside this one or a shipped machine (`sealsim list`)");
        Err(WorkloadFileError::new("no_machine", what).at(&self.from, self.span.clone()).remedy(remedy))
    }
}

impl Reader {
    /// Reads what a file says about itself.
    pub fn head(&mut self, given: &Given<'_>) -> Head {
        let machine = given.get("machine").and_then(|value| {
            let name = self.line("machine", value)?;
            Some(Machine { name, from: Source::clone(&self.source), span: value.span(), folder: None })
        });
        let summary = given.get("summary").and_then(|value| self.line("summary", value));
        let source = given.get("source").map(|value| self.sources(value)).unwrap_or_default();
        Head { summary, source, machine }
    }

    fn line(&mut self, field: &str, value: &Spanned<DeValue<'_>>) -> Option<String> {
        let text = self.text(field, value)?;
        let length = text.chars().count();
        if !text.trim().is_empty() && length <= LONGEST && !text.chars().any(char::is_control) {
            return Some(text.to_owned());
        }
        let what = format!("`{field}` is no line of 1 to {LONGEST} characters");
        self.wrong("line", value.span(), what, format!("write for example {}", example(field)));
        None
    }

    fn sources(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<String> {
        let DeValue::Array(items) = value.get_ref() else {
            self.wrong_type("source", value, "an array of texts", example("source"));
            return Vec::new();
        };
        items.iter().filter_map(|item| self.text("source", item).map(str::to_owned)).collect()
    }
}
