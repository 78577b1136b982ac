//! Both directions of `sealsim tlp` as functions, for programs that hold one against the other.

use super::{Generation, Stream, decode, document::Document, encode, flit, item::Item, log};
use miette::{Report, miette};

/// How the bytes of TLPs are framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlpForm {
    /// TLPs without framing, one behind the other.
    Tlps,
    /// Frames of a link of gen3 to gen5.
    Wire,
    /// Symbols of a link of gen1 or gen2, before scrambling.
    Symbols,
    Dllp,
    /// Flits of 256 bytes.
    Flits,
}

impl TlpForm {
    /// All of them, by the names and numbers that bindings give them.
    pub const ALL: [(&str, Self); 5] = [
        ("tlps", Self::Tlps),
        ("wire", Self::Wire),
        ("symbols", Self::Symbols),
        ("dllp", Self::Dllp),
        ("flits", Self::Flits),
    ];

    const fn generation(self) -> Option<Generation> {
        match self {
            Self::Wire => Some(Generation::Gen3),
            Self::Symbols => Some(Generation::Gen1),
            Self::Tlps | Self::Dllp | Self::Flits => None,
        }
    }

    const fn stream(self) -> Stream {
        match (self, self.generation()) {
            (_, Some(generation)) => Stream::Wire(generation),
            (Self::Dllp, _) => Stream::Dllp,
            (Self::Flits, _) => Stream::Flits,
            _ => Stream::Tlps,
        }
    }
}

/// What bytes hold, as `sealsim tlp decode --format json` prints it, a line each.
pub fn tlp_to_json(bytes: &[u8], form: TlpForm) -> Vec<String> {
    decode::items(bytes, form.stream()).iter().map(line).collect()
}

/// The headers in lines of a kernel's log or of `lspci -vv`, as `sealsim tlp decode --header-log --format json` prints them.
pub fn tlp_logs_to_json(text: &str) -> Result<Vec<String>, Report> {
    let read = log::parse(text, "text");
    match (read.logs.is_empty(), read.skipped.first()) {
        (true, Some(error)) => Err(miette!("{error}")),
        (true, None) => Err(miette!("no line has `TLP Header:` in it, or a `HeaderLog:` that is not zero")),
        (false, _) => Ok(read.logs.iter().map(|log| line(&decode::logged(log))).collect()),
    }
}

fn line(item: &Item) -> String {
    serde_json::to_string(&Document::from(item)).unwrap_or_default()
}

/// The bytes of each JSON object, as `sealsim tlp encode` prints them.
pub fn tlp_from_json(json: &str, form: TlpForm) -> Result<Vec<Vec<u8>>, Report> {
    match form {
        TlpForm::Flits => flit::encode::lines(json),
        _ => encode::lines(json, form.generation()),
    }
}
