//! The cycles of an engine, whatever it seals with.

use super::SealingSpec;
use crate::aead;
use crate::gcm::message::SealOpen;
use crate::gcm::part::Part;
use crate::gcm::spec::SpecError;
use crate::gcm::timing::{Accepted, Finished, Timing, Waits};

/// An engine's timing. Messages follow each other: start, text in order, finish.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "one for each PCE, and AES-GCM's is looked at for every piece of text")]
pub enum EngineTiming {
    Gcm(Timing),
    Aead(Box<aead::timing::AeadTiming>),
}

impl EngineTiming {
    /// An engine at rest in cycle 0, without a key.
    pub fn new(spec: &SealingSpec) -> Result<Self, SpecError> {
        Ok(match spec {
            SealingSpec::Gcm(spec) => Self::Gcm(Timing::new(spec)?),
            SealingSpec::Aead(spec) => Self::Aead(Box::new(aead::timing::AeadTiming::new(spec)?)),
        })
    }

    /// Loads a key from cycle `at` on.
    pub fn load_key(&mut self, at: u64) {
        match self {
            Self::Gcm(timing) => _ = timing.load_key(at),
            Self::Aead(timing) => timing.load_key(at),
        }
    }

    /// Starts a message, or of AES-GCM a part of one, in cycle `at`.
    #[inline]
    pub fn start(&mut self, at: u64, part: Part, direction: SealOpen) {
        match self {
            Self::Gcm(timing) if part.is_last() => timing.start(at, 0, part.bytes, direction),
            Self::Gcm(timing) => timing.start_part(at, part.bytes, direction),
            Self::Aead(timing) => timing.start(at, part.bytes, direction),
        }
    }

    /// The tag that came with a message to be opened is there in cycle `at`.
    pub fn seed(&mut self, at: u64) {
        if let Self::Aead(timing) = self {
            timing.seed(at);
        }
    }

    /// Takes the next `bytes` of text, all visible from cycle `at` on; of text that passes twice, first all of it, then all of it again.
    #[inline]
    pub fn accept(&mut self, at: u64, bytes: u32) -> Accepted {
        match self {
            Self::Gcm(timing) => timing.accept(at, bytes),
            Self::Aead(timing) => timing.accept(at, bytes),
        }
    }

    /// Ends the message: all its text has been accepted.
    #[inline]
    pub fn finish(&mut self) -> Finished {
        match self {
            Self::Gcm(timing) => timing.finish(),
            Self::Aead(timing) => timing.finish(),
        }
    }

    /// Cycles up to `until` in which the engine had work.
    #[inline]
    pub fn busy(&self, until: u64) -> u64 {
        match self {
            Self::Gcm(timing) => timing.busy(until),
            Self::Aead(timing) => timing.busy(until),
        }
    }

    /// The latest stretches of that work, oldest first; they may reach into the future, and the last may still grow.
    #[inline]
    pub const fn stretches(&self) -> &[(u64, u64)] {
        match self {
            Self::Gcm(timing) => timing.stretches(),
            Self::Aead(timing) => timing.stretches(),
        }
    }

    /// Cycles in which text waited: for the cipher, and for the authenticator.
    #[inline]
    pub const fn waits(&self) -> Waits {
        match self {
            Self::Gcm(timing) => timing.waits(),
            Self::Aead(timing) => timing.waits(),
        }
    }
}
