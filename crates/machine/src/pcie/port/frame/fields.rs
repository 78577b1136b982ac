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

/// Which of several things that have so many bits has the bit that is picked among all of these, and which bit of it that is.
fn place(pick: Pick, sizes: impl Iterator<Item = u64> + Clone) -> Option<(usize, u64)> {
    let mut bit = pick.among(sizes.clone().sum())?;
    for (place, size) in sizes.enumerate() {
        if bit < size {
            return Some((place, bit));
        }
        bit -= size;
    }
    None
}

/// The bit that is picked among those of runs, counted from the lowest of the first byte on.
fn place_in(runs: &[Run], pick: Pick) -> Option<u64> {
    let (run, bit) = place(pick, runs.iter().map(|run| run.2.into()))?;
    Some(u64::from(runs[run].0) * 8 + u64::from(runs[run].1) + bit)
}

/// What distinguishes bits that were chosen by name from those that a seed has picked.
const NAMED: u64 = 1 << 32;

impl TlpFrame {
    /// Inverts a bit of a field, or of all bytes from the sequence number to the LCRC.
    pub(super) fn flip_bit(&mut self, field: Option<&str>, pick: Pick) -> Option<Flip> {
        let mut lcrc = self.lcrc();
        let digest = self.tlp.ecrc.map_or(0, |digest| digest.len());
        let (header, payload) = (u64::from(self.tlp.header_dw()) * 4, self.tlp.payload.length());
        let sizes = [12, header * 8, payload * 8, digest as u64 * 8, 32];
        let named = field.and_then(|field| PARTS.iter().position(|part| *part == Some(field)));
        let (part, bit) = match (field, named) {
            (None, _) => place(pick, sizes.into_iter())?,
            (_, Some(part)) => (part, pick.among(sizes[part])?),
            (Some(field), None) => (HEADER, place_in(header_runs(field, &self.tlp.header().0)?, pick)?),
        };
        let (byte, mask) = ((bit / 8) as usize, 1 << (bit % 8));
        match part {
            SEQUENCE => self.token[3 - byte] ^= mask,
            HEADER => {
                // The same bit once more is as it was; of two bits one is as good as both.
                let bit = bit as u8 + 1;
                self.header_bit = if self.header_bit == bit { 0 } else { bit };
            }
            PAYLOAD => _ = self.tlp.flip_payload(Pick::Bit(bit))?,
            ECRC => self.tlp.ecrc.as_mut()?[byte] ^= mask,
            _ => lcrc[byte] ^= mask,
        }
        self.lcrc = Some(lcrc);
        Some(Flip::in_passing(NAMED | (part as u64) << 20 | bit))
    }
}

/// The parts of a frame in the order of its bytes, by the names of those that are one field.
const PARTS: [Option<&str>; 5] = [Some("sequence"), None, Some("payload"), Some("ecrc"), Some("lcrc")];
const SEQUENCE: usize = 0;
const HEADER: usize = 1;
const PAYLOAD: usize = 2;
const ECRC: usize = 3;

impl DllpFrame {
    /// Inverts a bit of a field, or of all six bytes.
    pub(super) fn flip_bit(&mut self, field: Option<&str>, pick: Pick) -> Option<Flip> {
        let bit = match field {
            Some(field) => place_in(dllp_runs(field, self.repr)?, pick)?,
            None => pick.among(48)?,
        };
        let bytes = self.bytes.get_or_insert_with(|| self.repr.emit_with_crc());
        bytes[(bit / 8) as usize] ^= 1 << (bit % 8);
        Some(Flip::in_passing(bit))
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
