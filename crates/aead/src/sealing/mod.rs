//! What seals and opens on a path: AES-GCM, or another AEAD. The units of a machine know it by this face alone.
//!
//! ```text
//!    SealingSpec --> EngineTiming   cycles of the copy engine's engine
//!                --> Format      what a message carries: tags, nonce
//!    Format, key --> Key         a whole message at once, as software does it
//!                --> Message     a message in pieces, as an engine does it
//! ```
//!
//! | | AES-GCM | another AEAD |
//! | --- | --- | --- |
//! | cycles | [`gcm::timing`](crate::gcm::timing) | [`aead::timing`](crate::aead::timing) |
//! | bytes on the CPU | [`gcm::bulk`](crate::gcm::bulk) | [`aead::bytes`](crate::aead::bytes) |
//! | bytes in the engine | the same | [`aead::stream`](crate::aead::stream) |
//! | tags | 16 bytes, or as many for each chain | 16 bytes; AEGIS also 32, GCM-SST 4 to 16 |
//! | nonce | counter and mask of 96 bits | the same, and where it is longer the rest of a longer mask |
//! | passes over a message to be sealed | one | one; AES-GCM-SIV two |
//! | to open | text | the same; AES-GCM-SIV needs the tag before it |
//! | messages in parts | yes | no: neither state nor tag is a sum of parts' |

pub mod key;
pub mod message;
pub mod timing;

pub use key::Key;
pub use message::Message;
pub use timing::EngineTiming;

use crate::aead::{bytes, spec::AeadSpec};
use crate::gcm::bulk::chains;
use crate::gcm::spec::{GcmSpec, SpecError};
use crate::units::Cycles;

/// What an engine is built of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SealingSpec {
    Gcm(GcmSpec),
    Aead(AeadSpec),
}

impl SealingSpec {
    /// Says whether such an engine can be built.
    pub fn check(&self) -> Result<(), SpecError> {
        match self {
            Self::Gcm(spec) => spec.check(),
            Self::Aead(spec) => spec.check(),
        }
    }

    /// From the tag to the verdict.
    pub fn compare(&self) -> Cycles {
        match self {
            Self::Gcm(spec) => spec.compare,
            Self::Aead(spec) => spec.compare(),
        }
    }

    pub fn key_bits(&self) -> u32 {
        match self {
            Self::Gcm(spec) => spec.key_bits,
            Self::Aead(spec) => spec.key_bits(),
        }
    }

    pub fn format(&self) -> Format {
        match self {
            Self::Gcm(spec) => Format::Gcm(chains::ChainFormat::of(&spec.ghash)),
            Self::Aead(spec) => spec.format().map_or(Format::GCM, Format::Aead),
        }
    }

    /// Where a message to be sealed passes twice: the longest one, in bytes, that is kept in between.
    pub fn kept_between_passes(&self) -> Option<u64> {
        match self {
            Self::Aead(spec) => spec.model().buffer().map(|buffer| buffer.0),
            Self::Gcm(_) => None,
        }
    }

    /// Whether a message is opened with the tag that came with it, so that the tag must be there first.
    pub fn opens_by_tag(&self) -> bool {
        matches!(self, Self::Aead(spec) if spec.model().opens_by_tag())
    }

    /// Cycles of a product that weighs a part of a message.
    pub const fn product(&self) -> u64 {
        match self {
            Self::Gcm(spec) => spec.ghash.multiplier().latency(),
            Self::Aead(_) => 1,
        }
    }
}

/// What a message carries in addition to its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// AES-GCM, of one tag or of several.
    Gcm(chains::ChainFormat),
    Aead(bytes::WireFormat),
}

/// Bytes of the blocks that tags are counted in.
const TAG_BLOCK: u64 = chains::TAG_BYTES as u64;

impl Format {
    pub const GCM: Self = Self::Gcm(chains::ChainFormat::GCM);

    /// The same with a [CRC of the text](crate::gcm::bulk::text_crc) in the tag, or without; only AES-GCM has it.
    pub const fn with_text_crc(self, text_crc: bool) -> Self {
        match self {
            Self::Gcm(format) => Self::Gcm(chains::ChainFormat { text_crc, ..format }),
            Self::Aead(_) => self,
        }
    }

    /// The same with a tag for each `chunk` bytes of messages of up to `longest`; only AES-GCM has several.
    pub const fn with_chunks(self, chunk: u64, longest: u64) -> Self {
        match self {
            Self::Gcm(format) => Self::Gcm(chains::ChainFormat {
                chains: longest.div_ceil(chunk) as u32,
                chunk,
                by_chunk: true,
                ..format
            }),
            Self::Aead(_) => self,
        }
    }

    /// That of a message of so many bytes.
    pub const fn of_message(self, bytes: u64) -> Self {
        match self {
            Self::Gcm(format) => Self::Gcm(format.of_message(bytes)),
            Self::Aead(_) => self,
        }
    }

    pub const fn text_crc(self) -> bool {
        matches!(self, Self::Gcm(format) if format.text_crc)
    }

    /// Bytes of all tags of a message.
    pub const fn tag_bytes(self) -> u64 {
        match self {
            Self::Gcm(format) => format.tag_bytes(),
            Self::Aead(format) => format.tag_bytes as u64,
        }
    }

    /// The same in blocks of 16 bytes, the last of which a shorter tag does not fill.
    pub const fn tag_blocks(self) -> u32 {
        self.tag_bytes().div_ceil(TAG_BLOCK) as u32
    }

    /// Bytes of a nonce, and of the IV that an engine reports.
    pub const fn nonce_bytes(self) -> u64 {
        match self {
            Self::Gcm(_) => 12,
            Self::Aead(format) => format.scheme.nonce_bytes() as u64,
        }
    }
}

#[cfg(test)]
mod tests;
