//! What a replay comes to.

use super::{
    Ns,
    copies::Counts,
    job::{Call, Job, Way, Work},
    play::{Played, Span},
};
use crate::workload::trace::CallKind;
use serde::Serialize;
use std::collections::BTreeMap;

/// A replay, and how its copies came about.
#[derive(Debug, Clone)]
pub struct Answer {
    pub played: Played,
    /// The other ranks that were replayed with it.
    pub mates: Vec<Played>,
    /// Collectives that did not wait for all of their ranks.
    pub early: usize,
    pub counts: Counts,
    /// Collectives that keep their length, as the machine has no fabric for them.
    pub collectives_kept: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct DeviceCopies {
    pub h2d: Ns,
    pub d2h: Ns,
    pub d2d: Ns,
}

/// The calls of one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostCallFigures {
    /// As in the trace.
    pub name: String,
    pub count: u64,
    pub total_ns: Ns,
    pub first_ns: Ns,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// `off`, `cc`, or a design.
    pub name: String,
    /// From the start of the first operation of the device to the end of the last; none with confidential computing where no slow-down is given.
    pub end_ns: Option<Ns>,
    /// From the first call to the end of the last operation or call; none likewise.
    pub total_ns: Option<Ns>,
    pub device_copy_ns: Option<DeviceCopies>,
    /// Time in calls, over all threads.
    pub host_call_ns: Option<Ns>,
    /// Time before the end of the last operation in which no thread is in a call.
    pub host_gap_ns: Option<Ns>,
    /// Time between the first and the last operation in which no device does anything.
    pub gpu_idle_ns: Option<Ns>,
    /// `end_ns` over that of the replay without confidential computing; none where it is not given.
    pub slowdown_over_off: Option<f64>,
    pub copies: Counts,
    /// Collectives that keep their length, as the machine has no fabric for as many GPUs.
    pub collectives_kept: u64,
    /// Calls by name, the longest in all first.
    pub host_calls: Vec<HostCallFigures>,
}

impl Figures {
    /// Of a replay; `off` is that without confidential computing.
    pub fn of(job: &Job, name: &str, answer: &Answer, off: &Played) -> Self {
        let played = &answer.played;
        // Of a program that gets no slow-down only what it took without confidential computing is known, and calls by themselves.
        let known = !job.no_slowdown || std::ptr::eq(played, off);
        let host_calls = host_calls(job, played, !known);
        let (end, off) = (played.device_time(), off.device_time());
        Self {
            name: name.to_owned(),
            end_ns: known.then_some(end),
            total_ns: known.then(|| total(played)),
            device_copy_ns: known.then(|| device_copies(job, played)),
            host_call_ns: known.then(|| host_calls.iter().fold(0_u64, |sum, call| sum.saturating_add(call.total_ns))),
            host_gap_ns: known.then(|| host_gaps(job, played)),
            gpu_idle_ns: known.then(|| end.saturating_sub(busy(played.ops.clone()))),
            slowdown_over_off: known.then(|| if off == 0 { 1.0 } else { end as f64 / off as f64 }),
            copies: answer.counts,
            collectives_kept: answer.collectives_kept,
            host_calls,
        }
    }
}

fn total(played: &Played) -> Ns {
    let all = || played.calls.iter().chain(&played.ops);
    let last = all().map(|span| span.end).max().unwrap_or(0);
    last.saturating_sub(all().map(|span| span.start).min().unwrap_or(0))
}

fn device_copies(job: &Job, played: &Played) -> DeviceCopies {
    let mut copies = DeviceCopies::default();
    for (op, span) in job.ops.iter().zip(&played.ops) {
        let sum = match op.work {
            Work::Copy { way: Way::H2d, .. } => &mut copies.h2d,
            Work::Copy { way: Way::D2h, .. } => &mut copies.d2h,
            Work::DeviceCopy => &mut copies.d2d,
            Work::Memset | Work::Kernel | Work::Collective(_) => continue,
        };
        *sum = sum.saturating_add(span.duration());
    }
    copies
}

/// Time outside calls, from the first call to the end of the last operation.
fn host_gaps(job: &Job, played: &Played) -> Ns {
    let last = played.ops.iter().map(|op| op.end).max().unwrap_or(0);
    let traced = job.calls.iter().zip(&played.calls).filter(|(call, span)| call.traced() && span.start < last);
    let spans: Vec<Span> = traced.map(|(_, span)| Span { end: span.end.min(last), ..*span }).collect();
    let first = spans.iter().map(|span| span.start).min().unwrap_or(last);
    (last - first).saturating_sub(busy(spans))
}

/// Time in which one of these is.
pub(super) fn busy(mut spans: Vec<Span>) -> Ns {
    spans.sort_unstable_by_key(|span| span.start);
    let (mut busy, mut until): (Ns, Ns) = (0, 0);
    for Span { start, end } in spans {
        busy = busy.saturating_add(end.max(until) - start.max(until).min(end.max(until)));
        until = until.max(end);
    }
    busy
}

/// Calls by name; if `alone`, without those that wait for the GPU or copy.
fn host_calls(job: &Job, played: &Played, alone: bool) -> Vec<HostCallFigures> {
    let waits = |call: &Call| matches!(call.kind, CallKind::Synchronize(_) | CallKind::Copy { .. } | CallKind::Free);
    let mut names: BTreeMap<u32, HostCallFigures> = BTreeMap::new();
    let told = |call: &Call| call.traced() && !(alone && waits(call));
    for (call, span) in job.calls.iter().zip(&played.calls).filter(|(call, _)| told(call)) {
        let first =
            HostCallFigures { name: job.name(call.name).to_owned(), count: 0, total_ns: 0, first_ns: span.duration() };
        let of_name = names.entry(call.name).or_insert(first);
        of_name.count += 1;
        of_name.total_ns = of_name.total_ns.saturating_add(span.duration());
    }
    let mut all: Vec<_> = names.into_values().collect();
    all.sort_by(|one, other| other.total_ns.cmp(&one.total_ns).then_with(|| one.name.cmp(&other.name)));
    all
}

/// A call that costs more with confidential computing than without.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Operation {
    pub name: String,
    /// What it had the device do, if anything.
    pub operation: Option<String>,
    pub bytes: Option<u64>,
    /// Where the trace has it.
    pub place: String,
    /// Start without confidential computing, from the first call.
    pub start_ns: Ns,
    pub off_ns: Ns,
    pub cc_ns: Ns,
}

/// The places of the traced calls that grow most.
pub fn costliest(job: &Job, off: &Played, cc: &Played, count: usize) -> Vec<usize> {
    let grown = |place: usize| cc.calls[place].duration().saturating_sub(off.calls[place].duration());
    let mut places: Vec<usize> =
        (0..job.calls.len()).filter(|place| job.calls[*place].traced() && grown(*place) > 0).collect();
    places.sort_by_key(|place| (std::cmp::Reverse(grown(*place)), *place));
    places.truncate(count);
    places
}

/// The calls at these places of a job, played without confidential computing and with it.
pub fn operations(job: &Job, off: &Played, cc: &Played, places: &[usize]) -> Vec<Operation> {
    let operation = |place: usize| {
        let call = &job.calls[place];
        let ops = || call.ops.iter().map(|op| &job.ops[*op as usize]);
        let bytes = ops().filter_map(|op| match op.work {
            Work::Copy { bytes, .. } => Some(bytes),
            _ => None,
        });
        let bytes: Vec<u64> = bytes.collect();
        Operation {
            name: job.name(call.name).to_owned(),
            operation: ops().next().map(|op| job.name(op.name).to_owned()),
            bytes: (!bytes.is_empty()).then(|| bytes.iter().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes))),
            place: job.place(call),
            start_ns: off.calls[place].start,
            off_ns: off.calls[place].duration(),
            cc_ns: cc.calls[place].duration(),
        }
    };
    places.iter().map(|place| operation(*place)).collect()
}
