//! What stands in a stream of bytes, item by item, as text for people and JSON for programs, and JSON back to bytes: what `sealsim tlp` does.
//!
//! | from | to | by |
//! | --- | --- | --- |
//! | bytes in one of five [forms](Form) | items | [`read`] |
//! | lines of a kernel's log, or of `lspci -vv` | items of the headers in them | [`logs`] |
//! | items of a stream, with the way of each | what is wrong with each in view of those before it | [`judge`] |
//! | an item | text; JSON | [`Item::write_text`], [`Item::to_json`] |
//! | JSON | bytes, those of each object | [`write`](fn@write) |
//!
//! What is read without an error is written back as it was. `docs/tlp.md` describes each field.

mod decode;
mod document;
mod encode;
mod flit;
mod hexadecimal;
mod item;
mod log;
mod outline;
mod refused;
mod stream;
mod text;

pub use hexadecimal::{HexError, HexFault, parse as parse_hex};
pub use item::{Item, Problem};
pub use log::LogError;
pub use refused::Refused;
pub use stream::{Way, judge};

use std::io;

/// What is wrong with a text without a header log.
pub const NO_LOG: &str = "no line has `TLP Header:` in it, or a `HeaderLog:` that is not zero";
/// Most bytes that are read at once, and that fillers (idle, NOP TLPs) of all objects of one text may take.
pub const MOST_BYTES: usize = 2 << 20;

/// How the bytes of TLPs are framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
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

impl Form {
    /// All of them, by the names and numbers that bindings give them.
    pub const ALL: [(&str, Self); 5] = [
        ("tlps", Self::Tlps),
        ("wire", Self::Wire),
        ("symbols", Self::Symbols),
        ("dllp", Self::Dllp),
        ("flits", Self::Flits),
    ];

    /// Whether each TLP has a sequence number and an LCRC around it.
    const fn is_framed(self) -> bool {
        matches!(self, Self::Wire | Self::Symbols)
    }
}

/// What bytes hold. An item that cannot be read is the last.
pub fn read(bytes: &[u8], form: Form) -> Vec<Item> {
    decode::items(bytes, form)
}

/// The headers in lines of a kernel's log or of `lspci -vv`, which messages call `name`, and the lines that look like one but are none.
pub fn logs(text: &str, name: &str) -> (Vec<Item>, Vec<LogError>) {
    let read = log::parse(text, name);
    (read.logs.iter().map(decode::logged).collect(), read.skipped)
}

/// The headers in such lines of `text`, of which there is at least one.
///
/// # Errors
/// The first line that looks like one, or that there is none.
pub fn some_logs(text: &str) -> Result<Vec<Item>, Refused> {
    let (items, skipped) = logs(text, "text");
    match (items.is_empty(), skipped.first()) {
        (false, _) => Ok(items),
        (true, Some(error)) => Err(Refused::new(error.to_string(), None)),
        (true, None) => Err(Refused::new(NO_LOG.to_owned(), None)),
    }
}

/// The bytes of each JSON object; with [`Form::Flits`], the flits that hold them.
///
/// # Errors
/// The first object that is unreadable, or holds what no frame can.
pub fn write(json: &str, form: Form) -> Result<Vec<Vec<u8>>, Refused> {
    match form {
        Form::Flits => flit::encode::lines(json),
        _ => encode::lines(json, form),
    }
}

impl Item {
    pub fn to_json(&self) -> String {
        serde_json::to_string(&document::Document::from(self)).unwrap_or_default()
    }

    /// The item as a few lines of text.
    pub fn write_text(&self, out: &mut impl io::Write) -> io::Result<()> {
        text::write(out, self)
    }
}

#[cfg(test)]
mod tests;
