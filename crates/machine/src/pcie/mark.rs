//! What IDE adds to a TLP on a protected link.

use super::wire::ide::{MAC_BYTES, PCRC_BYTES, PREFIX_BYTES};

/// What IDE adds to a TLP on a link, and whether a bit of it was flipped above the LCRC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mark {
    /// DW of prefix, PCRC and MAC; 0 without IDE.
    dw: u8,
    /// The flipped bit, counted from 1; 0 if there is none.
    pub(super) flipped: u16,
}

const PREFIX_DW: u8 = (PREFIX_BYTES / 4) as u8;
const MAC_DW: u8 = (MAC_BYTES / 4) as u8;
const PCRC_DW: u8 = (PCRC_BYTES / 4) as u8;

impl Mark {
    /// Not on a protected link.
    pub const NONE: Self = Self { dw: 0, flipped: 0 };

    /// A prefix, and what is behind the data. There is no PCRC without a MAC.
    pub const fn new(mac: bool, pcrc: bool) -> Self {
        let trailer = if mac { MAC_DW + if pcrc { PCRC_DW } else { 0 } } else { 0 };
        Self { dw: PREFIX_DW + trailer, flipped: 0 }
    }

    #[inline]
    pub const fn dw(self) -> u32 {
        self.dw as u32
    }

    /// Whether a MAC ends the TLP.
    pub const fn mac(self) -> bool {
        self.dw >= PREFIX_DW + MAC_DW
    }

    /// Whether a PCRC is before the MAC.
    pub const fn pcrc(self) -> bool {
        self.dw > PREFIX_DW + MAC_DW
    }

    pub const fn flipped(self) -> bool {
        self.flipped != 0
    }

    /// Flips a bit of a protected TLP of so many bytes; `seed` picks it. Says whether it did: without IDE nothing is protected. The same bit
    /// once more is as it was; of two bits one is as good as both.
    pub const fn flip(&mut self, bytes: u32, seed: u64) -> bool {
        let bit = (seed % (bytes as u64 * 8)) as u16 + 1;
        if self.dw > 0 {
            self.flipped = if self.flipped == bit { 0 } else { bit };
        }
        self.dw > 0
    }
}
