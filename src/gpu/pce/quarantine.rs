//! Plaintext that waits in a PCE for its verdict.

use super::{Pce, Ports};
use crate::{
    gpu::{spec::TagQueueSpec, work::MemoryWrite},
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
    /// Most bytes that waited at once.
    peak: u64,
}

impl Quarantine {
    /// Empty.
    pub const fn new(spec: &TagQueueSpec) -> Self {
        Self { room: spec.quarantine.0, reserved: 0, peak: 0 }
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

    /// Keeps a burst of a transfer until its verdict.
    pub(super) fn hold(&mut self, number: u64, write: MemoryWrite) {
        if let Some(transfer) = self.transfer(number) {
            transfer.held.writes.push_back(write);
        }
        let waiting = self.transfers.iter().map(|transfer| transfer.held.bytes()).sum();
        self.quarantine.peak = self.quarantine.peak.max(waiting);
    }

    /// Lets verified plaintext go to device memory, a burst per cycle, and forgets what failed.
    pub(super) fn take_verdicts(&mut self, now: Now, ports: &mut Ports) {
        while let Some(verdict) = ports.released.as_mut().and_then(|queue| queue.pop(now.time)) {
            let of_message = self.transfers.iter_mut().find(|t| t.job.share.message == verdict.job && t.held.waits);
            let Some(transfer) = of_message else { continue };
            let held = std::mem::take(&mut transfer.held);
            if held.reserved {
                self.quarantine.reserved -= transfer.job.bytes;
            }
            if verdict.ok {
                for (cycle, write) in (now.cycle + 1..).zip(held.writes) {
                    ports.writes.send(self.clock.edge(cycle), write);
                }
            }
        }
    }
}
