//! Where each DW of a 128b/130b stream lies in time.
//!
//! A x16 gen5 MAC handles 16 DW (four symbol times of 16 bytes) per cycle of 1 GHz. 128b/130b leaves one cycle in 65 empty; every
//! `skp_interval` data blocks of 64 DW an ordered-set block takes a block's place, and the last DW before it is the EDS token. Positions count
//! only the DW that tokens, TLPs and idle may use.

/// DW per cycle of the MAC.
const DW_PER_CYCLE: u64 = 16;
/// DW per symbol time: one byte on each of 16 lanes.
const DW_PER_SYMBOL: u64 = 4;
/// DW per block.
const DW_PER_BLOCK: u64 = 64;
/// Cycles with data between two gearbox bubbles.
const DATA_CYCLES: u64 = 64;

/// The map between positions in the stream and MAC cycles.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stream {
    /// Usable DW between two ordered sets.
    usable: u64,
    /// All DW from one ordered set to the next.
    period: u64,
}

impl Stream {
    pub fn new(skp_interval_blocks: u32) -> Self {
        let blocks = u64::from(skp_interval_blocks);
        Self { usable: blocks * DW_PER_BLOCK - 1, period: (blocks + 1) * DW_PER_BLOCK }
    }

    /// Place of a position among all DW sent, ordered sets included.
    #[inline]
    fn raw(self, position: u64) -> u64 {
        position / self.usable * self.period + position % self.usable
    }

    /// The cycle in which a position is sent.
    #[inline]
    pub fn cycle(self, position: u64) -> u64 {
        let data_cycle = self.raw(position) / DW_PER_CYCLE;
        data_cycle + data_cycle / DATA_CYCLES
    }

    /// The first position that is sent in `cycle` or later.
    #[inline]
    pub fn first(self, cycle: u64) -> u64 {
        let data_cycle = cycle / (DATA_CYCLES + 1) * DATA_CYCLES + (cycle % (DATA_CYCLES + 1)).min(DATA_CYCLES);
        let raw = data_cycle * DW_PER_CYCLE;
        raw / self.period * self.usable + (raw % self.period).min(self.usable)
    }

    /// The symbol time in which a position is sent.
    #[inline]
    pub fn symbol(self, position: u64) -> u64 {
        self.raw(position) / DW_PER_SYMBOL
    }

    /// The first position of the next symbol time.
    pub fn next_symbol(self, position: u64) -> u64 {
        let symbol = self.symbol(position);
        let mut next = position + 1;
        while self.symbol(next) == symbol {
            next += 1;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_cycles_agree_over_several_ordered_sets() {
        let stream = Stream::new(37);
        let mut first = 0;
        for position in 0..40_000 {
            let cycle = stream.cycle(position);
            while first < cycle {
                first += 1;
                assert!(stream.first(first) == position || stream.first(first) < position || first == cycle);
            }
            assert!(stream.first(cycle) <= position && position < stream.first(cycle + 1), "{position}");
        }
    }

    #[test]
    fn the_usable_rate_is_that_of_gen5_x16_less_skip_ordered_sets() {
        let stream = Stream::new(373);
        let cycles = 10_000_000;
        let rate = stream.first(cycles) as f64 * 4.0 / cycles as f64;
        let expected = 64.0 * 128.0 / 130.0 * (373.0 * 64.0 - 1.0) / (374.0 * 64.0);
        assert!((rate / expected - 1.0).abs() < 1e-4, "{rate} against {expected} bytes per ns");
    }

    #[test]
    fn a_gearbox_bubble_holds_nothing() {
        let stream = Stream::new(373);
        assert_eq!(stream.first(64), stream.first(65));
        assert_eq!(stream.first(66) - stream.first(65), 16);
    }
}
