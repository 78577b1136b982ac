//! Calls that neither copy, nor launch, nor wait for the GPU by their name.

use super::{Both, Player, moved};
use crate::{
    replay::{
        Ns,
        job::{Call, Job},
        rules::Plain,
    },
    workload::trace::CallKind,
};
use std::collections::VecDeque;

/// Allocations of locked memory up to this duration come out of a slab.
const SLAB: Ns = 50_000;

/// What is known of allocations of locked host memory.
#[derive(Debug)]
pub(super) struct HostMemory {
    /// Whether the program takes some of it out of slabs.
    slabs: bool,
    /// The usual duration of an allocation.
    usual: Ns,
    /// What allocations took that have not been given back, the oldest first.
    held: VecDeque<Ns>,
}

impl HostMemory {
    pub(super) fn of(job: &Job) -> Self {
        let creates = |place: u32| job.beginning.creates.binary_search(&place).is_ok();
        let allocations =
            (0..).zip(&job.calls).filter(|(place, call)| call.kind == CallKind::HostAllocate && !creates(*place));
        let mut durations: Vec<Ns> = allocations.map(|(_, call)| call.duration).collect();
        durations.sort_unstable();
        let usual = durations.get(durations.len() / 2).copied().unwrap_or(0);
        Self { slabs: durations.first().is_some_and(|least| *least < SLAB), usual, held: VecDeque::new() }
    }
}

impl Player<'_> {
    /// When such a call returns.
    pub(super) fn plain(&mut self, call: &Call, start: Ns, creates: bool) -> Ns {
        let gives_back = call.kind == CallKind::Free && (call.failed || self.job.name(call.name).contains("FreeHost"));
        let allocated = gives_back.then(|| self.memory.held.pop_front()).flatten();
        if call.kind == CallKind::HostAllocate {
            // Of one that creates the context the size is not known.
            self.memory.held.push_back(if creates { self.memory.usual } else { call.duration });
        }
        let slower = |off: Ns| {
            let (kind, name, failed) = (call.kind, self.job.name(call.name), call.failed);
            let plain = Plain { kind, name, off, failed, slabs: self.memory.slabs, allocated };
            if creates { off } else { self.rules.plain(plain) }
        };
        let off = self.job.host(call.duration);
        let own = start.saturating_add(slower(off));
        match call.kind {
            CallKind::Free => self.free(call, start, own, slower(off).saturating_sub(off)),
            CallKind::EventRecord => {
                self.record(call, own);
                own
            }
            _ => own,
        }
    }

    /// A free waits for all that is in progress.
    fn free(&self, call: &Call, start: Ns, own: Ns, more: Ns) -> Ns {
        let pending = self.under_way();
        // If it returned before all of it had ended, it waited for what had.
        let pending = if pending.traced <= call.end() { pending } else { self.ended_by(call.end()) };
        if pending.played <= start {
            return own;
        }
        let off = self.rules.completion_off();
        let seen = if pending.traced.saturating_add(off) > call.start {
            let slower = self.rules.completion().saturating_sub(off);
            moved(pending.played, pending.traced, call.end()).saturating_add(slower)
        } else {
            pending.played.saturating_add(self.rules.completion()).saturating_add(self.job.host(call.duration))
        };
        own.max(seen.saturating_add(more))
    }

    /// An event comes when what was submitted before it has ended.
    fn record(&mut self, call: &Call, returned: Ns) {
        let played = returned.saturating_add(self.rules.event()).max(self.pending.played);
        let idle = call.end().saturating_add(crate::replay::rules::ns(self.rules.calls.event.off));
        self.event = Some(Both { played, traced: idle.max(self.pending.traced) });
    }
}
