//! How an engine is sequenced, where it is not the free-running one of [`timing`](super::timing).
//!
//! ```text
//!   free-running   counters --> lane --> keystream FIFO -->(+)        blocks are counted; lanes never stop
//!   frozen         counters --> lane --> register       -->(+)        a full register stops the lane as a whole
//!   with_text      counters --> lane ------------------->(+)          text travels with its counter; a block that
//!                  text     --> lane --> .. ------------> ^           nobody takes stops the lane
//! ```
//!
//! | | |
//! | --- | --- |
//! | free-running | [`ControlSpec`] is absent; the only kind that a machine's copy engine has |
//! | frozen | one lane; a lane whose foremost block finds the register full does not advance, nor does it take a block |
//! | with text | one lane; a text block enters when the lane has room and leaves when GHASH takes its ciphertext |
//! | phases | H and mask, AAD, text, length block follow each other, each from its own start |
//!
//! Small cores work so: engines like public ones stand in `hw-configs/engines/`.

use super::spec::{AesSpec, EngineSpec, LONGEST, SpecError, within};
use crate::units::Cycles;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an engine's parts follow each other. Whatever is not said is as in the free-running engine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ControlSpec {
    /// How text meets its keystream.
    pub keystream: Keystream,
    /// What a message waits for after a key is loaded.
    pub start: Start,
    /// What the first input of a message waits for.
    pub inputs: Inputs,
    /// Passes through a lane, whatever the key size, where the lane is built for one key size: 2 for half of its rounds. 0:
    /// as many as `aes.rounds_in_hardware` asks for.
    pub passes: u32,
    /// Blocks of shorter keys go through the registers of the unused rounds as well.
    pub full_length: bool,
    /// A lane holds one block at a time.
    pub one_at_a_time: bool,
    /// Cycles in a lane before the first round.
    pub load: Cycles,
    /// Cycles in a lane after the last round.
    pub unload: Cycles,
    /// Cycles to make a round key while the rounds run. A key of 256 bits brings the one for the first round, for others it is
    /// made during the load.
    pub round_key: Cycles,
    /// Cycles of key expansion per word of the key schedule that the key does not bring, before anything else.
    pub schedule_word: Cycles,
    /// Cycles from the powers of H to the first input.
    pub settle: Cycles,
    /// Cycles that a message with AAD needs before its first input, beyond those of one without.
    pub aad_start: Cycles,
    /// AAD comes through the text port, before the text.
    pub shared_port: bool,
    /// A block leaves the engine in the cycle in which GHASH takes it, and not before.
    pub leave_with_hash: bool,
    /// A text block enters its lane only while GHASH rests.
    pub take_turns: bool,
    /// Cycles until the end of the text is seen, before the length block may enter GHASH.
    pub end_of_text: Cycles,
    /// The tag stands in the cycle in which GHASH's value does, and not one later.
    pub tag_at_once: bool,
    /// The engine is driven phase by phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phases: Option<PhaseSpec>,
    /// What the cycle in which the key is loaded counts as, in reports.
    pub origin: u32,
}

/// How text meets its keystream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Keystream {
    /// Keystream is made ahead of the text; a lane starts only what has room at its end.
    #[default]
    Ahead,
    /// The same, but lanes start whenever they can, and stand still while the registers at their end are full.
    Frozen,
    /// A counter enters its lane with its text.
    WithText,
}

/// What a message waits for after a key is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// The powers of H.
    #[default]
    AfterPowers,
    /// Its mask follows H into the lane.
    BehindH,
}

/// What the first input of a message waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Inputs {
    /// The powers of H.
    #[default]
    Powers,
    /// Its mask as well.
    Mask,
    /// Its first keystream block.
    FirstKeystream,
}

/// Cycles from the start of each phase to its first block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseSpec {
    /// AAD.
    pub aad: Cycles,
    /// Text.
    pub text: Cycles,
    /// The length block.
    pub length: Cycles,
}

impl ControlSpec {
    /// Says whether an engine can be controlled so.
    ///
    /// # Errors
    /// A figure out of range, or two statements that exclude each other.
    pub fn check(&self, engine: &EngineSpec) -> Result<(), SpecError> {
        within("control.passes", self.passes.into(), 0, 14)?;
        let latencies = [
            ("control.load", self.load),
            ("control.unload", self.unload),
            ("control.round_key", self.round_key),
            ("control.schedule_word", self.schedule_word),
            ("control.settle", self.settle),
            ("control.aad_start", self.aad_start),
            ("control.end_of_text", self.end_of_text),
        ];
        latencies.into_iter().try_for_each(|(name, cycles)| within(name, cycles.0, 0, LONGEST))?;
        if let Some(phases) = self.phases {
            for (name, cycles) in [
                ("control.phases.aad", phases.aad),
                ("control.phases.text", phases.text),
                ("control.phases.length", phases.length),
            ] {
                within(name, cycles.0, 0, LONGEST)?;
            }
        }
        self.agree(engine)
    }

    fn agree(&self, engine: &EngineSpec) -> Result<(), SpecError> {
        let (aes, rounds) = (&engine.aes, engine.rounds()?);
        let apart = |what, excludes| Err(SpecError::Apart { what, excludes });
        if engine.ghash.messages() > 1 || engine.ghash.tags() > 1 {
            return apart("control", "an authenticator of several messages or tags at a time, which runs freely");
        }
        let enters_and_leaves = self.load.0 + self.unload.0 + self.round_key.0 > 0;
        if self.keystream != Keystream::Ahead && aes.lanes != 1 {
            return apart("control.keystream other than \"ahead\"", "more than one lane: one block is taken at a time");
        }
        if enters_and_leaves && !self.one_at_a_time && self.passes(aes, rounds) > 1 {
            return apart("control.load, unload or round_key", "a lane in which several blocks go round");
        }
        if self.passes > 0 && aes.rounds_in_hardware < rounds.div_ceil(self.passes) {
            return apart("control.passes", "aes.rounds_in_hardware: so few rounds need more passes");
        }
        if self.full_length && self.passes(aes, rounds) > 1 {
            return apart("control.full_length", "a lane in which blocks go round");
        }
        let with_text = self.keystream == Keystream::WithText;
        if (self.leave_with_hash || self.take_turns || self.phases.is_some()) && !with_text {
            return apart(
                "control.leave_with_hash, take_turns or phases",
                "keystream that is made ahead: set control.keystream to \"with_text\"",
            );
        }
        if self.inputs == Inputs::FirstKeystream && with_text {
            return apart("control.inputs = \"first_keystream\"", "keystream that is made with the text");
        }
        Ok(())
    }

    /// Times that a block passes through a lane's hardware.
    #[must_use]
    pub const fn passes(&self, aes: &AesSpec, rounds: u32) -> u32 {
        if self.passes == 0 { aes.passes(rounds) } else { self.passes }
    }

    /// Rounds in hardware that a block goes through in one pass.
    #[must_use]
    pub fn rounds_per_pass(&self, aes: &AesSpec, rounds: u32) -> u32 {
        match self.passes {
            0 if self.full_length => aes.rounds_in_hardware,
            0 => aes.rounds_in_hardware.min(rounds),
            passes => rounds.div_ceil(passes),
        }
    }

    /// Cycles in a lane before the first round.
    #[must_use]
    pub fn load_cycles(&self, rounds: u32) -> u64 {
        if rounds == 14 { self.load.0 } else { self.load.0.max(self.round_key.0) }
    }

    /// Cycles of key expansion before anything else.
    #[must_use]
    pub const fn schedule(&self, rounds: u32) -> u64 {
        let of_the_key = rounds - 6;
        self.schedule_word.0 * (4 * (rounds + 1) - of_the_key) as u64
    }
}
