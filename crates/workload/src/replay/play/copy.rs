//! Copies between host and device.

use super::{Doing, Player, Span, Task, device::Held, moved};
use crate::{
    host::law::{After, Asked, Returns, Session, Waits},
    replay::{
        Ns,
        copies::CopyTime,
        job::{Bind, Call, Change, Op, Work},
        rules::ns,
    },
    system::Memory,
    workload::trace::CallKind,
};

/// To give a copy to another thread takes so long: assumed.
const HAND_OVER: Ns = 5_000;

impl Player<'_> {
    pub(super) fn copy(&mut self, call: &Call, doing: &mut Doing) -> Result<Ns, u32> {
        loop {
            if doing.waits {
                let place = call.ops[doing.submitted - 1];
                let ended = self.device.span(place)?.end;
                doing.end = doing.end.max(self.returned_behind(place, ended, call));
                doing.waits = false;
            }
            let Some(place) = call.ops.get(doing.submitted).copied() else { break };
            if let Some(kept) = self.keeper(place).filter(|_| call.change != Change::Aside) {
                doing.end = doing.end.max(self.device.span(kept)?.end.saturating_add(self.rules.notice));
            }
            doing.submitted += 1;
            if matches!(self.job.ops[place as usize].work, Work::DeviceCopy) {
                // It follows an upload that was given a stream of its own.
                doing.end = doing.end.saturating_add(self.rules.graph(ns(self.rules.calls.launch.next), false));
                let task = self.submitted(place, call, Span { start: doing.start, end: doing.end }, false);
                self.submit(place, task);
                continue;
            }
            let (task, returns) = match self.simulated(place) {
                Some(time) => self.sealed(place, call, doing.end, time),
                None => self.as_traced(place, call, doing.start),
            };
            self.submit(place, task);
            match returns {
                Some(date) => doing.end = doing.end.max(date),
                None => doing.waits = true,
            }
            let op = &self.job.ops[place as usize];
            if self.habits.never_waits && matches!(op.work, Work::Copy { way: crate::replay::Way::D2h, .. }) {
                self.threads[call.thread as usize].hidden = Some(place);
            }
        }
        self.begins(call);
        Ok(doing.end)
    }

    /// What a copy takes, where it does not take what it took in the trace.
    pub(super) fn simulated(&self, place: u32) -> Option<CopyTime> {
        self.times.copies.get(place as usize).filter(|_| self.rules.simulates())
    }

    fn law(&self, op: &Op, call: &Call) -> Option<Waits> {
        let Work::Copy { way, memory, .. } = op.work else { return None };
        let blocking = call.kind == CallKind::Copy { blocking: true };
        Some(self.rules.law(Asked::Copy { way: way.direction(), memory, blocking }))
    }

    /// As the law says, of a copy that is called at `start`: with the date at which its call returns, if it does not wait for its end.
    fn sealed(&mut self, place: u32, call: &Call, start: Ns, time: CopyTime) -> (Task, Option<Ns>) {
        let op = &self.job.ops[place as usize];
        let Some(Waits { host, begins_after, session }) = self.law(op, call) else {
            return self.as_traced(place, call, start);
        };
        let after = self.seen(place, op, call, time);
        let turn = |after: &After| if let After::Engine(engine) = after { Some(*engine) } else { None };
        let staged = session != Session::No || matches!(op.work, Work::Copy { memory: Memory::Pageable, .. });
        let pieces = time.pieces.filter(|_| session == Session::No);
        let kept =
            self.kept[self.job.device(op) as usize].filter(|kept| self.job.ops[*kept as usize].stream == op.stream);
        let own = kept.is_some_and(|kept| self.device.span(kept).map_or(true, |span| span.end > start));
        let mut task = Task {
            ready: start.saturating_add(time.before),
            lag: self.rules.gap().saturating_sub(self.rules.sooner),
            after: self.others(place),
            engine: begins_after.iter().find_map(turn),
            session: (session != Session::No && !self.rules.free.overlap).then_some(Held {
                own,
                before: time.before,
                after: if session == Session::ToEnd { 0 } else { after },
            }),
            takes: time.span,
            // What the host copies piece by piece leaves the engine to others between.
            holds: (staged && pieces.is_none()).then_some(0),
            pieces,
            waited: self.times.waited.get(place as usize).map(|waited| waited.span),
            ..self.task(place)
        };
        let after_stream = task.after.len();
        task.after.extend(self.keeper(place).map(|kept| (kept, time.before)));
        if session == Session::ToEnd || host == Returns::Submitted {
            self.kept[self.job.device(op) as usize] = Some(place);
        }
        match call.change {
            Change::Ahead => {
                let queue = self.job.streams as u32 + call.thread;
                task = Task { queue, behind: 0, after: task.after.split_off(after_stream), ..task };
            }
            Change::Aside => {
                // Whoever waits for the GPU waits until the other thread has the bytes.
                let aside = self.threads[call.thread as usize].aside.replace((place, after));
                task.after.extend(aside.map(|(before, after)| (before, after.saturating_add(time.before))));
                return (Task { seen: after, ..task }, Some(start.saturating_add(HAND_OVER)));
            }
            _ => {}
        }
        let returns = match host {
            _ if self.rules.free.synchrony && !op.host_waits() => Some(start.saturating_add(call.duration)),
            Returns::AtOnce if self.job.profiled => Some(start.saturating_add(self.job.host(call.duration))),
            Returns::Submitted if self.unsubmitted(place).is_some() => None,
            Returns::AtOnce | Returns::Submitted => Some(start.saturating_add(time.returns)),
            Returns::StreamDone => None,
        };
        (task, returns)
    }

    /// The copy that has the session, or staging as it is cut, when this one is to be sealed.
    fn keeper(&self, place: u32) -> Option<u32> {
        let op = &self.job.ops[place as usize];
        let Work::Copy { memory, .. } = op.work else { return None };
        let same = |kept: &u32| self.job.ops[*kept as usize].stream == op.stream;
        let (staged, cuts) =
            (self.rules.secure || memory == Memory::Pageable, self.rules.cuts && memory == Memory::Pinned);
        self.kept[self.job.device(op) as usize]
            .filter(|kept| staged && !self.rules.free.overlap && (cuts || !same(kept)))
    }

    /// Of a copy that has more than is in flight at once: how long before its end the last of it is submitted, if its stream is waited for.
    fn unsubmitted(&self, place: u32) -> Option<Ns> {
        let waited = self.times.waited.get(place as usize)?;
        let left = waited.before.saturating_add(waited.span).checked_sub(waited.returns)?;
        (waited.returns > waited.before).then_some(left)
    }

    /// From the end of a copy to the return of a call that waits for it.
    fn seen(&self, place: u32, op: &Op, call: &Call, time: CopyTime) -> Ns {
        let early = self.law(op, call).is_some_and(|waits| waits.session == Session::ToEnd);
        let after = if early { self.rules.notice.saturating_add(self.rules.copy_completion()) } else { time.after };
        after.saturating_add(self.excess(place, op, call))
    }

    /// What this call takes longer in the trace than a copy like it does in the model.
    fn excess(&self, place: u32, op: &Op, call: &Call) -> Ns {
        let model = self.times.off_call.get(place as usize).unwrap_or(Ns::MAX);
        let excess = call.duration.saturating_sub(model).min(ns(self.rules.calls.copy_excess));
        let waits = self.job.bound[place as usize].by != Bind::Stream && op.host_waits() && call.traced();
        if waits && self.job.profiled { excess } else { 0 }
    }

    /// With the latencies of the trace.
    fn as_traced(&self, place: u32, call: &Call, start: Ns) -> (Task, Option<Ns>) {
        let op = &self.job.ops[place as usize];
        let date = moved(start, call.start, op.start);
        let date = if op.host_waits() { date } else { self.shorter(date, start, call) };
        let bound = self.job.bound[place as usize];
        let (ready, lag) = match bound.by {
            Bind::Stream => (start.min(date), bound.before().map_or(0, |before| op.start.saturating_sub(before))),
            Bind::Op(..) => (start.min(date), 0),
            Bind::Call => (date, 0),
        };
        let task = Task { ready, lag, after: self.others(place), takes: op.duration, ..self.task(place) };
        let returns = (!op.host_waits()).then(|| start.saturating_add(self.job.host(call.duration)));
        (task, returns)
    }

    /// When the call of a copy returns that waits for its end.
    fn returned_behind(&self, place: u32, ended: Ns, call: &Call) -> Ns {
        let op = &self.job.ops[place as usize];
        match self.simulated(place) {
            Some(time) => match self.law(op, call).map(|waits| waits.host) {
                Some(Returns::Submitted) => ended.saturating_sub(self.unsubmitted(place).unwrap_or(0)),
                _ => ended.saturating_add(self.seen(place, op, call, time)),
            },
            // The call may return a little before its operation ends.
            None => moved(ended, op.end(), call.end()),
        }
    }
}
