//! The figures that costs rest on. Each has its source next to it; nothing else in the cost model is a number of silicon.
//!
//! Synthesis in ASAP7, the 7 nm predictive library of Arizona State University (7.5 tracks, RVT, typical corner, 0.7 V) with Yosys 0.23
//! and ABC: logic only, no layout, no clock tree. One gate equivalent (GE) is its smallest NAND2, 0.0583 um2. Energy is counted from
//! toggles on random data with an assumed 0.6 fF of wire per net; the low figure leaves glitches out, the high one has them with unit
//! delays. The library is predictive: ratios hold better than absolute figures.
//!
//! Two uncertainties are kept apart. [`SYNTHESIS_SPREAD`] differs from block to block, so it is part of every interval of an area, and a
//! difference between two designs that is smaller says nothing. [`PROCESS_SPREAD`] moves all designs alike: it leaves their order
//! and their ratios as they are, and is therefore no part of the intervals but stated in addition to them.
//!
//! The RTL that was synthesised, its scripts and its logs are not in the tree, so its figures are **not reproducible from this repository**;
//! the tests below hold typed numbers against typed numbers. [`SYNTHESIS`] says so wherever a cost is shown.

use super::Interval;

/// A block of logic, as it was synthesised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Block {
    pub name: &'static str,
    /// Area in kGE.
    pub kge: f64,
    /// Longest path in ps, where it was noted.
    pub delay_ps: Option<f64>,
    /// pJ per operation, where it was noted.
    pub energy_pj: Option<Interval>,
    /// Where the figure comes from.
    pub source: &'static str,
}

const ASAP7: &str = "synthesis in ASAP7 for this project, Yosys 0.23 and ABC; not reproducible from this repository";

/// What is to be said wherever a figure of it stands.
pub const SYNTHESIS: &str = "areas and energies of engines rest on synthesis for this project (ASAP7, Yosys 0.23 and ABC), whose RTL, scripts and \
                             logs are not in the tree: not reproducible from this repository";

impl Block {
    /// Its area, as wide as synthesis makes it.
    #[must_use]
    pub const fn area_kge(&self) -> Interval {
        Interval::around(self.kge, SYNTHESIS_SPREAD)
    }
}

const fn block(name: &'static str, kge: f64, delay_ps: f64, low: f64, high: f64) -> Block {
    Block { name, kge, delay_ps: Some(delay_ps), energy_pj: Some(Interval::new(low, high)), source: ASAP7 }
}

/// um2 of one gate equivalent.
pub const GATE_EQUIVALENT_UM2: f64 = 0.0583;

/// Bit-parallel multipliers in GF(2^128) with their reduction, by levels of Karatsuba.
pub const MULTIPLIERS: [Block; 5] = [
    block("schoolbook multiplier", 56.4, 277.0, 9.2, 10.0),
    block("Karatsuba multiplier, 1 level", 42.4, 389.0, 6.6, 8.3),
    block("Karatsuba multiplier, 2 levels", 34.0, 428.0, 5.4, 8.1),
    block("Karatsuba multiplier, 3 levels", 28.0, 495.0, 4.4, 7.3),
    block("Karatsuba multiplier, 4 levels", 24.8, 510.0, 4.0, 7.7),
];

/// The reduction from 255 to 128 bits alone, which is part of each multiplier above.
pub const REDUCTION: Block = block("reduction", 1.1, 94.0, 0.2, 0.3);

/// One step of a digit-serial multiplier, by bits per step. Energy was noted from 8 bits on.
pub const DIGIT_STEPS: [(u32, Block); 6] = [
    (1, step("digit-serial step, 1 bit", 0.43, 40.0, None)),
    (4, step("digit-serial step, 4 bits", 1.7, 117.0, None)),
    (8, step("digit-serial step, 8 bits", 3.4, 165.0, Some(Interval::new(0.6, 0.8)))),
    (16, step("digit-serial step, 16 bits", 6.8, 197.0, Some(Interval::new(1.1, 1.4)))),
    (32, step("digit-serial step, 32 bits", 13.6, 270.0, Some(Interval::new(2.1, 3.0)))),
    (64, step("digit-serial step, 64 bits", 27.1, 329.0, Some(Interval::new(4.2, 5.9)))),
];

const fn step(name: &'static str, kge: f64, delay_ps: f64, energy_pj: Option<Interval>) -> Block {
    Block { name, kge, delay_ps: Some(delay_ps), energy_pj, source: ASAP7 }
}

/// An AES round with S-boxes of 115 gates (Boyar and Peralta): small and slow, and full of glitches without a register within.
pub const COMPACT_ROUND: Block = block("AES round, 115-gate S-boxes", 4.7, 732.0, 0.8, 5.8);

/// An AES round with S-boxes from their truth table, for speed.
pub const FAST_ROUND: Block = block("AES round, table S-boxes", 10.7, 301.0, 2.1, 3.9);

/// A flip-flop: 0.2916 um2, and 1.3 fJ per clock on random data.
pub const FLIP_FLOP: Block = Block {
    name: "flip-flop",
    kge: 0.2916 / GATE_EQUIVALENT_UM2 / 1000.0,
    delay_ps: None,
    energy_pj: Some(Interval::exact(0.0013)),
    source: ASAP7,
};

/// Flip-flops of one pipeline stage of a multiplier, an estimate of 400 for 128-bit operands: at least the 255 bits of a product, and as
/// many more than estimated as that is less.
pub const MULTIPLIER_STAGE_BITS: Interval = Interval::new(255.0, 545.0);

/// Set-up and clock-to-output of a register, by which a stage is longer than its logic: 0.8 ns for the compact round's 732 ps.
pub const REGISTER_OVERHEAD_PS: f64 = 70.0;

/// One bit of SRAM in um2, periphery included: an assumption. A 7 nm high-density cell has 0.027 um2 (Wu et al., IEDM 2016); small
/// macros are several times that.
pub const SRAM_BIT_UM2: Interval = Interval::new(0.027, 0.2);

/// By what part the area of a block may be off because synthesis found another circuit: the largest difference noted between a multiplier
/// that was synthesised whole and the sum of its parts. See [`WHOLE_AND_PARTS`].
pub const SYNTHESIS_SPREAD: f64 = 0.075;

/// Multipliers in kGE, whole and as carry-less product and reduction synthesised apart: schoolbook, two levels of Karatsuba.
pub const WHOLE_AND_PARTS: [(f64, f64); 2] = [(56.4, 59.5 + 1.1), (34.0, 32.7 + 1.1)];

/// AES in kernels on SMs: Tezcan, "Optimization of Advanced Encryption Standard on Graphics Processing Units", IEEE Access 2021, states
/// 4.1 Gb/s per W for AES-128 in counter mode on an RTX 2070 Super, a 12 nm GPU, by the power of the whole board.
pub const SM_AES_128_PJ_PER_BYTE: f64 = 8.0 / 4.1e9 * 1e12;

/// What AES-GCM on SMs costs over its counter mode alone: by a count of the integer instructions of both for tables of 4 bits, 547 cycles
/// per warp over 372; and at most four times, as stated for several GPUs (Lemes-Perera et al., arXiv 2602.23067).
pub const SM_GCM_OVER_CTR: Interval = Interval::new(547.0 / 372.0, 4.0);

/// What absolute areas and energies may be off by, either way, because the library is predictive and wires are assumed. An assumption.
pub const PROCESS_SPREAD: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_levels_of_karatsuba_are_smaller_and_slower() {
        for pair in MULTIPLIERS.windows(2) {
            assert!(pair[0].kge > pair[1].kge && pair[0].delay_ps < pair[1].delay_ps);
        }
    }

    #[test]
    fn the_spread_of_synthesis_is_the_largest_that_was_noted() {
        let differences = WHOLE_AND_PARTS.map(|(whole, parts): (f64, f64)| (parts / whole - 1.0).abs());
        let largest = differences.into_iter().fold(0.0, f64::max);
        assert!(largest <= SYNTHESIS_SPREAD && largest > SYNTHESIS_SPREAD - 0.005, "{largest}");
        assert_eq!((WHOLE_AND_PARTS[0].0, WHOLE_AND_PARTS[1].0), (MULTIPLIERS[0].kge, MULTIPLIERS[2].kge));
    }

    /// In um2, as synthesised: each kGE is rounded to the digit that it is stated with.
    #[test]
    fn areas_in_kge_are_the_synthesised_square_micrometres() {
        let all = [
            (MULTIPLIERS[0], 3288.0),
            (MULTIPLIERS[1], 2470.0),
            (MULTIPLIERS[2], 1980.0),
            (MULTIPLIERS[3], 1631.0),
            (MULTIPLIERS[4], 1449.0),
            (REDUCTION, 67.0),
            (DIGIT_STEPS[0].1, 25.0),
            (DIGIT_STEPS[1].1, 99.0),
            (DIGIT_STEPS[2].1, 199.0),
            (DIGIT_STEPS[3].1, 398.0),
            (DIGIT_STEPS[4].1, 793.0),
            (DIGIT_STEPS[5].1, 1581.0),
            (COMPACT_ROUND, 272.0),
            (FAST_ROUND, 624.0),
        ];
        for (block, um2) in all {
            let kge: f64 = um2 / GATE_EQUIVALENT_UM2 / 1000.0;
            let digit = if block.kge < 1.0 { 0.01 } else { 0.1 };
            // Half of the last digit of kGE, of um2 and of the gate.
            let error = digit / 2.0 + kge * (0.5 / um2 + 0.00005 / GATE_EQUIVALENT_UM2);
            assert!((kge - block.kge).abs() <= error, "{}: {kge}", block.name);
        }
    }

    #[test]
    fn a_flip_flop_is_five_gates() {
        assert!((FLIP_FLOP.kge * 1000.0 - 5.0).abs() < 0.01);
    }

    #[test]
    fn a_digit_serial_step_has_about_two_gates_per_bit_pair() {
        // The rule of thumb next to the figures: 2 x 128 x d gates, of which GE are more by the XOR's size.
        for (bits, step) in DIGIT_STEPS {
            let gates = 2.0 * 128.0 * f64::from(bits) / 1000.0;
            assert!((1.3..2.0).contains(&(step.kge / gates)), "{}", step.name);
        }
    }
}
