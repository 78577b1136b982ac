//! A job as a workload file: what `sealsim run --workload` takes.

use super::{
    copies::CopyKey,
    job::{Job, Work},
    ops::Sparse,
    rules::ns,
    sequence::{Sequence, Wanted, sequences},
};
use crate::workload::{Copy, MAX_FILE, MAX_KERNELS, MAX_STEPS, WorkloadStep, direction_name, memory_name, pages_name};
use std::fmt::Write;
use thiserror::Error;

const MOST_COPIES: usize = crate::host::map::MAX_COPIES;
const MOST_STREAMS: usize = crate::host::map::MAX_STREAMS as usize;

#[derive(Debug, Error, PartialEq, Eq)]
#[error("the job has {count} {what}, and a workload takes {most}")]
pub struct ImportError {
    pub count: usize,
    pub what: &'static str,
    pub most: usize,
}

/// The workload of a job whose copies are these. Host time between calls, and what calls cost, are not in it: `source` says whose it is.
pub fn import(job: &Job, keys: &Sparse<CopyKey>, source: &str) -> Result<String, ImportError> {
    let copies = job.ops.iter().filter(|op| matches!(op.work, Work::Copy { .. })).count();
    fits(copies, "copies", MOST_COPIES)?;
    fits(job.streams, "streams", MOST_STREAMS)?;
    let kernels = job.ops.iter().filter(|op| !matches!(op.work, Work::Copy { .. })).map(|op| op.duration);
    let kernels = usize::try_from(kernels.fold(0, u64::saturating_add)).unwrap_or(usize::MAX);
    fits(kernels, "ns of kernels", ns(MAX_KERNELS) as usize)?;
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
    fits(text.len(), "bytes of text", MAX_FILE.0 as usize)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        sim::Control,
        system::Pages,
        workload::{WorkloadFile, trace},
    };
    use proptest::prelude::*;
    use serde_json::{Value, json};

    /// A kernel, or a copy with its size or its bandwidth.
    fn event((what, number, start, micros): (u8, u64, u64, u64)) -> Value {
        let (cat, name, args) = match what {
            0 => ("kernel", "k", json!({})),
            1 => ("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", json!({ "bytes": number })),
            _ => ("gpu_memcpy", "Memcpy DtoH", json!({ "memory bandwidth (GB/s)": number })),
        };
        json!({ "ph": "X", "cat": cat, "name": name, "tid": number % 40, "ts": start, "dur": micros, "args": args })
    }

    /// How many copies the workload of a profile has, or why it is not read; `None`: there is none.
    fn imported(events: impl IntoIterator<Item = (u8, u64, u64, u64)>) -> Option<Result<usize, String>> {
        let text = Value::Array(events.into_iter().map(event).collect()).to_string();
        let input = trace::Input::Bytes { name: "it", bytes: text.as_bytes() };
        let job = Job::of(&trace::read(input, None, &mut |_, _| Control::Continue).ok()?, 1_400);
        let keys = job.ops.iter().map(|op| match op.work {
            Work::Copy { way, bytes, memory, .. } => {
                Some(CopyKey { way, bytes, memory, pages: Pages::Warm, beside: (0, 0), waited: false })
            }
            _ => None,
        });
        let text = import(&job, &Sparse::of(keys), "it").ok()?;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let read = WorkloadFile::read(file.path(), &[]);
        Some(read.map(|file| file.copies.len()).map_err(|refusal| refusal.to_string()))
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(events in prop::collection::vec((0_u8..3, 0_u32..52, 0_u64..1 << 40, 0_u32..44), 1..8)) {
            let read = imported(events.iter().map(|(what, power, start, long)| (*what, 1 << power, *start, 1 << long)));
            prop_assert!(!matches!(read, Some(Err(_))), "{read:?}");
        }
    }

    #[test]
    fn what_no_workload_may_be_is_not_written() {
        let (copy, half) = ((1, 8, 0, 1), 4_500_000_000);
        assert_eq!(imported([copy, (0, 1, 2, half), (0, 1, half + 2, half)]), Some(Ok(1)));
        assert_eq!(imported([copy, (0, 1, 2, half), (0, 1, half + 2, half + 1)]), None);
        assert_eq!(imported([copy, (2, 4_294_967_303, 2, 12_000)]), None);
        // A file of a megabyte is read, a longer one is not.
        assert_eq!(imported((0..5_000).map(|place| (1, 40 * (place + 1), place, 1))), Some(Ok(5_000)));
        assert_eq!(imported((0..16_000).map(|place| (1, 40 * (place + 1), place, 1))), None);
    }
}
