//! What stands around the ports: sources, sinks, a requester, host memory.

use crate::machine::{BASE, Feed, MEMORY, Plan, SEMAPHORE, at, pattern};
use sealsim::{
    pcie::{
        packet::{Kind, Payload, Tlp},
        root_complex::{HostMemory, Notice, Written},
    },
    sim::{Activity, In, Now, Out, Queue, Stall, Wake, Wakes},
};
use std::collections::VecDeque;

/// A TLP that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Got {
    pub cycle: u64,
    pub kind: Kind,
    pub tag: u16,
    pub address: u64,
    pub bytes: u32,
    /// Whether the bytes are those that lie at the address; true where there are none.
    pub right: bool,
    /// What the ECRC says.
    pub intact: bool,
}

pub fn got(tlp: &Tlp, cycle: u64) -> Got {
    let right = tlp.payload.bytes().is_none_or(|b| {
        let start = (tlp.address.wrapping_sub(BASE) % MEMORY) as usize;
        pattern()[start..].starts_with(b) && b.len() == tlp.bytes as usize
    });
    let intact = tlp.intact_end_to_end();
    Got { cycle, kind: tlp.kind, tag: tlp.tag, address: tlp.address, bytes: tlp.bytes, right, intact }
}

/// Pushes what its feed makes.
pub struct Source {
    pub feed: Feed,
    pub made: u64,
    pub next: u64,
}

impl Source {
    pub fn tick(&mut self, now: Now, mut output: Out<'_, Tlp>) -> Wake {
        if now.cycle < self.next {
            return Wake::at(self.next, Activity::Idle);
        }
        while self.made < self.feed.count {
            if !output.has_room() {
                return Wake::on_port(Activity::Stall(Stall::LinkBusy));
            }
            output.push((self.feed.make)(self.made));
            self.made += 1;
            if self.feed.gap > 0 {
                self.next = now.cycle + self.feed.gap;
                return Wake::at(self.next, Activity::Idle);
            }
        }
        Wake::on_port(Activity::Idle)
    }
}

/// Takes TLPs, at its pace, and notes them.
#[derive(Default)]
pub struct Sink {
    pub got: Vec<Got>,
    pub count: u64,
    pub bytes: u64,
    pub first: u64,
    pub last: u64,
    next: u64,
}

impl Sink {
    fn take(&mut self, tlp: &Tlp, cycle: u64, record: bool) {
        if self.count == 0 {
            self.first = cycle;
        }
        self.count += 1;
        self.last = cycle;
        self.bytes += u64::from(tlp.bytes);
        if record {
            self.got.push(got(tlp, cycle));
        }
    }

    pub fn tick(&mut self, now: Now, mut input: In<'_, Tlp>, pace: u64, record: bool) -> Wake {
        while now.cycle >= self.next {
            let Some(tlp) = input.pop() else { break };
            self.take(&tlp, now.cycle, record);
            if pace > 0 {
                self.next = now.cycle + pace;
            }
        }
        if input.is_empty() { Wake::on_port(Activity::Idle) } else { Wake::at_or_port(self.next, Activity::Busy) }
    }

    /// Payload bytes per second between the first and the last arrival, at 1 GHz.
    pub fn rate(&self) -> f64 {
        let mean = self.bytes as f64 / self.count as f64;
        (self.bytes as f64 - mean) / (self.last - self.first) as f64 * 1e9
    }
}

/// Makes reads while it has tags, and takes their completions.
#[derive(Default)]
pub struct Requester {
    pub issued: u64,
    pub done: u64,
    pub refused: u64,
    pub bytes: u64,
    pub first: u64,
    pub last: u64,
    /// Number, issue cycle and end cycle of every read, in the order of ending.
    pub ends: Vec<(u64, u64, u64)>,
    /// What the completions of ended reads have brought, dated with the end of the read.
    pub got: Vec<Got>,
    /// The same, by tag, of reads that have not ended.
    pub held: Vec<Vec<Got>>,
    pub free: VecDeque<u16>,
    /// By tag: number, issue cycle, address and bytes still to come.
    pub open: Vec<(u64, u64, u64, u32)>,
    pub wrong: Option<String>,
}

impl Requester {
    fn take(&mut self, tlp: &Tlp, cycle: u64, record: bool) {
        let Some(&(number, issued, next, left)) = self.open.get(usize::from(tlp.tag)) else {
            self.wrong.get_or_insert_with(|| format!("tag {} was never used", tlp.tag));
            return;
        };
        if record {
            self.held[usize::from(tlp.tag)].push(got(tlp, cycle));
        }
        let end = match tlp.kind {
            Kind::Unsupported => true,
            _ if tlp.address != next || tlp.byte_count != left.max(1) => {
                self.wrong.get_or_insert_with(|| format!("tag {}: {tlp:x?} for {next:x} of {left}", tlp.tag));
                true
            }
            _ => left == tlp.bytes,
        };
        self.refused += u64::from(tlp.kind == Kind::Unsupported);
        self.bytes += u64::from(tlp.payload_dw() > 0) * u64::from(tlp.bytes);
        self.open[usize::from(tlp.tag)] = (number, issued, next + u64::from(tlp.bytes), left.saturating_sub(tlp.bytes));
        if end {
            self.got.extend(self.held[usize::from(tlp.tag)].drain(..).map(|got| Got { cycle, ..got }));
            self.free.push_back(tlp.tag);
            if self.done == 0 {
                self.first = cycle;
            }
            self.done += 1;
            self.last = cycle;
            if record {
                self.ends.push((number, issued, cycle));
            }
        }
    }

    pub fn tick(
        &mut self,
        now: Now,
        plan: &Plan,
        inputs: &mut [Queue<Tlp>],
        mut output: Out<'_, Tlp>,
        wakes: &Wakes,
    ) -> Wake {
        for input in inputs {
            let mut input = input.input(now.time, wakes);
            while let Some(tlp) = input.pop() {
                self.take(&tlp, now.cycle, plan.record);
            }
        }
        while self.issued < plan.reads.count {
            let Some(&tag) = self.free.front() else { return Wake::on_port(Activity::Stall(Stall::ReadTags)) };
            if !output.has_room() {
                return Wake::on_port(Activity::Stall(Stall::LinkBusy));
            }
            self.free.pop_front();
            let mut tlp = (plan.reads.make)(self.issued);
            tlp.tag = tag;
            self.open[usize::from(tag)] = (self.issued, now.cycle, tlp.address, tlp.bytes);
            output.push(tlp);
            self.issued += 1;
        }
        Wake::on_port(Activity::Idle)
    }
}

/// Mapped memory that holds [`pattern`] and compares what is written with it.
#[derive(Default)]
pub struct ToyMemory {
    pub exact: bool,
    pub record: bool,
    pub count: u64,
    pub writes: Vec<Got>,
}

impl HostMemory for ToyMemory {
    fn read(&mut self, address: u64, bytes: u32) -> Option<Payload> {
        let mapped = address >= BASE && address + u64::from(bytes) <= BASE + MEMORY;
        mapped.then(|| at(address, bytes, self.exact))
    }

    fn write(&mut self, tlp: &Tlp) -> Written {
        self.count += 1;
        if self.record {
            self.writes.push(got(tlp, 0));
        }
        match tlp.address {
            SEMAPHORE => Written::Semaphore(Notice { address: SEMAPHORE, value: u64::from(tlp.bytes) }),
            BASE..SEMAPHORE => Written::Data,
            _ => Written::Unmapped,
        }
    }
}
