//! Workers in addition to the caller: what they are handed, and what they have done.
//!
//! Those that open after a call have jobs of copies whose calls have returned, besides those of the copy in flight. Until all of a copy
//! is open, nobody else touches its buffer.

use super::{Current, Driver, DriverPorts, Operation, Step, ahead::Drawing, errors};
use crate::{
    host::{
        memory::HostState,
        work::{CipherDone, CipherJob, CopyPlan, Direction, JobKind},
    },
    sim::{Now, Out},
};
use std::collections::{BTreeMap, VecDeque};

/// What is opened after its call.
#[derive(Debug, Default)]
pub(super) struct After {
    waiting: VecDeque<CipherJob>,
    /// Jobs that workers have.
    handed: BTreeMap<u64, CipherJob>,
    /// By copy: messages that are not open; of a copy in flight all that are not known to be.
    closed: BTreeMap<usize, u64>,
    next_job: u64,
}

impl After {
    pub fn is_empty(&self) -> bool {
        self.closed.is_empty()
    }

    /// Notes that workers are to open all of a copy.
    pub fn expect(&mut self, copy: usize, messages: u64) {
        self.closed.insert(copy, messages);
    }

    /// Whether a copy is not open yet.
    pub fn holds(&self, copy: usize) -> bool {
        self.closed.contains_key(&copy)
    }

    pub fn clear(&mut self) {
        (self.waiting, self.handed, self.closed) = Default::default();
    }

    fn take(&mut self, job: CipherJob) {
        self.waiting.push_back(CipherJob { id: self.next_job, ..job });
        self.next_job += 1;
    }

    fn hand_out(&mut self, now: Now, jobs: &mut Out<CipherJob>) {
        while !self.waiting.is_empty() && jobs.has_room(now.time) {
            let Some(job) = self.waiting.pop_front() else { return };
            self.handed.insert(job.id, job.clone());
            jobs.push(now.time, job);
        }
    }

    /// Notes that a message of a copy is open; gives whether it was the last.
    fn opened(&mut self, copy: usize) -> bool {
        let Some(left) = self.closed.get_mut(&copy) else { return false };
        *left = left.saturating_sub(1);
        let last = *left == 0;
        if last {
            self.closed.remove(&copy);
        }
        last
    }
}

impl Driver {
    /// A copy has been called: takes note of it, and of what was predicted of it.
    pub(super) fn call(&mut self, copy: usize, now: Now, ports: &mut DriverPorts) -> Result<(), String> {
        let Some(ahead) = &mut self.ahead else { return Ok(()) };
        let plan = &self.plans[copy];
        if plan.direction != Direction::D2d {
            ahead.note_call(plan.bytes);
        }
        if plan.direction == Direction::H2d {
            let memory = &mut ports.memory.borrow_mut();
            self.called = ahead.call(&mut Drawing { time: now.time, nonces: self.nonces.seal.as_mut(), memory })?;
        }
        Ok(())
    }

    /// Whether what is sealed of a copy is opened after its call.
    pub(super) fn opens_after(&self, plan: &CopyPlan) -> bool {
        let Some(ahead) = self.options.ahead.filter(|_| self.options.secure) else { return false };
        plan.direction == Direction::D2h && plan.bytes >= ahead.least && ahead.open_workers > 0
    }

    /// Whether the copy that is called must wait until workers have opened what is in its way.
    pub(super) fn waits_for_openers(&self, memory: &HostState) -> bool {
        let Some(Step { operation: Operation::Copy { copy, .. }, .. }) = self.program.get(self.step) else {
            return false;
        };
        let plan = &self.plans[*copy];
        let same_buffer = self.after.closed.keys().any(|open| self.plans[*open].buffer == plan.buffer);
        !self.after.is_empty()
            && plan.direction != Direction::D2d
            && (same_buffer || !memory.may_cut(plan.path(&self.spec, true).message))
    }

    /// Leaves to workers what the GPU has written of the copy in flight.
    pub(super) fn give_away(&mut self) {
        let Some(Current { transfer, .. }) = self.current.as_mut().filter(|current| current.transfer.opened_after)
        else {
            return;
        };
        while let Some(job) = transfer.give_away() {
            self.after.take(job);
        }
    }

    /// Takes what workers have done.
    pub(super) fn take_from_helpers(&mut self, now: Now, ports: &mut DriverPorts) {
        if let (Some(sealers), Some(ahead)) = (&mut ports.sealers, &mut self.ahead) {
            while let Some(done) = sealers.done.pop(now.time) {
                ahead.sealed(&done);
            }
        }
        while let Some(done) = ports.openers.as_mut().and_then(|openers| openers.done.pop(now.time)) {
            self.take_opened(&done, now, ports);
        }
    }

    fn take_opened(&mut self, done: &CipherDone, now: Now, ports: &DriverPorts) {
        let Some(job) = self.after.handed.remove(&done.id) else { return };
        ports.memory.borrow_mut().release(job.slot);
        let outcome = &mut self.outcomes[job.copy];
        if !done.ok {
            outcome.tags_failed += 1;
            self.errors.note(errors::CPU_TAG, now.time);
            let message = job.offset / self.plans[job.copy].path(&self.spec, true).message.0.max(1);
            let reason = format!("the CPU found a wrong tag on message {} after the call had returned", message + 1);
            return self.fail_at(Some(job.copy), now, reason);
        }
        outcome.tags_verified += JobKind::OpenAfter.tags_checked();
        if self.after.opened(job.copy) {
            (outcome.end, outcome.verified, outcome.delivered) = (now.time, now.time, true);
            self.streams.end(job.copy);
        }
    }

    /// Hands workers what there is for them; false if that has ended the channel.
    pub(super) fn feed_helpers(&mut self, now: Now, ports: &mut DriverPorts) -> bool {
        if let Some(openers) = &mut ports.openers {
            self.after.hand_out(now, &mut openers.jobs);
        }
        let (Some(sealers), Some(ahead)) = (&mut ports.sealers, &mut self.ahead) else { return true };
        let (memory, streams) = (&mut ports.memory.borrow_mut(), &self.streams);
        let mut drawing = Drawing { time: now.time, nonces: self.nonces.seal.as_mut(), memory };
        let looked = ahead.look(now, &mut sealers.jobs, &mut drawing, |copy| streams.is_over(copy));
        looked.map_err(|reason| self.fail(now, reason)).is_ok()
    }
}
