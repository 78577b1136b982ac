//! The stages of one message in the structural engine: what each shows, and in which cycle.
//!
//! ```text
//!   key --> H --> powers of H          IV --> J0 --> counters --> AES, round by round --> keystream, mask
//!   AAD, ciphertext, lengths --> GHASH: what enters, products, accumulators, value --> tag
//! ```
//!
//! The key is loaded and the message starts in cycle 0; all text lies at the input from then on. [`Software`] has what each stage must show by software AES-GCM.

mod recorder;
mod software;
use super::engine::Engine;
use super::message::SealOpen;
use super::spec::GcmSpec;
use super::standalone::StandaloneError;
use recorder::Recorder;
use serde::{Serialize, Serializer};
pub use software::{Parting, Software};

#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// The key: 16, 24 or 32 bytes.
    pub key: &'a [u8],
    /// The IV: one byte or more.
    pub iv: &'a [u8],
    pub aad: &'a [u8],
    pub text: &'a [u8],
    pub direction: SealOpen,
}

crate::units::named! {
    /// A stage of a datapath.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Stage {
        /// H = E(K, 0).
        #[default]
        H = "h",
        /// A power of H, by its exponent.
        Power = "power",
        J0 = "j0",
        /// A block that enters an AES lane.
        Counter = "counter",
        /// The state after a round of AES; round 0 is the first key addition.
        AesState = "aes_state",
        /// A block of keystream at the end of its lane.
        Keystream = "keystream",
        /// E(K, J0), or the mask of a further chain.
        Mask = "mask",
        /// A block of text that comes in.
        TextIn = "text_in",
        /// A block of text that is valid at the output.
        TextOut = "text_out",
        /// A block that enters GHASH.
        GhashIn = "ghash_in",
        /// A product in GF(2^128) of two operands, reduced.
        Product = "product",
        /// An accumulator or a sum of a GHASH unit has a new value.
        Accumulator = "accumulator",
        /// The value of GHASH; of several chains, each.
        Ghash = "ghash",
        /// The tag; of several chains, each.
        Tag = "tag",
    }
}

/// What a stage shows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct StageValue {
    /// The first cycle in which it is valid; of what enters, the cycle in which it does.
    pub cycle: u64,
    pub stage: Stage,
    /// What a counter or a state becomes (`h`, `mask`, `text`), what enters GHASH (`iv`, `aad`, `text`, `length`), whose product it is (`multiplier`, `table`,
    /// `weighting`), or what kind of register an accumulator is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<&'static str>,
    /// The block, from 0: of text, AAD or IV.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// The unit within the GHASH unit; of a mask, a GHASH value or a tag, its chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<usize>,
    /// The exponent of a power, or the place of a multiplier or an accumulator among those of its unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// Of a product: its operands.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "hex_pair")]
    pub operands: Option<[[u8; 16]; 2]>,
    /// The bytes: 16, or fewer of a short last block of text.
    #[serde(serialize_with = "hex_bytes")]
    pub value: Vec<u8>,
}

impl StageValue {
    pub fn text_out(cycle: u64, block: u64, value: Vec<u8>) -> Self {
        Self { block: Some(block), ..Self::new(cycle, Stage::TextOut, value) }
    }

    fn new(cycle: u64, stage: Stage, value: impl Into<Vec<u8>>) -> Self {
        Self { cycle, stage, value: value.into(), ..Self::default() }
    }
}

fn hex_bytes<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hex::encode(bytes))
}

fn hex_pair<S: Serializer>(pair: &Option<[[u8; 16]; 2]>, serializer: S) -> Result<S::Ok, S::Error> {
    pair.map(|pair| pair.map(hex::encode)).serialize(serializer)
}

/// A message that went through the engine.
#[derive(Debug, Clone)]
pub struct Recording {
    /// Its stages, in the order of their cycles.
    pub stages: Vec<StageValue>,
    pub output: Vec<u8>,
    /// The tag; of several chains, each.
    pub tags: Vec<[u8; 16]>,
    /// The cycle in which the tag is valid.
    pub end: u64,
}

/// Whoever looks at an engine after each of its cycles, and at the stages that have been recorded since.
pub type Watch<'a> = &'a mut dyn FnMut(&mut Engine, &[StageValue]);

/// Sends a message through the structural engine of a specification, and records its stages: of text and AAD the first `blocks` each.
pub fn record(spec: &GcmSpec, given: &Given<'_>, blocks: u64, watch: Watch<'_>) -> Result<Recording, StandaloneError> {
    let mut engine = Engine::new(spec)?;
    engine.load_key(given.key)?;
    engine.start(given.iv, given.aad, given.text.len() as u64, given.direction)?;
    engine.offer(given.text);
    Recorder::new(spec, given, blocks).run(engine, watch)
}
