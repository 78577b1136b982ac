//! From the headers of other links to those of flit mode and back.
//!
//! The two modes carry the same for reads, writes and completions, in other places. A digest covers the header, so it is another after a
//! conversion.

use super::{FlitBody, FlitTlpRepr, OhcA1, OhcA5, OhcE, TrailerSize};
use crate::pcie::wire::tlp::{Body, Common, MemoryOp, TlpRepr};

/// Why a header has no counterpart in the other mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{name} with {what} has no counterpart in the other mode")]
pub struct NoCounterpart {
    /// The kind, for example `MWr64`.
    pub name: &'static str,
    /// What the other mode cannot carry, or what is not converted.
    pub what: &'static str,
}

/// The byte enables that a request without OHC-A1 has: all.
const fn implied(length_dw: u16) -> (u8, u8) {
    (0xf, if length_dw == 1 { 0 } else { 0xf })
}

/// The first of these that is there.
fn first(name: &'static str, list: &[(bool, &'static str)]) -> Result<(), NoCounterpart> {
    match list.iter().find(|(there, _)| *there) {
        Some(&(_, what)) => Err(NoCounterpart { name, what }),
        None => Ok(()),
    }
}

impl FlitTlpRepr {
    /// The header in flit mode. OHC is there only where it says something.
    ///
    /// # Errors
    /// For kinds other than memory reads and writes and completions, and for hints, LN and BCM.
    pub fn from_non_flit(repr: &TlpRepr) -> Result<Self, NoCounterpart> {
        let name = repr.name();
        let Common { tc, attributes, at, td, ep, th, ln } = repr.common;
        first(name, &[(th, "processing hints"), (ln, "lightweight notification")])?;
        let body = match repr.body {
            Body::Memory { op: op @ (MemoryOp::Read | MemoryOp::Write), wide, address, first_be, last_be, .. } => {
                let explicit = (first_be, last_be) != implied(repr.length_dw);
                let ohc_a = explicit.then_some(OhcA1 { first_be, last_be, ..OhcA1::default() });
                FlitBody::Memory { write: op == MemoryOp::Write, wide, address, at, ohc_a }
            }
            Body::Completion { data, locked: false, completer_id, status, bcm, byte_count, lower_address } => {
                first(name, &[(bcm, "BCM"), (at != 0, "an address type")])?;
                let explicit = status != 0 || lower_address & 3 != 0;
                let ohc_a = explicit.then_some(OhcA5 { status, ..OhcA5::default() });
                FlitBody::Completion { data, completer_id, byte_count, lower_address, ohc_a }
            }
            _ => return Err(NoCounterpart { name, what: "this type" }),
        };
        Ok(Self {
            tc,
            attributes,
            trailer: if td { TrailerSize::Ecrc } else { TrailerSize::None },
            ep,
            length_dw: repr.length_dw,
            tag: repr.tag,
            requester_id: repr.requester_id,
            ohc_b: None,
            ohc_c: None,
            ohc_e: OhcE::None,
            body,
        })
    }

    /// The header without flit mode.
    ///
    /// # Errors
    /// For tags of more than 10 bits, PASID, segments, hints, IDE and vendors' prefixes.
    pub fn to_non_flit(&self) -> Result<TlpRepr, NoCounterpart> {
        let name = self.name();
        let ide = matches!(self.trailer, TrailerSize::Mac | TrailerSize::MacPcrc);
        first(
            name,
            &[
                (self.tag > 0x3ff, "a tag of more than 10 bits"),
                (ide, "IDE"),
                (self.ohc_b.is_some(), "OHC-B"),
                (self.ohc_c.is_some(), "OHC-C"),
                (self.ohc_e != OhcE::None, "OHC-E"),
            ],
        )?;
        let (body, at) = match self.body {
            FlitBody::Memory { write, wide, address, at, ohc_a } => {
                let pasid = ohc_a.is_some_and(|ohc| ohc.flags != 0 || ohc.pasid != 0);
                first(name, &[(pasid, "PASID")])?;
                let (first_be, last_be) =
                    ohc_a.map_or(implied(self.length_dw), |ohc| (ohc.first_be & 0xf, ohc.last_be & 0xf));
                let op = if write { MemoryOp::Write } else { MemoryOp::Read };
                (Body::Memory { op, wide, address, first_be, last_be, ph: 0 }, at)
            }
            FlitBody::Completion { data, completer_id, byte_count, lower_address, ohc_a } => {
                let ohc = ohc_a.unwrap_or_default();
                let segment = ohc.destination_segment.is_some() || ohc.completer_segment != 0;
                first(name, &[(segment, "segments")])?;
                let (locked, bcm, status) = (false, false, ohc.status);
                (Body::Completion { data, locked, completer_id, status, bcm, byte_count, lower_address }, 0)
            }
        };
        let (tc, attributes, td) = (self.tc, self.attributes, self.trailer == TrailerSize::Ecrc);
        let common = Common { tc, attributes, at, td, ep: self.ep, th: false, ln: false };
        let (length_dw, requester_id, tag) = (self.length_dw, self.requester_id, self.tag);
        Ok(TlpRepr { common, length_dw, requester_id, tag, body })
    }
}
