//! Calls that neither copy, nor launch, nor wait for the GPU by their name.

use super::{Doing, Event, Player, moved};
use crate::{
    replay::{
        Ns,
        job::{Call, Job},
        rules::Plain,
    },
    workload::trace::{CallKind, Waited},
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
    pub(super) fn plain(&mut self, call: &Call, doing: &mut Doing, creates: bool) -> Result<Ns, u32> {
        let off = self.job.host(call.duration);
        if !std::mem::replace(&mut doing.waits, true) {
            doing.end = doing.start.saturating_add(self.slower(call, off, creates));
        }
        match call.kind {
            CallKind::Free => return self.free(call, doing, off),
            CallKind::EventRecord => self.record(call, doing.end),
            _ => {}
        }
        Ok(doing.end)
    }

    /// How long it takes by itself, of which the trace says that it is `off`.
    fn slower(&mut self, call: &Call, off: Ns, creates: bool) -> Ns {
        let gives_back = call.kind == CallKind::Free && (call.failed || self.job.name(call.name).contains("FreeHost"));
        let allocated = gives_back.then(|| self.memory.held.pop_front()).flatten();
        if call.kind == CallKind::HostAllocate {
            // Of one that creates the context the size is not known.
            self.memory.held.push_back(if creates { self.memory.usual } else { call.duration });
        }
        let (kind, name, failed) = (call.kind, self.job.name(call.name), call.failed);
        let plain = Plain { kind, name, off, failed, slabs: self.memory.slabs, allocated };
        if creates { off } else { self.rules.plain(plain) }
    }

    /// A free waits for all that is in progress.
    fn free(&mut self, call: &Call, doing: &mut Doing, own: Ns) -> Result<Ns, u32> {
        let pending = self.target(call, Waited::Device, doing)?;
        if pending.played <= doing.start {
            return Ok(doing.end);
        }
        let more = doing.end.saturating_sub(doing.start).saturating_sub(own);
        let off = self.rules.completion_off();
        let seen = if pending.traced.saturating_add(off) > call.start {
            let slower = self.rules.completion().saturating_sub(off);
            moved(pending.played, pending.traced, call.end()).saturating_add(slower)
        } else {
            pending.played.saturating_add(self.rules.completion()).saturating_add(own)
        };
        Ok(doing.end.max(seen.saturating_add(more)))
    }

    /// An event comes when what was submitted before it has ended.
    fn record(&mut self, call: &Call, returned: Ns) {
        let idle = call.end().saturating_add(crate::replay::rules::ns(self.rules.calls.event.off));
        let date = returned.saturating_add(self.rules.event());
        self.event = Some(Event { upto: self.device.count(), date, traced: idle.max(self.pending) });
    }
}
