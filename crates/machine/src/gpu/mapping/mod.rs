//! Which physical copy engines (PCE) serve a logical one (LCE) on GH100, and what the numbers around them are.
//!
//! ```text
//!   hub:   HSHUB 2      HSHUB 3      HSHUB 4        FBHUB
//!   PCE:   0 1 2 3      4 5 6 7      8 9 10 11      12 13 14 15
//!   CC:    2 3 4 5      6 7 8 9      0 1  -  -       -  -  -  -     LCE, one PCE each
//!   plain: ---------------- LCE 4 ----------------    2  3  2  3     LCE, with 0 and 1 sharing those of 2 and 3
//! ```
//!
//! Sources: open-gpu-kernel-modules 595.45.04, kernel_ce_gh100.c (kceMapPceLceForCC, kceMapPceLceForGRCE_GH100,
//! kceMapAsyncLceDefault_GH100), nverror.h, ctrl2080ce.h (CE_CC_SECURE), cc_keystore.h.

mod keys;
mod map;

pub use keys::{KeyDirection, KeyName, simulation_key, simulation_mask, simulation_nonce_tail};
pub use map::{PceMap, pces};

use std::fmt;

pub const LCES: u8 = 10;

pub const PCES: u8 = 16;

/// LCE that reads system memory (NVLINK_SYSMEM_READ_LCE): the H2D path.
pub const SYSMEM_READ: Lce = Lce(2);

/// LCE that writes system memory (NVLINK_SYSMEM_WRITE_LCE): the D2H path.
pub const SYSMEM_WRITE: Lce = Lce(3);

/// Robust-channel error of an LCE, by its number (ROBUST_CHANNEL_CE0_ERROR and on).
const CHANNEL_ERRORS: [u32; LCES as usize] = [39, 40, 41, 70, 71, 72, 75, 76, 77, 85];

/// A logical copy engine, 0 to 9.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lce(u8);

impl Lce {
    /// The engine with this number, if GH100 has it.
    pub fn new(number: u8) -> Option<Self> {
        (number < LCES).then_some(Self(number))
    }

    pub fn all() -> impl Iterator<Item = Self> {
        (0..LCES).map(Self)
    }

    /// Its index in the key store: 0 is COPY2. GRCEs have no keys.
    pub fn key_index(self) -> Option<u8> {
        self.0.checked_sub(2)
    }

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
    pub fn number(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Pce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PCE{}", self.0)
    }
}

#[cfg(test)]
mod tests;
