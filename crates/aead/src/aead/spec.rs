//! What an engine of another AEAD than AES-GCM is built of.

use super::aegis256::Aegis256Spec;
use super::chacha20_poly1305::ChaCha20Poly1305Spec;
use super::gcm_siv::GcmSivSpec;
use crate::gcm::spec::SpecError;
use crate::units::Cycles;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An engine of another AEAD than AES-GCM: it speaks to no end that expects AES-GCM.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "scheme", rename_all = "snake_case")]
#[schemars(title = "AEAD")]
pub enum AeadSpec {
    /// AES-GCM-SIV (RFC 8452).
    GcmSiv(GcmSivSpec),
    /// AEGIS-256 and, with two or four lanes, AEGIS-256X (draft-irtf-cfrg-aegis-aead).
    Aegis256(Aegis256Spec),
    /// ChaCha20-Poly1305 (RFC 8439).
    #[serde(rename = "chacha20_poly1305")]
    ChaCha20Poly1305(ChaCha20Poly1305Spec),
}

impl AeadSpec {
    /// Says whether such an engine can be built.
    ///
    /// # Errors
    /// The first field that is out of its range.
    pub fn check(&self) -> Result<(), SpecError> {
        match self {
            Self::GcmSiv(spec) => spec.check(),
            Self::Aegis256(spec) => spec.check(),
            Self::ChaCha20Poly1305(spec) => spec.check(),
        }
    }

    /// From the tag to the verdict.
    #[must_use]
    pub const fn compare(&self) -> Cycles {
        match self {
            Self::GcmSiv(spec) => spec.compare,
            Self::Aegis256(spec) => spec.compare,
            Self::ChaCha20Poly1305(spec) => spec.compare,
        }
    }

    /// Bits of a key.
    #[must_use]
    pub const fn key_bits(&self) -> u32 {
        match self {
            Self::GcmSiv(spec) => spec.key_bits,
            Self::Aegis256(_) | Self::ChaCha20Poly1305(_) => 256,
        }
    }
}
