//! What an engine is built of, and whose bytes it gives: the list of schemes.

use super::aegis::{self, Aegis, AegisSpec, AegisTiming, Form};
use super::aes_gcm;
use super::bytes::{Wire, WireFormat};
use super::chacha20_poly1305::{self, ChaCha20Poly1305Spec, ChaChaTiming};
use super::gcm_siv::{self, GcmSivSpec, GcmSivTiming};
use super::gcm_sst::{self, GcmSstSpec, GcmSstTiming};
use super::model::Model;
use super::scheme_timing::SchemeTiming;
use crate::gcm::spec::{GcmSpec, SpecError};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an engine is built of. Whatever it is asked for is in its [`Model`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum EngineSpec {
    Gcm(GcmSpec),
    Other(AeadSpec),
}

impl EngineSpec {
    /// The engine, by what is asked of any.
    pub fn model(&self) -> Box<dyn Model + '_> {
        match self {
            Self::Gcm(spec) => Box::new(spec),
            Self::Other(spec) => spec.model(),
        }
    }

    /// What its messages look like; those of one that cannot be built as AES-GCM's.
    pub fn format(&self) -> WireFormat {
        self.model().format().unwrap_or(WireFormat::GCM)
    }

    /// The engine, if it is one of AES-GCM.
    pub const fn gcm(&self) -> Option<&GcmSpec> {
        match self {
            Self::Gcm(spec) => Some(spec),
            Self::Other(_) => None,
        }
    }

    /// Its key length, where the scheme has keys of several.
    pub const fn key_bits_mut(&mut self) -> Option<&mut u32> {
        match self {
            Self::Gcm(spec) => Some(&mut spec.key_bits),
            Self::Other(AeadSpec::GcmSiv(spec)) => Some(&mut spec.key_bits),
            Self::Other(AeadSpec::GcmSst(spec)) => Some(&mut spec.key_bits),
            Self::Other(_) => None,
        }
    }
}

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

    /// The same with tags of another length, where it has several.
    pub fn with_tag(mut self, tag: Bytes) -> Self {
        match &mut self {
            Self::GcmSst(spec) => spec.tag = tag,
            Self::Aegis256(spec) | Self::Aegis128L(spec) => spec.tag = Some(tag),
            Self::GcmSiv(_) | Self::ChaCha20Poly1305(_) => {}
        }
        self
    }

    /// Its cycles, from rest.
    pub fn timing(&self) -> Result<Box<dyn SchemeTiming>, SpecError> {
        Ok(match self {
            Self::GcmSiv(spec) => Box::new(GcmSivTiming::new(spec)?),
            Self::GcmSst(spec) => Box::new(GcmSstTiming::new(spec)?),
            Self::Aegis256(spec) => Box::new(AegisTiming::new(Aegis { form: Form::Wide256, spec })?),
            Self::Aegis128L(spec) => Box::new(AegisTiming::new(Aegis { form: Form::Long128, spec })?),
            Self::ChaCha20Poly1305(spec) => Box::new(ChaChaTiming::new(spec)?),
        })
    }
}

crate::units::named! {
    /// A scheme, as far as its bytes go, by what the standard calls it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Scheme {
        AesGcm = "AES-GCM",
        GcmSiv = "AES-GCM-SIV",
        GcmSst = "GCM-SST",
        Aegis256 = "AEGIS-256",
        Aegis256X2 = "AEGIS-256X2",
        Aegis256X4 = "AEGIS-256X4",
        Aegis128L = "AEGIS-128L",
        Aegis128X2 = "AEGIS-128X2",
        Aegis128X4 = "AEGIS-128X4",
        ChaCha20Poly1305 = "ChaCha20-Poly1305",
    }
}

impl Scheme {
    /// What is published of it, and its bytes.
    pub const fn wire(self) -> &'static Wire {
        match self {
            Self::AesGcm => &aes_gcm::WIRE,
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

    pub const fn nonce_bytes(self) -> usize {
        self.wire().nonce_bytes
    }
}
