//! How an engine is sequenced, where it is not the free-running one of [`timing`](super::timing).
//!
//! ```text
//!   free-running   counters --> lane --> keystream FIFO -->(+)        blocks are counted; lanes never stop
//!   frozen         counters --> lane --> register       -->(+)        a full register stops the lane as a whole
//!   with_text      counters --> lane ------------------->(+)          text travels with its counter; a block that
//!                  text     --> lane --> .. ------------> ^           nobody takes stops the lane
//!   inputs = key   AAD      --> as long as the lane ------> GHASH     AAD and text come while H is still in the lane
//! ```
//!
//! | | |
//! | --- | --- |
//! | free-running | [`ControlSpec`] is absent; the only kind that a machine's copy engine has |
//! | frozen | one lane; a lane whose foremost block finds the register full does not advance, nor does it take a block |
//! | with text | one lane; a text block enters when the lane has room and leaves when GHASH takes its ciphertext |
//! | phases | H and mask, AAD, text, length block follow each other, each from its own start; one that has no blocks is left out, or lasts `empty_aad`, `empty_text` |
//! | `mask = "first"` | J0 enters the lane before the message's counters |
//! | `mask = "last"` | J0 enters behind the last counter, as soon as the lane has room: with one block at a time, once GHASH has taken the last text block; with `take_turns`, once GHASH rests, and the length block waits for the mask. The first phase ends with H |
//! | `mask = "after_ghash"` | J0 enters the lane in the cycle in which GHASH's value is valid, or once the lane is free |
//! | `idle`, `ghash_idle` | a lane that holds one block, and a serial GHASH unit, take the next block so many cycles after the one before has left: its state machine goes by way of a state of rest |
//! | `aad_idle` | the same of GHASH after a block of AAD, in addition |
//! | `load_key_word` | the load of a lane is longer by so many cycles for each word of the key |
//! | `output_registers` | text and tag leave so many cycles later; nothing in the engine waits for them, but a message ends with its tag |
//! | `text_after_rest`, `text_start` | the first text block comes in once GHASH rests behind the AAD, and so many cycles later; those behind it do not wait |
//! | `text_register` | a text block comes in as soon as the register at the XOR is free, and meets its keystream there, in the next cycle or later |
//! | `leave_with_hash` | without it a block that is sealed waits for GHASH in the output register; with it there is none: the block waits before the XOR |
//! | `delay` | text, and with `inputs = "key"` AAD, go through so many registers more than H and the mask; all stand still together |
//! | `first_counter` | the first counter of a message enters the lane in this cycle at the earliest, later while the lane has no room; the others follow as they do without it. J0 does not wait, unless it is last and there is no text |
//! | `inputs = "key"` | blocks are taken from the cycle in which H enters the lane, `settle` later; AAD goes through registers as many as the lane's, which stand still when it does; AAD, then text, one block of each per cycle |
//! | tag | waits for the mask, wherever it is made |
//! | opening | takes the cycles of sealing where text travels with its counter, and with `open_register` |
//! | cycle 0 | `origin`; reported counts are cycles from it, plus `offset` |
//!
//! Small cores work so: engines like public ones are in `hw-configs/engines/`.

mod agree;

use super::message::SealOpen;
use super::spec::AesSpec;
use crate::units::Cycles;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an engine's parts follow each other. Whatever is not said is as in the free-running engine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ControlSpec {
    /// How text meets its keystream.
    #[schemars(title = "keystream mode")]
    pub keystream: Keystream,
    /// When the mask E(K, J0) is made.
    #[schemars(title = "time of the mask")]
    pub mask: Mask,
    /// When the first counter of a message may enter AES.
    #[schemars(title = "time of the first counter")]
    pub first_counter: FirstCounter,
    /// What a message waits for after a key is loaded.
    #[schemars(title = "start of a message")]
    pub start: Start,
    /// What the first input of a message waits for.
    #[schemars(title = "wait of the first input")]
    pub inputs: Inputs,
    /// Passes through a lane, whatever the key size, where the lane is built for one key size: 2 for half of its rounds. 0:
    /// as many as `aes.rounds_in_hardware` asks for.
    #[schemars(title = "passes through a lane")]
    pub passes: u32,
    /// Blocks of shorter keys go through the registers of the unused rounds as well.
    #[schemars(title = "full length for short keys")]
    pub full_length: bool,
    /// A lane holds one block at a time.
    #[schemars(title = "one block per lane at a time")]
    pub one_at_a_time: bool,
    /// Bits of the state that a lane of one round, which holds one block at a time, takes through its S-boxes in a cycle: 8, 16, 32 or 64; all 128 if absent. A
    /// round lasts `aes.registers_per_round` cycles, which must suffice. It changes area, energy and clock, no cycles.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "data path of a lane (bits)")]
    pub datapath_bits: Option<u32>,
    /// Cycles in which a lane that holds one block at a time stands empty, from the cycle in which the block before is taken from it.
    #[schemars(title = "idle cycles of a lane", extend("relaxes" = "down"))]
    pub idle: Cycles,
    /// Cycles in which a serial GHASH unit stands idle after a product, before it takes the next block. Its value does not wait for them.
    #[schemars(title = "idle cycles of GHASH", extend("relaxes" = "down"))]
    pub ghash_idle: Cycles,
    /// Cycles in which such a unit stands idle after a block of AAD, beyond `ghash_idle`.
    #[schemars(title = "idle cycles of GHASH after AAD", extend("relaxes" = "down"))]
    pub aad_idle: Cycles,
    /// Registers that text passes behind the lane, one cycle each, before it meets GHASH. H and the mask do not; AAD does with
    /// `inputs = "key"`.
    #[schemars(title = "delay line beyond the lane", extend("relaxes" = "down"))]
    pub delay: Cycles,
    /// Cycles in a lane before the first round.
    #[schemars(title = "lane load", extend("relaxes" = "down"))]
    pub load: Cycles,
    /// Cycles of the load for each word of the key (4, 6 or 8), beyond `load`, where a lane takes in or expands the key with each block.
    #[schemars(title = "lane load per word of the key", extend("relaxes" = "down"))]
    pub load_key_word: Cycles,
    /// Cycles in a lane after the last round.
    #[schemars(title = "lane unload", extend("relaxes" = "down"))]
    pub unload: Cycles,
    /// Cycles from the last key word to the start of key expansion.
    #[schemars(title = "key load", extend("relaxes" = "down"))]
    pub key_load: Cycles,
    /// Cycles to make a round key while the rounds run. A key of 256 bits brings the one for the first round, for others it is
    /// made during the load.
    #[schemars(title = "time per round key", extend("relaxes" = "down"))]
    pub round_key: Cycles,
    /// Cycles of key expansion per word of the key schedule that the key does not bring, before anything else.
    #[schemars(title = "time per word of the key schedule", extend("relaxes" = "down"))]
    pub schedule_word: Cycles,
    /// Cycles from the powers of H to the first input; with `inputs = "key"`, from the entry of H into the lane.
    #[schemars(title = "time from the powers of H to the first input", extend("relaxes" = "down"))]
    pub settle: Cycles,
    /// Cycles that a message with AAD needs before its first input, beyond those of one without.
    #[schemars(title = "additional start of a message with AAD", extend("relaxes" = "down"))]
    pub aad_start: Cycles,
    /// The first text block comes in only once GHASH has taken all AAD and rests. From then on text does not wait for it.
    #[schemars(title = "text after GHASH rests")]
    pub text_after_rest: bool,
    /// Cycles from the end of AAD to the first text block: from the cycle in which its last block enters GHASH, with `text_after_rest` from
    /// that in which GHASH rests; without AAD, from the cycle in which inputs open.
    #[schemars(title = "time from AAD to text", extend("relaxes" = "down"))]
    pub text_start: Cycles,
    /// AAD comes through the text port, before the text.
    #[schemars(title = "shared port for AAD and text")]
    pub shared_port: bool,
    /// Text waits for its keystream in a register at the XOR, one block per lane, and not at the port.
    #[schemars(title = "text register before the XOR")]
    pub text_register: bool,
    /// A block leaves the engine in the cycle in which GHASH takes it, and not before: there is no register behind the XOR.
    #[schemars(title = "output with GHASH")]
    pub leave_with_hash: bool,
    /// What is opened reaches GHASH through a register as well, a cycle after it is taken, as what is sealed does. Opening then takes
    /// the cycles of sealing, as it always does where text travels with its counter.
    #[schemars(title = "register before GHASH when opening")]
    pub open_register: bool,
    /// A text block, or a mask that comes last, enters its lane only while GHASH rests.
    #[schemars(title = "lanes and GHASH take turns")]
    pub take_turns: bool,
    /// Cycles until the end of the text is seen, before the length block may enter GHASH.
    #[schemars(title = "time to see the end of the text", extend("relaxes" = "down"))]
    pub end_of_text: Cycles,
    /// The tag is valid in the cycle in which GHASH's value is, and not one later.
    #[schemars(title = "tag without a last register")]
    pub tag_at_once: bool,
    /// Registers behind the engine, for text and tag alike, one cycle each.
    #[schemars(title = "registers behind the outputs", extend("relaxes" = "down"))]
    pub output_registers: Cycles,
    /// The engine is driven phase by phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "phase of")]
    pub phases: Option<PhaseSpec>,
    /// Where reports begin to count.
    #[schemars(title = "origin of reports")]
    pub origin: Origin,
    /// What the cycle at `origin` counts as: 1 where a bench calls the first clock edge 1; n where it began n cycles before; -n where its
    /// cycle 0 lies n cycles behind.
    #[schemars(title = "offset of reports")]
    pub offset: i32,
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

/// When the mask E(K, J0) is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mask {
    /// Before the message's keystream.
    #[default]
    First,
    /// Behind it, so that text starts sooner.
    Last,
    /// When the last product of GHASH, that of the length block, is done.
    AfterGhash,
}

/// When the first counter of a message may enter AES.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FirstCounter {
    /// When the lane has room; one that travels with text, when that may come in.
    #[default]
    Free,
    /// In the cycle in which the last AAD block comes in; without AAD, when inputs open.
    WithLastAad,
    /// In the cycle in which the first text block is offered and could come in if its keystream were valid.
    WithFirstText,
}

/// Where reports begin to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// At the last key word; a later message under the same key, at its start.
    #[default]
    KeyLoaded,
    /// At the start of key expansion, `key_load` after the last key word; a later message, at its start.
    Expansion,
    /// At the first block that comes in, of each message. Of a message without any, nothing is counted from there.
    FirstInput,
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
    /// The round keys alone: what comes in is held in registers as many as the lane's, until H is valid.
    Key,
}

/// Cycles from the start of each phase to its first block, and of a phase without any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseSpec {
    /// AAD.
    #[schemars(title = "AAD", extend("relaxes" = "down"))]
    pub aad: Cycles,
    /// Text.
    #[schemars(title = "text", extend("relaxes" = "down"))]
    pub text: Cycles,
    /// The length block.
    #[schemars(title = "the length block", extend("relaxes" = "down"))]
    pub length: Cycles,
    /// Cycles of the phase of AAD where there is none. 0: it is left out.
    #[serde(default)]
    #[schemars(title = "no AAD", extend("relaxes" = "down"))]
    pub empty_aad: Cycles,
    /// Cycles of the phase of text where there is none. 0: it is left out.
    #[serde(default)]
    #[schemars(title = "no text", extend("relaxes" = "down"))]
    pub empty_text: Cycles,
}

impl ControlSpec {
    /// Times that a block passes through a lane's hardware.
    pub const fn passes(&self, aes: &AesSpec, rounds: u32) -> u32 {
        if self.passes == 0 { aes.passes(rounds) } else { self.passes }
    }

    /// Rounds in hardware that a block goes through in one pass.
    pub fn rounds_per_pass(&self, aes: &AesSpec, rounds: u32) -> u32 {
        match self.passes {
            0 if self.full_length => aes.rounds_in_hardware,
            0 => aes.rounds_in_hardware.min(rounds),
            passes => rounds.div_ceil(passes),
        }
    }

    /// Cycles in a lane before the first round.
    pub fn load_cycles(&self, rounds: u32) -> u64 {
        let load = self.load.0 + self.load_key_word.0 * Self::key_words(rounds);
        if rounds == 14 { load } else { load.max(self.round_key.0) }
    }

    /// Words of a key of so many rounds.
    const fn key_words(rounds: u32) -> u64 {
        rounds as u64 - 6
    }

    /// Cycles from the one in which a block meets its keystream to the one in which it is valid at the output.
    pub fn output_cycles(&self) -> u64 {
        u64::from(!self.leave_with_hash) + self.output_registers.0
    }

    /// Cycles of key expansion before anything else.
    pub const fn schedule(&self, rounds: u32) -> u64 {
        self.schedule_word.0 * (4 * (rounds as u64 + 1) - Self::key_words(rounds))
    }

    /// Whether the first text block waits for more than GHASH's having taken the AAD.
    pub const fn waits_for_text(&self) -> bool {
        self.text_after_rest || self.text_start.0 > 0
    }

    /// Whether ciphertext goes to GHASH from the output register, a cycle or more after its text was taken.
    pub fn by_register(&self, direction: SealOpen) -> bool {
        let sealed = direction == SealOpen::Seal || self.open_register;
        self.keystream != Keystream::WithText && !self.leave_with_hash && sealed
    }

    /// Whether ciphertext that is opened goes to GHASH on the way of what is sealed.
    pub fn opens_as_it_seals(&self) -> bool {
        self.by_register(SealOpen::Seal) == self.by_register(SealOpen::Open)
    }
}
