//! When a key is to be rotated: how much work it has done, and what it may do. A run rotates no keys.
//!
//! Work is counted per key, that is per direction, in units: floor(bytes / 16) + messages. A threshold is crossed
//! when either direction has done strictly more. Sources: open-gpu-kernel-modules 595.45.04, conf_compute_key_rotation.c,
//! conf_compute_key_rotation_gh100.c, conf_compute.c (KEY_ROTATION_THRESHOLD_DELTA).

use crate::growth::outcome;
use thiserror::Error;

/// Distance from the lower to the upper threshold, in work units.
pub const THRESHOLD_DELTA: u64 = 1_000_000_000;

/// Attacker advantages that the driver accepts, as negative exponents of two.
pub const ADVANTAGES: std::ops::RangeInclusive<u32> = 50..=65;

/// Attacker advantage that the driver starts with.
pub const DEFAULT_ADVANTAGE: u32 = 60;

/// Upper thresholds in work units, for advantages 50 to 65.
const UPPER: [u64; 16] = [
    777_472_127_993,
    549_755_813_887,
    388_736_063_996,
    274_877_906_943,
    194_368_031_997,
    137_438_953_471,
    97_184_015_998,
    68_719_476_735,
    48_592_007_999,
    34_359_738_367,
    24_296_003_999,
    17_179_869_183,
    12_148_001_999,
    8_589_934_591,
    6_074_000_999,
    4_294_967_295,
];

/// An attacker advantage outside the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("attacker advantage {0} is not in 50..=65")]
pub struct AdvantageError(pub u32);

/// When a key pair is to be rotated, and when it must not be used any longer. In work units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// Above it a rotation is asked for.
    pub lower: u64,
    /// Above it a rotation is forced.
    pub upper: u64,
}

impl Thresholds {
    /// The thresholds for an attacker advantage of 2^-`advantage`.
    pub fn for_advantage(advantage: u32) -> Result<Self, AdvantageError> {
        let row = advantage.checked_sub(*ADVANTAGES.start()).ok_or(AdvantageError(advantage))?;
        let upper = *UPPER.get(row as usize).ok_or(AdvantageError(advantage))?;
        Ok(Self { lower: upper - THRESHOLD_DELTA, upper })
    }
}

impl Default for Thresholds {
    /// Those of [`DEFAULT_ADVANTAGE`].
    fn default() -> Self {
        let upper = UPPER[(DEFAULT_ADVANTAGE - 50) as usize];
        Self { lower: upper - THRESHOLD_DELTA, upper }
    }
}

outcome! {
    /// What one key has done, over all channels that use it, freed ones included.
    pub struct Work {
        bytes: u64 = Count,
        messages: u64 = Count,
    }
}

impl Work {
    /// One more message. At the end of the counter it sticks, which keeps a rotation due.
    pub fn add(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.messages = self.messages.saturating_add(1);
    }

    /// floor(bytes / 16) + messages. The floor is over the sum of bytes, not over each message.
    pub fn units(&self) -> u64 {
        (self.bytes / 16).saturating_add(self.messages)
    }
}

#[cfg(test)]
mod tests;
