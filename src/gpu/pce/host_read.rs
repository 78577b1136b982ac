//! Reads of host memory: tags, requests, completions, time-outs.

use super::{Pce, Ports, transfer::Ask};
use crate::{
    pcie::packet::{Kind, Payload, Tlp},
    sim::{Activity, Now, Stall, Wake},
};
use std::collections::VecDeque;

/// A refusal: what the PCE is, and when it can try again by itself.
pub(super) type Refusal = (Activity, u64);

/// Bytes that have come.
#[derive(Debug, Default)]
pub(super) struct Piece {
    pub bytes: u32,
    pub damaged: bool,
    pub payload: Payload,
}

impl Piece {
    /// Appends what came behind it.
    #[inline]
    fn join(&mut self, next: Self) {
        self.damaged |= next.damaged;
        if self.bytes == 0 {
            self.payload = next.payload;
        } else if !self.payload.extend(&next.payload) {
            let parts = [self.payload.bytes(), next.payload.bytes()];
            if parts.iter().any(Option::is_some) {
                self.payload = Payload::of(parts.map(Option::unwrap_or_default).concat());
            }
        }
        self.bytes += next.bytes;
    }
}

/// A read that is outstanding.
#[derive(Debug, Default)]
struct Slot {
    in_use: bool,
    transfer: u64,
    expected_tag: bool,
    /// Where the next completion should begin, and the bytes still to come.
    address: u64,
    left: u32,
    /// Room in the read buffer that is reserved for it.
    reserved: u32,
    issued: u64,
    /// What has come.
    came: Piece,
}

/// The reads of a PCE by tag, and their order.
#[derive(Debug)]
pub(super) struct Slots {
    first_tag: u16,
    slots: Vec<Slot>,
    free: VecDeque<u16>,
    order: VecDeque<u16>,
}

impl Slots {
    pub fn new(first_tag: u16, tags: u16) -> Self {
        Self {
            first_tag,
            slots: (0..tags).map(|_| Slot::default()).collect(),
            free: (0..tags).collect(),
            order: VecDeque::new(),
        }
    }

    fn open(&mut self, slot: Slot) -> Option<u16> {
        let place = self.free.pop_front()?;
        self.slots[usize::from(place)] = slot;
        self.order.push_back(place);
        Some(self.first_tag + place)
    }

    fn place(&self, tag: u16) -> Option<usize> {
        let place = usize::from(tag.checked_sub(self.first_tag)?);
        self.slots.get(place).filter(|slot| slot.in_use).map(|_| place)
    }

    fn close_front(&mut self) {
        if let Some(place) = self.order.pop_front() {
            self.slots[usize::from(place)].in_use = false;
            self.free.push_back(place);
        }
    }
}

impl Pce {
    /// Sends the next read request of the transfer in a place, or says why not.
    #[inline]
    pub(super) fn ask_host(&mut self, place: usize, ask: Ask, now: Now, ports: &mut Ports<'_>) -> Option<Refusal> {
        let spec = &self.spec.copy_engine;
        let transfer = &mut self.transfers[place];
        if self.slots.order.len() >= spec.outstanding_reads as usize || self.slots.free.is_empty() {
            return Some((Activity::Stall(Stall::ReadTags), Wake::NEVER));
        }
        // What ends the transfer or the tag matters to others at once.
        let (address, bytes, reserve, patient) = match ask {
            Ask::Tag => (transfer.job.tag, self.format.tag_bytes() as u32, 0, false),
            Ask::Data(request) => (request.address, request.bytes, request.bytes, !transfer.ends_in(request)),
        };
        if self.buffered + u64::from(reserve) > spec.read_buffer.0 {
            return Some(self.buffer_full());
        }
        let quarantines = transfer.holds && !transfer.reserved_quarantine;
        if quarantines && self.quarantined + transfer.job.bytes > self.spec.quarantine {
            return Some((Activity::Stall(Stall::Quarantine), Wake::NEVER));
        }
        if !ports.requests.has_room() {
            return Some((Activity::Stall(Stall::LinkBusy), Wake::NEVER));
        }
        let ready = transfer.ready.max(self.next_request);
        if ready > now.cycle {
            return Some((Activity::Busy, ready));
        }
        let slot = Slot {
            in_use: true,
            transfer: self.first + place as u64,
            expected_tag: ask == Ask::Tag,
            address,
            left: bytes,
            reserved: reserve,
            issued: now.cycle,
            came: Piece::default(),
        };
        let tag = self.slots.open(slot)?;
        ports.requests.push(Tlp { patient, ..Tlp::read(tag, address, bytes) });
        self.queued += 1;
        self.buffered += u64::from(reserve);
        transfer.asked(ask);
        if quarantines {
            transfer.reserved_quarantine = true;
            self.quarantined += transfer.job.bytes;
        }
        None
    }

    /// Takes completions as they come.
    #[inline(always)]
    pub(super) fn take_completions(&mut self, now: Now, ports: &mut Ports<'_>) {
        if ports.completions.as_ref().is_some_and(|completions| !completions.is_empty()) {
            self.take_what_came(now, ports);
        }
    }

    fn take_what_came(&mut self, now: Now, ports: &mut Ports<'_>) {
        let Some(completions) = &mut ports.completions else { return };
        let mut failed = Vec::new();
        while let Some(tlp) = completions.head() {
            let trouble = self.take_completion(tlp);
            completions.pass();
            failed.extend(trouble);
        }
        for (number, trouble) in failed {
            self.fail(number, trouble, now, ports);
        }
        self.pass_in_order(now, ports);
    }

    /// Puts a completion to its read; gives the transfer that fails by it, and why.
    #[inline]
    fn take_completion(&mut self, tlp: &mut Tlp) -> Option<(u64, String)> {
        let Some(place) = self.slots.place(tlp.tag) else {
            self.incidents.push(format!("a completion with tag {:#x} came unasked and was dropped", tlp.tag));
            return None;
        };
        let slot = &mut self.slots.slots[place];
        let trouble = if !tlp.intact_end_to_end() {
            Some("the ECRC of a completion is wrong".to_owned())
        } else if tlp.kind != Kind::Completion {
            Some("the root complex does not support the read".to_owned())
        } else if tlp.byte_count > slot.left {
            self.incidents.push(format!("a completion with tag {:#x} came twice and was dropped", tlp.tag));
            return None;
        } else if tlp.byte_count < slot.left || tlp.bytes > slot.left {
            Some(format!(
                "a completion with tag {:#x} is missing: {} bytes are left, it says {}",
                tlp.tag, slot.left, tlp.byte_count
            ))
        } else {
            None
        };
        if let Some(trouble) = trouble {
            slot.left = 0;
            slot.came = Piece::default();
            return Some((slot.transfer, trouble));
        }
        // A requester tells completions apart by their tag alone: one that has come too late, after its tag was given out
        // again, is taken for what it is not. A run without data must know.
        let damaged = tlp.damaged || tlp.address != slot.address;
        slot.left -= tlp.bytes;
        slot.address += u64::from(tlp.bytes);
        slot.came.join(Piece { bytes: tlp.bytes, damaged, payload: std::mem::take(&mut tlp.payload) });
        None
    }

    /// Passes on what has come whole, as far as it is that read's turn.
    #[inline]
    fn pass_in_order(&mut self, now: Now, ports: &mut Ports<'_>) {
        while let Some(&front) = self.slots.order.front() {
            let slot = &mut self.slots.slots[usize::from(front)];
            if slot.left > 0 {
                return;
            }
            let (number, expected_tag, reserved) = (slot.transfer, slot.expected_tag, slot.reserved);
            let piece = std::mem::take(&mut slot.came);
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

    /// Fails the oldest reads that have waited too long.
    pub(super) fn expire(&mut self, now: Now, ports: &mut Ports<'_>) {
        while self.deadline() <= now.cycle {
            let Some(&front) = self.slots.order.front() else { return };
            let slot = &mut self.slots.slots[usize::from(front)];
            let (number, left) = (slot.transfer, slot.left);
            slot.left = 0;
            slot.came = Piece::default();
            self.fail(number, format!("a read has timed out with {left} bytes missing"), now, ports);
            self.pass_in_order(now, ports);
        }
    }

    /// Cycle in which the oldest read will have waited too long.
    #[inline]
    pub(super) fn deadline(&self) -> u64 {
        let front = self.slots.order.front();
        front.map_or(Wake::NEVER, |&place| self.slots.slots[usize::from(place)].issued + self.timeout)
    }
}
