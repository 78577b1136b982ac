//! Where an engine and a vector part: the first stage of one message that is not software's, and the first that is not the vector's.
//!
//! A vector that gives its plaintext and must open is sealed, so that its ciphertext shows block by block; any other is opened.

use super::Case;
use crate::gcm::bulk::BulkError;
use crate::gcm::message::SealOpen;
use crate::gcm::spec::GcmSpec;
use crate::gcm::stages::{Given, Recording, Software, Stage, StageValue, Watch, record};
use crate::gcm::standalone::StandaloneError;
use serde::Serialize;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum JudgementError {
    /// The engine refuses the message, or never ends.
    #[error(transparent)]
    Engine(#[from] StandaloneError),
    #[error(transparent)]
    Software(#[from] BulkError),
}

/// What a vector says of a message.
#[derive(Debug, Clone, Copy, Default)]
pub struct Said<'a> {
    /// The text that must come out.
    pub text: Option<&'a [u8]>,
    /// The tag, maybe cut short.
    pub tag: Option<&'a [u8]>,
}

/// A stage of the engine that is not software's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EngineParts {
    pub got: StageValue,
    /// What software says, in hexadecimal.
    pub expected: String,
}

/// The first thing in which the engine's message is not the vector's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum VectorParts {
    Length {
        got: usize,
        expected: usize,
    },
    /// A block of the text that came out.
    TextOut {
        /// The block, from 0.
        block: usize,
        /// Its first byte, and the one behind its last.
        bytes: (usize, usize),
        /// The cycle in which it was valid, if it was recorded.
        cycle: Option<u64>,
        got: String,
        expected: String,
        /// What went in, added to what the vector has: the keystream of whoever made the vector.
        keystream_expected: String,
        /// The engine's keystream there.
        keystream_got: String,
        /// Blocks in which the two differ, and all of them.
        differing: usize,
        /// See `differing`.
        blocks: usize,
    },
    Tag {
        /// The cycle in which it was valid.
        cycle: u64,
        /// What came out, as long as the vector's.
        got: String,
        expected: String,
    },
}

/// A message that went through the engine, compared with software and a vector.
#[derive(Debug, Clone)]
pub struct Judgement {
    pub direction: SealOpen,
    pub recording: Recording,
    /// The first stage that is not software's.
    pub engine: Option<EngineParts>,
    /// What is not the vector's first.
    pub vector: Option<VectorParts>,
}

impl Case {
    /// Which way the case shows most.
    pub const fn direction(&self) -> SealOpen {
        if self.valid && self.plaintext.is_some() { SealOpen::Seal } else { SealOpen::Open }
    }

    /// What goes in one way; nothing where the case does not have it.
    pub fn given(&self, direction: SealOpen) -> Option<Given<'_>> {
        let text = match direction {
            SealOpen::Seal => self.plaintext.as_deref()?,
            SealOpen::Open => &self.ciphertext,
        };
        Some(Given { key: &self.key, iv: &self.iv, aad: &self.aad, text, direction })
    }

    /// What must come out.
    pub fn said(&self, direction: SealOpen) -> Said<'_> {
        let text = match direction {
            SealOpen::Seal => Some(&self.ciphertext[..]),
            // What is not valid opens to nothing that could be compared.
            SealOpen::Open => self.plaintext.as_deref().filter(|_| self.valid),
        };
        Said { text, tag: Some(&self.tag) }
    }
}

/// Sends a message through an engine of a specification, whatever key size that names, and holds it against software and what is said of it. Of text and AAD the
/// first `blocks` each are recorded.
pub fn judge(
    spec: &GcmSpec,
    given: Given<'_>,
    said: Said<'_>,
    blocks: u64,
    watch: Watch<'_>,
) -> Result<Judgement, JudgementError> {
    let software = Software::new(spec, given)?;
    let spec = GcmSpec { key_bits: 8 * given.key.len() as u32, ..spec.clone() };
    let recording = record(&spec, &given, blocks, watch)?;
    let engine = software
        .parting(&recording.stages)
        .map(|parting| EngineParts { got: parting.stage.clone(), expected: hex::encode(parting.expected) });
    let engine = engine.or_else(|| behind(&recording, &software));
    let text = said.text.and_then(|text| text_parts(&recording, given.text, text));
    let vector = text.or_else(|| tag_parts(&recording, said.tag?));
    Ok(Judgement { direction: given.direction, recording, engine, vector })
}

/// A difference in what was not recorded stage by stage.
fn behind(recording: &Recording, software: &Software<'_>) -> Option<EngineParts> {
    let (got, expected) = (&recording.output, software.output());
    let block = got.chunks(16).zip(expected.chunks(16)).position(|(got, expected)| got != expected)?;
    let part = |bytes: &[u8]| bytes.chunks(16).nth(block).unwrap_or_default().to_vec();
    Some(EngineParts {
        got: StageValue::text_out(recording.end, block as u64, part(got)),
        expected: hex::encode(part(expected)),
    })
}

fn added(a: &[u8], b: &[u8]) -> String {
    hex::encode(a.iter().zip(b).map(|(a, b)| a ^ b).collect::<Vec<_>>())
}

fn text_parts(recording: &Recording, input: &[u8], said: &[u8]) -> Option<VectorParts> {
    let output = &recording.output;
    if output.len() != said.len() {
        return Some(VectorParts::Length { got: output.len(), expected: said.len() });
    }
    let differ: Vec<usize> = (0..output.len().div_ceil(16))
        .filter(|block| {
            let part = 16 * block..output.len().min(16 * block + 16);
            output[part.clone()] != said[part]
        })
        .collect();
    let block = *differ.first()?;
    let bytes = (16 * block, output.len().min(16 * block + 16));
    let (input, got, expected) = (&input[bytes.0..bytes.1], &output[bytes.0..bytes.1], &said[bytes.0..bytes.1]);
    let is_it = |stage: &&StageValue| stage.stage == Stage::TextOut && stage.block == Some(block as u64);
    Some(VectorParts::TextOut {
        block,
        bytes,
        cycle: recording.stages.iter().find(is_it).map(|stage| stage.cycle),
        got: hex::encode(got),
        expected: hex::encode(expected),
        keystream_expected: added(input, expected),
        keystream_got: added(input, got),
        differing: differ.len(),
        blocks: output.len().div_ceil(16),
    })
}

fn tag_parts(recording: &Recording, said: &[u8]) -> Option<VectorParts> {
    let tag = recording.tags.concat();
    let got = &tag[..tag.len().min(said.len())];
    (got != said).then(|| VectorParts::Tag { cycle: recording.end, got: hex::encode(got), expected: hex::encode(said) })
}
