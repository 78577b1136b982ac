//! JSON to bytes.

use super::{
    Generation,
    document::{Document, Kind},
    hexadecimal,
    outline::Outline,
};
use crate::{
    files::excerpt,
    pcie::wire::{
        crc,
        dllp::DllpRepr,
        frame,
        ide::{MAC_BYTES, PCRC_BYTES, PrefixView},
        table::Given,
        tlp::{MAX_PREFIXES, TlpRepr},
        token,
    },
};
use miette::{Report, miette};
use serde::de::{DeserializeOwned, IgnoredAny};
use std::fmt::Display;

/// Idle bytes that all objects together may ask for: as many as `decode` reads at once.
pub(super) const MOST_IDLE: usize = super::LONGEST_HEX.0 as usize / 2;
/// Characters of a message about a value, which may quote the value.
const LONGEST_MESSAGE: usize = 240;

/// The bytes of each JSON object in `text`.
pub(super) fn lines(text: &str, wire: Option<Generation>) -> Result<Vec<Vec<u8>>, Report> {
    let mut idle_left = MOST_IDLE;
    each(text, |object, kind| encode(object, kind, wire, &mut idle_left))
}

/// What `encode` makes of each object in `text`.
pub(super) fn each<T>(
    text: &str,
    mut encode: impl FnMut(&Object<'_>, Kind) -> Result<T, Report>,
) -> Result<Vec<T>, Report> {
    let mut made = Vec::new();
    let mut outlines = serde_json::Deserializer::from_str(text).into_iter::<Outline>();
    loop {
        let start = outlines.byte_offset();
        let Some(outline) = outlines.next() else { break };
        let number = made.len() + 1;
        let outline = outline.map_err(|error| unreadable(number, "", &error))?;
        // The outline has found where the object ends.
        let object = Object { number, before: &text[..start], text: &text[start..outlines.byte_offset()] };
        let one = outline.check().and_then(|kind| encode(&object, kind));
        made.push(one.map_err(|error| error.wrap_err(format!("object {number}")))?);
    }
    if made.is_empty() {
        return Err(miette!(
            help = "pipe the output of `sealsim tlp decode --format json` into this command",
            "there is no JSON object on standard input"
        ));
    }
    Ok(made)
}

pub(super) struct Object<'a> {
    number: usize,
    before: &'a str,
    text: &'a str,
}

impl Object<'_> {
    pub(super) fn read<F: DeserializeOwned>(&self) -> Result<Document<F>, Report> {
        serde_json::from_str(self.text).map_err(|error| unreadable(self.number, self.before, &error))
    }
}

/// What is wrong with the JSON of an object, and where in the whole text.
fn unreadable(number: usize, before: &str, error: &serde_json::Error) -> Report {
    let whole = error.to_string();
    let (line, column) = (error.line(), error.column());
    let fault = whole.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&whole);
    let lines_before = before.bytes().filter(|&byte| byte == b'\n').count();
    let bytes_before = if line == 1 { before.len() - before.rfind('\n').map_or(0, |end| end + 1) } else { 0 };
    miette!(
        help = "the form is what `sealsim tlp decode --format json` prints; docs/tlp.md describes it",
        "object {number}, line {}, byte {}: {}",
        lines_before + line,
        bytes_before + column,
        excerpt(fault, LONGEST_MESSAGE)
    )
}

fn encode(object: &Object<'_>, kind: Kind, wire: Option<Generation>, idle_left: &mut usize) -> Result<Vec<u8>, Report> {
    match (kind, wire) {
        (Kind::Tlp, _) => encode_tlp(&object.read()?, wire),
        (Kind::Dllp, _) => encode_dllp(&object.read()?, wire),
        (Kind::Idle, Some(Generation::Gen3)) => {
            let bytes = object.read::<IgnoredAny>()?.idle_bytes.filter(|bytes| (1..=*idle_left).contains(bytes));
            let bytes =
                bytes.ok_or_else(|| miette!("`idle_bytes` must lie in 1..={MOST_IDLE}, all objects together"))?;
            *idle_left -= bytes;
            Ok(vec![token::IDL; bytes])
        }
        (Kind::EndOfDataStream, Some(Generation::Gen3)) => Ok(token::EDS.to_vec()),
        (Kind::Idle | Kind::EndOfDataStream, _) => {
            Err(miette!(help = "add --wire", "idle and end of data stream stand only on a gen3 to gen5 link"))
        }
        (Kind::Flit | Kind::FlitTlp | Kind::Nop, _) => {
            Err(miette!(help = "add --flit", "an object of kind `{}` stands only on a link in flit mode", kind.name()))
        }
        (Kind::Unreadable, _) => Err(unreadable_kind()),
    }
}

pub(super) fn unreadable_kind() -> Report {
    miette!(help = "its `bytes` are the hexadecimal already", "an object of kind `unreadable` has no fields")
}

/// The values of `fields`.
pub(super) fn fields<F: Clone, T: TryFrom<F, Error: Display>>(document: &Document<F>) -> Result<T, Report> {
    let fields = document.fields.clone().ok_or_else(|| miette!("`fields` is missing"))?;
    T::try_from(fields).map_err(|error| miette!("in `fields`: {error}"))
}

pub(super) fn bytes(name: &str, text: &str) -> Result<Vec<u8>, Report> {
    hexadecimal::parse(text).map_err(|error| miette!("`{name}`, character {}: {error}", error.column))
}

fn encode_tlp(document: &Document<Given<TlpRepr>>, wire: Option<Generation>) -> Result<Vec<u8>, Report> {
    let repr: TlpRepr = fields(document)?;
    let mut tlp = prefixes(document)?;
    let covered_from = tlp.chunks(4).take_while(|prefix| prefix[0] & 0x10 == 0).count() * 4;
    let header = repr.emit();
    let header_only = document.payload.is_none() && wire.is_none();
    let ecrc = |payload: &[u8]| crc::ecrc(&tlp[covered_from..], header, payload);
    let mut tail = Vec::new();
    if !header_only {
        let payload = payload(document, repr.name(), repr.length_dw(), repr.payload_dw())?;
        let digest = repr.has_digest().then(|| ecrc(&payload));
        tail.extend(payload);
        tail.extend(digest.iter().flatten());
        tail.extend(trailer(document, &tlp)?);
    }
    tlp.extend_from_slice(header);
    tlp.extend(tail);

    let Some(generation) = wire else { return Ok(tlp) };
    let sequence = document.seq.ok_or_else(|| {
        miette!(help = "add \"seq\": 0, or leave out --wire", "`seq` is missing: a frame carries a sequence number")
    })?;
    if sequence > 0xfff {
        return Err(miette!("`seq` is {sequence}, but must lie in 0..=4095"));
    }
    let (mut frame, nullified) = (Vec::new(), document.nullified.unwrap_or_default());
    match generation {
        Generation::Gen3 => frame::emit_tlp(&mut frame, sequence, &tlp, nullified),
        Generation::Gen1 => frame::emit_symbols_tlp(&mut frame, sequence, &tlp, nullified),
    }
    Ok(frame)
}

fn prefixes(document: &Document<Given<TlpRepr>>) -> Result<Vec<u8>, Report> {
    let list = document.prefixes.as_deref().unwrap_or_default();
    if list.len() > MAX_PREFIXES {
        return Err(miette!("`prefixes` has {} entries, but a TLP has at most {MAX_PREFIXES}", list.len()));
    }
    let mut prefixes = Vec::new();
    for text in list {
        let prefix = bytes("prefixes", text)?;
        if prefix.len() != 4 || prefix[0] >> 5 != 4 {
            return Err(miette!(
                "`prefixes`: {:?} is no prefix: those have 4 bytes, the first 80 to 9f",
                excerpt(text, 20)
            ));
        }
        prefixes.extend(prefix);
    }
    Ok(prefixes)
}

/// PCRC and MAC, as the IDE prefix announces them.
fn trailer(document: &Document<Given<TlpRepr>>, prefixes: &[u8]) -> Result<Vec<u8>, Report> {
    let prefix = prefixes.chunks(4).find_map(|prefix| PrefixView::new_checked(prefix).ok());
    let announced = [
        ("pcrc", &document.pcrc, prefix.filter(PrefixView::pcrc).map_or(0, |_| PCRC_BYTES)),
        ("mac", &document.mac, prefix.filter(PrefixView::mac).map_or(0, |_| MAC_BYTES)),
    ];
    let mut trailer = Vec::new();
    for (name, text, need) in announced {
        let given = bytes(name, text.as_deref().unwrap_or_default())?;
        if given.len() != need {
            let have = given.len();
            return Err(miette!("`{name}` has {have} bytes, but by the IDE prefix there are {need}"));
        }
        trailer.extend(given);
    }
    Ok(trailer)
}

/// The data, as long as the header says.
pub(super) fn payload<F>(
    document: &Document<F>,
    name: &str,
    length_dw: u16,
    payload_dw: u16,
) -> Result<Vec<u8>, Report> {
    let payload = bytes("payload", document.payload.as_deref().unwrap_or_default())?;
    let need = usize::from(payload_dw) * 4;
    if payload.len() == need {
        return Ok(payload);
    }
    Err(match (need, length_dw) {
        (0, _) => miette!("`payload` has {} bytes, but {name} carries no data", payload.len()),
        (_, dw) => miette!(
            help = "make `payload` or `length_dw` fit",
            "`payload` has {} bytes, but {name} with `length_dw` {dw} carries {need}",
            payload.len()
        ),
    })
}

fn encode_dllp(document: &Document<Given<DllpRepr>>, wire: Option<Generation>) -> Result<Vec<u8>, Report> {
    let repr: DllpRepr = fields(document)?;
    Ok(match wire {
        Some(Generation::Gen3) => frame::emit_dllp(&repr).to_vec(),
        Some(Generation::Gen1) => frame::emit_symbols_dllp(&repr).to_vec(),
        None if document.crc16.is_some() => repr.emit_with_crc().to_vec(),
        None => repr.emit().to_vec(),
    })
}
