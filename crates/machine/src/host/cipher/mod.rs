//! The CPU's cipher: threads that seal and open messages, seal anew what a user has sealed, or copy where the CPU does neither.
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
//! | latency | a job taken at cycle t is done at t + `per_message` + bytes / rate + what memory and a CRC of the text add; copies cost no `per_message`; what is opened and sealed anew costs both; at least 1 |
//! | helpers | threads that seal ahead, and those that open after a call, are units of this kind next to it, with jobs of their own |
//! | memory | what is not in the L2, not in the last-level cache, never touched: see [`MemorySpec`](super::spec::MemorySpec); a small copy passes over its bytes twice |
//! | bytes | are handled once, at the end of the job; so is what a user does, which takes no simulated time |
//! | order | jobs that end in the same cycle are reported in the order in which they began |
//! | back pressure | a job that cannot be reported keeps its thread |

mod bytes;
use super::{
    error::HostError,
    memory::{HostState, Touch},
    spec::{CipherSpec, CipherWork, DriverSpec, SmallSpec},
    work::{CipherDone, CipherJob, Cryptor, JobKind, Sealing},
};
use crate::units::{Fixed, fixed};
use crate::{
    ports,
    sim::{Activity, In, Now, Out, Unit, Wake},
    units::{BytesPerCycle, Femtos},
};
use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

/// A line of the caches, and a page.
const LINE: u64 = 64;
/// See [`LINE`].
const PAGE: u64 = 4096;

/// What of the cipher no configuration changes.
pub const FIXED: &[Fixed] = fixed! {
    "memory.line" LINE, "B", "a cache line of x86";
    "memory.page" PAGE, "B", "a page of x86, and of staging";
};

ports! {
    pub struct CipherPorts {
        pub jobs: In<CipherJob>,
        pub done: Out<CipherDone>,
        pub memory: Rc<RefCell<HostState>>,
    }
}

#[derive(Debug)]
struct Running {
    job: CipherJob,
    end: u64,
    /// What came of it, once its end has come.
    done: Option<CipherDone>,
    /// Of a seal job with bytes: the message.
    sealing: Option<Sealing>,
}

pub struct Cipher {
    spec: CipherSpec,
    copy_rate: BytesPerCycle,
    small: SmallSpec,
    cryptor: Option<Box<dyn Cryptor>>,
    /// In the order in which they began.
    running: Vec<Running>,
    scratch: Vec<u8>,
    thread_cycles: u64,
    /// By copy: when the first message was found good here.
    first_verified: BTreeMap<usize, Femtos>,
}

impl Cipher {
    /// A cipher that copies as `driver` says; `cryptor` is needed where a run with data seals or opens.
    pub fn new(spec: &CipherSpec, driver: &DriverSpec, cryptor: Option<Box<dyn Cryptor>>) -> Result<Self, HostError> {
        if spec.threads == 0 {
            return Err(HostError::NoThreads);
        }
        HostError::check_rate("the cipher's sealing rate", spec.seal_rate.0)?;
        HostError::check_rate("the cipher's opening rate", spec.open_rate.0)?;
        spec.text_crc.map_or(Ok(()), |rate| HostError::check_rate("the rate of a CRC of the text", rate.0))?;
        let copy_rate = driver.pageable_copy_rate;
        HostError::check_rate("the copy rate of pageable memory", copy_rate.0)?;
        HostError::check_rate("the rate of small copies", driver.small.rate.0)?;
        HostError::check_cost("a cold line of a small copy", driver.small.secure_cold_line)?;
        HostError::check_rate("the rate of small copies that are in no cache", driver.small.secure_cold_rate.0)?;
        for cost in [Some(spec.per_message), spec.call, spec.call_long].into_iter().flatten() {
            HostError::check_cost("a cost per message", cost)?;
        }
        let spec = spec.clone();
        let small = driver.small.clone();
        Ok(Self {
            spec,
            copy_rate,
            small,
            cryptor,
            running: Vec::new(),
            scratch: Vec::new(),
            thread_cycles: 0,
            first_verified: BTreeMap::new(),
        })
    }

    /// Cycles that a job takes on its thread, given what memory adds.
    fn cost(&self, job: &CipherJob, touch: Touch) -> u64 {
        let CipherSpec { seal_rate, open_rate, text_crc, .. } = &self.spec;
        let fixed = self.spec.fixed(job.bytes).saturating_add(text_crc.map_or(0, |rate| rate.cycles_for(job.bytes)));
        let seal = || fixed.saturating_add(seal_rate.cycles_for(job.bytes));
        let open = || fixed.saturating_add(open_rate.cycles_for(job.bytes));
        let (work, secure) = match job.kind {
            JobKind::Seal | JobKind::SealAhead | JobKind::SealUnused => (seal(), true),
            JobKind::Open | JobKind::OpenAfter => (open(), true),
            JobKind::ResealIn | JobKind::ResealOut => (open().saturating_add(seal()), true),
            JobKind::ForwardIn | JobKind::ForwardOut if self.spec.work == CipherWork::InPlace => return 1,
            JobKind::CopyIn | JobKind::CopyOut | JobKind::ForwardIn | JobKind::ForwardOut | JobKind::Place => {
                (self.copy_rate.cycles_for(job.bytes), false)
            }
        };
        let extra = if job.small { self.second_pass(job.bytes, if secure { touch.cold } else { 0 }) } else { 0 };
        let memory = (touch.millicycles / 1_000) as u64;
        work.saturating_add(extra).saturating_add(memory).max(1)
    }

    fn second_pass(&self, bytes: u64, cold: u64) -> u64 {
        let first = cold.min(PAGE);
        let lines = first.div_ceil(LINE).saturating_mul(self.small.secure_cold_line.0);
        let rest = self.small.secure_cold_rate.cycles_for(cold - first);
        self.small.rate.cycles_for(bytes).saturating_add(lines).saturating_add(rest)
    }

    /// Cycles of work that the threads have begun, summed over them.
    pub const fn thread_cycles(&self) -> u64 {
        self.thread_cycles
    }

    /// When the first message of a copy was found good by the CPU, or by the user beyond it, from the GPU.
    pub fn first_verified(&self, copy: usize) -> Option<Femtos> {
        self.first_verified.get(&copy).copied()
    }

    /// Handles the bytes of the jobs that end now and reports those for which there is room.
    fn finish(&mut self, now: Now, ports: &mut CipherPorts) {
        let (mut place, mut blocked) = (0, false);
        while let Some(Running { end, done, .. }) = self.running.get(place) {
            if *end > now.cycle {
                place += 1;
                continue;
            }
            let done = match done {
                Some(done) => done.clone(),
                None => self.work(place, now.time, &mut ports.memory.borrow_mut()),
            };
            blocked = blocked || !ports.done.has_room(now.time);
            if blocked {
                self.running[place].done = Some(done);
                place += 1;
            } else {
                self.running.remove(place);
                ports.done.push(now.time, done);
            }
        }
    }

    fn work(&mut self, place: usize, time: Femtos, memory: &mut HostState) -> CipherDone {
        let job = self.running[place].job.clone();
        let (ok, by) = self.handle(place, &job, time, memory);
        if ok && job.kind.judges_what_comes_out() {
            self.first_verified.entry(job.copy).or_insert(time);
        }
        CipherDone { id: job.id, ok, by }
    }
}

impl Unit for Cipher {
    type Ports = CipherPorts;

    fn tick(&mut self, now: Now, ports: &mut CipherPorts) -> Wake {
        self.finish(now, ports);
        let threads = self.spec.threads as usize;
        if self.running.len() < threads
            && let Some(job) = ports.jobs.pop(now.time)
        {
            let touch = ports.memory.borrow_mut().touch(&job);
            let cost = self.cost(&job, touch);
            self.thread_cycles = self.thread_cycles.saturating_add(cost);
            let sealing = self.begin(&job, &mut ports.memory.borrow_mut());
            self.running.push(Running { job, end: now.cycle.saturating_add(cost), done: None, sealing });
        }
        let ends = self.running.iter().filter(|r| r.done.is_none()).map(|r| r.end).min().unwrap_or(Wake::NEVER);
        let more = self.running.len() < threads && !ports.jobs.is_empty(now.time);
        let at = if more { now.cycle + 1 } else { ends };
        Wake::at_or_port(at, if self.running.is_empty() { Activity::Idle } else { Activity::Busy })
    }
}
