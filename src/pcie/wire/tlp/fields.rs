//! The JSON form of a TLP header: flat, with stable names.

use super::{Attributes, Body, Common, MAX_PAYLOAD_DW, TlpError, TlpRepr, repr::body_of};
use serde::{Deserialize, Serialize};

/// The fields of a TLP header as they stand in JSON. Which are due follows from `fmt` and `type`; flags are 0 or 1.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlpFields {
    /// Fmt.
    pub fmt: u8,
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
    /// Address type.
    #[serde(default)]
    pub at: u8,
    /// Digest present.
    #[serde(default)]
    pub td: u8,
    /// Poisoned.
    #[serde(default)]
    pub ep: u8,
    /// Processing hints present.
    #[serde(default)]
    pub th: u8,
    /// Lightweight notification.
    #[serde(default)]
    pub ln: u8,
    /// Tag, 10 bits.
    #[serde(default)]
    pub tag: u16,
    /// Bus, device, function: bits 15:8, 7:3, 2:0.
    #[serde(default)]
    pub requester_id: u16,
    /// Completer of a completion, destination of a configuration request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completer_id: Option<u16>,
    /// Address of a memory or I/O request, register of a configuration request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<u64>,
    /// First BE.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_be: Option<u8>,
    /// Last BE.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_be: Option<u8>,
    /// Processing hint of a memory request; 0 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ph: Option<u8>,
    /// Completion status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u8>,
    /// Byte count modified; 0 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bcm: Option<u8>,
    /// Byte count before it is cut to 12 bits: 4096 is 4096.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byte_count: Option<u16>,
    /// Lower address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_address: Option<u8>,
    /// Message code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_code: Option<u8>,
    /// Bytes 8 to 15 of a message, as 16 hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_content: Option<String>,
}

/// Why fields are no TLP header.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlpFieldsError {
    /// Fmt and Type mean nothing together.
    #[error(transparent)]
    Kind(TlpError),
    /// A field that this kind has is not there.
    #[error("fmt {fmt} with type {code} needs the field `{field}`")]
    Missing {
        /// Fmt.
        fmt: u8,
        /// Type.
        code: u8,
        /// The field.
        field: &'static str,
    },
    /// A field that this kind does not have is there.
    #[error("{name} has no field `{field}`; beside those of every TLP it has `{}`", own.join("`, `"))]
    Surplus {
        /// The kind, for example `MWr64`.
        name: &'static str,
        /// The field.
        field: &'static str,
        /// The fields that the kind has beside those of every TLP.
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
    /// An address whose low two bits are set.
    #[error("`address` is {address:#x}, but must be a multiple of 4: bytes are chosen by first_be and last_be")]
    Unaligned {
        /// The address.
        address: u64,
    },
    /// The hint without the flag.
    #[error("`ph` is {ph}, but a hint needs `th` 1")]
    HintWithoutFlag {
        /// The hint.
        ph: u8,
    },
    /// The message's bytes are no hex of eight bytes.
    #[error("`message_content` must be 16 hexadecimal digits")]
    MessageContent,
}

impl From<TlpRepr> for TlpFields {
    fn from(repr: TlpRepr) -> Self {
        let Common { tc, attributes, at, td, ep, th, ln } = repr.common;
        let mut fields = Self {
            fmt: repr.fmt(),
            r#type: repr.code(),
            length_dw: repr.length_dw,
            tc,
            attr: attributes.bits(),
            at,
            td: td.into(),
            ep: ep.into(),
            th: th.into(),
            ln: ln.into(),
            tag: repr.tag,
            requester_id: repr.requester_id,
            ..Self::default()
        };
        match repr.body {
            Body::Memory { address, first_be, last_be, ph, .. } => {
                (fields.address, fields.ph) = (Some(address), Some(ph));
                (fields.first_be, fields.last_be) = (Some(first_be), Some(last_be));
            }
            Body::Io { address, first_be, last_be, .. } => {
                fields.address = Some(address.into());
                (fields.first_be, fields.last_be) = (Some(first_be), Some(last_be));
            }
            Body::Config { completer_id, register, first_be, last_be, .. } => {
                (fields.completer_id, fields.address) = (Some(completer_id), Some(register.into()));
                (fields.first_be, fields.last_be) = (Some(first_be), Some(last_be));
            }
            Body::Completion { completer_id, status, bcm, byte_count, lower_address, .. } => {
                (fields.completer_id, fields.status, fields.bcm) = (Some(completer_id), Some(status), Some(bcm.into()));
                (fields.byte_count, fields.lower_address) = (Some(byte_count), Some(lower_address));
            }
            Body::Message { code, content, .. } => {
                (fields.message_code, fields.message_content) = (Some(code), Some(hex::encode(content)));
            }
        }
        fields
    }
}

fn range(field: &'static str, value: impl Into<u64>, low: u64, high: u64) -> Result<(), TlpFieldsError> {
    let value = value.into();
    if (low..=high).contains(&value) { Ok(()) } else { Err(TlpFieldsError::Range { field, value, low, high }) }
}

/// The fields that a kind has beside those of every TLP.
const fn own(body: &Body) -> &'static [&'static str] {
    match body {
        Body::Memory { .. } => &["address", "first_be", "last_be", "ph"],
        Body::Io { .. } => &["address", "first_be", "last_be"],
        Body::Config { .. } => &["completer_id", "address", "first_be", "last_be"],
        Body::Completion { .. } => &["completer_id", "status", "bcm", "byte_count", "lower_address"],
        Body::Message { .. } => &["message_code", "message_content"],
    }
}

impl TlpFields {
    fn need<T>(&self, field: &'static str, value: Option<T>) -> Result<T, TlpFieldsError> {
        value.ok_or(TlpFieldsError::Missing { fmt: self.fmt, code: self.r#type, field })
    }

    /// The names of all fields, those of every TLP first.
    pub const NAMES: [&'static str; 23] = [
        "fmt",
        "type",
        "length_dw",
        "tc",
        "attr",
        "at",
        "td",
        "ep",
        "th",
        "ln",
        "tag",
        "requester_id",
        "completer_id",
        "address",
        "first_be",
        "last_be",
        "ph",
        "status",
        "bcm",
        "byte_count",
        "lower_address",
        "message_code",
        "message_content",
    ];

    /// Refuses a field that the kind does not have.
    fn only(&self, name: &'static str, own: &'static [&'static str]) -> Result<(), TlpFieldsError> {
        let present = [
            ("completer_id", self.completer_id.is_some()),
            ("address", self.address.is_some()),
            ("first_be", self.first_be.is_some()),
            ("last_be", self.last_be.is_some()),
            ("ph", self.ph.is_some()),
            ("status", self.status.is_some()),
            ("bcm", self.bcm.is_some()),
            ("byte_count", self.byte_count.is_some()),
            ("lower_address", self.lower_address.is_some()),
            ("message_code", self.message_code.is_some()),
            ("message_content", self.message_content.is_some()),
        ];
        match present.into_iter().find(|(field, there)| *there && !own.contains(field)) {
            Some((field, _)) => Err(TlpFieldsError::Surplus { name, field, own }),
            None => Ok(()),
        }
    }

    /// The address, a multiple of 4 up to `high`.
    fn aligned(&self, high: u64) -> Result<u64, TlpFieldsError> {
        let address = self.need("address", self.address)?;
        range("address", address, 0, high)?;
        if address & 3 != 0 { Err(TlpFieldsError::Unaligned { address }) } else { Ok(address) }
    }

    fn enables(&self) -> Result<(u8, u8), TlpFieldsError> {
        let (first, last) = (self.need("first_be", self.first_be)?, self.need("last_be", self.last_be)?);
        range("first_be", first, 0, 15)?;
        range("last_be", last, 0, 15)?;
        Ok((first, last))
    }

    /// Fills in an empty body.
    fn fill(&self, body: &mut Body) -> Result<(), TlpFieldsError> {
        match body {
            Body::Memory { wide, address, first_be, last_be, ph, .. } => {
                *address = self.aligned(if *wide { u64::MAX } else { u32::MAX.into() })?;
                (*first_be, *last_be) = self.enables()?;
                *ph = self.ph.unwrap_or_default();
                range("ph", *ph, 0, 3)?;
                if self.th == 0 && *ph != 0 {
                    return Err(TlpFieldsError::HintWithoutFlag { ph: *ph });
                }
            }
            Body::Io { address, first_be, last_be, .. } => {
                *address = self.aligned(u32::MAX.into())? as u32;
                (*first_be, *last_be) = self.enables()?;
            }
            Body::Config { completer_id, register, first_be, last_be, .. } => {
                *completer_id = self.need("completer_id", self.completer_id)?;
                *register = self.aligned(0xfff)? as u16;
                (*first_be, *last_be) = self.enables()?;
            }
            Body::Completion { completer_id, status, bcm, byte_count, lower_address, .. } => {
                *completer_id = self.need("completer_id", self.completer_id)?;
                *status = self.need("status", self.status)?;
                *byte_count = self.need("byte_count", self.byte_count)?;
                *lower_address = self.need("lower_address", self.lower_address)?;
                let modified = self.bcm.unwrap_or_default();
                range("status", *status, 0, 7)?;
                range("bcm", modified, 0, 1)?;
                range("byte_count", *byte_count, 1, 4096)?;
                range("lower_address", *lower_address, 0, 0x7f)?;
                *bcm = modified == 1;
            }
            Body::Message { code, content, .. } => {
                *code = self.need("message_code", self.message_code)?;
                let text = self.message_content.as_ref();
                let text = self.need("message_content", text)?;
                hex::decode_to_slice(text, content).map_err(|_| TlpFieldsError::MessageContent)?;
            }
        }
        Ok(())
    }
}

impl TryFrom<TlpFields> for TlpRepr {
    type Error = TlpFieldsError;

    fn try_from(fields: TlpFields) -> Result<Self, Self::Error> {
        range("fmt", fields.fmt, 0, 3)?;
        range("type", fields.r#type, 0, 31)?;
        let mut body = body_of(fields.fmt, fields.r#type).map_err(TlpFieldsError::Kind)?;
        let named = Self { common: Common::default(), length_dw: 0, requester_id: 0, tag: 0, body };
        fields.only(named.name(), own(&body))?;
        fields.fill(&mut body)?;
        for (name, value, high) in [("tc", fields.tc, 7), ("attr", fields.attr, 7), ("at", fields.at, 3)] {
            range(name, value, 0, high)?;
        }
        for (name, flag) in [("td", fields.td), ("ep", fields.ep), ("th", fields.th), ("ln", fields.ln)] {
            range(name, flag, 0, 1)?;
        }
        range("tag", fields.tag, 0, 0x3ff)?;
        let without_length = fields.fmt & 2 == 0 && matches!(body, Body::Completion { .. } | Body::Message { .. });
        let (low, high) = if without_length { (0, 0x3ff) } else { (1, MAX_PAYLOAD_DW as u64) };
        range("length_dw", fields.length_dw, low, high)?;
        let common = Common {
            tc: fields.tc,
            attributes: Attributes::from_bits(fields.attr),
            at: fields.at,
            td: fields.td == 1,
            ep: fields.ep == 1,
            th: fields.th == 1,
            ln: fields.ln == 1,
        };
        Ok(Self { common, length_dw: fields.length_dw, requester_id: fields.requester_id, tag: fields.tag, body })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcie::wire::tlp::TlpView;
    use proptest::prelude::*;

    fn refused(change: impl FnOnce(&mut TlpFields)) -> TlpFieldsError {
        let mut fields = TlpFields {
            fmt: 3,
            length_dw: 16,
            address: Some(1 << 32),
            first_be: Some(15),
            last_be: Some(15),
            ..TlpFields::default()
        };
        assert!(TlpRepr::try_from(fields.clone()).is_ok());
        change(&mut fields);
        TlpRepr::try_from(fields).unwrap_err()
    }

    #[test]
    fn wrong_fields_are_refused_by_name() {
        assert!(matches!(refused(|f| f.address = None), TlpFieldsError::Missing { field: "address", .. }));
        assert!(matches!(refused(|f| f.status = Some(0)), TlpFieldsError::Surplus { field: "status", .. }));
        assert!(matches!(refused(|f| f.tag = 0x400), TlpFieldsError::Range { field: "tag", .. }));
        assert!(matches!(refused(|f| f.length_dw = 0), TlpFieldsError::Range { field: "length_dw", .. }));
        assert!(matches!(refused(|f| f.fmt = 2), TlpFieldsError::Range { field: "address", .. }));
        assert!(matches!(refused(|f| f.address = Some((1 << 32) + 1)), TlpFieldsError::Unaligned { .. }));
        assert!(matches!(refused(|f| f.ph = Some(1)), TlpFieldsError::HintWithoutFlag { ph: 1 }));
        assert!(matches!(refused(|f| f.r#type = 9), TlpFieldsError::Kind(TlpError::ReservedType { .. })));
    }

    #[test]
    fn every_field_has_its_name_in_the_list() {
        let all = TlpFields {
            completer_id: Some(0),
            address: Some(0),
            first_be: Some(0),
            last_be: Some(0),
            ph: Some(0),
            status: Some(0),
            bcm: Some(0),
            byte_count: Some(0),
            lower_address: Some(0),
            message_code: Some(0),
            message_content: Some(String::new()),
            ..TlpFields::default()
        };
        let value = serde_json::to_value(&all).unwrap();
        let mut names = TlpFields::NAMES;
        names.sort_unstable();
        assert!(value.as_object().unwrap().keys().eq(names));
    }

    #[test]
    fn a_field_of_another_kind_is_refused_with_those_of_this_one() {
        assert_eq!(
            refused(|f| f.status = Some(0)).to_string(),
            "MWr64 has no field `status`; beside those of every TLP it has `address`, `first_be`, `last_be`, `ph`"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn any_bytes_parse_without_panic_and_what_parses_round_trips(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = TlpView::new_checked(&bytes);
            let Ok(view) = TlpView::new_header(&bytes) else { return Ok(()) };
            let _ = (view.check(), view.payload(), view.digest(), view.prefixes(), view.ecrc());
            let Ok(repr) = TlpRepr::parse(&view) else { return Ok(()) };
            let header = repr.emit();
            prop_assert_eq!(TlpRepr::parse(&TlpView::new_header(&header).unwrap()), Ok(repr));
            let json = serde_json::to_string(&repr).unwrap();
            prop_assert_eq!(serde_json::from_str::<TlpRepr>(&json).unwrap(), repr);
        }
    }
}
