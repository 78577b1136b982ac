//! Which physical copy engines (PCE) serve a logical one (LCE) on GH100, and what the numbers around them are.
//!
//! ```text
//!   hub:   HSHUB 2      HSHUB 3      HSHUB 4        FBHUB
//!   PCE:   0 1 2 3      4 5 6 7      8 9 10 11      12 13 14 15
//!   CC:    2 3 4 5      6 7 8 9      0 1  -  -       -  -  -  -     LCE, one PCE each
//!   plain: ------- NVLink peers, or LCE 4 --------    2  3  2  3     LCE, with 0 and 1 sharing those of 2 and 3
//! ```
//!
//! Sources: open-gpu-kernel-modules 595.45.04, kernel_ce_gh100.c (kceMapPceLceForCC, kceMapPceLceForGRCE_GH100,
//! kceMapPceLceForNvlinkPeers_GH100, kceGetNumPceRequired, kceMapAsyncLceDefault_GH100), nverror.h,
//! ctrl2080ce.h (CE_CC_SECURE), cc_keystore.h.

mod keys;
mod map;

pub use keys::{
    KeyDirection, KeyName, KeySlotIndexError, LCE_KEYS, Owner, key_names, simulation_key, simulation_mask,
    simulation_nonce_tail,
};
pub use map::{MapError, PceMap, Peer, pces};

use std::fmt;

/// Logical copy engines of GH100.
pub const LCES: u8 = 10;

/// Physical copy engines of GH100.
pub const PCES: u8 = 16;

/// LCE that reads system memory (NVLINK_SYSMEM_READ_LCE): the H2D path.
pub const SYSMEM_READ: Lce = Lce(2);

/// LCE that writes system memory (NVLINK_SYSMEM_WRITE_LCE): the D2H path.
pub const SYSMEM_WRITE: Lce = Lce(3);

/// Robust-channel error of an LCE, by its number (ROBUST_CHANNEL_CE0_ERROR and on).
const CHANNEL_ERRORS: [u32; LCES as usize] = [39, 40, 41, 70, 71, 72, 75, 76, 77, 85];

/// Robust-channel error of SEC2.
pub const SEC2_CHANNEL_ERROR: u32 = 60;

/// A logical copy engine, 0 to 9.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lce(u8);

impl Lce {
    /// The engine with this number, if GH100 has it.
    #[must_use]
    pub fn new(number: u8) -> Option<Self> {
        (number < LCES).then_some(Self(number))
    }

    pub fn all() -> impl Iterator<Item = Self> {
        (0..LCES).map(Self)
    }

    /// Its number: the n of COPYn.
    #[must_use]
    pub fn number(self) -> u8 {
        self.0
    }

    /// Whether it is a graphics copy engine (GRCE): 0 and 1.
    #[must_use]
    pub fn is_graphics(self) -> bool {
        self.0 < 2
    }

    /// Whether it can encrypt and decrypt: all but the GRCEs.
    #[must_use]
    pub fn is_secure(self) -> bool {
        !self.is_graphics()
    }

    /// Its index in the key store: 0 is COPY2. GRCEs have no keys.
    #[must_use]
    pub fn key_index(self) -> Option<u8> {
        self.0.checked_sub(2)
    }

    #[must_use]
    pub fn channel_error(self) -> u32 {
        CHANNEL_ERRORS[usize::from(self.0)]
    }
}

impl fmt::Display for Lce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LCE{}", self.0)
    }
}

/// A physical copy engine, 0 to 15.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pce(u8);

impl Pce {
    /// The engine with this number, if GH100 has it.
    #[must_use]
    pub fn new(number: u8) -> Option<Self> {
        (number < PCES).then_some(Self(number))
    }

    #[must_use]
    pub fn number(self) -> u8 {
        self.0
    }

    /// The hub it sits on.
    #[must_use]
    pub fn hub(self) -> Hub {
        match self.0 {
            0..12 => Hub::Hs(2 + self.0 / 4),
            _ => Hub::Fb,
        }
    }
}

impl fmt::Display for Pce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PCE{}", self.0)
    }
}

/// A hub of the GPU's interconnect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Hub {
    /// The hub of the frame buffer and of system memory over PCIe.
    Fb,
    /// An NVLink high-speed hub, 2 to 4.
    Hs(u8),
}

#[cfg(test)]
mod tests;
