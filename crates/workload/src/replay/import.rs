//! A job as a workload file: what `sealsim run --workload` takes.

use super::{
    copies::CopyKey,
    job::{Job, Work},
    rules::ns,
    sequence::{Sequence, Wanted, sequences},
};
use crate::workload::{Copy, MAX_STEPS, WorkloadStep, direction_name, memory_name, pages_name};
use std::fmt::Write;
use thiserror::Error;

/// Most copies of a workload.
const MOST_COPIES: usize = crate::host::map::MAX_COPIES;
/// Most streams of a workload.
const MOST_STREAMS: usize = crate::host::map::MAX_STREAMS as usize;

/// Why a job is no workload.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("the job has {count} {what}, and a workload takes {most}")]
pub struct ImportError {
    pub count: usize,
    pub what: &'static str,
    /// How many may be.
    pub most: usize,
}

/// The workload of a job whose copies are these. Host time between calls, and what calls cost, are not in it: `source` says whose it is.
pub fn import(job: &Job, keys: &[Option<CopyKey>], source: &str) -> Result<String, ImportError> {
    let copies = job.ops.iter().filter(|op| matches!(op.work, Work::Copy { .. })).count();
    fits(copies, "copies", MOST_COPIES)?;
    fits(job.streams, "streams", MOST_STREAMS)?;
    let all = sequences(job, keys, Wanted::All, |key| vec![(*key, 1)]);
    let lines: Vec<String> = all.iter().flat_map(Sequence::steps).map(|(step, copy)| line(step, copy)).collect();
    fits(lines.len(), "operations", MAX_STEPS)?;
    let source: String = source.chars().map(|one| if one.is_control() { '?' } else { one }).collect();
    let mut text = format!(
        "# Made from {source}. Host time between calls and the cost of calls other than copies and launches are not in it:\n\
         # `sealsim replay` has them.\n\noperations = [\n"
    );
    for (line, count) in runs(&lines) {
        let _ = match count {
            1 => writeln!(text, "    {line},"),
            _ => writeln!(text, "    {{ op = \"repeat\", count = {count}, operations = [{line}] }},"),
        };
    }
    text += "]\n";
    Ok(text)
}

const fn fits(count: usize, what: &'static str, most: usize) -> Result<(), ImportError> {
    if count > most { Err(ImportError { count, what, most }) } else { Ok(()) }
}

/// Each line with how often it stands there in a row.
fn runs(lines: &[String]) -> Vec<(&String, usize)> {
    let mut runs: Vec<(&String, usize)> = Vec::new();
    for line in lines {
        match runs.last_mut() {
            Some((last, count)) if *last == line => *count += 1,
            _ => runs.push((line, 1)),
        }
    }
    runs
}

/// An operation as a workload file has it.
fn line(step: &WorkloadStep, copy: Option<&Copy>) -> String {
    let stream = step.stream().unwrap_or_default();
    match step {
        WorkloadStep::Copy { buffer, pages, blocking, .. } => {
            let (buffer, pages) = (buffer.as_deref().unwrap_or_default(), pages_name(*pages));
            let what = copy.map_or_else(String::new, |copy| {
                let (direction, memory) = (direction_name(copy.direction), memory_name(copy.memory));
                format!("direction = \"{direction}\", size = \"{} B\", memory = \"{memory}\", ", copy.bytes)
            });
            format!(
                "{{ op = \"copy\", {what}stream = \"{stream}\", buffer = \"{buffer}\", pages = \"{pages}\", blocking = {blocking} }}"
            )
        }
        WorkloadStep::Record { event, .. } => {
            format!("{{ op = \"record\", stream = \"{stream}\", event = \"{event}\" }}")
        }
        WorkloadStep::Wait { event, .. } => {
            format!("{{ op = \"wait\", stream = \"{stream}\", event = \"{event}\" }}")
        }
        WorkloadStep::Kernel { duration, .. } => {
            format!("{{ op = \"kernel\", duration = \"{} ns\", stream = \"{stream}\" }}", ns(*duration))
        }
        // A sequence has no others.
        _ => "{ op = \"sync\" }".to_owned(),
    }
}
