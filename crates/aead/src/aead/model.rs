//! All that a machine, a bench, a price or a vector asks of an engine of an AEAD.
//!
//! ```text
//!              +---------+---> registers             cycles, with their values
//!   a spec --->|  Model  |---> scheme, format        bytes
//!              |         |---> hardware              area and energy, by the parts that were synthesised
//!              +---------+---> forgery_log2, after_success
//! ```
//!
//! Each scheme answers in its own module; nobody else has to know which schemes exist. Cycles alone are [timing](super::timing).

use super::bytes::{Scheme, WireFormat};
use super::flow::Dates;
use crate::gcm::bulk::chains::ChainFormat;
use crate::gcm::control::ControlSpec;
use crate::gcm::message::SealOpen;
use crate::gcm::spec::{AesSpec, GhashSpec, SpecError};
use crate::units::{Bytes, Cycles};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

pub trait Model: Debug {
    /// Says whether such an engine can be built.
    fn check(&self) -> Result<(), SpecError>;
    /// From the tag to the verdict.
    fn compare(&self) -> Cycles;
    fn key_bits(&self) -> u32;
    /// Whose bytes it gives; `None` if its specification is none that can be built.
    fn scheme(&self) -> Option<Scheme>;
    fn tag_bytes(&self) -> u64 {
        16
    }
    /// How a message is cut for its tags.
    fn chains(&self) -> ChainFormat {
        ChainFormat::GCM
    }
    /// What its messages look like.
    fn format(&self) -> Option<WireFormat> {
        self.scheme().map(|scheme| WireFormat { chains: self.chains(), ..WireFormat::new(scheme, self.tag_bytes()) })
    }
    /// Cycles of a product that weighs a part of a message.
    fn product(&self) -> u64 {
        1
    }
    /// Bytes of text that are taken together.
    fn block_bytes(&self) -> u64 {
        16
    }
    /// Where a message to be sealed passes twice: room for the text of one in between.
    fn buffer(&self) -> Option<Bytes> {
        None
    }
    /// Whether a message is opened with the tag that came with it, so that the tag must be there first.
    fn opens_by_tag(&self) -> bool {
        false
    }
    /// Its registers with their values, at rest, if they are modelled and the specification is one that can be built.
    fn registers(&self) -> Option<Box<dyn Registers>> {
        None
    }
    fn hardware(&self) -> Hardware;
    /// The bound on one attempt at the tag of a message of so many bytes, as log2 of the probability that it passes.
    fn attempt_log2(&self, message_bytes: u64) -> f64;
    /// The same with an attempt at each of so many tags; 0 (certainty) is the most.
    fn forgery_log2(&self, message_bytes: u64, tags: u64) -> f64 {
        (self.attempt_log2(message_bytes) + (tags.max(1) as f64).log2()).min(0.0)
    }
    /// What an attempt that passed leaves of that bound.
    fn after_success(&self) -> AfterSuccess;
}

/// An engine with its values: [`Registers::start`], then [`Registers::step`] once per cycle; or [`Registers::message`].
pub trait Registers: Debug {
    /// The cycle that the next step works.
    fn cycle(&self) -> u64;
    /// Loads key and nonce, which have the scheme's lengths, in this cycle; AAD and text are there from now on.
    fn start(&mut self, key: &[u8], nonce: &[u8], aad: &[u8], text: &[u8], direction: SealOpen);
    fn step(&mut self, see: &mut dyn FnMut(u64, Event));

    /// Clocks a message through: key, nonce, AAD, text.
    fn message(&mut self, [key, nonce, aad, text]: [&[u8]; 4], direction: SealOpen) -> Clocked {
        self.start(key, nonce, aad, text, direction);
        let (mut seen, mut tag) = (Clocked::default(), None);
        loop {
            let Clocked { dates, taken, output, .. } = &mut seen;
            self.step(&mut |at, event| match event {
                Event::Aad => _ = dates.first_input.get_or_insert(at),
                Event::Taken => {
                    dates.first_input.get_or_insert(at);
                    taken.push(at);
                }
                Event::Text(bytes) => {
                    dates.first_text.get_or_insert(at);
                    dates.last_text = Some(at);
                    output.extend(bytes);
                }
                Event::Tag(value) => (dates.tag, tag) = (at, Some(value)),
            });
            if let Some(tag) = tag {
                return Clocked { tag, ..seen };
            }
        }
    }
}

/// What a message of an engine's registers shows.
#[derive(Debug, Default)]
pub struct Clocked {
    /// All but the verdict, which comes from a comparison behind the engine.
    pub dates: Dates,
    /// The cycle of each block of text that was taken.
    pub taken: Vec<u64>,
    pub output: Vec<u8>,
    pub tag: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A block of AAD was taken.
    Aad,
    /// A block of text was taken.
    Taken,
    /// Text is at the output.
    Text(Vec<u8>),
    Tag(Vec<u8>),
}

/// What an engine is built of, by the parts that were synthesised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hardware {
    /// Cipher lanes in counter mode beside an authenticator, as in AES-GCM.
    Lanes {
        aes: AesSpec,
        rounds: u32,
        ghash: GhashSpec,
        /// Where a message waits for its tag.
        buffer: Option<Bytes>,
        /// Cycles of key expansion before the first block.
        expansion: u64,
        /// A lane's data path, if it is narrower than its state.
        narrow: Option<Narrow>,
        /// How they are sequenced, where they do not run freely.
        control: Option<Box<ControlSpec>>,
    },
    /// A state per lane that is cipher and authenticator: each of its blocks has a round of its own.
    State {
        /// The rounds of all lanes, as cipher lanes of one round.
        rounds: AesSpec,
        lanes: u32,
        /// Blocks of the state of a lane.
        blocks: u32,
        /// Blocks of text that an update takes in a lane.
        words: u32,
        round: Cycles,
        /// Bits of key and nonce.
        held_bits: u32,
    },
    /// Parts of which none was synthesised, nor published: what is missing.
    Unknown(&'static str),
}

/// A data path that is narrower than the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Narrow {
    /// Bits that go through S-boxes in a cycle.
    pub bits: u32,
    pub cycles: u32,
}

crate::units::named! {
    /// What one forgery that has passed leaves of the bound for the next, under the same key. AES-GCM-SIV and GCM-SST derive POLYVAL's key from the nonce,
    /// ChaCha20-Poly1305 the one-time key of Poly1305; AEGIS makes its whole state anew from key and nonce.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum AfterSuccess {
        /// The next passes: the hash is linear in the difference, and its key that of every nonce.
        Certain = "certain",
        /// As before under every other nonce: the hash key is made anew for each.
        AsBefore = "as_before",
        /// As before under every other nonce by the designers' claim; nothing is proved.
        AsClaimed = "as_claimed",
    }
}

impl AfterSuccess {
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// In a cell of a table.
    pub const fn short(self) -> &'static str {
        match self {
            Self::Certain => "1",
            Self::AsBefore => "as before",
            Self::AsClaimed => "as claimed",
        }
    }

    pub const fn text(self) -> &'static str {
        match self {
            Self::Certain => {
                "after one success it is 1: the hash key is that of every nonce, so the same difference of ciphertext and tag passes again"
            }
            Self::AsBefore => {
                "after one success it is as before under every other nonce: the hash key is made anew for each"
            }
            Self::AsClaimed => {
                "after one success it is claimed to be as before under every other nonce: the state is made anew for each; nothing is proved"
            }
        }
    }
}
