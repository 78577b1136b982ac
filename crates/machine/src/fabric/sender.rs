//! Reads what a GPU sends, seals it where the mode asks for that, and cuts it into packets.
//!
//! ```text
//!                  +--------+
//!  transfers In   >|        |> packets Out (port)
//!         memory --| sender |
//!                  +--------+
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts | transfers, any number; they are read in their order |
//! | latency | first text `read_latency` after a transfer was taken; device memory is never slower than links and engines |
//! | messages | a transfer is split into messages; each goes to the next engine in turn, and waits until that has no other |
//! | packets | of `payload` bytes, in order within a message; those of messages in different engines as they are ready |
//! | engine | takes a packet when fewer than [`AHEAD`] of its packets wait for the port; its cycles are those of its timing model |
//! | tag | behind the last text, in a packet of its own; or with each packet, which then waits for it |
//! | staging | packets of a message leave when all of it is sealed and `staging` has passed; one more message of the engine may wait so |
//! | without an engine | a packet is ready one cycle after its text |
//! | stalls | `read_data`: the first text is being read; `link_busy`: the port has no room; `engine_busy`: the next message waits for its engine |

use super::{memory::Memory, packet::Packet, protocol::Framing, rank::Transfer, seal::PairKeys, spec::Protection};
use crate::{
    aead::{spec::EngineSpec, stream::Stream, timing::EngineTiming},
    gcm::{message::SealOpen, part::Part, spec::SpecError},
    pcie::packet::Payload,
    ports,
    sim::{Activity, Clock, In, Now, Out, Stall, Unit, Wake},
    units::{Femtos, Fixed, fixed},
};
use std::{cell::RefCell, collections::VecDeque, rc::Rc};

/// Packets that an engine has ready for the port, at the most.
pub const AHEAD: usize = 8;

/// What of a fabric no configuration changes.
pub const FIXED: &[Fixed] = fixed! {
    "fabric.engine_buffer" AHEAD, "packets",
        "behind an engine that seals, and in front of one that opens; enough that its latency does not show; assumed";
};

ports! {
    pub struct Ports {
        pub transfers: In<Transfer>,
        pub packets: Out<Packet>,
        pub memory: Rc<RefCell<Memory>>,
    }
}

#[derive(Debug)]
struct Reading {
    target: u8,
    bytes: u64,
    text: Payload,
    /// When its first text is there.
    ready: u64,
    /// Text that has been given to engines.
    given: u64,
}

#[derive(Debug)]
struct SealedMessage {
    target: u8,
    number: u64,
    /// Its text, in its transfer.
    at: u64,
    end: u64,
    text: Payload,
    ready: u64,
    message: Option<Stream>,
}

/// An engine, or the place of one where nothing is sealed.
#[derive(Debug)]
struct SealingEngine {
    timing: Option<Box<dyn EngineTiming>>,
    sealing: Option<SealedMessage>,
    /// Packets by the cycle in which they are ready.
    out: VecDeque<(u64, Packet)>,
}

#[derive(Debug)]
pub struct Sender {
    gpu: u8,
    framing: Framing,
    tag_bytes: u64,
    protection: Option<Protection>,
    keys: Option<PairKeys>,
    read_latency: u64,
    /// What lies between a message being sealed and its leaving.
    staging: Option<u64>,
    room: usize,
    reading: VecDeque<Reading>,
    /// By target: number of the next message.
    messages: Vec<u64>,
    seats: Vec<SealingEngine>,
    next: usize,
}

impl Sender {
    /// The sender of a GPU among so many. Without `keys` it carries no sealed bytes.
    pub fn new(
        (gpu, ranks): (u8, usize),
        (framing, links): (Framing, u32),
        protection: Option<(Protection, &EngineSpec)>,
        keys: Option<PairKeys>,
        (read_latency, clock): (Femtos, Clock),
    ) -> Result<Self, SpecError> {
        let engines = protection.map_or(1, |(protection, _)| protection.engines.max(1));
        let mut seats = Vec::with_capacity(engines as usize);
        for _ in 0..engines {
            let timing = protection.map(|(_, spec)| spec.timing()).transpose()?.map(keyed);
            seats.push(SealingEngine { timing, sealing: None, out: VecDeque::new() });
        }
        Ok(Self {
            gpu,
            framing,
            tag_bytes: protection.map_or(0, |(_, spec)| spec.format().tag_bytes()),
            protection: protection.map(|(protection, _)| protection),
            keys,
            read_latency: clock.cycles_in(read_latency),
            staging: protection.and_then(|(p, _)| p.staging).map(|staging| clock.cycles_in(staging)),
            room: match protection {
                // A message waits whole.
                Some((protection, _)) if protection.staging.is_some() => usize::MAX,
                Some(_) => AHEAD,
                None => 2 * links.max(1) as usize,
            },
            reading: VecDeque::new(),
            messages: vec![0; ranks],
            seats,
            next: 0,
        })
    }

    /// Gives the next message to its engine, if it is free and the text is there; says whether it did.
    fn dispatch(&mut self, now: Now) -> bool {
        let seat = &mut self.seats[self.next];
        let Some(reading) = self.reading.front_mut().filter(|reading| reading.ready <= now.cycle) else { return false };
        let waiting = seat.out.front().zip(seat.out.back()).is_some_and(|(a, b)| message_of(&a.1) != message_of(&b.1));
        if seat.sealing.is_some() || (self.staging.is_some() && waiting) {
            return false;
        }
        let end = self.protection.map_or(reading.bytes, |p| reading.bytes.min(reading.given + p.message));
        let number = self.messages[usize::from(reading.target)];
        self.messages[usize::from(reading.target)] += 1;
        let message = self.keys.as_ref().filter(|_| self.protection.is_some() && reading.text.is_there());
        let message = message
            .and_then(|keys| keys.begin((self.gpu, reading.target), number, end - reading.given, SealOpen::Seal));
        if let (Some(timing), Some(protection)) = (&mut seat.timing, self.protection) {
            let start = if protection.ahead { 0 } else { now.cycle };
            timing.start(start, Part::whole(end - reading.given), SealOpen::Seal);
        }
        let (target, text, ready) = (reading.target, reading.text.clone(), reading.ready);
        seat.sealing = Some(SealedMessage { target, number, at: reading.given, end, text, ready, message });
        reading.given = end;
        if reading.given == reading.bytes {
            self.reading.pop_front();
        }
        self.next = (self.next + 1) % self.seats.len();
        true
    }

    /// Lets an engine make the next packet of its message; says whether it did.
    fn seal(&mut self, place: usize, now: Now) -> bool {
        let seat = &mut self.seats[place];
        if seat.out.len() >= self.room {
            return false;
        }
        let Some(sealing) = &mut seat.sealing else { return false };
        let bytes = self.framing.payload.min(sealing.end - sealing.at);
        let at = now.cycle.max(sealing.ready);
        let ready = seat.timing.as_mut().map_or(at + 1, |timing| timing.accept(at, bytes as u32).out);
        let mut text = sealing.text.part(sealing.at, bytes);
        if let (Some(message), Some(plain)) = (&mut sealing.message, text.bytes()) {
            let mut sealed = plain.to_vec();
            message.update(&mut sealed);
            text = Payload::of(sealed);
        }
        let mut packet = Packet {
            source: self.gpu,
            target: sealing.target,
            message: sealing.number,
            offset: sealing.at,
            bytes: bytes as u32,
            flits: self.framing.flits(bytes, 0) as u32,
            tagged: false,
            text,
            tag: Payload::none(),
        };
        sealing.at += bytes;
        if sealing.at < sealing.end {
            seat.out.push_back((ready, packet));
            return true;
        }
        let Some(protection) = self.protection else {
            seat.out.push_back((ready, packet));
            seat.sealing = None;
            return true;
        };
        let known = seat.timing.as_mut().map_or(ready, |timing| timing.finish().tag).max(ready);
        let tag = sealing.message.as_ref().map_or_else(Payload::none, |message| Payload::of(message.tag()));
        match protection.tag_in_packet {
            Some(flits) => {
                packet.flits += flits as u32;
                (packet.tagged, packet.tag) = (true, tag);
                seat.out.push_back((known, packet));
            }
            None => {
                let flits = self.framing.flits(self.tag_bytes, 0) as u32;
                let behind = Packet { bytes: 0, flits, tagged: true, text: Payload::none(), tag, ..packet.clone() };
                let behind = Packet { offset: sealing.end, ..behind };
                seat.out.push_back((ready, packet));
                seat.out.push_back((known, behind));
                if let Some(staging) = self.staging {
                    let message = (sealing.target, sealing.number);
                    let own = seat.out.iter_mut().rev().take_while(|(_, packet)| message_of(packet) == message);
                    own.for_each(|(ready, _)| *ready = known + staging);
                }
            }
        }
        seat.sealing = None;
        true
    }

    /// The engine whose oldest packet is ready first, and when that is.
    fn earliest(&self) -> Option<(u64, usize)> {
        let fronts = self.seats.iter().enumerate().filter_map(|(place, seat)| Some((seat.out.front()?.0, place)));
        fronts.min_by_key(|&(ready, place)| (ready, (place + self.seats.len() - self.next) % self.seats.len()))
    }

    /// Hands packets to the port; says whether it delivered any, and whether there is no room for one that is ready.
    fn emit(&mut self, now: Now, ports: &mut Ports) -> (bool, bool) {
        let mut any = false;
        while let Some((_, place)) = self.earliest().filter(|(ready, _)| *ready <= now.cycle) {
            if !ports.packets.has_room(now.time) {
                return (any, true);
            }
            if let Some((_, packet)) = self.seats[place].out.pop_front() {
                ports.packets.push(now.time, packet);
                any = true;
            }
        }
        (any, false)
    }

    /// Moves all that can move at this edge; says whether the port has no room.
    fn advance(&mut self, now: Now, ports: &mut Ports) -> bool {
        loop {
            let mut moved = self.dispatch(now);
            for place in 0..self.seats.len() {
                while self.seal(place, now) {
                    moved = true;
                }
            }
            let (emitted, full) = self.emit(now, ports);
            if !moved && !emitted {
                return full;
            }
        }
    }

    /// What it is, and when it can go on by itself.
    fn state(&self, now: Now, full: bool) -> (u64, Activity) {
        if full {
            return (Wake::NEVER, Activity::Stall(Stall::LinkBusy));
        }
        let reading = self.reading.front();
        let waits = reading.map(|reading| reading.ready).filter(|&ready| ready > now.cycle);
        let packet = self.earliest().map(|(ready, _)| ready);
        let at = packet.into_iter().chain(waits).min().unwrap_or(Wake::NEVER);
        let activity = match (packet, reading) {
            (Some(_), _) => Activity::Busy,
            (None, Some(_)) if waits.is_some() => Activity::Stall(Stall::ReadData),
            (None, Some(_)) => Activity::Stall(Stall::EngineBusy),
            (None, None) => Activity::Idle,
        };
        (at, activity)
    }
}

const fn message_of(packet: &Packet) -> (u8, u64) {
    (packet.target, packet.message)
}

/// An engine whose key is loaded from cycle 0 on.
pub(super) fn keyed(mut timing: Box<dyn EngineTiming>) -> Box<dyn EngineTiming> {
    timing.load_key(0);
    timing
}

impl Unit for Sender {
    type Ports = Ports;

    fn tick(&mut self, now: Now, ports: &mut Ports) -> Wake {
        while let Some(Transfer { target, range }) = ports.transfers.pop(now.time) {
            let text = ports.memory.borrow().read(&range);
            let (bytes, ready) = (range.end - range.start, now.cycle + self.read_latency);
            self.reading.push_back(Reading { target, bytes, text, ready, given: 0 });
        }
        let full = self.advance(now, ports);
        let (at, activity) = self.state(now, full);
        Wake::at_or_port(at, activity)
    }
}
