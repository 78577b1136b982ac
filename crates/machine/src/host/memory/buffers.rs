//! What the caches and page tables know of the copies' buffers, and what a pass over them costs the core.
//!
//! Threads that seal ahead or open after a call run on other cores. What they work on is taken to be in no cache, and they leave the
//! caches of the caller's core as they are.

use super::super::{
    caches::Caches,
    spec::MemorySpec,
    work::{CipherJob, CopyPlan, JobKind, Memory, Pages},
};
use std::collections::{HashMap, HashSet};

const PAGE: u64 = 4096;
const HUGE_PAGE: u64 = 2 << 20;

/// A copy's end on the host.
#[derive(Debug, Clone, Copy)]
struct End {
    buffer: u32,
    memory: Memory,
}

#[derive(Debug)]
pub(in crate::host) struct Buffers {
    spec: MemorySpec,
    caches: Caches,
    ends: Vec<End>,
    fresh: HashMap<u32, Fresh>,
}

/// A buffer that began fresh.
#[derive(Debug)]
struct Fresh {
    /// How far it has been touched.
    reached: u64,
    /// Huge pages that it lies in; a rest at its end shares one with what lies behind it. 0 if it lies in small pages.
    huge_pages: u64,
}

/// What a job is the first to touch.
#[derive(Debug, Clone, Copy, Default)]
struct Faults {
    /// Bytes in whole pages, of whatever size.
    bytes: u64,
    millicycles: u128,
}

/// What the core spends on a pass in addition to its work on bytes in the L2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::host) struct Touch {
    /// Thousandths of a cycle.
    pub millicycles: u128,
    /// Bytes that were in no cache.
    pub cold: u64,
}

/// Thousandths of a cycle that bytes take at a rate.
fn cost(bytes: u64, rate: u64) -> u128 {
    u128::from(bytes) * 1_000_000 / u128::from(rate.max(1))
}

impl Buffers {
    pub fn new(spec: &MemorySpec) -> Self {
        Self { spec: spec.clone(), caches: Caches::new(spec), ends: Vec::new(), fresh: HashMap::new() }
    }

    /// Learns what the copies' buffers are. The first copy of a buffer says in what state it is.
    pub fn describe(&mut self, plans: &[CopyPlan], pool: u64) {
        let mut known = HashSet::new();
        let mut longest: HashMap<u32, u64> = HashMap::new();
        for plan in plans {
            let bytes = longest.entry(plan.buffer).or_default();
            *bytes = plan.buffer_bytes.max(plan.bytes).0.max(*bytes);
        }
        for plan in plans {
            self.ends.push(End { buffer: plan.buffer, memory: plan.memory });
            if !known.insert(plan.buffer) {
                continue;
            }
            match plan.pages {
                Pages::Warm => self.caches.warm(plan.buffer, plan.buffer_bytes.max(plan.bytes).0, pool),
                Pages::Cold => {}
                Pages::Fresh => {
                    let pageable = plan.memory == Memory::Pageable;
                    let huge_pages = if pageable { longest[&plan.buffer] / HUGE_PAGE } else { 0 };
                    self.fresh.insert(plan.buffer, Fresh { reached: 0, huge_pages });
                }
            }
        }
    }

    /// Drives buffers out of the caches by writing `bytes` of other memory.
    pub fn flush(&mut self, bytes: u64) {
        self.caches.flush(bytes);
    }

    /// A job passes over private memory and over staging from offset `staging` on: what that costs the core.
    pub fn touch(&mut self, job: &CipherJob, staging: u64) -> Touch {
        let Some(&End { buffer, memory }) = self.ends.get(job.copy) else { return Touch::default() };
        if let Some(touch) = self.touch_elsewhere(job, buffer, memory, staging) {
            return touch;
        }
        let missed = self.caches.private(buffer, job.offset, job.bytes);
        self.caches.staging(staging, job.bytes);
        let (llc, dram) = (self.spec.llc_rate.0, self.spec.dram_rate.0);
        match job.kind {
            // What is opened and sealed anew stays in the L2 in between, as far as it fits there.
            JobKind::Seal | JobKind::ResealIn => {
                Touch { millicycles: cost(missed.l2, llc) + cost(missed.llc, dram), cold: missed.llc }
            }
            // What the GPU has written lies in the last-level cache, and so does a fresh page. A line that is in no cache may have to come before it is written.
            JobKind::Open | JobKind::ResealOut => {
                let faults = self.faults(buffer, memory, job);
                let late = missed.llc.saturating_sub(faults.bytes);
                let stores = self.spec.open_dram_rate.map_or(0, |rate| cost(late, rate.0));
                Touch { millicycles: cost(job.bytes, llc) + stores + faults.millicycles, cold: missed.llc }
            }
            // Where no rate is stated for it, that of the copy holds for what is in no cache.
            JobKind::CopyIn | JobKind::ForwardIn => {
                let millicycles = self.spec.copy_dram_rate.map_or(0, |rate| cost(missed.llc, rate.0));
                Touch { millicycles, cold: missed.llc }
            }
            JobKind::CopyOut | JobKind::ForwardOut => {
                Touch { millicycles: self.faults(buffer, memory, job).millicycles, cold: missed.llc }
            }
            // These have been charged above.
            JobKind::SealAhead | JobKind::SealUnused | JobKind::OpenAfter | JobKind::Place => Touch::default(),
        }
    }

    /// What a job costs whose user's buffer the caller's core does not touch.
    fn touch_elsewhere(&mut self, job: &CipherJob, buffer: u32, memory: Memory, staging: u64) -> Option<Touch> {
        let (llc, dram) = (self.spec.llc_rate.0, self.spec.dram_rate.0);
        let bytes = job.bytes;
        let millicycles = match job.kind {
            JobKind::SealAhead | JobKind::SealUnused => cost(bytes, llc) + cost(bytes, dram),
            JobKind::OpenAfter => {
                let faults = self.faults(buffer, memory, job);
                cost(bytes, llc) + cost(bytes.saturating_sub(faults.bytes), dram) + faults.millicycles
            }
            JobKind::Place => {
                self.caches.staging(staging, bytes);
                0
            }
            _ => return None,
        };
        Some(Touch { millicycles, cold: bytes })
    }

    /// Pages of a job that nobody has touched before.
    fn faults(&mut self, buffer: u32, memory: Memory, job: &CipherJob) -> Faults {
        let Some(fresh) = self.fresh.get_mut(&buffer) else { return Faults::default() };
        let (from, to) = (fresh.reached, fresh.reached.max(job.offset + job.bytes));
        fresh.reached = to;
        let pages = to.div_ceil(PAGE) - from.div_ceil(PAGE);
        let huge = |bytes: u64| bytes.div_ceil(HUGE_PAGE).min(fresh.huge_pages);
        let (count, cost) = match memory {
            Memory::Pinned => (pages, self.spec.first_touch_pinned),
            Memory::Pageable if fresh.huge_pages > 0 => (huge(to) - huge(from), self.spec.first_touch_huge),
            Memory::Pageable => (pages, self.spec.first_touch),
        };
        Faults { bytes: pages * PAGE, millicycles: u128::from(count) * u128::from(cost.0) * 1_000 }
    }
}
