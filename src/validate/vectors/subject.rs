//! What vectors are passed through.

use super::Case;
use crate::gcm::bulk::{Key, Stream};
use crate::gcm::engine::Engine;
use crate::gcm::message::Direction;
use crate::gcm::spec::EngineSpec;

/// An implementation of AES-GCM.
pub trait Subject {
    /// Text through the case's key, IV and AAD: what comes out, and the full tag.
    ///
    /// # Errors
    /// Why the subject refuses the key or the IV.
    fn process(&mut self, case: &Case, text: &[u8], direction: Direction) -> Result<(Vec<u8>, [u8; 16]), String>;
}

/// The bulk bytes.
#[derive(Debug, Default)]
pub struct Bulk;

impl Subject for Bulk {
    fn process(&mut self, case: &Case, text: &[u8], direction: Direction) -> Result<(Vec<u8>, [u8; 16]), String> {
        let key = Key::new(&case.key).map_err(|error| error.to_string())?;
        let mut stream = Stream::new(&key, &case.iv, &case.aad, direction).map_err(|error| error.to_string())?;
        let mut text = text.to_vec();
        stream.update(&key, &mut text);
        Ok((text, stream.tag(&key)))
    }
}

/// The structural engine; one is built for each key size.
#[derive(Debug)]
pub struct Structural {
    spec: EngineSpec,
    engines: Vec<(u32, Engine)>,
}

impl Structural {
    /// Engines of a specification, whatever key size it names.
    #[must_use]
    pub const fn new(spec: EngineSpec) -> Self {
        Self { spec, engines: Vec::new() }
    }

    fn engine(&mut self, key_bits: u32) -> Result<&mut Engine, String> {
        let found = self.engines.iter().position(|&(bits, _)| bits == key_bits);
        let index = match found {
            Some(index) => index,
            None => {
                let spec = EngineSpec { key_bits, ..self.spec.clone() };
                self.engines.push((key_bits, Engine::new(&spec).map_err(|error| error.to_string())?));
                self.engines.len() - 1
            }
        };
        Ok(&mut self.engines[index].1)
    }
}

impl Subject for Structural {
    fn process(&mut self, case: &Case, text: &[u8], direction: Direction) -> Result<(Vec<u8>, [u8; 16]), String> {
        let engine = self.engine(8 * case.key.len() as u32)?;
        engine.load_key(&case.key).map_err(|error| error.to_string())?;
        engine.start(&case.iv, &case.aad, text.len() as u64, direction).map_err(|error| error.to_string())?;
        engine.offer(text);
        engine.run(&mut Vec::new()).map_err(|error| error.to_string())
    }
}
