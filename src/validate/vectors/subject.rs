//! What vectors are passed through.

use super::Case;
use crate::aead::aegis256::Aegis256Spec;
use crate::aead::aegis256::datapath::{Datapath, Event};
use crate::aead::bytes;
use crate::aead::spec::AeadSpec;
use crate::gcm::bulk::{Key, Stream};
use crate::gcm::engine::Engine;
use crate::gcm::message::Direction;
use crate::gcm::spec::EngineSpec;

/// An implementation of AES-GCM, or of the AEAD that a file's cases are of.
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

/// An engine of another AEAD: AEGIS-256 by its registers, all others by the crate that gives their bytes.
#[derive(Debug)]
pub struct Other {
    spec: AeadSpec,
}

impl Other {
    /// The engine of a specification. Where the scheme has keys of several sizes, it takes all of them.
    #[must_use]
    pub const fn new(spec: AeadSpec) -> Self {
        Self { spec }
    }
}

impl Subject for Other {
    fn process(&mut self, case: &Case, text: &[u8], direction: Direction) -> Result<(Vec<u8>, [u8; 16]), String> {
        let scheme = self.spec.scheme().ok_or("no AEAD has so many lanes")?;
        let refused = |error: bytes::BytesError| error.to_string();
        let key = bytes::Key::new(scheme, &case.key).map_err(refused)?;
        if let AeadSpec::Aegis256(spec) = &self.spec {
            return registers(spec, case, text, direction);
        }
        let mut text = text.to_vec();
        let tag = match direction {
            Direction::Seal => key.seal(&case.iv, &case.aad, &mut text).map_err(refused)?,
            Direction::Open => {
                let tag = <[u8; 16]>::try_from(&case.tag[..]).map_err(|_| "a tag of another length than 16 bytes")?;
                key.open(&case.iv, &case.aad, &mut text, &tag).map_err(refused)?;
                tag.to_vec()
            }
        };
        Ok((text, of_16(tag)?))
    }
}

/// The tag of an engine, which has as many bytes as those of the vectors.
fn of_16(tag: Vec<u8>) -> Result<[u8; 16], String> {
    tag.try_into().map_err(|tag: Vec<u8>| format!("the engine has tags of {} bytes, the vectors 16", tag.len()))
}

fn registers(
    spec: &Aegis256Spec,
    case: &Case,
    text: &[u8],
    direction: Direction,
) -> Result<(Vec<u8>, [u8; 16]), String> {
    let fixed =
        |what, bytes: &[u8]| <[u8; 32]>::try_from(bytes).map_err(|_| format!("a {what} of {} bytes", bytes.len()));
    let mut engine = Datapath::new(spec).map_err(|error| error.to_string())?;
    engine.start(&fixed("key", &case.key)?, &fixed("nonce", &case.iv)?, &case.aad, text, direction);
    let (mut output, mut made) = (Vec::new(), None);
    loop {
        engine.step(&mut |_, event| match event {
            Event::Text(bytes) => output.extend(bytes),
            Event::Tag(tag) => made = Some(tag),
            Event::Aad | Event::Taken => {}
        });
        if let Some(tag) = made {
            return Ok((output, of_16(tag)?));
        }
    }
}
