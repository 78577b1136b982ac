//! AES-GCM among the AEADs: what [`gcm`](crate::gcm) has, as any of them is asked for it.

use super::bytes::{Key, Scheme, Wire};
use super::model::{AfterSuccess, Hardware, Model, Narrow};
use super::stream::Pieces;
use super::timing::EngineTiming;
use crate::gcm::bulk::chains::{ChainFormat, Chains};
use crate::gcm::message::SealOpen;
use crate::gcm::part::Part;
use crate::gcm::spec::{GcmSpec, SpecError};
use crate::gcm::{bulk, timing};
use crate::units::Cycles;
use std::sync::Arc;

impl Model for &GcmSpec {
    fn check(&self) -> Result<(), SpecError> {
        GcmSpec::check(self)
    }

    fn compare(&self) -> Cycles {
        self.compare
    }

    fn key_bits(&self) -> u32 {
        self.key_bits
    }

    fn scheme(&self) -> Option<Scheme> {
        Some(Scheme::AesGcm)
    }

    fn chains(&self) -> ChainFormat {
        ChainFormat::of(&self.ghash)
    }

    fn product(&self) -> u64 {
        self.ghash.multiplier().latency()
    }

    fn hardware(&self) -> Hardware {
        let (mut aes, ghash) = (self.aes.clone(), self.ghash.clone());
        let (rounds, control) = (self.rounds().unwrap_or(14), self.control.clone().map(Box::new));
        let expansion = self.key_setup.0 + control.as_ref().map_or(0, |control| control.schedule(rounds));
        let narrow = control.as_ref().and_then(|control| control.datapath_bits).map(|bits| {
            // Whatever a round lasts, its state is one register.
            Narrow { bits, cycles: std::mem::replace(&mut aes.registers_per_round, 1) }
        });
        Hardware::Lanes { aes, rounds, ghash, buffer: None, expansion, narrow, control }
    }

    fn attempt_log2(&self, message_bytes: u64) -> f64 {
        self.forgery_log2(message_bytes, 1)
    }

    fn forgery_log2(&self, message_bytes: u64, tags: u64) -> f64 {
        forgery_log2(8 * self.tag_bytes() as u32, message_bytes.div_ceil(16) + 1, tags)
    }

    /// The tag is GHASH masked by the nonce. A difference of ciphertext and tag that passed is a root in H: laid over any later message, as far from its
    /// end, it passes again, also with shorter tags or several to a message.
    fn after_success(&self) -> AfterSuccess {
        AfterSuccess::Certain
    }
}

/// The bound on a first forgery over so many tags, as log2 of the probability. What is left after one is [`AfterSuccess`].
///
/// For one attempt at one tag of t bits over a message of m blocks of AAD and ciphertext the probability is at most (m + 1) / 2^t: a
/// non-zero polynomial of degree m + 1 in H has at most so many roots (McGrew and Viega, "The Security and Performance of the
/// Galois/Counter Mode", 2004). Over n tags, with an attempt at each, at most n times that. 0 (certainty) is the most.
pub fn forgery_log2(tag_bits: u32, blocks_per_tag: u64, tags: u64) -> f64 {
    let attempts = (blocks_per_tag as f64 + 1.0) * tags.max(1) as f64;
    (attempts.log2() - f64::from(tag_bits)).min(0.0)
}

/// The bytes, by the crates `aes` and `polyval`; both ends of a path have the same.
pub const WIRE: Wire = Wire {
    listed: "AES-GCM",
    engine: "h100-nvl-tdx",
    key_bytes: &[16, 24, 32],
    nonce_bytes: 12,
    tag_bytes: &bulk::TAG_BYTES,
    seal: |key, nonce, aad, text| {
        let mut message = WholeMessage::new(key, nonce, aad, text.len() as u64, SealOpen::Seal)?;
        message.update(text);
        Some(message.tag())
    },
    open: |key, nonce, aad, text, tags| {
        let mut message = WholeMessage::new(key, nonce, aad, text.len() as u64, SealOpen::Open)?;
        message.update(text);
        (message.tag() == tags).then_some(())
    },
    message: |key, nonce, bytes, direction| Some(Box::new(WholeMessage::new(key, nonce, &[], bytes, direction)?)),
};

/// A message in flight, with the tags of its format.
#[derive(Debug)]
struct WholeMessage {
    key: Arc<bulk::Key>,
    message: Chains,
}

impl WholeMessage {
    fn new(key: &Key, nonce: &[u8], aad: &[u8], bytes: u64, direction: SealOpen) -> Option<Self> {
        let format = key.format().of_message(bytes).chains;
        let key = Arc::clone(key.gcm()?);
        Some(Self { message: Chains::new(format, &key, nonce, aad, direction).ok()?, key })
    }
}

impl Pieces for WholeMessage {
    fn update(&mut self, text: &mut [u8]) {
        self.message.update(&self.key, text);
    }

    fn tag(&self) -> Vec<u8> {
        self.message.on_wire(&self.key)
    }
}

/// A part of a message in flight; its tag is its share of the message's, or, with a number, one of its own.
#[derive(Debug)]
pub(super) struct PartMessage {
    key: Arc<bulk::Key>,
    nonce: [u8; 12],
    part: Part,
    number: Option<u32>,
    stream: bulk::Stream,
}

impl PartMessage {
    pub fn new(key: &Arc<bulk::Key>, nonce: [u8; 12], part: Part, number: Option<u32>, direction: SealOpen) -> Self {
        Self { key: Arc::clone(key), nonce, part, number, stream: part.stream(key, nonce, direction) }
    }
}

impl Pieces for PartMessage {
    fn update(&mut self, text: &mut [u8]) {
        self.stream.update(&self.key, text);
    }

    fn tag(&self) -> Vec<u8> {
        let Self { key, nonce, part, number, stream } = self;
        match number {
            Some(number) => part.chunk_tag(key, *nonce, stream, *number).to_vec(),
            None => part.share(key, *nonce, stream).to_vec(),
        }
    }
}

impl EngineTiming for timing::Timing {
    fn load_key(&mut self, at: u64) {
        timing::Timing::load_key(self, at);
    }

    #[inline]
    fn start(&mut self, at: u64, part: Part, direction: SealOpen) {
        match part.is_last() {
            true => timing::Timing::start(self, at, 0, part.bytes, direction),
            false => self.start_part(at, part.bytes, direction),
        }
    }

    fn accept(&mut self, at: u64, bytes: u32) -> timing::Accepted {
        timing::Timing::accept(self, at, bytes)
    }

    fn finish(&mut self) -> timing::Finished {
        timing::Timing::finish(self)
    }

    fn stretches(&self) -> &[(u64, u64)] {
        timing::Timing::stretches(self)
    }
}
