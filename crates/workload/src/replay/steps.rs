//! The loop of a program: where each of its steps ends, by marks of the profiler or by what comes again.
//!
//! A step ends where a call returns that the host waits in, or that comes once in each turn. Such a call is looked for on the thread that makes most
//! calls: of all that come again, that one whose turns are alike, and of these the one with the shortest turns.
//!
//! Where the host runs ahead of the GPU, a step lasts until the GPU has done what calls of the step asked for: of the host's dates and the GPU's, those
//! count that are further apart.

use super::{
    Ns,
    figures::busy,
    job::{Call, Job, Way, Work},
    play::{Played, Span},
};
use crate::workload::trace::CallKind;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Fewer turns are no loop.
const TURNS: usize = 3;
/// A loop takes at least this part of the profile, in hundredths.
const PART: u64 = 50;
/// So many of the turns, in hundredths, have as many calls as the usual one, within a tenth.
const ALIKE: usize = 75;
/// A turn may hold the same call so often.
const OFTEN: usize = 8;
/// What each turn has is looked at for so many kinds of calls at most.
const KINDS: usize = 64;

/// The bounds of a program's steps, and whose they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Steps {
    /// Dates in the trace between which steps lie: one more than steps.
    pub bounds: Vec<Ns>,
    /// The thread whose dates these are.
    pub thread: u32,
    /// How they were found, in a sentence.
    pub found: String,
}

/// What a call is, for comparing turns.
type Kind = (u8, u32, u32);

/// Steps of a replay, in figures. Host times are those of the thread whose steps they are, idle time that of all GPUs; means over steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepFigures {
    pub mean_ns: Ns,
    pub p10_ns: Ns,
    pub median_ns: Ns,
    pub p90_ns: Ns,
    pub p99_ns: Ns,
    pub gpu_idle_ns: Ns,
    pub launch_calls_ns: Ns,
    pub copy_calls_ns: Ns,
    pub wait_calls_ns: Ns,
    pub other_calls_ns: Ns,
    pub host_gap_ns: Ns,
    pub slowdown_over_off: f64,
    /// Whether the host, and not the GPU, decides how long a step is: the GPU is idle for longer than the host waits, or is ahead.
    pub host_bound: bool,
}

impl Steps {
    /// The steps of a job, if it has any.
    pub fn of(job: &Job) -> Option<Self> {
        let thread = busiest(job)?;
        let mut steps = marked(job, thread).or_else(|| repeated(job, thread))?;
        if !job.beginning.creates.is_empty() {
            steps.leave_out_start();
        }
        Some(steps)
    }

    /// Leaves out first steps that are longer than usual, of a program that begins in its profile, as long as a loop is left.
    fn leave_out_start(&mut self) {
        let each: Vec<Ns> = self.bounds.windows(2).map(|two| two[1] - two[0]).collect();
        let mut sorted = each.clone();
        sorted.sort_unstable();
        let usual = sorted.get(sorted.len() / 2).copied().unwrap_or(0);
        let first = each.iter().take_while(|length| **length > usual.saturating_mul(2)).count();
        if first > 0 && each.len() >= first + TURNS {
            self.bounds.drain(..first);
            self.found = format!("{}, without the first {first}, which are longer", self.found);
        }
    }

    pub fn count(&self) -> usize {
        self.bounds.len().saturating_sub(1)
    }

    /// When the host comes to its bounds in a replay.
    fn host(&self, job: &Job, played: &Played) -> Vec<Ns> {
        let own: Vec<(&Call, &Span)> =
            job.calls.iter().zip(&played.calls).filter(|(call, _)| call.thread == self.thread).collect();
        let date = |bound: &Ns| {
            let upto = own.partition_point(|(call, _)| call.start <= *bound);
            let Some((call, span)) = upto.checked_sub(1).map(|last| own[last]) else {
                let first = own.first().map_or((0, 0), |(call, span)| (call.start, span.start));
                return first.1.saturating_sub(first.0.saturating_sub(*bound));
            };
            match bound.checked_sub(call.end()) {
                Some(later) => span.end.saturating_add(job.host(later)),
                None => span.start.saturating_add(*bound - call.start).min(span.end),
            }
        };
        let mut last = 0;
        let dates = self.bounds.iter().map(|bound| {
            last = date(bound).max(last);
            last
        });
        dates.collect()
    }

    /// When the host has come to its bounds, and the streams that it uses have done what was asked for before. A single step is all that was asked for,
    /// from where its first operation begins: what the GPU did until then is not known.
    fn done(&self, job: &Job, played: &Played, host: &[Ns]) -> Vec<Ns> {
        let own = |call: &&Call| call.traced() && call.thread == self.thread;
        let mut used = vec![false; job.streams];
        for op in job.calls.iter().filter(own).flat_map(|call| &call.ops) {
            used[job.ops[*op as usize].stream as usize] = true;
        }
        // What runs before the first operation with a call was asked for before the profile began.
        let mut begun = vec![false; job.streams];
        let (single, mut first) = (self.count() == 1, Ns::MAX);
        let mut dates = host.to_vec();
        let mut step = 0;
        for call in &job.calls {
            while self.bounds.get(step).is_some_and(|bound| *bound <= call.start) {
                step += 1;
            }
            for place in call.ops.iter().map(|place| *place as usize) {
                let stream = job.ops[place].stream as usize;
                begun[stream] |= call.traced();
                let (span, of) = (played.ops[place], if begun[stream] { step } else { 0 });
                let of = if single { of.min(1) } else { of };
                if let Some(date) = dates.get_mut(of).filter(|_| used[stream]) {
                    *date = span.end.max(*date);
                    first = if of > 0 { first.min(span.start) } else { first };
                }
            }
        }
        if single {
            dates[0] = first.min(dates[1]);
        }
        for step in 1..dates.len() {
            dates[step] = dates[step].max(dates[step - 1]);
        }
        dates
    }

    /// When its bounds come in a replay, and by how much further they are apart than the host's.
    fn dates(&self, job: &Job, played: &Played) -> (Vec<Ns>, Ns) {
        let host = self.host(job, played);
        let done = self.done(job, played, &host);
        match length(&done).checked_sub(length(&host)) {
            Some(ahead) if ahead > 0 => (done, ahead),
            _ => (host, 0),
        }
    }

    /// From the first bound to the last, in a replay.
    pub fn length(&self, job: &Job, played: &Played) -> Ns {
        length(&self.dates(job, played).0)
    }

    /// The same in the trace.
    pub fn traced(&self, job: &Job) -> Ns {
        let calls = job.calls.iter().map(|call| Span { start: call.start, end: call.end() }).collect();
        let ops = job.ops.iter().map(|op| Span { start: op.start, end: op.end() }).collect();
        self.length(job, &Played { calls, ops })
    }

    /// The step of median length in a replay, counted from 0.
    pub fn usual(&self, job: &Job, played: &Played) -> usize {
        let dates = self.dates(job, played).0;
        let mut each: Vec<(Ns, usize)> = dates.windows(2).zip(0..).map(|(two, step)| (two[1] - two[0], step)).collect();
        each.sort_unstable();
        each.get(each.len().saturating_sub(1) / 2).map_or(0, |(_, step)| *step)
    }

    /// From when to when a step lasts in a replay.
    pub fn span(&self, job: &Job, played: &Played, step: usize) -> Option<Span> {
        self.dates(job, played).0.get(step..step + 2).map(|two| Span { start: two[0], end: two[1] })
    }

    /// What a replay's steps come to; `off` is the length of all without confidential computing.
    pub fn figures(&self, job: &Job, played: &Played, off: Ns) -> StepFigures {
        let (dates, ahead) = self.dates(job, played);
        let ends =
            |dates: &[Ns]| Span { start: dates.first().copied().unwrap_or(0), end: dates.last().copied().unwrap_or(0) };
        let (all, host) = (ends(&dates), ends(&self.host(job, played)));
        let mut each: Vec<Ns> = dates.windows(2).map(|two| two[1] - two[0]).collect();
        each.sort_unstable();
        let count = each.len().max(1) as u64;
        let at = |hundredths: usize| each.get((each.len().max(1) - 1) * hundredths / 100).copied().unwrap_or(0);
        let within = |span: &Span, all: Span| Span {
            start: span.start.clamp(all.start, all.end),
            end: span.end.clamp(all.start, all.end),
        };
        let mut sums = [0; 4];
        let calls = job.calls.iter().zip(&played.calls).filter(|(call, _)| call.thread == self.thread && call.traced());
        for (call, span) in calls {
            let place = match call.kind {
                CallKind::Launch | CallKind::GraphLaunch | CallKind::Memset => 0,
                CallKind::Copy { .. } => 1,
                CallKind::Synchronize(_) => 2,
                _ => 3,
            };
            sums[place] += within(span, host).duration();
        }
        let idle = all.duration().saturating_sub(busy(played.ops.iter().map(|span| within(span, all)).collect()));
        let all = all.duration();
        let [launches, copies, waits, others] = sums.map(|sum| sum / count);
        StepFigures {
            mean_ns: all / count,
            p10_ns: at(10),
            median_ns: at(50),
            p90_ns: at(90),
            p99_ns: at(99),
            gpu_idle_ns: idle / count,
            launch_calls_ns: launches,
            copy_calls_ns: copies,
            wait_calls_ns: waits,
            other_calls_ns: others,
            host_gap_ns: (host.duration() / count).saturating_sub(launches + copies + waits + others),
            slowdown_over_off: if off == 0 { 1.0 } else { all as f64 / off as f64 },
            host_bound: idle / count > waits + ahead / count,
        }
    }
}

/// The thread that makes most calls that have the GPU do something; of several, the one that ends last.
fn busiest(job: &Job) -> Option<u32> {
    let mut counts: BTreeMap<u32, (usize, Ns)> = BTreeMap::new();
    for call in job.calls.iter().filter(|call| call.traced() && !call.ops.is_empty()) {
        let (count, last) = counts.entry(call.thread).or_default();
        (*count, *last) = (*count + 1, call.end().max(*last));
    }
    counts.into_iter().max_by_key(|(thread, last)| (*last, std::cmp::Reverse(*thread))).map(|(thread, _)| thread)
}

/// From the first date to the last.
fn length(dates: &[Ns]) -> Ns {
    dates.last().zip(dates.first()).map_or(0, |(last, first)| last - first)
}

/// The steps that the profiler marked: those that do not overlap.
fn marked(job: &Job, thread: u32) -> Option<Steps> {
    let mut bounds: Vec<Ns> = Vec::new();
    let mut until = 0;
    for (start, end) in job.marks.iter().copied().filter(|(start, end)| end > start) {
        // A mark within another one, as of a second thread, is the same step.
        if bounds.is_empty() || start >= until {
            bounds.push(start);
            until = end;
        }
    }
    // What a serving engine marks is the host's part of a step: a step ends where the next one begins, if there is one.
    if job.first_step.is_some() || bounds.len() == 1 {
        bounds.push(until);
    }
    (bounds.len() >= 2).then(|| Steps {
        found: match bounds.len() - 1 {
            1 => "1 step, as the profile marks it".to_owned(),
            count => format!("{count} steps, as the profile marks them"),
        },
        bounds,
        thread,
    })
}

fn kind(job: &Job, call: &Call) -> Kind {
    let op = call.ops.first().map(|op| &job.ops[*op as usize]);
    let of = match call.kind {
        CallKind::Synchronize(_) => 0,
        CallKind::Copy { .. } if op.is_some_and(|op| matches!(op.work, Work::Copy { way: Way::D2h, .. })) => 1,
        CallKind::GraphLaunch => 2,
        _ => 3,
    };
    (of, op.map_or(call.name, |op| op.name), op.map_or(u32::MAX, |op| op.stream))
}

/// The steps of a loop that nobody marked.
fn repeated(job: &Job, thread: u32) -> Option<Steps> {
    let all: Vec<&Call> = job.calls.iter().filter(|call| call.thread == thread && call.traced()).collect();
    let calls: Vec<&Call> = all
        .iter()
        .copied()
        .filter(|call| !call.ops.is_empty() || matches!(call.kind, CallKind::Synchronize(_)))
        .collect();
    let mut places: HashMap<Kind, Vec<usize>> = HashMap::new();
    for (place, call) in calls.iter().enumerate() {
        places.entry(kind(job, call)).or_default().push(place);
    }
    let mut kinds: Vec<(&Kind, &Vec<usize>)> = places.iter().filter(|(_, places)| places.len() > TURNS).collect();
    kinds.sort_by_key(|(kind, places)| (kind.0, places.len(), places[0]));
    kinds.truncate(KINDS);
    // What the host waits for is looked for first: it ends a step by itself.
    for waits in [true, false] {
        let wanted = kinds.iter().filter(|(kind, _)| (kind.0 <= 1) == waits);
        let found = wanted.filter_map(|(_, places)| turns(places)).max_by_key(|ends| covered(ends));
        if let Some(ends) = found.filter(|ends| 2 * covered(ends) >= calls.len()) {
            let last = *ends.last()?;
            let length = calls[last].end().saturating_sub(calls[ends[0]].end());
            if length.saturating_mul(100) < job.device_time().saturating_mul(PART) {
                return None;
            }
            let name = job.name(calls[last].name).to_owned();
            return Some(Steps {
                found: format!("{} steps, each of which ends with {name} ({})", ends.len() - 1, job.place(calls[last])),
                bounds: ends.iter().map(|place| calls[*place].end()).collect(),
                thread,
            });
        }
    }
    None
}

/// Of places where a call comes again, every first, second, ... so that turns are alike; without those at the beginning that are not.
fn turns(places: &[usize]) -> Option<Vec<usize>> {
    (1..=OFTEN).find_map(|every| {
        let ends: Vec<usize> = places.iter().rev().step_by(every).rev().copied().collect();
        let lengths: Vec<usize> = ends.windows(2).map(|two| two[1] - two[0]).collect();
        let mut sorted = lengths.clone();
        sorted.sort_unstable();
        let usual = *sorted.get(sorted.len() / 2)?;
        let alike = |length: &usize| length.abs_diff(usual) * 10 <= usual;
        let count = lengths.iter().filter(|length| alike(length)).count();
        let begins = lengths.iter().position(alike)?;
        let enough = lengths.len() >= TURNS && 100 * count >= ALIKE * lengths.len();
        enough.then(|| ends[begins..].to_vec())
    })
}

fn covered(ends: &[usize]) -> usize {
    ends.last().zip(ends.first()).map_or(0, |(last, first)| last - first)
}
