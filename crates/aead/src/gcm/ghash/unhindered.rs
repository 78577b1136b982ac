//! The cycles of units whose chains are long enough for their ports: no block ever waits for an accumulator, and each is
//! multiplied in the cycle in which it enters.
//!
//! | family | condition, with multipliers that take a pair in every cycle | ports |
//! | --- | --- | --- |
//! | `serial` | L = 1 | 1 |
//! | `interleaved`, look-ahead | k >= m L: a chain's turn comes after L cycles at the earliest | m |
//! | `aggregated` | g >= L: at most one group is complete per cycle | w |
//!
//! The value is known L cycles after the last block has entered. This is the families' own timing with everything
//! gone that cannot bind; tests hold both to the same cycles.

use super::{GhashTiming, Taken};
use crate::gcm::spec::{Closing, GhashSpec, MultiplierSpec};

/// Rows that are reported at once.
const ROWS: u64 = 32;

#[derive(Debug, Clone)]
pub struct TimingModel {
    pub(in crate::gcm) width: u64,
    latency: u64,
    power_setup: u64,
    /// Cycle in which the message began.
    pub(in crate::gcm) gate: u64,
    /// The last cycle in which blocks entered, and how many.
    pub(in crate::gcm) entered: (u64, u64),
    /// Blocks of a row, and by block of some rows: the number of its row.
    rows: (u64, Box<[u64]>),
}

impl TimingModel {
    /// A unit at rest, if the specification's meets the condition.
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
        let unit =
            Self { width: width.into(), latency, power_setup, gate: 0, entered: (0, 0), rows: Default::default() };
        (enough && takes_every_cycle(multiplier)).then_some(unit)
    }
}

impl GhashTiming for TimingModel {
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

    /// Behind the first row each cycle takes as many blocks as ports and unit allow.
    fn pass(
        &mut self,
        mut row: (u64, u64),
        visible: u64,
        ports: u64,
        blocks: u64,
        mut each: impl FnMut(Taken<'_>),
    ) -> ((u64, u64), u64) {
        let (mut left, width) = (blocks, self.width.min(ports));
        if left == 0 {
            return (row, 0);
        }
        let mut waited = self.pass_row(&mut row, visible, ports, &mut left, &mut each);
        if left == 0 {
            return (row, waited);
        }
        if self.rows.0 != width {
            self.rows = (width, (0..ROWS * width).map(|block| block / width).collect());
        }
        let more = left.div_ceil(width) - 1;
        // Each row but the last takes less than the ports could, in the cycle behind one that did.
        waited += u64::from(row.1 < ports) + if width < ports { 2 * more } else { 0 };
        let mut from = row.0 + 1;
        row = (from + more, left - more * width);
        self.entered = row;
        while left > 0 {
            let some = left.min(ROWS * width);
            each(Taken::Burst { from, cycles: &self.rows.1[..some as usize] });
            (from, left) = (from + ROWS, left - some);
        }
        (row, waited)
    }
}
