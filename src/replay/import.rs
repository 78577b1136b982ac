//! A job as a workload file: what `sealsim run --workload` takes.

use super::job::{Bind, Job, Op, Way, Work};
use crate::{
    system::Memory,
    workload::{MAX_STEPS, trace::CallKind},
};
use std::{collections::BTreeSet, fmt::Write};
use thiserror::Error;

/// Most copies of a workload.
const MOST_COPIES: usize = crate::host::map::MAX_COPIES;
/// Most streams of a workload.
const MOST_STREAMS: usize = crate::host::map::MAX_STREAMS as usize;

/// Why a job is no workload.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("the job has {count} {what}, and a workload takes {most}")]
pub struct ImportError {
    /// How many there are.
    pub count: usize,
    /// Of what.
    pub what: &'static str,
    /// How many may be.
    pub most: usize,
}

/// The workload of a job. Host time between calls, and what calls cost, are not in it: `source` says whose it is.
///
/// # Errors
/// [`ImportError`] if there is more than a workload takes.
pub fn import(job: &Job, source: &str) -> Result<String, ImportError> {
    let copies = job.ops.iter().filter(|op| matches!(op.work, Work::Copy { .. })).count();
    fits(copies, "copies", MOST_COPIES)?;
    fits(job.streams, "streams", MOST_STREAMS)?;
    let lines = lines(job);
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

fn lines(job: &Job) -> Vec<String> {
    let mut lines = Vec::new();
    // What other streams wait for.
    let awaited: BTreeSet<u32> =
        job.ops.iter().filter_map(|op| if let Bind::Op(other, _) = op.bind { Some(other) } else { None }).collect();
    let mut recorded = BTreeSet::new();
    let mut used = false;
    for call in &job.calls {
        if matches!(call.kind, CallKind::Synchronize(_)) && used {
            lines.push("{ op = \"sync\" }".to_owned());
        }
        for place in &call.ops {
            let op = &job.ops[*place as usize];
            if let Bind::Op(other, _) = op.bind
                && recorded.contains(&other)
            {
                lines.push(format!("{{ op = \"wait\", stream = \"s{}\", event = \"e{other}\" }}", op.stream));
            }
            lines.extend(line(op));
            used = true;
            if awaited.contains(place) {
                recorded.insert(*place);
                lines.push(format!("{{ op = \"record\", stream = \"s{}\", event = \"e{place}\" }}", op.stream));
            }
        }
    }
    lines
}

fn line(op: &Op) -> Option<String> {
    let stream = op.stream;
    match op.work {
        Work::Copy { way, bytes, memory } => {
            let direction = if way == Way::H2d { "h2d" } else { "d2h" };
            let memory = if memory == Memory::Pageable { "pageable" } else { "pinned" };
            let blocking = op.host_waits;
            Some(format!(
                "{{ op = \"copy\", direction = \"{direction}\", size = \"{} B\", memory = \"{memory}\", stream = \"s{stream}\", blocking = {blocking} }}",
                bytes.max(1)
            ))
        }
        Work::DeviceCopy | Work::Memset | Work::Kernel | Work::Collective(_) => (op.duration > 0)
            .then(|| format!("{{ op = \"kernel\", duration = \"{} ns\", stream = \"s{stream}\" }}", op.duration)),
    }
}
