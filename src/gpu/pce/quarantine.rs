//! Plaintext that waits in a PCE for its verdict.

use super::{Pce, Ports};
use crate::{
    gpu::{
        spec::{SKID, TagQueueSpec},
        work::MemoryWrite,
    },
    sim::Now,
};
use std::collections::VecDeque;

/// What of a transfer waits for its verdict.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Whether its plaintext waits.
    pub waits: bool,
    /// Whether there is room for it.
    reserved: bool,
    writes: VecDeque<MemoryWrite>,
    /// Bytes that have gone on ahead of the verdict.
    ahead: u64,
}

impl Held {
    /// Of a transfer whose plaintext waits, or goes on at once.
    pub fn new(waits: bool) -> Self {
        Self { waits, ..Self::default() }
    }

    fn bytes(&self) -> u64 {
        self.writes.iter().map(|write| u64::from(write.bytes)).sum()
    }
}

/// The room of a PCE for plaintext that waits.
#[derive(Debug)]
pub(super) struct Quarantine {
    room: u64,
    reserved: u64,
    /// Bytes that may go on ahead of their verdicts, and those that have.
    may_go_ahead: u64,
    ahead: u64,
    /// Most bytes that waited at once.
    peak: u64,
}

impl Quarantine {
    /// Empty.
    pub fn new(spec: &TagQueueSpec) -> Self {
        let may_go_ahead = spec.release.ahead(spec.skid.unwrap_or(SKID).0);
        Self { room: spec.quarantine.0, reserved: 0, may_go_ahead, ahead: 0, peak: 0 }
    }

    /// Bytes reserved.
    pub const fn bytes(&self) -> u64 {
        self.reserved
    }

    /// Whether so many bytes of a transfer must have room and there is none.
    #[inline]
    pub const fn lacks_room(&self, held: &Held, bytes: u64) -> bool {
        held.waits && !held.reserved && self.reserved + bytes > self.room
    }

    /// Takes room for so many bytes of a transfer, if they are to wait.
    #[inline]
    pub const fn reserve(&mut self, held: &mut Held, bytes: u64) {
        if held.waits && !held.reserved {
            held.reserved = true;
            self.reserved += bytes;
        }
    }
}

impl Pce {
    /// Most bytes of plaintext that waited for a verdict at once.
    #[must_use]
    pub const fn peak_quarantine(&self) -> u64 {
        self.quarantine.peak
    }

    /// Keeps a burst of a transfer, which could go on in `cycle`, until its verdict, or until it may go ahead of that.
    pub(super) fn hold(&mut self, number: u64, write: MemoryWrite, cycle: u64, ports: &mut Ports) {
        if let Some(transfer) = self.transfer(number) {
            transfer.held.writes.push_back(write);
        }
        self.go_ahead(cycle, ports);
        let waiting = self.transfers.iter().map(|transfer| transfer.held.bytes()).sum();
        self.quarantine.peak = self.quarantine.peak.max(waiting);
    }

    /// Lets plaintext go on ahead of its verdict as far as it may, in order and a burst per cycle from `cycle` on.
    fn go_ahead(&mut self, cycle: u64, ports: &mut Ports) {
        let quarantine = &mut self.quarantine;
        let mut cycles = cycle..;
        for transfer in self.transfers.iter_mut().filter(|transfer| transfer.failed.is_none()) {
            let held = &mut transfer.held;
            while let Some(bytes) = held.writes.front().map(|write| u64::from(write.bytes)) {
                if quarantine.ahead + bytes > quarantine.may_go_ahead {
                    return;
                }
                quarantine.ahead += bytes;
                held.ahead += bytes;
                // It needs no room here any more.
                quarantine.reserved -= bytes;
                if let Some((write, cycle)) = held.writes.pop_front().zip(cycles.next()) {
                    ports.writes.send(self.clock.edge(cycle), write);
                }
            }
        }
    }

    /// Lets verified plaintext go to device memory, a burst per cycle, and forgets what failed.
    pub(super) fn take_verdicts(&mut self, now: Now, ports: &mut Ports) {
        while let Some(verdict) = ports.released.as_mut().and_then(|queue| queue.pop(now.time)) {
            let of_message = self.transfers.iter_mut().find(|t| t.job.share.message == verdict.job && t.held.waits);
            let Some(transfer) = of_message else { continue };
            let held = std::mem::take(&mut transfer.held);
            if held.reserved {
                self.quarantine.reserved -= transfer.job.bytes - held.ahead;
            }
            self.quarantine.ahead -= held.ahead;
            let mut free = now.cycle + 1;
            for write in held.writes.into_iter().filter(|_| verdict.ok) {
                ports.writes.send(self.clock.edge(free), write);
                free += 1;
            }
            self.go_ahead(free, ports);
        }
    }
}
