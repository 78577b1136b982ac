//! TLPs in flit mode: memory reads and writes, and completions.
//!
//! ```text
//!  byte     0              1                  2                         3
//!  0   Type[7:0]      TC[2:0] OHC[4:0]   TS[2:0] Attr[2:0] Len[9:8]  Len[7:0]
//!  requests
//!  4   Requester ID                      EP R Tag[13:8]              Tag[7:0]
//!  8   address, 4 or 8 bytes, big endian; the low two bits are AT
//!  completions
//!  4   Completer ID                      EP LowerAddress[6] Tag[13:8]  Tag[7:0]
//!  8   Requester ID                      LowerAddress[5:2] ByteCount[11:0]
//!  then a DW for each that OHC announces, in the order A, B, C, E
//!  A1  NW PV PMR ER PASID[19:16]  PASID[15:8]          PASID[7:0]    LastBE FirstBE
//!  A5  DestinationSegment         CompleterSegment     DSV R[6:0]    R[2:0] LowerAddress[1:0] Status[2:0]
//! ```
//!
//! OHC bits 0, 1 and 2 announce one DW each of A, B and C; bits 4:3 announce none, one, two or four of E. TS announces what is behind
//! the data: 0 nothing, 1 an ECRC of one DW, 5 a MAC of three, 6 a MAC and a PCRC of four.
//!
//! First DW, types, OHC-A1 and TS are as in rtlp-lib 0.5.1 (BSD-3-Clause), whose `FlitDW0` and `FlitOhcA` name the bits, and which counts E
//! by its bits; types, IDs, tag, byte count, lower address and OHC-A5 as in pcie-6-0-packet-generator (`utils/tlp_header.cpp`,
//! `utils/non_header_base.cpp`, `utils/ohc.cpp`). The headers agree with the structures of Intel's public HQM RTL (`hqm_sfi_*`). Places of
//! EP and AT, the sizes of E, and the meaning of an absent OHC-A (all bytes enabled; successful completion, lower address a multiple of 4)
//! rest on public notes and test benches.

mod convert;
mod fields;
mod repr;
mod view;

pub use convert::NoCounterpart;
pub use fields::{FlitTlpFields, FlitTlpFieldsError};
pub use repr::{FlitBody, FlitTlpRepr, OhcA1, OhcA5, OhcE, TrailerSize};
pub use view::{FlitTlpError, FlitTlpView};

/// The type of a NOP TLP: one DW that fills.
pub const NOP: u8 = 0x00;

/// A DW as it is sent.
pub type Word = [u8; 4];

/// The field map. Positions are bytes from the start of the TLP.
mod field {
    use std::ops::Range;
    pub const TYPE: usize = 0;
    pub const TC_OHC: usize = 1;
    pub const FLAGS: usize = 2;
    pub const LENGTH_LOW: usize = 3;
    /// Requester ID of requests, completer ID of completions.
    pub const FIRST_ID: Range<usize> = 4..6;
    pub const EP_TAG: Range<usize> = 6..8;
    pub const ADDRESS_32: Range<usize> = 8..12;
    pub const ADDRESS_64: Range<usize> = 8..16;
    pub const SECOND_ID: Range<usize> = 8..10;
    pub const LOW_COUNT: Range<usize> = 10..12;
    /// Bits of the word that begins at `EP_TAG`.
    pub const EP: u16 = 1 << 15;
    pub const LOWER_ADDRESS_6: u16 = 1 << 14;
    pub const TAG: u16 = 0x3fff;
    /// Bits of OHC.
    pub const OHC_A: u8 = 1;
    pub const OHC_B: u8 = 1 << 1;
    pub const OHC_C: u8 = 1 << 2;
    pub const OHC_E_SHIFT: u8 = 3;
}

/// A type: code, what it is, whether it has four DW, whether data follow, and its name.
const TYPES: [(u8, Kind, bool, bool, &str); 6] = [
    (0x03, Kind::Memory, false, false, "MRd32"),
    (0x20, Kind::Memory, true, false, "MRd64"),
    (0x40, Kind::Memory, false, true, "MWr32"),
    (0x60, Kind::Memory, true, true, "MWr64"),
    (0x0a, Kind::Completion, false, false, "Cpl"),
    (0x4a, Kind::Completion, false, true, "CplD"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Memory,
    Completion,
}
