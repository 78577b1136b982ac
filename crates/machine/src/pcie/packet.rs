//! A TLP inside the machine: its header as plain values, its payload as a slice of the memory that it was read from.
//!
//! The wire form is [`Tlp::header`] and [`Payload::bytes`], byte for byte; it is written out where someone looks at it: by the ECRC of a run that
//! carries bytes, and by the LCRC of a frame that something touches in transit.

use crate::{
    pcie::{
        credit::{CreditClass, Credits},
        mark::Mark,
        wire::crc,
    },
    sim::{FaultKind, Flip, Item, Pick, Selectors},
};
use std::{fmt, sync::Arc};

/// Requester ID of the first GPU below a root port: bus 1, device 0, function 0. Those of further ones are on the next buses.
const GPU_ID: u16 = 0x0100;
/// Stands for a digest over a payload that the run does not carry.
const NO_DIGEST: [u8; 4] = [0; 4];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    Completion,
    /// Completion without data: the request is not supported.
    Unsupported,
}

/// Payload bytes: a slice of shared memory, or nothing in a run without data.
#[derive(Clone, Default)]
pub struct Payload {
    memory: Option<Arc<Vec<u8>>>,
    offset: u32,
    length: u32,
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bytes() {
            Some(bytes) => f.write_str(&hex::encode(bytes)),
            None => f.write_str("none"),
        }
    }
}

impl Payload {
    /// `length` bytes of `memory` from `offset` on; those beyond its end read as zeros and are left out.
    pub fn slice(memory: &Arc<Vec<u8>>, offset: u64, length: u64) -> Self {
        let size = memory.len() as u64;
        let (start, end) = (offset.min(size), (offset + length).min(size));
        Self { memory: Some(Arc::clone(memory)), offset: start as u32, length: (end - start) as u32 }
    }

    pub fn of(bytes: Vec<u8>) -> Self {
        let length = bytes.len() as u32;
        Self { memory: Some(Arc::new(bytes)), offset: 0, length }
    }

    /// No bytes: the run carries none.
    pub const fn none() -> Self {
        Self { memory: None, offset: 0, length: 0 }
    }

    #[inline]
    pub fn part(&self, offset: u64, length: u64) -> Self {
        let size = u64::from(self.length);
        let (start, end) = (offset.min(size), (offset + length).min(size));
        Self { memory: self.memory.clone(), offset: self.offset + start as u32, length: (end - start) as u32 }
    }

    /// Length in bytes; 0 where the run carries none.
    #[inline]
    pub const fn length(&self) -> u64 {
        self.length as u64
    }

    /// Whether the run carries bytes.
    #[inline(always)]
    pub const fn is_there(&self) -> bool {
        self.memory.is_some()
    }

    /// The bytes, if the run carries any.
    #[inline]
    pub fn bytes(&self) -> Option<&[u8]> {
        let start = self.offset as usize;
        self.memory.as_ref().map(|m| &m[start..start + self.length as usize])
    }

    /// Appends what came behind it: one slice while they lie side by side in the same memory, a copy otherwise.
    #[inline(always)]
    pub fn append(&mut self, next: Self) {
        if next.is_there() && !self.extend(&next) {
            self.append_copied(next);
        }
    }

    fn append_copied(&mut self, next: Self) {
        let Some(mine) = self.bytes() else { return *self = next };
        let behind = next.bytes().unwrap_or_default();
        let end = self.offset as usize + mine.len();
        match self.memory.as_mut().and_then(Arc::get_mut) {
            // Nobody else sees this memory.
            Some(own) if own.len() == end => {
                own.extend_from_slice(behind);
                self.length += next.length;
            }
            _ => *self = Self::of([self.bytes().unwrap_or_default(), behind].concat()),
        }
    }

    /// Appends `next` if it lies right behind this slice in the same memory; says whether it did.
    #[inline]
    pub fn extend(&mut self, next: &Self) -> bool {
        let adjacent = match (&self.memory, &next.memory) {
            (Some(mine), Some(theirs)) => Arc::ptr_eq(mine, theirs) && self.offset + self.length == next.offset,
            _ => false,
        };
        if adjacent {
            self.length += next.length;
        }
        adjacent
    }

    /// Inverts a bit of bytes that begin at `address`.
    fn flip(&mut self, pick: impl Into<Pick>, address: u64) -> Option<Flip> {
        // The memory is shared: what others see in it stays as it is.
        let mut copy = self.bytes()?.to_vec();
        let flip = Flip::of_bytes(&mut copy, pick, Some(address));
        *self = Self::of(copy);
        flip
    }
}

#[derive(Debug, Clone)]
pub struct Tlp {
    pub kind: Kind,
    /// Place of the GPU that asks, or has asked, among those below its root complex: its bus number from 1 on.
    pub requester: u8,
    /// Transaction tag: 10 bits, in flit mode 14, of which [`Self::header`], that of the other links, has 10.
    pub tag: u16,
    /// Byte address; of a completion, that of its first byte.
    pub address: u64,
    /// Bytes asked for or carried.
    pub bytes: u32,
    /// Of a completion: bytes left, with this one.
    pub byte_count: u32,
    /// End-to-end CRC as sent, where it is on.
    pub ecrc: Option<[u8; 4]>,
    /// What IDE adds to it, while it is on a protected link.
    pub ide: Mark,
    pub payload: Payload,
}

impl Tlp {
    pub const fn read(tag: u16, address: u64, bytes: u32) -> Self {
        Self {
            kind: Kind::Read,
            requester: 0,
            tag,
            address,
            bytes,
            byte_count: 0,
            ecrc: None,
            ide: Mark::NONE,
            payload: Payload::none(),
        }
    }

    /// Takes it from its place, where it leaves a header without a payload.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Self {
        Self { payload: std::mem::take(&mut self.payload), ..*self }
    }

    /// Whether it is a completion that leaves more of its read to come.
    #[inline]
    pub const fn leaves_more(&self) -> bool {
        matches!(self.kind, Kind::Completion) && self.byte_count > self.bytes
    }

    pub const fn write(address: u64, bytes: u32, payload: Payload) -> Self {
        let (kind, ide) = (Kind::Write, Mark::NONE);
        Self { kind, requester: 0, tag: 0, address, bytes, byte_count: 0, ecrc: None, ide, payload }
    }

    /// The requester ID in its header.
    const fn requester_id(&self) -> u16 {
        GPU_ID.wrapping_add((self.requester as u16) << 8)
    }

    const fn completes(&self) -> bool {
        matches!(self.kind, Kind::Completion | Kind::Unsupported)
    }

    /// DW that cover the bytes carried.
    #[inline]
    pub const fn payload_dw(&self) -> u32 {
        if matches!(self.kind, Kind::Write | Kind::Completion) { self.covered_dw() } else { 0 }
    }

    const fn covered_dw(&self) -> u32 {
        covered((self.address % 4) as u32, self.bytes)
    }

    /// DW of the header: four for requests at or above 4 GiB, three for others.
    #[inline]
    pub const fn header_dw(&self) -> u32 {
        3 + (matches!(self.kind, Kind::Read | Kind::Write) & (self.address >> 32 != 0)) as u32
    }

    /// DW on the wire: STP token, header, payload, ECRC, what IDE adds, LCRC.
    #[inline]
    pub const fn wire_dw(&self) -> u32 {
        2 + self.header_dw() + self.payload_dw() + self.ecrc.is_some() as u32 + self.ide.dw()
    }

    /// What it consumes at the receiver.
    #[inline]
    pub const fn credits(&self) -> Credits {
        let class = match self.kind {
            Kind::Read => CreditClass::NonPosted,
            Kind::Write => CreditClass::Posted,
            Kind::Completion | Kind::Unsupported => CreditClass::Completion,
        };
        Credits::of(class, self.payload_dw())
    }

    /// The header as sent, and how many of its bytes count.
    pub fn header(&self) -> ([u8; 16], usize) {
        let mut header = [0; 16];
        let long = self.header_dw() == 4;
        let digest = (self.ecrc.is_some() as u8) << 7;
        let tag_high = ((self.tag >> 9 & 1) << 7 | (self.tag >> 8 & 1) << 3) as u8;
        let dw = if matches!(self.kind, Kind::Unsupported) { 0 } else { self.covered_dw() };
        header[0] = match self.kind {
            Kind::Read => (long as u8) << 5,
            Kind::Write => 0x40 | (long as u8) << 5,
            Kind::Completion => 0x4a,
            Kind::Unsupported => 0x0a,
        };
        header[1] = tag_high;
        header[2] = digest | (dw >> 8 & 3) as u8;
        header[3] = dw as u8;
        match self.kind {
            Kind::Read | Kind::Write => self.put_request(&mut header, dw, long),
            Kind::Completion | Kind::Unsupported => self.put_completion(&mut header),
        }
        (header, self.header_dw() as usize * 4)
    }

    fn put_request(&self, header: &mut [u8; 16], dw: u32, long: bool) {
        header[4..6].copy_from_slice(&self.requester_id().to_be_bytes());
        header[6] = self.tag as u8;
        let start = (self.address % 4) as u32;
        let end = (start + self.bytes) % 4;
        let first = 0xf_u8 << start & 0xf;
        let last = if end == 0 { 0xf } else { 0xf_u8 >> (4 - end) };
        header[7] = match (self.bytes, dw) {
            (0, _) => 0,
            (_, 1) => first & last,
            _ => last << 4 | first,
        };
        let address = self.address & !3;
        if long {
            header[8..16].copy_from_slice(&address.to_be_bytes());
        } else {
            header[8..12].copy_from_slice(&(address as u32).to_be_bytes());
        }
    }

    fn put_completion(&self, header: &mut [u8; 16]) {
        let status = u16::from(self.kind == Kind::Unsupported) << 13;
        header[6..8].copy_from_slice(&(status | (self.byte_count & 0xfff) as u16).to_be_bytes());
        header[8..10].copy_from_slice(&self.requester_id().to_be_bytes());
        header[10] = self.tag as u8;
        header[11] = (self.address & 0x7f) as u8;
    }

    /// LCRC over sequence number, header, payload and ECRC, as sent.
    pub fn lcrc(&self, sequence: u16) -> [u8; 4] {
        let (header, length) = self.header();
        self.with_whole_payload(|payload| crc::lcrc(sequence, &header[..length], payload, self.ecrc))
    }

    /// Whether its payload is one that the run does not carry. Faults are only armed in runs that carry bytes, so nothing has touched it.
    const fn lacks_payload(&self) -> bool {
        self.payload_dw() > 0 && !self.payload.is_there()
    }

    pub fn add_end_to_end_crc(&mut self) {
        // The bit that announces the digest is in the header, and the digest covers it.
        self.ecrc = Some(NO_DIGEST);
        if !self.lacks_payload() {
            self.ecrc = Some(self.end_to_end_crc());
        }
    }

    /// ECRC over header and payload, with the bit of the header that announces it as it is now.
    pub fn end_to_end_crc(&self) -> [u8; 4] {
        let (header, length) = self.header();
        self.with_whole_payload(|payload| crc::ecrc(&[], &header[..length], payload))
    }

    /// Whether the ECRC, where there is one, says that the TLP is as it was sent.
    #[inline]
    pub fn intact_end_to_end(&self) -> bool {
        self.ecrc.is_none_or(|sent| self.lacks_payload() || self.end_to_end_crc() == sent)
    }

    /// Calls `each` with the payload in whole DW: bytes outside the byte enables are sent as zeros.
    #[inline]
    pub(super) fn with_whole_payload<R>(&self, each: impl FnOnce(&[u8]) -> R) -> R {
        let dw = self.payload_dw() as usize;
        let bytes = self.payload.bytes().unwrap_or_default();
        if bytes.len() == dw * 4 || dw == 0 {
            return each(if dw == 0 { &[] } else { bytes });
        }
        let mut whole = vec![0; dw * 4];
        let start = (self.address % 4) as usize;
        let count = bytes.len().min(whole.len() - start);
        whole[start..start + count].copy_from_slice(&bytes[..count]);
        each(&whole)
    }
}

/// DW that cover so many bytes from `offset` within a DW on: one at least.
#[inline]
const fn covered(offset: u32, bytes: u32) -> u32 {
    let dw = (offset + bytes).div_ceil(4);
    if dw == 0 { 1 } else { dw }
}

impl Item for Tlp {
    const FAULTS: &'static [FaultKind] = &[FaultKind::Flip, FaultKind::Drop, FaultKind::Duplicate, FaultKind::Reorder];

    const SELECTORS: Selectors = Selectors { fields: &["address", "tag", "payload", "ecrc"], ..Selectors::NONE };

    #[inline(always)]
    fn event_key(&self) -> u64 {
        let Self { kind, requester, tag, address, bytes, .. } = *self;
        let of_first = address ^ u64::from(bytes) << 40 ^ u64::from(tag) << 52 ^ (kind as u64) << 62;
        of_first ^ u64::from(requester) << 34
    }

    /// Inverts a bit of the payload, or of the address where there is no payload.
    fn flip(&mut self, seed: u64) -> Option<Flip> {
        if self.payload_dw() > 0 {
            return self.payload.flip(seed, self.address);
        }
        self.flip_address(6 + seed % 6)
    }

    /// Of the whole TLP, as [`Item::flip`] takes it: its payload, or its address where there is no payload. A bit of the address is one of the byte address.
    fn flip_bit(&mut self, field: Option<&str>, pick: Pick) -> Option<Flip> {
        match field {
            Some("payload") => self.flip_payload(pick),
            None if self.payload_dw() > 0 => self.flip_payload(pick),
            // The two lowest bits of an address are not in a header.
            None | Some("address") => self.flip_address(pick.among(64).filter(|&bit| bit >= 2)?),
            Some("tag") => {
                let before = self.event_key();
                self.tag ^= 1 << pick.among(10)?;
                Some(Flip::of_header(before, self.event_key()))
            }
            Some("ecrc") => self.ecrc.as_mut().and_then(|digest| Flip::of_bytes(digest, pick, None)),
            Some(_) => None,
        }
    }
}

impl Tlp {
    pub(super) fn flip_payload(&mut self, pick: Pick) -> Option<Flip> {
        if self.payload_dw() > 0 { self.payload.flip(pick, self.address) } else { None }
    }

    fn flip_address(&mut self, bit: u64) -> Option<Flip> {
        let before = self.event_key();
        self.address ^= 1 << bit;
        Some(Flip::of_header(before, self.event_key()))
    }

    /// Inverts a bit of the payload, or of the header where there is no payload.
    pub(super) fn flip_content(&mut self, seed: u64) {
        if self.payload_dw() > 0 {
            self.payload.flip(seed, self.address);
        } else {
            self.flip_header(seed);
        }
    }

    /// Inverts a bit of the header, among those that leave its length as it is: tag, address, byte count.
    pub(super) fn flip_header(&mut self, seed: u64) {
        let completes = self.completes();
        let bit = seed % if completes { 10 + 5 + 12 } else { 10 + 30 };
        match bit {
            0..10 => self.tag ^= 1 << bit,
            10..15 => self.address ^= 1 << (bit - 8),
            _ if completes => self.byte_count ^= 1 << (bit - 15),
            _ => self.address ^= 1 << (bit - 8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcie::{
        split::{CompletionRule, CompletionSplit, Request},
        wire::{
            frame,
            tlp::{Attributes, MemoryOp, TlpRepr},
        },
    };
    use proptest::prelude::*;

    const READ: (Kind, MemoryOp) = (Kind::Read, MemoryOp::Read);
    const WRITE: (Kind, MemoryOp) = (Kind::Write, MemoryOp::Write);

    fn addresses() -> impl Strategy<Value = u64> {
        prop_oneof![any::<u32>().prop_map(u64::from), any::<u64>(), (1u64 << 32) - 8192..(1 << 32) + 8192]
    }

    /// The request as the wire module has it.
    fn request(op: MemoryOp, address: u64, bytes: u32, tag: u16) -> TlpRepr {
        TlpRepr::memory(op, Request { address, bytes }, GPU_ID, tag, Attributes::default())
    }

    /// All bytes of the TLP: header, payload padded to DW, digest.
    fn whole(tlp: &Tlp, header: &[u8], payload: &[u8]) -> Vec<u8> {
        let mut data = vec![0; (tlp.address % 4) as usize];
        data.extend(payload);
        data.resize(tlp.payload_dw() as usize * 4, 0);
        [header, &data, tlp.ecrc.as_ref().map_or(&[][..], |digest| digest)].concat()
    }

    /// Compares header, wire length, credits and LCRC with the wire module.
    fn compare(tlp: &Tlp, repr: &TlpRepr, payload: &[u8], sequence: u16) {
        let (header, length) = tlp.header();
        assert_eq!(&header[..length], repr.emit(), "{tlp:x?}");
        assert_eq!(tlp.wire_dw(), u32::from(repr.total_dw()) + 2);
        assert_eq!(tlp.credits(), repr.credits());
        let mut framed = Vec::new();
        frame::emit_tlp(&mut framed, sequence, &whole(tlp, &header[..length], payload), false);
        assert_eq!(framed.len() as u32, tlp.wire_dw() * 4);
        assert_eq!(framed[framed.len() - 4..], tlp.lcrc(sequence));
        if let Some(digest) = tlp.ecrc {
            assert_eq!(digest, crc::ecrc(&[], &framed[4..4 + length], &framed[4 + length..framed.len() - 8]));
        }
    }

    proptest! {
        #[test]
        fn requests_are_those_of_the_wire_module(
            address in addresses(),
            bytes in prop_oneof![0u32..9, 0u32..=4096],
            tag in 0u16..1024,
            sequence in 0u16..4096,
            digest in any::<bool>(),
        ) {
            let bytes = bytes.min(4096 - (address % 4096) as u32);
            for (kind, op) in [READ, WRITE] {
                let data: Vec<_> = (0..bytes).map(|n| (n * 7 + 1) as u8).collect();
                let payload = if kind == Kind::Write { Payload::of(data.clone()) } else { Payload::none() };
                let mut tlp = Tlp { kind, payload, tag, ..Tlp::read(tag, address, bytes) };
                let mut repr = request(op, address, bytes, tag);
                if digest {
                    tlp.add_end_to_end_crc();
                    repr = repr.with(&[("td", 1)]);
                    prop_assert!(tlp.intact_end_to_end());
                }
                compare(&tlp, &repr, if kind == Kind::Write { &data } else { &[] }, sequence);
            }
        }

        #[test]
        fn completions_are_those_of_the_wire_module(
            address in addresses(),
            bytes in 0u32..=4096,
            tag in 0u16..1024,
            sequence in 0u16..4096,
        ) {
            let bytes = bytes.min(4096 - (address % 4096) as u32);
            let read = request(MemoryOp::Read, address, bytes, tag);
            for piece in CompletionSplit::new(Request { address, bytes }, CompletionRule::new(64, 256).unwrap()) {
                let data: Vec<_> = (0..piece.bytes).map(|n| (n * 5 + 3) as u8).collect();
                let tlp = Tlp {
                    kind: Kind::Completion,
                    byte_count: piece.byte_count.into(),
                    payload: Payload::of(data.clone()),
                    ..Tlp::read(tag, piece.address, piece.bytes)
                };
                compare(&tlp, &TlpRepr::completion(&read, piece, 0), &data, sequence);
            }
            let refused = Tlp { kind: Kind::Unsupported, byte_count: bytes.max(1), ..Tlp::read(tag, address, 0) };
            let same = [("requester_id", GPU_ID.into()), ("tag", tag.into()), ("lower_address", address)];
            let repr = TlpRepr::of(0, 10).unwrap().with(&same);
            let repr = repr.with(&[("status", 1), ("byte_count", bytes.max(1).into())]);
            compare(&refused, &repr, &[], sequence);
        }

        #[test]
        fn any_flipped_bit_behind_the_link_is_seen_by_the_digest_only(
            address in addresses(),
            bytes in 1u32..=256,
            seed in any::<u64>(),
            write in any::<bool>(),
        ) {
            let bytes = bytes.min(4096 - (address % 4096) as u32);
            let payload = Payload::of(vec![0xa5; bytes as usize]);
            let mut tlp = if write { Tlp::write(address, bytes, payload) } else { Tlp::read(5, address, bytes) };
            let mut bare = tlp.clone();
            tlp.add_end_to_end_crc();
            prop_assert!(tlp.intact_end_to_end());
            let kept = tlp.clone();
            Item::flip(&mut tlp, seed);
            Item::flip(&mut bare, seed);
            prop_assert!(!tlp.intact_end_to_end());
            prop_assert!(bare.intact_end_to_end());
            // The memory that the payload was a slice of is as it was.
            prop_assert!(kept.intact_end_to_end());
        }
    }

    #[test]
    fn a_slice_is_cut_at_the_end_of_its_memory_and_joins_its_neighbour() {
        let memory = Arc::new((0..64).collect::<Vec<u8>>());
        let mut slice = Payload::slice(&memory, 8, 8);
        assert_eq!(slice.part(2, 3).bytes(), Some(&[10, 11, 12][..]));
        assert_eq!(slice.part(6, 100).bytes(), Some(&[14, 15][..]));
        assert!(slice.extend(&Payload::slice(&memory, 16, 4)));
        assert!(!slice.extend(&Payload::slice(&memory, 21, 4)));
        assert_eq!(slice.bytes().map(<[u8]>::len), Some(12));
        assert_eq!(Payload::slice(&memory, 60, 10).bytes().map(<[u8]>::len), Some(4));
        assert_eq!(Payload::slice(&memory, 100, 10).bytes(), Some(&[][..]));
    }

    #[test]
    fn pieces_that_are_appended_come_out_in_their_order_wherever_they_lie() {
        let memory = Arc::new((0..=255).collect::<Vec<u8>>());
        for cuts in [[0, 64, 128, 256], [0, 10, 11, 256]] {
            let mut whole = Payload::none();
            for pair in cuts.windows(2) {
                whole.append(Payload::slice(&memory, pair[0], pair[1] - pair[0]));
            }
            assert_eq!((whole.length(), whole.bytes()), (256, Some(&memory[..])));
        }
        let mut whole = Payload::none();
        for piece in
            [Payload::slice(&memory, 7, 2), Payload::of(vec![2; 3]), Payload::none(), Payload::slice(&memory, 9, 2)]
        {
            whole.append(piece);
        }
        assert_eq!((whole.length(), whole.bytes()), (7, Some(&[7, 8, 2, 2, 2, 9, 10][..])));
    }

    #[test]
    fn a_tlp_is_small() {
        assert!(size_of::<Tlp>() <= 48, "{}", size_of::<Tlp>());
    }
}
