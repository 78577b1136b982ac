//! Transaction layer packets, non-flit mode.
//!
//! ```text
//!  byte     0              1                        2                            3
//!  0   Fmt[2:0] Type[4:0]  T9 TC[2:0] T8 Attr2 LN TH  TD EP Attr[1:0] AT[1:0] Len[9:8]  Len[7:0]
//!  requests
//!  4   Requester ID                                 Tag[7:0]                     LastBE FirstBE
//!  8   address, 4 or 8 bytes, big endian; the low two bits are PH if TH is set
//!  completions
//!  4   Completer ID                                 Status[2:0] BCM ByteCount[11:8]  ByteCount[7:0]
//!  8   Requester ID                                 Tag[7:0]                     R LowerAddress[6:0]
//! ```
//!
//! In memory a TLP stands as it is sent: prefixes of one DW, header of three or four DW, data, digest (ECRC) of one DW.

mod check;
mod finding;
mod kinds;
mod message;
mod prefix;
mod repr;
mod view;

pub use check::{RULES, Rule};
pub use finding::{Finding, Severity};
pub use kinds::KINDS;
pub(in crate::wire) use kinds::{ATTRIBUTES, LENGTH_RUNS, RUNS_64};
pub use message::MessageData;
pub use repr::{Attributes, MemoryOp, TlpRepr};
pub use view::{TlpError, TlpView};

/// Most prefixes before a header that are accepted: four local and four end-to-end ones.
pub const MAX_PREFIXES: usize = 8;
/// Bytes of the longest deferrable write: the greater of the two lengths, 64 B and 128 B, that a completer can announce. Assumed: public
/// headers and programs name DMWr, its type and its class, but not these lengths.
pub const MOST_DEFERRABLE_BYTES: u32 = 128;

/// Completion status codes by name; the others are reserved.
pub const STATUS: [(u8, &str); 4] = [
    (0, "SC (successful completion)"),
    (1, "UR (unsupported request)"),
    (2, "RRS (request retry status)"),
    (4, "CA (completer abort)"),
];

/// Message codes by name, as far as they are commonly seen.
pub const MESSAGES: [(u8, &str); 27] = [
    (0x00, "Unlock"),
    (0x01, "Invalidate Request"),
    (0x02, "Invalidate Completion"),
    (0x04, "Page Request"),
    (0x05, "PRG Response"),
    (0x10, "LTR"),
    (0x12, "OBFF"),
    (0x14, "PM_Active_State_Nak"),
    (0x18, "PM_PME"),
    (0x19, "PME_Turn_Off"),
    (0x1b, "PME_TO_Ack"),
    (0x20, "Assert_INTA"),
    (0x21, "Assert_INTB"),
    (0x22, "Assert_INTC"),
    (0x23, "Assert_INTD"),
    (0x24, "Deassert_INTA"),
    (0x25, "Deassert_INTB"),
    (0x26, "Deassert_INTC"),
    (0x27, "Deassert_INTD"),
    (0x30, "ERR_COR"),
    (0x31, "ERR_NONFATAL"),
    (0x33, "ERR_FATAL"),
    (0x50, "Set_Slot_Power_Limit"),
    (0x52, "PTM Request"),
    (0x53, "PTM Response"),
    (0x7e, "Vendor_Defined Type 0"),
    (0x7f, "Vendor_Defined Type 1"),
];

/// The name for a code in a table such as [`STATUS`].
pub fn name_of(table: &[(u8, &'static str)], code: u8) -> Option<&'static str> {
    table.iter().find(|row| row.0 == code).map(|row| row.1)
}

/// The name of a prefix by its first byte: PASID and IDE among the end-to-end ones, or what kind of prefix it is.
pub fn prefix_name(first: u8) -> &'static str {
    match first {
        0x90 => "TPH prefix",
        0x91 => "PASID prefix",
        0x92 => "IDE prefix",
        _ if first & 0x10 == 0 => "local prefix",
        _ => "end-to-end prefix",
    }
}

#[cfg(test)]
mod tests;
