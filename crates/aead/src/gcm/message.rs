//! What an engine knows about a message before its bytes come.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Encrypt and make a tag, or decrypt and verify one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SealOpen {
    /// Plaintext in, ciphertext and tag out.
    Seal,
    /// Ciphertext and tag in, plaintext and verdict out.
    Open,
}

/// The lengths of a message, known at its start: a copy is launched with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Bytes of IV. 12 make a J0 at once; any other number passes through GHASH first.
    pub iv_bytes: u64,
    /// Bytes of additional authenticated data, which are there from the start.
    pub aad_bytes: u64,
    pub text_bytes: u64,
    pub direction: SealOpen,
}

impl Shape {
    /// A message with a 96-bit IV.
    pub const fn new(aad_bytes: u64, text_bytes: u64, direction: SealOpen) -> Self {
        Self { iv_bytes: 12, aad_bytes, text_bytes, direction }
    }

    /// Blocks of AAD, the last one padded.
    pub const fn aad_blocks(&self) -> u64 {
        self.aad_bytes.div_ceil(16)
    }

    /// Blocks of text, the last one maybe short.
    pub const fn text_blocks(&self) -> u64 {
        self.text_bytes.div_ceil(16)
    }

    /// Blocks that GHASH takes: AAD, ciphertext and the length block.
    pub const fn ghash_blocks(&self) -> u64 {
        self.aad_blocks() + self.text_blocks() + 1
    }

    /// Blocks that GHASH takes to make J0: none for a 96-bit IV, else the padded IV and its length block.
    pub const fn iv_blocks(&self) -> u64 {
        if self.iv_bytes == 12 { 0 } else { self.iv_bytes.div_ceil(16) + 1 }
    }
}
