//! Copies between host and device.

use super::{Both, Player, moved};
use crate::replay::{
    Ns,
    copies::CopyTime,
    job::{Bind, Call, Change, Op, Way, Work},
    rules::ns,
};

/// To give a copy to another thread takes so long: assumed.
const HAND_OVER: Ns = 5_000;

impl Player<'_> {
    /// When a copy's call returns. Its operations get their dates.
    pub(super) fn copy(&mut self, call: &Call, start: Ns) -> Ns {
        let mut end = start;
        for place in call.ops.iter().map(|place| *place as usize) {
            let op = &self.job.ops[place];
            let secure = self.times.secure.get(place).filter(|_| self.rules.sealing());
            end = end.max(match secure {
                Some(time) => self.sealed(place, op, call, end, time),
                None => self.as_traced(place, op, call, start),
            });
            if self.habits.never_waits && matches!(op.work, Work::Copy { way: Way::D2h, .. }) {
                self.threads[call.thread as usize].hidden = Some(place);
            }
        }
        self.begins(call);
        end
    }

    /// With confidential computing: the session takes it when it is free, and the call returns when the copy, and all before it on its stream, is done.
    fn sealed(&mut self, place: usize, op: &Op, call: &Call, start: Ns, time: CopyTime) -> Ns {
        let session = if self.rules.free.overlap { 0 } else { self.session[op.device as usize] };
        let taken = start.max(session).saturating_add(time.before);
        let before = self.before(op).filter(|_| call.change != Change::Ahead);
        let before = before.map_or(0, |before| before.saturating_add(self.rules.gap()));
        let ended = self.put(place, op, taken.max(before), time.span);
        let returned = ended.saturating_add(time.after).saturating_add(self.excess(place, op, call));
        self.session[op.device as usize] = returned;
        if call.change == Change::Aside {
            // Whoever waits for the GPU waits until the other thread has the bytes.
            self.pending.join(Both { played: returned, traced: op.end() });
            return start.saturating_add(HAND_OVER);
        }
        if self.rules.free.synchrony && !op.host_waits { start.saturating_add(call.duration) } else { returned }
    }

    /// What this call takes longer in the trace than a copy like it does in the model.
    fn excess(&self, place: usize, op: &Op, call: &Call) -> Ns {
        let model = self.times.off_call.get(place).unwrap_or(Ns::MAX);
        let excess = call.duration.saturating_sub(model).min(ns(self.rules.calls.copy_excess));
        if op.bind != Bind::Stream && op.host_waits && call.traced { excess } else { 0 }
    }

    /// With the latencies of the trace.
    fn as_traced(&mut self, place: usize, op: &Op, call: &Call, start: Ns) -> Ns {
        let before = self.before(op);
        let lag = op.before.map_or(0, |traced| op.start.saturating_sub(traced));
        let as_traced = moved(start, call.start, op.start);
        let as_traced = if op.host_waits { as_traced } else { self.shorter(as_traced, start, call) };
        let begins = match op.bind {
            Bind::Stream => start.min(as_traced).max(before.map_or(0, |before| before.saturating_add(lag))),
            Bind::Op(other, later) => start.min(as_traced).max(before.unwrap_or(0)).max(self.behind(other, later)),
            Bind::Call => as_traced.max(before.unwrap_or(0)),
        };
        let ended = self.put(place, op, begins, op.duration);
        if !op.host_waits {
            return start.saturating_add(self.job.host(call.duration));
        }
        // The call may return a little before its operation ends.
        moved(ended, op.end(), call.end())
    }
}
