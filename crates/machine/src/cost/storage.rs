//! Buffers and queues.

use super::technology::{SRAM_ACCESS_PJ, SRAM_BIT_UM2};
use super::{Interval, Library};
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StorageCost {
    pub bytes: u64,
    /// kGE if every bit is a flip-flop: the bound.
    pub flip_flop_kge: f64,
    /// kGE as SRAM: an assumed range.
    pub sram_kge: Interval,
}

pub fn storage(bytes: u64) -> StorageCost {
    let (bits, library) = (8.0 * bytes as f64, Library::shipped());
    StorageCost {
        bytes,
        flip_flop_kge: library.flip_flops(bits),
        sram_kge: SRAM_BIT_UM2 * (bits / library.gate_um2 / 1000.0),
    }
}

/// pJ of reading or writing a byte in SRAM of so many bytes: between the sizes of [`SRAM_ACCESS_PJ`] by the logarithm, beyond the largest along the same
/// line, and below the smallest as there.
pub fn sram_access(bytes: u64) -> Interval {
    let (first, last) = (SRAM_ACCESS_PJ[0], SRAM_ACCESS_PJ.len() - 1);
    let size = (bytes as f64).max(first.0);
    let upper = SRAM_ACCESS_PJ.iter().position(|(known, _)| *known >= size).unwrap_or(last).max(1);
    let [(from, low), (to, high)] = [SRAM_ACCESS_PJ[upper - 1], SRAM_ACCESS_PJ[upper]];
    Interval::exact((low + (high - low) * (size / from).log2() / (to / from).log2()) / 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_takes_what_was_published_at_its_sizes_and_more_in_larger_ones() {
        let word = |bytes| sram_access(bytes).middle() * 8.0;
        assert_eq!([16, 8 << 10, 32 << 10, 1 << 20].map(word), [7.5, 7.5, 8.5, 14.0]);
        assert!((word(2 << 20) - 15.1).abs() < 1e-9 && word(16 << 10) == 8.0);
    }

    #[test]
    fn flip_flops_bound_sram_from_above() {
        let cost = storage(2 << 20);
        assert!(cost.sram_kge.high < cost.flip_flop_kge && cost.sram_kge.low > 0.0);
        assert!((cost.flip_flop_kge - 16.0 * 1_048_576.0 * 5.0 / 1000.0).abs() < 1.0);
        assert_eq!(storage(0).flip_flop_kge, 0.0);
    }
}
