//! What a job takes on a machine: new dates for its calls and its operations, in the order of these dates.
//!
//! | state | |
//! | --- | --- |
//! | thread | when its last call returned, and what the call in progress waits for |
//! | [device] | streams, engines and the session of each GPU |
//! | process | the last recorded event |
//!
//! Who waits for whom is the [law](crate::host::law)'s matter; how long a call takes is that of [`rules`](super::rules).

mod copy;
pub(super) mod device;
mod launch;
mod plain;
mod wait;

use super::{
    Ns,
    copies::CopyTime,
    job::{Bind, Call, Change, Job, Work},
    latest::Both,
    node::{Hall, Node},
    ops::Sparse,
    rules::Rules,
};
use crate::workload::trace::CallKind;
use device::{Device, Engines, Task};
use plain::HostMemory;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::{cmp::Reverse, collections::BinaryHeap};

/// A thread with a longer gap has waited for the last call of another thread that returned within it, however long before the gap's end.
const HAND_OVER: Ns = 50_000;

/// What copies between host and device take.
#[derive(Debug, Clone, Default)]
pub struct Times {
    /// As simulated; none where they take what they took in the trace.
    pub copies: Sparse<CopyTime>,
    /// Those that have waited for their streams.
    pub waited: Sparse<CopyTime>,
    /// The call alone without confidential computing, as simulated.
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

#[derive(Debug, Clone, Copy)]
struct Doing {
    start: Ns,
    /// Until when it is known to take.
    end: Ns,
    /// How many of its operations are submitted, and whether it waits for the last of them.
    submitted: usize,
    waits: bool,
    /// Of a call that waits for the GPU: what it waits for.
    asked: Option<[Option<Event>; 2]>,
}

#[derive(Debug, Clone, Default)]
struct Thread {
    /// Its calls, in its order, and how many have returned.
    calls: Vec<u32>,
    returned: usize,
    /// Return of its last call.
    free: Option<Both>,
    /// A copy to the host whose end the program sees without a call.
    hidden: Option<u32>,
    doing: Option<Doing>,
    /// What the call in progress waits for, where the profile says which streams.
    awaited: Vec<u32>,
    /// The last copy that another thread makes for it, and how long after its end that one can make the next.
    aside: Option<(u32, Ns)>,
}

/// A recorded event: it comes when so many operations that were submitted before it have ended, and not before a date.
#[derive(Debug, Clone, Copy, Default)]
struct Event {
    upto: usize,
    date: Ns,
    traced: Ns,
}

/// What of a job does not change from replay to replay.
#[derive(Debug)]
struct Habits {
    /// Median and lower quartile of the durations of calls, by name.
    usual: HashMap<u32, (Ns, Ns)>,
    /// What is known of the queues of launches.
    queues: launch::Queues,
    /// By operation, its call.
    call_of: Vec<u32>,
    /// By call that begins after one of another thread: that one.
    follows: HashMap<u32, u32>,
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

#[derive(Debug, Clone, Copy)]
enum Await {
    Op(u32),
    Call(u32),
}

impl From<u32> for Await {
    fn from(op: u32) -> Self {
        Self::Op(op)
    }
}

struct Player<'a> {
    job: &'a Job,
    rank: usize,
    node: &'a Node,
    rules: &'a Rules,
    times: &'a Times,
    habits: Habits,
    threads: Vec<Thread>,
    device: Device,
    /// By call that launches a graph: when it was made, and how long its nodes hold a slot.
    graphs: HashMap<u32, (Span, Option<Ns>)>,
    /// Calls that begin at a date that is known, with their threads.
    coming: BinaryHeap<Reverse<(Ns, u32, u32)>>,
    /// By call that has not returned: threads that begin after it.
    waiting: HashMap<u32, Vec<u32>>,
    calls: Vec<Span>,
    returned: Vec<bool>,
    /// By stream, the first operation of each call, and the last that is submitted.
    begun: Vec<Vec<u32>>,
    last_of: Vec<Option<u32>>,
    /// The latest end of what is submitted, in the trace, and the last recorded event.
    pending: Ns,
    event: Option<Event>,
    /// By GPU, the last copy that keeps the session until its end.
    kept: Vec<Option<u32>>,
    names_seen: HashSet<u32>,
    functions_seen: HashSet<u32>,
    memory: HostMemory,
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
        let waiting = players.iter().filter_map(|player| player.device.parked()).min_by_key(|(_, since)| *since);
        let Some((meeting, _)) = waiting else { break };
        halls[meeting as usize].leave();
        early += 1;
    }
    let played = players.into_iter().map(|player| Played { calls: player.calls, ops: player.device.spans });
    (played.collect(), early)
}

impl<'a> Player<'a> {
    fn new(rank: usize, Part { job, rules, times }: &'a Part<'a>, node: &'a Node) -> Self {
        let mut counts = vec![0; job.threads];
        job.calls.iter().for_each(|call| counts[call.thread as usize] += 1);
        let thread = |count: usize| Thread { calls: Vec::with_capacity(count), ..Thread::default() };
        let mut threads: Vec<Thread> = counts.into_iter().map(thread).collect();
        for (call, place) in job.calls.iter().zip(0..) {
            threads[call.thread as usize].calls.push(place);
        }
        let engines = Engines { slots: rules.engines.slots.max(job.at_once), ..rules.engines };
        let mut player = Self {
            job,
            rank,
            node,
            rules,
            times,
            habits: Habits::of(job),
            device: Device::new(&job.in_stream, job.threads, job.devices, job.ops.len(), engines),
            graphs: HashMap::default(),
            coming: BinaryHeap::new(),
            waiting: HashMap::default(),
            calls: vec![Span::default(); job.calls.len()],
            returned: vec![false; job.calls.len()],
            begun: vec![Vec::new(); job.streams],
            last_of: vec![None; job.streams],
            pending: 0,
            event: None,
            kept: vec![None; job.devices],
            names_seen: HashSet::default(),
            functions_seen: HashSet::default(),
            memory: HostMemory::of(job),
            threads,
        };
        (0..player.threads.len() as u32).for_each(|thread| player.prepare(thread));
        player
    }

    /// Goes on in the order of dates until all wait for another rank, or are done. Tells whether anything was done.
    fn go(&mut self, halls: &mut [Hall]) -> bool {
        let mut goes_on = self.device.meet(halls);
        loop {
            while let Some(thread) = self.device.woken.pop() {
                goes_on = true;
                self.go_on(thread);
            }
            while let Some(place) = self.device.unknown.pop() {
                self.device.know(place, self.node(place));
            }
            let call = self.coming.peek().map(|Reverse((date, ..))| *date);
            match (call, self.device.next()) {
                (Some(call), turn) if turn.is_none_or(|turn| call <= turn) => {
                    if let Some(Reverse((start, _, thread))) = self.coming.pop() {
                        self.threads[thread as usize].hidden = None;
                        self.threads[thread as usize].doing =
                            Some(Doing { start, end: start, submitted: 0, waits: false, asked: None });
                        self.go_on(thread);
                    }
                }
                (_, Some(_)) => self.device.turn(halls),
                _ if self.device.parked().is_none() && self.device.give_up() => {}
                _ => return goes_on,
            }
            goes_on = true;
        }
    }

    /// Finds out when the next call of a thread begins.
    fn prepare(&mut self, thread: u32) {
        let own = &self.threads[thread as usize];
        let Some(place) = own.calls.get(own.returned).copied() else { return };
        match self.starts(place, own) {
            Ok(start) => self.coming.push(Reverse((start, place, thread))),
            Err(Await::Op(op)) => self.device.await_op(op, thread),
            Err(Await::Call(call)) => self.waiting.entry(call).or_default().push(thread),
        }
    }

    /// Goes on with a thread that need not wait any more.
    fn go_on(&mut self, thread: u32) {
        let own = &self.threads[thread as usize];
        let Some(mut doing) = own.doing else { return self.prepare(thread) };
        let Some(place) = own.calls.get(own.returned).copied() else { return };
        let call = &self.job.calls[place as usize];
        let over = self.proceed(place, call, &mut doing);
        self.threads[thread as usize].doing = Some(doing);
        match over {
            Ok(end) => self.returns(place, call, Span { start: doing.start, end: end.max(doing.start) }),
            Err(op) => self.device.await_op(op, thread),
        }
    }

    /// Goes on with a call; gives when it returns, or the operation that it waits for.
    fn proceed(&mut self, place: u32, call: &Call, doing: &mut Doing) -> Result<Ns, u32> {
        if matches!(call.change, Change::Gone | Change::GoneWithWork) {
            return Ok(self.skip(call, doing.start));
        }
        let work = call.ops.first().map(|op| self.job.ops[*op as usize].work);
        let creates = self.job.beginning.creates.binary_search(&place).is_ok();
        let end = match (call.kind, work) {
            (CallKind::Synchronize(waited), _) => self.wait(place, waited, doing)?,
            (_, Some(Work::Copy { .. })) if !is_launch(call.kind) => self.copy(call, doing)?,
            (CallKind::Launch | CallKind::GraphLaunch | CallKind::Memset, None) | (_, Some(_)) => {
                self.launch(place, call, doing)?
            }
            _ => self.plain(call, doing, creates)?,
        };
        Ok(end.saturating_add(if creates { self.rules.context() } else { 0 }))
    }

    /// Notes when a call was made.
    fn returns(&mut self, place: u32, call: &Call, span: Span) {
        (self.calls[place as usize], self.returned[place as usize]) = (span, true);
        let thread = &mut self.threads[call.thread as usize];
        (thread.free, thread.doing) = (Some(Both { played: span.end, traced: call.end() }), None);
        thread.returned += 1;
        self.prepare(call.thread);
        for thread in self.waiting.remove(&place).unwrap_or_default() {
            self.prepare(thread);
        }
    }

    /// Leaves out a call that would begin at `start`.
    fn skip(&mut self, call: &Call, start: Ns) -> Ns {
        for place in &call.ops {
            let task = Task { ready: start, ..self.task(*place) };
            self.submit(*place, Task { takes: 0, ..task });
        }
        self.begins(call);
        start
    }

    /// An operation in its stream that waits for nothing else.
    fn task(&self, place: u32) -> Task {
        let op = &self.job.ops[place as usize];
        Task {
            queue: op.stream,
            stream: op.stream,
            rank: op.rank,
            behind: op.behind,
            overlap: self.job.bound[place as usize].before().map_or(0, |before| before.saturating_sub(op.start)),
            device: self.job.device(op),
            rank_of_all: op.rank_of_all,
            traced: op.end(),
            ..Task::default()
        }
    }

    fn submit(&mut self, place: u32, task: Task) {
        self.note(place);
        self.device.submit(place, task);
    }

    /// Notes that an operation is submitted.
    fn note(&mut self, place: u32) {
        let op = &self.job.ops[place as usize];
        self.last_of[op.stream as usize] = Some(place);
        self.pending = self.pending.max(op.end());
    }

    /// Notes that the operations of a call are submitted, for the queue of their stream.
    fn begins(&mut self, call: &Call) {
        let Some(head) = call.ops.first() else { return };
        self.begun[self.job.ops[*head as usize].stream as usize].push(*head);
    }

    /// When a call begins: the gap behind the call before it stays as it was.
    fn starts(&self, place: u32, thread: &Thread) -> Result<Ns, Await> {
        let call = &self.job.calls[place as usize];
        let follows = self.habits.follows.get(&place).map(|call| self.returned(*call)).transpose()?;
        let behind = |last: Both| last.played.saturating_add(self.job.host(call.start - last.traced));
        let Some(free) = thread.free else {
            // A thread that is new was begun by the thread that called last.
            let own = follows.map_or(call.start, |last| last.played.saturating_add(call.start - last.traced));
            return self.not_before(call, own);
        };
        if call.change == Change::GoneWithWork {
            return Ok(free.played);
        }
        let gap = call.start.saturating_sub(free.traced);
        let own = free.played.saturating_add(self.job.host(gap));
        if let Some(place) = thread.hidden {
            let op = &self.job.ops[place as usize];
            if free.traced < op.end() && op.end() <= call.start {
                let slower = self.rules.completion().saturating_sub(self.rules.completion_off());
                let later = self.job.host(call.start - op.end());
                let seen = self.device.span(place)?.end.saturating_add(later).saturating_add(slower);
                return self.not_before(call, seen.max(free.played));
            }
        }
        self.not_before(call, follows.map_or(own, |last| behind(last).max(free.played)))
    }

    /// The same of a call that the trace does not have: it moves with the operation that began last before it.
    fn not_before(&self, call: &Call, own: Ns) -> Result<Ns, Await> {
        if call.traced() {
            return Ok(own);
        }
        let (starts, at) = (&self.habits.starts, call.start);
        let upto = starts.partition_point(|(start, _)| *start <= at);
        let Some((start, place)) = upto.checked_sub(1).map(|last| starts[last]) else { return Ok(own) };
        let (op, span) = (&self.job.ops[place as usize], self.device.span(place)?);
        Ok(own.max(if op.end() <= at { moved(span.end, op.end(), at) } else { moved(span.start, start, at) }))
    }

    fn returned(&self, call: u32) -> Result<Both, Await> {
        let traced = self.job.calls[call as usize].end();
        let played = self.calls[call as usize].end;
        if self.returned[call as usize] { Ok(Both { played, traced }) } else { Err(Await::Call(call)) }
    }

    /// The operations of other streams that an operation is after, and how long after each it begins.
    fn others(&self, place: u32) -> Vec<(u32, Ns)> {
        let op = &self.job.ops[place as usize];
        let copies = matches!(op.work, Work::Copy { .. });
        let known = self.job.after.get(&place).into_iter().flatten().map(|other| {
            let apart = op.start.saturating_sub(self.job.ops[*other as usize].end());
            let gap = self.rules.gap().saturating_sub(if copies { self.rules.sooner } else { 0 });
            (*other, if self.job.profiled || !self.rules.simulated { apart.min(gap) } else { gap })
        });
        let found = if let Bind::Op(other, later) = self.job.bound[place as usize].by {
            Some((other, Ns::from(later)))
        } else {
            None
        };
        known.chain(found.filter(|_| self.job.profiled || !self.rules.simulated)).collect()
    }
}

const fn is_launch(kind: CallKind) -> bool {
    matches!(kind, CallKind::Launch | CallKind::GraphLaunch)
}

impl Habits {
    fn of(job: &Job) -> Self {
        let mut durations: HashMap<u32, Vec<Ns>> = HashMap::default();
        for call in &job.calls {
            durations.entry(call.name).or_default().push(call.duration);
        }
        let usual = durations.into_iter().map(|(name, mut durations)| {
            durations.sort_unstable();
            (name, (durations[durations.len() / 2], durations[durations.len() / 4]))
        });
        let usual: HashMap<u32, (Ns, Ns)> = usual.collect();
        let queues = launch::Queues::of(job, &usual);
        let mut call_of = vec![0; job.ops.len()];
        for (call, number) in job.calls.iter().zip(0..) {
            call.ops.iter().for_each(|op| call_of[*op as usize] = number);
        }
        let never_waits = !job.calls.iter().any(|call| matches!(call.kind, CallKind::Synchronize(_)));
        let alone = job.calls.iter().any(|call| !call.traced());
        let mut starts: Vec<(Ns, u32)> = Vec::new();
        if alone {
            let traced = job.calls.iter().filter(|call| call.traced()).flat_map(|call| &call.ops);
            starts = traced.map(|place| (job.ops[*place as usize].start, *place)).collect();
            starts.sort_unstable();
        }
        // Whose host time is written waits for nothing else.
        let follows = if job.profiled { follows(job) } else { HashMap::default() };
        Self { usual, queues, call_of, follows, starts, never_waits }
    }
}

/// By call behind a long gap of its thread, or the first of its thread: the call of another thread that returned last before it.
fn follows(job: &Job) -> HashMap<u32, u32> {
    let mut free: Vec<Option<Ns>> = vec![None; job.threads];
    let mut last: Option<(Ns, u32)> = None;
    let mut follows = HashMap::default();
    for (call, place) in job.calls.iter().zip(0..) {
        let own = free[call.thread as usize].replace(call.end());
        if let Some((returned, other)) = last.filter(|(returned, _)| *returned <= call.start) {
            let waited = own.is_none_or(|free| {
                let gap = call.start.saturating_sub(free);
                gap > HAND_OVER && job.calls[other as usize].thread != call.thread && free < returned
            });
            if waited {
                follows.insert(place, other);
            }
        }
        if last.is_none_or(|(returned, _)| call.end() >= returned) {
            last = Some((call.end(), place));
        }
    }
    follows
}
