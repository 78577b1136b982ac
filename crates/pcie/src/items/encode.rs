//! JSON to bytes.

use super::{
    Form, MOST_BYTES,
    document::{Document, Kind},
    hexadecimal,
    outline::Outline,
    refused::{Refused, refused},
};
use crate::wire::{
    crc,
    dllp::DllpRepr,
    frame,
    ide::{MAC_BYTES, PCRC_BYTES, PrefixView},
    table::Given,
    tlp::{MAX_PREFIXES, TlpRepr},
    token,
};
use sealsim_units::excerpt;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::fmt::Display;

/// Idle bytes that all objects together may ask for.
pub(super) const MOST_IDLE: usize = MOST_BYTES;
/// Characters of a message about a value, which may quote the value.
const LONGEST_MESSAGE: usize = 240;

/// The bytes of each JSON object in `text`.
pub(super) fn lines(text: &str, form: Form) -> Result<Vec<Vec<u8>>, Refused> {
    let mut idle_left = MOST_IDLE;
    each(text, |object, kind| encode(object, kind, form, &mut idle_left))
}

/// What `encode` makes of each object in `text`.
pub(super) fn each<T>(
    text: &str,
    mut encode: impl FnMut(&Object<'_>, Kind) -> Result<T, Refused>,
) -> Result<Vec<T>, Refused> {
    let mut made = Vec::new();
    let mut outlines = serde_json::Deserializer::from_str(text).into_iter::<Outline>();
    loop {
        let start = outlines.byte_offset();
        let Some(outline) = outlines.next() else { break };
        let number = made.len() + 1;
        let outline = outline.map_err(|error| unreadable("", &error).in_object(number))?;
        // The outline has found where the object ends.
        let object = Object { before: &text[..start], text: &text[start..outlines.byte_offset()] };
        let one = outline.check().and_then(|kind| encode(&object, kind));
        made.push(one.map_err(|error| error.in_object(number))?);
    }
    if made.is_empty() {
        return Err(refused!(
            help = "pipe the output of `sealsim tlp decode --format json` into this command",
            "there is no JSON object on standard input"
        ));
    }
    Ok(made)
}

pub(super) struct Object<'a> {
    before: &'a str,
    text: &'a str,
}

impl Object<'_> {
    pub(super) fn read<F: DeserializeOwned>(&self) -> Result<Document<F>, Refused> {
        serde_json::from_str(self.text).map_err(|error| unreadable(self.before, &error))
    }
}

/// What is wrong with the JSON of an object, and where in the whole text.
fn unreadable(before: &str, error: &serde_json::Error) -> Refused {
    let whole = error.to_string();
    let (line, column) = (error.line(), error.column());
    let fault = whole.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&whole);
    let lines_before = before.bytes().filter(|&byte| byte == b'\n').count();
    let bytes_before = if line == 1 { before.len() - before.rfind('\n').map_or(0, |end| end + 1) } else { 0 };
    refused!(
        help = "the form is what `sealsim tlp decode --format json` prints; docs/tlp.md describes it",
        "{}",
        excerpt(fault, LONGEST_MESSAGE)
    )
    .at(lines_before + line, bytes_before + column)
}

fn encode(object: &Object<'_>, kind: Kind, form: Form, idle_left: &mut usize) -> Result<Vec<u8>, Refused> {
    match (kind, form) {
        (Kind::Tlp, _) => encode_tlp(&object.read()?, form),
        (Kind::Dllp, _) => encode_dllp(&object.read()?, form),
        (Kind::Idle, Form::Wire) => {
            let bytes = object.read::<IgnoredAny>()?.idle_bytes.filter(|bytes| (1..=*idle_left).contains(bytes));
            let bytes =
                bytes.ok_or_else(|| refused!("`idle_bytes` must lie in 1..={MOST_IDLE}, all objects together"))?;
            *idle_left -= bytes;
            Ok(vec![token::IDL; bytes])
        }
        (Kind::EndOfDataStream, Form::Wire) => Ok(token::EDS.to_vec()),
        (Kind::Idle | Kind::EndOfDataStream, _) => {
            Err(refused!(help = "add --wire", "idle and end of data stream stand only on a gen3 to gen5 link"))
        }
        (Kind::Flit | Kind::FlitTlp | Kind::Nop, _) => {
            Err(refused!(help = "add --flit", "an object of kind `{}` stands only on a link in flit mode", kind.name()))
        }
        (Kind::Unreadable, _) => Err(unreadable_kind()),
    }
}

pub(super) fn unreadable_kind() -> Refused {
    refused!(help = "its `bytes` are the hexadecimal already", "an object of kind `unreadable` has no fields")
}

pub(super) fn fields<F: Clone, T: TryFrom<F, Error: Display>>(document: &Document<F>) -> Result<T, Refused> {
    let fields = document.fields.clone().ok_or_else(|| refused!("`fields` is missing"))?;
    T::try_from(fields).map_err(|error| refused!("in `fields`: {error}"))
}

pub(super) fn bytes(name: &str, text: &str) -> Result<Vec<u8>, Refused> {
    hexadecimal::parse(text).map_err(|error| refused!("`{name}`, character {}: {error}", error.column))
}

fn encode_tlp(document: &Document<Given<TlpRepr>>, form: Form) -> Result<Vec<u8>, Refused> {
    let repr: TlpRepr = fields(document)?;
    let mut tlp = prefixes(document)?;
    let covered_from = tlp.chunks(4).take_while(|prefix| prefix[0] & 0x10 == 0).count() * 4;
    let header = repr.emit();
    let header_only = document.payload.is_none() && !form.is_framed();
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

    if !form.is_framed() {
        return Ok(tlp);
    }
    let sequence = document.seq.ok_or_else(|| {
        refused!(help = "add \"seq\": 0, or leave out --wire", "`seq` is missing: a frame carries a sequence number")
    })?;
    if sequence > 0xfff {
        return Err(refused!("`seq` is {sequence}, but must lie in 0..=4095"));
    }
    let (mut frame, nullified) = (Vec::new(), document.nullified.unwrap_or_default());
    match form {
        Form::Symbols => frame::emit_symbols_tlp(&mut frame, sequence, &tlp, nullified),
        _ => frame::emit_tlp(&mut frame, sequence, &tlp, nullified),
    }
    Ok(frame)
}

fn prefixes(document: &Document<Given<TlpRepr>>) -> Result<Vec<u8>, Refused> {
    let list = document.prefixes.as_deref().unwrap_or_default();
    if list.len() > MAX_PREFIXES {
        return Err(refused!("`prefixes` has {} entries, but a TLP has at most {MAX_PREFIXES}", list.len()));
    }
    let mut prefixes = Vec::new();
    for text in list {
        let prefix = bytes("prefixes", text)?;
        if prefix.len() != 4 || prefix[0] >> 5 != 4 {
            return Err(refused!(
                "`prefixes`: {:?} is no prefix: those have 4 bytes, the first 80 to 9f",
                excerpt(text, 20)
            ));
        }
        prefixes.extend(prefix);
    }
    Ok(prefixes)
}

/// PCRC and MAC, as the IDE prefix announces them.
fn trailer(document: &Document<Given<TlpRepr>>, prefixes: &[u8]) -> Result<Vec<u8>, Refused> {
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
            return Err(refused!("`{name}` has {have} bytes, but by the IDE prefix there are {need}"));
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
) -> Result<Vec<u8>, Refused> {
    let payload = bytes("payload", document.payload.as_deref().unwrap_or_default())?;
    let need = usize::from(payload_dw) * 4;
    if payload.len() == need {
        return Ok(payload);
    }
    Err(match (need, length_dw) {
        (0, _) => refused!("`payload` has {} bytes, but {name} carries no data", payload.len()),
        (_, dw) => refused!(
            help = "make `payload` or `length_dw` fit",
            "`payload` has {} bytes, but {name} with `length_dw` {dw} carries {need}",
            payload.len()
        ),
    })
}

fn encode_dllp(document: &Document<Given<DllpRepr>>, form: Form) -> Result<Vec<u8>, Refused> {
    let repr: DllpRepr = fields(document)?;
    Ok(match form {
        Form::Wire => frame::emit_dllp(&repr).to_vec(),
        Form::Symbols => frame::emit_symbols_dllp(&repr).to_vec(),
        _ if document.crc16.is_some() => repr.emit_with_crc().to_vec(),
        _ => repr.emit().to_vec(),
    })
}
