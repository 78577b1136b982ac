//! Which GPU sends what to whom, and when.

use super::kind::Collective;
use crate::fabric::{
    program::{Program, ReceiveStep, SendStep},
    protocol::Protocol,
    spec::FabricSpec,
};
use std::ops::Range;

/// Parts of a buffer begin at multiples of so many bytes: a block of AES.
const ALIGNMENT: u64 = 16;

/// Bytes that a broadcast or a tree passes on at once.
pub(super) const PIECE: u64 = 1 << 20;

/// Whether text is passed on in pieces of that size.
pub(super) const fn pieces_repeat(kind: Collective) -> bool {
    matches!(kind, Collective::Broadcast | Collective::TreeAllReduce)
}

/// How a kernel passes on text: in turns of so many bytes of each part, whose sums show in the last step alone; or the host has it copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passing {
    /// Most bytes of a part in a turn.
    pub turn: u64,
    /// Whether sums are made as text is passed on.
    pub streams: bool,
    /// How many times as long as by all channels the last pass takes.
    pub slower: u64,
}

impl Passing {
    /// By copies, each added when it is there.
    pub const COPIES: Self = Self { turn: u64::MAX, streams: false, slower: 1 };

    pub fn of(spec: &FabricSpec, protocol: Protocol, (kind, ranks): (Collective, usize)) -> Self {
        let sends = kind == Collective::AllToAll;
        let turn = if sends { spec.send_turn(protocol, ranks as u64 - 1) } else { spec.turn(protocol) };
        // A part that is sent by LL is one channel's.
        let slower = if sends && protocol == Protocol::Ll { u64::from(spec.nccl.channels) } else { 1 };
        Self { turn: turn.max(ALIGNMENT), streams: protocol != Protocol::Copies, slower }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub programs: Vec<Program>,
    /// Bytes of the buffer of each GPU: what was asked for, filled up so that its parts are equal.
    pub buffer: u64,
    pub part: u64,
    /// Where results lie: behind the buffer in an all-to-all, else in it.
    pub results: u64,
}

impl Plan {
    /// Bytes of memory that each GPU needs.
    pub const fn memory(&self) -> u64 {
        self.results + self.buffer
    }
}

/// Lengths of the buffer of each GPU that differ by multiples of this are laid out alike but for their number of steps; transfers then differ by
/// multiples of `message`.
pub fn stride(kind: Collective, ranks: usize, message: u64) -> u64 {
    if pieces_repeat(kind) { PIECE } else { (ranks as u64).saturating_mul(message.next_multiple_of(ALIGNMENT).max(1)) }
}

/// Bytes of a part, and of the buffer of each of so many GPUs, at least one.
pub fn extent(kind: Collective, ranks: usize, bytes: u64) -> (u64, u64) {
    let parts = if pieces_repeat(kind) { 1 } else { ranks as u64 };
    let part = bytes.div_ceil(parts).next_multiple_of(ALIGNMENT);
    (part, part * parts)
}

/// Lays out a collective of so many GPUs, at least two, whose buffers have so many bytes, at least one.
pub fn plan(kind: Collective, ranks: usize, bytes: u64, passing: Passing) -> Plan {
    let (part, buffer) = extent(kind, ranks, bytes);
    let results = if kind == Collective::AllToAll { buffer } else { 0 };
    let program = |rank: usize| match kind {
        Collective::AllReduce | Collective::ReduceScatter | Collective::AllGather => {
            ring(kind, rank, ranks, (part, passing))
        }
        Collective::Broadcast => chain(rank, ranks, buffer),
        Collective::AllToAll => exchange((rank, ranks), part, results, passing),
        Collective::TreeAllReduce => tree(rank, ranks, buffer),
    };
    Plan { programs: (0..ranks).map(program).collect(), buffer, part, results }
}

/// The same ring with one GPU for all: each step is a transfer to itself.
pub fn folded(kind: Collective, ranks: usize, bytes: u64, passing: Passing) -> Option<Plan> {
    if !kind.is_ring() {
        return None;
    }
    let whole = plan(kind, ranks, bytes, passing);
    let own = whole.programs.first()?;
    let sends = own.sends.iter().map(|send| SendStep { target: 0, ..send.clone() }).collect();
    let receives = own.receives.iter().map(|receive| ReceiveStep { source: 0, ..receive.clone() }).collect();
    Some(Plan { programs: vec![Program { sends, receives }], ..whole })
}

/// Each step sends on what the step before has brought. A turn begins when the one before is over: a block of threads does one after the other.
fn ring(kind: Collective, rank: usize, ranks: usize, (part, passing): (u64, Passing)) -> Program {
    let (next, previous) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    let mut program = Program::default();
    let mut at = 0;
    while at < part {
        let end = part.min(at.saturating_add(passing.turn));
        let before = |steps: usize| {
            let start = ((rank + 2 * ranks - steps) % ranks) as u64 * part;
            start + at..start + end
        };
        let mut step = |sent: usize, reduces: bool| {
            let after = program.receives.len().checked_sub(1).into_iter().collect();
            let pass = if reduces && !passing.streams { end - at } else { 0 };
            program.sends.push(SendStep { target: next as u8, range: before(sent), after });
            program.receives.push(ReceiveStep { source: previous as u8, range: before(sent + 1), reduces, pass });
        };
        if matches!(kind, Collective::AllReduce | Collective::ReduceScatter) {
            (0..ranks - 1).for_each(|sent| step(sent, true));
        }
        match kind {
            // The reduce-scatter has left each with the part behind its own number.
            Collective::AllReduce => (0..ranks - 1).for_each(|sent| step(ranks + sent - 1, false)),
            Collective::AllGather => (0..ranks - 1).for_each(|sent| step(sent, false)),
            _ => {}
        }
        if let Some(last) = program.receives.last_mut().filter(|_| passing.streams) {
            last.pass = end - at;
        }
        at = end;
    }
    program
}

/// What one GPU's link carries when switches add, as transfers to itself: turns follow each other without a wait, and the last is copied out.
pub(super) fn in_switches(bytes: u64, turn: u64, carried: impl Fn(u64) -> u64) -> Program {
    let mut program = Program::default();
    let (mut at, mut wire) = (0, 0);
    while at < bytes {
        let length = turn.min(bytes - at);
        let range = wire..wire + carried(length);
        (at, wire) = (at + length, range.end);
        let pass = if at == bytes { length } else { 0 };
        program.sends.push(SendStep { target: 0, range: range.clone(), after: Vec::new() });
        program.receives.push(ReceiveStep { source: 0, range, reduces: false, pass });
    }
    program
}

fn pieces(bytes: u64) -> impl Iterator<Item = Range<u64>> {
    (0..bytes.div_ceil(PIECE)).map(move |piece| piece * PIECE..bytes.min((piece + 1) * PIECE))
}

fn chain(rank: usize, ranks: usize, buffer: u64) -> Program {
    let mut program = Program::default();
    for (place, range) in pieces(buffer).enumerate() {
        if rank > 0 {
            program.receives.push(ReceiveStep {
                source: rank as u8 - 1,
                range: range.clone(),
                reduces: false,
                pass: 0,
            });
        }
        if rank + 1 < ranks {
            let after = if rank > 0 { vec![place] } else { Vec::new() };
            program.sends.push(SendStep { target: rank as u8 + 1, range, after });
        }
    }
    program
}

/// Each sends a part to each, the n-th behind it and so on. Of two GPUs each sends its next turn when it has received the last: a block of threads does
/// both. With the last, a kernel copies what it has for itself, and out of its buffers what came last from each: by LL a channel for each does that at once.
fn exchange((rank, ranks): (usize, usize), part: u64, results: u64, passing: Passing) -> Program {
    let mut program = Program::default();
    let (mut at, mut length) = (0, 0);
    while at < part {
        let end = part.min(at.saturating_add(passing.turn));
        length = end - at;
        let before = program.receives.len();
        for peer in 1..ranks {
            let (target, source) = ((rank + peer) % ranks, (rank + ranks - peer) % ranks);
            let within = |number: usize| number as u64 * part + at..number as u64 * part + end;
            let after = (before + peer).checked_sub(ranks).into_iter().collect();
            program.sends.push(SendStep { target: target as u8, range: within(target), after });
            let into = within(source);
            let range = results + into.start..results + into.end;
            program.receives.push(ReceiveStep { source: source as u8, range, reduces: false, pass: 0 });
        }
        at = end;
    }
    if let Some(last) = program.receives.last_mut().filter(|_| passing.streams) {
        let others = if passing.slower == 1 { (ranks as u64 - 1) * length } else { 0 };
        last.pass = part.saturating_mul(passing.slower).saturating_add(others);
    }
    program
}

/// Sums go up to the parent, the whole sum comes down.
fn tree(rank: usize, ranks: usize, buffer: u64) -> Program {
    let parent = rank.checked_sub(1).map(|below| (below / 2) as u8);
    let children: Vec<_> = [2 * rank + 1, 2 * rank + 2].into_iter().filter(|child| *child < ranks).collect();
    let mut program = Program::default();
    for range in pieces(buffer) {
        let first = program.receives.len();
        for &child in &children {
            let pass = range.end - range.start;
            program.receives.push(ReceiveStep { source: child as u8, range: range.clone(), reduces: true, pass });
        }
        let mut after: Vec<_> = (first..program.receives.len()).collect();
        if let Some(parent) = parent {
            program.sends.push(SendStep { target: parent, range: range.clone(), after });
            after = vec![program.receives.len()];
            program.receives.push(ReceiveStep { source: parent, range: range.clone(), reduces: false, pass: 0 });
        }
        for &child in &children {
            program.sends.push(SendStep { target: child as u8, range: range.clone(), after: after.clone() });
        }
    }
    program
}
