//! The text form of flits and of the TLPs in them.

use super::super::{
    item::{Flit, FlitTlp},
    text::{dump, row, summary},
};
use crate::pcie::wire::{
    dllp::{DllpRepr, DllpView},
    flit::{
        Dlp, ReplayCommand,
        tlp::{FlitBody, FlitTlpRepr, TrailerSize, Word},
    },
    table::id,
    tlp::{STATUS, name_of},
};
use std::io::{self, Write};

pub(in super::super) fn write_flit(out: &mut impl Write, flit: &Flit) -> io::Result<()> {
    let dlp = &flit.dlp;
    let meaning = match dlp.replay {
        ReplayCommand::Explicit => "explicit sequence number",
        ReplayCommand::Ack => "Ack of sequence number",
        ReplayCommand::StandardNak => "standard Nak, arrived up to sequence number",
        ReplayCommand::SelectiveNak => "selective Nak, arrived up to sequence number",
    };
    writeln!(out, "Flit, {}: {meaning} {}", super::name(dlp), dlp.sequence)?;
    dlp.rows().into_iter().try_for_each(|(label, value)| row(out, label, value))?;
    row(out, "DLLP", format_args!("{}  {}", hex::encode(dlp.dllp), dllp(dlp)))?;
    row(out, "CRC", hex::encode(flit.crc))?;
    row(out, "ECC", hex::encode(flit.ecc))?;
    for (byte, bits) in &flit.corrected {
        row(out, "corrected", format_args!("byte {byte}, bits {bits:02x}"))?;
    }
    match &flit.area {
        Some(area) => {
            row(out, "TLP area", format_args!("{} bytes", area.len()))?;
            dump(out, area)
        }
        None => Ok(()),
    }
}

/// What the DLLP is, as far as its coding is that of other links. There zeros are an Ack, which flit mode has in the replay command.
fn dllp(dlp: &Dlp) -> &'static str {
    if dlp.dllp_optimised {
        return "optimised credit update or marker";
    }
    let repr = DllpView::new_checked(&dlp.dllp).and_then(|view| DllpRepr::parse(&view));
    match repr {
        Ok(DllpRepr::Ack { sequence: 0 }) => "none",
        Ok(DllpRepr::Ack { .. } | DllpRepr::Nak { .. }) | Err(_) => "unknown",
        Ok(repr) => repr.name(),
    }
}

pub(in super::super) fn write_tlp(out: &mut impl Write, tlp: &FlitTlp) -> io::Result<()> {
    let repr = &tlp.repr;
    writeln!(out, "{}: {}", repr.name(), in_short(repr))?;
    row(out, "header", tlp.header.chunks(4).map(hex::encode).collect::<Vec<_>>().join(" "))?;
    row(out, "type", format_args!("{:#04x}", repr.code()))?;
    row(out, "length", format_args!("{} DW", repr.length_dw))?;
    row(out, "requester", id(repr.requester_id))?;
    row(out, "tag", format_args!("{:#06x}", repr.tag))?;
    write_flags(out, repr)?;
    write_body(out, repr)?;
    let ohc = |name, word: Option<Word>| word.map(|word| (name, hex::encode(word)));
    for (name, word) in [ohc("OHC-B", repr.ohc_b), ohc("OHC-C", repr.ohc_c)].into_iter().flatten() {
        row(out, name, word)?;
    }
    for word in repr.ohc_e.words() {
        row(out, "OHC-E", hex::encode(word))?;
    }
    if !tlp.payload.is_empty() {
        row(out, "data", format_args!("{} bytes", tlp.payload.len()))?;
        dump(out, &tlp.payload)?;
    }
    let trailer = match repr.trailer {
        TrailerSize::None => return Ok(()),
        TrailerSize::Ecrc => "ECRC",
        TrailerSize::Mac => "MAC",
        TrailerSize::MacPcrc => "MAC and PCRC",
    };
    row(out, trailer, hex::encode(&tlp.trailer))
}

/// What the TLP does, in a few words.
fn in_short(repr: &FlitTlpRepr) -> String {
    match (repr.to_non_flit(), repr.body) {
        (Ok(plain), _) => summary(&plain),
        (Err(_), FlitBody::Memory { address, .. }) => format!("{} DW at {address:#x}", repr.length_dw),
        (Err(_), FlitBody::Completion { byte_count, .. }) => {
            format!("{} DW of data, {byte_count} bytes left with them", repr.payload_dw())
        }
    }
}

fn write_flags(out: &mut impl Write, repr: &FlitTlpRepr) -> io::Result<()> {
    let flags = [
        (repr.attributes.relaxed_ordering, "relaxed ordering"),
        (repr.attributes.no_snoop, "no snoop"),
        (repr.attributes.id_based_ordering, "ID-based ordering"),
        (repr.ep, "poisoned (EP)"),
    ];
    let set: Vec<_> = flags.iter().filter(|flag| flag.0).map(|flag| flag.1).collect();
    if !set.is_empty() {
        row(out, "flags", set.join(", "))?;
    }
    if repr.tc != 0 { row(out, "traffic class", repr.tc) } else { Ok(()) }
}

fn write_body(out: &mut impl Write, repr: &FlitTlpRepr) -> io::Result<()> {
    match repr.body {
        FlitBody::Memory { address, at, ohc_a, .. } => {
            row(out, "address", format_args!("{address:#x}"))?;
            if at != 0 {
                row(out, "address type", at)?;
            }
            let Some(ohc) = ohc_a else { return row(out, "byte enables", "all, without OHC-A1") };
            row(out, "first, last BE", format_args!("{:04b}, {:04b}", ohc.first_be, ohc.last_be))?;
            if ohc.flags != 0 || ohc.pasid != 0 {
                row(out, "PASID", format_args!("{:#07x}, NW PV PMR ER {:04b}", ohc.pasid, ohc.flags))?;
            }
            Ok(())
        }
        FlitBody::Completion { completer_id, byte_count, lower_address, ohc_a, .. } => {
            row(out, "completer", id(completer_id))?;
            row(out, "byte count", byte_count)?;
            row(out, "lower address", format_args!("{lower_address:#04x}"))?;
            let Some(ohc) = ohc_a else { return row(out, "status", "0  success, without OHC-A5") };
            row(out, "status", format_args!("{}  {}", ohc.status, name_of(&STATUS, ohc.status).unwrap_or("reserved")))?;
            let requester = ohc.destination_segment.map_or("not valid".to_owned(), |segment| segment.to_string());
            row(out, "segments", format_args!("completer {}, requester {requester}", ohc.completer_segment))
        }
    }
}
