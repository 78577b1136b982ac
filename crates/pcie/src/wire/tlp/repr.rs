//! A TLP header by its fields.

use super::{KINDS, TlpError, TlpView};
use crate::{
    credit::{CreditClass, Credits},
    split::{Completion, Request},
    wire::table::{FieldsError, Given, Kind, Words, by_fields, family, range, union},
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
    pub const fn from_bits(bits: u8) -> Self {
        Self { no_snoop: bits & 1 != 0, relaxed_ordering: bits & 2 != 0, id_based_ordering: bits & 4 != 0 }
    }

    /// Attr\[2:0\].
    pub const fn bits(self) -> u8 {
        self.no_snoop as u8 | (self.relaxed_ordering as u8) << 1 | (self.id_based_ordering as u8) << 2
    }
}

/// What a request to memory does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryOp {
    Read = 0x00,
    ReadLocked = 0x01,
    Write = 0x40,
    /// DMWr: a write that is answered, and that the completer may defer.
    DeferrableWrite = 0x5b,
    FetchAdd = 0x4c,
    Swap = 0x4d,
    CompareSwap = 0x4e,
}

/// A TLP header: everything but prefixes, data and digest. Its fields are those of [`KINDS`]; reserved bits are 0.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "Given<TlpRepr>", into = "Given<TlpRepr>")]
pub struct TlpRepr {
    kind: &'static Kind,
    bytes: [u8; 16],
}

by_fields!(TlpRepr);

family!(TlpRepr, union(&KINDS));

impl From<TlpRepr> for Given<TlpRepr> {
    fn from(repr: TlpRepr) -> Self {
        Self::of(repr.kind, &repr.bytes)
    }
}

impl TryFrom<Given<Self>> for TlpRepr {
    type Error = FieldsError;

    fn try_from(given: Given<Self>) -> Result<Self, FieldsError> {
        let (fmt, code) = (given.number("fmt"), given.number("type"));
        range("fmt", fmt, 0, 3)?;
        range("type", code, 0, 31)?;
        let mut made = Self::of(fmt as u8, code as u8).map_err(|error| FieldsError::Kind(error.to_string()))?;
        let (name, who) = (made.name().to_owned(), format!("fmt {fmt} with type {code}"));
        given.fill(made.kind, Words { name, who, beside: "those of every TLP" }, &mut made.bytes)?;
        Ok(made)
    }
}

impl TlpRepr {
    /// A header of which all other fields are 0.
    pub fn of(fmt: u8, code: u8) -> Result<Self, TlpError> {
        let first = fmt << 5 | code & 0x1f;
        Kind::of(&KINDS, first).map(|_| Self::known(first)).ok_or(TlpError::ReservedType { fmt, code })
    }

    /// As [`Self::of`], from a first byte that the table has.
    fn known(first: u8) -> Self {
        let kind = Kind::of(&KINDS, first).unwrap_or(&KINDS[0]);
        let mut bytes = [0; 16];
        bytes[0] = first;
        Self { kind, bytes }
    }

    pub fn has(&self, name: &str) -> bool {
        self.kind.field(name).is_some()
    }

    /// A read or write of memory. Header form and byte enables follow from the address range.
    pub fn memory(op: MemoryOp, request: Request, requester_id: u16, tag: u16, attributes: Attributes) -> Self {
        let (first_be, last_be) = request.byte_enables();
        let first = op as u8 | if request.address >> 32 != 0 { 0x20 } else { 0 };
        Self::known(first).with(&[
            ("length_dw", request.length_dw().into()),
            ("attr", attributes.bits().into()),
            ("requester_id", requester_id.into()),
            ("tag", tag.into()),
            ("address", request.address),
            ("first_be", first_be.into()),
            ("last_be", last_be.into()),
        ])
    }

    /// A successful completion with data, for the read that `request` is the header of.
    pub fn completion(request: &Self, piece: Completion, completer_id: u16) -> Self {
        let locked = u8::from(request.bytes[0] & 0xdf == MemoryOp::ReadLocked as u8);
        let same = ["tc", "attr", "requester_id", "tag"].map(|name| (name, request.value(name)));
        Self::known(0x4a | locked).with(&same).with(&[
            ("length_dw", piece.length_dw.into()),
            ("completer_id", completer_id.into()),
            ("byte_count", piece.byte_count.into()),
            ("lower_address", piece.lower_address.into()),
        ])
    }

    /// Whether a digest (ECRC) follows the data.
    pub const fn has_digest(&self) -> bool {
        self.bytes[2] & 0x80 != 0
    }

    pub const fn has_data(&self) -> bool {
        self.bytes[0] & 0x40 != 0
    }

    pub const fn four_dw(&self) -> bool {
        self.bytes[0] & 0x20 != 0
    }

    pub const fn atomic(&self) -> bool {
        matches!(self.bytes[0] & 0xdf, 0x4c..=0x4e)
    }

    pub const fn does(&self, op: MemoryOp) -> bool {
        self.bytes[0] & 0xdf == op as u8
    }

    /// Of a message, how it is routed: 0 to root, 1 by address, 2 by ID, 3 broadcast, 4 local, 5 gathered to root.
    pub const fn routing(&self) -> u8 {
        self.bytes[0] & 7
    }

    pub fn payload_dw(&self) -> u16 {
        if self.has_data() { self.length_dw() } else { 0 }
    }

    /// DW of the whole TLP without prefixes.
    pub fn total_dw(&self) -> u16 {
        3 + u16::from(self.four_dw()) + self.payload_dw() + u16::from(self.has_digest())
    }

    pub fn class(&self) -> CreditClass {
        if self.has("status") {
            CreditClass::Completion
        } else if self.does(MemoryOp::Write) || self.has("message_code") {
            CreditClass::Posted
        } else {
            CreditClass::NonPosted
        }
    }

    pub fn credits(&self) -> Credits {
        Credits::of(self.class(), self.payload_dw().into())
    }

    /// The fields of a header. Reserved bits are ignored; see [`Self::check`] for what may be wrong with the values.
    pub fn parse(view: &TlpView<'_>) -> Result<Self, TlpError> {
        let mut parsed = Self::of(view.fmt(), view.code())?;
        parsed.kind.copy(view.header(), &mut parsed.bytes);
        Ok(parsed)
    }

    /// The header's bytes, 12 or 16.
    pub fn emit(&self) -> &[u8] {
        &self.bytes[..if self.four_dw() { 16 } else { 12 }]
    }
}
