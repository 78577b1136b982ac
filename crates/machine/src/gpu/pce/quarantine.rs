//! Plaintext that waits in a PCE for its verdict.
//!
//! Before its first read a transfer gets its share of two things: of the bytes that may go on ahead of their verdicts, as far as there are any, and
//! of the quarantine for the rest. With a verdict its shares are free: what may go ahead then passes to the oldest transfers, whose
//! quarantine gets free for it. Of a quarantine that PCEs share, the front end keeps account of the room before it hands out a message.

use super::{Pce, Ports};
use crate::{
    gpu::{
        spec::{Sharers, TagQueueSpec},
        work::MemoryWrite,
    },
    sim::{Level, Now, Room},
};
use std::{cell::Cell, collections::VecDeque, rc::Rc};

/// What of a transfer waits for its verdict.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub waits: bool,
    /// None before its first read.
    share: Option<Share>,
    writes: VecDeque<MemoryWrite>,
    /// Bytes that have gone on ahead of the verdict.
    gone: u64,
    /// Cycle from which on all of them can be read, where they wait in device memory.
    readable: u64,
}

/// What a transfer has of a PCE: together the room that it needs.
#[derive(Debug, Default)]
struct Share {
    /// Bytes that may go on ahead of the verdict.
    ahead: u64,
    reserved: u64,
}

impl Held {
    /// Of a transfer whose plaintext waits, or goes on at once.
    pub fn new(waits: bool) -> Self {
        Self { waits, ..Self::default() }
    }

    fn bytes(&self) -> u64 {
        self.writes.iter().map(|write| u64::from(write.bytes)).sum()
    }

    /// Takes what may go ahead of the verdict out of the oldest write, if anything may.
    fn pop_ahead(&mut self) -> Option<MemoryWrite> {
        let may = self.share.as_ref()?.ahead - self.gone;
        let front = self.writes.front_mut()?;
        let bytes = may.min(front.bytes.into());
        self.gone += bytes;
        if bytes == u64::from(front.bytes) {
            return self.writes.pop_front();
        }
        // Its last byte, and with it what becomes known, waits.
        let ahead = MemoryWrite { bytes: bytes as u32, last: false, deposit: None, ..front.clone() };
        front.offset += bytes;
        front.bytes -= bytes as u32;
        (bytes > 0).then_some(ahead)
    }
}

/// The room of a PCE for plaintext that waits.
#[derive(Debug)]
pub(super) struct Quarantine {
    pub room: Room,
    reserved: u64,
    /// The most that was reserved.
    most_reserved: u64,
    /// Bytes that may go on ahead of their verdicts and belong to no transfer.
    ahead: u64,
    /// Bytes that wait, and how many of them all PCEs know of.
    waiting: u64,
    told: u64,
    /// What waits in all PCEs.
    all: Rc<Cell<Level>>,
}

impl Quarantine {
    /// Empty. `all` is what waits in all PCEs.
    pub fn new(spec: &TagQueueSpec, sharers: Sharers, all: Rc<Cell<Level>>) -> Self {
        let room = if sharers == Sharers::Pce { spec.quarantine.0 } else { u64::MAX };
        let room = Room::new(room);
        Self { room, reserved: 0, most_reserved: 0, ahead: spec.ahead(), waiting: 0, told: 0, all }
    }

    pub const fn waiting(&self) -> u64 {
        self.waiting
    }

    pub const fn reserved(&self) -> u64 {
        self.reserved
    }

    /// Whether so many bytes of a transfer must have room and there is none.
    #[inline]
    pub fn lacks_room(&self, held: &Held, bytes: u64) -> bool {
        let need = || self.reserved + bytes.saturating_sub(self.ahead);
        held.waits && held.share.is_none() && !self.room.holds(need())
    }

    /// Takes room for so many bytes of a transfer, if they are to wait.
    #[inline]
    pub fn reserve(&mut self, held: &mut Held, bytes: u64) {
        if held.waits && held.share.is_none() {
            let ahead = bytes.min(self.ahead);
            let reserved = bytes - ahead;
            self.ahead -= ahead;
            self.reserved += reserved;
            self.most_reserved = self.most_reserved.max(self.reserved);
            held.share = Some(Share { ahead, reserved });
        }
    }

    /// Lets more of a transfer go ahead, as far as bytes may.
    fn grant(&mut self, share: &mut Share) {
        let more = share.reserved.min(self.ahead);
        self.ahead -= more;
        self.reserved -= more;
        share.ahead += more;
        share.reserved -= more;
    }

    fn free(&mut self, held: &Held) {
        self.waiting -= held.bytes();
        if let Some(Share { ahead, reserved }) = held.share {
            self.ahead += ahead;
            self.reserved -= reserved;
        }
    }

    /// Behind all that happens at an edge: reports what waits now.
    #[inline]
    pub fn tell(&mut self, now: Now) {
        if self.waiting != self.told {
            let mut all = self.all.get();
            all.change(now.time, self.waiting, self.told);
            self.all.set(all);
            self.told = self.waiting;
        }
    }
}

impl Pce {
    /// Most bytes of plaintext that waited for a verdict at once, in all PCEs that share the level.
    pub fn peak_quarantine(&self) -> u64 {
        self.quarantine.all.get().peak()
    }

    /// Most bytes that transfers reserved of its quarantine: with so much room it would have done the same.
    pub const fn most_reserved(&self) -> u64 {
        self.quarantine.most_reserved
    }

    /// Keeps a burst of a transfer, which could go on in `cycle`, until its verdict, or until it may go ahead of that.
    pub(super) fn hold(&mut self, number: u64, write: MemoryWrite, cycle: u64, ports: &mut Ports) {
        self.quarantine.waiting += u64::from(write.bytes);
        let readable = self.set_aside(&write, cycle, ports);
        if let Some(transfer) = self.transfer(number) {
            transfer.held.readable = readable;
            transfer.held.writes.push_back(write);
        }
        self.go_ahead(cycle, ports);
    }

    /// Lets plaintext go on ahead of its verdict as far as it may, in order and a burst per cycle from `cycle` on.
    fn go_ahead(&mut self, cycle: u64, ports: &mut Ports) {
        let mut cycles = cycle..;
        for transfer in self.transfers.iter_mut().filter(|transfer| transfer.failed.is_none()) {
            while let Some((write, cycle)) = transfer.held.pop_ahead().zip(cycles.next()) {
                self.quarantine.waiting -= u64::from(write.bytes);
                ports.writes.send(self.clock.edge(cycle), write);
            }
        }
    }

    /// Lets verified plaintext go to device memory, a burst per cycle, and forgets what failed.
    pub(super) fn take_verdicts(&mut self, now: Now, ports: &mut Ports) {
        while let Some(verdict) = ports.released.as_mut().and_then(|queue| queue.pop(now.time)) {
            let of_message = self.transfers.iter_mut().find(|t| t.job.share.message == verdict.job && t.held.waits);
            let Some(transfer) = of_message else { continue };
            let held = std::mem::take(&mut transfer.held);
            self.quarantine.free(&held);
            let mut free = now.cycle + 1;
            let (from, writes) = (held.readable, held.writes.into_iter().filter(|_| verdict.ok));
            if self.spec.aside.is_some() {
                self.bring_back(writes, from);
                continue;
            }
            for write in writes {
                ports.writes.send(self.clock.edge(free), write);
                free += 1;
            }
            let others = self.transfers.iter_mut().filter(|transfer| transfer.failed.is_none());
            others.filter_map(|transfer| transfer.held.share.as_mut()).for_each(|share| self.quarantine.grant(share));
            self.go_ahead(free, ports);
        }
    }
}
