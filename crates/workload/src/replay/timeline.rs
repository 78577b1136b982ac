//! A replay as rows of marks: what each thread and each GPU does, and when.

use super::{
    Ns,
    job::{Call, Job, Op, Way, Work},
    play::{Played, Span},
};
use crate::{
    observe::perfetto::{Group, GroupSlice},
    units::Femtos,
    workload::trace::CallKind,
};
use std::collections::BTreeMap;

/// Threads that have a row: those that are in calls for longest.
const THREADS: usize = 4;
const GPUS: u32 = 4;

/// What is done in a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The host is in a call that copies, and that returns when its copy is done.
    Holds,
    /// The host is in another call that copies.
    Copies,
    /// The host is in a call that launches a kernel, a graph or a fill.
    Launches,
    /// The host waits for the GPU.
    Waits,
    /// The host is in another call.
    OtherCalls,
    /// The GPU runs kernels, collectives among them.
    Kernels,
    H2d,
    D2h,
    /// Fills, and copies that stay on GPUs.
    OtherWork,
}

impl Mark {
    pub const HOST: [Self; 5] = [Self::Holds, Self::Copies, Self::Launches, Self::Waits, Self::OtherCalls];
    pub const GPU: [Self; 4] = [Self::Kernels, Self::H2d, Self::D2h, Self::OtherWork];

    const fn of_call(kind: CallKind) -> Self {
        match kind {
            CallKind::Copy { .. } => Self::Copies,
            CallKind::Launch | CallKind::GraphLaunch | CallKind::Memset => Self::Launches,
            CallKind::Synchronize(_) => Self::Waits,
            _ => Self::OtherCalls,
        }
    }

    const fn of_op(op: &Op) -> Self {
        match op.work {
            Work::Kernel | Work::Collective(_) => Self::Kernels,
            Work::Copy { way: Way::H2d, .. } => Self::H2d,
            Work::Copy { way: Way::D2h, .. } => Self::D2h,
            Work::DeviceCopy | Work::Memset => Self::OtherWork,
        }
    }
}

/// Whose marks stand in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// A thread, by its number in the job.
    Thread(u32),
    /// What a GPU does of one kind.
    Gpu(u32, Mark),
}

/// Marks of a thread, or of one kind of work of a GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub owner: Owner,
    /// In no particular order; those of a GPU may overlap. There may be none.
    pub marks: Vec<(Mark, Span)>,
}

/// A replay as rows. Times run from the start of its first operation; what is before that is not in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Timeline {
    /// Threads, then GPUs. All replays of a job have the same.
    pub rows: Vec<Row>,
    pub end: Ns,
}

impl Timeline {
    /// That of a replay of a job.
    pub fn of(job: &Job, played: &Played) -> Self {
        let first = played.ops.iter().map(|op| op.start).min().unwrap_or(0);
        Self { rows: Self::within(job, played, Span { start: first, end: Ns::MAX }), end: played.device_time() }
    }

    /// The same of what lies in a step, from the step's start.
    pub fn of_step(job: &Job, played: &Played, step: Span) -> Self {
        Self { rows: Self::within(job, played, step), end: step.duration() }
    }

    fn within(job: &Job, played: &Played, all: Span) -> Vec<Row> {
        let of_call =
            |call: &Call, span: &Span| if holds(call, span, played) { Mark::Holds } else { Mark::of_call(call.kind) };
        let mut rows: Vec<Row> = owners(job).into_iter().map(|owner| Row { owner, marks: Vec::new() }).collect();
        let mut add = |owner: Owner, mark: Mark, span: &Span| {
            let inside = |date: Ns| date.min(all.end).saturating_sub(all.start);
            let span = Span { start: inside(span.start), end: inside(span.end) };
            let row = rows.iter_mut().find(|row| row.owner == owner);
            if let Some(row) = row.filter(|_| span.duration() > 0) {
                row.marks.push((mark, span));
            }
        };
        for (call, span) in job.calls.iter().zip(&played.calls).filter(|(call, _)| call.traced()) {
            add(Owner::Thread(call.thread), of_call(call, span), span);
        }
        for (op, span) in job.ops.iter().zip(&played.ops) {
            let mark = Mark::of_op(op);
            add(Owner::Gpu(job.device(op), mark), mark, span);
        }
        rows
    }
}

/// What the host does while a call holds it.
const HELD: &str = "holds the host until its copy is done";
const WAITS: &str = "waits for the GPU";

/// A step of a replay under the names of its calls and operations: a track for each thread and stream.
pub fn step_tracks(name: &str, job: &Job, played: &Played, step: Span) -> Group {
    let mut tracks: BTreeMap<(bool, u32, u32), Vec<GroupSlice>> = BTreeMap::new();
    let mut add = |track, name: u32, span: &Span, (bytes, note)| {
        let date =
            |date: Ns| Femtos(date.clamp(step.start, step.end).saturating_sub(step.start).saturating_mul(1_000_000));
        let span = (date(span.start), date(span.end));
        if span.0 < span.1 {
            let slice = GroupSlice { name: job.name(name).to_owned(), span, bytes, note };
            tracks.entry(track).or_default().push(slice);
        }
    };
    for (call, span) in job.calls.iter().zip(&played.calls).filter(|(call, _)| call.traced()) {
        let held = holds(call, span, played).then_some(HELD);
        let waits = matches!(call.kind, CallKind::Synchronize(_)).then_some(WAITS);
        add((false, 0, call.thread), call.name, span, (None, held.or(waits)));
    }
    for (op, span) in job.ops.iter().zip(&played.ops) {
        let bytes = if let Work::Copy { bytes, .. } = op.work { Some(bytes) } else { None };
        add((true, job.device(op), op.stream), op.name, span, (bytes, None));
    }
    let named = tracks.into_iter().map(|((gpu, device, number), mut slices)| {
        slices.sort_by_key(|slice| slice.span);
        let what = if gpu { format!("GPU {device}, stream {}", number + 1) } else { format!("thread {}", number + 1) };
        (what, slices)
    });
    Group { name: name.to_owned(), tracks: named.collect() }
}

/// Whether a call that copies returns when its copies are done.
pub(super) fn holds(call: &Call, span: &Span, played: &Played) -> bool {
    let done = call.ops.iter().filter_map(|op| played.ops.get(*op as usize)).map(|op| op.end).max();
    matches!(call.kind, CallKind::Copy { .. }) && done.is_some_and(|done| span.end >= done)
}

/// Whose rows a job has: threads by their number, then GPUs with what they do.
fn owners(job: &Job) -> Vec<Owner> {
    let mut threads: Vec<(Ns, u32)> = (0..job.threads as u32).map(|thread| (0, thread)).collect();
    for call in job.calls.iter().filter(|call| call.traced()) {
        if let Some((time, _)) = threads.get_mut(call.thread as usize) {
            *time = time.saturating_add(call.duration);
        }
    }
    threads.retain(|(time, _)| *time > 0);
    threads.sort_unstable_by_key(|(time, thread)| (std::cmp::Reverse(*time), *thread));
    threads.truncate(THREADS);
    threads.sort_unstable_by_key(|(_, thread)| *thread);
    let mut owners: Vec<Owner> = threads.into_iter().map(|(_, thread)| Owner::Thread(thread)).collect();
    for device in 0..(job.devices as u32).min(GPUS) {
        let does = |mark: Mark| job.ops.iter().any(|op| job.device(op) == device && Mark::of_op(op) == mark);
        owners.extend(Mark::GPU.into_iter().filter(|mark| does(*mark)).map(|mark| Owner::Gpu(device, mark)));
    }
    owners
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        sim::Control,
        workload::trace::{self, Input},
    };

    /// A copy that holds its call, and a kernel, as a profiler writes them; as it was.
    fn played() -> (Job, Played) {
        let event = |cat: &str, name: &str, (thread, start, duration): (u32, u32, u32), more: &str| {
            format!(
                "{{\"ph\":\"X\",\"cat\":\"{cat}\",\"name\":\"{name}\",\"pid\":0,\"tid\":{thread},\"ts\":{start},\"dur\":{duration},\
                 \"args\":{{\"correlation\":{more}}}}}"
            )
        };
        let events = [
            event("cuda_runtime", "cudaMemcpy", (1, 0, 60), "1"),
            event(
                "gpu_memcpy",
                "Memcpy HtoD (Pageable -> Device)",
                (7, 10, 50),
                "1,\"device\":0,\"stream\":7,\"bytes\":64",
            ),
            event("cuda_runtime", "cudaLaunchKernel", (1, 70, 5), "2"),
            event("kernel", "k", (7, 77, 100), "2,\"device\":0,\"stream\":7"),
            event("cuda_runtime", "cudaDeviceSynchronize", (1, 80, 100), "3"),
        ];
        let text = format!("{{\"traceEvents\":[{}]}}", events.join(","));
        let input = Input::Bytes { name: "t", bytes: text.as_bytes() };
        let trace = trace::read(input, None, &mut |_, _| Control::Continue).unwrap();
        let job = Job::of(&trace, 1_400);
        let span = |(start, duration): (Ns, Ns)| Span { start, end: start + duration };
        let calls = trace.calls.iter().map(|call| span((call.start_ns, call.duration_ns))).collect();
        let ops = trace.device.iter().map(|op| span((op.start_ns, op.duration_ns))).collect();
        (job, Played { calls, ops })
    }

    #[test]
    fn a_step_begins_at_its_start_ends_at_its_end_and_marks_what_holds_the_host() {
        let (job, played) = played();
        let step = Timeline::of_step(&job, &played, Span { start: 5_000, end: 100_000 });
        let span = |start, end| Span { start, end };
        let host = [
            (Mark::Holds, span(0, 55_000)),
            (Mark::Launches, span(65_000, 70_000)),
            (Mark::Waits, span(75_000, 95_000)),
        ];
        assert_eq!(step.rows[0].marks, host);
        assert_eq!((&step.rows[1].marks[..], step.end), (&[(Mark::Kernels, span(72_000, 95_000))][..], 95_000));
        // A copy that is done after its call has returned does not hold it.
        let later = Played { ops: vec![span(10_000, 61_000), played.ops[1]], ..played };
        let step = Timeline::of_step(&job, &later, Span { start: 0, end: 100_000 });
        assert_eq!(step.rows[0].marks[0].0, Mark::Copies);
    }

    #[test]
    fn times_run_from_the_first_operation_and_each_kind_of_work_has_a_row() {
        let (job, played) = played();
        let timeline = Timeline::of(&job, &played);
        let owners: Vec<_> = timeline.rows.iter().map(|row| row.owner).collect();
        assert_eq!(owners, [Owner::Thread(0), Owner::Gpu(0, Mark::Kernels), Owner::Gpu(0, Mark::H2d)]);
        let span = |start, end| Span { start, end };
        let host = [
            (Mark::Holds, span(0, 50_000)),
            (Mark::Launches, span(60_000, 65_000)),
            (Mark::Waits, span(70_000, 170_000)),
        ];
        assert_eq!(timeline.rows[0].marks, host);
        assert_eq!(timeline.rows[1].marks, [(Mark::Kernels, span(67_000, 167_000))]);
        assert_eq!((timeline.rows[2].marks.len(), timeline.end), (1, 167_000));
    }
}
