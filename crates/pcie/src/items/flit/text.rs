//! The text form of flits and of the TLPs in them.

use super::super::{
    item::{Flit, FlitTlp},
    text::{dump, row, summary},
};
use crate::wire::{
    dllp::{DllpRepr, DllpView},
    flit::{
        Dlp, ReplayCommand,
        tlp::{FlitTlpRepr, TrailerSize},
    },
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
    repr.rows().into_iter().try_for_each(|(label, value)| row(out, label, value))?;
    write_ohc(out, repr)?;
    if !tlp.payload.is_empty() {
        row(out, "data", format_args!("{} bytes", tlp.payload.len()))?;
        dump(out, &tlp.payload)?;
    }
    let trailer = match repr.trailer() {
        TrailerSize::None => return Ok(()),
        TrailerSize::Ecrc => "ECRC",
        TrailerSize::Mac => "MAC",
        TrailerSize::MacPcrc => "MAC and PCRC",
    };
    row(out, trailer, hex::encode(&tlp.trailer))
}

/// What the TLP does, in a few words.
fn in_short(repr: &FlitTlpRepr) -> String {
    match (repr.to_non_flit(), repr.get("address")) {
        (Ok(plain), _) => summary(&plain),
        (Err(_), Some(address)) => format!("{} DW at {address:#x}", repr.length_dw()),
        (Err(_), None) => {
            format!("{} DW of data, {} bytes left with them", repr.payload_dw(), repr.value("byte_count"))
        }
    }
}

fn write_ohc(out: &mut impl Write, repr: &FlitTlpRepr) -> io::Result<()> {
    match (repr.get("address"), repr.get("pasid"), repr.get("completer_segment")) {
        (Some(_), None, _) => row(out, "byte enables", "all, without OHC-A1")?,
        (Some(_), Some(pasid), _) => {
            let flags = repr.value("pasid_flags");
            if flags != 0 || pasid != 0 {
                row(out, "PASID", format_args!("{pasid:#07x}, NW PV PMR ER {flags:04b}"))?;
            }
        }
        (None, _, None) => row(out, "status", "0  success, without OHC-A5")?,
        (None, _, Some(completer)) => {
            let requester = repr.get("destination_segment");
            let requester = requester.map_or("not valid".to_owned(), |segment| segment.to_string());
            row(out, "segments", format_args!("completer {completer}, requester {requester}"))?;
        }
    }
    for (label, field) in [("OHC-B", "ohc_b"), ("OHC-C", "ohc_c")] {
        repr.get(field).map_or(Ok(()), |word| row(out, label, format_args!("{word:08x}")))?;
    }
    repr.ohc_e().iter().try_for_each(|word| row(out, "OHC-E", hex::encode(word)))
}
