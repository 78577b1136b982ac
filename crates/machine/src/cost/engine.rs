//! Area and energy of an engine.
//!
//! | part | area | energy per block |
//! | --- | --- | --- |
//! | lane | [`super::parts::lane`] | rounds x round, and the clock of the state's registers |
//! | GHASH unit | [`super::parts::ghash`] | per product, 128/d steps for digits of d bits |
//! | several GHASH units | each as alone; the table of weights with its multiplier and a weighting multiplier per unit, where segments are weighted | as alone; half of a position's bits in products per segment |
//! | input buffers | as [storage](super::storage) in SRAM | not counted |
//! | a state of AEGIS | a round and 128 flip-flops for each of its blocks, and as many flip-flops more behind each further cycle of a round; key and nonce in flip-flops | its rounds per update, and the clock of the state |
//! | keystream and control | [`super::control`] | not counted |
//! | round keys that are made with the rounds | [`RoundKeys`] | not counted |
//!
//! S-boxes are the compact ones where they close at the clock, or are marginal where those from the table are too; where both close, the interval spans both.

use super::clock::{self, Sboxes};
use super::library::Block;
use super::parts::{self, PLAIN, Part, Path, RoundKeys};
use super::technology::{COMPACT_ROUND_PJ, FLIP_FLOP_PJ, PRODUCTS_PJ, STEPS_PJ, SYNTHESIS_SPREAD, TABLE_ROUND_PJ};
use super::{Interval, Library, storage};
use crate::aead::model::Hardware;
use crate::gcm::spec::{AesSpec, GhashSpec, MultiplierSpec};
use crate::gcm::structure::Structure;
use crate::units::Frequency;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EngineCost {
    /// Area of the AES lanes; of AEGIS, all of it.
    pub aes_kge: Interval,
    /// Area of the GHASH unit, with its powers of H.
    pub ghash_kge: Interval,
    /// Area of keystream, selects and counters.
    pub control_kge: Interval,
    pub area_kge: Interval,
    /// Energy per byte of text, AES.
    pub aes_pj_per_byte: Interval,
    /// Energy per byte of text, GHASH.
    pub ghash_pj_per_byte: Interval,
    pub pj_per_byte: Interval,
    /// What lies outside of the range that a figure was made for.
    pub notes: Vec<String>,
    /// The rows of `rtl/results.toml` that the areas are made of.
    pub rows: Vec<Block>,
}

/// The cost of an engine that runs at `clock`, or why there is none. The engine's specification has been checked.
pub fn engine(hardware: &Hardware, clock: Frequency) -> Result<EngineCost, &'static str> {
    built(hardware, clock::sboxes(hardware, clock, Library::shipped()).unwrap_or(Sboxes::Either))
}

/// The cost of an engine that is built with these S-boxes.
pub fn built(hardware: &Hardware, sboxes: Sboxes) -> Result<EngineCost, &'static str> {
    let mut sum = Sum { sboxes, notes: Vec::new(), rows: Vec::new() };
    match hardware {
        // Beside them the buffer in which a message waits for its second pass.
        Hardware::Lanes { aes, rounds, ghash, buffer, expansion, narrow, control } => {
            let (mut kge, pj) = sum.aes(aes, *rounds, (RoundKeys::of(aes, *rounds, *expansion), *narrow));
            let ghash = sum.ghash(ghash);
            if let Some(buffer) = buffer {
                sum.notes.push(format!(
                    "the {buffer} in which a message waits for its tag is taken as SRAM; its energy is not counted"
                ));
                kge = kge + storage(buffer.0).sram_kge;
            }
            let control = sum.area(&super::control::control(aes, *rounds, control.as_deref(), Library::shipped()));
            Ok(sum.whole((kge, pj), ghash, control))
        }
        // All lanes, whose states are cipher and authenticator in one.
        Hardware::State { rounds, lanes, blocks, words, round, held_bits } => {
            let (area, energy) = sum.sboxes(rounds, 1, PLAIN);
            let state_bits = 128.0 * f64::from(*blocks) * round.0.max(1) as f64;
            let lane = area * f64::from(*blocks) + Interval::exact(flip_flops(state_bits));
            let kge = lane * f64::from(*lanes) + Interval::exact(flip_flops(f64::from(*held_bits)));
            let update = energy * f64::from(*blocks) + Interval::exact(FLIP_FLOP_PJ * state_bits);
            Ok(sum.whole((kge, update * (1.0 / f64::from(*words))), Default::default(), Interval::default()))
        }
        Hardware::Unknown(why) => Err(why),
    }
}

/// A block of logic as synthesis finds it.
fn synthesised(kge: f64) -> Interval {
    Interval::around(kge, SYNTHESIS_SPREAD)
}

fn flip_flops(bits: f64) -> f64 {
    Library::shipped().flip_flops(bits)
}

/// The parts of an engine, added up.
struct Sum {
    sboxes: Sboxes,
    notes: Vec<String>,
    rows: Vec<Block>,
}

impl Sum {
    /// From areas of AES and GHASH, and energies of a block of 16 bytes.
    fn whole(mut self, aes: (Interval, Interval), ghash: (Interval, Interval), control: Interval) -> EngineCost {
        self.notes.dedup();
        let [aes_pj_per_byte, ghash_pj_per_byte] = [aes.1, ghash.1].map(|block| block * (1.0 / 16.0));
        EngineCost {
            aes_kge: aes.0,
            ghash_kge: ghash.0,
            control_kge: control,
            area_kge: aes.0 + ghash.0 + control,
            aes_pj_per_byte,
            ghash_pj_per_byte,
            pj_per_byte: aes_pj_per_byte + ghash_pj_per_byte,
            notes: self.notes,
            rows: self.rows,
        }
    }

    /// The part's logic, whose rows are noted.
    fn part(&mut self, part: &Part) -> f64 {
        for row in &part.rows {
            if !self.rows.contains(row) {
                self.rows.push(*row);
            }
        }
        part.logic_kge
    }

    /// Logic and energy per round with the S-boxes.
    fn sboxes(&mut self, spec: &AesSpec, rounds: u32, path: Path) -> (Interval, Interval) {
        let sboxes = self.sboxes;
        let mut with = |compact, round_pj| {
            (synthesised(self.part(&parts::lane(spec, rounds, path, compact, Library::shipped()))), round_pj)
        };
        match sboxes {
            Sboxes::Table => with(false, TABLE_ROUND_PJ),
            Sboxes::Compact => with(true, COMPACT_ROUND_PJ),
            Sboxes::Either => {
                let (fast, slow) = (with(false, TABLE_ROUND_PJ), with(true, COMPACT_ROUND_PJ));
                (fast.0.hull(slow.0), fast.1.hull(slow.1))
            }
        }
    }

    /// Area of all lanes, and energy per block.
    fn aes(&mut self, spec: &AesSpec, rounds: u32, path: Path) -> (Interval, Interval) {
        let (logic, round_pj) = self.sboxes(spec, rounds, path);
        let lane =
            logic + Interval::exact(flip_flops(parts::lane(spec, rounds, path, false, Library::shipped()).flip_flops));
        // States are clocked in each pass, or each of its cycles, the counter once.
        let clocks = spec.passes(rounds) * path.1.map_or(1, |path| path.cycles);
        let clocked = 128.0 + (parts::state_bits(spec, rounds) - 128.0) * f64::from(clocks);
        let energy = round_pj * f64::from(rounds) + Interval::exact(FLIP_FLOP_PJ * clocked);
        (lane * f64::from(spec.lanes), energy)
    }

    /// Area of all units, and energy per block.
    fn ghash(&mut self, spec: &GhashSpec) -> (Interval, Interval) {
        let Some((count, buffer, unit)) = compound(spec) else { return self.one_ghash(spec) };
        let (kge, energy) = self.one_ghash(unit);
        let buffers = storage(16 * u64::from(count) * u64::from(buffer)).sram_kge;
        let mut whole = (kge * f64::from(count) + buffers, energy);
        if let GhashSpec::Segmented { segment, .. } = spec {
            let weighting = self.area(&parts::multiplier(unit.multiplier(), Library::shipped()));
            let weights = f64::from(33 - segment.ilog2());
            let table = Interval::exact(flip_flops(128.0 * (weights + 1.0)));
            let extra = weighting * f64::from(count + 1) + table;
            whole = (whole.0 + extra, whole.1 * (1.0 + weights / 2.0 / f64::from(*segment)));
        }
        whole
    }

    /// A part's area, flip-flops included.
    fn area(&mut self, part: &Part) -> Interval {
        synthesised(self.part(part)) + Interval::exact(flip_flops(part.flip_flops))
    }

    /// Area of one unit, and energy per block.
    fn one_ghash(&mut self, spec: &GhashSpec) -> (Interval, Interval) {
        let kge = self.area(&parts::ghash(spec, Library::shipped()));
        let energy = self.product(spec.multiplier());
        match spec {
            GhashSpec::Serial { first_block: Some(_), .. } => {
                self.notes.push(
                    "a first block that takes longer is that of a masked engine: its shares are not counted".to_owned(),
                );
                (kge, energy)
            }
            // With one operand fixed over a message three quarters of the energy were measured.
            GhashSpec::Serial { .. } | GhashSpec::Interleaved { .. } => {
                (kge, Interval::new(energy.low * 0.75, energy.high))
            }
            GhashSpec::Folded { powers, .. } => (kge, energy * (f64::from(powers + 1) / f64::from(*powers))),
            _ => (kge, energy),
        }
    }

    fn product(&mut self, spec: &MultiplierSpec) -> Interval {
        if spec.digit_bits < 128 {
            return self.steps(spec.digit_bits);
        }
        if let Structure::Karatsuba { levels } = spec.structure
            && levels > parts::MOST_LEVELS
        {
            self.notes.push(format!("{levels} levels of Karatsuba: taken as 4, the most that were synthesised"));
        }
        PRODUCTS_PJ[parts::levels(spec) as usize]
    }

    /// Energy of the steps of a digit-serial multiplier: it goes with the bits that a step takes.
    fn steps(&mut self, bits: u32) -> Interval {
        if bits > 64 {
            self.notes
                .push(format!("digits of {bits} bits: beyond those of 64 bits, the widest that were synthesised"));
        }
        let (known, step) = STEPS_PJ.iter().rfind(|(known, _)| *known <= bits).unwrap_or(&STEPS_PJ[0]);
        if bits < *known {
            self.notes.push(format!(
                "digits of {bits} bits: energy in proportion to the step of 8 bits, the narrowest that was noted"
            ));
        }
        *step * (f64::from(bits) / f64::from(*known)) * 128_u32.div_ceil(bits).into()
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aead::model::Model;
    use crate::config::Layers;
    use crate::gcm::spec::{Closing, GcmSpec};
    use crate::units::Cycles;

    fn engine(spec: &GcmSpec, clock: Frequency) -> EngineCost {
        super::engine(&spec.hardware(), clock).unwrap()
    }

    fn spec(lanes: u32, registers_per_round: u32, ghash: GhashSpec) -> GcmSpec {
        let aes = AesSpec {
            lanes,
            rounds_in_hardware: 14,
            registers_per_round,
            start_interval: Cycles(1),
            keystream_blocks: 1,
        };
        GcmSpec { aes, ghash, ..GcmSpec::four_lanes() }
    }

    /// A multiplier whose product takes so many cycles, its reduction none.
    fn product_in(product: u64, digit_bits: u32) -> MultiplierSpec {
        let reduction = Cycles(0);
        MultiplierSpec {
            product: Cycles(product),
            reduction,
            digit_bits,
            ..GcmSpec::four_lanes().ghash.multiplier().clone()
        }
    }

    fn serial(product: u64, digit_bits: u32) -> GhashSpec {
        GhashSpec::Serial { multiplier: product_in(product, digit_bits), first_block: None }
    }

    const GIGAHERTZ: Frequency = Frequency(1_000_000_000);

    /// Logic of a row.
    fn row(block: Block) -> f64 {
        Library::shipped().row(block).unwrap().logic_kge
    }

    #[test]
    fn an_engine_costs_the_rows_that_it_names() {
        let cost = engine(&spec(1, 1, serial(1, 128)), Frequency(1_755_000_000));
        let ghash = row(Block::Serial { levels: 0, product: 1, reduction: 0 });
        assert!((cost.ghash_kge.middle() - ghash - flip_flops(256.0)).abs() < 1e-9);
        let [two, four] = [2, 4].map(|rounds| row(Block::Lane { rounds, registers: 1, compact: 0 }));
        // Fourteen rounds, their registers and keys, the counter's state.
        let lane = two + 6.0 * (four - two) + flip_flops(128.0 * (14.0 + 15.0 + 1.0));
        assert!((cost.aes_kge.middle() - lane).abs() < 1e-9);
        for name in ["lane rounds=2 registers=1 compact=0", "serial levels=0 product=1 reduction=0"] {
            assert!(cost.rows.iter().any(|row| row.to_string() == name), "{:?}", cost.rows);
        }
    }

    #[test]
    fn both_s_boxes_are_in_the_interval_where_both_close() {
        let table = |hertz| engine(&spec(1, 1, serial(2, 128)), Frequency(hertz)).aes_kge;
        let (slow, fast) = (table(200_000_000), table(1_755_000_000));
        assert!(slow.low < 0.7 * fast.low && slow.high == fast.high, "{slow:?} {fast:?}");
    }

    /// 14 x (2.1 to 3.9) and 2,048 flip-flops at 1.3 fJ.
    #[test]
    fn a_block_of_aes_takes_the_energy_of_its_rounds_and_registers() {
        let block = engine(&spec(1, 1, serial(4, 128)), Frequency(2_000_000_000)).aes_pj_per_byte * 16.0;
        let state = 15.0 * 128.0 * 0.0013;
        assert!((block.low - 29.4 - state).abs() < 1e-9 && (block.high - 54.6 - state).abs() < 1e-9, "{block:?}");
    }

    #[test]
    fn a_multiplier_with_one_power_takes_three_quarters_at_least() {
        let all = |ghash| engine(&spec(1, 1, ghash), GIGAHERTZ).ghash_pj_per_byte;
        let several = all(GhashSpec::Aggregated { width: 4, groups: 4, multiplier: product_in(4, 128) });
        let one = all(serial(4, 128));
        assert!((one.low / several.low - 0.75).abs() < 1e-9 && one.high == several.high);
    }

    #[test]
    fn no_area_is_without_a_width() {
        let multiplier = product_in(4, 128);
        let aggregated = GhashSpec::Aggregated { width: 4, groups: 4, multiplier };
        for (ghash, hertz) in [(serial(4, 128), 1_000_000_000), (aggregated, 1_755_000_000)] {
            let cost = engine(&spec(4, 1, ghash), Frequency(hertz));
            for area in [cost.aes_kge, cost.ghash_kge] {
                assert!(area.high > area.low * 1.05, "{area:?}");
            }
        }
    }

    #[test]
    fn other_aeads_cost_the_parts_that_they_share_with_gcm_or_say_why_not() {
        let hardware = |name: &str| Layers::new(name).resolve_standalone().unwrap().model().hardware();
        let cost = |name: &str| super::engine(&hardware(name), GIGAHERTZ);
        let gcm = cost("h100-nvl-tdx").unwrap();
        let siv = cost("gcm-siv").unwrap();
        assert_eq!((siv.pj_per_byte, siv.ghash_kge), (gcm.pj_per_byte, gcm.ghash_kge));
        assert_eq!(siv.aes_kge, gcm.aes_kge + storage(1 << 20).sram_kge);
        assert_eq!(siv.notes.len(), 1);
        let timing = clock::engine(&hardware("gcm-siv"), GIGAHERTZ, Library::shipped());
        assert_eq!(timing.map(|timing| timing.stages.len()), Some(2));
        // Six rounds of 16 bytes per lane, against fourteen and a product.
        let (one, four) = (cost("aegis-256").unwrap(), cost("aegis-256x4").unwrap());
        let shared = flip_flops(512.0);
        assert!(((four.area_kge.low - shared) / (one.area_kge.low - shared) - 4.0).abs() < 1e-9);
        assert_eq!(one.pj_per_byte, four.pj_per_byte);
        assert!(four.area_kge.high < gcm.area_kge.low);
        assert!(cost("chacha20-poly1305").unwrap_err().contains("no published figure"));
    }

    #[test]
    fn digits_cost_their_rows_and_those_beyond_are_noted() {
        let ghash = |bits: u32| {
            let cost = engine(&spec(1, 2, serial(128_u64.div_ceil(bits.into()), bits)), Frequency(100_000_000));
            (cost.ghash_kge.middle(), cost.notes)
        };
        for bits in [1, 8, 64] {
            let (kge, notes) = ghash(bits);
            let known = Library::shipped().row(Block::Digit { d: bits }).unwrap();
            // H and the accumulator are the multiplier's own registers.
            let registers = f64::from(known.flip_flops) + f64::from(128_u32.div_ceil(bits) - 1);
            assert!((kge - known.logic_kge - flip_flops(registers)).abs() < 1e-9, "{bits} bits: {kge}");
            assert_eq!(notes.is_empty(), bits >= 8, "{bits} bits: {notes:?}");
        }
        assert!(ghash(96).1.iter().any(|note| note.contains("96 bits")));
    }

    #[test]
    fn several_units_cost_their_sum_and_their_buffers() {
        let unit = || Box::new(serial(4, 128));
        let kge = |ghash| engine(&spec(1, 1, ghash), GIGAHERTZ).ghash_kge;
        let one = kge(serial(4, 128));
        let parallel = kge(GhashSpec::MessageParallel { units: 3, ports: 4, buffer: 100, unit: unit() });
        let buffers = storage(4800).sram_kge;
        assert!((parallel.low - 3.0 * one.low - buffers.low).abs() < 1e-9);
        assert!((parallel.high - 3.0 * one.high - buffers.high).abs() < 1e-9);
        let segmented = kge(GhashSpec::Segmented { units: 3, segment: 64, ports: 4, buffer: 100, unit: unit() });
        let product = row(Block::Serial { levels: 0, product: 1, reduction: 0 });
        assert!(segmented.low > parallel.low + 4.0 * product * (1.0 - SYNTHESIS_SPREAD));
    }

    #[test]
    fn a_folded_unit_spends_a_product_more_per_group() {
        let multiplier = product_in(4, 128);
        let fold = |powers| {
            let ghash = GhashSpec::Folded { powers, fold: Cycles(2), multiplier: multiplier.clone() };
            engine(&spec(1, 1, ghash), GIGAHERTZ).ghash_pj_per_byte.low
        };
        assert!((fold(4) / fold(16) - (5.0 / 4.0) / (17.0 / 16.0)).abs() < 1e-9);
        let ghash = GhashSpec::Interleaved { ways: 4, multipliers: 1, closing: Closing::LookAhead, multiplier };
        assert!(
            engine(&spec(1, 1, ghash), GIGAHERTZ).ghash_kge.low
                > engine(&spec(1, 1, serial(4, 128)), GIGAHERTZ).ghash_kge.low
        );
    }
}
