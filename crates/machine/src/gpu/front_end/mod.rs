//! The front end of a logical copy engine (LCE), one channel: from pushes to transfers, and from verdicts to semaphores. There is one for
//! the LCE that reads host memory and one for the LCE that writes it.
//!
//! ```text
//!                    +----------------------------------------+
//!  pushes In        >| fetch -> decode -> LCE -> IV -> split  |> work[] Out (the LCE's PCEs)
//!  done[] In        >|                                        |> retired Out (scheduler)
//!                    |  flights: launches not yet complete    |
//!  verdicts In      >|                                        |> entries Out (tag queue)   the reading
//!  landed wire      ~|                                        |                            LCE only
//!                    +----------------------------------------+
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts | pushes as they come; a push is decoded `fetch` cycles after its doorbell rang and no sooner than it comes, a method word per `method_word` cycles |
//! | gives per cycle | one transfer or one semaphore |
//! | IV | one step per secure launch, in launch order, before its data; exhaustion is a channel error |
//! | order | a non-pipelined launch waits for all earlier ones; a semaphore waits for all earlier transfers, and `flush` cycles more behind a flush to the host |
//! | pieces | of a message with several tags: one in a cycle to the next PCE, each with an entry of the tag queue and its room in a common quarantine; the first counts as its copy's first message |
//! | tag in parts | of a message that is sealed in parts, the shares come from its PCEs; their sum is written by the first PCE, with the IV |
//! | complete | to device memory: landed, and verified unless the policy is `eager`; to host memory: sent |
//! | common quarantine | a message to be opened has room reserved for all of its bytes with its launch, in launch order, so that no later one can keep an earlier one out; its verdict frees it |
//! | turnaround | the first launch of a push begins `turnaround` cycles after the semaphore of the push before |
//! | retired | a push, when the link has taken the semaphore at its end |
//! | stalls | `order`, `messages_in_flight`, `stripes_in_flight`, `tag_queue_full`, `quarantine` |
//!
//! A plain launch is split into stripes that go to the PCEs of its LCE in turn. A secure launch goes to the PCE whose turn it is, or, with
//! `sharing` `split`, in contiguous parts of whole bursts to all of them. A failed verdict or transfer, or a push that comes twice, poisons the
//! channel: what is not yet launched is dropped, and the error number of the LCE is written to the error semaphore. The other channel goes on.

mod first;
mod flight;
mod jobs;

use super::{
    key_rotation::Work,
    methods::{Command, Lce, SEMAPHORE_BYTES},
    release::Release,
    spans::Spans,
    spec::CopyEngineSpec,
    work::{CopyPush, Done, Edge, Job, JobId, Landed, LaunchKind, Mark, PceWork, Retired, TagEntry, Verdict},
};
use crate::{
    gcm::iv::Stream as IvStream,
    ports,
    sim::{
        Activity, Armed, Clock, ErrorLog, ErrorSignal, FaultKind, In, Now, Out, Room, Rx, Signalled, Stall, Unit, Wake,
    },
    stream::{Launch, Semaphore},
    units::Femtos,
};
use first::Firsts;
use flight::{Flights, PartTag};
use std::{collections::VecDeque, ops::Range};

pub const SUBMISSION: ErrorSignal = ErrorSignal::uncorrected("submission", "a submission that the GPU refused");

/// Bit of a semaphore value that says that the channel has failed.
pub const CHANNEL_ERROR: u64 = 1 << 31;

/// Distance from a push's semaphore to the one that is written when all its messages are verified, under `eager`.
pub const VERIFIED_OFFSET: u64 = 16;

ports! {
    /// What notifies a front end that messages to device memory are complete.
    pub struct Verification {
        pub landed: Rx<Landed>,
        pub verdicts: In<Verdict>,
        pub entries: Out<TagEntry>,
    }
}

ports! {
    pub struct Ports {
        pub pushes: In<CopyPush>,
        pub work: Vec<Out<PceWork>>,
        pub done: Vec<In<Done>>,
        /// Of the LCE that reads host memory.
        pub verification: Option<Verification>,
        pub retired: Out<Retired>,
    }
}

#[derive(Debug, Clone)]
pub struct FrontEndSpec {
    pub copy_engine: CopyEngineSpec,
    /// Whether its LCE writes host memory; the other one reads it, and copies within device memory.
    pub writes_host: bool,
    pub pces: usize,
    pub confidential: bool,
    pub tag_queue_depth: u64,
    /// Bytes of a message that each of its tags covers; none if one covers all.
    pub tag_every: Option<u64>,
    /// Bytes of a quarantine that all its PCEs share; none if each has its own.
    pub common_quarantine: Option<u64>,
    /// Bytes of each PCE that go on ahead of their verdicts and need none of it.
    pub ahead: u64,
    /// When consumers may see plaintext.
    pub release: Release,
    /// Addresses of device memory; all others are the host's.
    pub device: Range<u64>,
    /// Where a channel error is written.
    pub error_semaphore: u64,
    /// Robust-channel error of the LCE.
    pub channel_error: u32,
}

/// A message whose tags differed, and who had started on it by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    pub message: JobId,
    pub time: Femtos,
    /// When the semaphore at the end of its push was released, if it was by then: its consumers had started.
    pub started: Option<Femtos>,
    /// Other messages without a verdict whose consumers had started.
    pub other_messages: u64,
}

#[derive(Debug, Clone)]
struct Step {
    /// Cycle from which on it is decoded.
    ready: u64,
    command: Command,
    /// The copy that its push belongs to.
    copy: Option<usize>,
    ends: Option<u32>,
}

/// What a message, or its part, reserves in a common quarantine.
#[derive(Debug)]
struct Held {
    message: JobId,
    place: usize,
    bytes: u64,
}

#[derive(Debug)]
pub struct FrontEnd {
    spec: FrontEndSpec,
    clock: Clock,
    lce: Lce,
    ivs: IvStream,
    decode_free: u64,
    last_push: Option<u32>,
    steps: VecDeque<Step>,
    flights: Flights,
    firsts: Firsts,
    /// Launch that is being split into stripes, or into pieces with a tag each, and its bytes in those that have been given out.
    cutting: Option<(Job, u64)>,
    turn: usize,
    tag_credits: u64,
    /// The entries of the tag queue.
    tag_room: Room,
    /// The room of a common quarantine, if there is one.
    common: Option<Room>,
    /// The room that messages have in a common quarantine.
    held: Vec<Held>,
    /// The most that was reserved there.
    most_held: u64,
    next_job: u64,
    poisoned: bool,
    error_due: bool,
    /// Under `eager`: semaphores that wait for the verdicts of all jobs before a number, and when they were released for the first time.
    unverified: VecDeque<(u64, Semaphore, Femtos)>,
    failures: Vec<Failure>,
    /// A flush to the host that waits for the transfers before it, or the cycle of its end.
    flush: Option<Option<u64>>,
    /// The cycle from which the next push may begin.
    next_push: u64,
    iv_faults: Vec<Armed>,
    key_work: Work,
    /// Pushes whose end the scheduler is to be notified of.
    retired: VecDeque<u32>,
    pushes_done: u64,
    spans: Spans,
    incidents: Vec<String>,
    errors: ErrorLog,
}

/// Why something does not happen yet: what the front end is meanwhile and when it can go on by itself.
type Refusal = (Activity, u64);

/// A semaphore's value, written to `address`.
fn written(address: u64, semaphore: Semaphore, push: Option<u32>) -> PceWork {
    PceWork::Release { address, bytes: SEMAPHORE_BYTES, value: semaphore.value.into(), push }
}

/// Nothing can go on before a port changes.
fn stall(stall: Stall) -> Option<Refusal> {
    Some((Activity::Stall(stall), Wake::NEVER))
}

impl FrontEnd {
    /// A front end on `clock` with the IVs of its direction.
    pub fn new(spec: FrontEndSpec, ivs: IvStream, clock: Clock) -> Self {
        Self {
            tag_credits: spec.tag_queue_depth,
            tag_room: Room::new(spec.tag_queue_depth),
            common: spec.common_quarantine.map(Room::new),
            lce: Lce::new(spec.confidential, spec.device.clone()),
            spec,
            clock,
            ivs,
            decode_free: 0,
            last_push: None,
            steps: VecDeque::new(),
            flights: Flights::default(),
            firsts: Firsts::default(),
            cutting: None,
            turn: 0,
            held: Vec::new(),
            most_held: 0,
            next_job: 1,
            poisoned: false,
            error_due: false,
            unverified: VecDeque::new(),
            failures: Vec::new(),
            flush: None,
            next_push: 0,
            iv_faults: Vec::new(),
            key_work: Work::default(),
            retired: VecDeque::new(),
            pushes_done: 0,
            spans: Spans::default(),
            incidents: Vec::new(),
            errors: ErrorLog::default(),
        }
    }

    /// Messages whose tags differed.
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    pub const fn key_work(&self) -> Work {
        self.key_work
    }

    /// Most bytes that messages reserved in a common quarantine, if there is one: with so much room it would have done the same.
    pub fn most_held(&self) -> Option<u64> {
        self.spec.common_quarantine.map(|_| self.most_held)
    }

    /// What copies have begun, verified and ended.
    pub const fn spans(&self) -> &Spans {
        &self.spans
    }

    fn take_pushes(&mut self, now: Now, ports: &mut Ports) {
        while let Some(push) = ports.pushes.pop(now.time) {
            match &push.methods {
                Some(_) if self.last_push == Some(push.number) => {
                    self.refuse(format!("push {} has come twice", push.number), now.time);
                }
                Some(methods) => {
                    self.last_push = Some(push.number);
                    self.decode(&push, methods, now);
                }
                None => self.refuse("a doorbell names no push that is there".into(), now.time),
            }
        }
    }

    fn decode(&mut self, push: &CopyPush, methods: &[u32], now: Now) {
        let fetched = push.rung.saturating_add(self.spec.copy_engine.fetch.0);
        let start = fetched.max(now.cycle).max(self.decode_free);
        let word = self.spec.copy_engine.method_word.0;
        self.decode_free = start + methods.len() as u64 * word;
        match self.lce.decode(methods) {
            Ok(commands) => {
                let last = commands.len().saturating_sub(1);
                let steps = commands.into_iter().enumerate().map(|(place, (at, command))| Step {
                    ready: start + (at as u64 + 1) * word,
                    command,
                    copy: push.copy,
                    ends: (place == last).then_some(push.number),
                });
                self.steps.extend(steps);
            }
            Err(error) => self.refuse(format!("the methods of a push are refused: {error}"), now.time),
        }
    }

    /// Ends the channel for what this unit itself has found wrong.
    #[cold]
    fn refuse(&mut self, why: String, time: Femtos) {
        self.errors.note(SUBMISSION, time);
        self.poison(why);
    }

    fn poison(&mut self, why: String) {
        self.incidents.push(why);
        if !self.poisoned {
            self.poisoned = true;
            self.error_due = true;
            self.steps.clear();
            self.cutting = None;
        }
    }

    /// Who has started on a message that has failed, and on others without a verdict.
    fn failure(&self, message: JobId, now: Now) -> Failure {
        let started = self.unverified.iter().find(|(before, ..)| message < *before).map(|(.., released)| *released);
        let end = self.unverified.back().map_or(0, |(before, ..)| *before);
        Failure { message, time: now.time, started, other_messages: self.flights.await_verdicts_before(end) }
    }

    fn take_results(&mut self, now: Now, ports: &mut Ports) {
        if let Some(Verification { landed, verdicts, .. }) = &mut ports.verification {
            while let Some(verdict) = verdicts.pop(now.time) {
                self.tag_credits += 1;
                self.held.retain(|held| held.message != verdict.job);
                self.flights.verified(verdict.job);
                if verdict.ok {
                    let first = self.firsts.verified(verdict.job);
                    self.mark(first, Edge::Verified, now);
                } else {
                    self.failures.push(self.failure(verdict.job, now));
                    self.poison(format!("authentication of message {} failed: the tags differ", verdict.job));
                }
            }
            while let Some(Landed { job }) = landed.arrive(now.time) {
                self.flights.moved(job);
                let first = self.firsts.landed(job);
                self.mark(first, Edge::Verified, now);
            }
        }
        for queue in &mut *ports.done {
            while let Some(done) = queue.pop(now.time) {
                match done {
                    Done::Transfer { job, ok } => {
                        self.flights.moved(job);
                        if !ok {
                            self.poison(format!("transfer {job} was given up"));
                        }
                    }
                    Done::Share { job, tag } => self.flights.shared(job, tag),
                    Done::Release { push } => {
                        self.retired.push_back(push);
                        self.pushes_done += 1;
                    }
                }
            }
        }
        self.flights.settle(self.spec.release);
    }

    /// Starts the next transfer or semaphore; gives what the front end is and when it can go on by itself.
    fn dispatch(&mut self, now: Now, ports: &mut Ports) -> Refusal {
        if self.error_due {
            let value = CHANNEL_ERROR | u64::from(self.spec.channel_error);
            let (address, bytes) = (self.spec.error_semaphore, SEMAPHORE_BYTES);
            let error = PceWork::Release { address, bytes, value, push: None };
            if let Some(refusal) = Self::release(error, now, ports) {
                return refusal;
            }
            self.error_due = false;
        }
        if self.poisoned {
            return (Activity::Idle, Wake::NEVER);
        }
        if let Some(refusal) = self.release_verified(now, ports) {
            return refusal;
        }
        if let Some(known) = self.flights.known_tag() {
            return Self::write_tag(known, now, ports);
        }
        match &self.cutting {
            Some((job, _)) if job.kind.is_secure() => {
                return self.give_piece(now, ports);
            }
            Some(_) => return self.cut(now, ports),
            None => {}
        }
        let Some(step) = self.steps.front() else {
            let waits = !self.flights.is_empty() || !self.unverified.is_empty();
            return (if waits { Activity::Busy } else { Activity::Idle }, Wake::NEVER);
        };
        let ready = step.ready.max(self.next_push);
        if ready > now.cycle {
            return (Activity::Busy, ready);
        }
        let Step { command, copy, ends, .. } = *step;
        let refusal = match command {
            Command::Launch(launch) => self.launch(&launch, copy, now, ports),
            Command::Release(semaphore) => self.end(semaphore, copy, ends, now, ports),
        };
        refusal.unwrap_or_else(|| {
            self.steps.pop_front();
            (Activity::Busy, now.cycle + 1)
        })
    }

    fn launch(&mut self, launch: &Launch, copy: Option<usize>, now: Now, ports: &mut Ports) -> Option<Refusal> {
        if !launch.pipelined && !self.flights.is_empty() {
            return stall(Stall::Order);
        }
        if self.flights.len() >= self.spec.copy_engine.messages_in_flight as usize {
            return stall(Stall::MessagesInFlight);
        }
        let first = self.next_job;
        let refusal = self.start(launch, now, ports);
        if refusal.is_some() || self.poisoned {
            return refusal;
        }
        self.mark(copy, Edge::Begin, now);
        if let (Some(copy), LaunchKind::Open) = (copy, launch.kind) {
            let end = if self.spec.tag_every.is_some() { first + 1 } else { self.next_job };
            self.firsts.start(copy, first..end);
        }
        if self.spec.writes_host && launch.flush {
            self.flush = Some(None);
        }
        None
    }

    /// Releases the semaphore at the end of a push when all before it is done.
    fn end(
        &mut self,
        semaphore: Semaphore,
        copy: Option<usize>,
        push: Option<u32>,
        now: Now,
        ports: &mut Ports,
    ) -> Option<Refusal> {
        if !self.flights.is_empty() {
            return stall(Stall::Order);
        }
        if let Some(flush) = &mut self.flush {
            let end = *flush.get_or_insert(now.cycle + self.spec.copy_engine.flush.0);
            if end > now.cycle {
                return Some((Activity::Stall(Stall::Order), end));
            }
        }
        let refusal = Self::release(written(semaphore.address, semaphore, push), now, ports);
        if refusal.is_none() {
            self.flush = None;
            self.next_push = now.cycle + self.spec.copy_engine.turnaround.0;
            self.mark(copy, Edge::End, now);
            if self.spec.release.tells_verified() {
                self.unverified.push_back((self.next_job, semaphore, now.time));
            }
        }
        refusal
    }

    fn mark(&mut self, copy: Option<usize>, edge: Edge, now: Now) {
        if let Some(copy) = copy {
            self.spans.note(Mark { copy, edge, time: now.time });
        }
    }

    /// Gives the next stripe of a plain launch to the PCE whose turn it is.
    fn cut(&mut self, now: Now, ports: &mut Ports) -> Refusal {
        let Some((job, offset)) = &mut self.cutting else { return (Activity::Idle, Wake::NEVER) };
        let place = self.turn % self.spec.pces;
        let open = self.flights.open_jobs();
        let output = &mut ports.work[place];
        if open >= self.spec.pces * self.spec.copy_engine.stripes_in_flight as usize {
            return (Activity::Stall(Stall::StripesInFlight), Wake::NEVER);
        }
        if !output.has_room(now.time) {
            return (Activity::Stall(Stall::Order), Wake::NEVER);
        }
        let bytes = self.spec.copy_engine.stripe.0.min(job.bytes - *offset);
        let stripe = Job {
            id: self.next_job,
            source: job.source + *offset,
            destination: job.destination + *offset,
            bytes,
            ..job.clone()
        };
        *offset += bytes;
        let last = *offset == job.bytes;
        output.push(now.time, PceWork::Transfer(stripe));
        self.flights.extend(self.next_job, last);
        self.next_job += 1;
        self.turn += 1;
        if last {
            self.cutting = None;
        }
        (Activity::Busy, now.cycle + 1)
    }

    /// Gives the tag of a message that was sealed in parts to the first PCE, before the semaphore that reports the message.
    fn write_tag(known: &mut Option<PartTag>, now: Now, ports: &mut Ports) -> Refusal {
        let output = &mut ports.work[0];
        if !output.has_room(now.time) {
            return (Activity::Stall(Stall::Order), Wake::NEVER);
        }
        if let Some(PartTag { message, sum, .. }) = known.take() {
            output.push(now.time, PceWork::Tag { message, tag: sum });
        }
        (Activity::Busy, now.cycle + 1)
    }

    /// Gives a semaphore to the first PCE.
    fn release(semaphore: PceWork, now: Now, ports: &mut Ports) -> Option<Refusal> {
        let output = &mut ports.work[0];
        if !output.has_room(now.time) {
            return stall(Stall::Order);
        }
        output.push(now.time, semaphore);
        None
    }

    /// Under `eager`: reports pushes whose messages are all verified.
    fn release_verified(&mut self, now: Now, ports: &mut Ports) -> Option<Refusal> {
        while let Some(&(before, semaphore, _)) = self.unverified.front() {
            if self.flights.awaits_verdict_before(before) {
                return None;
            }
            let refusal = Self::release(written(semaphore.address + VERIFIED_OFFSET, semaphore, None), now, ports);
            if refusal.is_some() {
                return refusal;
            }
            self.unverified.pop_front();
        }
        None
    }
}

impl Unit for FrontEnd {
    type Ports = Ports;

    fn tick(&mut self, now: Now, ports: &mut Ports) -> Wake {
        self.take_pushes(now, ports);
        self.take_results(now, ports);
        while !self.retired.is_empty() && ports.retired.has_room(now.time) {
            ports.retired.push(now.time, Retired { push: self.retired.pop_front().unwrap_or_default() });
        }
        let (activity, at) = self.dispatch(now, ports);
        let arrival = ports.verification.as_ref().and_then(|v| v.landed.next_arrival());
        let arrival = arrival.map_or(Wake::NEVER, |date| self.clock.first_from(date));
        Wake::at_or_port(at.min(arrival), activity)
    }

    /// Messages that are done; pushes where there are no messages.
    fn work_done(&self) -> Option<u64> {
        Some(if self.spec.confidential { self.flights.done() } else { self.pushes_done })
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, u64)) {
        if self.spec.common_quarantine.is_some() {
            show("quarantine_reserved", self.held_bytes(std::iter::empty()));
        }
    }

    fn bounded(&self, show: &mut dyn FnMut(&'static str, u64)) {
        show("tag_queue.depth", self.tag_room.asked());
        // Without a common one PCEs say what they ask of their own.
        show("tag_queue.quarantine", self.common.as_ref().map_or(0, Room::asked));
    }

    fn incidents(&self) -> Vec<String> {
        self.incidents.clone()
    }

    fn errors(&self) -> &[Signalled] {
        self.errors.all()
    }

    /// The engine's IV counter takes a step too many at a launch.
    fn fault_points(&self) -> &'static [(&'static str, &'static [FaultKind])] {
        &[("iv", &[FaultKind::Skip])]
    }

    fn arm(&mut self, _point: &str, armed: Armed) {
        self.iv_faults.push(armed);
    }

    fn armed(&self) -> Vec<Armed> {
        self.iv_faults.clone()
    }
}

#[cfg(test)]
mod tests;
