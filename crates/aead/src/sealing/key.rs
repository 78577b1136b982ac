//! Keys, and whole messages under them, as software seals and opens.

use super::Format;
use crate::aead::bytes::{self, BytesError};
use crate::gcm::bulk::{self, BulkError, chains};
use crate::gcm::message::SealOpen;
use thiserror::Error;

/// Bytes that the longest nonce has beyond the 12 of a counter.
pub const TAIL: usize = 20;

/// Why there is no such key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum KeyError {
    /// Not one of AES-GCM.
    #[error(transparent)]
    Gcm(#[from] BulkError),
    /// Not one of the AEAD.
    #[error(transparent)]
    Aead(#[from] BytesError),
}

/// A key of a path, ready for any number of messages.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "there are four keys")]
pub enum Key {
    Gcm(bulk::Key),
    Aead(Box<Other>),
}

/// A key of another AEAD.
#[derive(Clone)]
pub struct Other {
    pub(super) raw: Vec<u8>,
    /// What follows the 12 bytes of a counter in a longer nonce: a part of the mask, over a counter's zeroes.
    tail: [u8; TAIL],
    whole: bytes::Key,
}

impl std::fmt::Debug for Other {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Other")
    }
}

impl Other {
    /// A nonce of the scheme's length.
    pub(super) fn nonce(&self, format: bytes::WireFormat, nonce: [u8; 12]) -> Vec<u8> {
        let rest = format.scheme.nonce_bytes().saturating_sub(nonce.len());
        [&nonce[..], &self.tail[..rest.min(TAIL)]].concat()
    }
}

impl From<bulk::Key> for Key {
    fn from(key: bulk::Key) -> Self {
        Self::Gcm(key)
    }
}

impl Key {
    /// A key for messages of a format; `tail` ends their nonces where these are longer than 12 bytes.
    pub fn new(format: Format, key: &[u8], tail: [u8; TAIL]) -> Result<Self, KeyError> {
        Ok(match format {
            Format::Gcm(_) => Self::Gcm(bulk::Key::new(key)?),
            Format::Aead(format) => {
                Self::Aead(Box::new(Other { raw: key.to_vec(), tail, whole: bytes::Key::new(format, key)? }))
            }
        })
    }

    /// The key, if it is one of AES-GCM.
    pub const fn gcm(&self) -> Option<&bulk::Key> {
        match self {
            Self::Gcm(key) => Some(key),
            Self::Aead(_) => None,
        }
    }

    /// Seals a message without AAD in place and gives its tags; none if the format is not the key's.
    pub fn seal(&self, format: Format, nonce: [u8; 12], text: &mut [u8]) -> Vec<u8> {
        match (self, format) {
            (Self::Gcm(key), Format::Gcm(format)) => through(key, format, nonce, text, SealOpen::Seal),
            (Self::Aead(key), Format::Aead(format)) => {
                key.whole.seal(&key.nonce(format, nonce), &[], text).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// Opens a message without AAD in place. Gives whether its tags are right; if not, what `text` holds is not to be used.
    pub fn open(&self, format: Format, nonce: [u8; 12], text: &mut [u8], tags: &[u8]) -> bool {
        match (self, format) {
            (Self::Gcm(key), Format::Gcm(format)) => through(key, format, nonce, text, SealOpen::Open) == tags,
            (Self::Aead(key), Format::Aead(format)) => {
                key.whole.open(&key.nonce(format, nonce), &[], text, tags).is_ok()
            }
            _ => false,
        }
    }
}

fn through(key: &bulk::Key, format: chains::ChainFormat, nonce: [u8; 12], text: &mut [u8], way: SealOpen) -> Vec<u8> {
    let format = format.of_message(text.len() as u64);
    // An IV of 12 bytes is never refused.
    let Ok(mut message) = chains::ChainedMessage::new(format, key, &nonce, way) else { return Vec::new() };
    message.update(key, text);
    message.tags(key)
}
