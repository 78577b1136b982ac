//! A TLP header of flit mode as plain values.

use super::{FlitTlpError, FlitTlpFields, FlitTlpView, Kind, TYPES, Word, field};
use crate::wire::tlp::Attributes;
use serde::{Deserialize, Serialize};

/// TS: what follows the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrailerSize {
    /// Nothing.
    #[default]
    None,
    /// An ECRC.
    Ecrc,
    /// The MAC of IDE.
    Mac,
    /// MAC and PCRC of IDE.
    MacPcrc,
}

impl TrailerSize {
    const TABLE: [(Self, u8, usize); 4] =
        [(Self::None, 0, 0), (Self::Ecrc, 1, 4), (Self::Mac, 5, 12), (Self::MacPcrc, 6, 16)];

    /// From TS; none if no size is known for it.
    #[must_use]
    pub fn from_bits(bits: u8) -> Option<Self> {
        Self::TABLE.iter().find(|row| row.1 == bits).map(|row| row.0)
    }

    /// TS.
    #[must_use]
    pub const fn bits(self) -> u8 {
        Self::TABLE[self as usize].1
    }

    /// Bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        Self::TABLE[self as usize].2
    }
}

/// OHC-A1, of requests to memory. Without it all bytes are enabled and there is no PASID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OhcA1 {
    /// No write (bit 3), PASID valid (2), privileged mode requested (1), execute requested (0).
    pub flags: u8,
    /// Process address space, 20 bits.
    pub pasid: u32,
    /// Byte enables of the last DW.
    pub last_be: u8,
    /// Byte enables of the first DW.
    pub first_be: u8,
}

/// OHC-A5, of completions. Without it the status is success, and segments and the low two bits of the address are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OhcA5 {
    /// Segment of the requester, if it is valid.
    pub destination_segment: Option<u8>,
    /// Segment of the completer.
    pub completer_segment: u8,
    /// Completion status, 3 bits; see [`crate::wire::tlp::STATUS`].
    pub status: u8,
}

/// OHC-E: end-to-end prefixes of vendors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OhcE {
    /// None.
    #[default]
    None,
    /// One DW.
    One([Word; 1]),
    /// Two DW.
    Two([Word; 2]),
    /// Four DW.
    Four([Word; 4]),
}

impl OhcE {
    /// From its DW; none unless there are 0, 1, 2 or 4.
    #[must_use]
    pub fn from_words(words: &[Word]) -> Option<Self> {
        Some(match *words {
            [] => Self::None,
            [a] => Self::One([a]),
            [a, b] => Self::Two([a, b]),
            [a, b, c, d] => Self::Four([a, b, c, d]),
            _ => return None,
        })
    }

    /// Its DW.
    #[must_use]
    pub fn words(&self) -> &[Word] {
        match self {
            Self::None => &[],
            Self::One(words) => words,
            Self::Two(words) => words,
            Self::Four(words) => words,
        }
    }

    const fn bits(&self) -> u8 {
        match self {
            Self::None => 0,
            Self::One(_) => 1,
            Self::Two(_) => 2,
            Self::Four(_) => 3,
        }
    }
}

/// What differs by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlitBody {
    /// A read or write of memory.
    Memory {
        /// Write, else read.
        write: bool,
        /// 64-bit address.
        wide: bool,
        /// Address, a multiple of 4.
        address: u64,
        /// Address type, 2 bits.
        at: u8,
        /// OHC-A1.
        ohc_a: Option<OhcA1>,
    },
    /// A completion.
    Completion {
        /// With data.
        data: bool,
        /// Bus, device and function of the completer.
        completer_id: u16,
        /// Bytes left with this completion, 1 to 4096.
        byte_count: u16,
        /// Low seven bits of the address of the first byte. Its low two are sent only with OHC-A5.
        lower_address: u8,
        /// OHC-A5.
        ohc_a: Option<OhcA5>,
    },
}

/// A TLP header of flit mode as plain values: everything but data and trailer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "FlitTlpFields", into = "FlitTlpFields")]
pub struct FlitTlpRepr {
    /// Traffic class, 3 bits.
    pub tc: u8,
    /// Attributes.
    pub attributes: Attributes,
    /// What follows the data.
    pub trailer: TrailerSize,
    /// Poisoned.
    pub ep: bool,
    /// Length in DW, 1 to 1024; as it is in a completion without data.
    pub length_dw: u16,
    /// Tag, 14 bits.
    pub tag: u16,
    /// Bus, device and function of the requester.
    pub requester_id: u16,
    /// OHC-B, hints.
    pub ohc_b: Option<Word>,
    /// OHC-C, requester segment and IDE.
    pub ohc_c: Option<Word>,
    /// OHC-E.
    pub ohc_e: OhcE,
    /// The rest, by kind.
    pub body: FlitBody,
}

/// The body of a type, with values of 0; none if the type is unknown.
pub(super) fn body_of(code: u8) -> Option<FlitBody> {
    let &(_, kind, wide, data, _) = TYPES.iter().find(|row| row.0 == code)?;
    Some(match kind {
        Kind::Memory => FlitBody::Memory { write: data, wide, address: 0, at: 0, ohc_a: None },
        Kind::Completion => {
            FlitBody::Completion { data, completer_id: 0, byte_count: 0, lower_address: 0, ohc_a: None }
        }
    })
}

impl OhcA1 {
    fn parse([high, middle, low, enables]: Word) -> Self {
        let pasid = u32::from_be_bytes([0, high & 0xf, middle, low]);
        Self { flags: high >> 4, pasid, last_be: enables >> 4, first_be: enables & 0xf }
    }

    fn emit(&self) -> Word {
        let [_, high, middle, low] = self.pasid.to_be_bytes();
        [self.flags << 4 | high & 0xf, middle, low, self.last_be << 4 | self.first_be & 0xf]
    }
}

impl OhcA5 {
    /// The word, and two bits of the lower address in it.
    fn parse([destination, completer_segment, valid, low]: Word) -> (Self, u8) {
        let destination_segment = (valid & 0x80 != 0).then_some(destination);
        (Self { destination_segment, completer_segment, status: low & 7 }, low >> 3 & 3)
    }

    fn emit(&self, lower_address: u8) -> Word {
        let valid = u8::from(self.destination_segment.is_some()) << 7;
        let low = (lower_address & 3) << 3 | self.status & 7;
        [self.destination_segment.unwrap_or_default(), self.completer_segment, valid, low]
    }
}

impl FlitTlpRepr {
    fn row(&self) -> &'static (u8, Kind, bool, bool, &'static str) {
        let (kind, wide, data) = match self.body {
            FlitBody::Memory { write, wide, .. } => (Kind::Memory, wide, write),
            FlitBody::Completion { data, .. } => (Kind::Completion, false, data),
        };
        TYPES.iter().find(|row| (row.1, row.2, row.3) == (kind, wide, data)).unwrap_or(&TYPES[0])
    }

    /// Type.
    #[must_use]
    pub fn code(&self) -> u8 {
        self.row().0
    }

    /// The name of the kind of TLP, for example `MWr64`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.row().4
    }

    /// DW of data.
    #[must_use]
    pub fn payload_dw(&self) -> u16 {
        if self.row().3 { self.length_dw } else { 0 }
    }

    /// The values of a header. Reserved bits are ignored.
    ///
    /// # Errors
    /// [`FlitTlpError::Type`].
    pub fn parse(view: &FlitTlpView<'_>) -> Result<Self, FlitTlpError> {
        let &(code, kind, wide, data, _) = view.row();
        let mut words = view.ohc_words();
        let mut next = |bit: u8| if view.ohc() & bit != 0 { words.next() } else { None };
        let (ohc_a, ohc_b, ohc_c) = (next(field::OHC_A), next(field::OHC_B), next(field::OHC_C));
        let ohc_e = OhcE::from_words(&words.collect::<Vec<_>>()).ok_or(FlitTlpError::Type { code })?;
        let (first_id, ep_tag, low_count) = (view.first_id(), view.ep_tag(), view.low_count());
        let (body, requester_id) = match kind {
            Kind::Memory => {
                let (address, at) = (view.address_field() & !3, (view.address_field() & 3) as u8);
                (FlitBody::Memory { write: data, wide, address, at, ohc_a: ohc_a.map(OhcA1::parse) }, first_id)
            }
            Kind::Completion => {
                let (ohc_a, low) = ohc_a.map(OhcA5::parse).unzip();
                let high = u8::from(ep_tag & field::LOWER_ADDRESS_6 != 0) << 6;
                let lower_address = high | ((low_count >> 12) as u8) << 2 | low.unwrap_or_default();
                let byte_count = if low_count & 0xfff == 0 { 4096 } else { low_count & 0xfff };
                let body = FlitBody::Completion { data, completer_id: first_id, byte_count, lower_address, ohc_a };
                (body, view.second_id())
            }
        };
        let length_dw = match view.raw_length() {
            0 if data || kind == Kind::Memory => 1024,
            length => length,
        };
        let (tc, attributes, trailer) = (view.tc(), Attributes::from_bits(view.attr()), view.trailer_size());
        let (ep, tag) = (ep_tag & field::EP != 0, ep_tag & field::TAG);
        Ok(Self { tc, attributes, trailer, ep, length_dw, tag, requester_id, ohc_b, ohc_c, ohc_e, body })
    }

    /// The header's bytes, OHC included. Values are cut to their width.
    #[must_use]
    pub fn emit(&self) -> Vec<u8> {
        let mut bytes = vec![0; if self.row().2 { 16 } else { 12 }];
        let mut ep_tag = self.tag & field::TAG | if self.ep { field::EP } else { 0 };
        let (first_id, ohc_a) = match self.body {
            FlitBody::Memory { wide, address, at, ohc_a, .. } => {
                let word = address & !3 | u64::from(at & 3);
                if wide {
                    bytes[field::ADDRESS_64].copy_from_slice(&word.to_be_bytes());
                } else {
                    bytes[field::ADDRESS_32].copy_from_slice(&(word as u32).to_be_bytes());
                }
                (self.requester_id, ohc_a.map(|ohc| ohc.emit()))
            }
            FlitBody::Completion { completer_id, byte_count, lower_address, ohc_a, .. } => {
                ep_tag |= if lower_address & 0x40 != 0 { field::LOWER_ADDRESS_6 } else { 0 };
                let low_count = u16::from(lower_address >> 2 & 0xf) << 12 | byte_count & 0xfff;
                bytes[field::SECOND_ID].copy_from_slice(&self.requester_id.to_be_bytes());
                bytes[field::LOW_COUNT].copy_from_slice(&low_count.to_be_bytes());
                (completer_id, ohc_a.map(|ohc| ohc.emit(lower_address)))
            }
        };
        let present = |word: Option<Word>, bit: u8| if word.is_some() { bit } else { 0 };
        let ohc = present(ohc_a, field::OHC_A) | present(self.ohc_b, field::OHC_B) | present(self.ohc_c, field::OHC_C);
        let [length_high, length_low] = self.length_dw.to_be_bytes();
        bytes[field::TYPE] = self.code();
        bytes[field::TC_OHC] = self.tc << 5 | self.ohc_e.bits() << field::OHC_E_SHIFT | ohc;
        bytes[field::FLAGS] = self.trailer.bits() << 5 | self.attributes.bits() << 2 | length_high & 3;
        bytes[field::LENGTH_LOW] = length_low;
        bytes[field::FIRST_ID].copy_from_slice(&first_id.to_be_bytes());
        bytes[field::EP_TAG].copy_from_slice(&ep_tag.to_be_bytes());
        [ohc_a, self.ohc_b, self.ohc_c].iter().flatten().chain(self.ohc_e.words()).for_each(|word| bytes.extend(word));
        bytes
    }
}

#[cfg(test)]
mod tests;
