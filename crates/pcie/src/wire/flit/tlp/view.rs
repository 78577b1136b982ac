//! The checked zero-copy view of a TLP in flit mode.

use super::{KINDS, repr::TrailerSize};
use crate::wire::table::Kind;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FlitTlpError {
    #[error("the TLP is cut off: its {part} ends at byte {need}, there are {have} bytes")]
    Truncated { part: &'static str, need: usize, have: usize },
    #[error("the header describes {need} bytes, there are {have}")]
    Surplus { need: usize, have: usize },
    /// A type that is not read, so that nobody knows where the TLP ends.
    #[error("type {code:02x} is none of {}", super::known(|code| format!("{code:02x}")))]
    Type { code: u8 },
    #[error("TS {bits} announces a trailer of no known size")]
    Trailer { bits: u8 },
}

/// DW of OHC-E, by its two bits of OHC.
pub(super) const OHC_E_DW: [usize; 4] = [0, 1, 2, 4];

/// A TLP in a byte slice. The header, OHC included, is complete once the view exists; see the two constructors for the rest.
#[derive(Debug, Clone, Copy)]
pub struct FlitTlpView<'a> {
    bytes: &'a [u8],
    kind: &'static Kind,
    trailer: TrailerSize,
}

impl<'a> FlitTlpView<'a> {
    /// A view of exactly one whole TLP.
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
    pub fn new_header(bytes: &'a [u8]) -> Result<Self, FlitTlpError> {
        let have = bytes.len();
        let truncated = |need| FlitTlpError::Truncated { part: "header", need, have };
        let &code = bytes.first().ok_or_else(|| truncated(4))?;
        let kind = Kind::of(&KINDS, code).ok_or(FlitTlpError::Type { code })?;
        let &flags = bytes.get(2).ok_or_else(|| truncated(4))?;
        let trailer = TrailerSize::from_bits(flags >> 5).ok_or(FlitTlpError::Trailer { bits: flags >> 5 })?;
        let view = Self { bytes, kind, trailer };
        if have < view.header_bytes() { Err(truncated(view.header_bytes())) } else { Ok(view) }
    }

    /// Its kind, of [`KINDS`].
    pub fn kind(&self) -> &'static Kind {
        self.kind
    }

    pub(super) fn base_bytes(&self) -> usize {
        if self.kind.first & 0x20 != 0 { 16 } else { 12 }
    }

    /// Bytes of the base and all OHC.
    pub fn header_bytes(&self) -> usize {
        let ohc = self.bytes[1];
        self.base_bytes() + 4 * ((ohc & 7).count_ones() as usize + OHC_E_DW[usize::from(ohc >> 3 & 3)])
    }

    fn payload_bytes(&self) -> usize {
        if self.kind.first & 0x40 == 0 {
            0
        } else {
            self.kind.get(self.bytes, "length_dw").unwrap_or_default() as usize * 4
        }
    }

    pub fn total_bytes(&self) -> usize {
        self.header_bytes() + self.payload_bytes() + self.trailer.bytes()
    }

    fn part(&self, start: usize, bytes: usize) -> &'a [u8] {
        let end = (start + bytes).min(self.bytes.len());
        &self.bytes[start.min(end)..end]
    }

    pub fn header(&self) -> &'a [u8] {
        self.part(0, self.header_bytes())
    }

    /// The data, as far as they are there.
    pub fn payload(&self) -> &'a [u8] {
        self.part(self.header_bytes(), self.payload_bytes())
    }

    /// The trailer, as far as it is there.
    pub fn trailer(&self) -> &'a [u8] {
        self.part(self.header_bytes() + self.payload_bytes(), self.trailer.bytes())
    }
}
