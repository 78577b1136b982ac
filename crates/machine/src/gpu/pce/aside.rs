//! A quarantine in device memory: plaintext is written there, and after a good verdict read from there and written to its destination.
//!
//! | contract | |
//! | --- | --- |
//! | set aside | a write of a burst when it could go on, as device memory takes any write |
//! | read back | verified bursts in order of their verdicts, one in a cycle, from `visible` cycles behind the message's last write on; each keeps room in the read buffer until it is there |
//!
//! Bytes stay with the PCE: the writes aside and what is read carry none.

use super::{Pce, Ports, errors};
use crate::{
    gpu::work::{MemoryRead, MemoryWrite},
    sim::{Now, Wake},
};
use std::collections::VecDeque;

/// Where plaintext waits, if in device memory.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// First byte of the quarantine.
    pub base: u64,
    /// Cycles until a write there can be read.
    pub visible: u64,
}

/// What comes back from device memory.
#[derive(Debug, Default)]
pub(super) struct Aside {
    /// Verified, by the cycle from which on it can be read.
    verified: VecDeque<(u64, MemoryWrite)>,
    /// Asked from device memory, with its address.
    asked: VecDeque<(u64, MemoryWrite)>,
    /// Cycle from which on the next burst can be asked.
    next: u64,
}

/// Number that stands for a transfer where bytes come back from quarantine.
pub(super) const FROM_QUARANTINE: u64 = u64::MAX;

impl Pce {
    /// Writes a burst that waits for its verdict to the quarantine; gives the cycle from which on it can be read, 0 if it waits in the PCE.
    pub(super) fn set_aside(&self, write: &MemoryWrite, cycle: u64, ports: &mut Ports) -> u64 {
        let Some(Place { visible, .. }) = self.spec.aside else { return 0 };
        let aside = MemoryWrite { unverified: false, last: false, deposit: None, ..write.clone() };
        ports.writes.send_deferrable(self.clock.edge(cycle), aside);
        cycle + visible
    }

    /// Verified bursts can be read from a cycle on.
    pub(super) fn bring_back(&mut self, writes: impl Iterator<Item = MemoryWrite>, from: u64) {
        self.aside.verified.extend(writes.map(|write| (from, write)));
    }

    /// Asks for verified bursts, as far as the read buffer has room; gives when it can go on by itself.
    pub(super) fn ask_back(&mut self, now: Now, ports: &mut Ports) -> u64 {
        let (Some(Place { base, .. }), Some(&(from, MemoryWrite { offset, bytes, .. }))) =
            (self.spec.aside, self.aside.verified.front())
        else {
            return Wake::NEVER;
        };
        let from = from.max(self.aside.next);
        if from > now.cycle {
            return from;
        }
        self.reclaim(now.cycle);
        if self.buffered + u64::from(bytes) > self.spec.copy_engine.read_buffer.0 {
            return self.taken.front().map_or(Wake::NEVER, |taken| taken.0);
        }
        if !ports.reads.has_room(now.time) {
            return Wake::NEVER;
        }
        let address = base + offset;
        self.buffered += u64::from(bytes);
        self.device_order.push_back((FROM_QUARANTINE, address, bytes));
        ports.reads.push(now.time, MemoryRead { address, bytes });
        self.aside.asked.extend(self.aside.verified.pop_front().map(|(_, write)| (address, write)));
        self.aside.next = now.cycle + 1;
        self.aside.verified.front().map_or(Wake::NEVER, |&(from, _)| from.max(self.aside.next))
    }

    /// A burst is back, and goes to its destination.
    pub(super) fn take_back_from_quarantine(&mut self, address: u64, now: Now, ports: &mut Ports) {
        let Some((asked, write)) = self.aside.asked.pop_front() else { return };
        self.buffered -= u64::from(write.bytes);
        if asked == address {
            return ports.writes.send(self.clock.edge(now.cycle + 1), write);
        }
        self.errors.note(errors::INTERNAL, now.time);
        self.incidents
            .push(format!("device memory answered {address:#x} where {asked:#x} of the quarantine was asked"));
    }
}
