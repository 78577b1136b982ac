//! Launches of kernels and graphs, fills, and copies within the device.

use super::{Launching, Player, Span, moved};
use crate::{
    replay::{
        Ns,
        job::{Bind, Call, Job, Op, Work},
        node::Hall,
        rules::share,
    },
    workload::trace::CallKind,
};
use std::collections::HashMap;

/// A launch with at least so many operations waiting may have been held up by the queue.
const WAITING: usize = 256;
/// A fill that returns sooner and has no operation fills nothing.
const NOTHING: Ns = 1_000;
/// What an operation begins later than its call could have started it, and that is not worth keeping.
const JITTER: Ns = 3_000;

impl Player<'_> {
    /// When a launch returns.
    pub(super) fn launch(&mut self, place: usize, call: &Call, start: Ns, first: bool) -> Ns {
        let mut end = start.saturating_add(self.duration(place, call, first));
        let Some(head) = call.ops.first().map(|op| &self.job.ops[*op as usize]) else { return end };
        let (depth, behind) = self.habits.queues.of_call(place, self.rules.calls.launch.queue as usize);
        let begun = &self.streams[head.stream as usize].begun;
        if let Some(place) = begun.len().checked_sub(depth.max(1)) {
            end = end.max(begun[place].saturating_add(behind));
        }
        end
    }

    /// Gives the operations of a launch their dates, until one waits for another rank. Tells whether all have theirs.
    pub(super) fn submit_rest(&mut self, call: &Call, mut launching: Launching, halls: &mut [Hall]) -> bool {
        while let Some(place) = call.ops.get(launching.next).map(|op| *op as usize) {
            let op = &self.job.ops[place];
            let mut duration = self.duration_on_device(place, op);
            let begins = match launching.waits {
                Some((_, begins)) => begins,
                None => self.submitted(op, call, launching.span),
            };
            if let Some(meeting) = self.node.meeting(self.rank, place) {
                let (hall, later) = (&mut halls[meeting as usize], self.node.later(self.rank));
                if launching.waits.is_none() {
                    hall.come(begins.saturating_add(later), duration);
                }
                launching.waits = Some((meeting, begins));
                let Some(ends) = hall.ends() else {
                    self.launching = Some(launching);
                    return false;
                };
                duration = ends.saturating_sub(begins.saturating_add(later));
            }
            self.put(place, op, begins, duration);
            launching = Launching { next: launching.next + 1, waits: None, ..launching };
        }
        self.launching = None;
        self.begins(call);
        self.returns_after(self.taken, call, launching.span);
        true
    }

    /// Gives an operation its dates whose call lies within a synchronisation that runs from `start`.
    pub(super) fn within(&mut self, place: usize, call: &Call, start: Ns) {
        let op = &self.job.ops[place];
        let before = self.before(op).map_or(0, |before| before.saturating_add(self.lag(op)));
        let begins = moved(start, call.start, op.start).max(before);
        let duration = self.duration_on_device(place, op);
        self.put(place, op, begins, duration);
    }

    /// How long the call takes, if the queue has room.
    fn duration(&mut self, place: usize, call: &Call, first: bool) -> Ns {
        let head = call.ops.first().map(|op| &self.job.ops[*op as usize]);
        let new = head.is_some_and(|op| op.work == Work::Kernel && self.functions_seen.insert(op.name));
        let (median, quartile) = self.habits.usual.get(&call.name).copied().unwrap_or_default();
        // What the queue held up in the trace comes out here by itself.
        let off = if self.habits.queues.held_up.contains_key(&place) { quartile } else { call.duration };
        let (off, median) = (self.job.host(off), self.job.host(median));
        let memset = call.kind == CallKind::Memset || head.is_some_and(|op| op.work == Work::Memset);
        match call.kind {
            // The first call of a name loads code, as it did.
            _ if first || !call.traced => off,
            CallKind::GraphLaunch => self.rules.graph(off),
            _ if memset && call.ops.is_empty() && off < NOTHING => off,
            _ if memset => self.rules.memset(off),
            _ => self.rules.launch(off, median, new, self.job.begins_in_profile(call)),
        }
    }

    /// When an operation begins whose call is made then.
    fn submitted(&self, op: &Op, call: &Call, Span { start, end }: Span) -> Ns {
        let before = self.before(op);
        match op.bind {
            Bind::Op(other, later) => {
                let ready = self.ready(op, call, start, end).min(end);
                ready.max(before.unwrap_or(0)).max(self.behind(other, later))
            }
            _ => self.ready(op, call, start, end).max(before.map_or(0, |before| before.saturating_add(self.lag(op)))),
        }
    }

    /// When its call lets an operation begin.
    fn ready(&self, op: &Op, call: &Call, start: Ns, end: Ns) -> Ns {
        let latency = op.start.saturating_sub(call.start);
        let submitted = end.saturating_add(self.rules.submission());
        let by_call = op.bind == Bind::Call;
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

    /// From the end of the operation before to this one, in its stream.
    fn lag(&self, op: &Op) -> Ns {
        let (off, lag) = (self.rules.gap_off(), op.start.saturating_sub(op.before.unwrap_or(0)));
        let lag = if op.bind == Bind::Stream { lag } else { lag.min(off) };
        lag.saturating_add(self.rules.gap().saturating_sub(off))
    }

    fn duration_on_device(&self, place: usize, op: &Op) -> Ns {
        match op.work {
            Work::Copy { .. } if self.rules.sealing() => {
                self.times.secure.get(place).map_or(op.duration, |time| time.span)
            }
            Work::Collective(_) if !self.rules.free.collectives => {
                op.duration.saturating_add(self.times.longer.get(&place).copied().unwrap_or(0))
            }
            _ => op.takes,
        }
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
        let (mut held_up, mut deepest) = (HashMap::new(), 0);
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
