//! The JSON form of a TLP header of flit mode: flat, with stable names.

mod values;

use super::{FlitBody, FlitTlpRepr, OhcA1, OhcA5, Word};
use serde::{Deserialize, Serialize};

pub use values::FlitTlpFieldsError;

/// The fields of a TLP header of flit mode as they are in JSON. Which are due follows from `type`; flags are 0 or 1.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlitTlpFields {
    /// Type.
    pub r#type: u8,
    /// Length in DW before it is cut to 10 bits: 1024 is 1024.
    pub length_dw: u16,
    /// Traffic class.
    #[serde(default)]
    pub tc: u8,
    /// Attr: bit 0 no snoop, bit 1 relaxed ordering, bit 2 ID-based ordering.
    #[serde(default)]
    pub attr: u8,
    /// Size of the trailer.
    #[serde(default)]
    pub ts: u8,
    /// Poisoned.
    #[serde(default)]
    pub ep: u8,
    /// Tag, 14 bits.
    #[serde(default)]
    pub tag: u16,
    /// Bus, device, function: bits 15:8, 7:3, 2:0.
    #[serde(default)]
    pub requester_id: u16,
    /// Address of a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<u64>,
    /// Address type of a request; 0 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<u8>,
    /// First BE; with it the request has OHC-A1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_be: Option<u8>,
    /// Last BE, next to `first_be`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_be: Option<u8>,
    /// PASID, next to `first_be`; 0 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pasid: Option<u32>,
    /// NW, PV, PMR, ER as bits 3 to 0, next to `first_be`; 0 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pasid_flags: Option<u8>,
    /// Completer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completer_id: Option<u16>,
    /// Byte count before it is cut to 12 bits: 4096 is 4096.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byte_count: Option<u16>,
    /// Lower address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_address: Option<u8>,
    /// Completion status; with it the completion has OHC-A5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u8>,
    /// Segment of the completer, next to `status`; 0 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completer_segment: Option<u8>,
    /// Segment of the requester, next to `status`; not valid if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination_segment: Option<u8>,
    /// OHC-B, as 8 hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ohc_b: Option<String>,
    /// OHC-C, as 8 hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ohc_c: Option<String>,
    /// OHC-E, as 8, 16 or 32 hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ohc_e: Option<String>,
}

impl From<FlitTlpRepr> for FlitTlpFields {
    fn from(repr: FlitTlpRepr) -> Self {
        let hex = |word: Option<Word>| word.map(hex::encode);
        let ohc_e = repr.ohc_e.words();
        let mut fields = Self {
            r#type: repr.code(),
            length_dw: repr.length_dw,
            tc: repr.tc,
            attr: repr.attributes.bits(),
            ts: repr.trailer.bits(),
            ep: repr.ep.into(),
            tag: repr.tag,
            requester_id: repr.requester_id,
            ohc_b: hex(repr.ohc_b),
            ohc_c: hex(repr.ohc_c),
            ohc_e: (!ohc_e.is_empty()).then(|| hex::encode(ohc_e.as_flattened())),
            ..Self::default()
        };
        match repr.body {
            FlitBody::Memory { address, at, ohc_a, .. } => {
                (fields.address, fields.at) = (Some(address), Some(at));
                if let Some(OhcA1 { flags, pasid, last_be, first_be }) = ohc_a {
                    (fields.first_be, fields.last_be) = (Some(first_be), Some(last_be));
                    (fields.pasid, fields.pasid_flags) = (Some(pasid), Some(flags));
                }
            }
            FlitBody::Completion { completer_id, byte_count, lower_address, ohc_a, .. } => {
                (fields.completer_id, fields.byte_count) = (Some(completer_id), Some(byte_count));
                fields.lower_address = Some(lower_address);
                if let Some(OhcA5 { destination_segment, completer_segment, status }) = ohc_a {
                    (fields.status, fields.completer_segment) = (Some(status), Some(completer_segment));
                    fields.destination_segment = destination_segment;
                }
            }
        }
        fields
    }
}

impl FlitTlpFields {
    /// The names of all fields, those of every TLP first.
    pub const NAMES: [&'static str; 23] = [
        "type",
        "length_dw",
        "tc",
        "attr",
        "ts",
        "ep",
        "tag",
        "requester_id",
        "ohc_b",
        "ohc_c",
        "ohc_e",
        "address",
        "at",
        "first_be",
        "last_be",
        "pasid",
        "pasid_flags",
        "completer_id",
        "byte_count",
        "lower_address",
        "status",
        "completer_segment",
        "destination_segment",
    ];
}
