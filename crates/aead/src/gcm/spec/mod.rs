//! What an AES-GCM engine is built of.

mod families;

use super::control::ControlSpec;
use super::structure::{MOST_LEVELS, Structure};
use crate::units::{Bytes, Cycles};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// An AES-GCM engine: AES lanes in counter mode in front of a GHASH unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "EngineSpec")]
pub struct GcmSpec {
    /// Key size in bits: 128, 192 or 256.
    #[schemars(title = "key length (bits)")]
    pub key_bits: u32,
    /// The block cipher lanes.
    #[schemars(title = "AES")]
    pub aes: AesSpec,
    /// The authenticator.
    #[schemars(title = "GHASH")]
    pub ghash: GhashSpec,
    /// Key expansion, from the key to the round keys that the lanes use. H and its powers follow, at the cost of the
    /// lanes and multipliers that make them.
    #[schemars(title = "key setup", extend("relaxes" = "down"))]
    pub key_setup: Cycles,
    /// From the tag to the verdict.
    #[schemars(title = "tag comparison", extend("relaxes" = "down"))]
    pub compare: Cycles,
    /// How the engine is sequenced, where it does not run freely. An engine that says so runs standalone: a machine's copy engine has
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "engine control:")]
    pub control: Option<ControlSpec>,
    /// What becomes of a machine whose engines' stages do not settle within a period of `copy_engine.clock`, by delays before layout of
    /// `rtl/results.toml`: `error`, if absent, refuses it with the cycles that close; `warn` simulates it, and its figures say that it
    /// does not close.
    #[serde(default, skip_serializing_if = "ClockCheck::is_default")]
    #[schemars(title = "clock that does not close:")]
    pub check: ClockCheck,
}

/// What becomes of a machine whose engines do not close at their clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClockCheck {
    /// It is refused, with the cycles that close.
    #[default]
    Error,
    /// It is simulated, and its figures say so.
    Warn,
}

impl ClockCheck {
    /// Whether this is what a configuration that does not say means.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// AES lanes that make the keystream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AesSpec {
    /// Independent lanes; block i of a message goes to lane i mod lanes.
    #[schemars(title = "lanes", extend("relaxes" = "up"))]
    pub lanes: u32,
    /// Rounds in hardware per lane; a block passes through them `ceil(rounds / rounds_in_hardware)` times.
    #[schemars(title = "rounds in hardware per lane", extend("relaxes" = "up"))]
    pub rounds_in_hardware: u32,
    /// Pipeline registers per round (0: all rounds in hardware settle within one cycle).
    #[schemars(title = "registers per round", extend("relaxes" = "down"))]
    pub registers_per_round: u32,
    /// Least cycles between two blocks that enter one lane, beyond what the passes already impose.
    #[schemars(title = "start interval of a lane", extend("relaxes" = "down"))]
    pub start_interval: Cycles,
    /// Keystream blocks that may be made ahead of the data, per engine. A block counts from the cycle in which it enters
    /// its lane to the one in which text uses it, so lanes run without a pause only if there are more than latency x lanes.
    #[schemars(title = "keystream blocks ahead", extend("relaxes" = "up"))]
    pub keystream_blocks: u32,
}

/// A multiplier in GF(2^128).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MultiplierSpec {
    /// Latency of the carry-less product.
    #[schemars(title = "product latency", extend("relaxes" = "down"))]
    pub product: Cycles,
    /// Latency of the reduction modulo x^128 + x^7 + x^2 + x + 1.
    #[schemars(title = "reduction latency", extend("relaxes" = "down"))]
    pub reduction: Cycles,
    /// Bits of one operand taken per cycle: 128 for a bit-parallel multiplier, d for a digit-serial one, which accepts
    /// one pair per 128/d cycles.
    #[schemars(title = "digit of a multiplier (bits)", extend("relaxes" = "up"))]
    pub digit_bits: u32,
    /// How the carry-less product is formed. It changes neither values nor cycles.
    #[serde(default, skip_serializing_if = "Structure::is_default")]
    #[schemars(title = "multiplier structure:")]
    pub structure: Structure,
}

/// The authenticator's structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "design", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(title = "organisation")]
pub enum GhashSpec {
    /// One accumulator, one multiplier: Y = (Y + X) H.
    Serial {
        /// The multiplier.
        multiplier: MultiplierSpec,
        /// Cycles that the first block of a message takes beyond the others, as where a mask needs a product of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(title = "additional time of the first block", extend("relaxes" = "down"))]
        first_block: Option<Cycles>,
    },
    /// Accumulator j takes blocks j, j + ways, ... times H^ways.
    Interleaved {
        /// Accumulators.
        #[schemars(title = "accumulators", extend("relaxes" = "up"))]
        ways: u32,
        /// Multipliers that the accumulators share.
        #[schemars(title = "multipliers", extend("relaxes" = "up"))]
        multipliers: u32,
        /// How the accumulators are brought together.
        #[schemars(title = "way of closing")]
        closing: Closing,
        /// Each multiplier.
        multiplier: MultiplierSpec,
    },
    /// Groups of `width` blocks times descending powers, summed unreduced, reduced once.
    Aggregated {
        /// Products per group.
        #[schemars(title = "products per cycle", extend("relaxes" = "up"))]
        width: u32,
        /// Groups in flight.
        #[schemars(title = "groups in flight", extend("relaxes" = "up"))]
        groups: u32,
        /// Each multiplier.
        multiplier: MultiplierSpec,
    },
    /// Groups of `powers` blocks times descending powers on one multiplier, into which the state is folded by one more product per
    /// group.
    Folded {
        /// Powers of H that are stored: blocks per group.
        #[schemars(title = "stored powers of H", extend("relaxes" = "up"))]
        powers: u32,
        /// Registers between the products and the state: cycles from the last product of a group to its sum as the state.
        #[schemars(title = "fold latency", extend("relaxes" = "down"))]
        fold: Cycles,
        /// The multiplier.
        multiplier: MultiplierSpec,
    },
    /// Segment j of a message goes to unit j mod units; each value is weighted by a power of H.
    Segmented {
        /// Units.
        #[schemars(title = "units", extend("relaxes" = "up"))]
        units: u32,
        /// Blocks per segment; the first one of a message has what is left over.
        #[schemars(title = "blocks per segment")]
        segment: u32,
        /// Blocks that come in per cycle, to whichever units.
        #[schemars(title = "blocks in per cycle", extend("relaxes" = "up"))]
        ports: u32,
        /// Blocks of input buffer per unit.
        #[schemars(title = "input buffer (blocks)", extend("relaxes" = "up"))]
        buffer: u32,
        /// Each unit: one that takes a message by itself.
        #[schemars(title = "unit")]
        unit: Box<Self>,
    },
    /// Whole messages go to different units.
    MessageParallel {
        /// Units.
        #[schemars(title = "units", extend("relaxes" = "up"))]
        units: u32,
        /// Blocks that one unit's buffer takes per cycle.
        #[schemars(title = "blocks in per cycle", extend("relaxes" = "up"))]
        ports: u32,
        /// Blocks of input buffer per unit.
        #[schemars(title = "input buffer (blocks)", extend("relaxes" = "up"))]
        buffer: u32,
        /// Each unit: one that takes a message by itself.
        #[schemars(title = "unit")]
        unit: Box<Self>,
    },
    /// Chunk j of a message goes to chain j mod chains, and each chain has a tag of its own. This changes the wire format.
    SubChains {
        /// Chains, and so tags per message.
        #[schemars(title = "chains per message", extend("relaxes" = "up"))]
        chains: u32,
        /// Bytes of a chunk.
        #[schemars(title = "chunk length")]
        chunk: Bytes,
        /// Blocks that come in per cycle, to whichever chains.
        #[schemars(title = "blocks in per cycle", extend("relaxes" = "up"))]
        ports: u32,
        /// Blocks of input buffer per chain.
        #[schemars(title = "input buffer (blocks)", extend("relaxes" = "up"))]
        buffer: u32,
        /// The unit of each chain.
        #[schemars(title = "unit")]
        unit: Box<Self>,
    },
}

/// How interleaved accumulators are brought together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Closing {
    /// The length is known ahead: the last blocks take smaller powers.
    LookAhead,
    /// Each accumulator is multiplied once more after the last block.
    Afterwards,
}

/// Why no engine can be built from a specification.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SpecError {
    #[error("key_bits is {0}: an AES key has 128, 192 or 256 bits")]
    KeyBits(u32),
    #[error("key_bits is {bits}: {takes}")]
    SchemeKeyBits { bits: u32, takes: &'static str },
    #[error("lanes is {0}: AEGIS-256 and AEGIS-128L have 1, their X2 has 2, their X4 has 4")]
    Lanes(u32),
    #[error("tag is {0} B: {1} has tags of {words} B", words = crate::aead::bytes::either(.2))]
    SchemeTag(u64, &'static str, &'static [usize]),
    #[error("{field} is {value}: it must be from {low} to {high}")]
    Range {
        /// The field's path below the engine.
        field: &'static str,
        value: u64,
        low: u64,
        high: u64,
    },
    /// A digit-serial multiplier cannot end before it has taken its last digit.
    #[error(
        "a multiplier of {digit_bits}-bit digits takes {interval} cycles to read an operand, but its product is \
         declared to take {product}"
    )]
    DigitsOutlastProduct {
        digit_bits: u32,
        /// Cycles in which the operand is read.
        interval: u64,
        /// The product's declared latency in cycles.
        product: u64,
    },
    #[error("an input buffer of {buffer} blocks cannot take the {ports} blocks that may come in one cycle")]
    BufferBelowPorts { buffer: u32, ports: u32 },
    /// A tag must not outweigh what it stands for.
    #[error("a chunk of {chunk} B is shorter than the tag of {tag} B that authenticates it")]
    ChunkBelowTag { chunk: u64, tag: u64 },
    /// A block belongs to one chain.
    #[error("a chunk of {chunk} B is not made of blocks of {block} B")]
    ChunkNotInBlocks { chunk: u64, block: u64 },
    #[error("`{outer}` is built of units that take a message by themselves, and `{inner}` is not one")]
    Nested { outer: &'static str, inner: &'static str },
    #[error("a multiplier that takes {digit_bits} bits per cycle has no whole operand to halve: karatsuba needs 128")]
    KaratsubaByDigits { digit_bits: u32 },
    #[error("{what} excludes {excludes}")]
    Apart { what: &'static str, excludes: &'static str },
    #[error("an engine with a `control` of its own runs standalone: a machine's engine makes its keystream ahead")]
    Controlled,
}

/// Rounds of AES with a key of so many bits (FIPS 197).
pub const fn aes_rounds(key_bits: u32) -> u32 {
    key_bits / 32 + 6
}

pub(crate) fn within(field: &'static str, value: u64, low: u64, high: u64) -> Result<(), SpecError> {
    if (low..=high).contains(&value) { Ok(()) } else { Err(SpecError::Range { field, value, low, high }) }
}

/// Latencies and intervals beyond this many cycles are refused: they are mistakes, and sums of them stay far from overflow.
pub(crate) const LONGEST: u64 = 1 << 20;

impl GcmSpec {
    /// Says whether such an engine can be built.
    pub fn check(&self) -> Result<(), SpecError> {
        self.rounds()?;
        self.aes.check()?;
        within("key_setup", self.key_setup.0, 0, LONGEST)?;
        within("compare", self.compare.0, 0, LONGEST)?;
        if let Some(control) = &self.control {
            control.check(self)?;
        }
        self.ghash.check()
    }

    /// AES rounds for this key size: 10, 12 or 14.
    pub const fn rounds(&self) -> Result<u32, SpecError> {
        match self.key_bits {
            bits @ (128 | 192 | 256) => Ok(aes_rounds(bits)),
            other => Err(SpecError::KeyBits(other)),
        }
    }

    /// An engine for tests and benchmarks, like the one assumed for the H100's copy engine: four unrolled AES-256 lanes with one register per round,
    /// 128 keystream blocks, and a GHASH unit of four products with four groups in flight on multipliers of two cycles of
    /// product and two of reduction. Nothing public states these figures; they are an assumption that carries 64 bytes per
    /// cycle.
    pub const fn four_lanes() -> Self {
        let multiplier = MultiplierSpec {
            product: Cycles(2),
            reduction: Cycles(2),
            digit_bits: 128,
            structure: Structure::Schoolbook,
        };
        Self {
            key_bits: 256,
            aes: AesSpec {
                lanes: 4,
                rounds_in_hardware: 14,
                registers_per_round: 1,
                start_interval: Cycles(1),
                keystream_blocks: 128,
            },
            ghash: GhashSpec::Aggregated { width: 4, groups: 4, multiplier },
            key_setup: Cycles(14),
            compare: Cycles(1),
            control: None,
            check: ClockCheck::Error,
        }
    }
}

impl AesSpec {
    /// Says whether such lanes can be built.
    pub fn check(&self) -> Result<(), SpecError> {
        within("aes.lanes", self.lanes.into(), 1, 256)?;
        within("aes.rounds_in_hardware", self.rounds_in_hardware.into(), 1, 14)?;
        within("aes.registers_per_round", self.registers_per_round.into(), 0, 64)?;
        within("aes.start_interval", self.start_interval.0, 0, LONGEST)?;
        within("aes.keystream_blocks", self.keystream_blocks.into(), 1, 1 << 20)
    }

    /// Times that a block passes through a lane's hardware.
    pub const fn passes(&self, rounds: u32) -> u32 {
        rounds.div_ceil(self.rounds_in_hardware)
    }

    /// Cycles of one pass, which is also the number of blocks that a lane holds. Hardware rounds beyond the key's own are
    /// bypassed.
    pub fn pass_cycles(&self, rounds: u32) -> u64 {
        u64::from(self.rounds_in_hardware.min(rounds) * self.registers_per_round).max(1)
    }

    /// Cycles from a counter block that enters a lane to its keystream block.
    pub fn latency(&self, rounds: u32) -> u64 {
        u64::from(self.passes(rounds)) * self.pass_cycles(rounds)
    }
}

impl MultiplierSpec {
    /// Cycles from two operands to their reduced product.
    pub const fn latency(&self) -> u64 {
        self.product.0 + self.reduction.0
    }

    /// Least cycles between two pairs of operands.
    pub const fn interval(&self) -> u64 {
        128_u64.div_ceil(self.digit_bits as u64)
    }

    /// Says whether such a multiplier can be built.
    pub fn check(&self) -> Result<(), SpecError> {
        within("ghash.multiplier.digit_bits", self.digit_bits.into(), 1, 128)?;
        if let Structure::Karatsuba { levels } = self.structure {
            within("ghash.multiplier.structure.levels", levels.into(), 1, MOST_LEVELS.into())?;
            if self.digit_bits < 128 {
                return Err(SpecError::KaratsubaByDigits { digit_bits: self.digit_bits });
            }
        }
        within("ghash.multiplier.product", self.product.0, 0, LONGEST)?;
        within("ghash.multiplier.reduction", self.reduction.0, 0, LONGEST)?;
        within("ghash.multiplier.product + reduction", self.latency(), 1, 2 * LONGEST)?;
        let interval = self.interval();
        if interval > 1 && self.product.0 < interval {
            let (digit_bits, product) = (self.digit_bits, self.product.0);
            return Err(SpecError::DigitsOutlastProduct { digit_bits, interval, product });
        }
        Ok(())
    }
}
