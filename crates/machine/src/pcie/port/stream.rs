//! Where each DW of a stream lies in time.
//!
//! A MAC handles a DW of each lane in a cycle: four symbol times. 128b/130b leaves one cycle in 65 empty; every `skp_interval` data blocks
//! of 16 symbol times an ordered-set block takes a block's place, and the last DW before it is the EDS token. Positions count only the DW that
//! tokens, TLPs and idle may use. A token may start at any DW, as it may on a link of one to four lanes at any symbol time that is a
//! multiple of 4, 2 or 1, and on a wider one on every fourth lane.

//!
//! In flit mode (1b/1b) no cycle is empty and there are no tokens. A flit of 64 DW has 59 for TLPs; `skip_interval` flits or so are followed by the time of an
//! ordered set, as long as without flit mode. Positions count the DW for TLPs.

use crate::pcie::{
    rate::{FLIT_MODE, SYMBOLS_PER_CYCLE},
    wire::flit,
};

/// DW of a flit, and those of its TLPs.
const FLIT_DW: u64 = flit::BYTES as u64 / 4;
/// See [`FLIT_DW`].
const FLIT_TLP_DW: u64 = flit::TLP_BYTES as u64 / 4;
/// Symbol times of a block.
pub(super) const SYMBOLS_PER_BLOCK: u64 = 16;
/// Cycles with data between two gearbox bubbles.
pub(super) const DATA_CYCLES: u64 = 64;

/// The map between positions in the stream and MAC cycles.
///
/// It holds the start of the interval between ordered sets that the transmitter is in, so that positions near it cost no division.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stream {
    /// Whether it is split into flits.
    flits: bool,
    /// DW per cycle are two to the power of this: one of each lane.
    shift: u32,
    /// Usable DW between two ordered sets.
    usable: u64,
    /// All DW from one ordered set to the next.
    period: u64,
    /// First position of the interval, and its place among all DW sent.
    base: u64,
    base_raw: u64,
}

impl Stream {
    /// A stream over so many lanes, a power of two, in flit mode if the generation has it.
    pub fn new(skp_interval_blocks: u32, lanes: u32, generation: u32) -> Self {
        let (blocks, shift) = (u64::from(skp_interval_blocks.max(1)), lanes.max(1).ilog2());
        let dw_per_block = (SYMBOLS_PER_BLOCK / SYMBOLS_PER_CYCLE) << shift;
        if generation == FLIT_MODE {
            // Whole flits, for about as long as without flit mode.
            let flits = (blocks * dw_per_block / FLIT_DW).max(1);
            let period = flits * FLIT_DW + dw_per_block;
            return Self { flits: true, shift, usable: flits * FLIT_TLP_DW, period, base: 0, base_raw: 0 };
        }
        Self {
            flits: false,
            shift,
            usable: blocks * dw_per_block - 1,
            period: (blocks + 1) * dw_per_block,
            base: 0,
            base_raw: 0,
        }
    }

    /// Moves on to the interval that `cycle` lies in. From now on only that cycle and later ones may be asked for.
    #[inline]
    pub fn advance(&mut self, cycle: u64) {
        let passed = self.before(cycle) - self.base_raw;
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
        raw + if self.flits { offset / FLIT_TLP_DW * FLIT_DW + offset % FLIT_TLP_DW } else { offset }
    }

    /// DW sent before `cycle`, ordered sets included.
    #[inline]
    const fn before(&self, cycle: u64) -> u64 {
        (if self.flits { cycle } else { data_cycles(cycle) }) << self.shift
    }

    /// The cycle in which the DW at a place among all is sent.
    #[inline]
    const fn cycle_of(&self, raw: u64) -> u64 {
        let data_cycle = raw >> self.shift;
        if self.flits { data_cycle } else { data_cycle + data_cycle / DATA_CYCLES }
    }

    /// The number of the flit that holds a position. Without flit mode there is none.
    pub const fn flit(&self, position: u64) -> Option<u64> {
        if self.flits { Some(position / FLIT_TLP_DW) } else { None }
    }

    /// The last cycle of a flit.
    pub fn checked_flit(&self, flit: u64) -> u64 {
        self.checked(flit * FLIT_TLP_DW)
    }

    /// The cycle in which what ends with `position` has been sent so far that it can be checked: in flit mode the flit's last.
    #[inline]
    pub fn checked(&self, position: u64) -> u64 {
        if self.flits {
            self.cycle_of(self.raw(position / FLIT_TLP_DW * FLIT_TLP_DW) + FLIT_DW - 1)
        } else {
            self.cycle(position)
        }
    }

    /// The cycle in which a position is sent.
    #[inline]
    pub fn cycle(&self, position: u64) -> u64 {
        self.cycle_of(self.raw(position))
    }

    /// The first position that is sent in `cycle` or later.
    #[inline]
    pub fn first(&self, cycle: u64) -> u64 {
        let (mut offset, mut first) = (self.before(cycle) - self.base_raw, self.base);
        while offset >= self.period {
            offset -= self.period;
            first += self.usable;
        }
        let within =
            if self.flits { offset / FLIT_DW * FLIT_TLP_DW + (offset % FLIT_DW).min(FLIT_TLP_DW) } else { offset };
        first + within.min(self.usable)
    }

    /// The symbol time in which a position is sent.
    #[inline]
    pub fn symbol(&self, position: u64) -> u64 {
        (self.raw(position) * SYMBOLS_PER_CYCLE) >> self.shift
    }

    /// The first position of the next symbol time.
    pub fn next_symbol(&self, position: u64) -> u64 {
        let symbol = self.symbol(position);
        (position + 1..).find(|&next| self.symbol(next) != symbol).unwrap_or(position)
    }
}

/// Cycles with data before `cycle`, ordered sets included.
#[inline]
const fn data_cycles(cycle: u64) -> u64 {
    let (turns, rest) = (cycle / (DATA_CYCLES + 1), cycle % (DATA_CYCLES + 1));
    let rest = if rest < DATA_CYCLES { rest } else { DATA_CYCLES };
    turns * DATA_CYCLES + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcie::rate::WIDTHS;
    use proptest::prelude::*;

    /// The definition, DW by DW: the kind of every DW from the first cycle on, and the cycle that it lies in.
    fn by_definition(interval: u32, lanes: u64, cycles: u64) -> Vec<u64> {
        let (blocks, per_block) = (u64::from(interval) + 1, 4 * lanes);
        let mut usable = Vec::new();
        let mut raw = 0;
        for cycle in (0..cycles).filter(|cycle| cycle % 65 != 64) {
            for _ in 0..lanes {
                let (block, dw) = (raw / per_block % blocks, raw % per_block);
                let eds = block == blocks - 2 && dw == per_block - 1;
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
        fn bubbles_eds_and_skp_lie_where_the_definition_has_them(
            interval in 1u32..40,
            lanes in prop::sample::select(&WIDTHS[..]),
            steps in prop::collection::vec(0u64..90, 1..60),
        ) {
            let mut stream = Stream::new(interval, lanes, 5);
            let places = by_definition(interval, lanes.into(), 6000);
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

    proptest! {
        #[test]
        fn flits_and_ordered_sets_lie_where_the_definition_has_them(
            interval in 1u32..40,
            lanes in prop::sample::select(&WIDTHS[..]),
            steps in prop::collection::vec(0u64..200, 1..60),
        ) {
            let mut stream = Stream::new(interval, lanes, 6);
            let wide = u64::from(lanes);
            let flits = (u64::from(interval) * 4 * wide / 64).max(1);
            // By DW: whether it is one of a TLP, and the last cycle of its flit.
            let mut places = Vec::new();
            for raw in 0..20_000 * wide {
                let (period, within) = (flits * 64 + 4 * wide, raw % (flits * 64 + 4 * wide));
                if within < flits * 64 && within % 64 < 59 {
                    places.push((raw / wide, (raw / period * period + within / 64 * 64 + 63) / wide));
                }
            }
            let mut now = 0;
            for step in steps {
                now += step;
                stream.advance(now);
                let first = places.partition_point(|(cycle, _)| *cycle < now) as u64;
                prop_assert_eq!(stream.first(now), first);
                for position in first..first + 200 {
                    prop_assert_eq!((stream.cycle(position), stream.checked(position)), places[position as usize]);
                    prop_assert_eq!(stream.flit(position), Some(position / 59));
                }
            }
        }
    }

    #[test]
    fn the_usable_rate_is_that_of_128b_130b_less_skip_ordered_sets() {
        for lanes in WIDTHS {
            let mut stream = Stream::new(373, lanes, 5);
            let cycles = 10_000_000;
            stream.advance(cycles);
            let (rate, lanes) = (stream.first(cycles) as f64 * 4.0 / cycles as f64, f64::from(lanes));
            let expected = 4.0 * lanes * 128.0 / 130.0 * (373.0 * 4.0 * lanes - 1.0) / (374.0 * 4.0 * lanes);
            assert!(
                (rate / expected - 1.0).abs() < 1e-4,
                "{rate} against {expected} bytes in a cycle of {lanes} lanes"
            );
        }
    }

    #[test]
    fn a_symbol_time_of_a_narrow_link_is_a_part_of_a_dw() {
        for (lanes, symbols) in [(8, [0, 0, 1, 1]), (4, [0, 1, 2, 3]), (2, [0, 2, 4, 6]), (1, [0, 4, 8, 12])] {
            let stream = Stream::new(373, lanes, 5);
            assert_eq!([0, 1, 2, 3].map(|position| stream.symbol(position)), symbols, "{lanes} lanes");
        }
    }

    #[test]
    fn a_symbol_time_of_16_lanes_holds_four_dw_and_starts_anew_after_an_ordered_set() {
        let stream = Stream::new(1, 16, 5);
        assert_eq!((stream.symbol(3), stream.next_symbol(3)), (0, 4));
        assert_eq!((stream.symbol(62), stream.next_symbol(62)), (15, 63));
        // The block of the ordered set is 16 symbol times long.
        assert_eq!(stream.symbol(63), 32);
    }
}
