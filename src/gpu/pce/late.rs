//! A PCE that takes its time.
//!
//! What a PCE asks the link for is at the host a flight later. So nobody notices if it takes completions late, as at the edges after they have
//! come, as long as its port has not run past those edges: then both do at once what was to be done at many edges, in turns.
//!
//! | what | how late |
//! | --- | --- |
//! | completions that [can wait](crate::sim::Item::can_wait), and requests by themselves | as late as the port |
//! | all else: work, verdicts, time-outs, the last bytes of a transfer, tags | at its edge |
//!
//! A PCE is prompt while its port is, while it has anything to do with device memory but writes, from its first failure on, and where the engine
//! is not its own.

use super::{Pce, Ports};
use crate::{
    sim::{Activity, Clock, Now, Wake},
    units::Femtos,
};

/// How late a PCE may be, and what it has to do by itself.
#[derive(Debug)]
pub(super) struct Late {
    /// Cycles that it may be late; 0 for one that is prompt.
    cycles: u64,
    /// Whether it is late.
    is_late: bool,
    /// If it is: the edge at which it has something to do by itself.
    due: u64,
    /// What it is, as its account has it.
    is: Activity,
}

impl Late {
    /// Of a PCE that is prompt.
    pub const PROMPT: Self = Self { cycles: 0, is_late: false, due: Wake::NEVER, is: Activity::Idle };

    fn within(clock: Clock, patience: Femtos) -> Self {
        Self { cycles: clock.first_after(patience) - 1, ..Self::PROMPT }
    }
}

impl Pce {
    /// From now on it may be so late. Its completions must come in the order of their requests and cost no credits.
    pub fn take_time(&mut self, patience: Femtos) {
        if self.shared.is_none() && self.spec.staging.is_none() {
            self.late = Late::within(self.clock, patience);
        }
    }

    /// The edge at which it has something to do by itself, which may be late; none if it is prompt.
    #[inline]
    #[must_use]
    pub fn late_due(&self) -> Option<u64> {
        self.late.is_late.then_some(self.late.due)
    }

    /// Does at its edge `now`, which has passed, and at those behind it up to a date, what follows from completions and from its own requests. Gives
    /// the last of those edges. If it has found no room there, it is to run again after the link has taken something, at whatever edge.
    pub fn run_late(&mut self, mut now: Now, until: Femtos, ports: &mut Ports<'_>) -> Now {
        loop {
            self.take_completions(now, ports);
            let (activity, issue_at) = self.issue(now, ports);
            self.late.due = issue_at.max(now.cycle + 1);
            self.charge_engine(now.cycle, ports.wakes);
            let Some(completions) = &mut ports.completions else { break };
            if self.late.is != activity {
                self.late.is = activity;
                ports.wakes.charge(completions.receiver(), now.cycle, 0, activity);
            }
            let seen = completions.front_date().map_or(Wake::NEVER, |pushed| self.clock.first_after(pushed));
            let cycle = self.late.due.min(seen);
            let time = if cycle == Wake::NEVER { Femtos::MAX } else { self.clock.edge(cycle) };
            // Where it has found no room it goes on when it is known what the link has taken by then.
            if time > until || ports.requests.sender_waits() {
                break;
            }
            now = Now { cycle, time };
            completions.turn_to(time);
            ports.requests.turn_to(time);
        }
        self.expires = self.deadline();
        now
    }

    /// Whether nobody will notice if it runs late.
    fn can_be_late(&self, ports: &Ports<'_>) -> bool {
        self.late.cycles > 0
            && self.timeout > self.late.cycles
            && ports.requests.receiver_is_late()
            && self.failure.is_none()
            && self.outbox.is_empty()
            && self.releases.is_empty()
            && self.device_order.is_empty()
            && self.transfers.iter().all(|transfer| transfer.job.kind.reads_host())
    }

    /// Settles whether it is late from now on, being what it says; gives the edge at which it must run if by itself it has something to do at
    /// `issue_at`.
    #[inline]
    pub(super) fn be_late(&mut self, now: Now, is: Activity, issue_at: u64, ports: &mut Ports<'_>) -> u64 {
        if self.late.cycles == 0 {
            return issue_at;
        }
        self.late.is = is;
        let late = self.can_be_late(ports);
        if let Some(completions) = &mut ports.completions {
            completions.hear_late(late);
        }
        ports.requests.keep_up(late);
        (self.late.is_late, self.late.due) = (late, issue_at);
        let asked = if ports.requests.is_vacant() { Wake::NEVER } else { now.cycle };
        if late { issue_at.min(asked).saturating_add(self.late.cycles) } else { issue_at }
    }
}
