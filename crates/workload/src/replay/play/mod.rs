//! One pass over the calls of a job, which gives each call and each operation its new dates.
//!
//! | state | |
//! | --- | --- |
//! | thread | when it is free |
//! | stream | when its operations end; when the first of each launch began, for the depth of the queue |
//! | device | when its session can take the next copy: one cipher |
//! | process | when the last recorded event comes |

mod copy;
mod launch;
mod plain;
mod wait;

use super::{
    Ns,
    copies::CopyTime,
    job::{Call, Change, Job, Op, Work},
    latest::{Both, Latest},
    node::{Hall, Node},
    ops::Sparse,
    rules::Rules,
};
use crate::workload::trace::CallKind;
use plain::HostMemory;
use std::collections::{HashMap, HashSet};

/// From this gap on, a thread that begins right after a call of another thread has waited for it.
const HAND_OVER: Ns = 50_000;

/// Of operations that began before one whose call the trace does not have, so many are looked at.
const NEAR: usize = 64;

/// What copies between host and device take.
#[derive(Debug, Clone, Default)]
pub struct Times {
    pub secure: Sparse<CopyTime>,
    /// The call alone without, as simulated.
    pub off_call: Sparse<Ns>,
    /// By operation that is a collective, how much longer it takes than without confidential computing.
    pub longer: HashMap<usize, Ns>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    pub start: Ns,
    pub end: Ns,
}

impl Span {
    /// From start to end.
    pub const fn duration(self) -> Ns {
        self.end.saturating_sub(self.start)
    }
}

/// A job after its replay. Times run from its first call.
#[derive(Debug, Clone, Default)]
pub struct Played {
    pub calls: Vec<Span>,
    pub ops: Vec<Span>,
}

impl Played {
    /// From the start of the first operation to the end of the last.
    pub fn device_time(&self) -> Ns {
        let first = self.ops.iter().map(|op| op.start).min().unwrap_or(0);
        self.ops.iter().map(|op| op.end).max().unwrap_or(0).saturating_sub(first)
    }
}

/// A date in the replay, which is as far from `played` as in the trace `to` is from `from`.
const fn moved(played: Ns, from: Ns, to: Ns) -> Ns {
    if to >= from { played.saturating_add(to - from) } else { played.saturating_sub(from - to) }
}

#[derive(Debug, Clone, Default)]
struct Thread {
    /// Return of its last call.
    free: Option<Both>,
    /// A copy to the host whose end the program sees without a call.
    hidden: Option<usize>,
}

#[derive(Debug, Clone, Default)]
struct Stream {
    /// When its operations end.
    ended: Latest,
    /// When the first operation of each call began, in the replay.
    begun: Vec<Ns>,
}

/// What of a job does not change from replay to replay.
#[derive(Debug)]
struct Habits {
    /// Median and lower quartile of the durations of calls, by name.
    usual: HashMap<u32, (Ns, Ns)>,
    /// What is known of the queues of launches.
    queues: launch::Queues,
    /// When operations that have a call began in the trace, and which it was, if some have none.
    starts: Vec<(Ns, u32)>,
    /// Whether no call waits for the GPU, so that the program learns of ends in another way.
    never_waits: bool,
}

/// A rank, as it is played.
#[derive(Debug, Clone)]
pub struct Part<'a> {
    pub job: &'a Job,
    pub rules: Rules,
    pub times: Times,
}

/// A call whose operations get their dates.
#[derive(Debug, Clone, Copy)]
struct Launching {
    span: Span,
    /// Which of its operations is next.
    next: usize,
    /// The meeting that this operation waits for, which it has come to, and when it began.
    waits: Option<(u32, Ns)>,
}

struct Player<'a> {
    job: &'a Job,
    rank: usize,
    node: &'a Node,
    /// Calls that are taken.
    taken: usize,
    launching: Option<Launching>,
    rules: &'a Rules,
    times: &'a Times,
    habits: Habits,
    threads: Vec<Thread>,
    streams: Vec<Stream>,
    /// By device: when its session is free.
    session: Vec<Ns>,
    /// When operations end, over all streams.
    ended: Latest,
    /// The last operation of all, and the last recorded event.
    pending: Both,
    event: Option<Both>,
    /// The last call to return, and its thread.
    last: Option<(Both, u32)>,
    names_seen: HashSet<u32>,
    functions_seen: HashSet<u32>,
    memory: HostMemory,
    played: Played,
    /// Operations that have their dates.
    done: Vec<bool>,
}

/// Plays ranks together: each as far as it comes without the others, in turns. Also tells how many collectives did not wait for all of their ranks,
/// because these wait for each other in a circle.
pub fn play(parts: &[Part<'_>], node: &Node) -> (Vec<Played>, usize) {
    let mut players: Vec<Player<'_>> =
        parts.iter().enumerate().map(|(rank, part)| Player::new(rank, part, node)).collect();
    let mut halls = node.opened();
    let mut early = 0;
    loop {
        let mut goes_on = false;
        for player in &mut players {
            goes_on |= player.go(&mut halls);
        }
        if goes_on {
            continue;
        }
        let waiting = players.iter().filter_map(Player::waits).min_by_key(|(_, since)| *since);
        let Some((meeting, _)) = waiting else { break };
        halls[meeting as usize].leave();
        early += 1;
    }
    (players.into_iter().map(|player| player.played).collect(), early)
}

impl<'a> Player<'a> {
    fn new(rank: usize, Part { job, rules, times }: &'a Part<'a>, node: &'a Node) -> Self {
        Self {
            job,
            rank,
            node,
            taken: 0,
            launching: None,
            rules,
            times,
            habits: Habits::of(job),
            threads: vec![Thread::default(); job.threads],
            streams: job.in_stream.iter().map(|count| Stream::of(*count as usize)).collect(),
            ended: Latest::new(job.ops.len()),
            session: vec![0; job.devices],
            pending: Both::default(),
            event: None,
            last: None,
            names_seen: HashSet::new(),
            functions_seen: HashSet::new(),
            memory: HostMemory::of(job),
            played: Played { calls: Vec::with_capacity(job.calls.len()), ops: vec![Span::default(); job.ops.len()] },
            done: vec![false; job.ops.len()],
        }
    }

    /// Takes calls until one waits for another rank, or there are no more. Tells whether anything was done.
    fn go(&mut self, halls: &mut [Hall]) -> bool {
        let mut goes_on = false;
        while let Some(call) = self.job.calls.get(self.taken) {
            let before = self.launching.map(|launching| launching.next);
            if self.launching.is_none() {
                self.take(self.taken, call);
            }
            if let Some(launching) = self.launching {
                let whole = self.submit_rest(call, launching, halls);
                if !whole {
                    let after = self.launching.map(|launching| launching.next);
                    return goes_on || after != before;
                }
            }
            self.taken += 1;
            goes_on = true;
        }
        goes_on
    }

    /// The meeting that holds it up, and since when.
    fn waits(&self) -> Option<(u32, Ns)> {
        let (meeting, since) = self.launching?.waits?;
        Some((meeting, since.saturating_add(self.node.later(self.rank))))
    }
}

impl Player<'_> {
    /// Takes a call as far as its operations: those of a launch follow.
    fn take(&mut self, place: usize, call: &Call) {
        let own = self.starts(call);
        let start = if call.traced { own } else { own.max(self.follows(call)) };
        if matches!(call.change, Change::Gone | Change::GoneWithWork) {
            return self.skip(call, start);
        }
        let first = self.names_seen.insert(call.name);
        let creates = self.job.beginning.creates.binary_search(&(place as u32)).is_ok();
        let work = call.ops.first().map(|op| self.job.ops[*op as usize].work);
        let end = match (call.kind, work) {
            (CallKind::Synchronize(waited), _) => {
                call.ops.iter().for_each(|op| self.within(*op as usize, call, start));
                self.wait(call, waited, start)
            }
            (_, Some(Work::Copy { .. })) if !is_launch(call.kind) => self.copy(call, start),
            (_, Some(_)) => {
                let span = Span { start, end: self.launch(place, call, start, first) };
                self.launching = Some(Launching { span, next: 0, waits: None });
                return;
            }
            (CallKind::Launch | CallKind::GraphLaunch | CallKind::Memset, None) => {
                self.launch(place, call, start, first)
            }
            _ => self.plain(call, start, creates),
        };
        self.returns_after(place, call, Span { start, end });
    }

    /// Notes when a call was made that may create a context.
    fn returns_after(&mut self, place: usize, call: &Call, span: Span) {
        let creates = self.job.beginning.creates.binary_search(&(place as u32)).is_ok();
        let end = span.end.saturating_add(if creates { self.rules.context() } else { 0 }).max(span.start);
        self.returns(call, Span { end, ..span });
    }

    /// Notes when a call was made.
    fn returns(&mut self, call: &Call, span: Span) {
        self.played.calls.push(span);
        let returned = Both { played: span.end, traced: call.end() };
        self.threads[call.thread as usize].free = Some(returned);
        if self.last.is_none_or(|(last, _)| returned.traced >= last.traced) {
            self.last = Some((returned, call.thread));
        }
    }

    /// Leaves out a call that would begin at `start`.
    fn skip(&mut self, call: &Call, start: Ns) {
        let free = self.threads[call.thread as usize].free.map_or(start, |free| free.played);
        let at = if call.change == Change::GoneWithWork { free } else { start };
        for place in call.ops.iter().map(|place| *place as usize) {
            let op = &self.job.ops[place];
            let begins = self.before(op).unwrap_or(0).max(at);
            self.put(place, op, begins, 0);
        }
        if !call.ops.is_empty() {
            self.begins(call);
        }
        self.returns(call, Span { start: at, end: at });
    }

    /// When a call begins: the gap behind the call before it stays as it was.
    fn starts(&mut self, call: &Call) -> Ns {
        let thread = &mut self.threads[call.thread as usize];
        let hidden = thread.hidden.take();
        let Some(free) = thread.free else {
            // A thread that is new was begun by the thread that called last.
            let after = self.last.filter(|(last, _)| last.traced <= call.start);
            return after.map_or(call.start, |(last, _)| last.played.saturating_add(call.start - last.traced));
        };
        let gap = call.start.saturating_sub(free.traced);
        let own = free.played.saturating_add(self.job.host(gap));
        if let Some(place) = hidden {
            let op = &self.job.ops[place];
            if free.traced < op.end() && op.end() <= call.start {
                let slower = self.rules.completion().saturating_sub(self.rules.completion_off());
                let later = self.job.host(call.start - op.end());
                let seen = self.played.ops[place].end.saturating_add(later).saturating_add(slower);
                return seen.max(free.played);
            }
        }
        match self.last {
            Some((last, other))
                if gap > HAND_OVER
                    && other != call.thread
                    && free.traced < last.traced
                    && last.traced <= call.start =>
            {
                last.played.saturating_add(self.job.host(call.start - last.traced)).max(free.played)
            }
            _ => own,
        }
    }

    /// When an operation was submitted at least whose call the trace does not have: it moves with the operation that began last before it.
    fn follows(&self, call: &Call) -> Ns {
        let (starts, at) = (&self.habits.starts, call.start);
        let upto = starts.partition_point(|(start, _)| *start <= at);
        let last = starts[..upto].iter().rev().take(NEAR).find(|(_, place)| self.done[*place as usize]);
        last.map_or(0, |(start, place)| {
            let (op, span) = (&self.job.ops[*place as usize], self.played.ops[*place as usize]);
            if op.end() <= at { moved(span.end, op.end(), at) } else { moved(span.start, *start, at) }
        })
    }

    /// Gives an operation its dates.
    fn put(&mut self, place: usize, op: &Op, start: Ns, duration: Ns) -> Ns {
        let end = start.saturating_add(duration);
        self.played.ops[place] = Span { start, end };
        self.done[place] = true;
        let both = Both { played: end, traced: op.end() };
        self.streams[op.stream as usize].ended.put(op.rank, both);
        self.ended.put(op.rank_of_all, both);
        self.pending.join(both);
        end
    }

    /// Notes when the first operation of a call began, for the queue of its stream.
    fn begins(&mut self, call: &Call) {
        let Some(head) = call.ops.first().map(|op| *op as usize) else { return };
        let (start, begun) = (self.played.ops[head].start, &mut self.streams[self.job.ops[head].stream as usize].begun);
        begun.push(begun.last().map_or(start, |last| start.max(*last)));
    }

    /// When what an operation's stream had done before it in the trace is done: if the two overlap in the trace, by as much earlier.
    fn before(&self, op: &Op) -> Option<Ns> {
        let ended = self.streams[op.stream as usize].ended.below(op.behind)?.played;
        Some(ended.saturating_sub(op.before.map_or(0, |before| before.saturating_sub(op.start))))
    }

    /// The latest of what had ended in the trace by then.
    fn ended_by(&self, traced: Ns) -> Both {
        let count = self.job.ends.partition_point(|(end, _)| *end <= traced);
        self.ended.below(count as u32).unwrap_or_default()
    }

    /// All that is in progress, with the last event.
    fn under_way(&self) -> Both {
        let mut all = self.pending;
        all.join(self.event.unwrap_or_default());
        all
    }

    /// When an operation of another stream lets this one begin, which it did so much later.
    fn behind(&self, place: u32, later: Ns) -> Ns {
        let place = place as usize;
        if self.done[place] { self.played.ops[place].end.saturating_add(later) } else { 0 }
    }
}

const fn is_launch(kind: CallKind) -> bool {
    matches!(kind, CallKind::Launch | CallKind::GraphLaunch)
}

impl Stream {
    fn of(count: usize) -> Self {
        Self { ended: Latest::new(count), begun: Vec::new() }
    }
}

impl Habits {
    fn of(job: &Job) -> Self {
        let mut durations: HashMap<u32, Vec<Ns>> = HashMap::new();
        for call in &job.calls {
            durations.entry(call.name).or_default().push(call.duration);
        }
        let usual = durations.into_iter().map(|(name, mut durations)| {
            durations.sort_unstable();
            (name, (durations[durations.len() / 2], durations[durations.len() / 4]))
        });
        let usual: HashMap<u32, (Ns, Ns)> = usual.collect();
        let queues = launch::Queues::of(job, &usual);
        let never_waits = !job.calls.iter().any(|call| matches!(call.kind, CallKind::Synchronize(_)));
        let alone = job.calls.iter().any(|call| !call.traced);
        let mut starts: Vec<(Ns, u32)> = Vec::new();
        if alone {
            let traced = job.calls.iter().filter(|call| call.traced).flat_map(|call| &call.ops);
            starts = traced.map(|place| (job.ops[*place as usize].start, *place)).collect();
            starts.sort_unstable();
        }
        Self { usual, queues, starts, never_waits }
    }
}
