//! What a value may be that has been begun.

use crate::{
    cli::list_faults,
    config::{Role, SHIPPED, fields},
    workload::SHIPPED_WORKLOADS,
};
use clap_complete::{CompletionCandidate, PathCompleter, engine::ValueCompleter};
use std::ffi::OsStr;

/// The machine whose fault points are offered: which one the line names is not known here.
const MACHINE: &str = "h100-nvl-tdx";

/// Shipped machines, and TOML files.
pub fn machines(begun: &OsStr) -> Vec<CompletionCandidate> {
    with_files(shipped(Role::Machine, begun), begun)
}

/// Shipped designs, and TOML files; of several joined by `+`, what the last may be.
pub fn designs(begun: &OsStr) -> Vec<CompletionCandidate> {
    let Some((before, last)) = begun.to_str().and_then(|text| text.rsplit_once('+')) else {
        return with_files(shipped(Role::Design, begun), begun);
    };
    let last = designs(OsStr::new(last));
    last.into_iter().map(|one| one.add_prefix(format!("{before}+"))).collect()
}

/// Shipped workloads, and TOML files.
pub fn workloads(begun: &OsStr) -> Vec<CompletionCandidate> {
    let names = SHIPPED_WORKLOADS.iter().map(|one| (one.name.to_owned(), one.summary()));
    with_files(that_begin(names, begun), begun)
}

/// Paths of parameters with `=`; behind it the texts of a parameter that takes one of several.
pub fn settings(begun: &OsStr) -> Vec<CompletionCandidate> {
    // An element of a list has a number, which the shell cannot know.
    let fields = fields().into_iter().filter(|field| !field.path.contains('['));
    match begun.to_str().and_then(|text| text.split_once('=')) {
        None => that_begin(fields.map(|field| (field.path + "=", field.meaning)), begun),
        Some((path, _)) => {
            let choices = fields.filter(|field| field.path == path).flat_map(|field| field.choices);
            that_begin(choices.map(|(name, means)| (format!("{path}={name}"), means)), begun)
        }
    }
}

pub fn fault_points(begun: &OsStr) -> Vec<CompletionCandidate> {
    // Help for typing is no place for an error: without points there are no candidates.
    let rows = list_faults::rows(MACHINE, &[]).unwrap_or_default();
    that_begin(rows.into_iter().map(|row| (row.name, row.summary.to_owned())), begun)
}

fn shipped(role: Role, begun: &OsStr) -> Vec<CompletionCandidate> {
    let names = SHIPPED.iter().filter(|one| one.role == role).map(|one| (one.name().to_owned(), one.summary()));
    that_begin(names, begun)
}

fn with_files(mut names: Vec<CompletionCandidate>, begun: &OsStr) -> Vec<CompletionCandidate> {
    names.extend(files(begun));
    names
}

/// TOML files, and the folders in which some may be.
fn files(begun: &OsStr) -> Vec<CompletionCandidate> {
    PathCompleter::any().filter(|path| path.extension().is_some_and(|ending| ending == "toml")).complete(begun)
}

fn that_begin(names: impl Iterator<Item = (String, String)>, begun: &OsStr) -> Vec<CompletionCandidate> {
    let begun = begun.to_string_lossy();
    let fitting = names.filter(|(name, _)| name.starts_with(&*begun));
    fitting.map(|(name, says)| CompletionCandidate::new(name).help(Some(says.into()))).collect()
}
