//! What every engine on a bench of its own is given and asked, whatever its AEAD: keys and messages from a seed, stages in cycles, digests.
//!
//! | stage | from | to |
//! | --- | --- | --- |
//! | set-up | the message's start | first input |
//! | first output | first input | first text at the output |
//! | span | first text at the output | last text at the output |
//! | tail | last text at the output | the end: tag, and all text out |

use super::message::SealOpen;
use serde::Serialize;
use sha2::{Digest, Sha256};
use thiserror::Error;

#[derive(Debug, Clone)]
pub struct Bench {
    pub aad_blocks: u64,
    pub blocks: u64,
    pub direction: SealOpen,
    /// Messages, one after the other.
    pub messages: u32,
    /// Where key, IVs, AAD and text come from.
    pub seed: u64,
    /// Blocks of the first message to trace.
    pub trace_blocks: u64,
}

/// An engine gave something else than it must.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("message {message}: the engine's {what} is wrong")]
pub struct Wrong {
    /// From 1.
    pub message: u32,
    pub what: &'static str,
}

/// What a message is made of. Its text is plain.
#[derive(Debug, Clone)]
pub struct Drawn {
    pub iv: Vec<u8>,
    pub aad: Vec<u8>,
    pub text: Vec<u8>,
}

impl Bench {
    pub fn key(&self, bits: u32) -> Vec<u8> {
        bytes(self.seed, "key", 0, u64::from(bits) / 8)
    }

    pub fn message(&self, number: u32, iv_bytes: u64) -> Drawn {
        let of = |label, length| bytes(self.seed, label, number, length);
        Drawn { iv: of("iv", iv_bytes), aad: of("aad", 16 * self.aad_blocks), text: of("text", 16 * self.blocks) }
    }

    /// Plaintext and ciphertext as input and output.
    pub fn ways<T>(&self, plain: T, cipher: T) -> (T, T) {
        match self.direction {
            SealOpen::Seal => (plain, cipher),
            SealOpen::Open => (cipher, plain),
        }
    }
}

/// Bytes that a seed gives: SHA-256 over seed, label, number and a counter, as long as needed.
pub fn bytes(seed: u64, label: &str, number: u32, length: u64) -> Vec<u8> {
    let block = |counter: u64| {
        let mut hash = Sha256::new();
        hash.update(seed.to_le_bytes());
        hash.update(label);
        hash.update(number.to_le_bytes());
        hash.update(counter.to_le_bytes());
        hash.finalize()
    };
    (0..).flat_map(block).take(length as usize).collect()
}

/// The cycles of one message. What does not apply is `None`. Those from the start are negative where it lies behind what they count to: a
/// [control](super::control::ControlSpec) may count from elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Metrics {
    /// From the start to the first input block, AAD if there is any.
    pub setup_cycles: Option<i64>,
    /// From the first input block to the first text block at the output.
    pub first_output_cycles: Option<i64>,
    /// From the first to the last text block at the output.
    pub output_span_cycles: Option<i64>,
    /// From the last text block at the output to the end.
    pub tail_cycles: Option<i64>,
    /// From the start to the end: the sum of the four.
    pub total_cycles: Option<i64>,
    /// `output_span_cycles` per block after the first.
    pub cycles_per_block: Option<f64>,
    /// From the start to H and the mask, of an engine that is driven phase by phase.
    pub h_and_mask_cycles: Option<i64>,
    /// AAD through GHASH, from the phase's start.
    pub aad_cycles: Option<i64>,
    /// First text block at the output, from the phase's start.
    pub first_text_output_cycles: Option<i64>,
    /// Last text block at the output, from the phase's start.
    pub last_text_output_cycles: Option<i64>,
    /// From the start of the length block's phase to the tag.
    pub length_to_tag_cycles: Option<i64>,
}

/// When the stages of a message begin and end, in cycles.
#[derive(Debug, Clone, Copy)]
pub struct Stages {
    pub start: u64,
    /// First input, AAD if there is any.
    pub first_input: Option<u64>,
    pub first_text: Option<u64>,
    pub last_text: Option<u64>,
    pub end: u64,
}

impl Stages {
    /// The span of `blocks` at the output alone.
    pub fn span(&self, blocks: u64) -> Metrics {
        let span = self.last_text.zip(self.first_text).map(|(last, first)| (last - first).cast_signed());
        let cycles_per_block = span.filter(|_| blocks > 1).map(|span| span as f64 / (blocks - 1) as f64);
        Metrics { cycles_per_block, output_span_cycles: span, ..Metrics::default() }
    }

    /// All stages of a message of `blocks`, whose start counts as cycle `origin`.
    pub fn metrics(&self, origin: i64, blocks: u64) -> Metrics {
        Metrics {
            setup_cycles: self.first_input.map(|at| (at - self.start).cast_signed() + origin),
            first_output_cycles: self
                .first_text
                .zip(self.first_input)
                .map(|(text, input)| (text - input).cast_signed()),
            tail_cycles: self.last_text.map(|last| (self.end - last).cast_signed()),
            total_cycles: Some((self.end - self.start).cast_signed() + origin),
            ..self.span(blocks)
        }
    }
}

/// One message: its cycles and its bytes.
#[derive(Debug, Clone, Serialize)]
pub struct MessageOutcome {
    #[serde(flatten)]
    pub metrics: Metrics,
    /// The cycle in which its tag is valid, counted from the start of the first message.
    pub tag_cycle: u64,
    /// The IV, in hexadecimal like all bytes here.
    pub iv: String,
    /// The tag; of several, one behind the other.
    pub tag: String,
    /// SHA-256 of AAD, input and output.
    pub aad_sha256: String,
    pub input_sha256: String,
    pub output_sha256: String,
    /// AAD, input and output themselves, if each is no longer than [`SHOWN`] bytes.
    pub aad: Option<String>,
    pub input: Option<String>,
    pub output: Option<String>,
    /// The cycle in which its tag is valid, counted from its own start, of another AEAD than AES-GCM. It may lie before the first output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag_from_start_cycles: Option<u64>,
    /// Text that such an engine held at once, between its passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer_bytes: Option<u64>,
}

/// Longest byte string that an outcome holds in full.
pub const SHOWN: usize = 1 << 16;

impl MessageOutcome {
    /// A message with its IV, AAD, input, output and tag.
    pub fn new(metrics: Metrics, tag_cycle: u64, [iv, aad, input, output, tag]: [&[u8]; 5]) -> Self {
        let shown = |bytes: &[u8]| (bytes.len() <= SHOWN).then(|| hex::encode(bytes));
        let digest = |bytes: &[u8]| hex::encode(Sha256::digest(bytes));
        Self {
            metrics,
            tag_cycle,
            iv: hex::encode(iv),
            tag: hex::encode(tag),
            aad_sha256: digest(aad),
            input_sha256: digest(input),
            output_sha256: digest(output),
            aad: shown(aad),
            input: shown(input),
            output: shown(output),
            tag_from_start_cycles: None,
            buffer_bytes: None,
        }
    }
}
