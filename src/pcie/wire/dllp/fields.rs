//! The JSON form of a DLLP: flat, with stable names.

use super::{CREDIT, DllpRepr, POWER};
use crate::{files::excerpt, pcie::credit::Scale};
use serde::{Deserialize, Serialize};

/// The fields of a DLLP as they are in JSON. Which are due follows from `type`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DllpFields {
    /// `ACK`, `NAK`, `INIT_FC1_P` to `UPDATE_FC_CPL`, `DATA_LINK_FEATURE`, `PM_...`, `VENDOR`, `NOP`.
    pub r#type: String,
    /// Sequence number of Ack and Nak.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u16>,
    /// Virtual channel of flow control; 0 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vc: Option<u8>,
    /// Scale of the header credits; no scaling if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hdr_scale: Option<Scale>,
    /// Header credits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hdr_fc: Option<u8>,
    /// Scale of the data credits; no scaling if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_scale: Option<Scale>,
    /// Data credits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_fc: Option<u16>,
    /// Supported data link features.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature_support: Option<u32>,
    /// Acknowledgement of the data link features.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature_ack: Option<bool>,
    /// 24 bits of VENDOR and NOP; 0 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<u32>,
}

/// Why fields are no DLLP.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DllpFieldsError {
    /// The type has no such name.
    #[error("{:?} is no DLLP type; types are ACK, NAK, DATA_LINK_FEATURE, VENDOR, NOP, {}", excerpt(.name, 40), names())]
    UnknownType {
        /// What is in `type`.
        name: String,
    },
    /// A field that this type has is not there.
    #[error("a {name} DLLP needs the field `{field}`")]
    Missing {
        /// The type.
        name: String,
        /// The field.
        field: &'static str,
    },
    /// A field that this type does not have is there.
    #[error("a {name} DLLP has no field `{field}`; beside `type` it has {}", list(.own))]
    Surplus {
        /// The type.
        name: String,
        /// The field.
        field: &'static str,
        /// The fields that the type has in addition to `type`.
        own: &'static [&'static str],
    },
    /// A value does not fit its bits.
    #[error("`{field}` is {value}, which does not fit its {bits} bits")]
    Width {
        /// The field.
        field: &'static str,
        /// Its value.
        value: u32,
        /// Its width.
        bits: u32,
    },
}

fn list(own: &[&str]) -> String {
    if own.is_empty() { "none".to_owned() } else { format!("`{}`", own.join("`, `")) }
}

fn names() -> String {
    let names: Vec<_> = CREDIT.iter().map(|row| row.3).chain(POWER.iter().map(|row| row.2)).collect();
    names.join(", ")
}

impl From<DllpRepr> for DllpFields {
    fn from(repr: DllpRepr) -> Self {
        let mut fields = Self { r#type: repr.name().to_owned(), ..Self::default() };
        match repr {
            DllpRepr::Ack { sequence } | DllpRepr::Nak { sequence } => fields.seq = Some(sequence),
            DllpRepr::Credit { virtual_channel, header_scale, header, data_scale, data, .. } => {
                fields.vc = (virtual_channel != 0).then_some(virtual_channel);
                fields.hdr_scale = (header_scale != Scale::Off).then_some(header_scale);
                fields.data_scale = (data_scale != Scale::Off).then_some(data_scale);
                (fields.hdr_fc, fields.data_fc) = (Some(header), Some(data));
            }
            DllpRepr::Feature { support, ack } => {
                (fields.feature_support, fields.feature_ack) = (Some(support), Some(ack));
            }
            DllpRepr::Vendor { content: [a, b, c] } | DllpRepr::Nop { content: [a, b, c] } => {
                let content = u32::from_be_bytes([0, a, b, c]);
                fields.content = (content != 0).then_some(content);
            }
            DllpRepr::Power(_) => {}
        }
        fields
    }
}

impl DllpFields {
    /// The names of all fields.
    pub const NAMES: [&'static str; 10] = [
        "type",
        "seq",
        "vc",
        "hdr_scale",
        "hdr_fc",
        "data_scale",
        "data_fc",
        "feature_support",
        "feature_ack",
        "content",
    ];

    /// Refuses a field that the type does not have.
    fn only(&self, own: &'static [&'static str]) -> Result<(), DllpFieldsError> {
        let present = [
            ("seq", self.seq.is_some()),
            ("vc", self.vc.is_some()),
            ("hdr_scale", self.hdr_scale.is_some()),
            ("hdr_fc", self.hdr_fc.is_some()),
            ("data_scale", self.data_scale.is_some()),
            ("data_fc", self.data_fc.is_some()),
            ("feature_support", self.feature_support.is_some()),
            ("feature_ack", self.feature_ack.is_some()),
            ("content", self.content.is_some()),
        ];
        match present.into_iter().find(|(field, there)| *there && !own.contains(field)) {
            Some((field, _)) => Err(DllpFieldsError::Surplus { name: self.r#type.clone(), field, own }),
            None => Ok(()),
        }
    }

    fn need<T>(&self, field: &'static str, value: Option<T>) -> Result<T, DllpFieldsError> {
        value.ok_or_else(|| DllpFieldsError::Missing { name: self.r#type.clone(), field })
    }

    fn sequence(&self) -> Result<u16, DllpFieldsError> {
        self.only(&["seq"])?;
        let sequence = self.need("seq", self.seq)?;
        fits("seq", sequence.into(), 12)?;
        Ok(sequence)
    }

    fn content(&self) -> Result<[u8; 3], DllpFieldsError> {
        self.only(&["content"])?;
        let content = self.content.unwrap_or_default();
        fits("content", content, 24)?;
        let [_, bytes @ ..] = content.to_be_bytes();
        Ok(bytes)
    }

    fn credit(&self) -> Result<DllpRepr, DllpFieldsError> {
        let &(phase, class, ..) = CREDIT
            .iter()
            .find(|row| row.3 == self.r#type)
            .ok_or_else(|| DllpFieldsError::UnknownType { name: self.r#type.clone() })?;
        self.only(&["vc", "hdr_scale", "hdr_fc", "data_scale", "data_fc"])?;
        let (header, data) = (self.need("hdr_fc", self.hdr_fc)?, self.need("data_fc", self.data_fc)?);
        let virtual_channel = self.vc.unwrap_or_default();
        fits("data_fc", data.into(), 12)?;
        fits("vc", virtual_channel.into(), 3)?;
        let (header_scale, data_scale) = (self.hdr_scale.unwrap_or_default(), self.data_scale.unwrap_or_default());
        Ok(DllpRepr::Credit { phase, class, virtual_channel, header_scale, header, data_scale, data })
    }
}

fn fits(field: &'static str, value: u32, bits: u32) -> Result<(), DllpFieldsError> {
    if value >> bits == 0 { Ok(()) } else { Err(DllpFieldsError::Width { field, value, bits }) }
}

impl TryFrom<DllpFields> for DllpRepr {
    type Error = DllpFieldsError;

    fn try_from(fields: DllpFields) -> Result<Self, Self::Error> {
        Ok(match fields.r#type.as_str() {
            "ACK" => Self::Ack { sequence: fields.sequence()? },
            "NAK" => Self::Nak { sequence: fields.sequence()? },
            "VENDOR" => Self::Vendor { content: fields.content()? },
            "NOP" => Self::Nop { content: fields.content()? },
            "DATA_LINK_FEATURE" => {
                fields.only(&["feature_support", "feature_ack"])?;
                let support = fields.need("feature_support", fields.feature_support)?;
                fits("feature_support", support, 23)?;
                Self::Feature { support, ack: fields.need("feature_ack", fields.feature_ack)? }
            }
            name => match POWER.iter().find(|row| row.2 == name) {
                Some(&(power, ..)) => {
                    fields.only(&[])?;
                    Self::Power(power)
                }
                None => fields.credit()?,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_its_name_in_the_list() {
        let all = DllpFields {
            seq: Some(0),
            vc: Some(0),
            hdr_scale: Some(Scale::One),
            hdr_fc: Some(0),
            data_scale: Some(Scale::One),
            data_fc: Some(0),
            feature_support: Some(0),
            feature_ack: Some(false),
            content: Some(0),
            ..DllpFields::default()
        };
        let value = serde_json::to_value(&all).unwrap();
        let mut names = DllpFields::NAMES;
        names.sort_unstable();
        assert!(value.as_object().unwrap().keys().eq(names));
    }

    #[test]
    fn a_field_of_another_type_is_refused_with_those_of_this_one() {
        let refused = |fields: DllpFields| DllpRepr::try_from(fields).unwrap_err().to_string();
        let ack = DllpFields { r#type: "ACK".to_owned(), seq: Some(0), vc: Some(0), ..DllpFields::default() };
        assert_eq!(refused(ack), "a ACK DLLP has no field `vc`; beside `type` it has `seq`");
        let power = DllpFields { r#type: "PM_ENTER_L1".to_owned(), vc: Some(0), ..DllpFields::default() };
        assert!(refused(power).ends_with("beside `type` it has none"));
        let long = DllpFields { r#type: "A".repeat(100_000), ..DllpFields::default() };
        assert!(refused(long).len() < 500);
    }
}
