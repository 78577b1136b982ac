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
//! | copies | one after the other |
//! | costs | `call` per copy, `push` per push, `completion` per notice; with confidential computing `secure_push` and `secure_completion` on top |
//! | jobs | as many as the cipher's queue takes and staging has slots for; handing them over costs nothing |
//! | push to the GPU | once its messages are sealed, in order; the doorbell rings when the push is built and there is room for it |
//! | push from the GPU | once there are slots for its messages; they are opened in order when it is done |
//! | order of work | jobs, then notices, then pushes |
//! | stalls | `host_cipher`, `staging_full`, `submission`, `completion`, `auth_dependency` (a verdict under eager release) |
//!
//! A semaphore only rises: value n means that every push up to n is done. A notice that repeats the last value changes nothing and is
//! noted; any other value that no push waits for ends the copy. A value with bit 31 set is a channel error, with the robust-channel
//! error number below it. What ends a copy undelivered ends the channel: later copies are not attempted.

mod plan;
mod push;
mod transfer;

pub use plan::{CopyOutcome, CopyPlan, Direction, DriverOptions, Memory};
pub use push::{NonceStreams, Nonces, Order, OrderKind, Push, Pushes, Semaphore, StreamTask};

use super::{
    cipher::{CipherDone, CipherJob},
    error::HostError,
    map,
    memory::HostState,
    spec::{DriverSpec, StagingSpec},
};
use crate::{
    pcie::{
        packet::{Payload, Tlp},
        root_complex::Notice,
    },
    sim::{Activity, Clock, In, Now, Out, Stall, Wake, Wire},
    units::Femtos,
};
use plan::{Flow, PIECE};
use transfer::{Cut, Transfer};

/// Bit of a semaphore's value that makes it a channel error.
pub const CHANNEL_ERROR: u64 = 1 << 31;

/// Ports of the driver.
pub struct DriverPorts<'a> {
    /// Jobs for the cipher.
    pub jobs: Out<'a, CipherJob>,
    /// Jobs that have ended.
    pub done: In<'a, CipherDone>,
    /// Doorbell writes.
    pub doorbells: Out<'a, Tlp>,
    /// Semaphores that have changed.
    pub notices: &'a mut Wire<Notice>,
    /// Where pushes are put.
    pub pushes: &'a mut dyn Pushes,
    /// Memory.
    pub memory: &'a mut HostState,
}

/// What keeps the thread busy, and what it leads to.
#[derive(Debug)]
enum Task {
    Call,
    Push { push: Push, upto: u64 },
    Completion { number: u32 },
}

/// The driver.
pub struct Driver {
    spec: DriverSpec,
    options: DriverOptions,
    clock: Clock,
    plans: Vec<CopyPlan>,
    outcomes: Vec<CopyOutcome>,
    nonces: NonceStreams,
    /// The task and the cycle of its end.
    task: Option<(Task, u64)>,
    /// The copy whose call is made or that is under way.
    copy: usize,
    transfer: Option<Transfer>,
    /// When the copy under way was done.
    landed: Option<Femtos>,
    next_job: u64,
    /// Numbers of the last push that was submitted, that was done, and whose tags were verified.
    rung: u32,
    done: u32,
    verified: u32,
    incidents: Vec<String>,
}

impl Driver {
    /// A driver that makes the copies of `plans` one after the other.
    ///
    /// # Errors
    /// If a copy or a message is longer than what there is for it, or a cost never ends.
    pub fn new(
        spec: &DriverSpec,
        staging: &StagingSpec,
        options: DriverOptions,
        clock: Clock,
        plans: Vec<CopyPlan>,
        nonces: NonceStreams,
    ) -> Result<Self, HostError> {
        plan::check(spec, staging, options.secure, &plans)?;
        Ok(Self {
            spec: spec.clone(),
            options,
            clock,
            outcomes: vec![CopyOutcome::default(); plans.len()],
            plans,
            nonces,
            task: None,
            copy: 0,
            transfer: None,
            landed: None,
            next_job: 0,
            rung: 0,
            done: 0,
            verified: 0,
            incidents: Vec::new(),
        })
    }

    /// Whether every copy is delivered or has failed.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.copy == self.plans.len()
    }

    /// How many copies have come to their end, delivered or not.
    #[must_use]
    pub const fn ended(&self) -> usize {
        self.copy
    }

    /// What became of the copies, by index; those not yet reached have no dates.
    #[must_use]
    pub fn outcomes(&self) -> &[CopyOutcome] {
        &self.outcomes
    }

    /// What went wrong here, in words.
    #[must_use]
    pub fn incidents(&self) -> &[String] {
        &self.incidents
    }

    /// Pushes submitted so far.
    #[must_use]
    pub const fn pushes(&self) -> u32 {
        self.rung
    }

    /// Advances by one edge.
    pub fn tick(&mut self, now: Now, mut ports: DriverPorts<'_>) -> Wake {
        while !self.finished() {
            if let Some((task, end)) = self.task.take() {
                if end > now.cycle {
                    self.task = Some((task, end));
                    return Wake::at(end, Activity::Busy);
                }
                if let Err(task) = self.conclude(task, now, &mut ports) {
                    self.task = Some((task, end));
                    return Wake::on_port(Activity::Stall(Stall::Submission));
                }
            }
            if !self.step(now, &mut ports) {
                break;
            }
        }
        if self.finished() {
            return Wake::on_port(Activity::Idle);
        }
        let arrival = ports.notices.next_arrival().map_or(Wake::NEVER, |date| self.clock.first_from(date));
        Wake::at_or_port(arrival, self.waiting())
    }

    /// What the thread waits for when it has no task.
    const fn waiting(&self) -> Activity {
        let Some(transfer) = &self.transfer else { return Activity::Idle };
        Activity::Stall(if self.landed.is_some() {
            Stall::AuthDependency
        } else if transfer.jobs_outstanding() {
            Stall::HostCipher
        } else if transfer.wants_slots() {
            Stall::StagingFull
        } else {
            Stall::Completion
        })
    }

    fn begin(&mut self, task: Task, now: Now, plain: u64, secure: u64) {
        let cost = plain + if self.options.secure { secure } else { 0 };
        self.task = Some((task, now.cycle.saturating_add(cost)));
    }

    /// Does what a task leads to; gives the task back if it cannot be done yet.
    fn conclude(&mut self, task: Task, now: Now, ports: &mut DriverPorts<'_>) -> Result<(), Task> {
        match task {
            Task::Call => match self.open_transfer(ports.memory) {
                Ok(transfer) => self.transfer = Some(transfer),
                Err(reason) => self.fail(now, reason),
            },
            Task::Push { push, upto } => {
                if !ports.doorbells.has_room() {
                    return Err(Task::Push { push, upto });
                }
                let number = push.number;
                ports.pushes.put(push);
                ports.doorbells.push(Tlp::write(map::DOORBELL, 4, Payload::of(number.to_le_bytes().to_vec())));
                self.rung = number;
                if let Some(transfer) = &mut self.transfer {
                    transfer.rang(number, upto);
                }
            }
            Task::Completion { number } => {
                self.done = number;
                if let Some(transfer) = &mut self.transfer {
                    transfer.push_done(number, ports.memory);
                }
            }
        }
        Ok(())
    }

    fn open_transfer(&self, memory: &mut HostState) -> Result<Transfer, String> {
        let plan = self.plans[self.copy];
        let cut = if plan.flow(self.options.secure) == Flow::Direct {
            if !self.options.secure && plan.direction != Direction::D2d {
                memory.map_pinned(self.copy, plan.bytes);
            }
            Cut { message: PIECE, per_push: 1 }
        } else {
            let path = plan.path(&self.spec);
            memory.cut(path.message).map_err(|error| error.to_string())?;
            let slots = memory.staging_fill().0.max(1);
            Cut { message: path.message, per_push: path.push.0.div_ceil(path.message.0).clamp(1, slots) }
        };
        Ok(Transfer::new(self.copy, plan, self.options.secure, cut, self.next_job))
    }

    /// Does one thing that costs nothing or begins a task; false if there is nothing to do.
    fn step(&mut self, now: Now, ports: &mut DriverPorts<'_>) -> bool {
        if self.transfer.is_none() {
            return self.call(now);
        }
        if let Err(reason) = self.feed(ports) {
            self.fail(now, reason);
            return true;
        }
        if self.settle(now) {
            return true;
        }
        if let Some(notice) = ports.notices.arrive(now.time) {
            self.heed(notice, now);
            return true;
        }
        self.build(now, ports)
    }

    fn call(&mut self, now: Now) -> bool {
        let Some(outcome) = self.outcomes.get_mut(self.copy) else { return false };
        outcome.start = now.time;
        self.begin(Task::Call, now, self.spec.call.0, 0);
        true
    }

    /// Takes ended jobs and hands out new ones.
    fn feed(&mut self, ports: &mut DriverPorts<'_>) -> Result<(), String> {
        let Some(transfer) = &mut self.transfer else { return Ok(()) };
        let outcome = &mut self.outcomes[self.copy];
        let opens = self.options.secure && self.plans[self.copy].direction == Direction::D2h;
        while let Some(done) = ports.done.pop() {
            match (done.ok, opens) {
                (true, true) => outcome.tags_verified += 1,
                (true, false) => {}
                (false, true) => {
                    outcome.tags_failed += 1;
                    return Err(format!("the CPU found a wrong tag on message {}", transfer.message_of(&done)));
                }
                (false, false) => return Err(format!("message {} could not be read", transfer.message_of(&done))),
            }
            transfer.job_done(&done, ports.memory);
        }
        transfer.issue(&mut ports.jobs, self.nonces.seal.as_mut(), ports.memory)
    }

    /// Ends the copy if all of it is done, and verified where that is waited for.
    fn settle(&mut self, now: Now) -> bool {
        let Some(transfer) = self.transfer.as_ref().filter(|transfer| transfer.complete()) else { return false };
        let end = *self.landed.get_or_insert(now.time);
        if self.options.waits_for_verified && self.verified < self.rung {
            return false;
        }
        let outcome = &mut self.outcomes[self.copy];
        (outcome.end, outcome.verified, outcome.delivered) = (end, now.time, true);
        outcome.messages = transfer.submitted();
        self.next_job = transfer.next_job();
        self.copy += 1;
        (self.transfer, self.landed) = (None, None);
        true
    }

    /// Ends the copy, and with it the channel.
    fn fail(&mut self, now: Now, reason: String) {
        let messages = self.transfer.as_ref().map_or(0, Transfer::submitted);
        if let Some((outcome, later)) = self.outcomes[self.copy..].split_first_mut() {
            (outcome.end, outcome.verified, outcome.messages) = (self.landed.unwrap_or(now.time), now.time, messages);
            outcome.reason = Some(reason);
            for outcome in later {
                (outcome.start, outcome.end, outcome.verified) = (now.time, now.time, now.time);
                outcome.reason = Some(format!("not attempted: copy {} has ended the channel", self.copy));
            }
        }
        self.copy = self.plans.len();
        (self.transfer, self.landed, self.task) = (None, None, None);
    }

    /// Takes note of a semaphore.
    fn heed(&mut self, notice: Notice, now: Now) {
        let Notice { address, value } = notice;
        if value & CHANNEL_ERROR != 0 {
            return self.fail(now, format!("channel error: robust-channel error {}", value & (CHANNEL_ERROR - 1)));
        }
        let last = match address {
            map::DONE => self.done,
            map::VERIFIED => self.verified,
            _ => return self.impossible(now, &notice),
        };
        match u32::try_from(value) {
            Ok(number) if number > last && number <= self.rung => {
                if address == map::VERIFIED {
                    self.verified = number;
                } else {
                    let (plain, secure) = (self.spec.completion.0, self.spec.secure_completion.0);
                    self.begin(Task::Completion { number }, now, plain, secure);
                }
            }
            Ok(number) if number == last => {
                self.incidents.push(format!("the semaphore at {address:#x} took the value {value} twice"));
            }
            _ => self.impossible(now, &notice),
        }
    }

    fn impossible(&mut self, now: Now, notice: &Notice) {
        let what =
            format!("the semaphore at {:#x} took the value {}: no push waits for it", notice.address, notice.value);
        self.incidents.push(what.clone());
        self.fail(now, what);
    }

    /// Begins the next push if it is ready.
    fn build(&mut self, now: Now, ports: &mut DriverPorts<'_>) -> bool {
        let Some(transfer) = &mut self.transfer else { return false };
        let number = self.rung + 1;
        let semaphore = Semaphore { address: map::DONE, value: number };
        match transfer.next_push(self.options.pipelined_pushes, self.nonces.open.as_mut(), ports.memory) {
            Ok(None) => return false,
            Ok(Some(_)) if u64::from(number) >= CHANNEL_ERROR => self.fail(now, "no push numbers are left".into()),
            Ok(Some((orders, upto))) => {
                let task = Task::Push {
                    push: Push { number, stream: 0, copy: Some(self.copy), orders, task: None, semaphore },
                    upto,
                };
                self.begin(task, now, self.spec.push.0, self.spec.secure_push.0);
            }
            Err(reason) => self.fail(now, reason),
        }
        true
    }
}
