//! Data link layer packets: four bytes and a CRC-16.
//!
//! ```text
//!            byte 0       byte 1              byte 2              byte 3
//!  Ack/Nak   00 / 10      0                   0000 Seq[11:8]      Seq[7:0]
//!  FC        type | VC    HS[1:0] Hdr[7:2]    Hdr[1:0] DS[1:0] Data[11:8]   Data[7:0]
//!  feature   02           A Support[22:16]    Support[15:8]       Support[7:0]
//! ```
//!
//! FC types: InitFC1 P/NP/Cpl 40/50/60, InitFC2 c0/d0/e0, UpdateFC 80/90/a0.

mod kinds;

use super::{
    crc,
    table::{FieldsError, Given, Kind, Words, family, union},
};
use crate::credit::{CreditClass, Scale};
use serde::{Deserialize, Serialize};

pub use kinds::KINDS;

/// Bytes of a DLLP without its CRC.
pub const BYTES: usize = 4;

mod field {
    use std::ops::Range;
    pub const TYPE: usize = 0;
    pub const CONTENT: Range<usize> = 1..4;
    pub const CRC: Range<usize> = 4..6;
}

/// The phase of flow control that a credit DLLP belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreditPhase {
    Init1,
    Init2,
    Update,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Given<DllpRepr>", into = "Given<DllpRepr>")]
pub enum DllpRepr {
    /// All TLPs up to this sequence number have arrived.
    Ack {
        /// 12-bit sequence number.
        sequence: u16,
    },
    /// All TLPs up to this sequence number have arrived; the rest must be sent again.
    Nak {
        /// 12-bit sequence number.
        sequence: u16,
    },
    /// InitFC1, InitFC2 or UpdateFC.
    Credit {
        phase: CreditPhase,
        class: CreditClass,
        /// Virtual channel, 3 bits.
        virtual_channel: u8,
        header_scale: Scale,
        /// Header credits, 8 bits, in units of the scale.
        header: u8,
        data_scale: Scale,
        /// Data credits, 12 bits, in units of the scale.
        data: u16,
    },
    Feature {
        /// Supported features, 23 bits; bit 0 is scaled flow control.
        support: u32,
        /// The partner's features have been received.
        ack: bool,
    },
    Power(PowerRequest),
    Vendor {
        content: [u8; 3],
    },
    /// Nothing; the receiver drops it.
    Nop {
        content: [u8; 3],
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PowerRequest {
    EnterL1,
    EnterL23,
    ActiveStateRequestL1,
    RequestAck,
}

/// Power-management types with their codes.
const POWER: [(PowerRequest, u8); 4] = [
    (PowerRequest::EnterL1, 0x20),
    (PowerRequest::EnterL23, 0x21),
    (PowerRequest::ActiveStateRequestL1, 0x23),
    (PowerRequest::RequestAck, 0x24),
];

/// Credit types with the upper five bits of their codes.
const CREDIT: [(CreditPhase, CreditClass, u8); 9] = [
    (CreditPhase::Init1, CreditClass::Posted, 0x40),
    (CreditPhase::Init1, CreditClass::NonPosted, 0x50),
    (CreditPhase::Init1, CreditClass::Completion, 0x60),
    (CreditPhase::Init2, CreditClass::Posted, 0xc0),
    (CreditPhase::Init2, CreditClass::NonPosted, 0xd0),
    (CreditPhase::Init2, CreditClass::Completion, 0xe0),
    (CreditPhase::Update, CreditClass::Posted, 0x80),
    (CreditPhase::Update, CreditClass::NonPosted, 0x90),
    (CreditPhase::Update, CreditClass::Completion, 0xa0),
];

const ACK: u8 = 0x00;
const FEATURE: u8 = 0x02;
const NAK: u8 = 0x10;
const VENDOR: u8 = 0x30;
const NOP: u8 = 0x31;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DllpError {
    #[error("a DLLP has 4 bytes, or 6 with its CRC; there are {have}")]
    Size { have: usize },
    /// The type is reserved; a receiver drops such a DLLP.
    #[error("DLLP type {code:02x} is reserved")]
    ReservedType { code: u8 },
    #[error("the CRC-16 of these four bytes is {}, the DLLP has {}", hex::encode(.expected), hex::encode(.found))]
    Crc { expected: [u8; 2], found: [u8; 2] },
}

/// The bytes of a DLLP, with or without the CRC.
#[derive(Debug, Clone, Copy)]
pub struct DllpView<'a> {
    bytes: &'a [u8],
}

impl<'a> DllpView<'a> {
    /// A view of four bytes, or of six with the CRC. The CRC itself is not checked here: see [`Self::check_crc`].
    pub const fn new_checked(bytes: &'a [u8]) -> Result<Self, DllpError> {
        match bytes.len() {
            4 | 6 => Ok(Self { bytes }),
            have => Err(DllpError::Size { have }),
        }
    }

    pub const fn code(&self) -> u8 {
        self.bytes[field::TYPE]
    }

    /// The 24 bits after the type.
    pub fn content(&self) -> u32 {
        self.bytes[field::CONTENT].iter().fold(0, |value, &byte| value << 8 | u32::from(byte))
    }

    pub fn covered(&self) -> [u8; 4] {
        let mut covered = [0; 4];
        covered.copy_from_slice(&self.bytes[..BYTES]);
        covered
    }

    /// The CRC as received, if it is there.
    pub fn crc(&self) -> Option<[u8; 2]> {
        self.bytes.get(field::CRC).map(|crc| [crc[0], crc[1]])
    }

    /// Compares the CRC, if it is there.
    pub fn check_crc(&self) -> Result<(), DllpError> {
        let expected = crc::dllp(self.covered());
        match self.crc() {
            Some(found) if found != expected => Err(DllpError::Crc { expected, found }),
            _ => Ok(()),
        }
    }
}

impl DllpRepr {
    /// The values of a DLLP. The CRC is not looked at, and reserved bits are ignored.
    pub fn parse(view: &DllpView<'_>) -> Result<Self, DllpError> {
        let (code, content) = (view.code(), view.content());
        let [_, bytes @ ..] = content.to_be_bytes();
        Ok(match code {
            ACK => Self::Ack { sequence: (content & 0xfff) as u16 },
            NAK => Self::Nak { sequence: (content & 0xfff) as u16 },
            FEATURE => Self::Feature { support: content & 0x7f_ffff, ack: content >> 23 == 1 },
            VENDOR => Self::Vendor { content: bytes },
            NOP => Self::Nop { content: bytes },
            _ => {
                if let Some(&(power, ..)) = POWER.iter().find(|row| row.1 == code) {
                    return Ok(Self::Power(power));
                }
                let &(phase, class, ..) =
                    CREDIT.iter().find(|row| row.2 == code & 0xf8).ok_or(DllpError::ReservedType { code })?;
                Self::Credit {
                    phase,
                    class,
                    virtual_channel: code & 7,
                    header_scale: Scale::from_bits((content >> 22) as u8),
                    header: (content >> 14) as u8,
                    data_scale: Scale::from_bits((content >> 12) as u8),
                    data: (content & 0xfff) as u16,
                }
            }
        })
    }

    /// The four bytes of the DLLP. Values are cut to their width.
    pub fn emit(&self) -> [u8; BYTES] {
        let (code, content) = match *self {
            Self::Ack { sequence } => (ACK, u32::from(sequence & 0xfff)),
            Self::Nak { sequence } => (NAK, u32::from(sequence & 0xfff)),
            Self::Feature { support, ack } => (FEATURE, u32::from(ack) << 23 | support & 0x7f_ffff),
            Self::Vendor { content: [a, b, c] } => (VENDOR, u32::from_be_bytes([0, a, b, c])),
            Self::Nop { content: [a, b, c] } => (NOP, u32::from_be_bytes([0, a, b, c])),
            Self::Power(power) => (POWER.iter().find(|row| row.0 == power).map_or(NOP, |row| row.1), 0),
            Self::Credit { phase, class, virtual_channel, header_scale, header, data_scale, data } => {
                let row = CREDIT.iter().find(|row| row.0 == phase && row.1 == class);
                let code = row.map_or(NOP, |row| row.2) | virtual_channel & 7;
                let header = u32::from(header_scale.bits()) << 22 | u32::from(header) << 14;
                (code, header | u32::from(data_scale.bits()) << 12 | u32::from(data & 0xfff))
            }
        };
        let [_, a, b, c] = content.to_be_bytes();
        [code, a, b, c]
    }

    pub fn emit_with_crc(&self) -> [u8; 6] {
        let [a, b, c, d] = self.emit();
        let [e, f] = crc::dllp([a, b, c, d]);
        [a, b, c, d, e, f]
    }

    /// The name of the type, as in the field `type` of the JSON form.
    pub fn name(&self) -> &'static str {
        self.kind().name
    }

    fn kind(&self) -> &'static Kind {
        // The table has every type that is written.
        Kind::of(&KINDS, self.emit()[0]).unwrap_or(&KINDS[0])
    }

    /// Labels and values, as text has them: all but credits, which have a meaning of their own.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        self.kind().rows(&self.emit())
    }
}

family!(DllpRepr, union(&KINDS));

impl From<DllpRepr> for Given<DllpRepr> {
    fn from(repr: DllpRepr) -> Self {
        Self::of(repr.kind(), &repr.emit())
    }
}

impl TryFrom<Given<Self>> for DllpRepr {
    type Error = FieldsError;

    fn try_from(given: Given<Self>) -> Result<Self, FieldsError> {
        let name = given.text("type");
        let kind = KINDS.iter().find(|kind| kind.name == name);
        let kind = kind.ok_or_else(|| FieldsError::Kind(unknown(name)))?;
        let mut bytes = [kind.first, 0, 0, 0];
        let name = format!("a {name} DLLP");
        let words = Words { who: name.clone(), name, beside: "`type`" };
        given.fill(kind, words, &mut bytes).map_err(|error| match error {
            FieldsError::Range { field, value, high, .. } => {
                FieldsError::Width { field, value, bits: high.count_ones() }
            }
            error => error,
        })?;
        DllpView::new_checked(&bytes)
            .and_then(|view| Self::parse(&view))
            .map_err(|error| FieldsError::Kind(error.to_string()))
    }
}

/// What to say of a type that there is not.
fn unknown(name: &str) -> String {
    // Those of flow control and of power management are many, and so stand last.
    let mut kinds: Vec<_> = KINDS.iter().collect();
    kinds.sort_by_key(|kind| if kind.field("vc").is_some() { 1 } else { 2 * u8::from(kind.fields().count() == 1) });
    let names: Vec<_> = kinds.iter().map(|kind| kind.name).collect();
    // No more of a long name than shows which it is.
    let shown = match name.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    };
    format!("{shown:?} is no DLLP type; types are {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_parse_without_panic_and_what_parses_round_trips(bytes in prop::collection::vec(any::<u8>(), 0..8)) {
            let Ok(view) = DllpView::new_checked(&bytes) else { return Ok(()) };
            let _ = view.check_crc();
            let Ok(repr) = DllpRepr::parse(&view) else { return Ok(()) };
            let again = repr.emit_with_crc();
            let view = DllpView::new_checked(&again).unwrap();
            prop_assert_eq!(view.check_crc(), Ok(()));
            prop_assert_eq!(DllpRepr::parse(&view), Ok(repr));
        }

        /// A running machine packs by hand, for speed.
        #[test]
        fn types_are_packed_as_the_table_says_and_the_json_form_round_trips(
            row in 0..KINDS.len(), vc in 0..8_u8, content in any::<[u8; 3]>(),
        ) {
            let (kind, [a, b, c]) = (&KINDS[row], content);
            let given = [kind.first | vc & !kind.mask, a, b, c];
            let repr = DllpRepr::parse(&DllpView::new_checked(&given).unwrap()).unwrap();
            let mut said = [0; 4];
            kind.copy(&given, &mut said);
            prop_assert_eq!((repr.name(), repr.emit()), (kind.name, said));
            let json = serde_json::to_string(&repr).unwrap();
            prop_assert_eq!(serde_json::from_str::<DllpRepr>(&json).unwrap(), repr);
        }
    }

    #[test]
    fn a_field_of_another_type_is_refused_with_those_of_this_one() {
        let refused = |json: &str| serde_json::from_str::<DllpRepr>(json).unwrap_err().to_string();
        let ack = refused(r#"{"type":"ACK","seq":0,"vc":0}"#);
        assert_eq!(ack, "a ACK DLLP has no field `vc`; beside `type` it has `seq`");
        assert!(refused(r#"{"type":"PM_ENTER_L1","vc":0}"#).ends_with("beside `type` it has none"));
        assert_eq!(refused(r#"{"type":"ACK","seq":4096}"#), "`seq` is 4096, which does not fit its 12 bits");
        assert!(refused(&format!(r#"{{"type":"{}"}}"#, "A".repeat(100_000))).len() < 500);
    }

    /// The CRC is affine, so its distance does not depend on the DLLP.
    #[test]
    fn any_one_to_three_flipped_bits_are_caught() {
        let good = u64::from_be_bytes([0, 0, 0x80, 0x04, 0, 0x67, 0x5a, 0xb8]);
        let caught = |flips: u64| {
            let [_, _, bytes @ ..] = (good ^ flips).to_be_bytes();
            DllpView::new_checked(&bytes).unwrap().check_crc().is_err()
        };
        assert!(!caught(0));
        for (a, b, c) in (0..48).flat_map(|a| (0..=a).flat_map(move |b| (0..=b).map(move |c| (a, b, c)))) {
            let flips = 1 << a | 1 << b | 1_u64 << c;
            assert!(caught(flips), "{flips:012x}");
        }
    }
}
