//! What follows from a link's generation and width.
//!
//! A MAC takes 32 bits from each lane in a cycle, so that a cycle is four symbol times at any rate and in any width: 250 MHz at 8 GT/s, 500 MHz at
//! 16 GT/s, 1 GHz at 32 GT/s, 2 GHz at 64 GT/s. At 64 GT/s (generation 6) the link is in flit mode; at the other rates it is not.

use crate::units::{Bytes, Cycles, Frequency};

/// PCIe generations that are modelled.
pub const GENERATIONS: [u32; 4] = [3, 4, 5, 6];

/// The generation whose links are in flit mode.
pub const FLIT_MODE: u32 = 6;

/// Widths of a link, in lanes.
pub const WIDTHS: [u32; 5] = [1, 2, 4, 8, 16];

/// Symbol times in a cycle of a MAC.
pub const SYMBOLS_PER_CYCLE: u64 = 4;

/// Clock of the MACs of a generation, if it is modelled.
pub const fn mac_clock(generation: u32) -> Option<Frequency> {
    match generation {
        3 => Some(Frequency(250_000_000)),
        4 => Some(Frequency(500_000_000)),
        5 => Some(Frequency(1_000_000_000)),
        FLIT_MODE => Some(Frequency(2_000_000_000)),
        _ => None,
    }
}

/// The Ack latency limit from generation 3 on, in cycles of the MAC, rounded down.
///
/// In symbol times it is (maximum payload + 28) x factor / lanes + 115, with the factors of cocotbext-pcie's `port.py`.
pub const fn ack_limit(lanes: u32, max_payload: Bytes) -> Cycles {
    let (lanes, large) = (if lanes == 0 { 1 } else { lanes as u64 }, max_payload.0 > 256);
    let tenths = match (lanes, large) {
        (..=4, false) => 14,
        (..=8, false) => 25,
        (_, false) => 30,
        (..=8, true) => 10,
        (_, true) => 20,
    };
    let symbols = max_payload.0.saturating_add(28).saturating_mul(tenths) / (10 * lanes) + 115;
    Cycles(symbols / SYMBOLS_PER_CYCLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ack_limit_is_that_of_the_published_tables() {
        // Symbol times of generation 3 and later at x16.
        for (payload, symbols) in [(128, 144), (256, 168), (512, 182), (1024, 246), (2048, 374), (4096, 630)] {
            assert_eq!(ack_limit(16, Bytes(payload)).0, symbols / 4, "{payload}");
        }
        assert_eq!([1, 2, 4, 8].map(|lanes| ack_limit(lanes, Bytes(256)).0), [128, 78, 53, 50]);
        assert_eq!(ack_limit(8, Bytes(512)).0, (540 / 8 + 115) / 4);
    }
}
