//! What is not known of confidential computing, and how much of the answer it decides: the program is played both ways.

use super::{
    error::ReplayError,
    job::{Job, Way, Work},
    play::Played,
    question::Question,
    rules::Causes,
    what_if::length,
};
use crate::{config::Resolved, system::Memory, workload::trace::CallKind};

/// From this share of a length on, both answers are given.
const WORTH: f64 = 0.03;

/// What may be otherwise, for which programs it matters, and the setting under which it is so.
type Doubt = (&'static str, fn(&Job) -> bool, &'static str);

const DOUBTS: [Doubt; 5] = [
    (
        "the GPU is not in persistence mode, so that the first context of a process waits for its start",
        |job| !job.beginning.creates.is_empty(),
        "calls.context=6.1 s",
    ),
    (
        "uploads of pageable memory return before they are done, which is reported but not measured",
        |job| job.ops.iter().any(|op| matches!(op.work, Work::Copy { way: Way::H2d, memory: Memory::Pageable, .. })),
        "driver.pageable_upload=returns",
    ),
    (
        "launches take 6.0 us more, the least that was measured, and not up to 9.5 us",
        |job| job.calls.iter().any(|call| call.kind == CallKind::Launch),
        "calls.launch.most=6 us",
    ),
    (
        "recorded events take no longer: that they do is known of one program alone",
        |job| job.calls.iter().any(|call| call.kind == CallKind::EventRecord),
        "calls.event_record.add=0 us",
    ),
    (
        "`cudaGetDeviceProperties` takes no longer: that it does is known of one program alone",
        |job| job.calls.iter().any(|call| job.name(call.name).contains("GetDeviceProperties")),
        "calls.properties.permille=1000",
    ),
];

/// What the program would take if it were otherwise, in sentences, where that differs by 3 % or more.
pub fn doubts(
    question: &Question<'_>,
    machine: &Resolved,
    (off, cc): (&Played, &Played),
) -> Result<Vec<String>, ReplayError> {
    let job = question.job;
    let times = |played: &Played| length(job, played) as f64 / length(job, off).max(1) as f64;
    let mut told = Vec::new();
    for (what, matters, setting) in DOUBTS {
        if !matters(job) {
            continue;
        }
        let Ok(other) = machine.with(&[setting.to_owned()]) else { continue };
        let played = question.secure(&other, Causes::default())?.played;
        let (one, other) = (length(job, cc) as f64, length(job, &played) as f64);
        if (one - other).abs() > WORTH * one {
            let (now, then) = (times(cc), times(&played));
            told.push(format!("Not known: it takes {now:.3} times as long as without CC, or {then:.3} times if {what} (--set {setting})."));
        }
    }
    Ok(told)
}
