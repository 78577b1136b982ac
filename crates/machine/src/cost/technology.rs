//! What costs rest on beside `rtl/results.toml`: energies, spreads, SRAM. Each figure has its source next to it.
//!
//! Areas and delays are rows of [`super::library`]. **Energies are not measured by `rtl/` yet**: they are counted from toggles on random data in netlists
//! of an earlier synthesis in the same cells (ASAP7, Yosys 0.23 and ABC), with an assumed 0.6 fF of wire per net; the low figure leaves glitches out, the high one
//! has them with unit delays. A second count from other netlists found 8.8, 5.4 and 4.0 pJ for the products of 0, 2 and 4 levels, 2.1 and 0.94 pJ for the rounds: the low figures within 18 %.
//!
//! Two uncertainties are kept apart. [`SYNTHESIS_SPREAD`] differs from block to block, so it is part of every interval of an area, and a
//! difference between two designs that is smaller says nothing. [`PROCESS_SPREAD`] moves all designs alike: it leaves their order
//! and their ratios as they are, and is therefore no part of the intervals but stated in addition to them.

use super::Interval;

/// What is to be said wherever a figure of it stands.
pub const SYNTHESIS: &str = "areas and clocks of engines rest on rows of rtl/results.toml, in ASAP7 (pyosys 0.70), before layout; energies on toggles in netlists of \
                             an earlier synthesis in the same cells";

/// pJ per product of a multiplier with its reduction, by levels of Karatsuba.
pub const PRODUCTS_PJ: [Interval; 5] = [
    Interval::new(9.2, 10.0),
    Interval::new(6.6, 8.3),
    Interval::new(5.4, 8.1),
    Interval::new(4.4, 7.3),
    Interval::new(4.0, 7.7),
];

/// pJ per step of a digit-serial multiplier, by bits per step. None was noted below 8 bits.
pub const STEPS_PJ: [(u32, Interval); 4] = [
    (8, Interval::new(0.6, 0.8)),
    (16, Interval::new(1.1, 1.4)),
    (32, Interval::new(2.1, 3.0)),
    (64, Interval::new(4.2, 5.9)),
];

/// pJ per AES round with S-boxes of 115 gates (Boyar and Peralta): full of glitches without a register within.
pub const COMPACT_ROUND_PJ: Interval = Interval::new(0.8, 5.8);

/// pJ per AES round with S-boxes from their truth table.
pub const TABLE_ROUND_PJ: Interval = Interval::new(2.1, 3.9);

/// pJ per clock of a flip-flop on random data.
pub const FLIP_FLOP_PJ: f64 = 0.0013;

/// One bit of SRAM in um2, periphery included: an assumption. A 7 nm high-density cell has 0.027 um2 (Wu et al., IEDM 2016); small
/// macros are several times that.
pub const SRAM_BIT_UM2: Interval = Interval::new(0.027, 0.2);

/// pJ per 64 bits read or written in SRAM of so many bytes in 7 nm: Jouppi et al., "Ten Lessons From Three Generations Shaped Google's TPUv4i",
/// ISCA 2021, table 2. The paper says that it has such a table; its figures are second-hand and were not compared with it.
pub const SRAM_ACCESS_PJ: [(f64, f64); 3] = [(8192.0, 7.5), (32_768.0, 8.5), (1_048_576.0, 14.0)];

/// pJ per bit read or written in HBM2: the same table, 250 to 450 pJ per 64 bits. No figure of HBM3 was found.
pub const HBM_BIT_PJ: Interval = Interval::new(250.0 / 64.0, 450.0 / 64.0);

/// pJ per bit on a PCIe link, both ends, second-hand: NVLink-C2C takes 1.3 pJ and is said to be five times as efficient as PCIe 5 (6.5); a SerDes takes 5.5.
pub const LINK_BIT_PJ: Interval = Interval::new(5.5, 6.5);

/// By what part the area of a part may be off because synthesis finds another circuit, or because it lies between rows: what the cost model is
/// held to against rows that it does not read. Another script found schoolbook products 9 % smaller.
pub const SYNTHESIS_SPREAD: f64 = 0.1;

/// AES in kernels on SMs: Tezcan, "Optimization of Advanced Encryption Standard on Graphics Processing Units", IEEE Access 2021, states
/// 4.1 Gb/s per W for AES-128 in counter mode on an RTX 2070 Super, a 12 nm GPU, by the power of the whole board.
pub const SM_AES_128_PJ_PER_BYTE: f64 = 8.0 / 4.1e9 * 1e12;

/// What AES-GCM on SMs costs over its counter mode alone: by a count of the integer instructions of both for tables of 4 bits, 547 cycles
/// per warp over 372; and at most four times, as stated for several GPUs (Lemes-Perera et al., arXiv 2602.23067).
pub const SM_GCM_OVER_CTR: Interval = Interval::new(547.0 / 372.0, 4.0);

/// What absolute areas and energies may be off by, either way, because the library is predictive and wires are assumed. An assumption.
pub const PROCESS_SPREAD: f64 = 2.0;
