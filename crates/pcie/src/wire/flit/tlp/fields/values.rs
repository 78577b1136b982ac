//! From the JSON form to values, with what may be wrong with it.

use super::FlitTlpFields;
use crate::wire::{
    flit::tlp::{FlitBody, FlitTlpRepr, OhcA1, OhcA5, OhcE, TYPES, TrailerSize, Word, repr::body_of},
    tlp::{Attributes, MAX_PAYLOAD_DW},
};

/// Why fields are no TLP header of flit mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlitTlpFieldsError {
    /// A type that is not written.
    #[error("`type` {code} is none of {}", types())]
    Type {
        /// The type.
        code: u8,
    },
    /// A trailer of no known size.
    #[error("`ts` is {bits}, but must be 0, 1, 5 or 6")]
    Trailer {
        /// TS.
        bits: u8,
    },
    /// A field that this kind has is not there.
    #[error("{name} needs the field `{field}`{}", beside(.with))]
    Missing {
        /// The kind, for example `MWr64`.
        name: &'static str,
        /// The field.
        field: &'static str,
        /// The field that asks for it, if it is not the kind.
        with: Option<&'static str>,
    },
    /// A field that this kind does not have is there.
    #[error("{name} has no field `{field}`; beside those of every TLP it has `{}`", own.join("`, `"))]
    Surplus {
        /// The kind.
        name: &'static str,
        /// The field.
        field: &'static str,
        /// The fields that the kind has in addition to those of every TLP.
        own: &'static [&'static str],
    },
    /// A value is out of its range.
    #[error("`{field}` is {value}, but must lie in {low}..={high}")]
    Range {
        /// The field.
        field: &'static str,
        /// Its value.
        value: u64,
        /// Least value.
        low: u64,
        /// Greatest value.
        high: u64,
    },
    /// An address that is no multiple of 4.
    #[error("`address` is {address:#x}, but must be a multiple of 4: byte enables say which bytes are meant")]
    Unaligned {
        /// The address.
        address: u64,
    },
    /// A lower address that only OHC-A5 carries.
    #[error(
        "`lower_address` is {lower_address}, no multiple of 4, which is sent only beside `status`: add \"status\": 0"
    )]
    LowerAddress {
        /// The lower address.
        lower_address: u8,
    },
    /// OHC that is no hex of its length.
    #[error("`{field}` must be {digits} hexadecimal digits")]
    Hexadecimal {
        /// The field.
        field: &'static str,
        /// How many digits.
        digits: &'static str,
    },
}

fn types() -> String {
    TYPES.map(|(code, .., name)| format!("{code} ({name})")).join(", ")
}

fn beside(with: &Option<&'static str>) -> String {
    with.map_or(String::new(), |with| format!(" beside `{with}`"))
}

fn range(field: &'static str, value: impl Into<u64>, low: u64, high: u64) -> Result<(), FlitTlpFieldsError> {
    let value = value.into();
    if (low..=high).contains(&value) { Ok(()) } else { Err(FlitTlpFieldsError::Range { field, value, low, high }) }
}

/// The bytes of OHC words.
fn words(field: &'static str, text: Option<&String>, digits: &'static str) -> Result<Vec<Word>, FlitTlpFieldsError> {
    let bytes = hex::decode(text.map_or("", String::as_str));
    let bytes = bytes.map_err(|_| FlitTlpFieldsError::Hexadecimal { field, digits })?;
    match bytes.as_chunks() {
        (words, []) => Ok(words.to_vec()),
        _ => Err(FlitTlpFieldsError::Hexadecimal { field, digits }),
    }
}

fn one_word(field: &'static str, text: Option<&String>) -> Result<Option<Word>, FlitTlpFieldsError> {
    let digits = "8";
    match (words(field, text, digits)?.as_slice(), text) {
        ([], None) => Ok(None),
        (&[word], _) => Ok(Some(word)),
        _ => Err(FlitTlpFieldsError::Hexadecimal { field, digits }),
    }
}

/// The fields that a kind has in addition to those of every TLP.
const fn own(body: &FlitBody) -> &'static [&'static str] {
    match body {
        FlitBody::Memory { .. } => &["address", "at", "first_be", "last_be", "pasid", "pasid_flags"],
        FlitBody::Completion { .. } => {
            &["completer_id", "byte_count", "lower_address", "status", "completer_segment", "destination_segment"]
        }
    }
}

impl FlitTlpFields {
    /// Refuses a field that the kind does not have.
    fn only(&self, name: &'static str, own: &'static [&'static str]) -> Result<(), FlitTlpFieldsError> {
        let present = [
            ("address", self.address.is_some()),
            ("at", self.at.is_some()),
            ("first_be", self.first_be.is_some()),
            ("last_be", self.last_be.is_some()),
            ("pasid", self.pasid.is_some()),
            ("pasid_flags", self.pasid_flags.is_some()),
            ("completer_id", self.completer_id.is_some()),
            ("byte_count", self.byte_count.is_some()),
            ("lower_address", self.lower_address.is_some()),
            ("status", self.status.is_some()),
            ("completer_segment", self.completer_segment.is_some()),
            ("destination_segment", self.destination_segment.is_some()),
        ];
        match present.into_iter().find(|(field, there)| *there && !own.contains(field)) {
            Some((field, _)) => Err(FlitTlpFieldsError::Surplus { name, field, own }),
            None => Ok(()),
        }
    }

    fn ohc_a1(&self, name: &'static str) -> Result<Option<OhcA1>, FlitTlpFieldsError> {
        let missing = |field, with| FlitTlpFieldsError::Missing { name, field, with: Some(with) };
        let Some(first_be) = self.first_be else {
            let others = [
                ("last_be", self.last_be.is_some()),
                ("pasid", self.pasid.is_some()),
                ("pasid_flags", self.pasid_flags.is_some()),
            ];
            let with = others.iter().find(|(_, there)| *there).map(|other| other.0);
            return with.map_or(Ok(None), |with| Err(missing("first_be", with)));
        };
        let last_be = self.last_be.ok_or_else(|| missing("last_be", "first_be"))?;
        let (pasid, flags) = (self.pasid.unwrap_or_default(), self.pasid_flags.unwrap_or_default());
        range("first_be", first_be, 0, 0xf)?;
        range("last_be", last_be, 0, 0xf)?;
        range("pasid", pasid, 0, 0xf_ffff)?;
        range("pasid_flags", flags, 0, 0xf)?;
        Ok(Some(OhcA1 { flags, pasid, last_be, first_be }))
    }

    fn ohc_a5(&self, name: &'static str) -> Result<Option<OhcA5>, FlitTlpFieldsError> {
        let Some(status) = self.status else {
            let others = [
                ("completer_segment", self.completer_segment.is_some()),
                ("destination_segment", self.destination_segment.is_some()),
            ];
            let with = others.iter().find(|(_, there)| *there).map(|other| other.0);
            let missing = |with| FlitTlpFieldsError::Missing { name, field: "status", with: Some(with) };
            return with.map_or(Ok(None), |with| Err(missing(with)));
        };
        range("status", status, 0, 7)?;
        let completer_segment = self.completer_segment.unwrap_or_default();
        Ok(Some(OhcA5 { destination_segment: self.destination_segment, completer_segment, status }))
    }

    /// Fills in an empty body.
    fn fill(&self, name: &'static str, body: &mut FlitBody) -> Result<(), FlitTlpFieldsError> {
        let missing = |field| FlitTlpFieldsError::Missing { name, field, with: None };
        match body {
            FlitBody::Memory { wide, address, at, ohc_a, .. } => {
                *address = self.address.ok_or_else(|| missing("address"))?;
                *at = self.at.unwrap_or_default();
                range("address", *address, 0, if *wide { u64::MAX } else { u32::MAX.into() })?;
                range("at", *at, 0, 3)?;
                if *address & 3 != 0 {
                    return Err(FlitTlpFieldsError::Unaligned { address: *address });
                }
                *ohc_a = self.ohc_a1(name)?;
            }
            FlitBody::Completion { completer_id, byte_count, lower_address, ohc_a, .. } => {
                *completer_id = self.completer_id.ok_or_else(|| missing("completer_id"))?;
                *byte_count = self.byte_count.ok_or_else(|| missing("byte_count"))?;
                *lower_address = self.lower_address.ok_or_else(|| missing("lower_address"))?;
                range("byte_count", *byte_count, 1, 4096)?;
                range("lower_address", *lower_address, 0, 0x7f)?;
                *ohc_a = self.ohc_a5(name)?;
                if ohc_a.is_none() && *lower_address & 3 != 0 {
                    return Err(FlitTlpFieldsError::LowerAddress { lower_address: *lower_address });
                }
            }
        }
        Ok(())
    }
}

impl TryFrom<FlitTlpFields> for FlitTlpRepr {
    type Error = FlitTlpFieldsError;

    fn try_from(fields: FlitTlpFields) -> Result<Self, FlitTlpFieldsError> {
        let code = fields.r#type;
        let body = body_of(code).ok_or(FlitTlpFieldsError::Type { code })?;
        let trailer = TrailerSize::from_bits(fields.ts).ok_or(FlitTlpFieldsError::Trailer { bits: fields.ts })?;
        let ohc_e = OhcE::from_words(&words("ohc_e", fields.ohc_e.as_ref(), "8, 16 or 32")?);
        let mut repr = Self {
            tc: fields.tc,
            attributes: Attributes::from_bits(fields.attr),
            trailer,
            ep: fields.ep == 1,
            length_dw: fields.length_dw,
            tag: fields.tag,
            requester_id: fields.requester_id,
            ohc_b: one_word("ohc_b", fields.ohc_b.as_ref())?,
            ohc_c: one_word("ohc_c", fields.ohc_c.as_ref())?,
            ohc_e: ohc_e.ok_or(FlitTlpFieldsError::Hexadecimal { field: "ohc_e", digits: "8, 16 or 32" })?,
            body,
        };
        let name = repr.name();
        fields.only(name, own(&body))?;
        fields.fill(name, &mut repr.body)?;
        for (field, value, high) in [("tc", fields.tc, 7), ("attr", fields.attr, 7), ("ep", fields.ep, 1)] {
            range(field, value, 0, high)?;
        }
        range("tag", fields.tag, 0, 0x3fff)?;
        let without_length = matches!(body, FlitBody::Completion { data: false, .. });
        let (low, high) = if without_length { (0, 0x3ff) } else { (1, MAX_PAYLOAD_DW as u64) };
        range("length_dw", fields.length_dw, low, high)?;
        Ok(repr)
    }
}
