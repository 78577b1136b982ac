//! Host memory: staging, tags and semaphores in the open, private memory behind.
//!
//! ```text
//!              +------------------------------------+
//!  read       >| staging data | tags | IV page      |< cipher: fill, seal, open, drain
//!  write      >| semaphores   | pinned windows      |< driver: take, release
//!              +------------------------------------+
//!                        | PrivateMemory
//! ```
//!
//! It has no clock: the root complex charges the time of its reads and writes, the cipher that of its work. In a run that carries no bytes the
//! staging slots are empty; tags and semaphores are real in every run. Tags are then [pseudo tags](crate::gcm::pseudo). What was written of a
//! slot or of a copy is kept as [coverage](crate::sim::Coverage).

mod buffers;
mod pinned;

use super::{
    error::HostError,
    map::{self, Place},
    private::PrivateMemory,
    spec::{MemorySpec, StagingSpec},
    staging::{Slot, SlotId, Staging},
    work::{CipherJob, CopyPlan},
};
use crate::{
    aead::bytes::WireFormat,
    pcie::{
        packet::{Payload, Tlp},
        root_complex::{HostMemory, Notice, Written},
    },
    sim::{Armed, Coverage, FaultKind, FaultSite, Flip, Injection, Signals},
    units::{Bytes, Femtos},
};
use buffers::Buffers;
pub(super) use buffers::Touch;
use pinned::Pinned;
use std::{collections::BTreeMap, io};

/// Fault points of the host: a bit of a sealed message, or of its tag, as the CPU puts it into staging; the CPU's IV counter; a bit of a
/// message, or of its tag, between a user that seals and the CPU.
pub const FAULT_POINTS: &[(&str, &[FaultKind])] = &[
    ("staging.ciphertext", &[FaultKind::Flip]),
    ("staging.tag", &[FaultKind::Flip]),
    ("host.iv", &[FaultKind::Skip]),
    ("user.ciphertext", &[FaultKind::Flip]),
    ("user.tag", &[FaultKind::Flip]),
];

/// Places of the fault points in [`FAULT_POINTS`].
const CIPHERTEXT: usize = 0;
const TAG: usize = 1;
const IV: usize = 2;
const USER_CIPHERTEXT: usize = 3;
const USER_TAG: usize = 4;

const SEMAPHORE_BYTES: usize = map::MAX_STREAMS as usize * map::STREAM_STRIDE as usize;

pub struct HostState {
    staging: Staging,
    /// What messages carry, and the blocks of 16 bytes that the tags of the longest take.
    format: WireFormat,
    tags: u32,
    pinned: Pinned,
    buffers: Buffers,
    /// Messages that were sealed before they are asked for, by copy and first byte: ciphertext and tags.
    sealed: BTreeMap<(usize, u64), (Vec<u8>, Vec<u8>)>,
    semaphores: [u8; SEMAPHORE_BYTES],
    private: Option<Box<dyn PrivateMemory>>,
    points: [String; FAULT_POINTS.len()],
    armed: [Vec<Armed>; FAULT_POINTS.len()],
    /// What has arrived in private memory by copy, in a run that carries no bytes.
    arrived: BTreeMap<usize, Coverage>,
    fault: Option<String>,
    signals: Option<Signals>,
}

impl HostState {
    /// Memory with an empty staging pool; without `private` memory the run carries no bytes.
    pub fn new(
        spec: &StagingSpec,
        memory: &MemorySpec,
        private: Option<Box<dyn PrivateMemory>>,
    ) -> Result<Self, HostError> {
        HostError::check_rate("the rate of the last-level cache", memory.llc_rate.0)?;
        HostError::check_rate("the rate of DRAM", memory.dram_rate.0)?;
        let of_some = [
            ("the rate of DRAM for plain copies", memory.copy_dram_rate),
            ("the rate of DRAM for opening", memory.open_dram_rate),
        ];
        for (what, rate) in of_some {
            rate.map_or(Ok(()), |rate| HostError::check_rate(what, rate.0))?;
        }
        HostError::check_cost("a first touch", memory.first_touch)?;
        HostError::check_cost("a first touch of a huge page", memory.first_touch_huge)?;
        HostError::check_cost("a first touch of pinned memory", memory.first_touch_pinned)?;
        Ok(Self {
            staging: Staging::new(spec)?,
            format: WireFormat::GCM,
            tags: 1,
            pinned: Pinned::default(),
            buffers: Buffers::new(memory),
            sealed: BTreeMap::new(),
            semaphores: [0; SEMAPHORE_BYTES],
            private,
            points: std::array::from_fn(|place| FAULT_POINTS[place].0.to_owned()),
            armed: Default::default(),
            arrived: BTreeMap::new(),
            fault: None,
            signals: None,
        })
    }

    /// Lays each message's tags right behind it in its slot, from the next cut of the staging pool on.
    pub fn put_tags_inline(&mut self) {
        self.staging.trailer = map::TAG_BYTES * u64::from(self.tags);
    }

    /// The same memory for messages of a format.
    pub fn with_tags(self, format: WireFormat) -> Self {
        Self { format, tags: format.tag_blocks(), ..self }
    }

    /// Bytes of the tags of a message of so many bytes.
    pub const fn tag_bytes(&self, bytes: u64) -> u64 {
        self.format.of_message(bytes).tag_bytes()
    }

    pub const fn tag_address(&self, id: SlotId) -> u64 {
        map::TAGS + id.0 as u64 * map::tag_stride(self.tags)
    }

    /// Learns which buffers the copies have, by copy.
    pub fn describe(&mut self, plans: &[CopyPlan]) {
        self.buffers.describe(plans, self.staging.bytes());
    }

    /// Drives buffers out of the caches by writing `bytes` of other memory.
    pub(super) fn flush(&mut self, bytes: u64) {
        self.buffers.flush(bytes);
    }

    /// What the core spends on fetching the bytes of a job.
    pub(super) fn touch(&mut self, job: &CipherJob) -> Touch {
        let in_staging = job.slot != SlotId::NONE;
        let staging = if in_staging { self.slot_address(job.slot) - map::STAGING } else { 0 };
        self.buffers.touch(job, staging)
    }

    /// Whether the run carries bytes.
    pub const fn exact(&self) -> bool {
        self.private.is_some()
    }

    /// Why the run cannot go on: private memory has failed.
    pub const fn fault(&self) -> Option<&String> {
        self.fault.as_ref()
    }

    /// What has arrived of a copy. In a run that carries bytes its private memory knows.
    pub fn arrived(&self, copy: usize) -> Coverage {
        self.arrived.get(&copy).cloned().unwrap_or_default()
    }

    /// Notes bytes of a copy that job `by` has written, in a run that carries none.
    pub(super) fn note_arrival(&mut self, copy: usize, offset: u64, bytes: u64, by: u64) {
        self.arrived.entry(copy).or_default().add(offset, bytes, by);
    }

    /// Notes why the run cannot go on; the first reason stays.
    pub(super) fn fail(&mut self, what: String) {
        let what = self.fault.get_or_insert(what);
        if let Some(signals) = &self.signals {
            signals.fail(what);
        }
    }

    /// What an access to a copy's bytes in private memory gave; if it failed, the run cannot go on.
    fn accessed<T>(&mut self, copy: usize, offset: u64, access: io::Result<T>) -> Option<T> {
        access.map_err(|error| self.fail(format!("copy {} at {offset:#x}: {error}", copy + 1))).ok()
    }

    /// Gives its fault points the path of one host among several: `host1.staging.tag` for `staging.tag`.
    pub fn lie_below(&mut self, path: &str) {
        for (point, (name, _)) in self.points.iter_mut().zip(FAULT_POINTS) {
            *point = format!("{path}.{}", name.strip_prefix("host.").unwrap_or(name));
        }
    }

    /// Tells of what ends the run from now on.
    pub fn report_to(&mut self, signals: Signals) {
        self.signals = Some(signals);
    }

    /// Counts a transfer of `bytes` past a fault point at `time`, and lets the faults whose transfer it is invert bits of them. The bytes lie
    /// at `address`, if they are in memory that others read.
    fn pass(&mut self, point: usize, time: Femtos, bytes: &mut [u8], address: Option<u64>) {
        for armed in &mut self.armed[point] {
            if armed.transfer(time) {
                let flip = armed.pick().and_then(|pick| Flip::of_bytes(bytes, pick, address));
                armed.flipped(time, flip);
            }
        }
    }

    /// Counts an IV that the CPU takes at `time`; gives how many steps too many its counter takes before it.
    pub(super) fn iv_skips(&mut self, time: Femtos) -> usize {
        let due = self.armed[IV].iter_mut().filter_map(|armed| armed.transfer(time).then_some(armed));
        due.map(|armed| armed.struck(time)).count()
    }

    /// Cuts the staging pool into slots for messages of at most `message` bytes; nothing of it may be in use.
    pub(super) fn cut(&mut self, message: Bytes) -> Result<(), HostError> {
        self.staging.cut(message)
    }

    /// Whether the staging pool need not be cut anew for messages of at most `message` bytes, or can be.
    pub(super) fn may_cut(&self, message: Bytes) -> bool {
        self.staging.may_cut(message)
    }

    /// Keeps a message that was sealed before it is asked for.
    pub(super) fn keep_sealed(&mut self, copy: usize, offset: u64, sealed: (Vec<u8>, Vec<u8>)) {
        self.sealed.insert((copy, offset), sealed);
    }

    /// Takes such a message out.
    pub(super) fn take_sealed(&mut self, copy: usize, offset: u64) -> Option<(Vec<u8>, Vec<u8>)> {
        self.sealed.remove(&(copy, offset))
    }

    /// Maps the window of a copy that reads or fills pinned memory.
    pub(super) fn map_pinned(&mut self, copy: usize, bytes: Bytes) {
        self.pinned.map(copy, bytes.0);
    }

    /// Staging slots, and how many of them are free.
    pub const fn staging_fill(&self) -> (u64, u64) {
        self.staging.fill()
    }

    pub fn slot(&self, id: SlotId) -> Option<&Slot> {
        self.staging.get(id)
    }

    pub const fn slot_address(&self, id: SlotId) -> u64 {
        self.staging.address(id)
    }

    /// Takes a slot for a message; none if all are in use.
    pub(super) fn take(&mut self, bytes: u64, nonce: [u8; 12]) -> Option<SlotId> {
        self.staging.take(bytes, nonce, self.private.is_some())
    }

    pub(super) fn release(&mut self, id: SlotId) {
        self.staging.release(id);
    }

    /// Loads a copy's bytes into a slot and gives them, to be sealed in place. None without data or if they cannot be had.
    pub(super) fn fill(&mut self, id: SlotId, copy: usize, offset: u64) -> Option<&mut [u8]> {
        let slot = self.staging.get_mut(id)?;
        let bytes = slot.bytes_of_run(self.private.is_some())?;
        let loaded = self.private.as_mut()?.load(copy, offset, bytes);
        self.accessed(copy, offset, loaded)?;
        self.staging.get_mut(id)?.bytes_of_run(true)
    }

    /// Loads a copy's bytes; none without data or if they cannot be had.
    pub(super) fn load(&mut self, copy: usize, offset: u64, bytes: u64) -> Option<Vec<u8>> {
        let mut text = vec![0; bytes as usize];
        let loaded = self.private.as_mut()?.load(copy, offset, &mut text);
        self.accessed(copy, offset, loaded).map(|()| text)
    }

    /// Puts a sealed message into its slot.
    pub(super) fn put_text(&mut self, id: SlotId, text: Vec<u8>) {
        if let Some(slot) = self.staging.get_mut(id) {
            slot.data = std::sync::Arc::new(text);
        }
    }

    /// Stores bytes of a copy that job `by` has written into private memory; false if they cannot be kept.
    pub(super) fn store(&mut self, copy: usize, offset: u64, bytes: &[u8], by: u64) -> bool {
        let Some(private) = self.private.as_mut() else { return true };
        let stored = private.store(copy, offset, bytes, by);
        self.accessed(copy, offset, stored).is_some()
    }

    /// Lets faults act on a message, or its tag, that passes between a user who seals and the CPU at `time`.
    pub(super) fn pass_user(&mut self, time: Femtos, text: &mut [u8], tag: &mut [u8]) {
        self.pass(USER_CIPHERTEXT, time, text, None);
        self.pass(USER_TAG, time, tag, None);
    }

    /// Puts the tag of a message that has just been sealed next to it at `time`; `users` says that it was the user who sealed it.
    pub(super) fn put_sealed(&mut self, id: SlotId, tag: impl Into<Vec<u8>>, users: bool, time: Femtos) {
        let mut tag = tag.into();
        if self.armed.iter().any(|armed| !armed.is_empty()) {
            self.pass_sealed(id, &mut tag, users, time);
        }
        if let Some(slot) = self.staging.get_mut(id) {
            slot.tag = tag;
        }
    }

    /// Lets faults act on a message and its tag as they are put into staging.
    #[cold]
    fn pass_sealed(&mut self, id: SlotId, tag: &mut [u8], users: bool, time: Femtos) {
        let (exact, inline) = (self.exact(), self.staging.trailer > 0);
        let (text_at, apart) = (self.slot_address(id), self.tag_address(id));
        let Some(slot) = self.staging.get_mut(id) else { return };
        let tag_at = if inline { text_at + slot.bytes } else { apart };
        let mut data = std::mem::take(&mut slot.data);
        let text = if exact { std::sync::Arc::make_mut(&mut data).as_mut_slice() } else { &mut [] };
        self.pass(CIPHERTEXT, time, text, Some(text_at));
        self.pass(TAG, time, tag, Some(tag_at));
        if users {
            self.pass(USER_CIPHERTEXT, time, text, Some(text_at));
            self.pass(USER_TAG, time, tag, Some(tag_at));
        }
        if let Some(slot) = self.staging.get_mut(id) {
            slot.data = data;
        }
    }

    fn read_staging(&self, id: SlotId, within: u64, bytes: u32) -> Payload {
        let exact = self.exact();
        let Some(slot) = self.staging.get(id) else {
            return if exact { Slot::default().padded(within, bytes) } else { Payload::none() };
        };
        let beyond = within + u64::from(bytes) > slot.bytes;
        match exact {
            _ if beyond && (exact || self.staging.trailer > 0) => slot.padded(within, bytes),
            true => Payload::slice(&slot.data, within, u64::from(bytes)),
            false => Payload::none(),
        }
    }

    fn read_tags(&self, offset: u64, bytes: u32) -> Option<Payload> {
        let stride = map::tag_stride(self.tags);
        let end = (offset + u64::from(bytes)).div_ceil(stride);
        (end <= self.staging.fill().0).then(|| {
            let tag_byte = |at: u64| {
                let slot = self.staging.get(SlotId((at / stride) as u32));
                slot.and_then(|slot| slot.tag.get((at % stride) as usize)).copied().unwrap_or(0)
            };
            Payload::of((offset..offset + u64::from(bytes)).map(tag_byte).collect())
        })
    }

    fn write_tags(&mut self, offset: u64, bytes: &[u8]) -> Written {
        let (stride, format) = (map::tag_stride(self.tags), self.format);
        for (at, &byte) in (offset..).zip(bytes) {
            if let Some(slot) = self.staging.get_mut(SlotId((at / stride) as u32)) {
                slot.tag.resize(format.of_message(slot.bytes).tag_bytes() as usize, 0);
                if let Some(place) = slot.tag.get_mut((at % stride) as usize) {
                    *place = byte;
                }
            }
        }
        if offset < self.staging.fill().0 * stride { Written::Data } else { Written::Unmapped }
    }

    fn write_staging(&mut self, offset: u64, tlp: &Tlp) -> Written {
        let exact = self.exact();
        let Some((id, within)) = self.staging.find(offset) else { return Written::Unmapped };
        let (tag_bytes, inline) = (self.format.tag_bytes() as usize, self.staging.trailer > 0);
        if let Some(slot) = self.staging.get_mut(id) {
            let text = slot.bytes.saturating_sub(within);
            slot.written.add(within, text.min(tlp.bytes.into()), 0);
            if inline && u64::from(tlp.bytes) > text {
                slot.tag.resize(tag_bytes, 0);
                slot.write_behind(within, tlp.payload.bytes().unwrap_or_default());
            }
            if let (Some(held), Some(new)) = (slot.bytes_of_run(exact), tlp.payload.bytes()) {
                let start = (within as usize).min(held.len());
                let count = new.len().min(held.len() - start);
                held[start..start + count].copy_from_slice(&new[..count]);
            }
        }
        Written::Data
    }

    fn write_semaphore(&mut self, offset: u64, tlp: &Tlp) -> Written {
        let bytes = tlp.payload.bytes().unwrap_or_default();
        let width = if bytes.len() >= 8 { 8 } else { bytes.len().min(4) };
        let mut value = [0; 8];
        value[..width].copy_from_slice(&bytes[..width]);
        if let Some(place) = self.semaphores.get_mut(offset as usize..offset as usize + width) {
            place.copy_from_slice(&bytes[..width]);
        }
        Written::Semaphore(Notice { address: tlp.address, value: u64::from_le_bytes(value) })
    }

    fn write_pinned(&mut self, copy: usize, offset: u64, tlp: &Tlp) -> Written {
        if !self.pinned.holds(copy, offset, tlp.bytes.into()) {
            return Written::Unmapped;
        }
        match tlp.payload.bytes() {
            Some(bytes) => {
                self.store(copy, offset, bytes, 0);
            }
            None => self.note_arrival(copy, offset, tlp.bytes.into(), 0),
        }
        Written::Data
    }

    fn read_pinned(&mut self, copy: usize, offset: u64, bytes: u32) -> Option<Payload> {
        if !self.pinned.holds(copy, offset, bytes.into()) {
            return None;
        }
        let Some(private) = self.private.as_mut() else { return Some(Payload::none()) };
        let read = self.pinned.read(private.as_mut(), copy, offset, u64::from(bytes));
        self.accessed(copy, offset, read)
    }
}

impl FaultSite for HostState {
    fn fault_points(&self) -> Vec<(String, &'static [FaultKind])> {
        self.points.iter().zip(FAULT_POINTS).map(|(place, &(_, kinds))| (place.clone(), kinds)).collect()
    }

    fn arm(&mut self, injection: &Injection, armed: Armed) {
        let points = self.points.iter().zip(&mut self.armed);
        let at_point = points.filter(|(place, _)| **place == injection.place);
        at_point.for_each(|(_, faults)| faults.push(armed.clone()));
    }

    fn armed(&self) -> Vec<Armed> {
        self.armed.iter().flatten().cloned().collect()
    }
}

impl HostMemory for HostState {
    fn read(&mut self, address: u64, bytes: u32) -> Option<Payload> {
        match map::place(address)? {
            Place::Staging(offset) => {
                let (id, within) = self.staging.find(offset)?;
                Some(self.read_staging(id, within, bytes))
            }
            Place::Tags(offset) => self.read_tags(offset, bytes),
            Place::Iv => Some(Payload::of(vec![0; bytes as usize])),
            Place::Semaphores(offset) => {
                let at = |n| self.semaphores.get(offset as usize + n).copied().unwrap_or(0);
                Some(Payload::of((0..bytes as usize).map(at).collect()))
            }
            Place::Pinned { copy, offset } => self.read_pinned(copy, offset, bytes),
        }
    }

    fn write(&mut self, tlp: &Tlp) -> Written {
        match map::place(tlp.address) {
            Some(Place::Staging(offset)) => self.write_staging(offset, tlp),
            Some(Place::Tags(offset)) => self.write_tags(offset, tlp.payload.bytes().unwrap_or_default()),
            Some(Place::Iv) => Written::Data,
            Some(Place::Semaphores(offset)) => self.write_semaphore(offset, tlp),
            Some(Place::Pinned { copy, offset }) => self.write_pinned(copy, offset, tlp),
            None => Written::Unmapped,
        }
    }
}

#[cfg(test)]
mod tests;
