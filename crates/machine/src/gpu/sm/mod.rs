//! AES-GCM on the GPU's SMs, as kernels over messages in device memory.
//!
//! ```text
//!                    +-----------------------------------+
//!  jobs[] wire      ~|  ready -> launch -> kernel        |~ tags wire (tag queue)
//!  staged wire      ~|              |  ^                 |~ sealed[] wire (PCEs)
//!                    +--------------|--|-----------------+
//!                             reads v  ~ data     ~ writes
//!                                  device memory
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts | messages as they come: to be opened once their ciphertext is visible in device memory, to be sealed at once |
//! | latency | ready to start: the launch of a kernel, during which the kernel before may run; then the kernel's, by [`timing`] |
//! | order | one kernel at a time, on all SMs that are used; of several that may start, the one that is ready for longest |
//! | reads | the whole message from the start on, in pieces; a kernel ends no sooner than the cycle after its last piece has come |
//! | writes | text, in pieces spread evenly over the kernel's steps; tag and verdict at its end |
//! | stalls | `submission` while a launch is in progress, `hbm_busy`, `read_data` |
//!
//! Three forms of one kernel, tied together by tests: [`kernel`] with every instruction and byte, [`processor`] the cycles of an SM that runs
//! such instructions, [`timing`] the cycles by length, which a machine uses together with the bytes of [`bulk`](crate::gcm::bulk).

pub mod aes;
pub mod ghash;
pub mod kernel;
mod message;
pub mod processor;
pub mod spec;
#[cfg(test)]
mod tests;
pub mod timing;
pub mod warp;

use super::{
    pce::Keys,
    work::{LaunchKind, MemoryData, MemoryRead, MemoryWrite, Sealed, SmJob, Staged, TagReport},
};
use crate::{
    gcm::worker::Worker,
    pcie::packet::Payload,
    ports,
    sim::{Activity, Clock, Now, Out, Rx, Stall, Tx, Unit, Wake},
};
use message::{SmMessage, Text};
use spec::SmSpec;
use std::{rc::Rc, sync::Arc};
use timing::{KernelTiming, Span};

/// Bytes that a kernel asks device memory for, or hands to it, at once.
const PIECE: u64 = 32 << 10;

ports! {
    pub struct Ports {
        /// Messages, by PCE.
        pub jobs: Vec<Rx<SmJob>>,
        /// From device memory: ciphertext has become visible there.
        pub staged: Rx<Staged>,
        pub reads: Out<MemoryRead>,
        pub data: Rx<MemoryData>,
        pub writes: Tx<MemoryWrite>,
        pub reports: Tx<TagReport>,
        /// What has been sealed, by PCE.
        pub sealed: Vec<Tx<Sealed>>,
    }
}

#[derive(Debug)]
struct Running {
    message: SmMessage,
    start: u64,
    span: Span,
    asked: u64,
    arrived: u64,
    /// When it ends, once all its data have come.
    end: Option<u64>,
}

/// The SMs that seal and open.
#[derive(Debug)]
pub struct Sm {
    clock: Clock,
    /// Cycles from a message that is ready to the start of its kernel.
    launch: u64,
    timing: KernelTiming,
    keys: Option<Arc<Keys>>,
    worker: Rc<Worker>,
    waiting: Vec<SmMessage>,
    running: Option<Running>,
    /// What has been sealed and is not yet visible in device memory.
    written: Vec<(SmJob, usize, Payload, Vec<u8>)>,
    incidents: Vec<String>,
}

impl Sm {
    /// SMs on `clock`, whose kernels start `launch` cycles after they are ready. Without `keys` they carry no bytes; with them, `worker` opens. None if
    /// there are no keys of `key_bits`.
    pub fn new(
        spec: &SmSpec,
        key_bits: u32,
        launch: u64,
        keys: Option<Arc<Keys>>,
        worker: Rc<Worker>,
        clock: Clock,
    ) -> Option<Self> {
        Some(Self {
            clock,
            launch,
            timing: KernelTiming::new(spec, key_bits)?,
            keys,
            worker,
            waiting: Vec::new(),
            running: None,
            written: Vec::new(),
            incidents: Vec::new(),
        })
    }

    fn take_jobs(&mut self, now: Now, ports: &mut Ports) {
        for (place, wire) in ports.jobs.iter_mut().enumerate() {
            while let Some(job) = wire.arrive(now.time) {
                if self.waiting.iter().any(|message| message.job.is(job.kind, job.id)) {
                    self.incidents.push(format!("message {} came to the SMs twice", job.id));
                    continue;
                }
                let ready = (job.kind == LaunchKind::Seal).then_some(now.cycle + self.launch);
                let text = Text::begin(self.keys.as_ref(), &self.worker, &job);
                self.waiting.push(SmMessage { job, place, ready, whole: true, text });
            }
        }
    }

    fn take_staged(&mut self, now: Now, ports: &mut Ports) {
        while let Some(staged) = ports.staged.arrive(now.time) {
            if staged.kind == LaunchKind::Seal {
                let Some(place) = self.written.iter().position(|(job, ..)| job.id == staged.job) else { continue };
                let (job, pce, text, tag) = self.written.remove(place);
                let sealed = Sealed { job: job.id, whole: staged.bytes == job.bytes, text, tag };
                ports.sealed[pce].send(self.clock.edge(now.cycle + 1), sealed);
                continue;
            }
            let message = self.waiting.iter_mut().find(|message| message.job.is(staged.kind, staged.job));
            if let Some(message) = message.filter(|message| message.ready.is_none()) {
                message.ready = Some(now.cycle + self.launch);
                message.whole = staged.bytes == message.job.bytes;
            }
        }
    }

    fn take_data(&mut self, now: Now, ports: &mut Ports) {
        while let Some(data) = ports.data.arrive(now.time) {
            let awaited = self.running.as_mut().filter(|running| {
                data.address == running.message.job.source + running.arrived && running.arrived < running.asked
            });
            let Some(running) = awaited else {
                self.incidents
                    .push(format!("data from {:#x} came to the SMs out of turn and were dropped", data.address));
                continue;
            };
            running.arrived += u64::from(data.bytes);
            running.message.text.take(&data.payload);
        }
    }

    /// Starts the kernel of the message that is ready for longest.
    fn start(&mut self, cycle: u64) {
        if self.running.is_some() {
            return;
        }
        let ready = |message: &SmMessage| message.ready.filter(|&ready| ready <= cycle);
        let first = self.waiting.iter().enumerate().filter_map(|(place, message)| Some((ready(message)?, place))).min();
        if let Some((_, place)) = first {
            let message = self.waiting.remove(place);
            let span = self.timing.span(message.job.bytes, message.direction());
            self.running = Some(Running { message, start: cycle, span, asked: 0, arrived: 0, end: None });
        }
    }

    /// Asks device memory for the text.
    fn ask(&mut self, now: Now, ports: &mut Ports) {
        let Some(running) = &mut self.running else { return };
        let job = &running.message.job;
        while running.asked < job.bytes && ports.reads.has_room(now.time) {
            let bytes = PIECE.min(job.bytes - running.asked);
            ports.reads.push(now.time, MemoryRead { address: job.source + running.asked, bytes: bytes as u32 });
            running.asked += bytes;
        }
    }

    /// Once all data have come: text, tag, and when they are valid.
    fn finish(&mut self, now: Now, ports: &mut Ports) {
        let Some(running) = self.running.as_mut() else { return };
        let bytes = running.message.job.bytes;
        if running.end.is_some() || running.arrived < bytes {
            return;
        }
        let span = running.span;
        let after = now.cycle + 1;
        let end = after.max(running.start + span.total);
        running.end = Some(end);
        let (text, tag) = running.message.finish();
        let job = running.message.job.clone();
        let open = job.kind == LaunchKind::Open;
        let pieces = bytes.div_ceil(PIECE).max(1);
        for piece in 0..pieces {
            let last = piece + 1 == pieces;
            let produced = after.max(running.start + span.text * (piece + 1) / pieces);
            let write = MemoryWrite {
                job: job.id,
                message: (job.id, 1),
                unverified: open,
                staged: (!open).then_some(LaunchKind::Seal),
                offset: piece * PIECE,
                bytes: PIECE.min(bytes - piece * PIECE) as u32,
                last,
                deposit: (open && last).then(|| (job.destination, text.clone())),
            };
            // What is sealed is complete with its tag.
            let date = self.clock.edge(if last && !open { end } else { produced });
            match last {
                true => ports.writes.send(date, write),
                false => ports.writes.send_deferrable(date, write),
            }
        }
        if open {
            let tag = Some(tag).filter(|_| running.message.whole);
            let report = TagReport { job: job.id, part: 0, computed: true, tag };
            ports.reports.send(self.clock.edge(end), report);
        } else {
            self.written.push((job, running.message.place, text, tag));
        }
    }

    fn wake(&self, now: Now, ports: &Ports) -> Wake {
        let arrivals = ports.jobs.iter().filter_map(Rx::next_arrival).chain(ports.staged.next_arrival());
        let arrival = arrivals.chain(ports.data.next_arrival()).min();
        let arrival = arrival.map_or(Wake::NEVER, |date| self.clock.first_from(date));
        let launched = self.waiting.iter().filter_map(|message| message.ready).min();
        match &self.running {
            Some(running) => {
                let stall = if running.asked < running.message.job.bytes { Stall::HbmBusy } else { Stall::ReadData };
                match running.end {
                    Some(end) => Wake::at_or_port(arrival.min(end), Activity::Busy),
                    None => {
                        let busy = running.start + running.span.total;
                        Wake::at_or_port(arrival, Activity::Stall(stall)).busy_until(busy)
                    }
                }
            }
            None if launched.is_some() => {
                let at = launched.unwrap_or(Wake::NEVER).max(now.cycle + 1);
                Wake::at_or_port(arrival.min(at), Activity::Stall(Stall::Submission))
            }
            None if !self.waiting.is_empty() => Wake::at_or_port(arrival, Activity::Stall(Stall::HbmBusy)),
            None => Wake::at_or_port(arrival, Activity::Idle),
        }
    }
}

impl Unit for Sm {
    type Ports = Ports;

    fn tick(&mut self, now: Now, ports: &mut Ports) -> Wake {
        self.take_jobs(now, ports);
        self.take_staged(now, ports);
        self.take_data(now, ports);
        if self.running.as_ref().is_some_and(|running| running.end.is_some_and(|end| end <= now.cycle)) {
            self.running = None;
        }
        self.start(now.cycle);
        self.ask(now, ports);
        self.finish(now, ports);
        self.wake(now, ports)
    }

    fn incidents(&self) -> Vec<String> {
        self.incidents.clone()
    }
}
