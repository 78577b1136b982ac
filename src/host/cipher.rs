//! The CPU's cipher: threads that seal and open messages, or copy them where nothing is sealed.
//!
//! ```text
//!           +-------------------+
//!  jobs In >|  thread 0 .. n-1  |> done Out
//!           +---------+---------+
//!                     | HostState: staging, private memory
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts per cycle | one job, in order, while a thread is free |
//! | latency | a job taken at cycle t is done at t + `per_message` + bytes / rate + what memory adds; copies cost no `per_message`; at least 1 |
//! | memory | what is not in the L2, not in the last-level cache, never touched: see [`MemorySpec`](super::spec::MemorySpec); a small copy passes over its bytes twice |
//! | bytes | are handled once, at the end of the job |
//! | order | jobs that end in the same cycle are reported in the order in which they began |
//! | back pressure | a job that cannot be reported keeps its thread |

use super::{
    error::HostError,
    memory::{HostState, Touch},
    spec::{CipherSpec, DriverSpec, SmallSpec},
    staging::SlotId,
};
use crate::{
    gcm::pseudo::pseudo_tags,
    sim::{Activity, FaultKind, In, Item, Now, Out, Wake},
    units::BytesPerCycle,
};

/// A line of the caches, and a page.
const LINE: u64 = 64;
/// See [`LINE`].
const PAGE: u64 = 4096;

/// AES-GCM without AAD over the bytes of one message, under the keys of the channel.
pub trait Cryptor {
    /// Seals `text` in place under the key towards the GPU; gives the tag, or all tags of its chains.
    fn seal(&mut self, nonce: [u8; 12], text: &mut [u8]) -> Vec<u8>;

    /// Begins to seal `text`, perhaps beside the simulation.
    fn begin_seal(&mut self, nonce: [u8; 12], mut text: Vec<u8>) -> Sealing {
        let tag = self.seal(nonce, &mut text);
        Sealing(Box::new(move || (text, tag)))
    }

    /// Opens `text` in place under the key from the GPU; gives the tag that it should have come with.
    fn compute_open(&mut self, nonce: [u8; 12], text: &mut [u8]) -> Vec<u8>;
}

/// A message that is being sealed; it gives ciphertext and tag.
pub struct Sealing(pub Box<dyn FnOnce() -> (Vec<u8>, Vec<u8>)>);

impl std::fmt::Debug for Sealing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sealing")
    }
}

/// What a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    /// Seals a message from private memory into staging.
    Seal,
    /// Opens a message from staging into private memory, if its tag is right.
    Open,
    /// Copies a message into staging.
    CopyIn,
    /// Copies a message out of staging.
    CopyOut,
}

/// A message for a thread.
#[derive(Debug, Clone)]
pub struct CipherJob {
    /// Number of the job.
    pub id: u64,
    /// What to do.
    pub kind: JobKind,
    /// The staging slot.
    pub slot: SlotId,
    /// The copy whose private memory is at the other end.
    pub copy: usize,
    /// First byte there.
    pub offset: u64,
    /// Length.
    pub bytes: u64,
    /// Whether its bytes take the second pass of a small copy.
    pub small: bool,
    /// Nonce, where the job seals or opens.
    pub nonce: [u8; 12],
}

/// A job that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CipherDone {
    /// Number of the job.
    pub id: u64,
    /// Whether the message is where it should be: false for a wrong tag.
    pub ok: bool,
}

impl Item for CipherJob {
    const FAULTS: &'static [FaultKind] = &[];

    fn word(&self) -> u64 {
        self.id ^ self.bytes << 24 ^ u64::from(self.slot.0) << 40 ^ (self.kind as u64) << 62
    }
}

impl Item for CipherDone {
    const FAULTS: &'static [FaultKind] = &[];

    fn word(&self) -> u64 {
        self.id << 1 | u64::from(self.ok)
    }
}

/// Ports of the cipher.
pub struct CipherPorts<'a> {
    /// Jobs from the driver.
    pub jobs: In<'a, CipherJob>,
    /// Ended jobs to the driver.
    pub done: Out<'a, CipherDone>,
    /// Memory.
    pub memory: &'a mut HostState,
}

/// A job on its thread.
#[derive(Debug)]
struct Running {
    job: CipherJob,
    end: u64,
    /// Its verdict, once its end has come.
    ok: Option<bool>,
    /// Of a seal job with bytes: the message.
    sealing: Option<Sealing>,
}

/// The cipher.
pub struct Cipher {
    spec: CipherSpec,
    copy_rate: BytesPerCycle,
    small: SmallSpec,
    cryptor: Option<Box<dyn Cryptor>>,
    /// In the order in which they began.
    running: Vec<Running>,
    scratch: Vec<u8>,
    thread_cycles: u64,
}

impl Cipher {
    /// A cipher that copies as `driver` says; `cryptor` is needed where a run with data seals or opens.
    ///
    /// # Errors
    /// If it could never end a job.
    pub fn new(spec: &CipherSpec, driver: &DriverSpec, cryptor: Option<Box<dyn Cryptor>>) -> Result<Self, HostError> {
        if spec.threads == 0 {
            return Err(HostError::NoThreads);
        }
        HostError::check_rate("the cipher's sealing rate", spec.seal_rate.0)?;
        HostError::check_rate("the cipher's opening rate", spec.open_rate.0)?;
        let copy_rate = driver.pageable_copy_rate;
        HostError::check_rate("the copy rate of pageable memory", copy_rate.0)?;
        HostError::check_rate("the rate of small copies", driver.small.rate.0)?;
        HostError::check_cost("a cold line of a small copy", driver.small.secure_cold_line)?;
        HostError::check_rate("the rate of small copies that are in no cache", driver.small.secure_cold_rate.0)?;
        HostError::check_cost("a cost per message", spec.per_message)?;
        let spec = spec.clone();
        let small = driver.small.clone();
        Ok(Self { spec, copy_rate, small, cryptor, running: Vec::new(), scratch: Vec::new(), thread_cycles: 0 })
    }

    /// Cycles that a job takes on its thread, given what memory adds.
    fn cost(&self, job: &CipherJob, touch: Touch) -> u64 {
        let (fixed, rate, secure) = match job.kind {
            JobKind::Seal => (self.spec.per_message.0, self.spec.seal_rate, true),
            JobKind::Open => (self.spec.per_message.0, self.spec.open_rate, true),
            JobKind::CopyIn | JobKind::CopyOut => (0, self.copy_rate, false),
        };
        let extra = if job.small { self.second_pass(job.bytes, if secure { touch.cold } else { 0 }) } else { 0 };
        let memory = (touch.millicycles / 1_000) as u64;
        fixed.saturating_add(rate.cycles_for(job.bytes)).saturating_add(extra).saturating_add(memory).max(1)
    }

    fn second_pass(&self, bytes: u64, cold: u64) -> u64 {
        let first = cold.min(PAGE);
        let lines = first.div_ceil(LINE).saturating_mul(self.small.secure_cold_line.0);
        let rest = self.small.secure_cold_rate.cycles_for(cold - first);
        self.small.rate.cycles_for(bytes).saturating_add(lines).saturating_add(rest)
    }

    /// Cycles of work that the threads have begun, summed over them.
    #[must_use]
    pub const fn thread_cycles(&self) -> u64 {
        self.thread_cycles
    }

    /// Advances by one edge.
    pub fn tick(&mut self, now: Now, mut ports: CipherPorts<'_>) -> Wake {
        self.finish(now.cycle, &mut ports);
        let threads = self.spec.threads as usize;
        if self.running.len() < threads
            && let Some(job) = ports.jobs.pop()
        {
            let touch = ports.memory.touch(&job);
            let cost = self.cost(&job, touch);
            self.thread_cycles = self.thread_cycles.saturating_add(cost);
            let sealing = self.begin(&job, ports.memory);
            self.running.push(Running { job, end: now.cycle.saturating_add(cost), ok: None, sealing });
        }
        let ends = self.running.iter().filter(|r| r.ok.is_none()).map(|r| r.end).min().unwrap_or(Wake::NEVER);
        let more = self.running.len() < threads && !ports.jobs.is_empty();
        let at = if more { now.cycle + 1 } else { ends };
        Wake::at_or_port(at, if self.running.is_empty() { Activity::Idle } else { Activity::Busy })
    }

    /// Handles the bytes of the jobs that end now and reports those for which there is room.
    fn finish(&mut self, cycle: u64, ports: &mut CipherPorts<'_>) {
        let (mut place, mut blocked) = (0, false);
        while let Some(Running { end, ok, .. }) = self.running.get(place) {
            if *end > cycle {
                place += 1;
                continue;
            }
            let ok = match *ok {
                Some(ok) => ok,
                None => self.work(place, ports.memory),
            };
            blocked = blocked || !ports.done.has_room();
            if blocked {
                self.running[place].ok = Some(ok);
                place += 1;
            } else {
                ports.done.push(CipherDone { id: self.running.remove(place).job.id, ok });
            }
        }
    }

    fn work(&mut self, place: usize, memory: &mut HostState) -> bool {
        let job = self.running[place].job.clone();
        match job.kind {
            JobKind::Seal => self.seal(place, memory),
            JobKind::Open => self.open(&job, memory),
            JobKind::CopyIn => memory.fill(job.slot, job.copy, job.offset).is_some() || !memory.exact(),
            JobKind::CopyOut => {
                let Some(slot) = memory.slot(job.slot) else { return false };
                let (data, spoiled) = (slot.data.clone(), slot.spoiled());
                if !memory.exact() {
                    memory.note_arrival(job.copy, job.offset, job.bytes, spoiled);
                }
                memory.store(job.copy, job.offset, &data)
            }
        }
    }

    /// Loads the bytes of a seal job. They are sealed while the job takes its cycles, and nobody sees them before its end.
    fn begin(&mut self, job: &CipherJob, memory: &mut HostState) -> Option<Sealing> {
        if job.kind != JobKind::Seal || !memory.exact() {
            return None;
        }
        let text = memory.load(job.copy, job.offset, job.bytes)?;
        self.cryptor.as_mut().map(|cryptor| cryptor.begin_seal(job.nonce, text))
    }

    fn seal(&mut self, place: usize, memory: &mut HostState) -> bool {
        let running = &mut self.running[place];
        let (slot, nonce, bytes) = (running.job.slot, running.job.nonce, running.job.bytes);
        let tag = match (memory.exact(), running.sealing.take()) {
            (false, _) => {
                memory.put_text(slot, None);
                pseudo_tags(nonce, bytes, false, memory.tags())
            }
            (true, Some(sealing)) => {
                let (text, tag) = sealing.0();
                memory.put_text(slot, Some(text));
                tag
            }
            (true, None) if self.cryptor.is_none() => return refuse(memory),
            (true, None) => return false,
        };
        memory.put_sealed(slot, tag);
        true
    }

    fn open(&mut self, job: &CipherJob, memory: &mut HostState) -> bool {
        let exact = memory.exact();
        let Some(slot) = memory.slot(job.slot) else { return false };
        let came = slot.tag.clone();
        let computed = match (exact, &mut self.cryptor) {
            (false, _) => pseudo_tags(job.nonce, job.bytes, slot.spoiled(), memory.tags()),
            (true, Some(cryptor)) => {
                // Plaintext must not lie in shared memory, not even for the length of a job.
                self.scratch.clear();
                self.scratch.extend_from_slice(&slot.data);
                cryptor.compute_open(job.nonce, &mut self.scratch)
            }
            (true, None) => return refuse(memory),
        };
        if computed == came && !exact {
            memory.note_arrival(job.copy, job.offset, job.bytes, false);
        }
        computed == came && (!exact || memory.store(job.copy, job.offset, &self.scratch))
    }
}

/// A run with data was built without what seals them.
fn refuse(memory: &mut HostState) -> bool {
    memory.fail("the cipher has no keys".into());
    false
}
