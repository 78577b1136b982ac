//! Parts of an engine from rows of `rtl/results.toml`: what a row says, and the rule between rows.
//!
//! | part | logic | delay from flip-flop to flip-flop |
//! | --- | --- | --- |
//! | multiplier, serial GHASH | the row of its levels, or of the most below that the library has; cuts do not change it | the shortest row of its levels with no more registers than it has: a register too many never hurts |
//! | digit-serial multiplier | between the rows of 1, 8 and 64 bits, by bits; in serial GHASH its operand is H, its product the accumulator | between them, by the logarithm of bits |
//! | several multipliers (`aggregated`) | a plane in lanes and lanes x groups through three rows; other levels by the difference of serial rows | the row of four lanes and groups with this cut or the nearest, longer by what serial rows differ for cut and levels, and by the logarithm of powers for each multiplier through 4 and 8; widths do not change it |
//! | `interleaved`, `folded` | multipliers as alone, and the select of an aggregated lane for each power | as `aggregated` |
//! | AES lane | a line in rounds through 2 and 4; several passes: besides, the select of state and round keys of the iterative row, or a [key schedule](RoundKeys) | the row of four rounds, or of two with a register within each; none: a line in rounds; several passes: longer by what the iterative row is |
//! | tag queue | between the rows of 4, 8 and 16 messages, by messages | by the logarithm of messages |
//!
//! Flip-flops are counted, not fitted: they are those of the RTL's registers, and tests count every row.

use super::library::{Block, Delay, Library, Row};
use crate::aead::model::Narrow;
use crate::gcm::spec::{AesSpec, GhashSpec, MultiplierSpec};
use crate::gcm::structure::Structure;

/// What a part of an engine takes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Part {
    pub logic_kge: f64,
    pub flip_flops: f64,
    pub delay: Delay,
    /// The rows that it is made of.
    pub rows: Vec<Block>,
}

impl Part {
    /// The same part so many times.
    fn times(mut self, count: f64) -> Self {
        self.logic_kge *= count;
        self.flip_flops *= count;
        self
    }

    pub fn kge(&self, library: &Library) -> f64 {
        self.logic_kge + library.flip_flops(self.flip_flops)
    }
}

/// Registers of a product beyond its operands' sources and the accumulator: cycles of product and reduction.
pub type Cut = (u64, u64);

/// Cuts of a product that were synthesised, the fewest cycles first.
pub const CUTS: [Cut; 5] = [(1, 0), (1, 1), (2, 0), (2, 1), (3, 1)];

/// Of several multipliers: no other cut was synthesised with their select and sum.
const AGGREGATED: [Cut; 3] = [(1, 1), (2, 1), (2, 2)];

/// The most registers with which several multipliers were synthesised.
pub const AGGREGATED_MOST: Cut = AGGREGATED[2];

/// Levels of Karatsuba that were synthesised.
pub const MOST_LEVELS: u32 = 4;

const DIGITS: [u32; 3] = [1, 8, 64];
const DEPTHS: [u32; 3] = [4, 8, 16];

/// Takes rows from a library and notes which.
struct Rows<'a> {
    library: &'a Library,
    used: Vec<Block>,
}

impl<'a> Rows<'a> {
    fn of(library: &'a Library) -> Self {
        Self { library, used: Vec::new() }
    }

    /// A row, or nothing's: a test asks each library for all rows that are used.
    fn row(&mut self, block: Block) -> Row {
        if !self.used.contains(&block) {
            self.used.push(block);
        }
        let none = Row { block, logic_kge: 0.0, flip_flops: 0, kge: 0.0, delay: Delay::default() };
        self.library.row(block).copied().unwrap_or(none)
    }

    fn part(self, logic_kge: f64, flip_flops: f64, delay: Delay) -> Part {
        Part { logic_kge, flip_flops, delay, rows: self.used }
    }

    /// Logic and delay between rows at `known`, or beyond: logic by the value itself, delay by its logarithm.
    fn between(&mut self, known: &[u32; 3], value: u32, block: impl Fn(u32) -> Block) -> (f64, Delay) {
        let [low, high] = if value <= known[1] { [known[0], known[1]] } else { [known[1], known[2]] };
        let (from, to) = (self.row(block(low)), self.row(block(high)));
        let (value, low, high) = (f64::from(value), f64::from(low), f64::from(high));
        let part = (value - low) / (high - low);
        let logic = from.logic_kge + (to.logic_kge - from.logic_kge) * part;
        (logic, from.delay.towards(to.delay, (value / low).log2() / (high / low).log2()))
    }

    /// The shortest delay of a serial unit with these registers or fewer.
    fn serial(&mut self, levels: u32, (product, reduction): Cut) -> Delay {
        let fits = CUTS.iter().filter(|cut| cut.0 <= product && cut.1 <= reduction);
        let blocks = fits.map(|cut| Block::Serial { levels, product: cut.0, reduction: cut.1 });
        self.shortest(blocks.collect())
    }

    /// The shortest delay of several rows; only those that set it are noted.
    fn shortest(&mut self, blocks: Vec<Block>) -> Delay {
        let found: Vec<Row> = blocks.iter().filter_map(|block| self.library.row(*block).copied()).collect();
        let least = found.iter().map(|row| row.delay).reduce(Delay::least).unwrap_or_default();
        let sets = |row: &&Row| row.delay.ps <= least.ps || row.delay.ps_wired <= least.ps_wired;
        for row in found.iter().filter(sets) {
            self.row(row.block);
        }
        least
    }

    /// The delay of multipliers that share operands and sum, each with a select of so many powers.
    fn aggregated(&mut self, levels: u32, cut: Cut, select: f64) -> Delay {
        let fits = |known: &&Cut| known.0 <= cut.0 && known.1 <= cut.1;
        let mut known: Vec<Cut> = AGGREGATED.iter().filter(fits).copied().collect();
        if known.is_empty() {
            known.push(AGGREGATED[0]);
        }
        let own = self.serial(levels, cut);
        let delays = known.into_iter().map(|(product, reduction)| {
            let row = self.row(Block::Aggregated { w: 4, g: 4, levels: 0, product, reduction });
            row.delay.lengthened(self.serial(0, (product, reduction)), own)
        });
        let delay = delays.reduce(Delay::least).unwrap_or_default();
        let [four, eight] =
            [4, 8].map(|g| self.row(Block::Aggregated { w: 4, g, levels: 0, product: 2, reduction: 2 }).delay);
        delay.lengthened(four, four.towards(eight, (select / 4.0).log2().max(0.0)))
    }
}

/// Levels of Karatsuba of a multiplier, of those that were synthesised in any library.
pub fn levels(spec: &MultiplierSpec) -> u32 {
    match spec.structure {
        Structure::Schoolbook => 0,
        Structure::Karatsuba { levels } => levels.min(MOST_LEVELS),
    }
}

/// The most of these that this library has rows of.
fn levels_in(spec: &MultiplierSpec, library: &Library) -> u32 {
    let known = |levels: &u32| library.row(Block::Serial { levels: *levels, product: 1, reduction: 0 }).is_some();
    (0..=levels(spec)).rev().find(known).unwrap_or(0)
}

/// Registers of a multiplier as the RTL names them: with no cycle of product, the first one of its reduction is the product's.
pub fn cut(spec: &MultiplierSpec) -> Cut {
    match (spec.product.0, spec.reduction.0) {
        (0, reduction) => (1, reduction.saturating_sub(1)),
        cut => cut,
    }
}

/// Flip-flops within a multiplier with these registers, and those before its reduction: operands, partial products, product; sum.
fn pipeline_bits(levels: u32, (product, reduction): Cut) -> [f64; 2] {
    let partial = if levels == 0 { 508 } else { 381 };
    let behind = product.min(1).min(reduction) + product.saturating_sub(3);
    let within = 256 * u64::from(product > 1) + partial * u64::from(product > 2) + 255 * behind;
    [within, 255 * reduction.saturating_sub(1)].map(|bits| bits as f64)
}

/// A multiplier, its pipeline registers included; of one that takes digits, its operands' too.
pub fn multiplier(spec: &MultiplierSpec, library: &Library) -> Part {
    let mut rows = Rows::of(library);
    if spec.digit_bits < 128 {
        let (logic, delay) = rows.between(&DIGITS, spec.digit_bits, |d| Block::Digit { d });
        // What a step does not take at once; more cycles than steps are registers behind.
        let left = u64::from(spec.digit_bits) * (spec.interval() - 1);
        let behind = 128 * spec.latency().saturating_sub(spec.interval());
        return rows.part(logic, (256 + left + behind) as f64, delay);
    }
    let levels = levels_in(spec, library);
    let row = rows.row(Block::Serial { levels, product: 1, reduction: 0 });
    let delay = rows.serial(levels, cut(spec));
    rows.part(row.logic_kge, pipeline_bits(levels, cut(spec)).iter().sum(), delay)
}

/// A GHASH unit that takes a message by itself, or one of several.
pub fn ghash(spec: &GhashSpec, library: &Library) -> Part {
    let one = multiplier(spec.multiplier(), library);
    let digits = spec.multiplier().digit_bits < 128;
    // Multipliers, powers, accumulators, registers between a product and its state.
    let (multipliers, powers, accumulators, fold) = match spec {
        GhashSpec::Serial { .. } => (1, 1, 1, 0),
        GhashSpec::Interleaved { ways, multipliers, .. } => (*multipliers, *ways, *ways, 0),
        GhashSpec::Aggregated { width, groups, .. } => (*width, width * groups, *groups, 0),
        // Powers are stored twice, with the groups' sums.
        GhashSpec::Folded { powers, fold, .. } => (1, *powers, 2, fold.0),
        GhashSpec::Segmented { unit, .. }
        | GhashSpec::MessageParallel { unit, .. }
        | GhashSpec::SubChains { unit, .. } => return ghash(unit, library),
    };
    // Of a serial unit the digit-serial multiplier's operand is H and its product the accumulator.
    let own = if digits && matches!(spec, GhashSpec::Serial { .. }) { 2 } else { 0 };
    let state = 128.0 * (f64::from(powers + accumulators - own) + fold as f64);
    let flight = control_bits(spec);
    let mut part = one.times(multipliers.into());
    part.flip_flops += state + flight;
    if let GhashSpec::Aggregated { width, multiplier, .. } = spec
        && !digits
    {
        // One sum and one reduction for all lanes.
        part.flip_flops -= f64::from(width - 1) * pipeline_bits(0, cut(multiplier))[1];
    }
    if !matches!(spec, GhashSpec::Serial { .. }) {
        let mut rows = Rows::of(library);
        let plane = plane(&mut rows);
        part.logic_kge = match spec {
            GhashSpec::Aggregated { width, groups, .. } if !digits => {
                let (mut lanes, levels) = (plane.lane * f64::from(*width), levels_in(spec.multiplier(), library));
                if levels > 0 {
                    let school = rows.row(Block::Serial { levels: 0, product: 1, reduction: 0 }).logic_kge;
                    let own = rows.row(Block::Serial { levels, product: 1, reduction: 0 }).logic_kge;
                    lanes += (own - school) * f64::from(*width);
                }
                plane.base + lanes + plane.select * f64::from(width * groups)
            }
            _ => part.logic_kge + plane.select * f64::from(powers),
        };
        if !digits {
            let select = f64::from(powers) / f64::from(multipliers);
            part.delay = rows.aggregated(levels_in(spec.multiplier(), library), cut(spec.multiplier()), select);
        }
        let known = part.rows.clone();
        part.rows.extend(rows.used.into_iter().filter(|row| !known.contains(row)));
    }
    part
}

/// Which accumulator each product in flight is for, and of groups the next one's number and place.
pub fn control_bits(spec: &GhashSpec) -> f64 {
    let stages = spec.multiplier().latency().saturating_sub(1) as f64;
    match spec {
        GhashSpec::Aggregated { groups, .. } => f64::from(*groups) * (stages + 2.0) + 32.0,
        GhashSpec::Interleaved { ways, .. } => f64::from(*ways) * (stages + 2.0) + 32.0,
        _ => stages,
    }
}

/// Logic of aggregated units: base, a lane, and the select of one group's power in one lane.
struct Plane {
    base: f64,
    lane: f64,
    select: f64,
}

fn plane(rows: &mut Rows<'_>) -> Plane {
    let mut logic = |w, g| rows.row(Block::Aggregated { w, g, levels: 0, product: 2, reduction: 2 }).logic_kge;
    let (one, four, eight) = (logic(1, 4), logic(4, 4), logic(4, 8));
    let select = (eight - four) / 16.0;
    let with_select = (four - one) / 3.0;
    Plane { base: one - with_select, lane: with_select - 4.0 * select, select }
}

/// How a lane comes by its round keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundKeys {
    /// All are in flip-flops, expanded before the first block; what expands them is not counted.
    Held,
    /// Each is made with its round from the key, which is kept.
    Made,
}

impl RoundKeys {
    /// A lane of one round uses one round key at a time. If the expansion has fewer cycles than there are round keys to make, they are made with the rounds.
    pub fn of(spec: &AesSpec, rounds: u32, expansion: u64) -> Self {
        let one = spec.rounds_in_hardware == 1 && rounds > 1;
        if one && expansion < rounds.into() { Self::Made } else { Self::Held }
    }
}

/// A lane's round keys, and its data path where that is narrower than the state.
pub type Path = (RoundKeys, Option<Narrow>);
pub const PLAIN: Path = (RoundKeys::Held, None);

/// XORs of MixColumns of a column.
const MIX_XORS: f64 = 108.0;

/// An AES lane with the compact S-box or the table, its state's registers and round keys included, for keys of so many rounds.
pub fn lane(spec: &AesSpec, rounds: u32, (keys, narrow): Path, compact: bool, library: &Library) -> Part {
    let mut rows = Rows::of(library);
    let compact = u32::from(compact);
    let in_hardware = spec.rounds_in_hardware.min(rounds);
    let registers = spec.registers_per_round.min(2);
    let line = |rows: &mut Rows<'_>, registers: u32| {
        let [two, four] = [2, 4].map(|rounds| rows.row(Block::Lane { rounds, registers, compact }));
        let part = f64::from(in_hardware) / 2.0 - 1.0;
        let logic = |from: &Row, to: &Row| from.logic_kge + (to.logic_kge - from.logic_kge) * part;
        ((logic(&two, &four), (four.logic_kge - two.logic_kge) / 2.0), two.delay.towards(four.delay, part))
    };
    let ((mut logic, round), mut delay) = line(&mut rows, u32::from(registers > 0));
    // The first of two rounds comes from ports: a whole round lies between registers only in the row of four.
    let one = Block::Lane { rounds: 4, registers: 1, compact };
    if registers > 0 {
        let cut = (registers > 1).then_some(Block::Lane { rounds: 2, registers: 2, compact });
        delay = rows.shortest(std::iter::once(one).chain(cut).collect());
    }
    if spec.passes(rounds) > 1 {
        // What one round of fourteen passes has beyond a round of a pipeline: the select of round keys, and of state or block.
        let (one, row) = (rows.row(one).delay, rows.row(Block::Iterative { rounds: 14, compact }));
        let (xor, select) = (library.xor_ge, library.select_ge);
        let sbox = (1000.0 * round - (4.0 * MIX_XORS + 128.0) * xor) / 16.0;
        let (bits, shared) = narrow.map_or((128.0, false), |path| (path.bits.into(), path.bits * path.cycles >= 160));
        if narrow.is_some() {
            // Whole columns are mixed, and the state is shifted or held.
            let xors = MIX_XORS * (bits / 32.0_f64).max(1.0) + bits;
            logic += (bits / 8.0 * sbox + xors * xor + 128.0 * select) / 1000.0 - round;
        }
        logic += match keys {
            RoundKeys::Held => (row.logic_kge - round) * f64::from(rounds) / 14.0 * bits / 128.0,
            RoundKeys::Made => {
                // Four S-boxes, fewer where a round has more cycles, none where the round's own have cycles left.
                let own = narrow.map_or(4, |path| 4_u32.div_ceil(path.cycles)) * u32::from(!shared);
                // State or block, columns mixed or not, the key or the round key before.
                let selects = 128.0 + bits + key_bits(rounds);
                (f64::from(own) * sbox + bits * xor + selects * select) / 1000.0
            }
        };
        delay = delay.lengthened(one, row.delay);
    }
    let held = match keys {
        RoundKeys::Held => 128.0 * f64::from(1 + rounds),
        RoundKeys::Made => 2.0 * key_bits(rounds),
    };
    rows.part(logic, state_bits(spec, rounds) + held, delay)
}

/// Flip-flops of a lane's counter and states.
pub fn state_bits(spec: &AesSpec, rounds: u32) -> f64 {
    let registers = spec.rounds_in_hardware.min(rounds) * spec.registers_per_round;
    128.0 * f64::from(1 + registers.max(1))
}

fn key_bits(rounds: u32) -> f64 {
    32.0 * f64::from(rounds.saturating_sub(6))
}

/// The control of a tag queue: order, verdicts, what may go on. Tags are storage.
pub fn tag_queue(depth: u32, skid: bool, library: &Library) -> Part {
    let mut rows = Rows::of(library);
    let (mut logic, mut delay) = rows.between(&DEPTHS, depth, |depth| Block::TagQueue { depth, skid: 0 });
    if skid {
        let [hold, skid] = [0, 4].map(|skid| rows.row(Block::TagQueue { depth: 8, skid }));
        logic += skid.logic_kge - hold.logic_kge;
        delay = delay.lengthened(hold.delay, skid.delay);
    }
    // Used, known, verdict and a count of four bits for each message, four pointers, and how many units are ahead.
    let pointer = depth.max(2).next_power_of_two().ilog2();
    rows.part(logic, f64::from(7 * depth + 4 * pointer + 3 * u32::from(skid)), delay)
}
