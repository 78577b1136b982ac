//! When a key is to be rotated: how much work it has done, and what it may do. A run rotates no keys.
//!
//! Work is counted per key, that is per direction, in units: floor(bytes / 16) + messages. A threshold is crossed
//! when either direction has done strictly more. Sources: open-gpu-kernel-modules 595.45.04, conf_compute_key_rotation.c,
//! conf_compute_key_rotation_gh100.c, conf_compute.c (KEY_ROTATION_THRESHOLD_DELTA).

use crate::growth::outcome;

/// Distance from the lower to the upper threshold, in work units.
pub const THRESHOLD_DELTA: u64 = 1_000_000_000;

/// Upper threshold in work units, for the attacker advantage of 2^-60 that the driver starts with. One for each of 2^-50 to 2^-65 is in its table.
const UPPER: u64 = 24_296_003_999;

/// When a key pair is to be rotated, and when it must not be used any longer. In work units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// Above it a rotation is asked for.
    pub lower: u64,
    /// Above it a rotation is forced.
    pub upper: u64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { lower: UPPER - THRESHOLD_DELTA, upper: UPPER }
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
