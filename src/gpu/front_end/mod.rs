//! The front end of the copy engine: from doorbells to transfers, and from verdicts to semaphores.
//!
//! ```text
//!                    +----------------------------------------+
//!  doorbells In     >| fetch -> decode -> LCE -> IV -> split  |> work[] Out (PCEs: readers, then writers)
//!  done[] In        >|                                        |> entries Out (tag queue)
//!  verdicts In      >|  flights: launches not yet complete    |
//!  landed wire      ~|                                        |
//!                    +-------------------+--------------------+
//!                                        | PushMemory
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts | doorbells as they come; a push is decoded `fetch` cycles later, a method word per `method_word` cycles |
//! | gives per cycle | one transfer or one semaphore |
//! | IV | one step per secure launch, in launch order, before its data; exhaustion is a channel error |
//! | order | a non-pipelined launch waits for all earlier ones; a semaphore waits for all earlier transfers |
//! | complete | to device memory: landed, and verified unless the policy is `eager`; to host memory: sent |
//! | stalls | `order`, `tag_queue_full` |
//!
//! A plain launch is cut into stripes that go to the PCEs of its LCE in turn. A failed verdict or transfer poisons the channel: what is
//! not yet launched is dropped, and the error number of the LCE is written to the error semaphore.

mod flight;

use super::{
    key_rotation::Work,
    launch::{Launch, Operation, Order, Protection, Semaphore, Side, Transfer},
    pushbuffer::{Command, Stream},
    spec::{CopyEngineSpec, Release},
    work::{Done, Job, JobKind, Landed, PceWork, TagEntry, Verdict},
};
use crate::{
    gcm::iv::Stream as IvStream,
    pcie::packet::Tlp,
    sim::{Activity, Armed, Clock, In, Now, Queue, Stall, Wake, Wakes, Wire},
};
use flight::{Flight, Flights};
use std::{collections::VecDeque, ops::Range};

/// Bit of a semaphore value that says that the channel has failed.
pub const CHANNEL_ERROR: u64 = 1 << 31;

/// Distance from a push's semaphore to the one that is written when all its messages are verified, under `eager`.
pub const VERIFIED_OFFSET: u64 = 16;

/// Where the methods of a push lie.
pub trait PushMemory {
    /// The method bytes of push `number`, if there is one.
    fn take(&mut self, number: u32) -> Option<Vec<u8>>;
}

/// Ports of the front end.
pub struct Ports<'a> {
    /// Doorbells: writes that carry the number of a push.
    pub doorbells: In<'a, Tlp>,
    /// Pushes.
    pub pushes: &'a mut dyn PushMemory,
    /// To the PCEs.
    pub work: &'a mut [Queue<PceWork>],
    /// From the PCEs.
    pub done: &'a mut [Queue<Done>],
    /// From device memory.
    pub landed: &'a mut Wire<Landed>,
    /// From the tag queue.
    pub verdicts: &'a mut Queue<Verdict>,
    /// To the tag queue.
    pub entries: &'a mut Queue<TagEntry>,
    /// Where wakes are noted.
    pub wakes: &'a Wakes,
}

/// What a front end is built of.
#[derive(Debug, Clone)]
pub struct FrontEndSpec {
    /// The copy engine.
    pub copy_engine: CopyEngineSpec,
    /// PCEs of the reading and of the writing LCE each.
    pub pces: usize,
    /// Whether confidential computing is on.
    pub confidential: bool,
    /// Entries of the tag queue.
    pub tag_queue_depth: u64,
    /// When consumers may see plaintext.
    pub release: Release,
    /// Addresses of device memory; all others are the host's.
    pub device: Range<u64>,
    /// Where a channel error is written.
    pub error_semaphore: u64,
    /// Robust-channel errors of the reading and of the writing LCE.
    pub channel_errors: [u32; 2],
}

/// The IV streams of a channel.
#[derive(Debug, Clone)]
pub struct ChannelStreams {
    /// Host to device.
    pub h2d: IvStream,
    /// Device to host.
    pub d2h: IvStream,
}

/// The front end.
#[derive(Debug)]
pub struct FrontEnd {
    spec: FrontEndSpec,
    clock: Clock,
    stream: Stream,
    ivs: ChannelStreams,
    decode_free: u64,
    commands: VecDeque<(u64, Command)>,
    flights: Flights,
    /// Launch that is being cut into stripes.
    cutting: Option<(Job, u64)>,
    turn: usize,
    /// Group of PCEs that the last transfer went to.
    group: usize,
    tag_credits: u64,
    next_job: u64,
    poisoned: bool,
    error_due: Option<usize>,
    /// Under `eager`: semaphores that wait for the verdicts of all jobs before a number.
    unverified: VecDeque<(u64, Semaphore)>,
    skip_iv: Option<Armed>,
    /// Work of the keys of the two directions.
    key_work: [Work; 2],
    incidents: Vec<String>,
}

impl FrontEnd {
    /// A front end on `clock`.
    #[must_use]
    pub fn new(spec: FrontEndSpec, ivs: ChannelStreams, clock: Clock) -> Self {
        let stream =
            Stream { decoder: super::method::Decoder::bound(), lce: super::launch::Lce::new(spec.confidential) };
        Self {
            tag_credits: spec.tag_queue_depth,
            spec,
            clock,
            stream,
            ivs,
            decode_free: 0,
            commands: VecDeque::new(),
            flights: Flights::default(),
            cutting: None,
            turn: 0,
            group: 0,
            next_job: 1,
            poisoned: false,
            error_due: None,
            unverified: VecDeque::new(),
            skip_iv: None,
            key_work: [Work::default(); 2],
            incidents: Vec::new(),
        }
    }

    /// What went wrong here, in words.
    #[must_use]
    pub fn incidents(&self) -> &[String] {
        &self.incidents
    }

    /// What the keys have done: host to device, then device to host.
    #[must_use]
    pub const fn key_work(&self) -> [Work; 2] {
        self.key_work
    }

    /// Makes the engine's IV counter take a step too many at a launch.
    pub fn arm_iv_skip(&mut self, armed: Armed) {
        self.skip_iv = Some(armed);
    }

    /// Whether that has happened.
    #[must_use]
    pub fn iv_skipped(&self) -> bool {
        self.skip_iv.as_ref().is_some_and(Armed::struck)
    }

    /// Advances by one edge.
    pub fn tick(&mut self, now: Now, ports: &mut Ports<'_>) -> Wake {
        self.take_doorbells(now, ports);
        self.take_results(now, ports);
        let (activity, at) = self.dispatch(now, ports);
        let arrival = ports.landed.next_arrival().map_or(Wake::NEVER, |date| self.clock.first_from(date));
        Wake::at_or_port(at.min(arrival), activity)
    }

    fn take_doorbells(&mut self, now: Now, ports: &mut Ports<'_>) {
        while let Some(tlp) = ports.doorbells.pop() {
            let number = tlp.payload.bytes().and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
            let intact = tlp.intact_end_to_end();
            match number.filter(|_| intact).and_then(|n| ports.pushes.take(n)) {
                Some(methods) => self.decode(&methods, now),
                None => self.poison(0, "a doorbell names no push that is there".into()),
            }
        }
    }

    fn decode(&mut self, methods: &[u8], now: Now) {
        let start = (now.cycle + self.spec.copy_engine.fetch.0).max(self.decode_free);
        let word = self.spec.copy_engine.method_word.0;
        self.decode_free = start + (methods.len() as u64 / 4) * word;
        let device = self.spec.device.clone();
        let protection: &Protection<'_> =
            &|location| Some(if device.contains(&location.address) { Side::Protected } else { Side::Unprotected });
        match self.stream.decode(methods, protection) {
            Ok(commands) => {
                let dated = commands.into_iter().map(|(at, command)| (start + (at as u64 / 4 + 1) * word, command));
                self.commands.extend(dated);
            }
            Err(error) => self.poison(self.group, format!("the methods of a push are refused: {error}")),
        }
    }

    fn poison(&mut self, group: usize, why: String) {
        self.incidents.push(why);
        if !self.poisoned {
            self.poisoned = true;
            self.error_due = Some(group);
            self.commands.clear();
            self.cutting = None;
        }
    }

    fn take_results(&mut self, now: Now, ports: &mut Ports<'_>) {
        while let Some(verdict) = ports.verdicts.input(now.time, ports.wakes).pop() {
            self.tag_credits += 1;
            self.flights.verified(verdict.job);
            if !verdict.ok {
                self.poison(0, format!("authentication of message {} failed: the tags differ", verdict.job));
            }
        }
        while let Some(Landed { job }) = ports.landed.arrive(now.time) {
            self.flights.moved(job);
        }
        for queue in &mut *ports.done {
            while let Some(done) = queue.input(now.time, ports.wakes).pop() {
                self.flights.moved(done.job);
                if !done.ok {
                    self.poison(self.group, format!("transfer {} was given up", done.job));
                }
            }
        }
        self.flights.settle(self.spec.release);
    }

    /// Starts the next transfer or semaphore; gives what the front end is and when it can go on by itself.
    fn dispatch(&mut self, now: Now, ports: &mut Ports<'_>) -> (Activity, u64) {
        if let Some(group) = self.error_due {
            if let Some(refusal) =
                self.release(group, self.spec.error_semaphore, 4, self.channel_error(group), now, ports)
            {
                return refusal;
            }
            self.error_due = None;
        }
        if self.poisoned {
            return (Activity::Idle, Wake::NEVER);
        }
        if let Some(refusal) = self.release_verified(now, ports) {
            return refusal;
        }
        if self.cutting.is_some() {
            return self.cut(now, ports);
        }
        let Some((ready, command)) = self.commands.front().cloned() else {
            let waits = !self.flights.is_empty() || !self.unverified.is_empty();
            return (if waits { Activity::Busy } else { Activity::Idle }, Wake::NEVER);
        };
        if ready > now.cycle {
            return (Activity::Busy, ready);
        }
        let refusal = match command {
            Command::Launch(launch) => self.launch(&launch, now, ports),
            Command::WaitForIdle if !self.flights.is_empty() => Some((Activity::Stall(Stall::Order), Wake::NEVER)),
            _ => None,
        };
        match refusal {
            Some(refusal) => refusal,
            None => {
                self.commands.pop_front();
                (Activity::Busy, now.cycle + 1)
            }
        }
    }

    fn channel_error(&self, group: usize) -> u64 {
        CHANNEL_ERROR | u64::from(self.spec.channel_errors[group.min(1)])
    }

    fn launch(&mut self, launch: &Launch, now: Now, ports: &mut Ports<'_>) -> Option<(Activity, u64)> {
        let stall = |stall| Some((Activity::Stall(stall), Wake::NEVER));
        if let Some(transfer) = &launch.transfer {
            let ordered = transfer.order == Order::NonPipelined && !self.flights.is_empty();
            if ordered || self.flights.len() >= self.spec.copy_engine.messages_in_flight as usize {
                return stall(Stall::Order);
            }
            if launch.semaphore.is_none() {
                return self.start(transfer, now, ports);
            }
            // Transfer and semaphore in one launch: the semaphore follows as a launch of its own.
            let refusal = self.start(transfer, now, ports);
            if refusal.is_none() {
                let rest = Launch { transfer: None, ..*launch };
                self.commands.insert(1.min(self.commands.len()), (now.cycle, Command::Launch(rest)));
            }
            return refusal;
        }
        let semaphore = launch.semaphore?;
        if !self.flights.is_empty() {
            return stall(Stall::Order);
        }
        let refusal =
            self.release(self.group, semaphore.address, semaphore.bytes() as u32, semaphore.payload, now, ports);
        if refusal.is_none() && self.spec.release == Release::Eager {
            self.unverified.push_back((self.next_job, semaphore));
        }
        refusal
    }

    /// Starts a transfer, or its first stripe.
    fn start(&mut self, transfer: &Transfer, now: Now, ports: &mut Ports<'_>) -> Option<(Activity, u64)> {
        let job = self.job(transfer)?;
        let group = usize::from(job.kind.writes_host());
        let secure = matches!(job.kind, JobKind::Open | JobKind::Seal);
        if !secure {
            self.group = group;
            self.flights.push(Flight::new(self.next_job, job.kind));
            self.cutting = Some((job, 0));
            return None;
        }
        if job.kind == JobKind::Open && self.tag_credits == 0 {
            return Some((Activity::Stall(Stall::TagQueueFull), Wake::NEVER));
        }
        let place = group * self.spec.pces + self.turn % self.spec.pces;
        if !ports.work[place].output(now.time, ports.wakes).has_room() {
            return Some((Activity::Stall(Stall::Order), Wake::NEVER));
        }
        let Some(job) = self.with_iv(job) else {
            self.poison(group, "the IV counter of the channel is exhausted".into());
            return None;
        };
        if job.kind == JobKind::Open {
            self.tag_credits -= 1;
            ports.entries.output(now.time, ports.wakes).push(TagEntry { job: job.id });
        }
        self.group = group;
        self.turn += 1;
        let mut flight = Flight::new(job.id, job.kind);
        flight.add(job.id);
        flight.complete = true;
        self.flights.push(flight);
        self.next_job += 1;
        ports.work[place].output(now.time, ports.wakes).push(PceWork::Transfer(job));
        None
    }

    /// The job of a transfer; none if nothing is to be moved.
    fn job(&mut self, transfer: &Transfer) -> Option<Job> {
        let bytes = transfer.bytes();
        let destination = transfer.destination.address;
        let (kind, source) = match transfer.operation {
            Operation::Decrypt { source, .. } => (JobKind::Open, source.address),
            Operation::Encrypt { source, .. } => (JobKind::Seal, source.address),
            Operation::Copy { source, .. } => {
                let device = |address| self.spec.device.contains(&address);
                let kind = match (device(source.address), device(destination)) {
                    (false, true) => JobKind::Fetch,
                    (true, false) => JobKind::Store,
                    (true, true) => JobKind::Local,
                    (false, false) => {
                        self.poison(0, "a copy within host memory is not modelled".into());
                        return None;
                    }
                };
                (kind, source.address)
            }
            Operation::Fill { .. } => {
                self.poison(0, "fills are not modelled".into());
                return None;
            }
        };
        let address = |location: Option<super::launch::Location>| location.map_or(0, |l| l.address);
        Some(Job {
            id: self.next_job,
            kind,
            source,
            destination,
            bytes,
            tag: address(transfer.tag()),
            iv: address(transfer.iv()),
            iv_bytes: [0; 12],
            nonce: [0; 12],
        })
    }

    fn with_iv(&mut self, mut job: Job) -> Option<Job> {
        let stream = if job.kind == JobKind::Open { &mut self.ivs.h2d } else { &mut self.ivs.d2h };
        if self.skip_iv.as_mut().and_then(Armed::passage).is_some() {
            stream.advance().ok()?;
        }
        let iv = stream.advance().ok()?;
        job.iv_bytes = iv.to_bytes();
        job.nonce = iv.nonce(stream.mask()).0;
        self.key_work[usize::from(job.kind.writes_host())].add(job.bytes);
        Some(job)
    }

    /// Gives the next stripe of a plain launch to the PCE whose turn it is.
    fn cut(&mut self, now: Now, ports: &mut Ports<'_>) -> (Activity, u64) {
        let Some((job, offset)) = &mut self.cutting else { return (Activity::Idle, Wake::NEVER) };
        let place = self.group * self.spec.pces + self.turn % self.spec.pces;
        let open = self.flights.open_jobs();
        let mut output = ports.work[place].output(now.time, ports.wakes);
        if open >= self.spec.pces * self.spec.copy_engine.stripes_in_flight as usize || !output.has_room() {
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
        output.push(PceWork::Transfer(stripe));
        self.flights.extend(self.next_job, last);
        self.next_job += 1;
        self.turn += 1;
        if last {
            self.cutting = None;
        }
        (Activity::Busy, now.cycle + 1)
    }

    fn release(
        &mut self,
        group: usize,
        address: u64,
        bytes: u32,
        value: u64,
        now: Now,
        ports: &mut Ports<'_>,
    ) -> Option<(Activity, u64)> {
        let mut output = ports.work[group * self.spec.pces].output(now.time, ports.wakes);
        if !output.has_room() {
            return Some((Activity::Stall(Stall::Order), Wake::NEVER));
        }
        output.push(PceWork::Release { address, bytes, value });
        None
    }

    /// Under `eager`: tells of pushes whose messages are all verified.
    fn release_verified(&mut self, now: Now, ports: &mut Ports<'_>) -> Option<(Activity, u64)> {
        while let Some(&(before, semaphore)) = self.unverified.front() {
            if self.flights.awaits_verdict_before(before) {
                return None;
            }
            let (address, bytes) = (semaphore.address + VERIFIED_OFFSET, semaphore.bytes() as u32);
            let refusal = self.release(self.group, address, bytes, semaphore.payload, now, ports);
            if refusal.is_some() {
                return refusal;
            }
            self.unverified.pop_front();
        }
        None
    }
}

#[cfg(test)]
mod tests;
