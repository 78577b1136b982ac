//! A floor for the host's work: the hops of a copy to the device, wired by hand.
//!
//! ```text
//!  PCE --requests--> GPU port ~~up~~~> host port ~~reads~~~~~~~~> root complex
//!  PCE <----data---- GPU port <~down~~ host port <~completions~~~ root complex
//!  PCE ~~writes~~~~> HBM
//! ```
//!
//! It has the items, Acks, credits, replay buffers, digests and accounts of reads of 512 B, with about the times of `h100-nvl-tdx`. It has nothing
//! that makes a simulator: no netlist, no configuration, no engine, no faults, no probes. What a run takes beyond it is their price.

use std::collections::VecDeque;

// Units, by number.
const PCE: usize = 0;
const GPU: usize = 1;
const HOST: usize = 2;
const ROOT: usize = 3;
const HBM: usize = 4;
/// Femtoseconds between two edges of each.
const PERIOD: [u64; 5] = [569_801, 1_000_000, 1_000_000, 1_000_000, 569_801];
// What a unit is.
const IDLE: usize = 0;
const BUSY: usize = 1;
const BUFFER_FULL: usize = 2;
const LINK_BUSY: usize = 3;
const REPLAY_FULL: usize = 4;

const NEVER: u64 = u64::MAX;
const READ: u32 = 512;
const PAYLOAD: u32 = 256;
/// Bytes of the read buffer.
const BUFFER: u64 = 64 << 10;
const SLOTS: usize = 256;
const SEQUENCES: u16 = 4096;
/// Cycles of a link's flight, until an Ack, of a read in the root complex, and for which that may sleep.
const FLIGHT: u64 = 100;
const ACK_LATENCY: u64 = 40;
const READ_LATENCY: u64 = 400;
const LOOKAHEAD: u64 = 300;

#[derive(Clone, Copy, Default, PartialEq)]
enum Sort {
    #[default]
    Read,
    Completion,
    Write,
    Ack,
    Credits,
}

#[derive(Clone, Copy, Default)]
struct Packet {
    sort: Sort,
    tag: u16,
    sequence: u16,
    address: u64,
    bytes: u32,
    /// Of a completion, what is left of its read with it; of an update, the limit.
    left: u32,
}

/// Items with their dates.
#[derive(Default)]
struct Channel {
    items: VecDeque<(u64, Packet)>,
    digest: u64,
}

impl Channel {
    fn push(&mut self, date: u64, packet: Packet) {
        let Packet { sort, tag, sequence, address, bytes, .. } = packet;
        let sizes = u64::from(sequence) << 8 ^ u64::from(bytes) << 40 ^ u64::from(tag) << 52;
        let mixed = (self.digest ^ date).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let turned = mixed.rotate_left(29) ^ address ^ sizes ^ (sort as u64) << 62;
        self.digest = turned.wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ (mixed >> 32);
        self.items.push_back((date, packet));
    }

    fn date(&self) -> u64 {
        self.items.front().map_or(NEVER, |(date, _)| *date)
    }

    /// The oldest, if it has come.
    fn pop(&mut self, now: u64) -> Option<(u64, Packet)> {
        if self.date() <= now { self.items.pop_front() } else { None }
    }
}

/// A port. The source of the GPU's are requests, that of the host's are completions.
#[derive(Default)]
struct Port {
    incoming: Channel,
    source: Channel,
    /// The next free DW of the stream, and its cycle.
    position: u64,
    room: u64,
    sequence: u16,
    expected: u16,
    ack_due: Option<u64>,
    replay: VecDeque<Packet>,
    limit: u32,
    drained: u32,
}

impl Port {
    /// The cycle in which the last of so many DW has been sent that begin in `cycle` or later. One cycle in 65 is empty.
    fn take(&mut self, cycle: u64, length: u64) -> u64 {
        let sent_in = |position: u64| (position >> 4) + (position >> 4) / 64;
        self.position = self.position.max((cycle - cycle / 65) << 4) + length;
        self.room = sent_in(self.position);
        sent_in(self.position - 1)
    }

    fn acknowledge(&mut self, sequence: u16) {
        let oldest = self.sequence.wrapping_sub(self.replay.len() as u16);
        let count = usize::from(sequence.wrapping_sub(oldest).wrapping_add(1) % SEQUENCES);
        self.replay.drain(..if count <= self.replay.len() { count } else { 0 });
    }

    /// The Ack or the credits that are due in `cycle`.
    fn due(&mut self, cycle: u64) -> Option<Packet> {
        if self.ack_due.take_if(|due| *due <= cycle).is_some() {
            let sequence = self.expected.wrapping_sub(1) % SEQUENCES;
            return Some(Packet { sort: Sort::Ack, sequence, ..Packet::default() });
        }
        (self.drained >= 32).then(|| {
            self.drained = 0;
            Packet { sort: Sort::Credits, left: u32::from(self.expected) + 1024, ..Packet::default() }
        })
    }
}

#[derive(Default)]
struct Floor {
    due: [u64; 5],
    activity: [usize; 5],
    since: [u64; 5],
    accounts: [[u64; 5]; 5],
    ports: [Port; 2],
    data: Channel,
    reads: Channel,
    writes: Channel,
    asked: u64,
    written: u64,
    next_request: u64,
    engine_free: u64,
    /// Reads under way: what is left of each, and its address. Its tag is its number.
    slots: VecDeque<(u32, u64)>,
    first_tag: u16,
    root_free: u64,
}

/// The first edge at or after a date.
const fn edge(unit: usize, date: u64) -> u64 {
    if date == NEVER { NEVER } else { date.div_ceil(PERIOD[unit]) * PERIOD[unit] }
}

impl Floor {
    fn wake(&mut self, unit: usize, date: u64) {
        self.due[unit] = self.due[unit].min(date);
    }

    fn charge(&mut self, unit: usize, now: u64, activity: usize) {
        if self.activity[unit] != activity {
            self.accounts[unit][self.activity[unit]] += now - self.since[unit];
            (self.since[unit], self.activity[unit]) = (now, activity);
        }
    }

    fn pce(&mut self, now: u64, bytes: u64) -> u64 {
        while let Some((_, packet)) = self.data.pop(now - 1) {
            let (left, _) = &mut self.slots[usize::from(packet.tag.wrapping_sub(self.first_tag))];
            assert_eq!(*left, packet.left);
            *left -= packet.bytes;
        }
        while let Some(&(0, address)) = self.slots.front() {
            self.slots.pop_front();
            self.first_tag = self.first_tag.wrapping_add(1);
            self.engine_free = now.max(self.engine_free) + 8 * PERIOD[PCE];
            let write = Packet { sort: Sort::Write, address, bytes: READ, ..Packet::default() };
            self.writes.push(self.engine_free + PERIOD[PCE], write);
            self.written += u64::from(READ);
        }
        let (at, activity) = self.ask(now, bytes);
        self.charge(PCE, now, activity);
        at.min(edge(PCE, self.data.date().saturating_add(1)).max(now + PERIOD[PCE]))
    }

    /// Asks for what there is room for.
    fn ask(&mut self, now: u64, bytes: u64) -> (u64, usize) {
        while self.asked < bytes {
            if self.asked - self.written + u64::from(READ) > BUFFER || self.slots.len() == SLOTS {
                return (NEVER, BUFFER_FULL);
            }
            if self.ports[0].source.items.len() >= 64 {
                return (NEVER, LINK_BUSY);
            }
            if self.next_request > now {
                return (self.next_request, BUSY);
            }
            let tag = self.first_tag.wrapping_add(self.slots.len() as u16);
            self.slots.push_back((READ, self.asked));
            let read = Packet { tag, address: self.asked | 1 << 40, bytes: READ, ..Packet::default() };
            self.ports[0].source.push(now, read);
            self.wake(GPU, edge(GPU, now + 1));
            self.asked += u64::from(READ);
            self.next_request = now + 2 * PERIOD[PCE];
        }
        (NEVER, IDLE)
    }

    fn port<const UNIT: usize>(&mut self, now: u64) -> u64 {
        self.receive::<UNIT>(now);
        let (at, activity) = self.transmit::<UNIT>(now);
        self.charge(UNIT, now, activity);
        let (port, period) = (&self.ports[UNIT - GPU], PERIOD[UNIT]);
        let ack = port.ack_due.map_or(NEVER, |cycle| cycle.max(port.room) * period);
        let deferred = edge(UNIT, port.incoming.date()).saturating_add(ACK_LATENCY * period);
        at.min(ack.min(deferred).max(now + period))
    }

    /// Takes what has come, each as at its date.
    fn receive<const UNIT: usize>(&mut self, now: u64) {
        while let Some((date, packet)) = self.ports[UNIT - GPU].incoming.pop(now) {
            let port = &mut self.ports[UNIT - GPU];
            match packet.sort {
                Sort::Ack => port.acknowledge(packet.sequence),
                Sort::Credits => port.limit = packet.left,
                _ => {
                    assert_eq!(packet.sequence, port.expected);
                    port.expected = (port.expected + 1) % SEQUENCES;
                    port.ack_due.get_or_insert(date.div_ceil(PERIOD[UNIT]) + ACK_LATENCY);
                    port.drained += 1;
                    self.deliver::<UNIT>(date, packet);
                }
            }
        }
    }

    fn deliver<const UNIT: usize>(&mut self, date: u64, packet: Packet) {
        if UNIT == HOST {
            self.reads.push(date + 1, packet);
            self.wake(ROOT, edge(ROOT, date + 1) + LOOKAHEAD * PERIOD[ROOT]);
        } else {
            self.data.push(date, packet);
            // A first completion of two changes nothing by itself.
            if packet.left == packet.bytes {
                self.wake(PCE, edge(PCE, date + 1));
            }
        }
    }

    fn transmit<const UNIT: usize>(&mut self, now: u64) -> (u64, usize) {
        let cycle = now / PERIOD[UNIT];
        // A queue shows what was pushed before this instant, a wire what has come by it.
        let behind = u64::from(UNIT == GPU);
        loop {
            let port = &mut self.ports[UNIT - GPU];
            if port.room > cycle {
                return (port.room * PERIOD[UNIT], BUSY);
            }
            if let Some(dllp) = port.due(cycle) {
                let sent = port.take(cycle, 2);
                self.send::<UNIT>(sent, dllp, false);
                continue;
            }
            if port.replay.len() == SLOTS {
                return (edge(UNIT, port.incoming.date()), REPLAY_FULL);
            }
            let Some((_, packet)) = port.source.pop(now - behind) else {
                return (edge(UNIT, port.source.date().saturating_add(behind)), IDLE);
            };
            let packet = Packet { sequence: port.sequence, ..packet };
            port.sequence = (port.sequence + 1) % SEQUENCES;
            port.replay.push_back(packet);
            let length = if packet.sort == Sort::Completion { 5 + u64::from(packet.bytes) / 4 } else { 6 };
            let sent = port.take(cycle, length);
            self.send::<UNIT>(sent, packet, UNIT == GPU || packet.left == packet.bytes);
            if UNIT == GPU && self.activity[PCE] == LINK_BUSY {
                self.wake(PCE, edge(PCE, now + 1));
            }
        }
    }

    /// Sends to the partner. What presses wakes it, anything does if it waits for an Ack.
    fn send<const UNIT: usize>(&mut self, sent: u64, packet: Packet, presses: bool) {
        let (partner, date) = (GPU + HOST - UNIT, (sent + FLIGHT) * PERIOD[UNIT]);
        self.ports[partner - GPU].incoming.push(date, packet);
        if presses || self.activity[partner] == REPLAY_FULL {
            self.wake(partner, date);
        }
    }

    fn root(&mut self, now: u64) -> u64 {
        while let Some((date, read)) = self.reads.pop(now) {
            let start = edge(ROOT, date).max(self.root_free);
            self.root_free = start + 4 * PERIOD[ROOT];
            let ready = start + READ_LATENCY * PERIOD[ROOT] + 1;
            for offset in (0..READ).step_by(PAYLOAD as usize) {
                let (address, left) = (read.address + u64::from(offset), read.bytes - offset);
                let completion = Packet { sort: Sort::Completion, address, bytes: PAYLOAD, left, ..read };
                self.ports[1].source.push(ready, completion);
            }
            self.wake(HOST, edge(HOST, ready));
        }
        self.charge(ROOT, now, BUSY);
        edge(ROOT, self.reads.date()).saturating_add(LOOKAHEAD * PERIOD[ROOT])
    }

    /// Device memory, which nobody waits for: it runs now and then.
    fn hbm(&mut self, now: u64) {
        while self.writes.pop(now).is_some() {}
        self.charge(HBM, now, IDLE);
    }
}

/// Copies so many bytes; gives a digest of all that passed.
pub fn copy(bytes: u64) -> u64 {
    let mut floor = Floor { due: [PERIOD[PCE], NEVER, NEVER, NEVER, NEVER], ..Floor::default() };
    while floor.written < bytes {
        let first = (1..HBM).fold(PCE, |first, unit| if floor.due[unit] < floor.due[first] { unit } else { first });
        let now = std::mem::replace(&mut floor.due[first], NEVER);
        assert!(now < NEVER, "nobody is due, and bytes are left");
        let at = match first {
            PCE => floor.pce(now, bytes),
            GPU => floor.port::<GPU>(now),
            HOST => floor.port::<HOST>(now),
            _ => floor.root(now),
        };
        floor.wake(first, at);
        if floor.writes.items.len() > 200 {
            floor.hbm(now);
        }
    }
    let channels = [&floor.ports[0].incoming, &floor.ports[1].incoming, &floor.data, &floor.writes];
    let spent = floor.accounts.iter().flatten().fold(0, |sum: u64, spent| sum.wrapping_add(*spent));
    channels.iter().fold(spent, |sum, channel| sum ^ channel.digest)
}
