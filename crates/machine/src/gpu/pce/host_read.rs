//! Reads of host memory: tags, requests, completions, time-outs.

use super::{
    Pce, Ports, errors,
    work::{Ask, Piece, Refusal},
};
use crate::{
    pcie::{
        packet::{Kind, Tlp},
        root_complex::ECRC,
    },
    sim::{Activity, ErrorSignal, Now, Room, Signals, Stall, Wake},
};

#[derive(Debug, Default)]
struct Slot {
    read: Read,
    came: Piece,
}

#[derive(Debug, Default)]
struct Read {
    transfer: u64,
    expected_tag: bool,
    /// Where the next completion should begin, and the bytes still to come.
    address: u64,
    left: u32,
    /// Room in the read buffer that is reserved for it.
    reserved: u32,
    issued: u64,
}

/// The outstanding reads of a PCE, in order. Tags go round, so that those in use lie side by side.
#[derive(Debug)]
pub(super) struct Slots {
    first_tag: u16,
    tags: u16,
    /// What one waits for that finds them full: tags, or fewer reads outstanding.
    bound: Stall,
    /// Where one more than there are tags was asked for, tags bound each run with so many reads or more.
    pub room: Room,
    /// A place for each read that may be outstanding.
    slots: Vec<Slot>,
    /// Number of the oldest read's tag, its place, and how many there are.
    oldest_tag: u16,
    oldest: usize,
    count: usize,
}

impl Slots {
    /// For reads with so many tags, of which at most `outstanding` are outstanding.
    pub fn new(first_tag: u16, tags: u16, outstanding: u32) -> Self {
        let count = (outstanding as usize).min(tags.into());
        let slots = std::iter::repeat_with(Slot::default).take(count).collect();
        let bound = if u32::from(tags) < outstanding { Stall::ReadTags } else { Stall::OutstandingReads };
        let room = Room::new(count as u64);
        Self { first_tag, tags, bound, room, slots, oldest_tag: 0, oldest: 0, count: 0 }
    }

    pub const fn outstanding(&self) -> usize {
        self.count
    }

    /// Whether no more reads may be outstanding.
    #[inline]
    fn full(&self) -> bool {
        !self.room.holds(self.count as u64 + 1)
    }

    /// The place so many behind the oldest.
    #[inline]
    const fn behind(&self, number: usize) -> usize {
        let place = self.oldest + number;
        if place < self.slots.len() { place } else { place - self.slots.len() }
    }

    /// Opens a read, for which there is a place; gives its tag.
    #[inline]
    fn open(&mut self, read: Read) -> u16 {
        let place = self.behind(self.count);
        let tag = self.oldest_tag + self.count as u16;
        // What had come for the read before it has been taken.
        self.slots[place].read = read;
        self.count += 1;
        self.first_tag + if tag < self.tags { tag } else { tag - self.tags }
    }

    /// The read that a tag is given out to.
    #[inline]
    fn of_tag(&mut self, tag: u16) -> Option<&mut Slot> {
        let tag = tag.checked_sub(self.first_tag).filter(|&tag| tag < self.tags)?;
        let number = if tag >= self.oldest_tag { tag - self.oldest_tag } else { tag + self.tags - self.oldest_tag };
        let place = self.behind(number.into());
        if usize::from(number) < self.count { self.slots.get_mut(place) } else { None }
    }

    #[inline]
    fn front(&self) -> Option<&Slot> {
        if self.count > 0 { self.slots.get(self.oldest) } else { None }
    }

    #[inline]
    fn front_mut(&mut self) -> Option<&mut Slot> {
        if self.count > 0 { self.slots.get_mut(self.oldest) } else { None }
    }

    #[inline]
    fn close_front(&mut self) {
        if self.count > 0 {
            (self.oldest, self.count) = (self.behind(1), self.count - 1);
            self.oldest_tag = if self.oldest_tag + 1 < self.tags { self.oldest_tag + 1 } else { 0 };
        }
    }
}

impl Pce {
    /// Sends the next read request of the transfer in a place, or says why not.
    #[inline]
    pub(super) fn ask_host(&mut self, place: usize, ask: Ask, now: Now, ports: &mut Ports) -> Option<Refusal> {
        let spec = &self.spec.copy_engine;
        let transfer = &mut self.transfers[place];
        if self.slots.full() {
            return Some((Activity::Stall(self.slots.bound), Wake::NEVER));
        }
        let (address, bytes, reserve) = match ask {
            Ask::Tag => (transfer.job.tag, self.format.tag_bytes() as u32, 0),
            Ask::Data(request) => (request.address, request.bytes, request.bytes),
        };
        if self.buffered + u64::from(reserve) > spec.read_buffer.0 {
            return Some(self.buffer_full());
        }
        if self.quarantine.lacks_room(&transfer.held, transfer.job.bytes) {
            return Some((Activity::Stall(Stall::Quarantine), Wake::NEVER));
        }
        if !ports.requests.has_room(now.time) {
            return Some((Activity::Stall(Stall::LinkBusy), Wake::NEVER));
        }
        let ready = transfer.ready.max(self.next_request);
        if ready > now.cycle {
            return Some((Activity::Busy, ready));
        }
        let read = Read {
            transfer: self.first + place as u64,
            expected_tag: ask == Ask::Tag,
            address,
            left: bytes,
            reserved: reserve,
            issued: now.cycle,
        };
        let tag = self.slots.open(read);
        ports.requests.push(now.time, Tlp::read(tag, address, bytes));
        self.queued += 1;
        self.buffered += u64::from(reserve);
        transfer.asked(ask);
        self.quarantine.reserve(&mut transfer.held, transfer.job.bytes);
        None
    }

    #[inline(always)]
    pub(super) fn take_completions(&mut self, now: Now, ports: &mut Ports) {
        if ports.completions.as_ref().is_some_and(|completions| !completions.is_empty(now.time)) {
            self.take_what_came(now, ports);
        }
    }

    fn take_what_came(&mut self, now: Now, ports: &mut Ports) {
        let Some(completions) = &mut ports.completions else { return };
        let mut failed = None::<Vec<(u64, ErrorSignal, String)>>;
        while let Some(tlp) = completions.pop(now.time) {
            if let Some(trouble) = self.take_completion(tlp, now) {
                failed.get_or_insert_default().push(trouble);
            }
        }
        if let Some(failed) = failed {
            failed.into_iter().for_each(|(number, signal, trouble)| self.fail(number, signal, trouble, now, ports));
        }
        self.pass_in_order(now, ports);
    }

    /// Puts a completion to its read; gives the transfer that fails by it, and why.
    #[inline]
    fn take_completion(&mut self, tlp: Tlp, now: Now) -> Option<(u64, ErrorSignal, String)> {
        let Some(slot) = self.slots.of_tag(tlp.tag) else {
            self.incidents.push(format!("a completion with tag {:#x} came unasked and was dropped", tlp.tag));
            self.errors.note(errors::UNEXPECTED_COMPLETION, now.time);
            return None;
        };
        let trouble = if !tlp.intact_end_to_end() {
            Some((ECRC, "the ECRC of a completion is wrong".to_owned()))
        } else if tlp.kind != Kind::Completion {
            Some((errors::COMPLETION_STATUS, "the root complex does not support the read".to_owned()))
        } else if tlp.byte_count > slot.read.left {
            self.incidents.push(format!("a completion with tag {:#x} came twice and was dropped", tlp.tag));
            self.errors.note(errors::UNEXPECTED_COMPLETION, now.time);
            return None;
        } else if tlp.byte_count < slot.read.left || tlp.bytes > slot.read.left {
            let what = format!(
                "a completion with tag {:#x} is missing: {} bytes are left, it says {}",
                tlp.tag, slot.read.left, tlp.byte_count
            );
            Some((errors::UNEXPECTED_COMPLETION, what))
        } else {
            None
        };
        if let Some((signal, trouble)) = trouble {
            slot.read.left = 0;
            slot.came = Piece::default();
            return Some((slot.read.transfer, signal, trouble));
        }
        // A requester distinguishes completions by their tag alone: one that has come too late, after its tag was given out
        // again, is taken for what it is not.
        slot.read.left -= tlp.bytes;
        slot.read.address += u64::from(tlp.bytes);
        slot.came.join(Piece { bytes: tlp.bytes, payload: tlp.payload });
        None
    }

    /// Passes on what has come whole, as far as it is that read's turn.
    #[inline(always)]
    fn pass_in_order(&mut self, now: Now, ports: &mut Ports) {
        while let Some(slot) = self.slots.front_mut() {
            if slot.read.left > 0 {
                return;
            }
            let (number, expected_tag, reserved) = (slot.read.transfer, slot.read.expected_tag, slot.read.reserved);
            let piece = slot.came.take();
            self.slots.close_front();
            if piece.bytes == 0 {
                // It has failed: nothing comes that could free its room.
                self.buffered -= u64::from(reserved);
            } else if expected_tag {
                self.take_expected_tag(number, &piece, now, ports);
            } else {
                self.feed(number, piece, now, ports);
            }
        }
    }

    /// Fails the oldest reads that have waited too long. One that has waited for half that time is a sign that something is wrong.
    pub(super) fn expire(&mut self, now: Now, ports: &mut Ports) {
        if self.deadline().saturating_sub(self.timeout / 2) <= now.cycle {
            ports.signals.defer_nothing();
        }
        while self.deadline() <= now.cycle {
            let Some(slot) = self.slots.front_mut() else { return };
            let (number, left) = (slot.read.transfer, slot.read.left);
            slot.read.left = 0;
            slot.came = Piece::default();
            let why = format!("a read has timed out with {left} bytes missing");
            self.fail(number, errors::COMPLETION_TIMEOUT, why, now, ports);
            self.pass_in_order(now, ports);
        }
    }

    /// Cycle in which to look at how long the oldest read has waited.
    #[inline]
    pub(super) fn next_look(&self, signals: &Signals) -> u64 {
        let early = if signals.defers_nothing() { 0 } else { self.timeout / 2 };
        match self.deadline() {
            Wake::NEVER => Wake::NEVER,
            deadline => deadline - early,
        }
    }

    /// Cycle in which the oldest read will have waited too long.
    #[inline]
    fn deadline(&self) -> u64 {
        self.slots.front().map_or(Wake::NEVER, |slot| slot.read.issued + self.timeout)
    }
}
