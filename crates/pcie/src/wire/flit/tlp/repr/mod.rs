//! A TLP header of flit mode by its fields.

use super::{FlitTlpView, KINDS, Word, kinds::OHC_E, known, view::OHC_E_DW};
use crate::wire::table::{FieldsError, Given, Kind, Words, by_fields, family, union};
use serde::{Deserialize, Serialize};

/// TS: what follows the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrailerSize {
    #[default]
    None,
    Ecrc,
    Mac,
    MacPcrc,
}

impl TrailerSize {
    const TABLE: [(Self, u8, usize); 4] =
        [(Self::None, 0, 0), (Self::Ecrc, 1, 4), (Self::Mac, 5, 12), (Self::MacPcrc, 6, 16)];

    /// From TS; none if no size is known for it.
    pub fn from_bits(bits: u8) -> Option<Self> {
        Self::TABLE.iter().find(|row| row.1 == bits).map(|row| row.0)
    }

    pub const fn bits(self) -> u8 {
        Self::TABLE[self as usize].1
    }

    pub const fn bytes(self) -> usize {
        Self::TABLE[self as usize].2
    }
}

/// Where rows have OHC: behind the widest base.
const OHC: usize = 16;
/// Where they have OHC-E: behind A, B and C.
const E: usize = OHC + 12;

/// A TLP header of flit mode: everything but data and trailer. Its fields are those of [`KINDS`]; reserved bits are 0.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "Given<FlitTlpRepr>", into = "Given<FlitTlpRepr>")]
pub struct FlitTlpRepr {
    kind: &'static Kind,
    /// The base, and OHC in fixed places.
    bytes: [u8; E + 16],
}

by_fields!(FlitTlpRepr);

family!(FlitTlpRepr, [union(&KINDS), vec![&OHC_E]].concat());

impl From<FlitTlpRepr> for Given<FlitTlpRepr> {
    fn from(repr: FlitTlpRepr) -> Self {
        let mut given = Self::of(repr.kind, &repr.bytes);
        if !repr.ohc_e().is_empty() {
            given.put_text(OHC_E.name, hex::encode(repr.ohc_e().as_flattened()));
        }
        given
    }
}

impl TryFrom<Given<Self>> for FlitTlpRepr {
    type Error = FieldsError;

    fn try_from(mut given: Given<Self>) -> Result<Self, FieldsError> {
        let (code, ts) = (given.number("type"), given.number("ts"));
        let kind = Kind::of(&KINDS, code as u8)
            .ok_or_else(|| FieldsError::Kind(format!("`type` {code} is none of {}", known(|code| code.to_string()))))?;
        if TrailerSize::from_bits(ts as u8).is_none() {
            return Err(FieldsError::Kind(format!("`ts` is {ts}, but must be 0, 1, 5 or 6")));
        }
        let mut made = Self::of(kind).with(&[
            ("ohc_a", (given.has("first_be") || given.has("status")).into()),
            ("dsv", given.has("destination_segment").into()),
            ("ohc_b_there", given.has("ohc_b").into()),
            ("ohc_c_there", given.has("ohc_c").into()),
        ]);
        made.put_ohc_e(given.take_text(OHC_E.name).as_deref().unwrap_or_default())?;
        let (name, who) = (kind.name.to_owned(), kind.name.to_owned());
        given.fill(kind, Words { name, who, beside: "those of every TLP" }, &mut made.bytes)?;
        // What is in a word of OHC needs the field that stands for the word.
        let needs = |field: &str, with: &[&str]| match with.iter().find(|with| given.has(with) && !given.has(field)) {
            Some(with) => Err(FieldsError::Kind(format!("{} needs the field `{field}` beside `{with}`", kind.name))),
            None => Ok(()),
        };
        needs("first_be", &["last_be", "pasid", "pasid_flags"])?;
        needs("last_be", &["first_be"])?;
        needs("status", &["completer_segment", "destination_segment"])?;
        let lower_address = given.number("lower_address");
        if lower_address & 3 != 0 && !given.has("status") {
            return Err(FieldsError::Kind(format!(
                "`lower_address` is {lower_address}, no multiple of 4, which is sent only beside `status`: add \"status\": 0"
            )));
        }
        Ok(made)
    }
}

impl FlitTlpRepr {
    /// A header of which all other fields are 0.
    pub(super) fn of(kind: &'static Kind) -> Self {
        let mut bytes = [0; E + 16];
        bytes[0] = kind.first;
        Self { kind, bytes }
    }

    fn put_ohc_e(&mut self, text: &str) -> Result<(), FieldsError> {
        let bytes = hex::decode(text).ok();
        let size = bytes.as_ref().and_then(|bytes| OHC_E_DW.iter().position(|dw| dw * 4 == bytes.len()));
        let (Some(bytes), Some(size)) = (bytes, size) else {
            return Err(FieldsError::Kind("`ohc_e` must be 8, 16 or 32 hexadecimal digits".to_owned()));
        };
        self.bytes[E..E + bytes.len()].copy_from_slice(&bytes);
        *self = self.with(&[("ohc_e_size", size as u64)]);
        Ok(())
    }

    pub fn payload_dw(&self) -> u16 {
        if self.kind.first & 0x40 != 0 { self.length_dw() } else { 0 }
    }

    pub fn trailer(&self) -> TrailerSize {
        TrailerSize::from_bits(self.value("ts") as u8).unwrap_or_default()
    }

    /// OHC-E: end-to-end prefixes of vendors.
    pub fn ohc_e(&self) -> &[Word] {
        let words = OHC_E_DW[self.value("ohc_e_size") as usize & 3];
        self.bytes[E..].as_chunks().0.get(..words).unwrap_or_default()
    }

    /// The fields of a header. Reserved bits are ignored.
    pub fn parse(view: &FlitTlpView<'_>) -> Self {
        let (base, ohc) = view.header().split_at(view.base_bytes());
        let mut parsed = Self::of(view.kind());
        let mut given = parsed.bytes;
        given[..base.len()].copy_from_slice(base);
        let mut rest = ohc;
        for word in 0..3 {
            if base[1] >> word & 1 == 1 {
                let (this, others) = rest.split_at(4);
                given[OHC + 4 * word..][..4].copy_from_slice(this);
                rest = others;
            }
        }
        parsed.bytes[E..E + rest.len()].copy_from_slice(rest);
        parsed.kind.copy(&given, &mut parsed.bytes);
        parsed
    }

    /// The header's bytes, OHC included.
    pub fn emit(&self) -> Vec<u8> {
        let base = if self.kind.first & 0x20 != 0 { 16 } else { 12 };
        let mut bytes = self.bytes[..base].to_vec();
        let words = (0..3).filter(|word| self.bytes[1] >> word & 1 == 1);
        words.for_each(|word| bytes.extend(&self.bytes[OHC + 4 * word..][..4]));
        bytes.extend(self.ohc_e().as_flattened());
        bytes
    }
}

#[cfg(test)]
mod tests;
