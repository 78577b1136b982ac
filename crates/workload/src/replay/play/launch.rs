//! Launches of kernels and graphs, fills, and copies within the device.

use super::{Doing, Player, Span, Task, moved};
use crate::{
    host::law::{After, Asked},
    replay::{
        Ns,
        job::{Bind, Call, Job, Op, Work},
        rules::share,
    },
    workload::trace::CallKind,
};
use rustc_hash::FxHashMap as HashMap;

/// A launch with at least so many operations waiting may have been held up by the queue.
const WAITING: usize = 256;
/// A fill that returns sooner and has no operation fills nothing.
const NOTHING: Ns = 1_000;
/// What an operation begins later than its call could have started it, and that is not worth keeping.
const JITTER: Ns = 3_000;

impl Player<'_> {
    pub(super) fn launch(&mut self, place: u32, call: &Call, doing: &mut Doing) -> Result<Ns, u32> {
        if !std::mem::replace(&mut doing.waits, true) {
            doing.end = doing.start.saturating_add(self.duration(place as usize, call));
        }
        if doing.submitted > 0 {
            // The program asked it to wait.
            let ended = call.ops.last().map_or(Ok(doing.end), |op| self.device.span(*op).map(|span| span.end))?;
            let traced = call.ops.last().map_or(call.end(), |op| self.job.ops[*op as usize].end());
            let seen =
                if self.rules.simulated { self.rules.copy_completion() } else { call.end().saturating_sub(traced) };
            return Ok(doing.end.max(ended.saturating_add(seen)));
        }
        if let Some(head) = call.ops.first().map(|op| &self.job.ops[*op as usize]) {
            let queue = self.rules.calls.launch.queue as usize;
            let (depth, behind) = self.habits.queues.of_call(place as usize, queue);
            let begun = &self.begun[head.stream as usize];
            if let Some(place) = begun.len().checked_sub(depth.max(1)) {
                doing.end = doing.end.max(self.device.span(begun[place])?.start.saturating_add(behind));
            }
        }
        let graph = call.kind == CallKind::GraphLaunch;
        // All of a graph that was written is in one slot.
        let [_, gap] = self.rules.node_gaps();
        let takes = call.ops.iter().map(|op| self.job.takes(*op).saturating_add(gap));
        let holds = (graph && !self.job.profiled).then(|| takes.fold(0, Ns::saturating_add));
        let made = Span { start: doing.start, end: doing.end };
        self.graphs.extend(graph.then_some((place, (made, holds))));
        for (number, op) in call.ops.iter().enumerate() {
            if graph && number > 0 {
                self.note(*op);
                let Op { stream, rank_of_all, .. } = self.job.ops[*op as usize];
                self.device.announce(*op, stream, rank_of_all);
            } else {
                let task = self.submitted(*op, call, made, false);
                self.submit(*op, Task { holds, ..task });
            }
        }
        self.begins(call);
        if !self.job.profiled && call.kind == (CallKind::Copy { blocking: true }) {
            doing.submitted = call.ops.len();
            return self.launch(place, call, doing);
        }
        Ok(doing.end)
    }

    /// A node that is next in its stream: only now, as there may be a million.
    pub(super) fn node(&self, place: u32) -> Task {
        let call = self.habits.call_of[place as usize];
        let (made, holds) = self.graphs[&call];
        let task = self.submitted(place, &self.job.calls[call as usize], made, true);
        // All of a graph that was written is in the slot of its first node.
        Task { engine: task.engine.filter(|_| holds.is_none()), holds, ..task }
    }

    /// An operation whose call lies within a synchronisation that runs from `start`.
    pub(super) fn within(&self, place: u32, call: &Call, start: Ns) -> Task {
        let op = &self.job.ops[place as usize];
        let ready = moved(start, call.start, op.start);
        Task { ready, lag: self.lag(place), ..self.on_device(place) }
    }

    /// How long the call takes, if the queue has room.
    fn duration(&mut self, place: usize, call: &Call) -> Ns {
        let first = self.names_seen.insert(call.name);
        let head = call.ops.first().map(|op| &self.job.ops[*op as usize]);
        let new = head.is_some_and(|op| op.work == Work::Kernel && self.functions_seen.insert(op.name));
        let (median, quartile) = self.habits.usual.get(&call.name).copied().unwrap_or_default();
        // What the queue held up in the trace comes out here by itself.
        let off = if self.habits.queues.held_up.contains_key(&place) { quartile } else { call.duration };
        let (off, median) = (self.job.host(off), self.job.host(median));
        let memset = call.kind == CallKind::Memset || head.is_some_and(|op| op.work == Work::Memset);
        match call.kind {
            // A copy within the device, whose call may have waited.
            CallKind::Copy { blocking } if !self.job.profiled => match (self.rules.simulated, blocking) {
                (true, _) => self.rules.device_copy(),
                (false, true) => 0,
                (false, false) => off,
            },
            // The first call of a name loads code, as it did.
            _ if first && self.job.begins_in_profile(call) || !call.traced() => off,
            CallKind::GraphLaunch => self.rules.graph(off, !self.job.profiled),
            _ if memset && call.ops.is_empty() && off < NOTHING => off,
            _ if memset => self.rules.memset(off),
            _ => self.rules.launch(off, median, new, self.job.begins_in_profile(call)),
        }
    }

    /// An operation whose call is made then.
    pub(super) fn submitted(&self, place: u32, call: &Call, Span { start, end }: Span, node: bool) -> Task {
        let op = &self.job.ops[place as usize];
        let after = self.others(place);
        let (ready, lag) = match self.job.bound[place as usize].by {
            _ if !self.job.profiled && self.rules.simulated => {
                let lag = if node { self.node_lag(place) } else { self.rules.gap() };
                let submission =
                    if op.work == Work::DeviceCopy { self.rules.submission_off() } else { self.rules.submission() };
                (end.saturating_add(submission), lag)
            }
            Bind::Op(..) => (self.ready(place, call, start, end).min(end), 0),
            _ => (self.ready(place, call, start, end), self.lag(place)),
        };
        Task { ready, lag, after, ..self.on_device(place) }
    }

    /// When its call lets an operation begin.
    fn ready(&self, place: u32, call: &Call, start: Ns, end: Ns) -> Ns {
        let op = &self.job.ops[place as usize];
        let latency = op.start.saturating_sub(call.start);
        let submitted = end.saturating_add(self.rules.submission());
        let by_call = self.job.bound[place as usize].by == Bind::Call;
        if self.rules.slow_launches() {
            let unexplained = latency.saturating_sub(call.duration).saturating_sub(JITTER);
            return submitted.saturating_add(if by_call { unexplained } else { 0 });
        }
        let as_traced = self.shorter(moved(start, call.start, op.start), start, call);
        if by_call { as_traced } else { submitted.min(as_traced) }
    }

    /// A date after the `start` of a call of the host's own, sooner by what the call takes less.
    pub(super) fn shorter(&self, date: Ns, start: Ns, call: &Call) -> Ns {
        let cut = call.duration - self.job.host(call.duration);
        if date > start { date.saturating_sub(cut).max(start) } else { date }
    }

    /// The same within a graph.
    fn node_lag(&self, place: u32) -> Ns {
        let (op, before) = (&self.job.ops[place as usize], self.job.bound[place as usize].before());
        let [off, own] = self.rules.node_gaps();
        let lag = before.map_or(off, |before| op.start.saturating_sub(before)).min(off);
        lag.saturating_add(own.saturating_sub(off))
    }

    /// From the end of the operation before to this one, in its stream.
    fn lag(&self, place: u32) -> Ns {
        let (op, bound) = (&self.job.ops[place as usize], self.job.bound[place as usize]);
        let (off, lag) = (self.rules.gap_off(), op.start.saturating_sub(bound.before().unwrap_or(0)));
        let lag = if bound.by == Bind::Stream { lag } else { lag.min(off) };
        lag.saturating_add(self.rules.gap().saturating_sub(off))
    }

    /// The same without dates: how long it takes, where, and with whom.
    fn on_device(&self, place: u32) -> Task {
        let op = &self.job.ops[place as usize];
        let (takes, asked) = match op.work {
            Work::Copy { way, memory, .. } => {
                let asked = Asked::Copy { way: way.direction(), memory, blocking: false };
                (self.simulated(place).map_or(op.duration, |time| time.span), asked)
            }
            Work::Collective(_) if !self.rules.free.collectives => {
                let longer = self.times.longer.get(&(place as usize)).copied().unwrap_or(0);
                (op.duration.saturating_add(longer), Asked::Launch)
            }
            _ => (self.job.takes(place), Asked::Launch),
        };
        let turn = |after: &After| if let After::Engine(engine) = after { Some(*engine) } else { None };
        let engine = self.rules.law(asked).begins_after.iter().find_map(turn).filter(|_| self.rules.engines());
        let meeting = self.node.meeting(self.rank, place as usize);
        let meeting = meeting.map(|meeting| (meeting, self.node.later(self.rank)));
        Task { takes, engine, meeting, ..self.task(place) }
    }
}

/// What the trace shows of the queues of launches.
#[derive(Debug)]
pub(super) struct Queues {
    /// Launches that a full queue held up, by call: how many calls of its stream had operations that had not begun when it returned, and how long before
    /// that the last one had begun.
    pub held_up: HashMap<usize, (usize, Ns)>,
    /// How many such calls there were at most when a launch returned that was not held up.
    deepest: usize,
}

impl Queues {
    /// A launch is held up if it takes long, and many operations of its stream have not begun when it returns.
    pub fn of(job: &Job, usual: &HashMap<u32, (Ns, Ns)>) -> Self {
        let mut begun: Vec<Vec<Ns>> = vec![Vec::new(); job.streams];
        let (mut held_up, mut deepest) = (HashMap::default(), 0);
        for (place, call) in job.calls.iter().enumerate() {
            let Some(op) = call.ops.first().map(|op| &job.ops[*op as usize]) else { continue };
            if matches!(call.kind, CallKind::Synchronize(_)) {
                continue;
            }
            let starts = &mut begun[op.stream as usize];
            let there = starts.partition_point(|start| *start <= call.end());
            let waiting = starts.len() - there + 1;
            let quartile = usual.get(&call.name).map_or(0, |(_, quartile)| *quartile);
            let launches = matches!(op.work, Work::Kernel | Work::Memset);
            if launches && waiting >= WAITING && call.duration > share(quartile, 1500) {
                let last = there.checked_sub(1).map_or(call.end(), |last| starts[last]);
                held_up.insert(place, (waiting, call.end() - last));
            } else {
                deepest = deepest.max(waiting);
            }
            let latest = starts.last().copied().unwrap_or(0);
            starts.push(op.start.max(latest));
        }
        Self { held_up, deepest }
    }

    /// How many calls of its stream may wait when a launch returns, and how long after the last of the others has begun it does; `queue` is the machine's.
    fn of_call(&self, place: usize, queue: usize) -> (usize, Ns) {
        self.held_up.get(&place).copied().unwrap_or((queue.max(self.deepest), 0))
    }
}
