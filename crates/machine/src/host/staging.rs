//! The staging pool: buffers in shared memory, split into slots of one message each.
//!
//! ```text
//!   buffer 0                    buffer 1
//!   +------+------+------+---+  +------+------+------+---+
//!   | slot | slot | slot |   |  | slot | slot | slot |   |   a slot: the longest message, in whole pages
//!   +------+------+------+---+  +------+------+------+---+
//! ```
//!
//! Where tags are inline, a slot holds the message and right behind it its tag.
//!
//! Slots are given out in turn, as a ring; one that is in use is not given out again.

use super::{error::HostError, map, spec::StagingSpec};
use crate::{pcie::packet::Payload, sim::Coverage, units::Bytes};
use std::{collections::VecDeque, sync::Arc};

/// Slots begin at pages.
const PAGE: u64 = 4096;

/// A slot's number within the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotId(pub u32);

impl SlotId {
    /// Of a job that does not touch staging.
    pub const NONE: Self = Self(u32::MAX);
}

/// A message in staging. What an earlier message has left in a slot stays there until it is overwritten, as in memory.
#[derive(Debug, Clone, Default)]
pub struct Slot {
    /// Its bytes; empty in a run without data.
    pub data: Arc<Vec<u8>>,
    pub bytes: u64,
    pub tag: Vec<u8>,
    /// The nonce under which the CPU has sealed or will open it, for diagnostics.
    pub nonce: [u8; 12],
    /// Which bytes of the message have been written since the slot was taken.
    pub written: Coverage,
    in_use: bool,
}

impl Slot {
    /// `bytes` bytes from byte `from` on, with the tag that lies behind it, if one does, and zeros where nothing was ever written.
    pub(super) fn padded(&self, from: u64, bytes: u32) -> Payload {
        let text = self.data.iter().copied().chain(std::iter::repeat(0)).take(self.bytes as usize);
        let whole = text.chain(self.tag.iter().copied()).chain(std::iter::repeat(0));
        Payload::of(whole.skip(from as usize).take(bytes as usize).collect())
    }

    /// Takes the part of `bytes`, from byte `from` on, that belongs to the tag behind it.
    pub(super) fn write_behind(&mut self, from: u64, bytes: &[u8]) {
        for (at, &byte) in (from..).zip(bytes) {
            let place = at.checked_sub(self.bytes).and_then(|place| self.tag.get_mut(place as usize));
            if let Some(tag) = place {
                *tag = byte;
            }
        }
    }

    /// Its bytes, to be changed; none in a run without data.
    pub(super) fn bytes_of_run(&mut self, exact: bool) -> Option<&mut [u8]> {
        exact.then(|| self.bytes_mut())
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        let length = self.bytes as usize;
        let bytes = Arc::make_mut(&mut self.data);
        bytes.resize(length, 0);
        bytes
    }
}

#[derive(Debug)]
pub(super) struct Staging {
    spec: StagingSpec,
    /// Bytes from one slot to the next within a buffer, once the pool is cut.
    stride: u64,
    per_buffer: u64,
    count: u64,
    used: u64,
    /// Bytes that a slot has room for behind its message: those of a tag, or none.
    pub trailer: u64,
    /// Slots that have been used at least once, and those of them that are free, longest first.
    slots: Vec<Slot>,
    free: VecDeque<SlotId>,
}

impl StagingSpec {
    /// Says whether there can be such a pool.
    pub fn check(&self) -> Result<(), HostError> {
        layout(self, Bytes(PAGE)).map(|_| ())
    }
}

/// Slot size, slots per buffer and slots in all for messages of at most `message` bytes.
pub(super) fn layout(spec: &StagingSpec, message: Bytes) -> Result<(u64, u64, u64), HostError> {
    let whole = spec.buffer.0.checked_mul(u64::from(spec.buffers));
    let fits = whole.is_some_and(|whole| (PAGE..=map::WINDOW.0).contains(&whole));
    if !fits || !spec.buffer.0.is_multiple_of(PAGE) {
        return Err(HostError::Pool { buffer: spec.buffer, buffers: spec.buffers });
    }
    let refused = HostError::Message { message, buffer: spec.buffer };
    let stride = message.0.max(1).checked_next_multiple_of(PAGE).ok_or(refused.clone())?;
    let per_buffer = spec.buffer.0 / stride;
    if per_buffer == 0 || message.0 == 0 {
        return Err(refused);
    }
    Ok((stride, per_buffer, per_buffer * u64::from(spec.buffers)))
}

impl Staging {
    pub const fn bytes(&self) -> u64 {
        self.spec.buffer.0 * self.spec.buffers as u64
    }

    pub fn new(spec: &StagingSpec) -> Result<Self, HostError> {
        let (stride, per_buffer, count) = layout(spec, Bytes(PAGE))?;
        let spec = spec.clone();
        Ok(Self { spec, stride, per_buffer, count, used: 0, trailer: 0, slots: Vec::new(), free: VecDeque::new() })
    }

    /// Whether the pool, if something of it is in use, can be cut for messages of at most `message` bytes: only as it is cut already.
    pub fn may_cut(&self, message: Bytes) -> bool {
        let cut = layout(&self.spec, Bytes(message.0.saturating_add(self.trailer)));
        self.used == 0 || cut.is_ok_and(|(stride, ..)| stride == self.stride)
    }

    /// Cuts the pool, of which nothing is in use, into slots for messages of at most `message` bytes.
    pub fn cut(&mut self, message: Bytes) -> Result<(), HostError> {
        let trailer = self.trailer;
        let (stride, per_buffer, count) = layout(&self.spec, Bytes(message.0.saturating_add(trailer)))?;
        if stride != self.stride {
            let spec = self.spec.clone();
            *self =
                Self { spec, stride, per_buffer, count, used: 0, trailer, slots: Vec::new(), free: VecDeque::new() };
        }
        Ok(())
    }

    /// Slots, and how many of them are free.
    pub const fn fill(&self) -> (u64, u64) {
        (self.count, self.count - self.used)
    }

    /// Takes a slot for a message; none if all are in use.
    pub fn take(&mut self, bytes: u64, nonce: [u8; 12], exact: bool) -> Option<SlotId> {
        let id = if (self.slots.len() as u64) < self.count {
            self.slots.push(Slot::default());
            SlotId((self.slots.len() - 1) as u32)
        } else {
            self.free.pop_front()?
        };
        let slot = self.slots.get_mut(id.0 as usize)?;
        (slot.bytes, slot.nonce, slot.written, slot.in_use) = (bytes, nonce, Coverage::default(), true);
        if exact {
            slot.bytes_mut();
        }
        self.used += 1;
        Some(id)
    }

    /// Gives a slot back; one that is not in use stays as it is.
    pub fn release(&mut self, id: SlotId) {
        if let Some(slot) = self.slots.get_mut(id.0 as usize).filter(|slot| slot.in_use) {
            slot.in_use = false;
            self.used -= 1;
            self.free.push_back(id);
        }
    }

    pub const fn address(&self, id: SlotId) -> u64 {
        let (buffer, place) = (id.0 as u64 / self.per_buffer, id.0 as u64 % self.per_buffer);
        map::STAGING + buffer * self.spec.buffer.0 + place * self.stride
    }

    /// The slot at a byte of the pool, and the byte within it. The rest of a buffer behind its last slot belongs to that slot.
    pub fn find(&self, offset: u64) -> Option<(SlotId, u64)> {
        let (buffer, within) = (offset / self.spec.buffer.0, offset % self.spec.buffer.0);
        let place = (within / self.stride).min(self.per_buffer - 1);
        let number = buffer * self.per_buffer + place;
        (number < self.count).then(|| (SlotId(number as u32), within - place * self.stride))
    }

    pub fn get(&self, id: SlotId) -> Option<&Slot> {
        self.slots.get(id.0 as usize)
    }

    pub fn get_mut(&mut self, id: SlotId) -> Option<&mut Slot> {
        self.slots.get_mut(id.0 as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn spec(buffer: u64, buffers: u32) -> StagingSpec {
        StagingSpec { buffer: Bytes(buffer), buffers }
    }

    proptest! {
        #[test]
        fn no_slot_is_given_out_twice_and_none_overlap(
            buffer in 1u64..40, buffers in 1u32..5, message in 1u64..30_000, steps in prop::collection::vec(any::<bool>(), 0..200),
        ) {
            let spec = spec(buffer * PAGE, buffers);
            let mut pool = Staging::new(&spec).unwrap();
            prop_assume!(pool.cut(Bytes(message)).is_ok());
            let mut held = VecDeque::new();
            for take in steps {
                if take {
                    match pool.take(message, [0; 12], false) {
                        Some(id) => held.push_back(id),
                        None => prop_assert_eq!(held.len() as u64, pool.fill().0),
                    }
                } else if let Some(id) = held.pop_front() {
                    pool.release(id);
                }
                prop_assert_eq!(held.iter().collect::<HashSet<_>>().len(), held.len());
                prop_assert_eq!(pool.fill().1, pool.fill().0 - held.len() as u64);
            }
            for &id in &held {
                let offset = pool.address(id) - map::STAGING;
                prop_assert_eq!(pool.find(offset), Some((id, 0)));
                prop_assert_eq!(pool.find(offset + message - 1), Some((id, message - 1)));
                prop_assert_eq!(offset % PAGE, 0);
            }
            prop_assert_eq!(pool.find(spec.buffer.0 * u64::from(buffers)), None);
        }
    }

    #[test]
    fn a_buffer_holds_as_many_messages_as_fit_in_whole_pages() {
        assert_eq!(layout(&spec(2 << 20, 32), Bytes(4096)), Ok((4096, 512, 512 * 32)));
        assert_eq!(layout(&spec(2 << 20, 32), Bytes(1 << 20)), Ok((1 << 20, 2, 64)));
        assert_eq!(layout(&spec(2 << 20, 32), Bytes((1 << 20) + 1)), Ok(((1 << 20) + 4096, 1, 32)));
    }

    #[test]
    fn a_pool_that_cannot_hold_a_message_is_refused() {
        assert!(matches!(layout(&spec(1 << 20, 4), Bytes((1 << 20) + 1)), Err(HostError::Message { .. })));
        assert!(matches!(layout(&spec(1 << 20, 4), Bytes(u64::MAX)), Err(HostError::Message { .. })));
        assert!(matches!(layout(&spec(1 << 20, 4), Bytes(0)), Err(HostError::Message { .. })));
        assert!(matches!(layout(&spec(1 << 20, 0), Bytes(1)), Err(HostError::Pool { .. })));
        assert!(matches!(layout(&spec(u64::MAX, 4), Bytes(1)), Err(HostError::Pool { .. })));
        assert!(matches!(layout(&spec(4097, 4), Bytes(1)), Err(HostError::Pool { .. })));
    }
}
