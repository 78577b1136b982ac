//! Buffers and queues.

use super::technology::SRAM_BIT_UM2;
use super::{Interval, Library};
use serde::Serialize;

/// What so many bytes of storage cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StorageCost {
    pub bytes: u64,
    /// kGE if every bit is a flip-flop: the bound.
    pub flip_flop_kge: f64,
    /// kGE as SRAM: an assumed range.
    pub sram_kge: Interval,
}

/// The cost of `bytes` of storage.
#[must_use]
pub fn storage(bytes: u64) -> StorageCost {
    let (bits, library) = (8.0 * bytes as f64, Library::shipped());
    StorageCost {
        bytes,
        flip_flop_kge: library.flip_flops(bits),
        sram_kge: SRAM_BIT_UM2 * (bits / library.gate_um2 / 1000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flip_flops_bound_sram_from_above() {
        let cost = storage(2 << 20);
        assert!(cost.sram_kge.high < cost.flip_flop_kge && cost.sram_kge.low > 0.0);
        assert!((cost.flip_flop_kge - 16.0 * 1_048_576.0 * 5.0 / 1000.0).abs() < 1.0);
        assert_eq!(storage(0).flip_flop_kge, 0.0);
    }
}
