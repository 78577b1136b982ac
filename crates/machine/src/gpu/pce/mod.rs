//! A physical copy engine (PCE) with the engine that seals and opens in it: AES-GCM or [another AEAD](crate::aead).
//!
//! ```text
//!                      +--------------------------------------------+
//!  work In            >|  reads -> order -> [engine] -> writes      |> requests Out (link: reads, writes, semaphores)
//!  completions In     >|    ^        |                              |~ writes wire (device memory)
//!  data wire (device) ~|    +- tags, read buffer                    |> reads Out (device memory)
//!  released In (hold) >|                                            |~ reports wire (tag queue)
//!  sealed wire (SMs)  ~|                                            |~ jobs wire (SMs)
//!  replies (engine)   ~|                                            |~ requests wire (engine that PCEs share)
//!                      +--------------------------------------------+> done Out (front end)
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts | transfers in order; their bytes pass through the engine in order, whatever the order of completions of different requests |
//! | gives per cycle | one read request per `request_interval`, as long as fewer than `outstanding_reads` are outstanding, a tag is free and `read_buffer` has room |
//! | reads | a read passes on when all of it has come and all before it have passed |
//! | latency | launch to first request: `launch`; data to output: the engine's, or one cycle without it |
//! | opening | with the first bytes of a message, or under `arrived` when all of it is in device memory and back, a burst after the other |
//! | read buffer | reserved by a request, freed when the engine or device memory has taken the bytes, or the link has taken the write |
//! | bursts | device memory is written and read `burst` bytes at a time |
//! | part | of a message that several PCEs share: its share of the tag is reported one product later than its own GHASH value and the power of H that weighs it stand; the PCE of the last part fetches the expected tag |
//! | tag | by a read or a write of its own; `inline`: the reads and writes of a message cover the 16 bytes behind it as well, and the last data write waits for the tag that joins it |
//! | sealing in two passes | all of a message goes through the engine for its tag, then once more to be enciphered. One that fits the engine's buffer is kept: its bytes stay in read buffer and engine's buffer, taken together, until the link has taken them. A longer one is read from device memory a second time |
//! | opening by tag | the engine starts a message's keystream when its expected tag has come |
//! | order | a semaphore goes out after all earlier writes; a transfer to host memory is done when the link has taken its last write |
//! | accounts | its engine has one of its own: busy from the edge at which a key, AAD or text is there until all of it is through |
//! | stalls | `outstanding_reads`, `read_tags`, `read_buffer`, `read_data`, `link_busy`, `aes_busy`, `ghash_busy`, `quarantine`, `hbm_busy`, `engine_busy` |
//!
//! Where SMs seal and open, the engine is absent: ciphertext to be opened goes to a buffer in device memory and the message to the SMs; of a message to
//! be sealed the ciphertext is read from that buffer once the SMs have reported that it is there.
//!
//! Where all PCEs share [one engine](super::shared_engine), it is absent too: bytes go there as they come, and on when they are back; until then they
//! keep their room in the read buffer. Where they share only its GHASH, the PCE has AES lanes: bytes to be opened go to both as they come, and on when
//! both have taken them; bytes that are sealed go to GHASH when they leave the lanes. A tag stands when GHASH has its value and the lanes are done.
//!
//! A read without a completion for `completion_timeout`, an unsupported request or a wrong ECRC fails the transfer; its message then
//! has no computed tag and is not verified.

mod answers;
mod aside;
mod device;
mod engine;
mod errors;
mod feed;
mod host_read;
mod input;
pub(in crate::gpu) mod opening;
mod quarantine;
mod registers;
mod shared;
pub(in crate::gpu) mod text;
mod transfer;
mod weight;
mod work;

#[cfg(test)]
mod tests;

use super::{
    spec::{CopyEngineSpec, Sharers, TagQueueSpec},
    work::{Done, LaunchKind, MemoryData, MemoryRead, MemoryWrite, PceWork, Sealed, SmJob, TagReport, Verdict},
};
use crate::{
    aead::{bytes::WireFormat, path::PathKey, spec::EngineSpec, timing::EngineTiming},
    gcm::{
        spec::{GcmSpec, SpecError},
        timing::{Limit, Timing},
        worker::Worker,
    },
    pcie::{
        packet::{Payload, Tlp},
        split::MaxSize,
    },
    ports,
    sim::{
        Activity, Armed, Clock, ErrorLog, ErrorSignal, In, Level, Meter, Now, Out, Ring, Rx, Signalled, Signals, Stall,
        Tx, Unit, Wake,
    },
};
use aside::Aside;
use engine::{Crossing, Engine};
use host_read::Slots;
use quarantine::Quarantine;
use registers::Registers;
use shared::EngineSide;
use std::{cell::Cell, collections::VecDeque, rc::Rc, sync::Arc};
use transfer::Transfer;

pub use answers::{Answers, Call, Called};
pub use aside::Place;
pub use input::{EngineInput, MessageInput};
pub use shared::EnginePorts;

#[derive(Debug)]
pub struct Keys {
    pub h2d: PathKey,
    pub d2h: PathKey,
}

#[derive(Debug, Clone)]
pub struct PceSpec {
    pub copy_engine: CopyEngineSpec,
    /// Its engine, where confidential computing is on.
    pub engine: Option<EngineSpec>,
    /// Where that engine, or its GHASH, is one that all PCEs share: cycles of the wire to it.
    pub shared: Option<u64>,
    /// Whether only GHASH is shared, so that the PCE has its own AES lanes.
    pub own_aes: bool,
    /// What seals and opens has this clock, where it is not the PCE's.
    pub engine_clock: Option<Clock>,
    pub max_read_request: MaxSize,
    pub max_payload: MaxSize,
    pub first_tag: u16,
    pub tags: u16,
    /// Where tags come from, and what becomes of plaintext until its verdict.
    pub tag_queue: TagQueueSpec,
    /// Where SMs seal and open: first byte of the buffer for ciphertext in device memory.
    pub staging: Option<u64>,
    /// Where messages are opened when they have arrived: cycles in which the last bytes go to device memory and come back.
    pub stored: Option<u64>,
    /// Where plaintext waits for its verdict, if that is device memory.
    pub aside: Option<Place>,
}

impl PceSpec {
    /// Its own engine of AES-GCM on its own clock, whose registers faults can strike.
    fn own_engine(&self) -> Option<&GcmSpec> {
        // A structural engine begins at a message's first counter.
        let own = self.shared.is_none() && self.engine_clock.is_none() && self.tag_queue.tag_every.is_none();
        self.engine.as_ref().and_then(EngineSpec::gcm).filter(|_| own)
    }
}

ports! {
    /// Ports to the SMs, where they seal and open.
    pub struct SmPorts {
        pub jobs: Tx<SmJob>,
        /// What has been sealed.
        pub sealed: Rx<Sealed>,
    }
}

ports! {
    pub struct Ports {
        pub work: In<PceWork>,
        /// Completions of its reads; none for a PCE that only writes host memory.
        pub completions: Option<In<Tlp>>,
        pub requests: Out<Tlp>,
        pub reads: Out<MemoryRead>,
        pub data: Rx<MemoryData>,
        pub writes: Tx<MemoryWrite>,
        /// Tags to the tag queue; none for a PCE that does not open.
        pub reports: Option<Tx<TagReport>>,
        /// Verdicts, under `hold`.
        pub released: Option<In<Verdict>>,
        /// Where SMs seal and open.
        pub sm: Option<SmPorts>,
        /// Where PCEs share an engine.
        pub engine: Option<EnginePorts>,
        pub done: Out<Done>,
        /// For what is a sign that something is wrong.
        pub signals: Signals,
    }
}

#[derive(Debug)]
pub struct Pce {
    spec: PceSpec,
    clock: Clock,
    keys: Option<Arc<Keys>>,
    worker: Rc<Worker>,
    format: WireFormat,
    engine: Option<Engine>,
    shared: Option<EngineSide>,
    engine_limit: Limit,
    /// Of the engine.
    meter: Option<Meter>,
    timeout: u64,
    transfers: VecDeque<Transfer>,
    /// Number of the oldest transfer in `transfers`.
    first: u64,
    /// Number of the transfer that asks for data.
    asking: u64,
    /// Number of the transfer that the engine works on.
    feeding: u64,
    slots: Slots,
    /// Before this cycle no read has waited too long.
    expires: u64,
    next_request: u64,
    /// Bytes reserved in the read buffer, and when the engine frees which of them.
    buffered: u64,
    taken: Ring<(u64, u64)>,
    /// Writes to host memory by the cycle in which they can go.
    outbox: VecDeque<(u64, Tlp, u64)>,
    /// TLPs put into the outbox or sent past it, in all.
    queued: u64,
    /// Semaphores at the ends of pushes: the number that `queued` has with them, and the push.
    releases: VecDeque<(u64, u32)>,
    /// Reads of device memory in flight: transfer, address and bytes.
    device_order: VecDeque<(u64, u64, u32)>,
    quarantine: Quarantine,
    /// Of a quarantine in device memory.
    aside: Aside,
    incidents: Vec<String>,
    errors: ErrorLog,
    /// Why it gave up a transfer for the first time.
    failure: Option<String>,
    /// The faults in the registers of its engine.
    registers: Registers,
}

impl Pce {
    /// A PCE on `clock`. Without `keys` it carries no bytes; with them, `worker` opens them. `quarantined` is the plaintext that waits in all PCEs.
    pub fn new(
        spec: PceSpec,
        keys: Option<Arc<Keys>>,
        worker: Rc<Worker>,
        quarantined: Rc<Cell<Level>>,
        clock: Clock,
    ) -> Result<Self, SpecError> {
        let product = spec.engine.as_ref().map_or(1, |engine| engine.model().product());
        let (timing, meter): (Option<Box<dyn EngineTiming>>, _) = match &spec.engine {
            Some(EngineSpec::Gcm(engine)) if spec.own_aes => {
                (Some(Box::new(Timing::of_aes(engine)?)), Some(Meter::new("aes")))
            }
            Some(engine) if spec.shared.is_none() => (Some(engine.timing()?), Some(Meter::new("engine"))),
            _ => (None, None),
        };
        let crossing = Crossing::new(clock, spec.engine_clock);
        Ok(Self {
            slots: Slots::new(spec.first_tag, spec.tags, spec.copy_engine.outstanding_reads),
            format: spec.engine.as_ref().map_or(WireFormat::GCM, EngineSpec::format),
            timeout: clock.cycles_in(spec.copy_engine.completion_timeout),
            shared: spec.shared.map(|wire| EngineSide::new(wire, crossing)),
            quarantine: Quarantine::new(&spec.tag_queue, spec.copy_engine.quarantine_sharers(), quarantined),
            spec,
            clock,
            keys,
            worker,
            engine: timing.map(|timing| Engine::new(timing, product, crossing)),
            engine_limit: Limit::Data,
            meter,
            transfers: VecDeque::new(),
            first: 0,
            asking: 0,
            feeding: 0,
            expires: 0,
            next_request: 0,
            buffered: 0,
            taken: Ring::default(),
            outbox: VecDeque::new(),
            queued: 0,
            releases: VecDeque::new(),
            device_order: VecDeque::new(),
            aside: Aside::default(),
            incidents: Vec::new(),
            errors: ErrorLog::default(),
            failure: None,
            registers: Registers::new(clock),
        })
    }

    /// Why it gave up a transfer for the first time, if it did.
    pub const fn failure(&self) -> Option<&String> {
        self.failure.as_ref()
    }

    /// From here on it notes what its engine answers, if nobody else asks that engine, and it is one of AES-GCM: others have more calls.
    pub fn note_answers(&mut self) {
        let own = self.spec.shared.is_none() && matches!(self.spec.engine, Some(EngineSpec::Gcm(_)));
        if let Some(engine) = self.engine.as_mut().filter(|_| own) {
            engine.note_answers();
        }
    }

    /// What it saw of its engine's answers, if they are noted and were not too many.
    pub fn answers(&self) -> Option<Answers> {
        self.engine.as_ref()?.notes()?.whole()
    }

    /// What the last burst in the engine waited for.
    fn limit(&self) -> Limit {
        if let Some(notes) = self.engine.as_ref().and_then(Engine::notes) {
            notes.see_limit();
        }
        self.engine_limit
    }

    /// Takes work as it comes: the front end knows how much may be in flight.
    fn take_work(&mut self, now: Now, ports: &mut Ports) {
        while let Some(work) = ports.work.pop(now.time) {
            match work {
                PceWork::Transfer(job) => {
                    let ready = now.cycle + self.spec.copy_engine.launch.0.max(1);
                    let transfer = Transfer::new(job, ready, &self.spec, self.format.tag_bytes());
                    if let Some(sm) = ports.sm.as_mut().filter(|_| transfer.job.kind == LaunchKind::Seal) {
                        sm.jobs.send(self.clock.edge(ready), transfer.for_sms(Payload::none()));
                    }
                    self.transfers.push_back(transfer);
                    if self.feeding == self.first + self.transfers.len() as u64 - 1 {
                        self.start_engine(now.cycle);
                    }
                }
                PceWork::Release { address, bytes, value, push } => {
                    let payload = Payload::of(value.to_le_bytes()[..bytes.min(8) as usize].to_vec());
                    self.queue(now.cycle, Tlp::write(address, bytes, payload), 0);
                    self.releases.extend(push.map(|push| (self.queued, push)));
                }
                PceWork::Tag { message, tag } => self.queue_tag(&message, &tag, now.cycle, false),
            }
        }
    }

    fn transfer(&mut self, number: u64) -> Option<&mut Transfer> {
        let place = number.checked_sub(self.first)?;
        self.transfers.get_mut(place as usize)
    }

    /// Asks for data, one request at a time; gives what the PCE is and when it can ask again by itself.
    fn issue(&mut self, now: Now, ports: &mut Ports) -> (Activity, u64) {
        self.reclaim(now.cycle);
        self.asking = self.asking.max(self.first);
        loop {
            let place = (self.asking - self.first) as usize;
            let Some(transfer) = self.transfers.get(place) else { break };
            let refused = if !transfer.job.kind.reads_host() {
                if transfer.asked_all() {
                    self.asking += 1;
                    continue;
                }
                self.ask_device(self.asking, now, ports)
            } else {
                let Some(ask) = transfer.next_ask() else {
                    self.asking += 1;
                    continue;
                };
                self.ask_host(place, ask, now, ports)
            };
            match refused {
                None => self.next_request = now.cycle + self.spec.copy_engine.request_interval.0.max(1),
                Some(refusal) => return refusal,
            }
        }
        match (self.transfers.is_empty(), self.outward_stall(now.cycle)) {
            (true, _) => self.opening(Activity::Idle),
            (false, Stall::ReadData) => self.opening(Activity::Stall(Stall::ReadData)),
            (false, stall) => (Activity::Stall(stall), Wake::NEVER),
        }
    }

    /// Tells of the engine's work that has become known.
    #[inline]
    fn charge_engine(&mut self, cycle: u64) {
        let (Some(engine), Some(meter)) = (&mut self.engine, &mut self.meter) else { return };
        engine.charge(|from, until| meter.book((cycle, from), until, Activity::Idle));
    }

    /// Frees what the engine has taken by now.
    #[inline]
    fn reclaim(&mut self, cycle: u64) {
        while let Some(&(_, bytes)) = self.taken.front().filter(|t| t.0 <= cycle) {
            self.buffered -= bytes;
            self.taken.remove();
        }
    }

    /// What it means that the read buffer has no room, and when it will have.
    fn buffer_full(&self) -> (Activity, u64) {
        let stall = if self.engine_has_bytes() {
            Stall::EngineBusy
        } else if self.taken.is_empty() {
            Stall::ReadBuffer
        } else {
            Self::engine_stall(self.limit(), Stall::ReadBuffer)
        };
        (Activity::Stall(stall), self.taken.front().map_or(Wake::NEVER, |t| t.0))
    }

    /// What a PCE is that has asked for all data, and until when: it waits for its engine to take what has come, or else is `otherwise`.
    fn opening(&self, otherwise: Activity) -> (Activity, u64) {
        let last = self.taken.len().checked_sub(1).and_then(|last| self.taken.get(last));
        let Some(&(until, _)) = last else { return (otherwise, Wake::NEVER) };
        match Self::engine_stall(self.limit(), Stall::ReadData) {
            Stall::ReadData => (otherwise, Wake::NEVER),
            stall => (Activity::Stall(stall), until),
        }
    }

    /// What text in the engine waits for; `itself` where the engine takes it as it comes. There are as many text ports as lanes of AES.
    const fn engine_stall(limit: Limit, itself: Stall) -> Stall {
        match limit {
            Limit::Aes | Limit::Ports => Stall::AesBusy,
            Limit::Ghash => Stall::GhashBusy,
            Limit::Data => itself,
        }
    }

    fn engine_has_bytes(&self) -> bool {
        self.shared.as_ref().is_some_and(EngineSide::waits)
    }

    /// What keeps bytes for host memory in the PCE: device memory, the engine or the link.
    fn outward_stall(&self, cycle: u64) -> Stall {
        match self.outbox.front() {
            None if self.engine_has_bytes() => Stall::EngineBusy,
            None => Stall::ReadData,
            Some(write) if write.0 > cycle => Self::engine_stall(self.limit(), Stall::ReadData),
            Some(_) => Stall::LinkBusy,
        }
    }

    /// Hands writes to the link; gives when the next one is ready.
    fn send(&mut self, now: Now, ports: &mut Ports) -> u64 {
        while let Some(&(ready, _, reserved)) = self.outbox.front() {
            if ready > now.cycle {
                return ready;
            }
            if !ports.requests.has_room(now.time) {
                return Wake::NEVER;
            }
            if let Some((_, tlp, _)) = self.outbox.pop_front() {
                ports.requests.push(now.time, tlp);
                self.buffered -= reserved;
            }
        }
        Wake::NEVER
    }

    /// Tells of what the link has taken, and lets go of transfers that need nothing more; gives when the share that is waited for stands.
    fn retire(&mut self, now: Now, ports: &mut Ports) -> u64 {
        let taken = ports.requests.pops(now.time);
        while let Some(&(_, push)) = self.releases.front().filter(|release| release.0 <= taken) {
            if !ports.done.has_room(now.time) {
                return Wake::NEVER;
            }
            ports.done.push(now.time, Done::Release { push });
            self.releases.pop_front();
        }
        let mut share_at = Wake::NEVER;
        let mut awaited = self.releases.front().map_or(u64::MAX, |release| release.0);
        while let Some(front) = self.transfers.front_mut() {
            if let (Some(last), None) = (front.last_push, &front.failed) {
                if taken < last {
                    awaited = awaited.min(last);
                    break;
                }
                if !ports.done.has_room(now.time) {
                    return Wake::NEVER;
                }
                let job = front.job.id;
                if let Some((at, tag)) = front.share {
                    if at > now.cycle {
                        share_at = at;
                        break;
                    }
                    front.share = None;
                    ports.done.push(now.time, Done::Share { job, tag });
                    if !ports.done.has_room(now.time) {
                        return Wake::NEVER;
                    }
                }
                ports.done.push(now.time, Done::Transfer { job, ok: true });
            } else if !front.finished() {
                break;
            }
            self.transfers.pop_front();
            self.first += 1;
        }
        if awaited != u64::MAX {
            ports.requests.watch_pops(awaited);
        }
        share_at
    }

    fn fail(&mut self, number: u64, signal: ErrorSignal, why: String, now: Now, ports: &mut Ports) {
        let computed_sent = self.transfer(number).is_none_or(|t| t.failed.is_some());
        if computed_sent {
            return;
        }
        self.errors.note(signal, now.time);
        self.incidents.push(why.clone());
        self.failure.get_or_insert_with(|| why.clone());
        let Some(transfer) = self.transfer(number) else { return };
        transfer.failed = Some(why);
        let (job, kind, share) = (transfer.job.id, transfer.job.kind, transfer.job.share);
        let date = self.clock.edge(now.cycle + 1);
        match (&mut ports.reports, kind) {
            (Some(reports), LaunchKind::Open) => {
                for computed in [true, false].into_iter().filter(|&computed| computed || share.part.is_last()) {
                    let report = TagReport { job: share.message, part: share.number, computed, tag: None };
                    reports.send(date, report);
                }
            }
            _ => {
                if ports.done.has_room(now.time) {
                    ports.done.push(now.time, Done::Transfer { job, ok: false });
                }
            }
        }
        if self.feeding == number {
            self.abandon(number, now.cycle);
            self.feeding += 1;
            self.start_engine(now.cycle);
        }
    }
}

impl Unit for Pce {
    type Ports = Ports;

    fn tick(&mut self, now: Now, ports: &mut Ports) -> Wake {
        self.take_completions(now, ports);
        self.take_data(now, ports);
        self.take_sealed(now, ports);
        self.take_replies(now, ports);
        self.take_verdicts(now, ports);
        self.take_work(now, ports);
        if now.cycle >= self.expires {
            self.expire(now, ports);
        }
        let send_at = self.send(now, ports);
        let share_at = self.retire(now, ports);
        let back_at = self.ask_back(now, ports);
        // Last, so that what the PCE is follows from all that has changed at this edge.
        let (activity, issue_at) = self.issue(now, ports);
        self.send_to_engine(ports);
        let mut arrival = ports.data.next_arrival();
        if let Some(sm) = &ports.sm {
            arrival = arrival.into_iter().chain(sm.sealed.next_arrival()).min();
        }
        if let Some(engine) = &ports.engine {
            arrival = arrival.into_iter().chain(engine.replies.next_arrival()).min();
        }
        let arrival = arrival.map_or(Wake::NEVER, |date| self.clock.first_from(date));
        self.expires = self.next_look(&ports.signals);
        self.charge_engine(now.cycle);
        self.quarantine.tell(now);
        Wake::at_or_port(issue_at.min(send_at).min(share_at).min(back_at).min(arrival).min(self.expires), activity)
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, u64)) {
        show("reads", self.slots.outstanding() as u64);
        show("quarantine", self.quarantine.waiting());
        show("quarantine_reserved", self.quarantine.reserved());
    }

    fn bounded(&self, show: &mut dyn FnMut(&'static str, u64)) {
        show("copy_engine.outstanding_reads", self.slots.room.asked());
        if self.spec.copy_engine.quarantine_sharers() == Sharers::Pce {
            show("tag_queue.quarantine", self.quarantine.room.asked());
        }
    }

    fn incidents(&self) -> Vec<String> {
        self.incidents.clone()
    }

    fn errors(&self) -> &[Signalled] {
        self.errors.all()
    }

    fn meters(&self) -> Vec<&Meter> {
        self.meter.iter().collect()
    }

    fn registers(&self) -> Vec<String> {
        Registers::names(self.spec.own_engine())
    }

    fn arm(&mut self, point: &str, armed: Armed) {
        self.registers.arm(self.spec.own_engine(), point, armed);
    }

    fn armed(&self) -> Vec<Armed> {
        self.registers.armed()
    }
}
