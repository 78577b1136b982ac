//! Takes packets for a GPU, opens them where the mode asks for that, and delivers what is right.
//!
//! ```text
//!                 +----------+
//!  packets In    >| receiver |~ delivered wire (rank)
//!                 +----------+
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts | packets as they come, any number at one edge; of a message in order, and of messages no more ahead than the sender has engines |
//! | on the way | message n of a source is opened by engine n mod `engines` of the bank for that source; a packet waits while [`AHEAD`] are in front of its engine, and those after it with it |
//! | stored | a message is opened when all of it has arrived, `read_latency` later, by the engine that is free first; ciphertext waits in device memory, which is never full |
//! | verdict | the engine's, with the tag that came: `compare` after both are there |
//! | delivers | a transfer, in the order of its source, `write_latency` after the last of its messages was found right; without an engine after its last packet came |
//! | refuses | a wrong tag, and packets that do not fit what is expected: the run ends there, and nothing of that transfer is delivered |
//! | stalls | `engine_busy`: the oldest packet waits for its engine; `read_data`: parts of messages are there, and the rest is in progress |

mod flow;
mod opening;

use super::{
    packet::Packet,
    protocol::Framing,
    rank::Delivered,
    seal::PairKeys,
    sender::{AHEAD, keyed},
    spec::Protection,
};
use crate::{
    aead::{spec::EngineSpec, timing::EngineTiming},
    gcm::{message::SealOpen, part::Part, spec::SpecError},
    ports,
    sim::{Activity, Clock, In, Now, Signals, Stall, Tx, Unit, Wake},
    units::Femtos,
};
use flow::Flow;
use std::collections::{BTreeSet, VecDeque};

ports! {
    pub struct Ports {
        pub packets: In<Packet>,
        pub delivered: Tx<Delivered>,
        /// For what is refused.
        pub signals: Signals,
    }
}

/// An engine, and when it took what is in front of it.
#[derive(Debug)]
struct OpeningEngine {
    timing: Box<dyn EngineTiming>,
    taken: VecDeque<u64>,
    /// When its last message was through.
    free: u64,
}

#[derive(Debug)]
pub struct Receiver {
    gpu: u8,
    framing: Framing,
    protection: Option<Protection>,
    compare: u64,
    keys: Option<PairKeys>,
    read_latency: u64,
    write_latency: Femtos,
    flows: Vec<Flow>,
    /// By source; all in the first, where messages are stored.
    banks: Vec<Vec<OpeningEngine>>,
    /// Messages whose verdict is known from a cycle on: source and number.
    verdicts: BTreeSet<(u64, u8, u64)>,
}

impl Receiver {
    /// The receiver of a GPU that expects transfers of these sizes from each source. Without `keys` it carries no sealed bytes.
    pub fn new(
        (gpu, expected): (u8, Vec<Vec<u64>>),
        framing: Framing,
        protection: Option<(Protection, &EngineSpec)>,
        keys: Option<PairKeys>,
        (read_latency, write_latency, clock): (Femtos, Femtos, Clock),
    ) -> Result<Self, SpecError> {
        let mut banks = Vec::new();
        if let Some((protection, spec)) = protection {
            for sizes in &expected {
                let used = if protection.stored { banks.is_empty() } else { !sizes.is_empty() };
                let count = if used { protection.engines.max(1) } else { 0 };
                let seats: Result<Vec<_>, SpecError> = (0..count)
                    .map(|_| Ok(OpeningEngine { timing: keyed(spec.timing()?), taken: VecDeque::new(), free: 0 }))
                    .collect();
                banks.push(seats?);
            }
        }
        let window = protection.map_or(1, |(protection, _)| 2 * u64::from(protection.engines.max(1)));
        let protection_of = protection.map(|(protection, _)| protection);
        let flows = expected.into_iter().map(|sizes| Flow::new(sizes, protection_of.map(|p| p.message), window));
        Ok(Self {
            gpu,
            framing,
            protection: protection_of,
            compare: protection.map_or(0, |(_, spec)| spec.model().compare().0),
            keys,
            read_latency: clock.cycles_in(read_latency),
            write_latency: Femtos(write_latency.0.max(1)),
            flows: flows.collect(),
            banks,
            verdicts: BTreeSet::new(),
        })
    }

    /// The engine in front of which a packet that is opened on the way waits, as long as it must: until when.
    fn waits(&mut self, packet: &Packet, now: u64) -> Option<u64> {
        let protection = self.protection.filter(|protection| !protection.stored)?;
        let bank = self.banks.get_mut(usize::from(packet.source))?;
        let seat = bank.get_mut((packet.message % u64::from(protection.engines.max(1))) as usize)?;
        while seat.taken.front().is_some_and(|&taken| taken <= now) {
            seat.taken.pop_front();
        }
        seat.taken.front().copied().filter(|_| seat.taken.len() >= AHEAD)
    }

    /// Takes a packet, or says why it does not fit.
    fn take(&mut self, packet: &Packet, now: Now) -> Result<(), String> {
        let source = packet.source;
        let flow = self.flows.get_mut(usize::from(source)).filter(|_| packet.target == self.gpu);
        let flow = flow.ok_or("it is for somebody else")?;
        let opening = flow.opening(packet.message).ok_or("its message is not expected")?;
        let begins = opening.came == 0;
        opening.fits(packet, self.framing.payload, self.protection.as_ref())?;
        if begins && let Some(keys) = self.keys.as_ref().filter(|_| self.protection.is_some()) {
            opening.message = keys.begin((source, self.gpu), packet.message, opening.bytes, SealOpen::Open);
        }
        opening.take(packet);
        let Some(protection) = self.protection else {
            if opening.whole() {
                self.verdicts.insert((now.cycle, source, packet.message));
            }
            return Ok(());
        };
        if protection.stored {
            if opening.whole() {
                let bytes = opening.bytes;
                let verdict = self.open_stored(bytes, now.cycle + self.read_latency);
                self.verdicts.insert((verdict, source, packet.message));
            }
            return Ok(());
        }
        let (bytes, whole) = (opening.bytes, opening.whole());
        if let Some(verdict) = self.open_on_the_way(packet, (begins, whole, bytes), now.cycle) {
            self.verdicts.insert((verdict, source, packet.message));
        }
        Ok(())
    }

    /// Opens a message whose text is all there from a cycle on; gives when its verdict is known.
    fn open_stored(&mut self, bytes: u64, at: u64) -> u64 {
        let seat = self.banks.first_mut().and_then(|bank| bank.iter_mut().min_by_key(|seat| seat.free));
        let Some(seat) = seat else { return at };
        seat.timing.start(at, Part::whole(bytes), SealOpen::Open);
        seat.timing.seed(at);
        let out = seat.timing.accept(at, bytes as u32).out;
        seat.free = seat.timing.finish().verdict.max(out);
        seat.free
    }

    /// Gives a packet to its engine; if it is the last of its message, when the verdict is known.
    fn open_on_the_way(&mut self, packet: &Packet, message: (bool, bool, u64), now: u64) -> Option<u64> {
        let (begins, whole, bytes) = message;
        let protection = self.protection?;
        let bank = self.banks.get_mut(usize::from(packet.source))?;
        let seat = bank.get_mut((packet.message % u64::from(protection.engines.max(1))) as usize)?;
        if begins {
            seat.timing.start(if protection.ahead { 0 } else { now }, Part::whole(bytes), SealOpen::Open);
        }
        if packet.bytes > 0 {
            let accepted = seat.timing.accept(now, packet.bytes);
            seat.taken.push_back(accepted.consumed);
            seat.free = seat.free.max(accepted.out);
        }
        whole.then(|| seat.timing.finish().verdict.max(now + self.compare).max(seat.free))
    }

    /// Delivers what has been found right by now.
    fn deliver(&mut self, now: Now, ports: &mut Ports) {
        while let Some(&(at, source, number)) = self.verdicts.first()
            && at <= now.cycle
        {
            self.verdicts.pop_first();
            let flow = &mut self.flows[usize::from(source)];
            if !flow.verdict(number, self.keys.is_some()) {
                let what = format!("GPU {} refuses message {number} of GPU {source}: wrong tag", self.gpu);
                return ports.signals.fail(&what);
            }
            let date = Femtos(now.time.0.saturating_add(self.write_latency.0));
            while let Some((bytes, text)) = flow.next_delivery() {
                ports.delivered.send(date, Delivered { source, bytes, text });
            }
        }
    }
}

impl Unit for Receiver {
    type Ports = Ports;

    fn tick(&mut self, now: Now, ports: &mut Ports) -> Wake {
        let mut waits = None;
        while let Some(packet) = ports.packets.peek(now.time) {
            let packet = packet.clone();
            waits = self.waits(&packet, now.cycle);
            if waits.is_some() {
                break;
            }
            ports.packets.pop(now.time);
            if let Err(why) = self.take(&packet, now) {
                let Packet { source, message, offset, .. } = packet;
                let what = format!(
                    "GPU {} refuses a packet of GPU {source} (message {message}, offset {offset}): {why}",
                    self.gpu
                );
                ports.signals.fail(&what);
                break;
            }
        }
        self.deliver(now, ports);
        let verdict = self.verdicts.first().map(|&(at, ..)| at);
        let at = waits.into_iter().chain(verdict).min().unwrap_or(Wake::NEVER);
        let activity = match (waits, verdict) {
            (Some(_), _) => Activity::Stall(Stall::EngineBusy),
            (None, Some(_)) => Activity::Busy,
            (None, None) if self.flows.iter().any(Flow::is_open) => Activity::Stall(Stall::ReadData),
            (None, None) => Activity::Idle,
        };
        Wake::at_or_port(at, activity)
    }
}
