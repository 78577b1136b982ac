//! Area and energy of an AES-GCM engine.
//!
//! | part | area | energy per block |
//! | --- | --- | --- |
//! | lane | rounds in hardware x round, registers of 128 bits behind each, a round key of 128 bits per round and one more | rounds x round, and the clock of the state's registers |
//! | multiplier | its structure's figure, or a digit's; 400 flip-flops per cycle of latency | per product, 128/d steps for digits of d bits |
//! | several GHASH units | each as alone; the table of weights with its multiplier and a weighting multiplier per unit, where segments are weighted | as alone; half of a position's bits in products per segment |
//! | input buffers | as [storage](super::storage) in SRAM | not counted |
//! | powers, accumulators, keystream | 128 flip-flops each | none: they are seldom written |
//!
//! A round is the compact one where a stage of the clock lets it through, else the fast one; where both fit, the interval spans both.

use super::technology::{
    COMPACT_ROUND, DIGIT_STEPS, FAST_ROUND, FLIP_FLOP, MULTIPLIER_STAGE_BITS, MULTIPLIERS, REDUCTION,
    REGISTER_OVERHEAD_PS,
};
use super::{Interval, storage};
use crate::gcm::spec::{AesSpec, EngineSpec, GhashSpec, MultiplierSpec};
use crate::gcm::structure::Structure;
use crate::units::Frequency;
use serde::Serialize;

/// What an engine costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EngineCost {
    /// Area of the AES lanes, with their keystream registers.
    pub aes_kge: Interval,
    /// Area of the GHASH unit, with its powers of H.
    pub ghash_kge: Interval,
    /// Both.
    pub area_kge: Interval,
    /// Energy per byte of text, AES.
    pub aes_pj_per_byte: Interval,
    /// Energy per byte of text, GHASH.
    pub ghash_pj_per_byte: Interval,
    /// Both.
    pub pj_per_byte: Interval,
    /// What lies outside of the range that a figure was made for.
    pub notes: Vec<String>,
}

/// The cost of an engine that runs at `clock`. The engine's specification has been checked.
#[must_use]
pub fn engine(spec: &EngineSpec, clock: Frequency) -> EngineCost {
    let mut notes = Vec::new();
    let rounds = spec.rounds().unwrap_or(14);
    let period_ps = 1e12 / clock.0 as f64;
    let (aes_kge, aes_pj) = aes(&spec.aes, rounds, period_ps, &mut notes);
    let (ghash_kge, ghash_pj) = ghash(&spec.ghash, period_ps, &mut notes);
    notes.dedup();
    let (aes_pj_per_byte, ghash_pj_per_byte) = (aes_pj * (1.0 / 16.0), ghash_pj * (1.0 / 16.0));
    EngineCost {
        aes_kge,
        ghash_kge,
        area_kge: aes_kge + ghash_kge,
        aes_pj_per_byte,
        ghash_pj_per_byte,
        pj_per_byte: aes_pj_per_byte + ghash_pj_per_byte,
        notes,
    }
}

fn flip_flops(bits: f64) -> f64 {
    bits * FLIP_FLOP.kge
}

/// Area of all lanes, and energy per block.
fn aes(spec: &AesSpec, rounds: u32, period_ps: f64, notes: &mut Vec<String>) -> (Interval, Interval) {
    let (area, energy) = round(spec, period_ps, notes);
    let in_hardware = f64::from(spec.rounds_in_hardware.min(rounds));
    let state_bits = 128.0 * (1.0 + in_hardware * f64::from(spec.registers_per_round));
    let key_bits = 128.0 * (1.0 + in_hardware);
    let lane = area * in_hardware + Interval::exact(flip_flops(state_bits + key_bits));
    let keystream = flip_flops(128.0 * f64::from(spec.keystream_blocks));
    let register_pj = FLIP_FLOP.energy_pj.unwrap_or_default() * state_bits;
    (lane * f64::from(spec.lanes) + Interval::exact(keystream), energy * f64::from(rounds) + register_pj)
}

/// Area and energy of one round at a clock.
fn round(spec: &AesSpec, period_ps: f64, notes: &mut Vec<String>) -> (Interval, Interval) {
    // Without a register per round all rounds in hardware settle within a cycle.
    let stages = match spec.registers_per_round {
        0 => 1.0 / f64::from(spec.rounds_in_hardware),
        registers => f64::from(registers),
    };
    let time = period_ps * stages;
    let needed = |delay: Option<f64>| delay.unwrap_or_default() + REGISTER_OVERHEAD_PS * stages.max(1.0);
    let fast = (Interval::exact(FAST_ROUND.kge), FAST_ROUND.energy_pj.unwrap_or_default());
    if needed(COMPACT_ROUND.delay_ps) <= time {
        let energy = COMPACT_ROUND.energy_pj.unwrap_or_default();
        return (fast.0.hull(Interval::exact(COMPACT_ROUND.kge)), fast.1.hull(energy));
    }
    if needed(FAST_ROUND.delay_ps) > time {
        let what = format!("{:.0} ps for an AES round is less than {:.0} ps", time, needed(FAST_ROUND.delay_ps));
        notes.push(format!("{what}, the fastest round that was synthesised: its figures are stretched to this clock"));
    }
    fast
}

/// How many of each part a GHASH unit has.
struct Parts<'a> {
    multiplier: &'a MultiplierSpec,
    multipliers: f64,
    /// Reductions that are shared, beyond none per multiplier.
    shared_reduction: bool,
    powers: f64,
    accumulators: f64,
    /// Products per block, and whether each multiplier sees one power for long.
    products_per_block: f64,
    one_power: bool,
}

/// What a unit of a family of several is, and how many there are with which buffer.
const fn compound(spec: &GhashSpec) -> Option<(u32, u32, &GhashSpec)> {
    match spec {
        GhashSpec::Segmented { units: count, buffer, unit, .. }
        | GhashSpec::MessageParallel { units: count, buffer, unit, .. }
        | GhashSpec::SubChains { chains: count, buffer, unit, .. } => Some((*count, *buffer, unit)),
        _ => None,
    }
}

/// The parts of a unit that takes a message by itself, or of one of several.
fn parts(spec: &GhashSpec) -> Parts<'_> {
    let all = |multiplier, multipliers: u32, powers: f64, accumulators: f64| Parts {
        multiplier,
        multipliers: multipliers.into(),
        shared_reduction: false,
        powers,
        accumulators,
        products_per_block: 1.0,
        one_power: false,
    };
    match spec {
        GhashSpec::Serial { multiplier, .. } => Parts { one_power: true, ..all(multiplier, 1, 1.0, 1.0) },
        GhashSpec::Interleaved { ways, multipliers, multiplier, .. } => {
            let ways = f64::from(*ways);
            Parts { one_power: true, ..all(multiplier, *multipliers, ways, ways) }
        }
        GhashSpec::Aggregated { width, groups, multiplier } => {
            let (width_f, groups) = (f64::from(*width), f64::from(*groups));
            Parts { shared_reduction: true, ..all(multiplier, *width, width_f * groups, groups) }
        }
        GhashSpec::Folded { powers, multiplier, .. } => {
            // Stored powers are double-buffered with the groups' sums.
            let powers = f64::from(*powers);
            Parts { products_per_block: (powers + 1.0) / powers, ..all(multiplier, 1, powers, 2.0) }
        }
        GhashSpec::Segmented { unit, .. }
        | GhashSpec::MessageParallel { unit, .. }
        | GhashSpec::SubChains { unit, .. } => parts(unit),
    }
}

/// Area of all units, and energy per block.
fn ghash(spec: &GhashSpec, period_ps: f64, notes: &mut Vec<String>) -> (Interval, Interval) {
    let Some((count, buffer, unit)) = compound(spec) else { return one_ghash(spec, period_ps, notes) };
    let (kge, energy) = one_ghash(unit, period_ps, notes);
    let buffers = storage(16 * u64::from(count) * u64::from(buffer)).sram_kge;
    let mut whole = (kge * f64::from(count) + buffers, energy);
    if let GhashSpec::Segmented { segment, .. } = spec {
        let (logic, _) = multiplier(unit.multiplier(), period_ps, notes);
        let stages = flip_flops(MULTIPLIER_STAGE_BITS * unit.multiplier().latency().max(1) as f64);
        let weights = f64::from(33 - segment.ilog2());
        let extra = (logic + stages) * f64::from(count + 1) + flip_flops(128.0 * (weights + 1.0));
        whole = (whole.0 + Interval::exact(extra), whole.1 * (1.0 + weights / 2.0 / f64::from(*segment)));
    }
    whole
}

/// Area of one unit, and energy per block.
fn one_ghash(spec: &GhashSpec, period_ps: f64, notes: &mut Vec<String>) -> (Interval, Interval) {
    let parts = parts(spec);
    let (logic, energy) = multiplier(parts.multiplier, period_ps, notes);
    let stages = flip_flops(MULTIPLIER_STAGE_BITS * parts.multiplier.latency().max(1) as f64);
    let saved = if parts.shared_reduction { REDUCTION.kge * (parts.multipliers - 1.0) } else { 0.0 };
    let kge = (logic + stages) * parts.multipliers - saved + flip_flops(128.0 * (parts.powers + parts.accumulators));
    // With one operand fixed over a message three quarters of the energy were measured.
    let fixed = if parts.one_power { Interval::new(energy.low * 0.75, energy.high) } else { energy };
    (Interval::exact(kge), fixed * parts.products_per_block)
}

/// Logic of a multiplier in kGE, and energy per product.
fn multiplier(spec: &MultiplierSpec, period_ps: f64, notes: &mut Vec<String>) -> (f64, Interval) {
    if spec.digit_bits < 128 {
        return digits(spec, notes);
    }
    let levels = levels(spec);
    let block = MULTIPLIERS[(levels as usize).min(MULTIPLIERS.len() - 1)];
    if levels as usize >= MULTIPLIERS.len() {
        notes.push(format!("{levels} levels of Karatsuba: taken as 4, the most that were synthesised"));
    }
    let (time, needed) = (period_ps * spec.latency() as f64, block.delay_ps.unwrap_or_default() + REGISTER_OVERHEAD_PS);
    if time < needed {
        notes.push(format!("a {} takes {needed:.0} ps, and its {time:.0} ps at this clock do not hold it", block.name));
    }
    (block.kge, block.energy_pj.unwrap_or_default())
}

/// A digit-serial multiplier: a step, its accumulator, and a reduction within each step. Between figures the area is interpolated.
fn digits(spec: &MultiplierSpec, notes: &mut Vec<String>) -> (f64, Interval) {
    let bits = spec.digit_bits;
    let above = DIGIT_STEPS.iter().find(|(known, _)| *known >= bits);
    let below = DIGIT_STEPS.iter().rfind(|(known, _)| *known <= bits);
    let kge = match (below, above) {
        (Some((low, one)), Some((high, other))) if high > low => {
            let part = f64::from(bits - low) / f64::from(high - low);
            one.kge + (other.kge - one.kge) * part
        }
        (Some((_, one)), _) | (None, Some((_, one))) => one.kge * (f64::from(bits) / 64.0).max(1.0),
        (None, None) => 0.0,
    };
    if bits > 64 {
        notes.push(format!(
            "digits of {bits} bits: the step of 64 bits, the widest that was synthesised, in proportion"
        ));
    }
    // Energy goes with the bits that a step takes; below 8 bits none was noted.
    let (known, step) = below.filter(|(_, step)| step.energy_pj.is_some()).copied().unwrap_or(DIGIT_STEPS[2]);
    if bits < known {
        notes.push(format!(
            "digits of {bits} bits: energy in proportion to the step of 8 bits, the narrowest that was noted"
        ));
    }
    let per_step = step.energy_pj.unwrap_or_default() * (f64::from(bits) / f64::from(known));
    (kge, per_step * 128_u32.div_ceil(bits).into())
}

/// Levels of Karatsuba.
const fn levels(spec: &MultiplierSpec) -> u32 {
    match spec.structure {
        Structure::Schoolbook => 0,
        Structure::Karatsuba { levels } => levels,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Cycles;

    fn spec(lanes: u32, registers_per_round: u32, ghash: GhashSpec) -> EngineSpec {
        let aes = AesSpec {
            lanes,
            rounds_in_hardware: 14,
            registers_per_round,
            start_interval: Cycles(1),
            keystream_blocks: 1,
        };
        EngineSpec { aes, ghash, ..EngineSpec::four_lanes() }
    }

    fn serial(product: u64, digit_bits: u32) -> GhashSpec {
        let EngineSpec { ghash: GhashSpec::Aggregated { mut multiplier, .. }, .. } = EngineSpec::four_lanes() else {
            unreachable!("the engine for tests is an aggregated one")
        };
        (multiplier.product, multiplier.reduction, multiplier.digit_bits) = (Cycles(product), Cycles(0), digit_bits);
        GhashSpec::Serial { multiplier, first_block: None }
    }

    const GIGAHERTZ: Frequency = Frequency(1_000_000_000);

    /// 14 rounds and 3,840 flip-flops were stated as 4.9k and 9.9k um2, 85 and 169 kGE, for one lane with a register per round; in
    /// whole kGE, so within half of one.
    #[test]
    fn an_unrolled_lane_has_the_stated_area() {
        let cost = engine(&spec(1, 1, serial(4, 128)), GIGAHERTZ);
        let keystream = flip_flops(128.0);
        assert!((cost.aes_kge.low - keystream - 85.0).abs() < 0.5, "{:?}", cost.aes_kge);
        assert!((cost.aes_kge.high - keystream - 169.0).abs() < 0.5, "{:?}", cost.aes_kge);
        assert!(cost.notes.is_empty(), "{:?}", cost.notes);
    }

    /// 14 x (2.1 to 3.9) + 2.5 pJ were stated as 32 to 57 pJ per block at a clock that needs the fast round.
    #[test]
    fn a_block_of_aes_takes_the_stated_energy() {
        let cost = engine(&spec(1, 1, serial(4, 128)), Frequency(2_000_000_000));
        let block = cost.aes_pj_per_byte * 16.0;
        assert!((block.low - 32.0).abs() < 0.5 && (block.high - 57.0).abs() < 0.5, "{block:?}");
        assert_eq!(cost.aes_kge.low, cost.aes_kge.high);
    }

    #[test]
    fn a_clock_beyond_the_fastest_round_is_noted_and_a_slower_one_is_not() {
        let at = |hertz| engine(&spec(1, 1, serial(4, 128)), Frequency(hertz)).notes;
        let limit = 1e12 / (FAST_ROUND.delay_ps.unwrap() + REGISTER_OVERHEAD_PS);
        assert!(at(limit as u64 - 1).is_empty());
        assert_eq!(at(limit as u64 + 1).len(), 1);
    }

    #[test]
    fn a_multiplier_that_does_not_settle_in_its_cycles_is_noted() {
        let at = |product| engine(&spec(1, 2, serial(product, 128)), Frequency(3_000_000_000)).notes.len();
        assert_eq!((at(1), at(2)), (1, 0));
    }

    #[test]
    fn digits_of_synthesised_widths_cost_their_figure_and_others_lie_between_or_are_noted() {
        let ghash = |bits: u32| {
            let cost = engine(&spec(1, 2, serial(128_u64.div_ceil(bits.into()), bits)), GIGAHERTZ);
            let registers = flip_flops(MULTIPLIER_STAGE_BITS * 128.0_f64.div_euclid(bits.into()).max(1.0) + 256.0);
            (cost.ghash_kge.low - registers, cost.notes)
        };
        for (bits, step) in DIGIT_STEPS {
            let (kge, notes) = ghash(bits);
            assert!((kge - step.kge).abs() < 1e-9, "{bits} bits: {kge}");
            assert_eq!(notes.is_empty(), bits >= 8, "{bits} bits: {notes:?}");
        }
        assert!(ghash(96).1.iter().any(|note| note.contains("96 bits")));
    }

    #[test]
    fn levels_of_karatsuba_cost_their_figure() {
        let GhashSpec::Serial { multiplier, .. } = serial(4, 128) else { return };
        let kge = |structure| {
            let multiplier = MultiplierSpec { structure, ..multiplier.clone() };
            engine(&spec(1, 1, GhashSpec::Serial { multiplier, first_block: None }), GIGAHERTZ).ghash_kge.low
        };
        for levels in 1..5_u32 {
            let saved = kge(Structure::Schoolbook) - kge(Structure::Karatsuba { levels });
            assert!((saved - (MULTIPLIERS[0].kge - MULTIPLIERS[levels as usize].kge)).abs() < 1e-9, "{levels} levels");
        }
    }

    #[test]
    fn several_units_cost_their_sum_and_their_buffers() {
        let unit = || Box::new(serial(4, 128));
        let kge = |ghash| engine(&spec(1, 1, ghash), GIGAHERTZ).ghash_kge;
        let one = kge(serial(4, 128)).low;
        let parallel = kge(GhashSpec::MessageParallel { units: 3, ports: 4, buffer: 100, unit: unit() });
        let buffers = storage(4800).sram_kge;
        assert!((parallel.low - 3.0 * one - buffers.low).abs() < 1e-9);
        assert!((parallel.high - 3.0 * one - buffers.high).abs() < 1e-9);
        let segmented = kge(GhashSpec::Segmented { units: 3, segment: 64, ports: 4, buffer: 100, unit: unit() });
        assert!(segmented.low > parallel.low + 4.0 * MULTIPLIERS[0].kge);
    }

    #[test]
    fn a_folded_unit_spends_a_product_more_per_group() {
        let GhashSpec::Serial { multiplier, .. } = serial(4, 128) else { return };
        let fold = |powers| {
            let ghash = GhashSpec::Folded { powers, fold: Cycles(2), multiplier: multiplier.clone() };
            engine(&spec(1, 1, ghash), GIGAHERTZ).ghash_pj_per_byte.low
        };
        assert!((fold(4) / fold(16) - (5.0 / 4.0) / (17.0 / 16.0)).abs() < 1e-9);
    }
}
