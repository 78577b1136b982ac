//! JSON to bytes.

use super::{
    Generation,
    document::{Document, Kind},
    hexadecimal,
};
use crate::pcie::wire::{
    crc,
    dllp::DllpRepr,
    frame,
    ide::{MAC_BYTES, PCRC_BYTES, PrefixView},
    tlp::{MAX_PREFIXES, TlpRepr},
    token,
};
use miette::{Report, miette};

/// Idle bytes that one object may ask for: a block of every lane, a thousand times.
const MOST_IDLE: usize = 256_000;

/// The bytes of each JSON object in `text`.
pub(super) fn lines(text: &str, wire: Option<Generation>) -> Result<Vec<Vec<u8>>, Report> {
    let mut lines = Vec::new();
    for (index, document) in serde_json::Deserializer::from_str(text).into_iter::<Document>().enumerate() {
        let document = document.map_err(|error| {
            miette!(
                help = "the form is what `sealsim tlp decode --format json` prints; docs/tlp.md describes it",
                "object {}: {error}",
                index + 1
            )
        })?;
        lines.push(encode(&document, wire).map_err(|error| error.wrap_err(format!("object {}", index + 1)))?);
    }
    if lines.is_empty() {
        return Err(miette!(
            help = "pipe the output of `sealsim tlp decode --format json` into this command",
            "there is no JSON object on standard input"
        ));
    }
    Ok(lines)
}

fn encode(document: &Document, wire: Option<Generation>) -> Result<Vec<u8>, Report> {
    match (document.kind, wire) {
        (Kind::Tlp, _) => encode_tlp(document, wire),
        (Kind::Dllp, _) => encode_dllp(document, wire),
        (Kind::Idle, Some(Generation::Gen3)) => match document.idle_bytes {
            Some(bytes @ 1..=MOST_IDLE) => Ok(vec![token::IDL; bytes]),
            _ => Err(miette!("`idle_bytes` must lie in 1..={MOST_IDLE}")),
        },
        (Kind::EndOfDataStream, Some(Generation::Gen3)) => Ok(token::EDS.to_vec()),
        (Kind::Idle | Kind::EndOfDataStream, _) => {
            Err(miette!(help = "add --wire", "idle and end of data stream stand only on a gen3 to gen5 link"))
        }
        (Kind::Unreadable, _) => Err(miette!(
            help = "its `bytes` are the hexadecimal already",
            "an object of kind `unreadable` has no fields"
        )),
    }
}

fn fields<T: serde::de::DeserializeOwned>(document: &Document) -> Result<T, Report> {
    let fields = document.fields.as_ref().ok_or_else(|| miette!("`fields` is missing"))?;
    T::deserialize(fields).map_err(|error| miette!("in `fields`: {error}"))
}

fn bytes(name: &str, text: &str) -> Result<Vec<u8>, Report> {
    hexadecimal::parse(text).map_err(|error| miette!("`{name}`, character {}: {error}", error.column))
}

fn encode_tlp(document: &Document, wire: Option<Generation>) -> Result<Vec<u8>, Report> {
    let repr: TlpRepr = fields(document)?;
    let mut tlp = prefixes(document)?;
    let covered_from = tlp.chunks(4).take_while(|prefix| prefix[0] & 0x10 == 0).count() * 4;
    let header = repr.emit();
    let header_only = document.payload.is_none() && wire.is_none();
    let ecrc = |payload: &[u8]| crc::ecrc(&tlp[covered_from..], &header, payload);
    let mut tail = Vec::new();
    if !header_only {
        let payload = payload(document, &repr)?;
        let digest = repr.common.td.then(|| ecrc(&payload));
        tail.extend(payload);
        tail.extend(digest.iter().flatten());
        tail.extend(trailer(document, &tlp)?);
    }
    tlp.extend_from_slice(&header);
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

fn prefixes(document: &Document) -> Result<Vec<u8>, Report> {
    let list = document.prefixes.as_deref().unwrap_or_default();
    if list.len() > MAX_PREFIXES {
        return Err(miette!("`prefixes` has {} entries, but a TLP has at most {MAX_PREFIXES}", list.len()));
    }
    let mut prefixes = Vec::new();
    for text in list {
        let prefix = bytes("prefixes", text)?;
        if prefix.len() != 4 || prefix[0] >> 5 != 4 {
            return Err(miette!("`prefixes`: {text:?} is no prefix: those have 4 bytes, the first 80 to 9f"));
        }
        prefixes.extend(prefix);
    }
    Ok(prefixes)
}

/// PCRC and MAC, as the IDE prefix announces them.
fn trailer(document: &Document, prefixes: &[u8]) -> Result<Vec<u8>, Report> {
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
fn payload(document: &Document, repr: &TlpRepr) -> Result<Vec<u8>, Report> {
    let payload = bytes("payload", document.payload.as_deref().unwrap_or_default())?;
    let need = usize::from(repr.payload_dw()) * 4;
    if payload.len() == need {
        return Ok(payload);
    }
    let name = repr.name();
    Err(match (need, repr.length_dw) {
        (0, _) => miette!("`payload` has {} bytes, but {name} carries no data", payload.len()),
        (_, dw) => miette!(
            help = "make `payload` or `length_dw` fit",
            "`payload` has {} bytes, but {name} with `length_dw` {dw} carries {need}",
            payload.len()
        ),
    })
}

fn encode_dllp(document: &Document, wire: Option<Generation>) -> Result<Vec<u8>, Report> {
    let repr: DllpRepr = fields(document)?;
    Ok(match wire {
        Some(Generation::Gen3) => frame::emit_dllp(&repr).to_vec(),
        Some(Generation::Gen1) => frame::emit_symbols_dllp(&repr).to_vec(),
        None if document.crc16.is_some() => repr.emit_with_crc().to_vec(),
        None => repr.emit().to_vec(),
    })
}
