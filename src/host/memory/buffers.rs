//! What the caches and page tables know of the copies' buffers, and what a pass over them costs the core.

use super::super::{
    caches::Caches,
    cipher::{CipherJob, JobKind},
    driver::{CopyPlan, Memory, Pages},
    spec::MemorySpec,
};
use std::collections::{HashMap, HashSet};

const PAGE: u64 = 4096;

/// A copy's end on the host.
#[derive(Debug, Clone, Copy)]
struct End {
    buffer: u32,
    memory: Memory,
}

/// The buffers of a run.
#[derive(Debug)]
pub(in crate::host) struct Buffers {
    spec: MemorySpec,
    caches: Caches,
    ends: Vec<End>,
    /// Of buffers that began fresh: how far they have been touched.
    fresh: HashMap<u32, u64>,
}

/// What the core spends on a pass beside its work on bytes in the L2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::host) struct Touch {
    /// Thousandths of a cycle.
    pub millicycles: u128,
    /// Bytes that were in no cache.
    pub cold: u64,
}

impl Buffers {
    pub fn new(spec: &MemorySpec) -> Self {
        Self { spec: spec.clone(), caches: Caches::new(spec), ends: Vec::new(), fresh: HashMap::new() }
    }

    /// Learns what the copies' buffers are. The first copy of a buffer says in what state it is.
    pub fn describe(&mut self, plans: &[CopyPlan], pool: u64) {
        let mut known = HashSet::new();
        for plan in plans {
            self.ends.push(End { buffer: plan.buffer, memory: plan.memory });
            if !known.insert(plan.buffer) {
                continue;
            }
            match plan.pages {
                Pages::Warm => self.caches.warm(plan.buffer, plan.bytes.0, pool),
                Pages::Cold => {}
                Pages::Fresh => {
                    self.fresh.insert(plan.buffer, 0);
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
        let missed = self.caches.private(buffer, job.offset, job.bytes);
        self.caches.staging(staging, job.bytes);
        let cost = |bytes: u64, rate: u64| u128::from(bytes) * 1_000_000 / u128::from(rate.max(1));
        let (llc, dram) = (self.spec.llc_rate.0, self.spec.dram_rate.0);
        match job.kind {
            // What is opened and sealed anew stays in the L2 in between, as far as it fits there.
            JobKind::Seal | JobKind::ResealIn => {
                Touch { millicycles: cost(missed.l2, llc) + cost(missed.llc, dram), cold: missed.llc }
            }
            // What the GPU has written lies in the last-level cache. Stores that the L2 misses are posted; those that no cache
            // takes wait, unless the system has just brought a fresh page in by clearing it.
            JobKind::Open | JobKind::ResealOut => {
                let faults = self.faults(buffer, job);
                let waits = missed.llc.saturating_sub(faults * PAGE);
                let millicycles = cost(job.bytes, llc) + cost(waits, dram) + self.first_touch(faults, memory);
                Touch { millicycles, cold: missed.llc }
            }
            // Copies are bound by memory, not by work on bytes: their rate holds for what is in no cache.
            JobKind::CopyIn | JobKind::ForwardIn => Touch { millicycles: 0, cold: missed.llc },
            JobKind::CopyOut | JobKind::ForwardOut => {
                let faults = self.faults(buffer, job);
                Touch { millicycles: self.first_touch(faults, memory), cold: missed.llc }
            }
        }
    }

    /// Pages of a job that nobody has touched before.
    fn faults(&mut self, buffer: u32, job: &CipherJob) -> u64 {
        let Some(reached) = self.fresh.get_mut(&buffer) else { return 0 };
        let pages = |bytes: u64| bytes.div_ceil(PAGE);
        let faults = pages(job.offset + job.bytes).saturating_sub(pages(*reached));
        *reached = (*reached).max(job.offset + job.bytes);
        faults
    }

    /// Thousandths of a cycle of first touches.
    fn first_touch(&self, faults: u64, memory: Memory) -> u128 {
        let cost = match memory {
            Memory::Pinned => self.spec.first_touch_pinned,
            Memory::Pageable => self.spec.first_touch,
        };
        u128::from(faults) * u128::from(cost.0) * 1_000
    }
}
