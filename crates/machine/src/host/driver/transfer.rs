//! The copy in flight: which of its messages are prepared, submitted, completed and retired.
//!
//! ```text
//!             retired      completed     submitted     prepared     issued       total
//!  inward  ------|-------------------------|-------------|------------|------------|
//!  outward ------|---- issued --|- completed -- submitted ------------------------|
//! ```
//!
//! Messages are counted in order. Those from `retired` on that hold a staging slot are in the window.

use super::{
    ahead::{Called, Ivs},
    nonce::next_nonce,
    plan::{DriverOptions, Flow},
    push::Nonces,
};
use crate::{
    host::{
        map,
        memory::HostState,
        staging::SlotId,
        work::{CipherDone, CipherJob, CopyPlan, Direction, JobKind},
    },
    sim::{Now, Out},
    stream::{Launch, LaunchKind},
    units::{Bytes, Femtos},
};
use std::collections::VecDeque;

#[derive(Debug)]
struct StagedMessage {
    slot: SlotId,
    nonce: [u8; 12],
    done: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    /// Bytes of a message; the last one may be shorter.
    pub message: Bytes,
    /// Messages of a push; the last one may have fewer.
    pub per_push: u64,
    /// Messages that may be in flight.
    pub window: u64,
    /// Whether the bytes take the second pass of a small copy.
    pub small: bool,
}

#[derive(Debug)]
pub(super) struct Transfer {
    pub copy: usize,
    plan: CopyPlan,
    flow: Flow,
    secure: bool,
    /// What the cipher does for a message.
    pub job: JobKind,
    cut: Cut,
    total: u64,
    /// Number of the job of message 0.
    first_job: u64,
    issued: u64,
    outstanding: u64,
    prepared: u64,
    submitted: u64,
    completed: u64,
    retired: u64,
    window: VecDeque<StagedMessage>,
    /// Pushes in flight: number, and the message behind their last.
    pending: VecDeque<(u32, u64)>,
    /// IVs that were drawn before.
    ivs: Option<Ivs>,
    /// If workers seal it: messages from the first on that they have sealed.
    ready: Option<u64>,
    /// Whether its messages are opened after the call has returned.
    pub opened_after: bool,
}

impl Transfer {
    pub fn new(copy: usize, plan: CopyPlan, options: &DriverOptions, cut: Cut, first_job: u64) -> Self {
        let secure = options.secure;
        Self {
            copy,
            flow: plan.flow(secure),
            plan,
            secure,
            job: plan.job(secure, options.work),
            total: plan.bytes.0.div_ceil(cut.message.0),
            cut,
            first_job,
            issued: 0,
            outstanding: 0,
            prepared: 0,
            submitted: 0,
            completed: 0,
            retired: 0,
            window: VecDeque::new(),
            pending: VecDeque::new(),
            ivs: None,
            ready: None,
            opened_after: false,
        }
    }

    /// The same, of a copy that begins as `called` says.
    pub fn called(self, called: Called) -> Self {
        let Called { ivs, ahead, .. } = called;
        let (job, ready) = if ahead { (JobKind::Place, Some(0)) } else { (self.job, None) };
        Self { ivs, job, ready, ..self }
    }

    /// The same, of a copy whose messages are opened after its call.
    pub fn left_to_openers(self) -> Self {
        Self { job: JobKind::OpenAfter, opened_after: true, ..self }
    }

    /// Takes note of how many messages workers have sealed, if they do.
    pub fn note_ready(&mut self, messages: u64) {
        self.ready = self.ready.map(|_| messages);
    }

    /// Whether workers have not yet sealed the next message.
    pub fn lacks_ciphertext(&self) -> bool {
        self.issued < self.total && self.ready.is_some_and(|ready| self.issued >= ready)
    }

    /// Gives away the next message that the GPU has written: it is no longer this copy's. Its job is to be numbered.
    pub fn give_away(&mut self) -> Option<CipherJob> {
        if self.retired >= self.completed {
            return None;
        }
        let message = self.window.pop_front()?;
        let job = self.job_of(self.retired, message.slot, message.nonce);
        self.retired += 1;
        self.issued = self.retired;
        Some(job)
    }

    pub const fn submitted(&self) -> u64 {
        self.submitted
    }

    /// Whether every message has been handed to the GPU.
    pub const fn all_submitted(&self) -> bool {
        self.submitted == self.total
    }

    pub const fn complete(&self) -> bool {
        self.retired == self.total
    }

    /// Whether a push that is done is one of its own.
    pub fn awaits(&self, number: u32) -> bool {
        self.pending.iter().any(|(pending, _)| *pending == number)
    }

    pub fn is_staged(&self) -> bool {
        self.flow != Flow::Direct
    }

    pub const fn jobs_outstanding(&self) -> bool {
        self.outstanding > 0
    }

    /// Whether the next message, or the next push from the GPU, finds too few free slots.
    pub fn lacks_slots(&self, memory: &HostState) -> bool {
        let free = memory.staging_fill().1;
        match self.flow {
            Flow::Inward => self.issued < self.total && free == 0,
            Flow::Outward => self.submitted < self.total && free < self.cut.per_push.min(self.total - self.submitted),
            Flow::Direct => false,
        }
    }

    /// Messages that have been begun and have not ended.
    pub const fn in_flight(&self) -> u64 {
        self.issued.saturating_sub(self.retired)
    }

    /// Whether messages are left that may not be begun before others have ended: as many as may be in progress are.
    pub fn window_is_full(&self) -> bool {
        let end = self.retired.saturating_add(self.cut.window);
        match self.flow {
            Flow::Inward => self.issued < self.total && self.issued >= end,
            Flow::Outward => {
                let upto = self.submitted.saturating_add(self.cut.per_push).min(self.total);
                self.submitted < self.total && upto > end
            }
            Flow::Direct => false,
        }
    }

    /// Number of the first job of the next copy.
    pub const fn next_job(&self) -> u64 {
        self.first_job + self.issued
    }

    pub fn bytes_of(&self, message: u64) -> u64 {
        self.cut.message.0.min(self.plan.bytes.0 - message * self.cut.message.0)
    }

    fn job_of(&self, number: u64, slot: SlotId, nonce: [u8; 12]) -> CipherJob {
        let (offset, bytes) = (number * self.cut.message.0, self.bytes_of(number));
        let small = self.cut.small;
        CipherJob { id: self.first_job + number, kind: self.job, slot, copy: self.copy, offset, bytes, small, nonce }
    }

    /// Hands to the cipher what there is to do, as far as it takes it.
    pub fn issue(
        &mut self,
        now: Now,
        jobs: &mut Out<CipherJob>,
        at_once: u64,
        nonces: &mut dyn Nonces,
        memory: &mut HostState,
    ) -> Result<(), String> {
        match self.flow {
            Flow::Inward => {
                let end = self.total.min(self.retired.saturating_add(self.cut.window));
                while self.issued < end
                    && self.outstanding < at_once
                    && !self.lacks_ciphertext()
                    && memory.staging_fill().1 > 0
                    && jobs.has_room(now.time)
                {
                    let nonce = match &mut self.ivs {
                        Some(ivs) => ivs.pop_front().ok_or("no IV was drawn for a message")?,
                        None => next_nonce(self.secure, now.time, nonces, memory)?,
                    };
                    let Some(slot) = memory.take(self.bytes_of(self.issued), nonce) else { break };
                    jobs.push(now.time, self.job_of(self.issued, slot, nonce));
                    self.window.push_back(StagedMessage { slot, nonce, done: false });
                    self.issued += 1;
                    self.outstanding += 1;
                }
            }
            Flow::Outward => {
                while self.issued < self.completed && self.outstanding < at_once && jobs.has_room(now.time) {
                    let Some(message) = self.window.get((self.issued - self.retired) as usize) else { break };
                    jobs.push(now.time, self.job_of(self.issued, message.slot, message.nonce));
                    self.issued += 1;
                    self.outstanding += 1;
                }
            }
            Flow::Direct => {}
        }
        Ok(())
    }

    pub const fn message_of(&self, done: &CipherDone) -> u64 {
        done.id.saturating_sub(self.first_job)
    }

    /// Notes that a job has ended well.
    pub fn job_done(&mut self, done: &CipherDone, memory: &mut HostState) {
        let place = done.id.checked_sub(self.first_job + self.retired);
        let Some(message) = place.and_then(|place| self.window.get_mut(place as usize)) else { return };
        if std::mem::replace(&mut message.done, true) {
            return;
        }
        self.outstanding -= 1;
        match self.flow {
            Flow::Inward => {
                while self.window.get((self.prepared - self.retired) as usize).is_some_and(|message| message.done) {
                    self.prepared += 1;
                }
            }
            Flow::Outward | Flow::Direct => {
                memory.release(message.slot);
                while self.window.front().is_some_and(|message| message.done) {
                    self.window.pop_front();
                    self.retired += 1;
                }
            }
        }
    }

    /// The launches of the next push, and the message behind their last, if it can be built at `time`.
    pub fn next_push(
        &mut self,
        pipelined_first: bool,
        time: Femtos,
        nonces: &mut dyn Nonces,
        memory: &mut HostState,
    ) -> Result<Option<(Vec<Launch>, u64)>, String> {
        let upto = (self.submitted + self.cut.per_push).min(self.total);
        let count = upto - self.submitted;
        let ready = count > 0
            && match self.flow {
                Flow::Inward => self.prepared >= upto,
                Flow::Outward => {
                    memory.staging_fill().1 >= count && upto <= self.retired.saturating_add(self.cut.window)
                }
                Flow::Direct => true,
            };
        if !ready {
            return Ok(None);
        }
        if self.flow == Flow::Outward {
            for message in self.submitted..upto {
                let nonce = next_nonce(self.secure, time, nonces, memory)?;
                let Some(slot) = memory.take(self.bytes_of(message), nonce) else { return Ok(None) };
                self.window.push_back(StagedMessage { slot, nonce, done: false });
            }
        }
        let mut launches: Vec<_> = (self.submitted..upto).filter_map(|message| self.launch(message, memory)).collect();
        for (place, launch) in launches.iter_mut().enumerate() {
            launch.pipelined = place > 0 || pipelined_first;
        }
        if let Some(last) = launches.last_mut() {
            last.flush = true;
        }
        Ok(Some((launches, upto)))
    }

    fn launch(&self, message: u64, memory: &HostState) -> Option<Launch> {
        let (offset, bytes) = (message * self.cut.message.0, self.bytes_of(message));
        let device = map::device(self.copy, offset);
        let slot = match self.flow {
            Flow::Direct => None,
            _ => Some(self.window.get((message - self.retired) as usize)?.slot),
        };
        let host = slot.map_or(map::pinned(self.copy, offset), |slot| memory.slot_address(slot));
        let (kind, source, destination) = match (self.plan.direction, self.secure) {
            (Direction::D2d, _) => (LaunchKind::Local, device, map::device_copy(self.copy, offset)),
            (Direction::H2d, true) => (LaunchKind::Open, host, device),
            (Direction::H2d, false) => (LaunchKind::Fetch, host, device),
            (Direction::D2h, true) => (LaunchKind::Seal, device, host),
            (Direction::D2h, false) => (LaunchKind::Store, device, host),
        };
        let tag = slot.filter(|_| self.secure).map_or(0, |slot| memory.tag_address(slot));
        let iv = if kind == LaunchKind::Seal { map::IV_PAGE } else { 0 };
        Some(Launch { kind, source, destination, bytes, tag, iv, pipelined: false, flush: false })
    }

    /// Notes that the doorbell of a push has rung.
    pub fn rang(&mut self, number: u32, upto: u64) {
        self.pending.push_back((number, upto));
        self.submitted = upto;
    }

    /// Notes that all pushes up to `number` are done.
    pub fn push_done(&mut self, number: u32, memory: &mut HostState) {
        while let Some(&(_, upto)) = self.pending.front().filter(|(pending, _)| *pending <= number) {
            self.completed = upto;
            self.pending.pop_front();
        }
        match self.flow {
            Flow::Inward => {
                while self.retired < self.completed {
                    if let Some(message) = self.window.pop_front() {
                        memory.release(message.slot);
                    }
                    self.retired += 1;
                }
            }
            Flow::Outward => {}
            Flow::Direct => self.retired = self.completed,
        }
    }
}
