//! What an engine of another AEAD than AES-GCM is built of, and whose bytes it gives: the list of schemes.

use super::aegis::{self, Aegis, AegisSpec, Form};
use super::bytes::{Wire, WireFormat};
use super::chacha20_poly1305::{self, ChaCha20Poly1305Spec};
use super::gcm_siv::{self, GcmSivSpec};
use super::gcm_sst::{self, GcmSstSpec};
use super::model::Model;
use crate::gcm::spec::SpecError;
use crate::units::{Bytes, Cycles};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An engine of another AEAD than AES-GCM: it speaks to no end that expects AES-GCM.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "scheme", rename_all = "snake_case")]
#[schemars(title = "AEAD")]
pub enum AeadSpec {
    /// AES-GCM-SIV (RFC 8452).
    GcmSiv(GcmSivSpec),
    /// GCM-SST (draft-mattsson-cfrg-aes-gcm-sst).
    GcmSst(GcmSstSpec),
    /// AEGIS-256 and, with two or four lanes, AEGIS-256X (draft-irtf-cfrg-aegis-aead).
    Aegis256(AegisSpec),
    /// AEGIS-128L and, with two or four lanes, AEGIS-128X (draft-irtf-cfrg-aegis-aead).
    #[serde(rename = "aegis128l")]
    Aegis128L(AegisSpec),
    /// ChaCha20-Poly1305 (RFC 8439).
    #[serde(rename = "chacha20_poly1305")]
    ChaCha20Poly1305(ChaCha20Poly1305Spec),
}

impl AeadSpec {
    /// The engine, by what is asked of any.
    pub fn model(&self) -> Box<dyn Model + '_> {
        match self {
            Self::GcmSiv(spec) => Box::new(spec),
            Self::GcmSst(spec) => Box::new(spec),
            Self::Aegis256(spec) => Box::new(Aegis { form: Form::Wide256, spec }),
            Self::Aegis128L(spec) => Box::new(Aegis { form: Form::Long128, spec }),
            Self::ChaCha20Poly1305(spec) => Box::new(spec),
        }
    }

    /// Says whether such an engine can be built.
    pub fn check(&self) -> Result<(), SpecError> {
        self.model().check()
    }

    /// From the tag to the verdict.
    pub fn compare(&self) -> Cycles {
        self.model().compare()
    }

    pub fn key_bits(&self) -> u32 {
        self.model().key_bits()
    }

    /// The same, where the scheme has keys of several lengths.
    pub const fn key_bits_mut(&mut self) -> Option<&mut u32> {
        match self {
            Self::GcmSiv(spec) => Some(&mut spec.key_bits),
            Self::GcmSst(spec) => Some(&mut spec.key_bits),
            Self::Aegis256(_) | Self::Aegis128L(_) | Self::ChaCha20Poly1305(_) => None,
        }
    }

    /// The same with whole tags, where shorter ones are their beginnings.
    pub fn with_whole_tags(mut self) -> Self {
        if let Self::GcmSst(spec) = &mut self {
            spec.tag = Bytes(16);
        }
        self
    }

    /// Whose bytes an engine gives; `None` if its specification is none that can be built.
    pub fn scheme(&self) -> Option<Scheme> {
        self.model().scheme()
    }

    /// What its messages look like.
    pub fn format(&self) -> Option<WireFormat> {
        let model = self.model();
        model.scheme().map(|scheme| WireFormat { scheme, tag_bytes: model.tag_bytes() as usize })
    }
}

/// A scheme, as far as its bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    GcmSiv,
    GcmSst,
    /// AEGIS-256.
    Aegis256,
    /// AEGIS-256X2.
    Aegis256X2,
    /// AEGIS-256X4.
    Aegis256X4,
    /// AEGIS-128L.
    Aegis128L,
    /// AEGIS-128X2.
    Aegis128X2,
    /// AEGIS-128X4.
    Aegis128X4,
    /// ChaCha20-Poly1305.
    ChaCha20Poly1305,
}

impl Scheme {
    pub const ALL: [Self; 9] = [
        Self::GcmSiv,
        Self::GcmSst,
        Self::Aegis256,
        Self::Aegis256X2,
        Self::Aegis256X4,
        Self::Aegis128L,
        Self::Aegis128X2,
        Self::Aegis128X4,
        Self::ChaCha20Poly1305,
    ];

    /// What is published of it, and its bytes.
    pub const fn wire(self) -> &'static Wire {
        match self {
            Self::GcmSiv => &gcm_siv::WIRE,
            Self::GcmSst => &gcm_sst::WIRE,
            Self::Aegis256 => &aegis::AEGIS_256,
            Self::Aegis256X2 => &aegis::AEGIS_256X2,
            Self::Aegis256X4 => &aegis::AEGIS_256X4,
            Self::Aegis128L => &aegis::AEGIS_128L,
            Self::Aegis128X2 => &aegis::AEGIS_128X2,
            Self::Aegis128X4 => &aegis::AEGIS_128X4,
            Self::ChaCha20Poly1305 => &chacha20_poly1305::WIRE,
        }
    }

    /// What the standard calls it.
    pub const fn name(self) -> &'static str {
        self.wire().name
    }

    pub const fn nonce_bytes(self) -> usize {
        self.wire().nonce_bytes
    }
}
