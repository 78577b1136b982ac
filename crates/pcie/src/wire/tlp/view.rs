//! The checked zero-copy view of a TLP.

use super::MAX_PREFIXES;
use crate::wire::{
    crc,
    ide::{MAC_BYTES, PrefixView},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TlpError {
    #[error("the TLP is cut off: its {part} ends at byte {need}, there are {have} bytes")]
    Truncated { part: &'static str, need: usize, have: usize },
    #[error("the header describes {need} bytes, there are {have}")]
    Surplus { need: usize, have: usize },
    #[error("Fmt {fmt} (first byte {byte:02x}) is reserved")]
    ReservedFmt { fmt: u8, byte: u8 },
    #[error("Fmt {fmt} with Type {code:05b} (first byte {:02x}) is reserved", .fmt << 5 | .code)]
    ReservedType { fmt: u8, code: u8 },
    #[error("more than {MAX_PREFIXES} prefixes")]
    Prefixes,
}

/// A TLP in a byte slice. The header is complete once the view exists; see the two constructors for the rest.
#[derive(Debug, Clone, Copy)]
pub struct TlpView<'a> {
    bytes: &'a [u8],
    /// Bytes of the prefixes.
    start: usize,
}

impl<'a> TlpView<'a> {
    /// A view of exactly one whole TLP.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, TlpError> {
        let view = Self::new_header(bytes)?;
        let (payload_end, need) = (view.payload_start() + view.payload_bytes(), view.total_bytes());
        let tail = if view.trailer_bytes() > 0 { "MAC" } else { "digest" };
        match bytes.len() {
            have if have < payload_end => Err(TlpError::Truncated { part: "data", need: payload_end, have }),
            have if have < need => Err(TlpError::Truncated { part: tail, need, have }),
            have if have > need => Err(TlpError::Surplus { need, have }),
            _ => Ok(view),
        }
    }

    /// A view of bytes that begin with a TLP: prefixes and header are whole, data and digest may be cut off, and bytes
    /// may follow.
    pub fn new_header(bytes: &'a [u8]) -> Result<Self, TlpError> {
        let have = bytes.len();
        let mut start = 0;
        loop {
            let Some(&byte) = bytes.get(start) else {
                return Err(TlpError::Truncated { part: "header", need: start + 12, have });
            };
            match byte >> 5 {
                4 if start == MAX_PREFIXES * 4 => return Err(TlpError::Prefixes),
                4 => start += 4,
                fmt @ 5.. => return Err(TlpError::ReservedFmt { fmt, byte }),
                fmt => {
                    let need = start + if fmt & 1 == 1 { 16 } else { 12 };
                    if have < need {
                        return Err(TlpError::Truncated { part: "header", need, have });
                    }
                    return Ok(Self { bytes, start });
                }
            }
        }
    }

    fn byte(&self, at: usize) -> u8 {
        self.bytes[self.start + at]
    }

    /// Fmt, 3 bits: 0 and 1 without data, 2 and 3 with; 1 and 3 have a header of four DW.
    pub fn fmt(&self) -> u8 {
        self.byte(0) >> 5
    }

    /// Type, 5 bits.
    pub fn code(&self) -> u8 {
        self.byte(0) & 0x1f
    }

    pub fn has_data(&self) -> bool {
        self.fmt() & 2 != 0
    }

    pub fn td(&self) -> bool {
        self.byte(2) & 0x80 != 0
    }

    /// The Length field as it is, 10 bits.
    pub fn raw_length(&self) -> u16 {
        u16::from(self.byte(2) & 3) << 8 | u16::from(self.byte(3))
    }

    /// The prefixes, each of four bytes.
    pub fn prefixes(&self) -> &'a [[u8; 4]] {
        self.bytes[..self.start].as_chunks().0
    }

    /// The header, 12 or 16 bytes.
    pub fn header(&self) -> &'a [u8] {
        &self.bytes[self.start..self.payload_start()]
    }

    fn payload_start(&self) -> usize {
        self.start + if self.fmt() & 1 == 1 { 16 } else { 12 }
    }

    /// Bytes of data that the header announces.
    pub fn payload_bytes(&self) -> usize {
        match (self.has_data(), self.raw_length()) {
            (false, _) => 0,
            (true, 0) => 4096,
            (true, dw) => usize::from(dw) * 4,
        }
    }

    fn digest_end(&self) -> usize {
        self.payload_start() + self.payload_bytes() + if self.td() { 4 } else { 0 }
    }

    /// Bytes of the whole TLP: prefixes, digest, and what IDE puts behind them included.
    pub fn total_bytes(&self) -> usize {
        self.digest_end() + self.trailer_bytes()
    }

    pub fn ide(&self) -> Option<PrefixView<'a>> {
        self.prefixes().iter().find_map(|prefix| PrefixView::new_checked(prefix).ok())
    }

    fn trailer_bytes(&self) -> usize {
        self.ide().map_or(0, |prefix| prefix.trailer_bytes())
    }

    /// The PCRC, encrypted, if the IDE prefix announces one and it is there.
    pub fn pcrc(&self) -> Option<[u8; 4]> {
        self.ide().filter(PrefixView::pcrc)?;
        self.bytes.get(self.digest_end()..)?.first_chunk().copied()
    }

    /// The MAC, if the IDE prefix announces one and it is there.
    pub fn mac(&self) -> Option<[u8; MAC_BYTES]> {
        self.ide().filter(PrefixView::mac)?;
        self.bytes.get(self.total_bytes() - MAC_BYTES..)?.first_chunk().copied()
    }

    /// The data: all of them in a view of [`Self::new_checked`], else as much as is there.
    pub fn payload(&self) -> &'a [u8] {
        let start = self.payload_start();
        &self.bytes[start..self.bytes.len().min(start + self.payload_bytes())]
    }

    /// The digest, if the header announces one and it is there.
    pub fn digest(&self) -> Option<[u8; 4]> {
        let start = self.payload_start() + self.payload_bytes();
        if self.td() { self.bytes.get(start..)?.first_chunk().copied() } else { None }
    }

    /// The ECRC that this TLP should carry: over end-to-end prefixes, header and data, variant bits set.
    pub fn ecrc(&self) -> [u8; 4] {
        // Local prefixes stand first and are not covered.
        let local = self.prefixes().iter().take_while(|prefix| prefix[0] & 0x10 == 0).count();
        crc::ecrc(&self.bytes[local * 4..self.start], self.header(), self.payload())
    }
}
