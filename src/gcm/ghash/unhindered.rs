//! The cycles of units whose chains are long enough for their ports: no block ever waits for an accumulator, and each is
//! multiplied in the cycle in which it enters.
//!
//! | family | condition, with multipliers that take a pair in every cycle | ports |
//! | --- | --- | --- |
//! | `serial` | L = 1 | 1 |
//! | `interleaved`, look-ahead | k >= m L: a chain's turn comes after L cycles at the earliest | m |
//! | `aggregated` | g >= L: at most one group is complete per cycle | w |
//!
//! The value is known L cycles after the last block has entered. This is the families' own recurrence with everything
//! gone that cannot bind; tests hold both to the same cycles.

use super::Cadence;
use crate::gcm::spec::{Closing, GhashSpec, MultiplierSpec};

/// The cycles.
#[derive(Debug, Clone)]
pub struct Recurrence {
    pub(in crate::gcm) width: u64,
    latency: u64,
    power_setup: u64,
    /// Cycle in which the message began.
    pub(in crate::gcm) gate: u64,
    /// The last cycle in which blocks entered, and how many.
    pub(in crate::gcm) entered: (u64, u64),
}

impl Recurrence {
    /// A unit at rest, if the specification's meets the condition.
    #[must_use]
    pub fn new(spec: &GhashSpec, power_setup: u64) -> Option<Self> {
        let takes_every_cycle = |multiplier: &MultiplierSpec| multiplier.interval() == 1;
        let (multiplier, width, enough) = match spec {
            GhashSpec::Serial { multiplier, first_block } => {
                (multiplier, 1, multiplier.latency() == 1 && first_block.is_none_or(|cycles| cycles.0 == 0))
            }
            GhashSpec::Interleaved { ways, multipliers, closing, multiplier } => {
                let chains = u64::from(*multipliers) * multiplier.latency();
                (multiplier, *multipliers, *closing == Closing::LookAhead && u64::from(*ways) >= chains)
            }
            GhashSpec::Aggregated { width, groups, multiplier } => {
                (multiplier, *width, u64::from(*groups) >= multiplier.latency())
            }
            GhashSpec::Folded { multiplier, .. } => (multiplier, 1, false),
            GhashSpec::Segmented { .. } | GhashSpec::MessageParallel { .. } | GhashSpec::SubChains { .. } => {
                return None;
            }
        };
        let latency = multiplier.latency();
        let unit = Self { width: width.into(), latency, power_setup, gate: 0, entered: (0, 0) };
        (enough && takes_every_cycle(multiplier)).then_some(unit)
    }
}

impl Cadence for Recurrence {
    fn power_setup(&self) -> u64 {
        self.power_setup
    }

    fn begin(&mut self, at: u64, _: u64) {
        self.gate = self.gate.max(at);
    }

    #[inline]
    fn earliest(&self) -> u64 {
        let (cycle, count) = self.entered;
        self.gate.max(cycle + u64::from(count == self.width))
    }

    #[inline]
    fn room(&self, at: u64, want: u64) -> u64 {
        let (cycle, count) = self.entered;
        want.min(self.width - if cycle == at { count } else { 0 })
    }

    #[inline]
    fn enter(&mut self, at: u64, count: u64) {
        self.entered = if self.entered.0 == at { (at, self.entered.1 + count) } else { (at, count) };
    }

    fn known(&mut self) -> u64 {
        self.entered.0 + self.latency
    }
}
