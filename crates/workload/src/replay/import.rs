//! A job as a workload file: what `sealsim run --workload` takes.

use super::{
    copies::CopyKey,
    job::{Job, Work},
    rules::ns,
    sequence::{Sequence, Wanted, sequences},
};
use crate::workload::{Copy, MAX_FILE, MAX_KERNELS, MAX_STEPS, WorkloadStep, direction_name, memory_name, pages_name};
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
        workload::{
            WorkloadFile,
            trace::{Input, read},
        },
    };
    use proptest::prelude::*;

    /// A kernel, or a copy with its size or its bandwidth.
    fn event() -> impl Strategy<Value = String> {
        let bytes = (0_u32..52).prop_map(|power| format!("\"bytes\": {}", 1_u64 << power));
        let rate = (0_u64..2_000_000).prop_map(|rate| format!("\"memory bandwidth (GB/s)\": {rate}"));
        let what = prop_oneof![Just(None), bytes.prop_map(Some), rate.prop_map(Some)];
        (what, 0_u64..1_000_000_000_000, 0_u32..54, 0_u32..40).prop_map(|(what, start, power, stream)| {
            let (cat, name) = match what {
                Some(_) if start % 2 == 0 => ("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)"),
                Some(_) => ("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)"),
                None => ("kernel", "k"),
            };
            let duration = (1_u64 << power) as f64 / 1e3;
            let args = what.map_or_else(String::new, |what| format!(", \"args\": {{{what}}}"));
            format!(
                "{{\"ph\": \"X\", \"cat\": \"{cat}\", \"name\": \"{name}\", \"tid\": {stream}, \"ts\": {start}, \"dur\": {duration}{args}}}"
            )
        })
    }

    /// What comes of a profile: a refusal of it, a refusal to write it, or a workload that is read.
    fn imported(events: &[String]) -> Option<Result<usize, String>> {
        let text = format!("[{}]", events.join(","));
        let input = Input::Bytes { name: "it", bytes: text.as_bytes() };
        let job = Job::of(&read(input, None, &mut |_, _| Control::Continue).ok()?, 1_400);
        let key = |work| match work {
            Work::Copy { way, bytes, memory } => Some(CopyKey { way, bytes, memory, pages: Pages::Warm }),
            _ => None,
        };
        let keys: Vec<_> = job.ops.iter().map(|op| key(op.work)).collect();
        let text = import(&job, &keys, "it").ok()?;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let read = WorkloadFile::read(file.path(), &[]);
        Some(read.map(|file| file.copies.len()).map_err(|refusal| refusal.to_string()))
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(events in prop::collection::vec(event(), 1..8)) {
            if let Some(read) = imported(&events) {
                prop_assert!(read.is_ok(), "{read:?}");
            }
        }
    }

    #[test]
    fn what_no_workload_may_be_is_not_written() {
        let kernel = |start: u64, seconds: u64| {
            format!(
                r#"{{"ph": "X", "cat": "kernel", "name": "k", "tid": 1, "ts": {start}, "dur": {}}}"#,
                seconds * 1_000_000
            )
        };
        let copy = |place: u64| {
            format!(
                r#"{{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "tid": 1, "ts": {place}, "dur": 1, "args": {{"bytes": {}}}}}"#,
                place + 1
            )
        };
        assert_eq!(imported(&[copy(0), kernel(2, 4_500), kernel(4_500_000_002, 4_500)]), Some(Ok(1)));
        assert_eq!(imported(&[copy(0), kernel(2, 4_500), kernel(4_500_000_002, 4_501)]), None);
        assert_eq!(imported(&[kernel(0, 20_000)]), None);
        // A file of a megabyte is read, a longer one is not.
        assert_eq!(imported(&(0..5_000).map(copy).collect::<Vec<_>>()), Some(Ok(5_000)));
        assert_eq!(imported(&(0..16_000).map(copy).collect::<Vec<_>>()), None);
    }
}
