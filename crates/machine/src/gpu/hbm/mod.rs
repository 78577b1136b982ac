//! Device memory behind the L2, as the copy engine sees it.
//!
//! ```text
//!                  +---------------+
//!  writes[] wire  ~|               |~ landed wire
//!  reads[]  In    >|  HBM and L2   |~ data[] wire
//!  verdicts In    >|               |~ staged wire (SMs)
//!                  +-------+-------+
//!                          | DeviceMemory
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts | writes and reads as they come, served one after the other at `write_rate` and `read_rate` |
//! | latency | end of service to visible: `write_latency`; end of service to data: `read_latency` |
//! | unverified bytes | wait here for their verdict; on failure they are scrubbed and never reach [`DeviceMemory`]; of a message that is good those reach it whose writes have come |
//! | ciphertext for the SMs | takes its turn as all writes do; when its last byte is visible, the SMs are notified how much has come |
//! | exposure | of a message: from its first visible byte to its verdict; of a byte: from its becoming visible to that verdict |
//! | accounts | writes and reads each have one: busy while one of them is in service |
//! | failures | it keeps what was visible without a verdict when a message failed |

mod visible;

pub use visible::{Exposed, Exposure};

use super::{
    spec::HbmSpec,
    work::{JobId, Landed, LaunchKind, MemoryData, MemoryRead, MemoryWrite, Staged, Verdict},
};
use crate::{
    pcie::packet::Payload,
    ports,
    sim::{Activity, Clock, Coverage, In, Meter, Now, Rx, Tx, Unit, Wake},
    units::Femtos,
};
use std::{cell::RefCell, rc::Rc};
use visible::Visible;

pub trait DeviceMemory {
    /// Verified or plain bytes of message or job `by` have landed; `payload` is empty in a run that carries none.
    fn store(&mut self, address: u64, bytes: u64, payload: &Payload, by: JobId);
    /// The bytes to be read, or an empty payload in a run that carries none.
    fn load(&mut self, address: u64, bytes: u32) -> Payload;
}

ports! {
    pub struct Ports {
        pub writes: Vec<Rx<MemoryWrite>>,
        pub reads: Vec<In<MemoryRead>>,
        pub data: Vec<Tx<MemoryData>>,
        pub verdicts: In<Verdict>,
        pub landed: Tx<Landed>,
        /// To the SMs, where they seal and open.
        pub staged: Option<Tx<Staged>>,
        pub memory: Rc<RefCell<dyn DeviceMemory>>,
    }
}

/// A message whose bytes wait for a verdict, or whose verdict waits for bytes.
#[derive(Debug, Default)]
struct Unverified {
    has_come: bool,
    /// Jobs that have landed, and how many there are; 0 until one of them writes.
    landed: (u32, u32),
    verdict: Option<bool>,
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    job: JobId,
    /// Which of the job's bytes have come.
    written: Coverage,
    deposit: Option<(u64, Payload)>,
}

impl Part {
    /// Hands on those of its bytes that have come.
    fn keep(&self, message: JobId, memory: &mut dyn DeviceMemory) {
        let Some((address, payload)) = &self.deposit else { return };
        for range in self.written.ranges() {
            let bytes = range.end - range.start;
            memory.store(address + range.start, bytes, &payload.part(range.start, bytes), message);
        }
    }
}

impl Unverified {
    fn has_landed(&self) -> bool {
        self.landed.1 > 0 && self.landed.0 >= self.landed.1
    }

    fn part(&mut self, job: JobId) -> &mut Part {
        let place = self.parts.iter().position(|part| part.job == job).unwrap_or_else(|| {
            self.parts.push(Part { job, written: Coverage::default(), deposit: None });
            self.parts.len() - 1
        });
        &mut self.parts[place]
    }
}

#[derive(Debug)]
pub struct Hbm {
    spec: HbmSpec,
    clock: Clock,
    /// Bytes of the last write, and the cycles that it took.
    usual: (u32, u64),
    write_free: u64,
    read_free: u64,
    write_meter: Meter,
    read_meter: Meter,
    unverified: Vec<(JobId, Unverified)>,
    /// Ciphertext for and from the SMs that has come so far.
    staged: Vec<(LaunchKind, JobId, Coverage)>,
    visible: Visible,
}

impl Hbm {
    pub fn new(spec: &HbmSpec, clock: Clock) -> Self {
        Self {
            spec: spec.clone(),
            clock,
            usual: (0, 0),
            write_free: 0,
            read_free: 0,
            write_meter: Meter::new("writes"),
            read_meter: Meter::new("reads"),
            unverified: Vec::new(),
            staged: Vec::new(),
            visible: Visible::default(),
        }
    }

    /// By failed message: what was visible at its verdict.
    pub fn failures(&self) -> &[Exposed] {
        self.visible.failures()
    }

    pub fn exposure(&self, end: Femtos) -> Exposure {
        self.visible.exposure(end)
    }

    /// Takes all writes that have come, in the order of their dates. What becomes of each follows from its date, not from when it is
    /// looked at.
    fn take_writes(&mut self, now: Now, ports: &mut Ports) {
        let mut turn = (0, Femtos(0));
        loop {
            // The oldest write of the wire whose turn it is, as long as none on another wire is older.
            if ports.writes[turn.0].front_date().is_none_or(|date| date >= turn.1) {
                match earliest(&ports.writes) {
                    Some(found) => turn = found,
                    None => return,
                }
            }
            let Some((date, write)) = ports.writes[turn.0].arrive_dated(now.time) else { return };
            let (service, came) = (self.service(write.bytes), self.clock.first_from(date));
            self.write_free = self.write_free.max(came).saturating_add(service);
            self.write_meter.book((came, came), self.write_free, Activity::Idle);
            match self.midst(&write) {
                Some(written) => {
                    written.add(write.offset, u64::from(write.bytes), write.job);
                    self.visible.wrote(write.message.0, self.date_of_visible(), write.bytes);
                }
                None => self.take_write(write, ports),
            }
        }
    }

    /// The coverage that an unverified write adds to, where that is all it does: one in the midst of its job.
    #[inline]
    fn midst(&mut self, write: &MemoryWrite) -> Option<&mut Coverage> {
        let (message, entry) = self.unverified.last_mut()?;
        let adds = write.unverified && !write.last && write.deposit.is_none();
        let part = entry.parts.last_mut().filter(|part| part.job == write.job && *message == write.message.0);
        part.filter(|_| adds && entry.verdict.is_none()).map(|part| &mut part.written)
    }

    fn take_write(&mut self, write: MemoryWrite, ports: &mut Ports) {
        if write.unverified {
            let visible = self.date_of_visible();
            self.hold(write, visible, ports);
        } else if let Some(kind) = write.staged {
            self.stage(&write, kind, ports);
        } else {
            if write.last {
                ports.landed.send(self.date_of_visible(), Landed { job: write.job });
            }
            if let Some((address, payload)) = &write.deposit {
                ports.memory.borrow_mut().store(*address, u64::from(write.bytes), payload, write.job);
            }
        }
    }

    /// Cycles that a write of so many bytes takes.
    #[inline]
    fn service(&mut self, bytes: u32) -> u64 {
        if self.usual.0 != bytes {
            self.usual = (bytes, self.spec.write_rate.cycles_for(u64::from(bytes)));
        }
        self.usual.1
    }

    /// Counts ciphertext; at the last write of a job the SMs are notified.
    fn stage(&mut self, write: &MemoryWrite, kind: LaunchKind, ports: &mut Ports) {
        let known = self.staged.iter().position(|&(of, job, _)| (of, job) == (kind, write.job));
        let place = known.unwrap_or_else(|| {
            self.staged.push((kind, write.job, Coverage::default()));
            self.staged.len() - 1
        });
        self.staged[place].2.add(write.offset, u64::from(write.bytes), write.job);
        if write.last {
            let (kind, job, written) = self.staged.swap_remove(place);
            let staged = Staged { job, kind, bytes: written.covered() };
            if let Some(wire) = &mut ports.staged {
                wire.send(self.clock.edge(self.write_free + self.spec.write_latency.0.max(1)), staged);
            }
        }
    }

    /// When what has been served last is visible.
    fn date_of_visible(&self) -> Femtos {
        self.clock.edge(self.write_free + self.spec.write_latency.0.max(1))
    }

    fn hold(&mut self, write: MemoryWrite, visible: Femtos, ports: &mut Ports) {
        if write.last {
            ports.landed.send(visible, Landed { job: write.job });
        }
        let (message, count) = write.message;
        let entry = self.entry(message);
        let unjudged = entry.verdict.is_none();
        let scrubbed = entry.verdict == Some(false) && !entry.has_come;
        entry.has_come = true;
        entry.landed = (entry.landed.0 + u32::from(write.last), count);
        let part = entry.part(write.job);
        part.written.add(write.offset, u64::from(write.bytes), write.job);
        if write.deposit.is_some() {
            part.deposit = write.deposit;
        }
        let settled = entry.has_landed() && entry.verdict.is_some();
        if scrubbed {
            self.visible.scrub();
        }
        if unjudged {
            self.visible.wrote(message, visible, write.bytes);
        }
        if settled {
            self.settle(message, &mut *ports.memory.borrow_mut());
        }
    }

    /// What is known of a message; the newest are asked for most.
    fn entry(&mut self, job: JobId) -> &mut Unverified {
        let place = self.unverified.iter().rposition(|(id, _)| *id == job).unwrap_or_else(|| {
            self.unverified.push((job, Unverified::default()));
            self.unverified.len() - 1
        });
        &mut self.unverified[place].1
    }

    fn judge(&mut self, verdict: Verdict, now: Now, memory: &mut dyn DeviceMemory) {
        self.visible.judged(verdict, now.time);
        let entry = self.entry(verdict.job);
        entry.verdict = Some(verdict.ok);
        let (has_come, landed) = (entry.has_come, entry.has_landed());
        if !verdict.ok {
            entry.parts.clear();
            if has_come {
                self.visible.scrub();
            }
        }
        if landed {
            self.settle(verdict.job, memory);
        }
    }

    /// Keeps or forgets a message that has landed and whose verdict is known.
    fn settle(&mut self, job: JobId, memory: &mut dyn DeviceMemory) {
        let Some(place) = self.unverified.iter().position(|(id, _)| *id == job) else { return };
        let (_, entry) = self.unverified.remove(place);
        if entry.verdict == Some(true) {
            entry.parts.iter().for_each(|part| part.keep(job, memory));
        }
    }

    fn take_reads(&mut self, now: Now, ports: &mut Ports) {
        for (queue, wire) in ports.reads.iter_mut().zip(&mut ports.data) {
            while let Some(read) = queue.pop(now.time) {
                let service = self.spec.read_rate.cycles_for(u64::from(read.bytes));
                self.read_free = self.read_free.max(now.cycle).saturating_add(service);
                self.read_meter.book((now.cycle, now.cycle), self.read_free, Activity::Idle);
                let date = self.clock.edge(self.read_free + self.spec.read_latency.0.max(1));
                let payload = ports.memory.borrow_mut().load(read.address, read.bytes);
                let data = MemoryData { address: read.address, bytes: read.bytes, payload };
                wire.send(date, data);
            }
        }
    }
}

/// The wire whose oldest write comes first, and the date before which it stays so.
#[inline]
fn earliest(wires: &[Rx<MemoryWrite>]) -> Option<(usize, Femtos)> {
    let (mut first, mut second) = ((Femtos::MAX, None), Femtos::MAX);
    for (place, wire) in wires.iter().enumerate() {
        let date = wire.front_date().unwrap_or(Femtos::MAX);
        if date < first.0 {
            (first, second) = ((date, Some(place)), first.0);
        } else {
            second = second.min(date);
        }
    }
    // At the same date the wire that comes first in order goes first; a date later, it is another's turn.
    first.1.map(|place| (place, second.max(Femtos(first.0.0 + 1))))
}

impl Unit for Hbm {
    type Ports = Ports;

    fn tick(&mut self, now: Now, ports: &mut Ports) -> Wake {
        self.take_writes(now, ports);
        self.take_reads(now, ports);
        while let Some(verdict) = ports.verdicts.pop(now.time) {
            self.judge(verdict, now, &mut *ports.memory.borrow_mut());
        }
        self.visible.reach(now.time);
        let arrival = ports.writes.iter().filter_map(Rx::next_arrival).min();
        let arrival = arrival.map_or(Wake::NEVER, |date| self.clock.first_from(date));
        Wake::at_or_port(arrival, Activity::Idle)
    }

    fn catch_up(&mut self, now: Now, ports: &mut Ports) {
        self.take_writes(now, ports);
    }

    fn meters(&self) -> Vec<&Meter> {
        vec![&self.write_meter, &self.read_meter]
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, u64)) {
        let (messages, bytes) = self.visible.now();
        show("exposed", messages);
        show("exposed_bytes", bytes);
    }

    fn next_gauge(&self) -> Option<u64> {
        self.visible.next().map(|date| self.clock.first_from(date))
    }

    fn is_only_parts(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
