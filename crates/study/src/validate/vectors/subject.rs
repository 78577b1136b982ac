//! What vectors are passed through.

use super::{Algorithm, Case};
use crate::aead::bytes::{self, BytesError, WireFormat};
use crate::aead::spec::{AeadSpec, EngineSpec};
use crate::gcm::bulk::{BulkError, Key, Stream};
use crate::gcm::engine::{Engine, EngineError};
use crate::gcm::message::SealOpen;
use crate::gcm::spec::GcmSpec;
use crate::units::Bytes;
use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error("{0}")]
    Key(String),
    #[error("{0}")]
    Iv(String),
    #[error("the tag does not belong to this key, IV, AAD and text")]
    Forged,
    /// The subject, and not the case, is the reason.
    #[error("{0}")]
    Engine(String),
}

impl From<BulkError> for Refusal {
    fn from(error: BulkError) -> Self {
        match error {
            BulkError::KeyBytes(_) => Self::Key(error.to_string()),
            BulkError::EmptyIv => Self::Iv(error.to_string()),
            BulkError::Forged => Self::Forged,
            BulkError::TagBytes(_) => Self::Engine(error.to_string()),
        }
    }
}

impl From<EngineError> for Refusal {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::EmptyIv => Self::Iv(error.to_string()),
            _ => Self::Engine(error.to_string()),
        }
    }
}

impl From<BytesError> for Refusal {
    fn from(error: BytesError) -> Self {
        match error {
            BytesError::KeyBytes(..) => Self::Key(error.to_string()),
            BytesError::NonceBytes(..) => Self::Iv(error.to_string()),
            BytesError::Forged => Self::Forged,
            BytesError::TagBytes(..) | BytesError::TooLong => Self::Engine(error.to_string()),
        }
    }
}

/// What passing a text gives: what comes out, and a tag that is the case's or begins with it.
pub type Processed = Result<(Vec<u8>, Vec<u8>), Refusal>;

/// An implementation of AES-GCM, or of the AEAD that a file's cases are of.
pub trait Subject {
    /// What it implements; cases of others say nothing about it.
    fn algorithms(&self) -> &[Algorithm];

    /// Text through the case's key, IV and AAD: what comes out, and the tag.
    fn process(&mut self, case: &Case, text: &[u8], direction: SealOpen) -> Processed;
}

pub fn subject(engine: EngineSpec) -> Box<dyn Subject> {
    match engine {
        EngineSpec::Gcm(spec) => Box::new(Structural::new(spec)),
        EngineSpec::Other(spec) => Box::new(Other::new(spec)),
    }
}

#[derive(Debug, Default)]
pub struct Bulk;

const GCM: [Algorithm; 2] = [Algorithm::AES_GCM, Algorithm::AesGmac];

impl Subject for Bulk {
    fn algorithms(&self) -> &[Algorithm] {
        &GCM
    }

    fn process(&mut self, case: &Case, text: &[u8], direction: SealOpen) -> Processed {
        let key = Key::new(&case.key)?;
        let mut stream = Stream::new(&key, &case.iv, &case.aad, direction)?;
        let mut text = text.to_vec();
        stream.update(&key, &mut text);
        Ok((text, stream.tag(&key).to_vec()))
    }
}

/// The structural engine; one is built for each key size.
#[derive(Debug)]
pub struct Structural {
    spec: GcmSpec,
    engines: Vec<(u32, Engine)>,
}

impl Structural {
    /// Engines of a specification, whatever key size it names.
    pub const fn new(spec: GcmSpec) -> Self {
        Self { spec, engines: Vec::new() }
    }

    fn engine(&mut self, key_bits: u32) -> Result<&mut Engine, Refusal> {
        let found = self.engines.iter().position(|&(bits, _)| bits == key_bits);
        let index = match found {
            Some(index) => index,
            None => {
                let spec = GcmSpec { key_bits, ..self.spec.clone() };
                let engine = Engine::new(&spec).map_err(|error| Refusal::Engine(error.to_string()))?;
                self.engines.push((key_bits, engine));
                self.engines.len() - 1
            }
        };
        Ok(&mut self.engines[index].1)
    }
}

impl Subject for Structural {
    fn algorithms(&self) -> &[Algorithm] {
        &GCM
    }

    fn process(&mut self, case: &Case, text: &[u8], direction: SealOpen) -> Processed {
        if ![16, 24, 32].contains(&case.key.len()) {
            return Err(BulkError::KeyBytes(case.key.len()).into());
        }
        let engine = self.engine(8 * case.key.len() as u32)?;
        engine.load_key(&case.key)?;
        engine.start(&case.iv, &case.aad, text.len() as u64, direction)?;
        engine.offer(text);
        let processed = engine.run(&mut Vec::new()).map_err(|error| Refusal::Engine(error.to_string()));
        processed.map(|(text, tag)| (text, tag.to_vec()))
    }
}

/// An engine of another AEAD: by its registers where these are modelled, else by the crate that gives its bytes.
#[derive(Debug)]
pub struct Other {
    spec: AeadSpec,
    algorithm: Option<Algorithm>,
}

impl Other {
    /// The engine of a specification. Where the scheme has keys and tags of several lengths, it takes all of them.
    pub fn new(spec: AeadSpec) -> Self {
        let algorithm = spec.model().scheme().map(Algorithm::Aead);
        Self { spec, algorithm }
    }
}

impl Subject for Other {
    fn algorithms(&self) -> &[Algorithm] {
        self.algorithm.as_slice()
    }

    fn process(&mut self, case: &Case, text: &[u8], direction: SealOpen) -> Processed {
        let engine = |reason: &str| Refusal::Engine(reason.to_owned());
        let tag_bytes = case.tag.len() as u64;
        let spec = self.spec.clone().with_tag(Bytes(tag_bytes));
        let scheme = spec.model().scheme().ok_or_else(|| engine("no AEAD has so many lanes"))?;
        let key = bytes::Key::new(WireFormat::new(scheme, tag_bytes), &case.key)?;
        if case.iv.len() != scheme.nonce_bytes() {
            return Err(BytesError::NonceBytes(case.iv.len(), scheme.name(), scheme.nonce_bytes()).into());
        }
        if let Some(mut registers) = spec.model().registers() {
            let seen = registers.message([&case.key, &case.iv, &case.aad, text], direction);
            return Ok((seen.output, seen.tag));
        }
        let mut text = text.to_vec();
        let tag = match direction {
            SealOpen::Seal => key.seal(&case.iv, &case.aad, &mut text)?,
            SealOpen::Open => {
                key.open(&case.iv, &case.aad, &mut text, &case.tag)?;
                case.tag.clone()
            }
        };
        Ok((text, tag))
    }
}
