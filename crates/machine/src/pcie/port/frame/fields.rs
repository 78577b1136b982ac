//! The bits of a frame by the names of its fields, for faults that choose one.
//!
//! Names are those of `sealsim tlp decode --format json`, but for `length`. A field's bit 0 is its lowest.

use super::{DllpFrame, TlpFrame};
use crate::{
    pcie::wire::{
        dllp::{self, DllpRepr},
        table::{Kind, Run},
        tlp,
    },
    sim::{Flip, Pick},
};

/// All fields of TLPs and DLLPs on a link.
pub(super) const NAMES: [&str; 29] = [
    "sequence",
    "fmt",
    "type",
    "length",
    "tc",
    "attr",
    "at",
    "td",
    "ep",
    "th",
    "ln",
    "tag",
    "requester_id",
    "completer_id",
    "address",
    "first_be",
    "last_be",
    "status",
    "bcm",
    "byte_count",
    "lower_address",
    "payload",
    "ecrc",
    "lcrc",
    "dllp_type",
    "ack_sequence",
    "header_credits",
    "data_credits",
    "crc",
];

/// The bits of a header's field, from the lowest on; none where this TLP has no such field. Bit 0 of an address is the lowest that is sent, bit 2
/// of the byte address.
fn header_runs(field: &str, header: &[u8; 16]) -> Option<&'static [Run]> {
    let name = if field == "length" { "length_dw" } else { field };
    Some(Kind::of(&tlp::KINDS, header[0])?.field(name)?.runs)
}

/// The bits of a DLLP's field.
fn dllp_runs(field: &str, repr: DllpRepr) -> Option<&'static [Run]> {
    let name = match field {
        "dllp_type" => "type",
        "ack_sequence" => "seq",
        "header_credits" => "hdr_fc",
        "data_credits" => "data_fc",
        "crc" => return Some(&[(5, 0, 8), (4, 0, 8)]),
        _ => return None,
    };
    Some(Kind::of(&dllp::KINDS, repr.emit()[0])?.field(name)?.runs)
}

/// The byte and the bit there of the bit that is picked among those of runs.
fn place(runs: &[Run], pick: Pick) -> Option<(u8, u8)> {
    let bits = runs.iter().map(|run| u64::from(run.2)).sum();
    let mut bit = pick.among(bits)?;
    for &(byte, low, count) in runs {
        if bit < count.into() {
            return Some((byte, low + bit as u8));
        }
        bit -= u64::from(count);
    }
    None
}

/// What distinguishes bits that were chosen by name from those that a seed has picked.
const NAMED: u64 = 1 << 32;

impl TlpFrame {
    /// Inverts a bit of a field, or of all bytes from the sequence number to the LCRC.
    pub(super) fn flip_bit(&mut self, field: Option<&str>, pick: Pick) -> Option<Flip> {
        let lcrc = self.lcrc();
        let (header, payload) = (self.tlp.header_dw() * 4, self.tlp.payload.length() as u32);
        let digest = if self.tlp.ecrc.is_some() { 4 } else { 0 };
        let place = match field {
            Some("sequence") => Place::Sequence(pick.among(12)?),
            Some("payload") => Place::Payload(pick.among(u64::from(payload) * 8)?),
            Some("ecrc") => Place::Ecrc(pick.among(digest * 8)?),
            Some("lcrc") => Place::Lcrc(pick.among(32)?),
            Some(field) => {
                let (byte, bit) = place(header_runs(field, &self.tlp.header().0)?, pick)?;
                Place::Header(u64::from(byte) * 8 + u64::from(bit))
            }
            None => {
                let ends = [12, u64::from(header) * 8, u64::from(payload) * 8, digest * 8, 32];
                Place::of_whole(pick.among(ends.iter().sum())?, ends)
            }
        };
        match place {
            Place::Sequence(bit) if bit < 8 => self.token[3] ^= 1 << bit,
            Place::Sequence(bit) => self.token[2] ^= 1 << (bit - 8),
            Place::Header(bit) => {
                // The same bit once more is as it was; of two bits one is as good as both.
                let bit = bit as u8 + 1;
                self.header_bit = if self.header_bit == bit { 0 } else { bit };
            }
            Place::Payload(bit) => _ = self.tlp.flip_payload(Pick::Bit(bit))?,
            Place::Ecrc(bit) => self.tlp.ecrc.as_mut()?[(bit / 8) as usize] ^= 1 << (bit % 8),
            Place::Lcrc(_) => {}
        }
        let mut sent = lcrc;
        if let Place::Lcrc(bit) = place {
            sent[(bit / 8) as usize] ^= 1 << (bit % 8);
        }
        self.lcrc = Some(sent);
        Some(Flip::in_passing(NAMED | place.number()))
    }
}

/// A bit of a frame.
#[derive(Clone, Copy)]
enum Place {
    Sequence(u64),
    Header(u64),
    Payload(u64),
    Ecrc(u64),
    Lcrc(u64),
}

impl Place {
    /// That of all bits, of which each part has so many.
    fn of_whole(mut bit: u64, ends: [u64; 5]) -> Self {
        let parts = [Self::Sequence, Self::Header, Self::Payload, Self::Ecrc, Self::Lcrc];
        for (part, bits) in parts.into_iter().zip(ends) {
            if bit < bits {
                return part(bit);
            }
            bit -= bits;
        }
        Self::Lcrc(31)
    }

    const fn number(self) -> u64 {
        match self {
            Self::Sequence(bit) => bit,
            Self::Header(bit) => 1 << 20 | bit,
            Self::Payload(bit) => 2 << 20 | bit,
            Self::Ecrc(bit) => 3 << 20 | bit,
            Self::Lcrc(bit) => 4 << 20 | bit,
        }
    }
}

impl DllpFrame {
    /// Inverts a bit of a field, or of all six bytes.
    pub(super) fn flip_bit(&mut self, field: Option<&str>, pick: Pick) -> Option<Flip> {
        let (byte, bit) = match field {
            Some(field) => place(dllp_runs(field, self.repr)?, pick)?,
            None => pick.among(48).map(|bit| ((bit / 8) as u8, (bit % 8) as u8))?,
        };
        let bytes = self.bytes.get_or_insert_with(|| self.repr.emit_with_crc());
        bytes[usize::from(byte)] ^= 1 << bit;
        // As a flip by seed distinguishes its bits.
        Some(Flip::in_passing(u64::from(byte) * 8 + u64::from(bit)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        pcie::{
            packet::{self, Payload, Tlp},
            port::frame::{Frame, PacketBytes, Refusal},
            wire::tlp::{TlpRepr, TlpView},
        },
        sim::Item,
    };
    use proptest::prelude::*;

    fn any_tlp() -> impl Strategy<Value = Tlp> {
        let payload = |bytes: u32| Payload::of((0..bytes).map(|n| (n * 7 + 3) as u8).collect());
        (0..4_u8, 0_u16..1024, any::<bool>(), 1_u32..65, any::<bool>()).prop_map(
            move |(kind, tag, high, dw, digest)| {
                let (address, bytes) = (if high { 0x12_3456_7800 } else { 0x1234_5600 }, dw * 4);
                let mut tlp = match kind {
                    0 => Tlp::read(tag, address, bytes),
                    1 => Tlp::write(address, bytes, payload(bytes)),
                    2 => Tlp {
                        kind: packet::Kind::Completion,
                        byte_count: bytes,
                        payload: payload(bytes),
                        ..Tlp::read(tag, address, bytes)
                    },
                    _ => Tlp { kind: packet::Kind::Unsupported, byte_count: bytes, ..Tlp::read(tag, address, bytes) },
                };
                if digest {
                    tlp.add_end_to_end_crc();
                }
                tlp
            },
        )
    }

    fn framed(tlp: Tlp) -> Frame {
        let token = Frame::token(tlp.wire_dw().into(), 0xabc);
        Frame::tlp(tlp, token)
    }

    fn bytes(frame: &Frame) -> Vec<u8> {
        match frame.packet() {
            Some(PacketBytes::Tlp(bytes)) => bytes,
            Some(PacketBytes::Dllp(bytes)) => bytes.to_vec(),
            None => Vec::new(),
        }
    }

    /// The bits in which two byte strings of the same length differ.
    fn differing(a: &[u8], b: &[u8]) -> u32 {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
    }

    proptest! {
        #[test]
        fn a_named_bit_is_the_only_one_that_changes_and_the_lcrc_catches_it(
            tlp in any_tlp(), field in prop::option::of(prop::sample::select(NAMES.to_vec())), bit in 0_u64..600, seeded: bool,
        ) {
            let frame = framed(tlp);
            let mut struck = frame.clone();
            let pick = if seeded { Pick::Seed(bit) } else { Pick::Bit(bit) };
            let flip = struck.flip_bit(field, pick);
            prop_assert_eq!(differing(&bytes(&frame), &bytes(&struck)), u32::from(flip.is_some()));
            let Frame::Tlp(tlp) = &struck else { panic!("no TLP") };
            prop_assert_eq!(tlp.check().is_ok(), flip.is_none());
            if flip.is_some() {
                if field == Some("sequence") {
                    prop_assert!(tlp.check().is_err());
                } else {
                    let refusal = tlp.check().err();
                    prop_assert!(matches!(refusal, Some(Refusal::Lcrc | Refusal::Framing)));
                }
                // The same bit once more is as it was.
                if !seeded {
                    struck.flip_bit(field, pick);
                    prop_assert_eq!(bytes(&frame), bytes(&struck));
                }
            }
        }

        #[test]
        fn a_bit_of_a_header_is_that_of_the_field_that_the_dissector_prints(
            tlp in any_tlp(), field in prop::sample::select(vec!["tc", "tag", "requester_id", "address", "length", "byte_count", "lower_address", "status"]),
        ) {
            let frame = framed(tlp.clone());
            let fields = |frame: &Frame| {
                let header = bytes(frame)[2..2 + tlp.header_dw() as usize * 4].to_vec();
                let repr = TlpRepr::parse(&TlpView::new_header(&header).ok()?).ok()?;
                serde_json::to_value(repr).ok()
            };
            let (name, mask) = match field {
                // 0 stands for 1024 DW and for 4096 bytes.
                "length" => ("length_dw", 0x3ff),
                "byte_count" => (field, 0xfff),
                _ => (field, u64::MAX),
            };
            let before = fields(&frame).unwrap();
            for bit in 0..64 {
                let mut struck = frame.clone();
                if struck.flip_bit(Some(field), Pick::Bit(bit)).is_none() {
                    continue;
                }
                // A header that makes no sense any more has no fields.
                let Some(after) = fields(&struck) else { continue };
                let (Some(old), Some(new)) = (before[name].as_u64(), after[name].as_u64()) else { continue };
                let shift = if field == "address" { bit + 2 } else { bit };
                prop_assert_eq!((old ^ new) & mask, 1 << shift, "{} bit {}", field, bit);
            }
        }
    }

    #[test]
    fn a_field_that_a_frame_lacks_changes_nothing() {
        let frame = framed(Tlp::read(5, 64, 64));
        for field in ["byte_count", "payload", "ecrc", "crc", "nonsense"] {
            let mut struck = frame.clone();
            assert_eq!(struck.flip_bit(Some(field), Pick::Bit(0)), None, "{field}");
            let Frame::Tlp(tlp) = &struck else { panic!("no TLP") };
            assert!(tlp.check().is_ok(), "{field}");
        }
        let mut ack = Frame::dllp(DllpRepr::Ack { sequence: 9 });
        assert!(ack.flip_bit(Some("header_credits"), Pick::Bit(0)).is_none());
        assert!(ack.flip_bit(Some("ack_sequence"), Pick::Bit(12)).is_none());
        let Frame::Dllp(dllp) = &mut ack else { panic!("no DLLP") };
        assert_eq!(dllp.check(), Some(DllpRepr::Ack { sequence: 9 }));
        assert!(dllp.flip_bit(Some("ack_sequence"), Pick::Bit(1)).is_some());
        assert_eq!(dllp.check(), None);
    }
}
