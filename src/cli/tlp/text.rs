//! The text form of an item.

use super::{
    flit,
    item::{Content, Item, Link, Problem, Tlp},
};
use crate::pcie::credit::Scale;
use crate::pcie::wire::{
    dllp::{CreditPhase, DllpRepr},
    ide::{PrefixRepr, PrefixView, SubStream},
    tlp::{Body, MESSAGES, STATUS, Severity, TlpRepr, name_of, prefix_name},
};
use std::io::{self, Write};

const ROUTING: [&str; 6] = ["to root", "by address", "by ID", "broadcast", "local", "gathered to root"];

/// Writes an item, its problems last.
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

/// Bus, device and function.
pub(super) fn id(id: u16) -> String {
    format!("{:02x}:{:02x}.{}", id >> 8, id >> 3 & 0x1f, id & 7)
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
    row(out, "fmt, type", format_args!("{}, {:05b}", repr.fmt(), repr.code()))?;
    row(out, "length", format_args!("{} DW", repr.length_dw))?;
    write_common(out, repr)?;
    write_body(out, repr)?;
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
    let dw = repr.length_dw;
    match repr.body {
        Body::Memory { address, first_be: 0, last_be: 0, .. } if dw == 1 && !repr.has_data() => {
            format!("zero-length read (flush) at {address:#x}")
        }
        Body::Memory { address, .. } => match repr.operand_bytes() {
            Some(bytes) => format!("an operand of {bytes} bytes at {address:#x}"),
            None => format!("{} at {address:#x}", amount(repr)),
        },
        Body::Io { address, .. } => format!("{} at {address:#x}", amount(repr)),
        Body::Config { completer_id, register, .. } => format!("register {register:#05x} of {}", id(completer_id)),
        Body::Completion { data: true, byte_count, .. } => {
            format!("{dw} DW of data, {byte_count} bytes left with them")
        }
        Body::Completion { status, .. } => {
            format!("no data, {}", name_of(&STATUS, status).unwrap_or("reserved status"))
        }
        Body::Message { code, routing, .. } => {
            let routing = ROUTING.get(usize::from(routing)).unwrap_or(&"reserved routing");
            format!("{}, {routing}", name_of(&MESSAGES, code).unwrap_or("message"))
        }
    }
}

/// The bytes that the byte enables leave.
fn amount(repr: &TlpRepr) -> String {
    let (Body::Memory { first_be, last_be, .. } | Body::Io { first_be, last_be, .. }) = repr.body else {
        return format!("{} DW", repr.length_dw);
    };
    let bytes = match u32::from(repr.length_dw) {
        1 => first_be.count_ones(),
        dw => first_be.count_ones() + last_be.count_ones() + dw.saturating_sub(2) * 4,
    };
    format!("{bytes} bytes")
}

fn write_common(out: &mut impl Write, repr: &TlpRepr) -> io::Result<()> {
    let common = &repr.common;
    row(out, "requester", id(repr.requester_id))?;
    row(out, "tag", format_args!("{:#05x}", repr.tag))?;
    let flags = [
        (common.attributes.relaxed_ordering, "relaxed ordering"),
        (common.attributes.no_snoop, "no snoop"),
        (common.attributes.id_based_ordering, "ID-based ordering"),
        (common.td, "digest (TD)"),
        (common.ep, "poisoned (EP)"),
        (common.th, "processing hints (TH)"),
        (common.ln, "lightweight notification (LN)"),
    ];
    let set: Vec<_> = flags.iter().filter(|flag| flag.0).map(|flag| flag.1).collect();
    if !set.is_empty() {
        row(out, "flags", set.join(", "))?;
    }
    if common.tc != 0 {
        row(out, "traffic class", common.tc)?;
    }
    match common.at {
        0 => Ok(()),
        1 => row(out, "address type", "1 (translation request)"),
        2 => row(out, "address type", "2 (translated)"),
        _ => row(out, "address type", "3 (reserved)"),
    }
}

fn write_body(out: &mut impl Write, repr: &TlpRepr) -> io::Result<()> {
    let enables =
        |out: &mut _, first: u8, last: u8| row(out, "first, last BE", format_args!("{first:04b}, {last:04b}"));
    match repr.body {
        Body::Memory { address, first_be, last_be, ph, .. } => {
            row(out, "address", format_args!("{address:#x}"))?;
            enables(out, first_be, last_be)?;
            if repr.common.th { row(out, "hint (PH)", ph) } else { Ok(()) }
        }
        Body::Io { address, first_be, last_be, .. } => {
            row(out, "address", format_args!("{address:#x}"))?;
            enables(out, first_be, last_be)
        }
        Body::Config { completer_id, register, first_be, last_be, .. } => {
            row(out, "destination", id(completer_id))?;
            row(out, "register", format_args!("{register:#05x}"))?;
            enables(out, first_be, last_be)
        }
        Body::Completion { completer_id, status, bcm, byte_count, lower_address, .. } => {
            row(out, "completer", id(completer_id))?;
            row(out, "status", format_args!("{status}  {}", name_of(&STATUS, status).unwrap_or("reserved")))?;
            row(out, "byte count", byte_count)?;
            row(out, "lower address", format_args!("{lower_address:#04x}"))?;
            if bcm { row(out, "BCM", 1) } else { Ok(()) }
        }
        Body::Message { code, content, .. } => {
            row(out, "message code", format_args!("{code:#04x}"))?;
            row(out, "content", hex::encode(content))
        }
    }
}

fn write_dllp(out: &mut impl Write, repr: &DllpRepr, given: [u8; 4], crc: Option<[u8; 2]>) -> io::Result<()> {
    writeln!(out, "DLLP {}", repr.name())?;
    row(out, "bytes", hex::encode(given))?;
    match *repr {
        DllpRepr::Ack { sequence } | DllpRepr::Nak { sequence } => row(out, "sequence", sequence)?,
        DllpRepr::Credit { phase, virtual_channel, header_scale, header, data_scale, data, .. } => {
            let credits = |value: u16, scale: Scale| match (phase, value) {
                (CreditPhase::Init1 | CreditPhase::Init2, 0) => "infinite".to_owned(),
                _ => format!("{value} x {}", 1 << scale.shift()),
            };
            row(out, "virtual channel", virtual_channel)?;
            row(out, "header credits", credits(header.into(), header_scale))?;
            row(out, "data credits", credits(data, data_scale))?;
        }
        DllpRepr::Feature { support, ack } => {
            row(out, "features", format_args!("{support:#08x}"))?;
            row(out, "acknowledged", if ack { "yes" } else { "no" })?;
        }
        DllpRepr::Vendor { content } | DllpRepr::Nop { content } => row(out, "content", hex::encode(content))?,
        DllpRepr::Power(_) => {}
    }
    match crc {
        Some(crc) => row(out, "CRC-16", hex::encode(crc)),
        None => Ok(()),
    }
}
