//! The root complex: serves reads of host memory and takes writes to it.
//!
//! ```text
//!  by root port  +------------------+  by root port
//!   reads wire  ~|                  |~ completions wire
//!                |   Root complex   |
//!   writes In   >|                  |~ notices, by requester (semaphores that the CPU polls)
//!                +--------+---------+
//!                         | HostMemory, by requester
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts | every read as it comes; reads enter service in the order of their arrival, of equal arrival round robin over the root ports, one per `read_interval` cycles, at most `reads_in_service` at once; one write per cycle, round robin over the root ports, with at most `writes_in_service` not yet visible |
//! | latency | entry into service to first completion: `read_latency`, and up to `read_spread` more, by address; write to visible: `write_latency` |
//! | gives per cycle | the completions of reads that are ready: they stand at the port |
//! | order | completions of one read in address order; of different reads by readiness |
//! | stalls | none as a whole: it is busy while anything is in service. Reads and writes each have an account: busy for `read_interval` cycles of a read that enters and for the cycle of a write; `reads_in_service`, `writes_in_service` while the next one waits for a place |
//!
//! A requester has an address space of its own, as an IOMMU gives each guest.
//!
//! What becomes of a read follows from its date, so this unit need not run for each: both wires carry dates, and while it is busy it senses no
//! reads and runs when one that it has not seen yet could be ready.

use super::{
    packet::{Kind, Payload, Tlp},
    spec::RootComplexSpec,
    split::{CompletionRule, CompletionSplit, Request, SizeError},
};
use crate::{
    ports,
    sim::{
        Activity, ErrorLog, ErrorSignal, In, Item, Meter, Now, Room, Rx, Sensitivity, Signalled, Stall, Tx, Unit, Wake,
    },
    units::Femtos,
};
use std::{cell::RefCell, collections::VecDeque, rc::Rc};

/// A TLP whose ECRC is wrong where it ends (ECRC Error).
pub const ECRC: ErrorSignal = ErrorSignal::uncorrected("ecrc", "a wrong ECRC");
/// A TLP for what is not there, or with what is not supported (Unsupported Request).
pub const UNSUPPORTED_REQUEST: ErrorSignal =
    ErrorSignal::uncorrected("unsupported_request", "a TLP for what is not there");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    Data,
    /// It is a semaphore that the CPU polls, with this value.
    Semaphore(Notice),
    /// Nothing is mapped there.
    Unmapped,
}

/// A semaphore that has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notice {
    pub address: u64,
    pub value: u64,
}

impl Item for Notice {
    fn event_key(&self) -> u64 {
        self.address.rotate_left(20) ^ self.value
    }
}

pub trait HostMemory {
    /// The `bytes` at `address`, all of them if the run carries any; none if nothing is mapped there.
    fn read(&mut self, address: u64, bytes: u32) -> Option<Payload>;
    fn write(&mut self, tlp: &Tlp) -> Written;
}

/// Host memory of a run that carries no bytes: all of it is data.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoBytes;

impl HostMemory for NoBytes {
    fn read(&mut self, _address: u64, _bytes: u32) -> Option<Payload> {
        Some(Payload::none())
    }

    fn write(&mut self, _tlp: &Tlp) -> Written {
        Written::Data
    }
}

ports! {
    pub struct RootPort {
        pub reads: Rx<Tlp>,
        pub writes: In<Tlp>,
        /// Completions, with the dates from which on the port sees them.
        pub completions: Tx<Tlp>,
    }
}

ports! {
    /// What a requester reaches.
    pub struct Domain {
        pub memory: Rc<RefCell<dyn HostMemory>>,
        /// To the CPU.
        pub notices: Tx<Notice>,
    }
}

ports! {
    pub struct Ports {
        pub roots: Vec<RootPort>,
        /// By requester.
        pub domains: Vec<Domain>,
    }
}

/// What of a read shows in its completions.
#[derive(Debug, Clone, Copy)]
struct Read {
    /// The root port that it has come by.
    port: usize,
    requester: u8,
    tag: u16,
    whole: Request,
}

impl Read {
    const fn of(request: &Tlp, port: usize) -> Self {
        let whole = Request { address: request.address, bytes: request.bytes };
        Self { port, requester: request.requester, tag: request.tag, whole }
    }
}

/// A read whose completions are not yet in transit to the port.
#[derive(Debug)]
struct Service {
    ready: u64,
    read: Read,
    /// None if the read is refused.
    found: Option<Payload>,
}

#[derive(Debug)]
pub struct RootComplex {
    spec: RootComplexSpec,
    /// For reads and writes in service.
    read_room: Room,
    write_room: Room,
    clock: crate::sim::Clock,
    rule: CompletionRule,
    service: VecDeque<Service>,
    /// When the reads that have a place in service give it up, in order.
    places: VecDeque<u64>,
    next_read: u64,
    /// The root port after the one whose read was taken last.
    read_turn: usize,
    /// When all reads that have come are ready.
    busy_until: u64,
    next_write: u64,
    write_turn: usize,
    /// When it has taken a write last.
    wrote: Option<u64>,
    /// When the writes in service will be visible, oldest first.
    writes: VecDeque<u64>,
    read_meter: Meter,
    write_meter: Meter,
    incidents: Vec<String>,
    errors: ErrorLog,
}

impl RootComplex {
    /// A root complex that answers in pieces of at most `completion_payload` bytes, cut at `boundary`.
    pub fn new(spec: &RootComplexSpec, boundary: u64, clock: crate::sim::Clock) -> Result<Self, SizeError> {
        Ok(Self {
            rule: CompletionRule::new(boundary, spec.completion_payload.0)?,
            spec: spec.clone(),
            read_room: Room::new(spec.reads_in_service.max(1).into()),
            write_room: Room::new(spec.writes_in_service.max(1).into()),
            clock,
            service: VecDeque::new(),
            places: VecDeque::new(),
            next_read: 0,
            read_turn: 0,
            busy_until: 0,
            next_write: 0,
            write_turn: 0,
            wrote: None,
            writes: VecDeque::new(),
            read_meter: Meter::new("reads"),
            write_meter: Meter::new("writes"),
            incidents: Vec::new(),
            errors: ErrorLog::default(),
        })
    }

    /// Takes the reads that have come.
    fn take_reads(&mut self, now: Now, ports: &mut Ports) {
        while let Some((port, date, request)) = self.next_arrived(now, &mut ports.roots) {
            let cycle = self.clock.first_from(date);
            if let Some(ready) = self.take_read(&request, cycle) {
                let read = Read::of(&request, port);
                let domain = ports.domains.get(usize::from(request.requester));
                let found = domain.and_then(|domain| domain.memory.borrow_mut().read(request.address, request.bytes));
                if found.is_none() {
                    self.refuse(request.address, cycle);
                }
                // Without a spread nothing overtakes.
                match self.spec.read_spread.0 {
                    0 => self.send(ready, read, found.as_ref(), ports),
                    _ => keep(&mut self.service, Service { ready, read, found }, |service| service.ready),
                }
            }
        }
        self.answer(now, ports);
    }

    /// The read that has come first, by which root port, and when. Of several that reach this clock at the same edge that of the next root
    /// port in turn.
    #[inline]
    fn next_arrived(&mut self, now: Now, roots: &mut [RootPort]) -> Option<(usize, Femtos, Tlp)> {
        if let [only] = roots {
            return only.reads.arrive_dated(now.time).map(|(date, read)| (0, date, read));
        }
        let count = roots.len();
        let places = (0..count).map(|step| (self.read_turn + step) % count);
        let edge = |place: usize| Some((self.clock.first_from(roots[place].reads.front_date()?), place));
        let (_, place) = places.filter_map(edge).min_by_key(|&(edge, _)| edge)?;
        let (date, read) = roots[place].reads.arrive_dated(now.time)?;
        self.read_turn = place + 1;
        Some((place, date, read))
    }

    /// Before this cycle no read that is still to be seen is ready.
    fn horizon(&self, cycle: u64) -> u64 {
        self.next_read.max(cycle + 1) + self.spec.read_latency.0
    }

    /// Tells what has become of writes at this edge: whether one was taken, and whether another waits.
    fn charge_writes(&mut self, cycle: u64, waits: bool) {
        let busy_until = if self.wrote == Some(cycle) { cycle + 1 } else { cycle };
        let then = if waits { Activity::Stall(Stall::WritesInService) } else { Activity::Idle };
        self.write_meter.book((cycle, cycle), busy_until, then);
    }

    /// Sends the completions of reads that nothing can overtake.
    fn answer(&mut self, now: Now, ports: &mut Ports) {
        let horizon = self.horizon(now.cycle);
        while self.service.front().is_some_and(|head| head.ready <= horizon) {
            if let Some(Service { ready, read, found }) = self.service.pop_front() {
                self.send(ready, read, found.as_ref(), ports);
            }
        }
    }

    /// Sends the completions of a read, which the port sees at its first edge after their readiness.
    #[inline]
    fn send(&self, ready: u64, read: Read, found: Option<&Payload>, ports: &mut Ports) {
        let Read { port, requester, tag, whole } = read;
        let Some(RootPort { completions, .. }) = ports.roots.get_mut(port) else { return };
        let date = Femtos(self.clock.edge(ready).0.saturating_add(1));
        let Some(found) = found else {
            let none = Tlp { requester, ..Tlp::read(tag, whole.address, 0) };
            let refusal = Tlp { kind: Kind::Unsupported, byte_count: whole.bytes.max(1), ..none };
            return completions.send(date, refusal);
        };
        for piece in CompletionSplit::new(whole, self.rule) {
            let completion = Tlp {
                kind: Kind::Completion,
                requester,
                tag,
                address: piece.address,
                bytes: piece.bytes,
                byte_count: u32::from(piece.byte_count),
                payload: found.part(piece.address - whole.address, u64::from(piece.bytes)),
                ..Tlp::read(0, 0, 0)
            };
            completions.send(date, completion);
        }
    }

    /// The cycle in which a read that comes in `cycle` enters service.
    fn enter(&mut self, cycle: u64) -> u64 {
        let free = cycle.max(self.next_read);
        let mut at = free;
        loop {
            while self.places.front().is_some_and(|left| *left <= at) {
                self.places.pop_front();
            }
            if self.read_room.holds(self.places.len() as u64 + 1) {
                break;
            }
            at = self.places.front().map_or(at, |left| *left);
        }
        self.next_read = at + self.spec.read_interval.0.max(1);
        if at > free {
            self.read_meter.book((cycle, free), 0, Activity::Stall(Stall::ReadsInService));
        }
        self.read_meter.book((cycle, at), self.next_read, Activity::Idle);
        at
    }

    /// Takes a read into service, unless it is broken; gives the cycle in which it is ready.
    #[inline]
    fn take_read(&mut self, request: &Tlp, cycle: u64) -> Option<u64> {
        let at = self.enter(cycle);
        if !request.intact_end_to_end() {
            self.incidents
                .push(format!("the root complex dropped a read of {:#x}: its ECRC is wrong", request.address));
            self.errors.note(ECRC, self.clock.edge(cycle));
            return None;
        }
        let ready = at + self.spec.read_latency.0 + self.spread(request.address);
        self.busy_until = self.busy_until.max(ready);
        keep(&mut self.places, ready, |&left| left);
        Some(ready)
    }

    /// Notes a read of what is not there.
    #[cold]
    fn refuse(&mut self, address: u64, cycle: u64) {
        self.errors.note(UNSUPPORTED_REQUEST, self.clock.edge(cycle));
        self.incidents.push(format!("the root complex refused a read of {address:#x}: nothing is mapped there"));
    }

    /// Extra latency of an address: banks and channels answer at their own pace.
    fn spread(&self, address: u64) -> u64 {
        let scattered = (address >> 9).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
        match self.spec.read_spread.0 {
            0 => 0,
            spread => scattered % spread.saturating_add(1),
        }
    }

    /// Puts a write into service at cycle `now`; gives the cycle from which the next one may follow.
    fn after_write(&mut self, now: u64) -> u64 {
        while self.writes.front().is_some_and(|visible| *visible <= now) {
            self.writes.pop_front();
        }
        self.writes.push_back(now + self.spec.write_latency.0);
        let full = !self.write_room.holds(self.writes.len() as u64 + 1);
        self.writes.front().filter(|_| full).map_or(now + 1, |visible| (*visible).max(now + 1))
    }

    /// The oldest write of the next root port in turn.
    #[inline]
    fn next_write_of(&mut self, now: Now, roots: &mut [RootPort]) -> Option<Tlp> {
        if let [only] = roots {
            return only.writes.pop(now.time);
        }
        let count = roots.len();
        let mut places = (0..count).map(|step| (self.write_turn + step) % count);
        let place = places.find(|place| !roots[*place].writes.is_empty(now.time))?;
        self.write_turn = place + 1;
        roots[place].writes.pop(now.time)
    }

    fn take_write(&mut self, now: Now, ports: &mut Ports) {
        if now.cycle < self.next_write {
            return;
        }
        let Some(tlp) = self.next_write_of(now, &mut ports.roots) else { return };
        self.next_write = self.after_write(now.cycle);
        self.wrote = Some(now.cycle);
        if !tlp.intact_end_to_end() {
            self.incidents.push(format!("the root complex dropped a write to {:#x}: its ECRC is wrong", tlp.address));
            self.errors.note(ECRC, now.time);
            return;
        }
        let domain = ports.domains.get_mut(usize::from(tlp.requester));
        let written = domain.as_ref().map_or(Written::Unmapped, |domain| domain.memory.borrow_mut().write(&tlp));
        match (written, domain) {
            (Written::Data, _) => {}
            (Written::Semaphore(notice), Some(domain)) => {
                let date = self.clock.edge(now.cycle + self.spec.write_latency.0.max(1));
                domain.notices.send(date, notice);
            }
            _ => {
                self.errors.note(UNSUPPORTED_REQUEST, now.time);
                self.incidents
                    .push(format!("the root complex dropped a write to {:#x}: nothing is mapped there", tlp.address));
            }
        }
    }
}

impl Unit for RootComplex {
    type Ports = Ports;

    fn tick(&mut self, now: Now, ports: &mut Ports) -> Wake {
        self.take_reads(now, ports);
        self.take_write(now, ports);
        let busy = now.cycle < self.busy_until;
        let mut at = Wake::NEVER;
        for RootPort { reads, writes, .. } in &mut ports.roots {
            if writes.sense_head(now.time) {
                at = now.cycle + 1;
            }
            reads.sense(if busy { Sensitivity::None } else { Sensitivity::Every });
            at = at.min(reads.next_arrival().map_or(Wake::NEVER, |date| self.clock.first_from(date)));
        }
        if busy {
            at = at.min(self.busy_until).min(self.horizon(now.cycle));
        }
        let waits = ports.roots.iter().any(|root| !root.writes.is_empty(now.time));
        if waits {
            at = at.min(self.next_write);
        }
        self.charge_writes(now.cycle, waits);
        Wake::at_or_port(at, if busy { Activity::Busy } else { Activity::Idle })
    }

    fn catch_up(&mut self, now: Now, ports: &mut Ports) {
        self.take_reads(now, ports);
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, u64)) {
        show("reads", self.service.len() as u64);
    }

    fn bounded(&self, show: &mut dyn FnMut(&'static str, u64)) {
        show("root_complex.reads_in_service", self.read_room.asked());
        show("root_complex.writes_in_service", self.write_room.asked());
    }

    fn meters(&self) -> Vec<&Meter> {
        vec![&self.read_meter, &self.write_meter]
    }

    fn incidents(&self) -> Vec<String> {
        self.incidents.clone()
    }

    fn errors(&self) -> &[Signalled] {
        self.errors.all()
    }
}

/// Puts an item in its place among others that lie in the order of their dates: behind those of its own date.
#[inline]
fn keep<T>(items: &mut VecDeque<T>, item: T, date: impl Fn(&T) -> u64) {
    let due = date(&item);
    if items.back().is_none_or(|last| date(last) <= due) {
        items.push_back(item);
    } else {
        items.insert(items.partition_point(|other| date(other) <= due), item);
    }
}
