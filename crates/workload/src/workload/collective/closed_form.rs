//! How long one step of a ring takes, by a formula.
//!
//! With L links, rows of L packets leave together. A transfer of n packets of f flits has R = floor((n - 1) / L) rows before its last, and takes
//!
//! ```text
//!   hand-over 3 + read + seal + R f + (f + flight) + max(1, switch) + 1 + (f + flight) + 1 + open + max(1, write) + max(1, step + reduce)
//! ```
//!
//! cycles of the links; over a bridge without the switch and one (f + flight). In a ring each GPU receives while it sends, so that responses take
//! r flits of a link for each packet: beyond the first rows, each row takes f + r. Where an engine gives packets more slowly than the links take
//! them, its own time stands in place of the rows'.

use crate::{
    aead::{spec::EngineSpec, timing::EngineTiming},
    config::MachineSpec,
    fabric::{
        protocol::{Framing, Protocol},
        spec::{FabricMode, FabricSpec, Topology},
    },
    gcm::{message::SealOpen, part::Part},
    sim::Clock,
    units::Femtos,
};

/// What a step consists of, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HopTerms {
    /// From the rank to the first text being read.
    pub read: Femtos,
    /// From the first text to the first packet, or where engines bind, to the last.
    pub seal: Femtos,
    /// Rows before the last, where links bind.
    pub rows: Femtos,
    /// The last packet in transit.
    pub flight: Femtos,
    /// From the last packet to the verdict.
    pub open: Femtos,
    pub write: Femtos,
    /// What the host or the running kernel takes, and the sum.
    pub step: Femtos,
}

impl HopTerms {
    pub const fn total(&self) -> Femtos {
        let engines = self.read.0 + self.seal.0 + self.open.0;
        Femtos(engines + self.rows.0 + self.flight.0 + self.write.0 + self.step.0)
    }
}

/// How messages pass engines: each a packet with its tag, keystream ahead of text, opened when all of it is there.
#[derive(Debug, Clone, Copy)]
struct Sorts {
    in_packet: bool,
    ahead: bool,
    stored: bool,
}

struct EngineCycles {
    /// From its text being there to the first packet, and to the last.
    first: u64,
    last: u64,
    /// And to the last text, which its tag follows.
    text: u64,
    /// From the last message being there to its verdict.
    open: u64,
}

fn engine(spec: &EngineSpec) -> Option<(Box<dyn EngineTiming>, u64)> {
    let mut timing = spec.timing().ok()?;
    timing.load_key(0);
    // Long after the key was loaded.
    Some((timing, 1 << 20))
}

/// What a fresh engine takes for `messages` after each other, in packets of `payload`: its own contract, by its own model.
fn engine_cycles(spec: &EngineSpec, messages: &[u64], payload: u64, sorts: Sorts) -> Option<EngineCycles> {
    let Sorts { in_packet, ahead, .. } = sorts;
    let (mut seal, from) = engine(spec)?;
    let (mut first, mut last, mut text) = (0, 0, 0);
    for &message in messages {
        seal.start(if ahead { 0 } else { from }, Part::whole(message), SealOpen::Seal);
        let mut at = 0;
        while at < message {
            let bytes = payload.min(message - at);
            let out = seal.accept(from, bytes as u32).out;
            first = if first == 0 { out } else { first };
            (at, text) = (at + bytes, out);
        }
        last = seal.finish().tag;
        first = if in_packet && messages.len() == 1 { last } else { first };
    }
    Some(EngineCycles {
        first: first - from,
        last: last - from,
        text: text - from,
        open: open_cycles(spec, *messages.last()?, payload, sorts)?,
    })
}

/// From a message being there, its tag too, to its verdict. One that is opened on the way has come as the engine that sealed it gave it.
fn open_cycles(
    spec: &EngineSpec,
    message: u64,
    payload: u64,
    Sorts { in_packet, ahead, stored }: Sorts,
) -> Option<u64> {
    let ((mut seal, from), (mut open, _)) = (engine(spec)?, engine(spec)?);
    let start = if ahead { 0 } else { from };
    seal.start(start, Part::whole(message), SealOpen::Seal);
    open.start(start, Part::whole(message), SealOpen::Open);
    let (mut at, mut comes, mut out) = (0, from, from);
    while at < message {
        let bytes = if stored { message } else { payload.min(message - at) };
        comes = if stored || in_packet { from } else { seal.accept(from, bytes as u32).out };
        out = open.accept(comes, bytes as u32).out;
        at += bytes;
    }
    let verdict = open.finish().verdict.max(out);
    if stored || in_packet {
        return Some(verdict - from);
    }
    let tag = seal.finish().tag.max(comes);
    Some(verdict.max(tag + spec.model().compare().0) - tag)
}

/// How long one step of a ring of so many takes: a transfer of so many bytes, of which so many are added or copied when all have come. None for copies
/// by way of a host or of staging.
pub fn hop_terms(
    (machine, ranks): (&MachineSpec, usize),
    protocol: Protocol,
    bytes: u64,
    pass: u64,
) -> Option<HopTerms> {
    let spec =
        machine.fabric.as_ref().filter(|spec| !matches!(spec.mode, FabricMode::Staged | FabricMode::PeerStaging))?;
    let clock = Clock::new(spec.clock).ok()?;
    let cycles = |count: u64| clock.edge(count);
    let of = |time: Femtos| clock.cycles_in(time);
    let (framing, protection) = (spec.framing(protocol), spec.protection(protocol));
    let (packets, last_flits, row) = packets(spec, framing, bytes);
    let links = u64::from(spec.links.max(1));
    let rows = (packets - 1) / links;
    // Tags in packets of their own take links too.
    let tags = protection.filter(|p| p.tag_in_packet.is_none()).map_or(0, |p| bytes.div_ceil(p.message) - 1);
    let tags = tags * last_flits / links;
    let flight = of(Femtos(spec.flight.0.max(1)));
    let hop = last_flits + flight;
    let flight_cycles = match spec.topology {
        Topology::Switch => hop + of(spec.switch_latency).max(1) + 1 + hop,
        Topology::Bridge => hop,
    };
    // A response comes back from the next port, so that the first rows are in transit before the first.
    let undisturbed = (hop + 1) / row;
    let responses = rows.saturating_sub(undisturbed) * framing.response;
    // The last text has more flits than the tag that follows it.
    let hops = if spec.topology == Topology::Switch { 2 } else { 1 };
    let longer = cycles(hops * row.saturating_sub(last_flits));
    // Messages of all engines of a turn pass while the engines work on them.
    let of_message = |message: u64| message.div_ceil(framing.payload) * (row + framing.response) + last_flits;
    let turn = protection.map_or(0, |protection| of_message(protection.message));
    // Through the host packets follow each other at its interval, and the first crosses the first link before them.
    let host = of(spec.ring_interval(ranks)).saturating_mul(packets - 1);
    let host = if host > 0 { host + row.saturating_sub(last_flits) } else { 0 };
    let rows = (rows * row + responses + tags).max(host);
    let times = LinkTimes { rows: cycles(rows), longer, turn: cycles(turn) };
    let (seal, rows, open) = engines(machine, (spec, protocol), bytes, times)?;
    let pass = spec.pass_rate(protocol).cycles_for(pass);
    Some(HopTerms {
        read: Femtos(cycles(3).0 + cycles(of(spec.read_latency)).0),
        seal,
        rows,
        flight: cycles(flight_cycles + 1),
        open,
        write: cycles(of(spec.write_latency).max(1)),
        step: cycles((of(spec.step_time(protocol)) + pass).max(1)),
    })
}

/// Bytes of a tag in a packet of its own.
const TAG: u64 = 16;

/// Packets of a transfer, flits of the last, and of each in a full row.
fn packets(spec: &FabricSpec, framing: Framing, bytes: u64) -> (u64, u64, u64) {
    let tag = if spec.mode == FabricMode::Link { spec.tag.0 } else { 0 };
    let flits = |bytes: u64| framing.flits(bytes, tag);
    let packets = bytes.div_ceil(framing.payload);
    let alone = spec.protection(Protocol::Simple).is_some_and(|protection| protection.tag_in_packet.is_none());
    let last = if alone { TAG } else { bytes.min(framing.payload) };
    (packets, flits(last), flits(framing.payload))
}

/// What links take: for all rows, for the last text beyond a tag, and for a message of each engine.
struct LinkTimes {
    rows: Femtos,
    longer: Femtos,
    turn: Femtos,
}

/// What engines add: to seal, in place of the rows where they bind, and to open.
fn engines(
    machine: &MachineSpec,
    (spec, protocol): (&FabricSpec, Protocol),
    bytes: u64,
    LinkTimes { rows, longer, turn }: LinkTimes,
) -> Option<(Femtos, Femtos, Femtos)> {
    let Some(protection) = spec.protection(protocol) else { return Some((Femtos(0), rows, Femtos(0))) };
    let direct = spec.mode == FabricMode::Direct;
    let clock = Clock::new(if direct { machine.copy_engine.clock } else { spec.clock }).ok()?;
    let sealing = if direct { machine.sealing() } else { EngineSpec::Gcm(spec.engine.clone()) };
    let all: Vec<_> = (0..bytes.div_ceil(protection.message))
        .map(|message| protection.message.min(bytes - message * protection.message))
        .collect();
    // Those of the engine that has the last message.
    let engines = u64::from(protection.engines.max(1)) as usize;
    let of_last: Vec<_> = all.iter().copied().rev().step_by(engines).collect::<Vec<_>>().into_iter().rev().collect();
    let in_packet = protection.tag_in_packet.is_some();
    let sorts = Sorts { in_packet, ahead: protection.ahead, stored: protection.stored };
    let one = engine_cycles(&sealing, &all[all.len() - 1..], spec.framing(protocol).payload, sorts)?;
    let cycles = engine_cycles(&sealing, &of_last, spec.framing(protocol).payload, sorts)?;
    // A packet is seen by the port an edge after it is ready; without an engine that edge is the sender's own.
    let first = clock.edge(if in_packet { one.last } else { one.first }.saturating_sub(1));
    let tag = clock.edge(cycles.last.saturating_sub(1));
    let text = Femtos(clock.edge(cycles.text.saturating_sub(1)).0 + longer.0);
    // A tag does not overtake its text; where text comes last, the engine has yet to take it.
    let late = if in_packet { Femtos(0) } else { Femtos(text.0.saturating_sub(tag.0)) };
    // An engine of a port goes on with its next message when links have taken a message of each.
    let turns = if in_packet || protection.stored { 0 } else { of_last.len() as u64 - 1 };
    let in_turn = turns * turn.0 + clock.edge(one.last.saturating_sub(1)).0;
    let last = Femtos((tag.0 + late.0).max(in_turn));
    let links_bind = first.0 + rows.0 >= last.0;
    let open = match protection.stored {
        true => clock.edge(clock.cycles_in(spec.read_latency) + one.open),
        false if late.0 > 0 => clock.edge(one.open.max(one.last + one.open - one.text)),
        false => clock.edge(one.open),
    };
    Some(if links_bind { (first, rows, open) } else { (last, Femtos(0), open) })
}
