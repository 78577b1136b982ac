//! The JSON form of an item. `docs/tlp.md` describes it.

use super::{
    flit,
    item::{Content, Item, Problem},
};
use crate::wire::{
    dllp::DllpRepr,
    flit::{Dlp, tlp::FlitTlpRepr},
    table::{Family, Given},
    tlp::TlpRepr,
};
use serde::{Deserialize, Serialize};

sealsim_units::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub(super) enum Kind {
        Tlp = "tlp",
        Dllp = "dllp",
        Idle = "idle",
        EndOfDataStream = "end_of_data_stream",
        Flit = "flit",
        FlitTlp = "flit_tlp",
        Nop = "nop",
        #[default]
        Unreadable = "unreadable",
    }
}

impl Kind {
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
            Self::Flit => &["kind", "name", "fields", "crc", "ecc", "corrected", "tlp_bytes", "problems"],
            Self::FlitTlp => &["kind", "name", "fields", "payload", "trailer", "problems"],
            Self::Nop => &["kind", "count", "problems"],
            Self::Unreadable => &["kind", "bytes", "source", "problems"],
        }
    }

    /// The fields that an object of this kind may have.
    pub(super) fn fields(self) -> Vec<&'static str> {
        match self {
            Self::Tlp => names::<TlpRepr>(),
            Self::Dllp => names::<DllpRepr>(),
            Self::Flit => names::<Dlp>(),
            Self::FlitTlp => names::<FlitTlpRepr>(),
            Self::Idle | Self::EndOfDataStream | Self::Nop | Self::Unreadable => Vec::new(),
        }
    }
}

fn names<F: Family>() -> Vec<&'static str> {
    F::fields().iter().map(|field| field.name).collect()
}

/// A byte that the ECC corrected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Correction {
    pub(super) byte: u8,
    /// The bits that were wrong, as two hexadecimal digits.
    pub(super) bits: String,
}

/// One item; the form of `fields` depends on the kind. What a kind does not have is absent.
#[derive(Debug, Default, Serialize, Deserialize)]
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
    pub(super) crc: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ecc: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) corrected: Option<Vec<Correction>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tlp_bytes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trailer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<String>,
    #[serde(default)]
    pub(super) problems: Vec<Problem>,
}

/// Absent if there are none.
fn corrections(corrected: &[(u8, u8)]) -> Option<Vec<Correction>> {
    let list = corrected.iter().map(|&(byte, bits)| Correction { byte, bits: hex::encode([bits]) });
    (!corrected.is_empty()).then(|| list.collect())
}

impl From<&Item> for Document<Given<()>> {
    fn from(item: &Item) -> Self {
        let (source, problems) = (item.source.clone(), item.problems.clone());
        let rest = Self { source, problems, ..Self::default() };
        match &item.content {
            Content::Tlp(tlp) => Self {
                name: Some(tlp.repr.name().to_owned()),
                fields: Some(Given::<TlpRepr>::from(tlp.repr).of_any()),
                prefixes: Some(tlp.prefixes.iter().map(hex::encode).collect()),
                payload: tlp.payload.as_ref().map(hex::encode),
                ecrc: tlp.ecrc.map(hex::encode),
                pcrc: tlp.pcrc.map(hex::encode),
                mac: tlp.mac.map(hex::encode),
                seq: tlp.link.map(|link| link.sequence),
                token: tlp.link.and_then(|link| link.token).map(hex::encode),
                lcrc: tlp.link.map(|link| hex::encode(link.lcrc)),
                nullified: tlp.link.map(|link| link.nullified),
                kind: Kind::Tlp,
                ..rest
            },
            Content::Dllp { repr, crc, .. } => Self {
                name: Some(repr.name().to_owned()),
                fields: Some(Given::<DllpRepr>::from(*repr).of_any()),
                crc16: crc.map(hex::encode),
                kind: Kind::Dllp,
                ..rest
            },
            Content::Idle { bytes } => Self { kind: Kind::Idle, idle_bytes: Some(*bytes), ..rest },
            Content::EndOfDataStream => Self { kind: Kind::EndOfDataStream, ..rest },
            Content::Flit(flit) => Self {
                name: Some(flit::name(&flit.dlp).to_owned()),
                fields: Some(Given::<Dlp>::from(flit.dlp).of_any()),
                crc: Some(hex::encode(flit.crc)),
                ecc: Some(hex::encode(flit.ecc)),
                corrected: corrections(&flit.corrected),
                tlp_bytes: flit.area.map(hex::encode),
                kind: Kind::Flit,
                ..rest
            },
            Content::FlitTlp(tlp) => Self {
                name: Some(tlp.repr.name().to_owned()),
                fields: Some(Given::<FlitTlpRepr>::from(tlp.repr).of_any()),
                payload: Some(hex::encode(&tlp.payload)),
                trailer: (!tlp.trailer.is_empty()).then(|| hex::encode(&tlp.trailer)),
                kind: Kind::FlitTlp,
                ..rest
            },
            Content::Nop { count } => Self { kind: Kind::Nop, count: Some(*count), ..rest },
            Content::Unreadable { bytes } => Self { bytes: Some(hex::encode(bytes)), ..rest },
        }
    }
}
