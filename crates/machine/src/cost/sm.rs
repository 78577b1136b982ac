//! Energy of AES-GCM in kernels on SMs. They add no silicon; what they cost is that the SMs are taken while they run.

use super::Interval;
use super::technology::{SM_AES_128_PJ_PER_BYTE, SM_GCM_OVER_CTR};
use crate::gpu::sm::spec::{GhashKernel, SmSpec};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SmCost {
    /// SMs that a kernel takes.
    pub used: u32,
    pub count: u32,
    /// Energy per byte of text.
    pub pj_per_byte: Interval,
    /// What lies outside of the range that the figure was made for: always something.
    pub notes: Vec<String>,
}

/// The cost of the kernels of `spec` with keys of so many rounds of AES.
pub fn sm(spec: &SmSpec, rounds: u32) -> SmCost {
    let mut notes = vec![
        "energy on SMs is that of a whole board of another generation (12 nm, AES-128-CTR), in proportion to rounds, with GHASH as a factor: \
         an order of magnitude, and not to be held against units in ASAP7"
            .to_owned(),
    ];
    let mut factor = SM_GCM_OVER_CTR;
    if spec.ghash == GhashKernel::TensorCore {
        factor.low = 1.0;
        notes.push("no energy of GHASH on tensor cores is published: at the low end it is none".to_owned());
    }
    let aes = SM_AES_128_PJ_PER_BYTE * f64::from(rounds) / 10.0;
    SmCost { used: spec.used, count: spec.count, pj_per_byte: factor * aes, notes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;

    fn spec(design: &str) -> SmSpec {
        Layers::new("h100-nvl-tdx").overlay(design).resolve().unwrap().machine.sm.unwrap()
    }

    /// 878.6 Gb/s at the board's 215 W are the 4.1 Gb/s per W that are stated.
    #[test]
    fn the_published_efficiency_is_that_of_the_published_rate_at_the_boards_power() {
        let published = 215.0 / (878.6e9 / 8.0) * 1e12;
        assert!((SM_AES_128_PJ_PER_BYTE / published - 1.0).abs() < 0.05 / 4.1, "{published}");
    }

    #[test]
    fn gcm_on_sms_costs_more_than_the_counter_mode_that_was_published_and_says_that_it_is_stretched() {
        let cost = sm(&spec("sm"), 14);
        assert!((cost.pj_per_byte.low / (1.4 * SM_AES_128_PJ_PER_BYTE) - 547.0 / 372.0).abs() < 1e-9);
        assert!((cost.pj_per_byte.high / (1.4 * SM_AES_128_PJ_PER_BYTE) - 4.0).abs() < 1e-9);
        assert_eq!((cost.used, cost.count, cost.notes.len()), (42, 132, 1));
        let tensor = sm(&spec("sm-tensor"), 14);
        assert!(tensor.pj_per_byte.low < cost.pj_per_byte.low && tensor.notes.len() == 2);
    }
}
