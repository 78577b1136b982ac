//! JSON to flits.

use super::super::{
    MOST_BYTES,
    document::{Document, Kind},
    encode::{Object, bytes, each, fields, payload, unreadable_kind},
    refused::{Refused, refused},
};
use crate::wire::{
    flit::{Dlp, FlitRepr, LAST_SEQUENCE, ReplayCommand, TLP_BYTES, Usage, stream, tlp::FlitTlpRepr},
    table::Given,
};
use serde::de::IgnoredAny;

/// NOP TLPs that all objects together may ask for.
const MOST_NOPS: usize = MOST_BYTES / 4;

enum Part {
    /// A flit, with its TLP area if that is given.
    Flit(Dlp, Option<Box<[u8; TLP_BYTES]>>),
    Tlps(Vec<u8>),
}

/// The flits of all objects in `text`.
pub(in super::super) fn lines(text: &str) -> Result<Vec<Vec<u8>>, Refused> {
    let mut nops_left = MOST_NOPS;
    let parts = each(text, |object, kind| part(object, kind, &mut nops_left))?;
    let (mut flits, mut tlps) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Part::Flit(dlp, area) => flits.push((dlp, area)),
            Part::Tlps(bytes) => tlps.extend(bytes),
        }
    }
    Ok(fill(&flits, &tlps).iter().map(|flit| flit.emit().to_vec()).collect())
}

fn part(object: &Object<'_>, kind: Kind, nops_left: &mut usize) -> Result<Part, Refused> {
    match kind {
        Kind::Flit => flit(&object.read()?),
        Kind::FlitTlp => tlp(&object.read()?),
        Kind::Nop => {
            let count = object.read::<IgnoredAny>()?.count.filter(|count| (1..=*nops_left).contains(count));
            let count = count.ok_or_else(|| refused!("`count` must lie in 1..={MOST_NOPS}, all objects together"))?;
            *nops_left -= count;
            Ok(Part::Tlps(vec![0; 4 * count]))
        }
        Kind::Unreadable => Err(unreadable_kind()),
        Kind::Tlp | Kind::Dllp | Kind::Idle | Kind::EndOfDataStream => Err(refused!(
            help = "leave out --flit, or give objects of kind `flit`, `flit_tlp` and `nop`",
            "an object of kind `{}` does not stand on a link in flit mode",
            kind.name()
        )),
    }
}

fn flit(document: &Document<Given<Dlp>>) -> Result<Part, Refused> {
    let dlp = fields(document)?;
    let area = document.tlp_bytes.as_deref().map(|text| {
        let given = bytes("tlp_bytes", text)?;
        let have = given.len();
        given
            .try_into()
            .map(Box::new)
            .map_err(|_| refused!("`tlp_bytes` has {have} bytes, but the TLP area has {TLP_BYTES}"))
    });
    Ok(Part::Flit(dlp, area.transpose()?))
}

fn tlp(document: &Document<Given<FlitTlpRepr>>) -> Result<Part, Refused> {
    let repr: FlitTlpRepr = fields(document)?;
    let data = payload(document, repr.name(), repr.length_dw(), repr.payload_dw())?;
    let trailer = bytes("trailer", document.trailer.as_deref().unwrap_or_default())?;
    let (have, need) = (trailer.len(), repr.trailer().bytes());
    if have != need {
        return Err(refused!(
            help = "make `trailer` or `ts` fit",
            "`trailer` has {have} bytes, but with `ts` {} there are {need}",
            repr.trailer().bits()
        ));
    }
    Ok(Part::Tlps([repr.emit(), data, trailer].concat()))
}

/// Puts the TLPs into the payload flits, and into more of them if those do not suffice.
fn fill(flits: &[(Dlp, Option<Box<[u8; TLP_BYTES]>>)], tlps: &[u8]) -> Vec<FlitRepr> {
    let (mut areas, mut made) = (stream::areas(tlps), Vec::new());
    let (mut sequence, mut prior_payload) = (0, false);
    for (dlp, area) in flits {
        let tlp = match area {
            Some(area) => **area,
            None if dlp.usage == Usage::Payload => areas.next().unwrap_or([0; TLP_BYTES]),
            None => [0; TLP_BYTES],
        };
        made.push(FlitRepr { dlp: *dlp, tlp });
        prior_payload = dlp.usage == Usage::Payload;
        sequence = match dlp.replay {
            ReplayCommand::Explicit => dlp.sequence,
            _ if prior_payload => after(sequence),
            _ => sequence,
        };
    }
    for tlp in areas {
        sequence = after(sequence);
        let (usage, replay) = (Usage::Payload, ReplayCommand::Explicit);
        made.push(FlitRepr {
            dlp: Dlp { usage, prior_payload, dllp_optimised: false, replay, sequence, dllp: [0; 4] },
            tlp,
        });
        prior_payload = true;
    }
    made
}

const fn after(sequence: u16) -> u16 {
    sequence % LAST_SEQUENCE + 1
}
