//! Launches of kernels and graphs, fills, and copies within the device.

use super::Player;
use crate::{
    replay::{
        Ns,
        job::{Bind, Call, Job, Op, Work},
        rules::share,
    },
    workload::trace::CallKind,
};
use std::collections::HashMap;

/// A launch with at least so many operations waiting may have been held up by the queue.
const WAITING: usize = 256;
/// What an operation begins later than its call could have started it, and that is not worth keeping.
const JITTER: Ns = 3_000;

impl Player<'_> {
    /// When a launch returns. Its operations get their dates.
    pub(super) fn launch(&mut self, place: usize, call: &Call, start: Ns, first: bool) -> Ns {
        let mut end = start.saturating_add(self.duration(place, call, first));
        let Some(head) = call.ops.first().map(|op| &self.job.ops[*op as usize]) else { return end };
        let depth = self.habits.held_up.get(&place).copied();
        let depth = depth.unwrap_or(self.rules.calls.launch.queue as usize);
        let begun = &self.streams[head.stream as usize].begun;
        if let Some(place) = begun.len().checked_sub(depth.max(1)) {
            end = end.max(begun[place]);
        }
        for op in &call.ops {
            self.submit(*op as usize, call, start, end);
        }
        end
    }

    /// How long the call takes, if the queue has room.
    fn duration(&mut self, place: usize, call: &Call, first: bool) -> Ns {
        let head = call.ops.first().map(|op| &self.job.ops[*op as usize]);
        let new = head.is_some_and(|op| op.work == Work::Kernel && self.functions_seen.insert(op.name));
        let (median, quartile) = self.habits.usual.get(&call.name).copied().unwrap_or_default();
        // What the queue held up in the trace comes out here by itself.
        let off = if self.habits.held_up.contains_key(&place) { quartile } else { call.duration };
        let memset = call.kind == CallKind::Memset || head.is_some_and(|op| op.work == Work::Memset);
        match call.kind {
            // The first call of a name loads code, as it did.
            _ if first || !call.traced => off,
            CallKind::GraphLaunch => self.rules.graph(off),
            _ if memset => self.rules.memset(off),
            _ => self.rules.launch(off, median, new, self.job.begins_in_profile(call)),
        }
    }

    /// Gives an operation its dates, whose call runs from `start` to `end`.
    fn submit(&mut self, place: usize, call: &Call, start: Ns, end: Ns) {
        let op = &self.job.ops[place];
        let before = self.streams[op.stream as usize].end;
        let begins = match op.bind {
            Bind::Op(other, later) => {
                let ready = self.ready(op, call, start, end).min(end);
                ready.max(before.unwrap_or(0)).max(self.behind(other, later))
            }
            _ => self.ready(op, call, start, end).max(before.map_or(0, |before| before.saturating_add(self.lag(op)))),
        };
        let duration = self.duration_on_device(place, op);
        self.put(place, op, begins, duration);
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
        let as_traced = start.saturating_add(latency);
        if by_call { as_traced } else { submitted.min(as_traced) }
    }

    /// From the end of the operation before to this one, in its stream.
    fn lag(&self, op: &Op) -> Ns {
        let Some(before) = op.before.filter(|_| op.bind == Bind::Stream) else { return self.rules.gap() };
        op.start.saturating_sub(before).saturating_add(self.rules.gap() - self.rules.gap_off().min(self.rules.gap()))
    }

    fn duration_on_device(&self, place: usize, op: &Op) -> Ns {
        match op.work {
            Work::Copy { .. } if self.rules.sealing() => {
                self.times.secure.get(place).copied().flatten().map_or(op.duration, |time| time.span)
            }
            Work::Collective(_) if !self.rules.free.collectives => {
                op.duration.saturating_add(self.times.longer.get(&place).copied().unwrap_or(0))
            }
            _ => op.duration,
        }
    }
}

/// Launches that a full queue held up in the trace: they took long, and many operations of their stream had not begun when they returned. By call, how
/// many.
pub(super) fn held_up(job: &Job, usual: &HashMap<u32, (Ns, Ns)>) -> HashMap<usize, usize> {
    let mut begun: Vec<Vec<Ns>> = vec![Vec::new(); job.streams];
    let mut held_up = HashMap::new();
    for (place, call) in job.calls.iter().enumerate() {
        let Some(op) = call.ops.first().map(|op| &job.ops[*op as usize]) else { continue };
        if !matches!(op.work, Work::Kernel | Work::Memset) {
            continue;
        }
        let starts = &mut begun[op.stream as usize];
        let waiting = starts.len() - starts.partition_point(|start| *start <= call.end()) + 1;
        let quartile = usual.get(&call.name).map_or(0, |(_, quartile)| *quartile);
        if waiting >= WAITING && call.duration > share(quartile, 1500) {
            held_up.insert(place, waiting);
        }
        let latest = starts.last().copied().unwrap_or(0);
        starts.push(op.start.max(latest));
    }
    held_up
}
