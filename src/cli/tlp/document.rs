//! The JSON form of an item. `docs/tlp.md` describes it.

use super::item::{Content, Item, Problem};
use crate::pcie::wire::{dllp::DllpFields, tlp::TlpFields};
use serde::{Deserialize, Serialize};

/// What an object describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Tlp,
    Dllp,
    Idle,
    EndOfDataStream,
    Unreadable,
}

impl Kind {
    /// All kinds.
    pub(super) const ALL: [Self; 5] = [Self::Tlp, Self::Dllp, Self::Idle, Self::EndOfDataStream, Self::Unreadable];

    /// As it stands in JSON.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Tlp => "tlp",
            Self::Dllp => "dllp",
            Self::Idle => "idle",
            Self::EndOfDataStream => "end_of_data_stream",
            Self::Unreadable => "unreadable",
        }
    }

    /// The keys that an object of this kind may have.
    pub(super) const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Tlp => &[
                "kind",
                "name",
                "fields",
                "prefixes",
                "payload",
                "ecrc",
                "pcrc",
                "mac",
                "seq",
                "token",
                "lcrc",
                "nullified",
                "source",
                "problems",
            ],
            Self::Dllp => &["kind", "name", "fields", "crc16", "problems"],
            Self::Idle => &["kind", "idle_bytes", "problems"],
            Self::EndOfDataStream => &["kind", "problems"],
            Self::Unreadable => &["kind", "bytes", "source", "problems"],
        }
    }

    /// The fields that an object of this kind may have.
    pub(super) const fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Tlp => &TlpFields::NAMES,
            Self::Dllp => &DllpFields::NAMES,
            Self::Idle | Self::EndOfDataStream | Self::Unreadable => &[],
        }
    }
}

/// The fields of an item that is printed.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Fields {
    Tlp(Box<TlpFields>),
    Dllp(DllpFields),
}

/// One item; the form of `fields` depends on the kind. What a kind does not have is absent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document<F> {
    pub(super) kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fields: Option<F>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prefixes: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) payload: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ecrc: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pcrc: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mac: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seq: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lcrc: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) nullified: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) crc16: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) idle_bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<String>,
    #[serde(default)]
    pub(super) problems: Vec<Problem>,
}

impl Document<Fields> {
    fn new(kind: Kind, item: &Item) -> Self {
        Self {
            kind,
            name: None,
            fields: None,
            prefixes: None,
            payload: None,
            ecrc: None,
            pcrc: None,
            mac: None,
            seq: None,
            token: None,
            lcrc: None,
            nullified: None,
            crc16: None,
            idle_bytes: None,
            bytes: None,
            source: item.source.clone(),
            problems: item.problems.clone(),
        }
    }
}

impl From<&Item> for Document<Fields> {
    fn from(item: &Item) -> Self {
        let document = |kind| Self::new(kind, item);
        match &item.content {
            Content::Tlp(tlp) => Self {
                name: Some(tlp.repr.name().to_owned()),
                fields: Some(Fields::Tlp(Box::new(tlp.repr.into()))),
                prefixes: Some(tlp.prefixes.iter().map(hex::encode).collect()),
                payload: tlp.payload.as_ref().map(hex::encode),
                ecrc: tlp.ecrc.map(hex::encode),
                pcrc: tlp.pcrc.map(hex::encode),
                mac: tlp.mac.map(hex::encode),
                seq: tlp.link.map(|link| link.sequence),
                token: tlp.link.and_then(|link| link.token).map(hex::encode),
                lcrc: tlp.link.map(|link| hex::encode(link.lcrc)),
                nullified: tlp.link.map(|link| link.nullified),
                ..document(Kind::Tlp)
            },
            Content::Dllp { repr, crc, .. } => Self {
                name: Some(repr.name().to_owned()),
                fields: Some(Fields::Dllp((*repr).into())),
                crc16: crc.map(hex::encode),
                ..document(Kind::Dllp)
            },
            Content::Idle { bytes } => Self { idle_bytes: Some(*bytes), ..document(Kind::Idle) },
            Content::EndOfDataStream => document(Kind::EndOfDataStream),
            Content::Unreadable { bytes } => Self { bytes: Some(hex::encode(bytes)), ..document(Kind::Unreadable) },
        }
    }
}
