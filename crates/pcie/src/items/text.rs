//! The text form of an item.

use super::{
    flit,
    item::{Content, Item, Link, Problem, Tlp},
};
use crate::credit::Scale;
use crate::wire::{
    dllp::{CreditPhase, DllpRepr},
    ide::{PrefixRepr, PrefixView, SubStream},
    table::id,
    tlp::{MESSAGES, STATUS, Severity, TlpRepr, name_of, prefix_name},
};
use std::io::{self, Write};

const ROUTING: [&str; 6] = ["to root", "by address", "by ID", "broadcast", "local", "gathered to root"];

pub(super) fn write(out: &mut impl Write, item: &Item) -> io::Result<()> {
    if let Some(source) = &item.source {
        writeln!(out, "{source}")?;
    }
    match &item.content {
        Content::Tlp(tlp) => write_tlp(out, tlp)?,
        Content::Dllp { repr, given, crc } => write_dllp(out, repr, *given, *crc)?,
        Content::Idle { bytes } => writeln!(out, "Logical idle, {bytes} bytes")?,
        Content::EndOfDataStream => writeln!(out, "End of data stream: an ordered set follows")?,
        Content::Flit(given) => flit::text::write_flit(out, given)?,
        Content::FlitTlp(tlp) => flit::text::write_tlp(out, tlp)?,
        Content::Nop { count } => writeln!(out, "NOP TLP, {count} times")?,
        Content::Unreadable { bytes } => {
            writeln!(out, "Unreadable, {} bytes", bytes.len())?;
            dump(out, bytes)?;
        }
    }
    item.problems.iter().try_for_each(|problem| write_problem(out, problem))
}

fn write_problem(out: &mut impl Write, problem: &Problem) -> io::Result<()> {
    let severity = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    writeln!(out, "  {severity} [{}]: {}", problem.code, problem.text)
}

pub(super) fn row(out: &mut impl Write, name: &str, value: impl std::fmt::Display) -> io::Result<()> {
    writeln!(out, "  {name:<16}{value}")
}

/// Sixteen bytes a line, in DW, with the offset.
pub(super) fn dump(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    for (line, chunk) in bytes.chunks(16).enumerate() {
        let words: Vec<_> = chunk.chunks(4).map(hex::encode).collect();
        writeln!(out, "    {:04x}  {}", line * 16, words.join(" "))?;
    }
    Ok(())
}

fn write_tlp(out: &mut impl Write, tlp: &Tlp) -> io::Result<()> {
    let repr = &tlp.repr;
    writeln!(out, "{}: {}", repr.name(), summary(repr))?;
    if let Some(Link { sequence, token, nullified, .. }) = tlp.link {
        row(out, "sequence", sequence)?;
        if let Some(token) = token {
            row(out, "STP token", hex::encode(token))?;
        }
        if nullified {
            row(out, "nullified", "yes: inverted LCRC and EDB, the receiver drops it")?;
        }
    }
    for prefix in &tlp.prefixes {
        row(out, "prefix", format_args!("{}  {}", hex::encode(prefix), prefix_name(prefix[0])))?;
        if let Some(Ok(ide)) = PrefixView::new_checked(prefix).ok().map(|view| PrefixRepr::parse(&view)) {
            write_ide(out, &ide)?;
        }
    }
    row(out, "header", tlp.header.chunks(4).map(hex::encode).collect::<Vec<_>>().join(" "))?;
    repr.rows().into_iter().try_for_each(|(label, value)| row(out, label, value))?;
    let credits = repr.credits();
    row(out, "credits", format_args!("{:?}, 1 header, {} data", credits.class, credits.data))?;
    if let Some(payload) = tlp.payload.as_ref().filter(|payload| !payload.is_empty()) {
        row(out, "data", format_args!("{} bytes", payload.len()))?;
        dump(out, payload)?;
    }
    if let Some(ecrc) = tlp.ecrc {
        row(out, "ECRC", hex::encode(ecrc))?;
    }
    if let Some(pcrc) = tlp.pcrc {
        row(out, "PCRC, encrypted", hex::encode(pcrc))?;
    }
    if let Some(mac) = tlp.mac {
        row(out, "MAC", hex::encode(mac))?;
    }
    if let Some(link) = tlp.link {
        row(out, "LCRC", hex::encode(link.lcrc))?;
    }
    Ok(())
}

fn write_ide(out: &mut impl Write, ide: &PrefixRepr) -> io::Result<()> {
    let sub_stream = match ide.sub_stream {
        SubStream::Posted => "posted",
        SubStream::NonPosted => "non-posted",
        SubStream::Completion => "completion",
    };
    row(out, "IDE stream", format_args!("{}, {sub_stream}, data are encrypted", ide.stream))?;
    let flags =
        [(ide.pcrc, "PCRC (P)"), (ide.mac, "MAC (M)"), (ide.key_set, "key set 1 (K)"), (ide.trusted, "TEE (T)")];
    let set: Vec<_> = flags.iter().filter(|flag| flag.0).map(|flag| flag.1).collect();
    row(out, "IDE flags", if set.is_empty() { "none".to_owned() } else { set.join(", ") })?;
    row(out, "PR_Sent_Counter", ide.posted_sent)
}

/// What the TLP does, in a few words.
pub(super) fn summary(repr: &TlpRepr) -> String {
    let (dw, address) = (repr.length_dw(), repr.value("address"));
    if let Some(code) = repr.get("message_code") {
        let routing = ROUTING.get(usize::from(repr.routing())).unwrap_or(&"reserved routing");
        return format!("{}, {routing}", name_of(&MESSAGES, code as u8).unwrap_or("message"));
    }
    if let Some(status) = repr.get("status") {
        return if repr.has_data() {
            format!("{dw} DW of data, {} bytes left with them", repr.value("byte_count"))
        } else {
            format!("no data, {}", name_of(&STATUS, status as u8).unwrap_or("reserved status"))
        };
    }
    if let Some(destination) = repr.get("completer_id") {
        return format!("register {address:#05x} of {}", id(destination as u16));
    }
    let (first, last) = (repr.value("first_be"), repr.value("last_be"));
    match repr.operand_bytes() {
        Some(bytes) => format!("an operand of {bytes} bytes at {address:#x}"),
        None if repr.has("ph") && (dw, first, last) == (1, 0, 0) && !repr.has_data() => {
            format!("zero-length read (flush) at {address:#x}")
        }
        None => {
            // The bytes that the byte enables leave.
            let between = u32::from(dw).saturating_sub(2) * 4;
            let bytes = first.count_ones() + if dw == 1 { 0 } else { last.count_ones() + between };
            format!("{bytes} bytes at {address:#x}")
        }
    }
}

fn write_dllp(out: &mut impl Write, repr: &DllpRepr, given: [u8; 4], crc: Option<[u8; 2]>) -> io::Result<()> {
    writeln!(out, "DLLP {}", repr.name())?;
    row(out, "bytes", hex::encode(given))?;
    repr.rows().into_iter().try_for_each(|(label, value)| row(out, label, value))?;
    if let DllpRepr::Credit { phase, header_scale, header, data_scale, data, .. } = *repr {
        let credits = |value: u16, scale: Scale| match (phase, value) {
            (CreditPhase::Init1 | CreditPhase::Init2, 0) => "infinite".to_owned(),
            _ => format!("{value} x {}", 1 << scale.shift()),
        };
        row(out, "header credits", credits(header.into(), header_scale))?;
        row(out, "data credits", credits(data, data_scale))?;
    }
    match crc {
        Some(crc) => row(out, "CRC-16", hex::encode(crc)),
        None => Ok(()),
    }
}
