//! The checked zero-copy view of a TLP in flit mode.

use super::{Kind, TYPES, Word, field, repr::TrailerSize};

/// Why bytes are no TLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FlitTlpError {
    /// Fewer bytes than the header says.
    #[error("the TLP is cut off: its {part} ends at byte {need}, there are {have} bytes")]
    Truncated {
        /// What is incomplete.
        part: &'static str,
        /// Bytes up to the end of that part.
        need: usize,
        /// Bytes present.
        have: usize,
    },
    /// More bytes than the header says.
    #[error("the header describes {need} bytes, there are {have}")]
    Surplus {
        /// Bytes of the TLP.
        need: usize,
        /// Bytes present.
        have: usize,
    },
    /// A type that is not read, so that nobody knows where the TLP ends.
    #[error("type {code:02x} is none of {}", known())]
    Type {
        /// The type.
        code: u8,
    },
    /// A value of TS of which no size is known.
    #[error("TS {bits} announces a trailer of no known size")]
    Trailer {
        /// TS.
        bits: u8,
    },
}

/// The types that are read, with their names.
fn known() -> String {
    TYPES.map(|(code, .., name)| format!("{code:02x} ({name})")).join(", ")
}

/// A TLP in a byte slice. The header, OHC included, is complete once the view exists; see the two constructors for the rest.
#[derive(Debug, Clone, Copy)]
pub struct FlitTlpView<'a> {
    bytes: &'a [u8],
    row: &'static (u8, Kind, bool, bool, &'static str),
    trailer: TrailerSize,
}

impl<'a> FlitTlpView<'a> {
    /// A view of exactly one whole TLP.
    ///
    /// # Errors
    /// Says which part is missing, or that bytes are left.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, FlitTlpError> {
        let view = Self::new_header(bytes)?;
        let (data_end, need) = (view.header_bytes() + view.payload_bytes(), view.total_bytes());
        match bytes.len() {
            have if have < data_end => Err(FlitTlpError::Truncated { part: "data", need: data_end, have }),
            have if have < need => Err(FlitTlpError::Truncated { part: "trailer", need, have }),
            have if have > need => Err(FlitTlpError::Surplus { need, have }),
            _ => Ok(view),
        }
    }

    /// A view of bytes that begin with a TLP: the header is whole, data and trailer may be cut off, and bytes may follow.
    ///
    /// # Errors
    /// Says that the header is cut off, or that type or trailer is unknown.
    pub fn new_header(bytes: &'a [u8]) -> Result<Self, FlitTlpError> {
        let have = bytes.len();
        let truncated = |need| FlitTlpError::Truncated { part: "header", need, have };
        let &code = bytes.get(field::TYPE).ok_or_else(|| truncated(4))?;
        let row = TYPES.iter().find(|row| row.0 == code).ok_or(FlitTlpError::Type { code })?;
        let &flags = bytes.get(field::FLAGS).ok_or_else(|| truncated(4))?;
        let trailer = TrailerSize::from_bits(flags >> 5).ok_or(FlitTlpError::Trailer { bits: flags >> 5 })?;
        let view = Self { bytes, row, trailer };
        if have < view.header_bytes() { Err(truncated(view.header_bytes())) } else { Ok(view) }
    }

    pub(super) fn row(&self) -> &'static (u8, Kind, bool, bool, &'static str) {
        self.row
    }

    fn word(&self, range: std::ops::Range<usize>) -> u16 {
        self.bytes[range].iter().fold(0, |value, &byte| value << 8 | u16::from(byte))
    }

    /// Traffic class.
    #[must_use]
    pub fn tc(&self) -> u8 {
        self.bytes[field::TC_OHC] >> 5
    }

    /// Which DW of OHC follow the base, 5 bits.
    #[must_use]
    pub fn ohc(&self) -> u8 {
        self.bytes[field::TC_OHC] & 0x1f
    }

    /// What follows the data.
    #[must_use]
    pub fn trailer_size(&self) -> TrailerSize {
        self.trailer
    }

    /// Attr, 3 bits.
    #[must_use]
    pub fn attr(&self) -> u8 {
        self.bytes[field::FLAGS] >> 2 & 7
    }

    /// Length as it is, 10 bits.
    #[must_use]
    pub fn raw_length(&self) -> u16 {
        self.word(field::FLAGS..field::LENGTH_LOW + 1) & 0x3ff
    }

    /// Requester ID of a request, completer ID of a completion.
    #[must_use]
    pub fn first_id(&self) -> u16 {
        self.word(field::FIRST_ID)
    }

    /// EP, a bit of the lower address, and the tag.
    #[must_use]
    pub fn ep_tag(&self) -> u16 {
        self.word(field::EP_TAG)
    }

    /// The address with AT, of 4 or 8 bytes.
    #[must_use]
    pub fn address_field(&self) -> u64 {
        let range = if self.row.2 { field::ADDRESS_64 } else { field::ADDRESS_32 };
        self.bytes[range].iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
    }

    /// Requester ID of a completion.
    #[must_use]
    pub fn second_id(&self) -> u16 {
        self.word(field::SECOND_ID)
    }

    /// Four bits of the lower address, and the byte count of a completion.
    #[must_use]
    pub fn low_count(&self) -> u16 {
        self.word(field::LOW_COUNT)
    }

    fn base_bytes(&self) -> usize {
        if self.row.2 { 16 } else { 12 }
    }

    /// DW of OHC-E.
    pub(super) fn ohc_e_words(&self) -> usize {
        [0, 1, 2, 4][usize::from(self.ohc() >> field::OHC_E_SHIFT)]
    }

    /// All DW of OHC, in order.
    pub(super) fn ohc_words(&self) -> impl Iterator<Item = Word> + use<'a> {
        self.bytes[self.base_bytes()..self.header_bytes()].as_chunks().0.iter().copied()
    }

    /// Bytes of the base and all OHC.
    #[must_use]
    pub fn header_bytes(&self) -> usize {
        let single = (self.ohc() & (field::OHC_A | field::OHC_B | field::OHC_C)).count_ones() as usize;
        self.base_bytes() + 4 * (single + self.ohc_e_words())
    }

    fn payload_bytes(&self) -> usize {
        match (self.row.3, self.raw_length()) {
            (false, _) => 0,
            (true, 0) => 4096,
            (true, length) => usize::from(length) * 4,
        }
    }

    /// Bytes of the whole TLP.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        self.header_bytes() + self.payload_bytes() + self.trailer.bytes()
    }

    fn part(&self, start: usize, bytes: usize) -> &'a [u8] {
        let end = (start + bytes).min(self.bytes.len());
        &self.bytes[start.min(end)..end]
    }

    /// The header with all OHC.
    #[must_use]
    pub fn header(&self) -> &'a [u8] {
        self.part(0, self.header_bytes())
    }

    /// The data, as far as they are there.
    #[must_use]
    pub fn payload(&self) -> &'a [u8] {
        self.part(self.header_bytes(), self.payload_bytes())
    }

    /// The trailer, as far as it is there.
    #[must_use]
    pub fn trailer(&self) -> &'a [u8] {
        self.part(self.header_bytes() + self.payload_bytes(), self.trailer.bytes())
    }
}
