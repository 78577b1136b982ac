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
mod kinds;
mod repr;
mod view;

pub use convert::NoCounterpart;
pub use kinds::KINDS;
pub use repr::{FlitTlpRepr, TrailerSize};
pub use view::{FlitTlpError, FlitTlpView};

/// The type of a NOP TLP: one DW that fills.
pub const NOP: u8 = 0x00;

/// A DW as it is sent.
pub type Word = [u8; 4];

/// The types that are read, with their names.
fn known(code: impl Fn(u8) -> String) -> String {
    KINDS.each_ref().map(|kind| format!("{} ({})", code(kind.first), kind.name)).join(", ")
}
