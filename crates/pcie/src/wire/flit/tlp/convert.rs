//! From the headers of other links to those of flit mode and back.
//!
//! The two modes carry the same for reads, writes and completions, in other places. A digest covers the header, so it is another after a
//! conversion.

use super::{FlitBody, FlitTlpRepr, OhcA1, OhcA5, OhcE, TrailerSize};
use crate::wire::tlp::{Attributes, MemoryOp, TlpRepr};

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
        let set = |field| repr.value(field) != 0;
        first(name, &[(set("th"), "processing hints"), (set("ln"), "lightweight notification")])?;
        let length_dw = repr.length_dw();
        let body = if repr.does(MemoryOp::Read) || repr.does(MemoryOp::Write) {
            let (first_be, last_be) = (repr.value("first_be") as u8, repr.value("last_be") as u8);
            let explicit = (first_be, last_be) != implied(length_dw);
            let ohc_a = explicit.then_some(OhcA1 { first_be, last_be, ..OhcA1::default() });
            let (write, wide) = (repr.has_data(), repr.four_dw());
            FlitBody::Memory { write, wide, address: repr.value("address"), at: repr.value("at") as u8, ohc_a }
        } else if matches!(name, "Cpl" | "CplD") {
            first(name, &[(set("bcm"), "BCM"), (set("at"), "an address type")])?;
            let (status, lower_address) = (repr.value("status") as u8, repr.value("lower_address") as u8);
            let explicit = status != 0 || lower_address & 3 != 0;
            let ohc_a = explicit.then_some(OhcA5 { status, ..OhcA5::default() });
            let (completer_id, byte_count) = (repr.value("completer_id") as u16, repr.value("byte_count") as u16);
            FlitBody::Completion { data: repr.has_data(), completer_id, byte_count, lower_address, ohc_a }
        } else {
            return Err(NoCounterpart { name, what: "this type" });
        };
        Ok(Self {
            tc: repr.value("tc") as u8,
            attributes: Attributes::from_bits(repr.value("attr") as u8),
            trailer: if repr.has_digest() { TrailerSize::Ecrc } else { TrailerSize::None },
            ep: set("ep"),
            length_dw,
            tag: repr.value("tag") as u16,
            requester_id: repr.value("requester_id") as u16,
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
        let common = [
            ("tc", self.tc.into()),
            ("attr", self.attributes.bits().into()),
            ("td", u64::from(self.trailer == TrailerSize::Ecrc)),
            ("ep", self.ep.into()),
            ("length_dw", self.length_dw.into()),
            ("requester_id", self.requester_id.into()),
            ("tag", self.tag.into()),
        ];
        let own = match self.body {
            FlitBody::Memory { address, at, ohc_a, .. } => {
                let pasid = ohc_a.is_some_and(|ohc| ohc.flags != 0 || ohc.pasid != 0);
                first(name, &[(pasid, "PASID")])?;
                let (first_be, last_be) = ohc_a.map_or(implied(self.length_dw), |ohc| (ohc.first_be, ohc.last_be));
                let enables = [("first_be", first_be.into()), ("last_be", last_be.into())];
                [&enables[..], &[("address", address), ("at", at.into())]].concat()
            }
            FlitBody::Completion { completer_id, byte_count, lower_address, ohc_a, .. } => {
                let ohc = ohc_a.unwrap_or_default();
                let segment = ohc.destination_segment.is_some() || ohc.completer_segment != 0;
                first(name, &[(segment, "segments")])?;
                vec![
                    ("completer_id", completer_id.into()),
                    ("status", ohc.status.into()),
                    ("byte_count", byte_count.into()),
                    ("lower_address", lower_address.into()),
                ]
            }
        };
        // A type names the same kind in both modes, but for the read of 32 bits.
        let (fmt, code) = (self.code() >> 5, if name == "MRd32" { 0 } else { self.code() & 0x1f });
        let plain = TlpRepr::of(fmt, code).map_err(|_| NoCounterpart { name, what: "this type" })?;
        Ok(plain.with(&common).with(&own))
    }
}
