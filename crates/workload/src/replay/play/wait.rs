//! Calls that wait for the GPU.

use super::Player;
use crate::{
    replay::{Ns, job::Call},
    workload::trace::Waited,
};

/// A wait that finds nothing to wait for still takes so long, in any mode.
const LEAST: Ns = 2_000;

impl Player<'_> {
    /// When a call returns that waits.
    pub(super) fn wait(&self, call: &Call, waited: Waited, start: Ns) -> Ns {
        let target = match waited {
            Waited::Event => self.event.unwrap_or_default(),
            Waited::Device | Waited::Stream => self.under_way(),
        };
        // All that was submitted; or, if it returned before all of it had ended, what had.
        let target = if target.traced <= call.end() { target } else { self.ended_by(call.end()) };
        let idle = self.rules.idle_wait();
        let off = self.rules.completion_off();
        if target.traced.saturating_add(off) > call.start {
            let slower = self.rules.completion().saturating_sub(off);
            let tail = call.end().saturating_sub(target.traced).saturating_add(slower);
            let least = start.saturating_add(call.duration.min(LEAST)).saturating_add(idle);
            return least.max(target.played.saturating_add(tail));
        }
        // Nothing was in progress in the trace; now there may be.
        let least = start.saturating_add(self.job.host(call.duration)).saturating_add(idle);
        let late = target.played.saturating_add(self.rules.completion());
        if target.played > start { least.max(late) } else { least }
    }
}
