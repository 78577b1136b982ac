//! Where each DW of a 128b/130b stream lies in time.
//!
//! A x16 gen5 MAC handles 16 DW (four symbol times of 16 bytes) per cycle of 1 GHz. 128b/130b leaves one cycle in 65 empty; every
//! `skp_interval` data blocks of 64 DW an ordered-set block takes a block's place, and the last DW before it is the EDS token. Positions
//! count only the DW that tokens, TLPs and idle may use.

/// DW per cycle of the MAC.
pub(super) const DW_PER_CYCLE: u64 = 16;
/// DW per symbol time: one byte on each of 16 lanes.
const DW_PER_SYMBOL: u64 = 4;
/// DW per block.
pub(super) const DW_PER_BLOCK: u64 = 64;
/// Cycles with data between two gearbox bubbles.
pub(super) const DATA_CYCLES: u64 = 64;

/// The map between positions in the stream and MAC cycles.
///
/// It holds the start of the interval between ordered sets that the transmitter is in, so that positions near it cost no division.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stream {
    /// Usable DW between two ordered sets.
    usable: u64,
    /// All DW from one ordered set to the next.
    period: u64,
    /// First position of the interval, and its place among all DW sent.
    base: u64,
    base_raw: u64,
}

impl Stream {
    pub fn new(skp_interval_blocks: u32) -> Self {
        let blocks = u64::from(skp_interval_blocks.max(1));
        Self { usable: blocks * DW_PER_BLOCK - 1, period: (blocks + 1) * DW_PER_BLOCK, base: 0, base_raw: 0 }
    }

    /// Moves on to the interval that `cycle` lies in. From now on only that cycle and later ones may be asked for.
    #[inline]
    pub fn advance(&mut self, cycle: u64) {
        let passed = raw_of(cycle) - self.base_raw;
        if passed >= self.period {
            let intervals = passed / self.period;
            self.base += intervals * self.usable;
            self.base_raw += intervals * self.period;
        }
    }

    /// Moves on to the interval of `position`. From now on only that position and later ones, and their cycles, may be asked for.
    #[inline]
    pub fn follow(&mut self, position: u64) {
        while position - self.base >= self.usable {
            self.base += self.usable;
            self.base_raw += self.period;
        }
    }

    /// Place of a position among all DW sent, ordered sets included.
    #[inline]
    fn raw(&self, position: u64) -> u64 {
        let (mut offset, mut raw) = (position - self.base, self.base_raw);
        while offset >= self.usable {
            offset -= self.usable;
            raw += self.period;
        }
        raw + offset
    }

    /// The cycle in which a position is sent.
    #[inline]
    pub fn cycle(&self, position: u64) -> u64 {
        let data_cycle = self.raw(position) / DW_PER_CYCLE;
        data_cycle + data_cycle / DATA_CYCLES
    }

    /// The first position that is sent in `cycle` or later.
    #[inline]
    pub fn first(&self, cycle: u64) -> u64 {
        let (mut offset, mut first) = (raw_of(cycle) - self.base_raw, self.base);
        while offset >= self.period {
            offset -= self.period;
            first += self.usable;
        }
        first + offset.min(self.usable)
    }

    /// The symbol time in which a position is sent.
    #[inline]
    pub fn symbol(&self, position: u64) -> u64 {
        self.raw(position) / DW_PER_SYMBOL
    }

    /// The first position of the next symbol time.
    pub fn next_symbol(&self, position: u64) -> u64 {
        let symbol = self.symbol(position);
        (position + 1..).find(|&next| self.symbol(next) != symbol).unwrap_or(position)
    }
}

/// DW sent before `cycle`, ordered sets included.
#[inline]
const fn raw_of(cycle: u64) -> u64 {
    let (turns, rest) = (cycle / (DATA_CYCLES + 1), cycle % (DATA_CYCLES + 1));
    let rest = if rest < DATA_CYCLES { rest } else { DATA_CYCLES };
    (turns * DATA_CYCLES + rest) * DW_PER_CYCLE
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, DW by DW: the kind of every DW from the first cycle on, and the cycle that it lies in.
    fn by_definition(interval: u32, cycles: u64) -> Vec<u64> {
        let blocks = u64::from(interval) + 1;
        let mut usable = Vec::new();
        let mut raw = 0;
        for cycle in (0..cycles).filter(|cycle| cycle % 65 != 64) {
            for _ in 0..16 {
                let (block, dw) = (raw / 64 % blocks, raw % 64);
                let eds = block == blocks - 2 && dw == 63;
                if block < blocks - 1 && !eds {
                    usable.push(cycle);
                }
                raw += 1;
            }
        }
        usable
    }

    proptest! {
        #[test]
        fn bubbles_eds_and_skp_lie_where_the_definition_has_them(interval in 1u32..40, steps in prop::collection::vec(0u64..90, 1..60)) {
            let mut stream = Stream::new(interval);
            let places = by_definition(interval, 6000);
            let mut now = 0;
            for step in steps {
                now += step;
                stream.advance(now);
                let first = places.partition_point(|&cycle| cycle < now) as u64;
                prop_assert_eq!(stream.first(now), first);
                for position in first..first + 200 {
                    prop_assert_eq!(stream.cycle(position), places[position as usize]);
                }
            }
        }
    }

    #[test]
    fn the_usable_rate_is_that_of_gen5_x16_less_skip_ordered_sets() {
        let mut stream = Stream::new(373);
        let cycles = 10_000_000;
        stream.advance(cycles);
        let rate = stream.first(cycles) as f64 * 4.0 / cycles as f64;
        let expected = 64.0 * 128.0 / 130.0 * (373.0 * 64.0 - 1.0) / (374.0 * 64.0);
        assert!((rate / expected - 1.0).abs() < 1e-4, "{rate} against {expected} bytes per ns");
    }

    #[test]
    fn a_symbol_time_holds_four_dw_and_starts_anew_after_an_ordered_set() {
        let stream = Stream::new(1);
        assert_eq!((stream.symbol(3), stream.next_symbol(3)), (0, 4));
        assert_eq!((stream.symbol(62), stream.next_symbol(62)), (15, 63));
        // The block of the ordered set is 16 symbol times long.
        assert_eq!(stream.symbol(63), 32);
    }
}
