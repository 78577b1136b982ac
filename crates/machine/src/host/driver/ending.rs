//! How copies end, and how the channel does.

use super::{Current, Driver, Left, Task, errors};
use crate::{
    host::{memory::HostState, work::Direction},
    sim::Now,
    units::Femtos,
};

impl Driver {
    /// Ends the copy if all of it is done, and verified where that is waited for; leaves it to its stream if it does not block.
    pub(super) fn settle(&mut self, now: Now, memory: &mut HostState) -> bool {
        let Some(Current { transfer, stream, blocks, nop }) = &self.current else { return false };
        let (copy, stream, nop) = (transfer.copy, *stream, *nop);
        if !blocks {
            if !transfer.all_submitted() {
                return false;
            }
            let outcome = &mut self.outcomes[copy];
            (outcome.returned, outcome.messages) = (now.time, transfer.submitted());
            self.streams.leave(copy, stream);
            self.next_job = transfer.next_job();
            let current = self.current.take().filter(|current| current.transfer.is_staged());
            self.left.extend(current.map(|Current { transfer, stream, .. }| Left { transfer, stream }));
            self.note_done(stream, self.streams.last_done(stream), now, memory);
        } else {
            if !transfer.complete() {
                return false;
            }
            let end = *self.landed.get_or_insert(now.time);
            // A copy of nothing has no message to wait for; the push before it may be one that nobody judges.
            let judging = self.options.waits_for_verified && transfer.submitted() > 0;
            let judged = judging && self.plans[copy].direction == Direction::H2d;
            if judged && !self.streams.is_verified(stream) {
                return false;
            }
            let outcome = &mut self.outcomes[copy];
            outcome.messages += transfer.submitted();
            outcome.returned = now.time;
            if transfer.opened_after {
                self.streams.leave_gpu(copy);
            } else {
                self.next_job = transfer.next_job();
                if nop {
                    (self.current, self.landed) = (None, None);
                    self.begin(Task::Call, now, self.spec.call.0, 0);
                    return true;
                }
                (outcome.end, outcome.verified, outcome.delivered) = (end, now.time, true);
                self.streams.end(copy);
            }
        }
        self.next_step(now);
        (self.current, self.landed) = (None, None);
        true
    }

    /// Ends the channel at `time`, because what carries it is gone: copies that had not ended are not delivered.
    pub fn give_up(&mut self, time: Femtos, reason: String) {
        self.fail_at(self.under_way(), Now { cycle: 0, time }, reason);
    }

    /// Ends the copy, and with it the channel.
    pub(super) fn fail(&mut self, now: Now, reason: String) {
        if self.errors.all().is_empty() {
            self.errors.note(errors::REFUSED, now.time);
        }
        self.fail_at(self.under_way(), now, reason);
    }

    /// The copy in flight, where copies before it may only have to be opened.
    fn under_way(&self) -> Option<usize> {
        self.current.as_ref().filter(|_| !self.after.is_empty()).map(|current| current.transfer.copy)
    }

    /// The same, because of `copy`, or of the first that has not ended.
    pub(super) fn fail_at(&mut self, copy: Option<usize>, now: Now, reason: String) {
        let current = self.current.as_ref().map(|current| (current.transfer.copy, current.transfer.submitted()));
        let open = self.streams.abandon();
        let culprit = copy.or(open.first().copied());
        for copy in open {
            let outcome = &mut self.outcomes[copy];
            let under_way = current.filter(|(current, _)| *current == copy);
            let other = culprit.filter(|culprit| *culprit != copy).map(|culprit| culprit + 1);
            outcome.messages += under_way.map_or(0, |(_, messages)| messages);
            outcome.end = if other.is_none() { self.landed.unwrap_or(now.time) } else { now.time };
            outcome.reason = Some(match other {
                None => reason.clone(),
                Some(other) if under_way.is_some() || self.after.holds(copy) => {
                    format!("not finished: copy {other} has ended the channel")
                }
                Some(other) => {
                    outcome.start = now.time;
                    format!("not attempted: copy {other} has ended the channel")
                }
            });
            (outcome.verified, outcome.returned) = (now.time, now.time);
        }
        self.step = self.program.len();
        (self.current, self.landed, self.task, self.syncing) = (None, None, None, false);
        self.left.clear();
        self.after.clear();
    }
}
