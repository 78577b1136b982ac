//! What an AES-GCM engine is built of.

use crate::units::Cycles;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An AES-GCM engine: AES lanes in counter mode in front of a GHASH unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EngineSpec {
    /// Key size in bits: 128, 192 or 256.
    pub key_bits: u32,
    /// The block cipher lanes.
    pub aes: AesSpec,
    /// The authenticator.
    pub ghash: GhashSpec,
    /// Key expansion, from the key to the first round key that a lane can use.
    pub key_setup: Cycles,
    /// From the tag's last bit to the verdict.
    pub compare: Cycles,
}

/// AES lanes that make the keystream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AesSpec {
    /// Independent lanes; block i of a message goes to lane i mod lanes.
    pub lanes: u32,
    /// Rounds in hardware per lane; a block passes through them `ceil(rounds / rounds_in_hardware)` times.
    pub rounds_in_hardware: u32,
    /// Pipeline registers per round (0: all rounds in hardware settle within one cycle).
    pub registers_per_round: u32,
    /// Least cycles between two blocks that enter one lane, beyond what the passes already impose.
    pub start_interval: Cycles,
    /// Keystream blocks that may be made ahead of the data, per engine.
    pub keystream_blocks: u32,
}

/// A multiplier in GF(2^128).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MultiplierSpec {
    /// Latency of the carry-less product.
    pub product: Cycles,
    /// Latency of the reduction modulo x^128 + x^7 + x^2 + x + 1.
    pub reduction: Cycles,
    /// Bits of one operand taken per cycle: 128 for a bit-parallel multiplier, d for a digit-serial one, which accepts
    /// one pair per 128/d cycles.
    pub digit_bits: u32,
}

/// The authenticator's structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "design", rename_all = "snake_case", deny_unknown_fields)]
pub enum GhashSpec {
    /// One accumulator, one multiplier: Y = (Y + X) H.
    Serial {
        /// The multiplier.
        multiplier: MultiplierSpec,
    },
    /// Accumulator j takes blocks j, j + ways, ... times H^ways.
    Interleaved {
        /// Accumulators.
        ways: u32,
        /// Multipliers that the accumulators share.
        multipliers: u32,
        /// How the accumulators are brought together.
        closing: Closing,
        /// Each multiplier.
        multiplier: MultiplierSpec,
    },
    /// Groups of `width` blocks times descending powers, summed unreduced, reduced once.
    Aggregated {
        /// Products per group.
        width: u32,
        /// Groups in flight.
        groups: u32,
        /// Each multiplier.
        multiplier: MultiplierSpec,
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
