//! From the headers of other links to those of flit mode and back.
//!
//! The two modes carry the same for reads, writes and completions, in other places. A digest covers the header, so it is another after a
//! conversion.

use super::{FlitTlpRepr, KINDS, TrailerSize};
use crate::wire::tlp::TlpRepr;

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
const fn implied(length_dw: u16) -> (u64, u64) {
    (0xf, if length_dw == 1 { 0 } else { 0xf })
}

/// The first of these that is there.
fn first(name: &'static str, list: &[(bool, &'static str)]) -> Result<(), NoCounterpart> {
    match list.iter().find(|(there, _)| *there) {
        Some(&(_, what)) => Err(NoCounterpart { name, what }),
        None => Ok(()),
    }
}

/// Fields that have the same name in both modes.
const SAME: [&str; 11] = [
    "tc",
    "attr",
    "ep",
    "length_dw",
    "tag",
    "requester_id",
    "address",
    "at",
    "completer_id",
    "byte_count",
    "lower_address",
];

impl FlitTlpRepr {
    /// The header in flit mode. OHC is there only where it says something.
    ///
    /// # Errors
    /// For kinds other than memory reads and writes and completions, and for hints, LN and BCM.
    pub fn from_non_flit(repr: &TlpRepr) -> Result<Self, NoCounterpart> {
        let name = repr.name();
        let set = |field| repr.value(field) != 0;
        first(name, &[(set("th"), "processing hints"), (set("ln"), "lightweight notification")])?;
        let kind = KINDS.iter().find(|kind| kind.name == name);
        let made = Self::of(kind.ok_or(NoCounterpart { name, what: "this type" })?);
        let made = made.with(&SAME.map(|field| (field, repr.value(field)))).with(&[("ts", repr.has_digest().into())]);
        if let (Some(first_be), Some(last_be)) = (repr.get("first_be"), repr.get("last_be")) {
            let explicit = (first_be, last_be) != implied(repr.length_dw());
            let enables = [("ohc_a", 1), ("first_be", first_be), ("last_be", last_be)];
            return Ok(if explicit { made.with(&enables) } else { made });
        }
        first(name, &[(set("bcm"), "BCM"), (set("at"), "an address type")])?;
        let explicit = set("status") || repr.value("lower_address") & 3 != 0;
        Ok(if explicit { made.with(&[("ohc_a", 1), ("status", repr.value("status"))]) } else { made })
    }

    /// The header without flit mode.
    ///
    /// # Errors
    /// For tags of more than 10 bits, PASID, segments, hints, IDE and vendors' prefixes.
    pub fn to_non_flit(&self) -> Result<TlpRepr, NoCounterpart> {
        let name = self.name();
        let set = |field| self.value(field) != 0;
        first(
            name,
            &[
                (self.value("tag") > 0x3ff, "a tag of more than 10 bits"),
                (matches!(self.trailer(), TrailerSize::Mac | TrailerSize::MacPcrc), "IDE"),
                (set("ohc_b_there"), "OHC-B"),
                (set("ohc_c_there"), "OHC-C"),
                (!self.ohc_e().is_empty(), "OHC-E"),
                (set("pasid") || set("pasid_flags"), "PASID"),
                (set("dsv") || set("completer_segment"), "segments"),
            ],
        )?;
        // A type names the same kind in both modes, but for the read of 32 bits.
        let code = self.value("type") as u8;
        let (fmt, code) = (code >> 5, if name == "MRd32" { 0 } else { code & 0x1f });
        let plain = TlpRepr::of(fmt, code).map_err(|_| NoCounterpart { name, what: "this type" })?;
        let (first_be, last_be) = implied(self.length_dw());
        Ok(plain.with(&SAME.map(|field| (field, self.value(field)))).with(&[
            ("td", u64::from(self.trailer() == TrailerSize::Ecrc)),
            ("status", self.value("status")),
            ("first_be", self.get("first_be").unwrap_or(first_be)),
            ("last_be", self.get("last_be").unwrap_or(last_be)),
        ]))
    }
}
