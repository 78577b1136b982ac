//! A TLP header as plain values.

use super::{TlpError, TlpFields, TlpView, view::field};
use crate::pcie::{
    credit::{CreditClass, Credits},
    split::{Completion, Request},
};
use serde::{Deserialize, Serialize};

/// Attr: three ordering and snoop attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attributes {
    /// The data need no snooping of caches.
    pub no_snoop: bool,
    /// May pass earlier posted writes.
    pub relaxed_ordering: bool,
    /// May pass TLPs of other requesters.
    pub id_based_ordering: bool,
}

impl Attributes {
    /// From Attr\[2:0\].
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self { no_snoop: bits & 1 != 0, relaxed_ordering: bits & 2 != 0, id_based_ordering: bits & 4 != 0 }
    }

    /// Attr\[2:0\].
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.no_snoop as u8 | (self.relaxed_ordering as u8) << 1 | (self.id_based_ordering as u8) << 2
    }
}

/// What every TLP has. The default is the plain case: traffic class 0, no flag set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Common {
    /// Traffic class, 3 bits.
    pub tc: u8,
    /// Attributes.
    pub attributes: Attributes,
    /// Address type, 2 bits: 0 untranslated, 1 translation request, 2 translated.
    pub at: u8,
    /// A digest (ECRC) follows the data.
    pub td: bool,
    /// Poisoned: the data are known to be wrong.
    pub ep: bool,
    /// Processing hints present.
    pub th: bool,
    /// Lightweight notification.
    pub ln: bool,
}

/// What a request to memory does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryOp {
    /// MRd.
    Read,
    /// MRdLk.
    ReadLocked,
    /// MWr.
    Write,
    /// DMWr: a write that is answered, and that the completer may defer.
    DeferrableWrite,
    /// FetchAdd.
    FetchAdd,
    /// Unconditional swap.
    Swap,
    /// Compare and swap.
    CompareSwap,
}

/// What follows the first DW of the header, by kind of TLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// A request to memory.
    Memory {
        /// What it does.
        op: MemoryOp,
        /// Four-DW header with a 64-bit address; due exactly when the address is 4 GiB or above.
        wide: bool,
        /// Address, a multiple of 4.
        address: u64,
        /// Byte enables of the first DW.
        first_be: u8,
        /// Byte enables of the last DW.
        last_be: u8,
        /// Processing hint, 2 bits.
        ph: u8,
    },
    /// A request to I/O space.
    Io {
        /// Write, else read.
        write: bool,
        /// Address, a multiple of 4.
        address: u32,
        /// Byte enables of the first DW.
        first_be: u8,
        /// Byte enables of the last DW: 0.
        last_be: u8,
    },
    /// A configuration request.
    Config {
        /// Write, else read.
        write: bool,
        /// Type 1, to be forwarded by a bridge; else type 0.
        forwarded: bool,
        /// Bus, device and function of the destination.
        completer_id: u16,
        /// Register, a multiple of 4 below 4096.
        register: u16,
        /// Byte enables of the first DW.
        first_be: u8,
        /// Byte enables of the last DW: 0.
        last_be: u8,
    },
    /// A completion.
    Completion {
        /// With data.
        data: bool,
        /// Of a locked read.
        locked: bool,
        /// Bus, device and function of the completer.
        completer_id: u16,
        /// Completion status, 3 bits; see [`super::STATUS`].
        status: u8,
        /// Byte count modified (PCI-X).
        bcm: bool,
        /// Bytes left with this completion, 1 to 4096.
        byte_count: u16,
        /// Low seven bits of the address of the first byte.
        lower_address: u8,
    },
    /// A message.
    Message {
        /// With data.
        data: bool,
        /// Routing, 3 bits: 0 to root, 1 by address, 2 by ID, 3 broadcast, 4 local, 5 gathered to root.
        routing: u8,
        /// Message code; see [`super::MESSAGES`].
        code: u8,
        /// Bytes 8 to 15 of the header.
        content: [u8; 8],
    },
}

/// A TLP header as plain values: everything but prefixes, data and digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "TlpFields", into = "TlpFields")]
pub struct TlpRepr {
    /// What every TLP has.
    pub common: Common,
    /// Length in DW, 1 to 1024. 0 in completions and messages without data.
    pub length_dw: u16,
    /// Bus, device and function of the requester.
    pub requester_id: u16,
    /// Tag, 10 bits.
    pub tag: u16,
    /// The rest, by kind.
    pub body: Body,
}

/// An emitted header: 12 or 16 bytes on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    bytes: [u8; 16],
    len: u8,
}

impl std::ops::Deref for Header {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// Requests to memory: type, whether data go along, and name.
const MEMORY: [(MemoryOp, u8, bool, &str, &str); 7] = [
    (MemoryOp::Read, 0b00000, false, "MRd32", "MRd64"),
    (MemoryOp::ReadLocked, 0b00001, false, "MRdLk32", "MRdLk64"),
    (MemoryOp::Write, 0b00000, true, "MWr32", "MWr64"),
    (MemoryOp::DeferrableWrite, 0b11011, true, "DMWr32", "DMWr64"),
    (MemoryOp::FetchAdd, 0b01100, true, "FetchAdd32", "FetchAdd64"),
    (MemoryOp::Swap, 0b01101, true, "Swap32", "Swap64"),
    (MemoryOp::CompareSwap, 0b01110, true, "CAS32", "CAS64"),
];

const IO: u8 = 0b00010;
const CONFIG_0: u8 = 0b00100;
const CONFIG_1: u8 = 0b00101;
const COMPLETION: u8 = 0b01010;
const COMPLETION_LOCKED: u8 = 0b01011;
const MESSAGE: u8 = 0b10000;

impl MemoryOp {
    fn row(self) -> (u8, bool, &'static str, &'static str) {
        let row = MEMORY.iter().find(|row| row.0 == self).unwrap_or(&MEMORY[0]);
        (row.1, row.2, row.3, row.4)
    }

    /// Whether a request of this kind carries data.
    #[must_use]
    pub fn has_data(self) -> bool {
        self.row().1
    }

    /// Whether it is an AtomicOp.
    #[must_use]
    pub const fn atomic(self) -> bool {
        matches!(self, Self::FetchAdd | Self::Swap | Self::CompareSwap)
    }
}

/// An empty body of the kind that Fmt and Type name, to be filled in.
pub(super) fn body_of(fmt: u8, code: u8) -> Result<Body, TlpError> {
    let (wide, data) = (fmt & 1 == 1, fmt & 2 == 2);
    if let Some(&(op, ..)) = MEMORY.iter().find(|row| row.1 == code && row.2 == data) {
        return Ok(Body::Memory { op, wide, address: 0, first_be: 0, last_be: 0, ph: 0 });
    }
    match (wide, code) {
        (false, IO) => Ok(Body::Io { write: data, address: 0, first_be: 0, last_be: 0 }),
        (false, CONFIG_0 | CONFIG_1) => Ok(Body::Config {
            write: data,
            forwarded: code == CONFIG_1,
            completer_id: 0,
            register: 0,
            first_be: 0,
            last_be: 0,
        }),
        (false, COMPLETION | COMPLETION_LOCKED) => Ok(Body::Completion {
            data,
            locked: code == COMPLETION_LOCKED,
            completer_id: 0,
            status: 0,
            bcm: false,
            byte_count: 0,
            lower_address: 0,
        }),
        (true, _) if code & 0b11000 == MESSAGE => {
            Ok(Body::Message { data, routing: code & 7, code: 0, content: [0; 8] })
        }
        _ => Err(TlpError::ReservedType { fmt, code }),
    }
}

impl TlpRepr {
    /// A read or write of memory. Header form and byte enables follow from the address range.
    #[must_use]
    pub fn memory(op: MemoryOp, request: Request, requester_id: u16, tag: u16, attributes: Attributes) -> Self {
        let (first_be, last_be) = request.byte_enables();
        let address = request.address & !3;
        let body = Body::Memory { op, wide: address >> 32 != 0, address, first_be, last_be, ph: 0 };
        let common = Common { attributes, ..Common::default() };
        Self { common, length_dw: request.length_dw(), requester_id, tag, body }
    }

    /// A successful completion with data, for the read that `request` is the header of.
    #[must_use]
    pub fn completion(request: &Self, piece: Completion, completer_id: u16) -> Self {
        let body = Body::Completion {
            data: true,
            locked: matches!(request.body, Body::Memory { op: MemoryOp::ReadLocked, .. }),
            completer_id,
            status: 0,
            bcm: false,
            byte_count: piece.byte_count,
            lower_address: piece.lower_address,
        };
        let Common { tc, attributes, .. } = request.common;
        Self { common: Common { tc, attributes, ..Common::default() }, length_dw: piece.length_dw, body, ..*request }
    }

    /// Fmt, 3 bits.
    #[must_use]
    pub fn fmt(&self) -> u8 {
        u8::from(self.has_data()) << 1 | u8::from(self.four_dw())
    }

    /// Type, 5 bits.
    #[must_use]
    pub fn code(&self) -> u8 {
        match self.body {
            Body::Memory { op, .. } => op.row().0,
            Body::Io { .. } => IO,
            Body::Config { forwarded, .. } => {
                if forwarded {
                    CONFIG_1
                } else {
                    CONFIG_0
                }
            }
            Body::Completion { locked, .. } => {
                if locked {
                    COMPLETION_LOCKED
                } else {
                    COMPLETION
                }
            }
            Body::Message { routing, .. } => MESSAGE | routing & 7,
        }
    }

    /// The name of the kind of TLP, for example `MWr64`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.body {
            Body::Memory { op, wide, .. } => {
                if wide {
                    op.row().3
                } else {
                    op.row().2
                }
            }
            Body::Io { write, .. } => {
                if write {
                    "IOWr"
                } else {
                    "IORd"
                }
            }
            Body::Config { write, forwarded, .. } => match (write, forwarded) {
                (false, false) => "CfgRd0",
                (true, false) => "CfgWr0",
                (false, true) => "CfgRd1",
                (true, true) => "CfgWr1",
            },
            Body::Completion { data, locked, .. } => match (data, locked) {
                (false, false) => "Cpl",
                (true, false) => "CplD",
                (false, true) => "CplLk",
                (true, true) => "CplDLk",
            },
            Body::Message { data, .. } => {
                if data {
                    "MsgD"
                } else {
                    "Msg"
                }
            }
        }
    }

    /// Whether data follow the header.
    #[must_use]
    pub fn has_data(&self) -> bool {
        match self.body {
            Body::Memory { op, .. } => op.has_data(),
            Body::Io { write, .. } | Body::Config { write, .. } => write,
            Body::Completion { data, .. } | Body::Message { data, .. } => data,
        }
    }

    /// Whether the header has four DW.
    #[must_use]
    pub const fn four_dw(&self) -> bool {
        matches!(self.body, Body::Memory { wide: true, .. } | Body::Message { .. })
    }

    /// DW of data.
    #[must_use]
    pub fn payload_dw(&self) -> u16 {
        if self.has_data() { self.length_dw } else { 0 }
    }

    /// DW of the whole TLP without prefixes.
    #[must_use]
    pub fn total_dw(&self) -> u16 {
        3 + u16::from(self.four_dw()) + self.payload_dw() + u16::from(self.common.td)
    }

    /// The flow-control class.
    #[must_use]
    pub const fn class(&self) -> CreditClass {
        match self.body {
            Body::Memory { op: MemoryOp::Write, .. } | Body::Message { .. } => CreditClass::Posted,
            Body::Memory { .. } | Body::Io { .. } | Body::Config { .. } => CreditClass::NonPosted,
            Body::Completion { .. } => CreditClass::Completion,
        }
    }

    /// What the TLP costs in credits.
    #[must_use]
    pub fn credits(&self) -> Credits {
        Credits::of(self.class(), self.payload_dw().into())
    }

    /// The values of a header. Reserved bits are ignored; see [`Self::check`] for what may be wrong with the values.
    ///
    /// # Errors
    /// [`TlpError::ReservedType`].
    pub fn parse(view: &TlpView<'_>) -> Result<Self, TlpError> {
        let mut body = body_of(view.fmt(), view.code())?;
        let (mut requester, mut request_tag) = (view.first_id(), view.request_tag());
        let (low_be, high_be) = (view.byte_enables() & 0xf, view.byte_enables() >> 4);
        let mut length_is_used = true;
        match &mut body {
            Body::Memory { address, first_be, last_be, ph, .. } => {
                let hint = if view.th() { (view.address_field() & 3) as u8 } else { 0 };
                (*address, *first_be, *last_be, *ph) = (view.address_field() & !3, low_be, high_be, hint);
            }
            Body::Io { address, first_be, last_be, .. } => {
                (*address, *first_be, *last_be) = (view.address_field() as u32 & !3, low_be, high_be);
            }
            Body::Config { completer_id, register, first_be, last_be, .. } => {
                (*completer_id, *register) = (view.second_id(), view.address_field() as u16 & 0xffc);
                (*first_be, *last_be) = (low_be, high_be);
            }
            Body::Completion { data, completer_id, status, bcm, byte_count, lower_address, .. } => {
                length_is_used = *data;
                let word = view.status_count();
                (*completer_id, *status, *bcm) = (view.first_id(), (word >> 13) as u8, word >> 12 & 1 == 1);
                *byte_count = if word & 0xfff == 0 { 4096 } else { word & 0xfff };
                *lower_address = view.lower_address() & 0x7f;
                (requester, request_tag) = (view.second_id(), view.completion_tag());
            }
            Body::Message { data, code, content, .. } => {
                length_is_used = *data;
                (*code, *content) = (view.byte_enables(), view.address_field().to_be_bytes());
            }
        }
        let length_dw = match view.raw_length() {
            0 if length_is_used => 1024,
            length => length,
        };
        let attributes = Attributes::from_bits(view.attr());
        let (tc, at, td, ep, th, ln) = (view.tc(), view.at(), view.td(), view.ep(), view.th(), view.ln());
        let common = Common { tc, attributes, at, td, ep, th, ln };
        Ok(Self { common, length_dw, requester_id: requester, tag: request_tag, body })
    }

    /// The header's bytes. Values are cut to their width.
    #[must_use]
    pub fn emit(&self) -> Header {
        let Common { tc, attributes, at, td, ep, th, ln } = self.common;
        let (attr, length, [tag_high, tag_low]) = (attributes.bits(), self.length_dw, self.tag.to_be_bytes());
        let mut bytes = [0; 16];
        bytes[field::FMT_TYPE] = self.fmt() << 5 | self.code();
        bytes[field::TC_ATTR2] =
            (tag_high & 2) << 6 | (tc & 7) << 4 | (tag_high & 1) << 3 | attr & 4 | u8::from(ln) << 1 | u8::from(th);
        bytes[field::FLAGS] =
            u8::from(td) << 7 | u8::from(ep) << 6 | (attr & 3) << 4 | (at & 3) << 2 | (length >> 8) as u8 & 3;
        bytes[field::LENGTH_LOW] = length as u8;
        bytes[field::FIRST_ID].copy_from_slice(&self.requester_id.to_be_bytes());
        bytes[field::REQUEST_TAG] = tag_low;
        match self.body {
            Body::Memory { wide, address, first_be, last_be, ph, .. } => {
                bytes[field::BYTE_ENABLES] = last_be << 4 | first_be & 0xf;
                let word = address & !3 | u64::from(if th { ph & 3 } else { 0 });
                if wide {
                    bytes[field::ADDRESS_64].copy_from_slice(&word.to_be_bytes());
                } else {
                    bytes[field::ADDRESS_32].copy_from_slice(&(word as u32).to_be_bytes());
                }
            }
            Body::Io { address, first_be, last_be, .. } => {
                bytes[field::BYTE_ENABLES] = last_be << 4 | first_be & 0xf;
                bytes[field::ADDRESS_32].copy_from_slice(&(address & !3).to_be_bytes());
            }
            Body::Config { completer_id, register, first_be, last_be, .. } => {
                bytes[field::BYTE_ENABLES] = last_be << 4 | first_be & 0xf;
                let word = u32::from(completer_id) << 16 | u32::from(register & 0xffc);
                bytes[field::ADDRESS_32].copy_from_slice(&word.to_be_bytes());
            }
            Body::Completion { completer_id, status, bcm, byte_count, lower_address, .. } => {
                bytes[field::FIRST_ID].copy_from_slice(&completer_id.to_be_bytes());
                let word = u16::from(status & 7) << 13 | u16::from(bcm) << 12 | byte_count & 0xfff;
                bytes[field::STATUS_COUNT].copy_from_slice(&word.to_be_bytes());
                bytes[field::SECOND_ID].copy_from_slice(&self.requester_id.to_be_bytes());
                bytes[field::COMPLETION_TAG] = tag_low;
                bytes[field::LOWER_ADDRESS] = lower_address & 0x7f;
            }
            Body::Message { code, content, .. } => {
                bytes[field::BYTE_ENABLES] = code;
                bytes[field::ADDRESS_64].copy_from_slice(&content);
            }
        }
        Header { bytes, len: if self.four_dw() { 16 } else { 12 } }
    }
}
