//! The driver: one host thread that cuts copies into messages, submits them and waits for them.
//!
//! ```text
//!                  +------------+
//!  cipher done In >|            |> cipher jobs Out
//!                  |   Driver   |> doorbells Out (writes to the GPU)
//!  notices       ~>|            |- pushes (where the GPU fetches them)
//!                  +-----+------+
//!                        | HostState: staging slots
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | waits | as the [law](super::law) says |
//! | operations | those of its program, one after the other; a copy through staging blocks, any other only if it is asked to |
//! | costs | `call` per copy, `push` per push, `launch` instead of both for kernels, `completion` per notice that it waits for; with confidential computing `secure_push` and `secure_completion` on top; `cold_call` once after a flush |
//! | messages of a copy | as long as its path's `message`, but the last |
//! | jobs | as many as the cipher's queue takes, staging has slots for and `in_flight` allows; handing them over costs nothing |
//! | on the caller | with `cipher.on_caller` a job at a time, and no other work until it is done |
//! | ahead | with `cipher.ahead` longer copies to the GPU are sealed by workers before their calls, which copy ciphertext; see `ahead` |
//! | after | so are longer copies from the GPU opened by other workers after their calls have returned. They end then; another copy of the same buffer, or with messages that staging is to be cut anew for, waits for that |
//! | push to the GPU | once its messages are sealed, in order; the doorbell rings when the push is built and there is room for it |
//! | push from the GPU | once there are slots for its messages and fewer than `in_flight` are in progress, from their slots to their last job; its messages are opened in order when it is done, while the next push is in transit |
//! | order of work | jobs, then notices, then pushes; on the caller pushes, then notices, then a job |
//! | stalls | `pushes_in_flight`, `host_cipher`, `staging_full`, `submission`, `completion`, `auth_dependency` (a verdict under eager release) |
//!
//! A semaphore only rises: value n means that every push of its stream up to n is done. A notice that repeats the last value changes
//! nothing and is noted; any other value that no push waits for ends the copy. A value with bit 31 set is a channel error, with the
//! robust-channel error number below it. What ends a copy undelivered ends the channel: later operations are not attempted.

mod after;
mod ahead;
mod ending;
mod errors;
mod nonce;
mod notices;
mod operations;
mod plan;
mod program;
mod push;
mod streams;
mod transfer;

#[cfg(test)]
pub(super) use ahead::is_hit;
pub(super) use plan::FIXED;
pub use plan::{CopyOutcome, DriverOptions, SealedCalls, Stride};
pub use program::{Operation, Step, StepDates};
pub use push::{NonceStreams, Nonces, Push, Pushes};

use super::{
    error::HostError,
    law::{Asked, Knobs, Returns, Waits, law},
    map,
    memory::HostState,
    spec::{DriverSpec, StagingSpec},
    work::{CipherDone, CipherJob, CopyPlan, Direction, JobKind, Party},
};
use crate::{
    pcie::{
        packet::{Payload, Tlp},
        root_complex::Notice,
    },
    ports,
    sim::{Activity, Clock, ErrorLog, In, Now, Out, Rx, Signalled, Signals, Stall, Unit, Wake},
    stream::{Computation, Launch, PushWork, Semaphore, StreamTask},
    units::{Bytes, Femtos},
};
use after::After;
use ahead::{Ahead, Called};
use plan::{Flow, PIECE};
use std::{cell::RefCell, rc::Rc};
pub use streams::CopyEdge;
use streams::Streams;
use transfer::{Cut, Transfer};

/// Bit of a semaphore's value that makes it a channel error.
pub const CHANNEL_ERROR: u64 = 1 << 31;

ports! {
    /// Ports to workers in addition to the caller.
    pub struct HelperPorts {
        pub jobs: Out<CipherJob>,
        pub done: In<CipherDone>,
    }
}

ports! {
    pub struct DriverPorts {
        pub jobs: Out<CipherJob>,
        pub done: In<CipherDone>,
        /// The workers that seal ahead.
        pub sealers: Option<HelperPorts>,
        /// Those that open after a call.
        pub openers: Option<HelperPorts>,
        pub doorbells: Out<Tlp>,
        /// Semaphores that have changed.
        pub notices: Rx<Notice>,
        pub pushes: Rc<RefCell<dyn Pushes>>,
        pub memory: Rc<RefCell<HostState>>,
        /// For what begins and ends.
        pub signals: Signals,
    }
}

/// What keeps the thread busy, and what it leads to.
#[derive(Debug)]
enum Task {
    Call,
    /// With the messages of the copy in flight that it brings the count of submitted ones to.
    Push {
        push: Push,
        upto: Option<u64>,
    },
    Completion {
        stream: u32,
        number: u32,
    },
    /// The host knows that a stream that it waits for is done.
    Synced,
    /// The host works by itself.
    Host,
}

#[derive(Debug)]
struct Current {
    transfer: Transfer,
    stream: u32,
    blocks: bool,
    /// Whether it only uses up an IV: the copy itself comes after it.
    nop: bool,
}

impl Current {
    /// Whether a push that is done is one of its own that somebody waits for: its call, or what it has of staging.
    fn waits_for(&self, push: u32) -> bool {
        (self.blocks || self.transfer.is_staged()) && self.transfer.awaits(push)
    }
}

/// A copy through staging that nobody waits for, all of which is submitted.
#[derive(Debug)]
struct Left {
    transfer: Transfer,
    stream: u32,
}

pub struct Driver {
    spec: DriverSpec,
    options: DriverOptions,
    clock: Clock,
    plans: Vec<CopyPlan>,
    outcomes: Vec<CopyOutcome>,
    program: Vec<Step>,
    nonces: NonceStreams,
    /// The task and the cycle of its end.
    task: Option<(Task, u64)>,
    /// The operation that is in progress or comes next.
    step: usize,
    /// Of all operations that have begun.
    dates: Vec<StepDates>,
    current: Option<Current>,
    /// Copies whose calls have returned, and whose staging is still in use.
    left: Vec<Left>,
    /// When the copy in flight was done.
    landed: Option<Femtos>,
    /// Whether the operation in progress waits for its stream, or for the session.
    syncing: bool,
    /// Whether the caches have been driven out since the last call.
    cold: bool,
    next_job: u64,
    /// What is sealed ahead, and what the copy in flight has of that.
    ahead: Option<Ahead>,
    called: Called,
    /// What is opened after its call.
    after: After,
    rung: u32,
    streams: Streams,
    incidents: Vec<String>,
    errors: ErrorLog,
}

impl Driver {
    /// A driver that carries out `program`; if that is empty, it makes the copies of `plans` one after the other.
    pub fn new(
        spec: &DriverSpec,
        staging: &StagingSpec,
        options: DriverOptions,
        clock: Clock,
        plans: Vec<CopyPlan>,
        program: Vec<Step>,
        nonces: NonceStreams,
    ) -> Result<Self, HostError> {
        plan::check(spec, staging, options.secure, &plans)?;
        let made = program::check(&program, plans.len())?;
        let outcomes = made.into_iter().map(|times| {
            if times > 0 || program.is_empty() { CopyOutcome::default() } else { CopyOutcome::not_made() }
        });
        let outcomes = outcomes.collect();
        let program = if program.is_empty() { program::one_by_one(plans.len()) } else { program };
        let ahead = options.ahead.filter(|_| options.secure);
        let coming = || plan::coming(spec, &plans, &program);
        Ok(Self {
            spec: spec.clone(),
            options,
            clock,
            ahead: ahead.map(|ahead| Ahead::new(ahead, coming())),
            called: Called::default(),
            after: After::default(),
            outcomes,
            streams: Streams::new(plans.len()),
            plans,
            program,
            nonces,
            task: None,
            step: 0,
            dates: Vec::new(),
            current: None,
            left: Vec::new(),
            landed: None,
            syncing: false,
            cold: false,
            next_job: 0,
            rung: 0,
            incidents: Vec::new(),
            errors: ErrorLog::default(),
        })
    }

    /// Whether every operation is done, or has failed, and nothing is left on any stream.
    pub fn finished(&self) -> bool {
        self.step == self.program.len() && self.task.is_none() && self.streams.idle() && self.after.is_empty()
    }

    /// How many copies, from the first on without a gap, the GPU is done with, delivered or not.
    pub const fn ended(&self) -> usize {
        self.streams.ended()
    }

    /// Copies that have begun and ended since this was last asked, in order.
    pub fn take_edges(&mut self) -> Vec<CopyEdge> {
        self.streams.take_edges()
    }

    /// What became of the copies, by index; those not yet reached have no dates.
    pub fn outcomes(&self) -> &[CopyOutcome] {
        &self.outcomes
    }

    /// Dates of the steps of the program that have begun, in its order.
    pub fn steps(&self) -> &[StepDates] {
        &self.dates
    }

    /// Notes that the next operation is begun.
    fn begin_step(&mut self, now: Now) {
        if self.dates.len() == self.step {
            self.dates.push(StepDates { start: now.time, ..StepDates::default() });
        }
    }

    /// Goes on behind the operation in progress.
    fn next_step(&mut self, now: Now) {
        if let Some(dates) = self.dates.get_mut(self.step) {
            dates.returned = now.time;
        }
        self.step += 1;
    }

    pub const fn pushes(&self) -> u32 {
        self.rung
    }

    fn advance(&mut self, now: Now, ports: &mut DriverPorts) -> Wake {
        while !self.finished() {
            if let Some((task, end)) = self.task.take() {
                if end > now.cycle {
                    self.task = Some((task, end));
                    // Workers are fed meanwhile.
                    let beside = ports.sealers.is_some() || ports.openers.is_some();
                    return if beside { Wake::at_or_port } else { Wake::at }(end, Activity::Busy);
                }
                if let Err(task) = self.conclude(task, now, ports) {
                    let stall = if matches!(task, Task::Call) { Stall::HostCipher } else { Stall::Submission };
                    self.task = Some((task, end));
                    return Wake::on_port(Activity::Stall(stall));
                }
            }
            if !self.step(now, ports) {
                break;
            }
        }
        if self.finished() {
            return Wake::on_port(Activity::Idle);
        }
        let waiting = self.waiting(now, ports);
        if self.works_on_a_job() {
            return Wake::on_port(waiting);
        }
        let arrival = ports.notices.next_arrival().map_or(Wake::NEVER, |date| self.clock.first_from(date));
        Wake::at_or_port(arrival, waiting)
    }

    /// Whether the caller's thread is at a job of the cipher's.
    fn works_on_a_job(&self) -> bool {
        self.options.on_caller && self.current.as_ref().is_some_and(|current| current.transfer.jobs_outstanding())
    }

    /// Whether jobs have been handed out that no thread of the cipher has begun: then it is the cipher that fills window and slots.
    fn jobs_wait(now: Now, transfer: &Transfer, jobs: &mut Out<CipherJob>) -> bool {
        let handed_out = transfer.next_job();
        let waits = jobs.pops(now.time) < handed_out;
        if waits {
            jobs.watch_pops(handed_out);
        }
        waits
    }

    /// What the thread waits for when it has no task.
    fn waiting(&self, now: Now, ports: &mut DriverPorts) -> Activity {
        let Some(Current { transfer, .. }) = &self.current else {
            return match () {
                () if self.syncing => Activity::Stall(Stall::Completion),
                () if !self.after.is_empty() => Activity::Stall(Stall::HostCipher),
                () => Activity::Idle,
            };
        };
        Activity::Stall(if self.landed.is_some() {
            Stall::AuthDependency
        } else if self.works_on_a_job() || !transfer.opened_after && Self::jobs_wait(now, transfer, &mut ports.jobs) {
            Stall::HostCipher
        } else if transfer.window_is_full() {
            Stall::PushesInFlight
        } else if transfer.lacks_slots(&ports.memory.borrow()) {
            Stall::StagingFull
        } else if transfer.jobs_outstanding() || transfer.lacks_ciphertext() {
            Stall::HostCipher
        } else {
            Stall::Completion
        })
    }

    fn begin(&mut self, task: Task, now: Now, plain: u64, secure: u64) {
        let cost = plain + if self.options.secure { secure } else { 0 };
        self.task = Some((task, now.cycle.saturating_add(cost)));
    }

    /// Does what a task leads to; gives the task back if it cannot be done yet.
    fn conclude(&mut self, task: Task, now: Now, ports: &mut DriverPorts) -> Result<(), Task> {
        match task {
            Task::Call => {
                if self.waits_for_openers(&ports.memory.borrow()) {
                    return Err(task);
                }
                let opened = self.open_transfer(&mut ports.memory.borrow_mut());
                match opened {
                    Ok(current) => self.current = current,
                    Err(reason) => self.fail(now, reason),
                }
            }
            Task::Push { push, upto } => {
                if !ports.doorbells.has_room(now.time) {
                    return Err(Task::Push { push, upto });
                }
                let (number, stream) = (push.number, push.stream);
                ports.pushes.borrow_mut().put(push);
                let content = Payload::of(number.to_le_bytes().to_vec());
                ports.doorbells.push(now.time, Tlp::write(map::doorbell(self.options.gpu), 4, content));
                self.rung = number;
                self.streams.rang(stream, number);
                match (upto, &mut self.current) {
                    (Some(upto), Some(current)) => current.transfer.rang(number, upto),
                    _ => self.next_step(now),
                }
            }
            Task::Completion { stream, number } => {
                self.note_done(stream, number, now, &mut ports.memory.borrow_mut());
                if let Some(current) = &mut self.current {
                    current.transfer.push_done(number, &mut ports.memory.borrow_mut());
                }
            }
            Task::Synced => {
                self.syncing = false;
                self.next_step(now);
            }
            Task::Host => self.next_step(now),
        }
        Ok(())
    }

    /// What the law says of a copy.
    fn waits(&self, plan: &CopyPlan, blocking: bool) -> Waits {
        let CopyPlan { direction: way, memory, .. } = *plan;
        let knobs = Knobs { secure: self.options.secure, pageable_upload: self.spec.upload(self.options.secure) };
        // What is sealed ahead is placed within its call.
        let blocking = blocking || self.options.ahead.is_some() && plan.flow(knobs.secure) != Flow::Direct;
        law(Asked::Copy { way, memory, blocking }, knobs)
    }

    /// Whether a copy must wait because one whose call has returned has the session, or staging that is to be cut anew.
    fn waits_for_session(&self, copy: usize, stream: u32, memory: &HostState) -> bool {
        let (plan, secure) = (&self.plans[copy], self.options.secure);
        let other = || self.left.iter().any(|left| left.stream != stream);
        let staged = plan.flow(secure) != Flow::Direct;
        staged && !self.left.is_empty() && (other() || !memory.may_cut(plan.path(&self.spec, secure).message))
    }

    fn open_transfer(&mut self, memory: &mut HostState) -> Result<Option<Current>, String> {
        let Some(&Step { stream, operation: Operation::Copy { copy, blocking } }) = self.program.get(self.step) else {
            return Ok(None);
        };
        let (nop, secure) = (self.called.nops > 0, self.options.secure);
        let plan = if nop { CopyPlan { bytes: Bytes(1), ..self.plans[copy] } } else { self.plans[copy] };
        let direct = plan.flow(secure) == Flow::Direct;
        let cut = if direct {
            if !secure && plan.direction != Direction::D2d {
                memory.map_pinned(copy, plan.bytes);
            }
            Cut { message: PIECE, per_push: 1, window: u64::MAX, small: false }
        } else {
            let path = plan.path(&self.spec, secure);
            memory.cut(path.message).map_err(|error| error.to_string())?;
            let slots = memory.staging_fill().0.max(1);
            let per_push = plan.push(&self.spec, secure).0.div_ceil(path.message.0).clamp(1, slots);
            let window = per_push.saturating_mul(plan.in_flight(&self.spec, secure));
            let small = self.spec.small.covers(plan.bytes, plan.direction == Direction::D2h);
            Cut { message: path.message, per_push, window, small }
        };
        let mut transfer = Transfer::new(copy, plan, &self.options, cut, self.next_job).called(self.called.next());
        if self.opens_after(&plan) {
            self.after.expect(copy, plan.bytes.0.div_ceil(cut.message.0));
            transfer = transfer.left_to_openers();
        }
        Ok(Some(Current { transfer, stream, blocks: self.waits(&plan, blocking).host == Returns::StreamDone, nop }))
    }

    /// Does one thing that costs nothing or begins a task; false if there is nothing to do.
    fn step(&mut self, now: Now, ports: &mut DriverPorts) -> bool {
        if self.current.is_none() {
            return self.heed_next(now, ports) || self.operate(now, ports);
        }
        // This goes before the caller's cipher is fed, which would open the same messages.
        self.give_away();
        let fed = self
            .collect(now, ports)
            .and_then(|()| if self.options.on_caller { Ok(()) } else { self.issue(now, ports, u64::MAX) });
        if let Err(reason) = fed {
            self.fail(now, reason);
            return true;
        }
        if self.settle(now, &mut ports.memory.borrow_mut()) {
            return true;
        }
        if !self.options.on_caller {
            return self.heed_next(now, ports) || self.build(now, ports);
        }
        if self.works_on_a_job() {
            return false;
        }
        if self.build(now, ports) || self.heed_next(now, ports) {
            return true;
        }
        if let Err(reason) = self.issue(now, ports, 1) {
            self.fail(now, reason);
            return true;
        }
        false
    }

    fn push(&self, stream: u32, copy: Option<usize>, work: PushWork) -> Push {
        let number = self.rung + 1;
        let semaphore = Semaphore { address: map::done(stream), value: number };
        Push { number, stream, copy, work, semaphore }
    }

    fn collect(&mut self, now: Now, ports: &mut DriverPorts) -> Result<(), String> {
        let Some(Current { transfer, .. }) = &mut self.current else { return Ok(()) };
        let outcome = &mut self.outcomes[transfer.copy];
        let checked = transfer.job.tags_checked();
        while let Some(done) = ports.done.pop(now.time) {
            let message = transfer.message_of(&done);
            if done.ok {
                outcome.tags_verified += checked;
            } else if checked == 0 {
                return Err(format!("message {} could not be read", message + 1));
            } else {
                outcome.tags_failed += 1;
                self.errors.note(if done.by == Party::User { errors::USER_TAG } else { errors::CPU_TAG }, now.time);
                // The last who looks found it wrong, so those before found it right.
                outcome.tags_verified += u64::from(transfer.job == JobKind::ResealOut && done.by == Party::User);
                let who = if done.by == Party::User { "user" } else { "CPU" };
                let whose = if transfer.job == JobKind::ResealIn { " from the user" } else { "" };
                return Err(format!("the {who} found a wrong tag on message {}{whose}", message + 1));
            }
            transfer.job_done(&done, &mut ports.memory.borrow_mut());
            if let Some(ahead) = self.ahead.as_mut().filter(|_| transfer.job == JobKind::Place) {
                ahead.placed(transfer.bytes_of(message));
            }
        }
        Ok(())
    }

    /// Hands out new jobs, so that at most `at_once` are in progress.
    fn issue(&mut self, now: Now, ports: &mut DriverPorts, at_once: u64) -> Result<(), String> {
        match &mut self.current {
            Some(current) => {
                current.transfer.note_ready(self.ahead.as_ref().map_or(0, Ahead::ready));
                let memory = &mut ports.memory.borrow_mut();
                current.transfer.issue(now, &mut ports.jobs, at_once, self.nonces.seal.as_mut(), memory)
            }
            None => Ok(()),
        }
    }

    /// Begins the next push of the copy in flight if it is ready.
    fn build(&mut self, now: Now, ports: &mut DriverPorts) -> bool {
        let Some(Current { transfer, stream, .. }) = &mut self.current else { return false };
        let (copy, stream) = (transfer.copy, *stream);
        let next = transfer.next_push(
            self.options.pipelined_pushes,
            now.time,
            self.nonces.open.as_mut(),
            &mut ports.memory.borrow_mut(),
        );
        match next {
            Ok(None) => return false,
            Ok(Some(_)) if u64::from(self.rung) + 1 >= CHANNEL_ERROR => {
                self.fail(now, "no push numbers are left".into());
            }
            Ok(Some((launches, upto))) => {
                let (cost, work) = match (&launches[..], self.plans[copy].direction) {
                    (&[Launch { source, destination, bytes, .. }], Direction::D2d) => {
                        let task = StreamTask::Compute(Computation::Copy { source, destination, bytes });
                        (self.spec.launch, PushWork::Task(task))
                    }
                    _ => (self.spec.push, PushWork::Launches(launches)),
                };
                let push = self.push(stream, Some(copy), work);
                self.begin(Task::Push { push, upto: Some(upto) }, now, cost.0, self.spec.secure_push.0);
            }
            Err(reason) => self.fail(now, reason),
        }
        true
    }
}

impl Unit for Driver {
    type Ports = DriverPorts;

    fn tick(&mut self, now: Now, ports: &mut DriverPorts) -> Wake {
        let helped = ports.sealers.is_some() || ports.openers.is_some();
        if helped {
            self.take_from_helpers(now, ports);
        }
        let mut wake = self.advance(now, ports);
        // Whatever this tick has made possible is handed out within it.
        if helped && !self.finished() && !self.feed_helpers(now, ports) {
            wake = Wake::on_port(Activity::Idle);
        }
        if self.streams.has_edges() {
            ports.signals.milestone();
        }
        if self.finished() {
            ports.signals.stop();
        }
        wake
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, u64)) {
        show("messages", self.current.as_ref().map_or(0, |current| current.transfer.in_flight()));
    }

    fn incidents(&self) -> Vec<String> {
        self.incidents.clone()
    }

    fn errors(&self) -> &[Signalled] {
        self.errors.all()
    }
}
