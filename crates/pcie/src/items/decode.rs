//! Bytes to items.

use super::{
    Form, flit,
    item::{Content, Item, Link, Problem, Tlp},
    log::{Log, Word},
};
use crate::wire::{
    dllp::{DllpError, DllpRepr, DllpView},
    frame::{self, Framed, FramedTlp, FramingError, SymbolError, Symbols, TlpFault},
    ide::PrefixRepr,
    tlp::{Severity, TlpError, TlpRepr, TlpView},
    token::TokenError,
};

/// Everything that stands in a stream. An item that cannot be read is the last.
pub(super) fn items(bytes: &[u8], form: Form) -> Vec<Item> {
    if form == Form::Flits {
        return flit::items(bytes);
    }
    let (mut rest, mut items) = (bytes, Vec::new());
    while !rest.is_empty() {
        let (item, taken) = match form {
            Form::Dllp => (dllp(rest), rest.len()),
            Form::Tlps | Form::Flits => bare_tlp(rest),
            Form::Wire => tokens(rest),
            Form::Symbols => symbols(rest),
        };
        items.push(item);
        rest = &rest[taken..];
    }
    items
}

/// The TLP at the start of `bytes`, and how many of them it takes.
fn bare_tlp(bytes: &[u8]) -> (Item, usize) {
    let view = match TlpView::new_header(bytes) {
        Ok(view) => view,
        Err(error) => return (no_tlp(bytes, &error), bytes.len()),
    };
    let taken = view.total_bytes().min(bytes.len());
    match TlpRepr::parse(&view) {
        Ok(repr) => (tlp(repr, &view, &bytes[..taken]), taken),
        Err(error) => (no_tlp(&bytes[..taken], &error), taken),
    }
}

/// The TLP of a kernel's header log, as far as the log can be read.
pub(super) fn logged(log: &Log) -> Item {
    let bytes = [log.prefixes.as_flattened(), log.header.as_flattened()].concat();
    let mut item = match log_problem(log) {
        Some(problem) => Item::unreadable(&bytes, problem),
        None if log.flit => flit::header_item(&bytes),
        None => logged_header(&bytes, log),
    };
    if log.repeated > 0 {
        let times = log.repeated;
        let text = format!(
            "the prefix was printed {times} times, as kernels do that read its first register for each; it is taken once"
        );
        item.problems.push(Problem::new(Severity::Note, "repeated_prefix", text));
    }
    let device = log.device.as_ref().map(|device| format!(", {device}"));
    item.source = Some(log.place.clone() + &device.unwrap_or_default());
    item
}

fn logged_header(bytes: &[u8], log: &Log) -> Item {
    // What follows the header is no data, though it stands where data would.
    let three_dw = log.header[0][0] & 0x20 == 0 && log.header.len() > 3;
    let end = if three_dw { bytes.len() - size_of::<Word>() } else { bytes.len() };
    let (mut item, _) = bare_tlp(&bytes[..end]);
    if matches!(item.content, Content::Tlp(_)) && three_dw && log.header[3] != [0; 4] {
        let text = format!("the fourth word, {}, is no part of this header of three DW", hex::encode(log.header[3]));
        item.problems.push(Problem::new(Severity::Note, "fourth_word", text));
    }
    item
}

/// Why the words of a log are no header that could be read.
fn log_problem(log: &Log) -> Option<Problem> {
    let all = |byte| log.header.as_flattened().iter().all(|&other| other == byte);
    let is_prefix = |word: &Word| word[0] >> 5 == 4;
    if all(0) {
        Some(Problem::error("empty_log", "all words are 0: the device logged no header for this error"))
    } else if all(0xff) {
        Some(Problem::error("empty_log", "all bits are 1: the device did not answer when its log was read"))
    } else if log.flit {
        None
    } else if log.header.first().is_none_or(is_prefix) {
        Some(Problem::error("log_prefix", "a prefix stands where the header begins"))
    } else if let Some(other) = log.prefixes.iter().find(|word| !is_prefix(word)) {
        let text = format!("{} is logged as a prefix, whose first byte is 80 to 9f", hex::encode(other));
        Some(Problem::error("log_prefix", text))
    } else {
        None
    }
}

/// A TLP whose header can be read, from bytes that end with it or before.
fn tlp(repr: TlpRepr, view: &TlpView<'_>, bytes: &[u8]) -> Item {
    let header_end = view.prefixes().len() * 4 + view.header().len();
    let header_only = bytes.len() == header_end && view.total_bytes() > header_end;
    let mut problems: Vec<Problem> = view.check().into_iter().map(Problem::from).collect();
    problems.extend(ide_problems(view));
    if header_only {
        let rest = view.total_bytes() - header_end;
        problems.push(Problem::new(
            Severity::Note,
            "header_only",
            format!("only the header is given, without the {rest} bytes that follow it"),
        ));
    } else if let Err(error) = TlpView::new_checked(bytes) {
        problems.push(Problem::error(tlp_code(&error), error));
    }
    let content = Tlp {
        repr,
        prefixes: view.prefixes().to_vec(),
        header: view.header().to_vec(),
        payload: (!header_only).then(|| view.payload().to_vec()),
        ecrc: view.digest(),
        pcrc: view.pcrc(),
        mac: view.mac(),
        link: None,
    };
    Item { content: Content::Tlp(Box::new(content)), problems, source: None }
}

/// What is wrong with the IDE prefix, or with it and others.
fn ide_problems(view: &TlpView<'_>) -> Option<Problem> {
    let prefix = view.ide()?;
    let text = match PrefixRepr::parse(&prefix) {
        Err(error) => error.to_string(),
        Ok(_) if view.td() => "a TLP with an IDE prefix has a digest, which IDE excludes".to_owned(),
        Ok(repr) if repr.pcrc && !repr.mac => "the IDE prefix announces a PCRC without a MAC".to_owned(),
        Ok(_) => return None,
    };
    Some(Problem::error("ide", text))
}

fn no_tlp(bytes: &[u8], error: &TlpError) -> Item {
    Item::unreadable(bytes, Problem::error(tlp_code(error), error))
}

const fn tlp_code(error: &TlpError) -> &'static str {
    match error {
        TlpError::Truncated { .. } => "truncated",
        TlpError::Surplus { .. } => "surplus",
        TlpError::ReservedFmt { .. } => "reserved_fmt",
        TlpError::ReservedType { .. } => "reserved_type",
        TlpError::Prefixes => "prefixes",
    }
}

fn dllp(bytes: &[u8]) -> Item {
    let read = DllpView::new_checked(bytes).and_then(|view| Ok((view, DllpRepr::parse(&view)?)));
    let (view, repr) = match read {
        Ok(read) => read,
        Err(error) => return Item::unreadable(bytes, Problem::error(dllp_code(&error), error)),
    };
    let mut item = Item::good(Content::Dllp { repr, given: view.covered(), crc: view.crc() });
    if let Err(error) = view.check_crc() {
        item.problems.push(Problem::error(dllp_code(&error), error));
    }
    if repr.emit() != view.covered() {
        let text = "reserved bits are set, which a receiver ignores";
        item.problems.push(Problem::new(Severity::Warning, "reserved_bits", text));
    }
    item
}

const fn dllp_code(error: &DllpError) -> &'static str {
    match error {
        DllpError::Size { .. } => "dllp_size",
        DllpError::ReservedType { .. } => "reserved_type",
        DllpError::Crc { .. } => "crc16",
    }
}

/// What is at the start of a gen3 to gen5 stream.
fn tokens(bytes: &[u8]) -> (Item, usize) {
    match frame::read(bytes) {
        Ok((Framed::Tlp(framed), taken)) => (framed_tlp(&framed, bytes.first_chunk().copied()), taken),
        Ok((Framed::Dllp(six), taken)) => (dllp(six), taken),
        Ok((Framed::Idle { bytes }, taken)) => (Item::good(Content::Idle { bytes }), taken),
        Ok((Framed::EndOfDataStream, taken)) => (Item::good(Content::EndOfDataStream), taken),
        Err(error) => {
            let code = match error {
                FramingError::Token(TokenError::Fcrc { .. }) => "fcrc",
                FramingError::Token(TokenError::Parity { .. }) => "parity",
                FramingError::Token(TokenError::Length { .. }) => "token_length",
                FramingError::Token(TokenError::Unknown { .. }) => "no_token",
                FramingError::StrayEdb => "stray_edb",
                FramingError::Token(TokenError::Truncated { .. }) | FramingError::Truncated { .. } => "truncated",
            };
            (Item::unreadable(bytes, Problem::error(code, error)), bytes.len())
        }
    }
}

/// What is at the start of a gen1 or gen2 stream.
fn symbols(bytes: &[u8]) -> (Item, usize) {
    match frame::read_symbols(bytes) {
        Ok((Symbols::Tlp(framed), taken)) => (framed_tlp(&framed, None), taken),
        Ok((Symbols::Dllp(six), taken)) => (dllp(six), taken),
        Err(error) => {
            let code = match &error {
                SymbolError::NoStart { .. } => "no_start",
                SymbolError::Truncated { .. } => "truncated",
                SymbolError::NoEnd { .. } => "no_end",
                SymbolError::Sequence { .. } => "sequence",
                SymbolError::Tlp(error) => tlp_code(error),
            };
            (Item::unreadable(bytes, Problem::error(code, error)), bytes.len())
        }
    }
}

fn framed_tlp(framed: &FramedTlp<'_>, token: Option<[u8; 4]>) -> Item {
    let (mut item, _) = bare_tlp(framed.tlp);
    if let Some(fault) = framed.length_fault() {
        // The disagreement says it better than what follows from it.
        item.problems.retain(|problem| !matches!(problem.code.as_str(), "truncated" | "header_only"));
        item.problems.push(Problem::error("length_mismatch", fault));
    }
    if let Some(fault) = framed.fault() {
        let code = match fault {
            TlpFault::Lcrc { .. } => "lcrc",
            TlpFault::NullifiedWithoutEdb => "nullified_without_edb",
            TlpFault::EdbWithoutInversion { .. } => "edb_without_inversion",
            TlpFault::Length { .. } => "length_mismatch",
        };
        item.problems.push(Problem::error(code, fault));
    }
    if let Content::Tlp(tlp) = &mut item.content {
        let nullified = framed.nullified();
        tlp.link = Some(Link { sequence: framed.sequence, token, lcrc: framed.lcrc, nullified });
        tlp.payload.get_or_insert_default();
    }
    item
}
