//! Keys of a path: nonces of 12 bytes, whatever the length of the scheme's, and no AAD.

use super::aes_gcm::PartMessage;
use super::bytes::{BytesError, Key, WireFormat};
use super::stream::Stream;
use crate::gcm::bulk;
use crate::gcm::message::SealOpen;
use crate::gcm::part::Part;
use std::sync::Arc;

/// Bytes that the longest nonce has beyond the 12 of a counter.
pub const TAIL: usize = 20;

/// A key of a path, ready for any number of messages of its format.
#[derive(Debug, Clone)]
pub struct PathKey {
    key: Key,
    /// What follows the 12 bytes of a counter in a longer nonce: a part of the mask, over a counter's zeroes.
    tail: Vec<u8>,
}

impl PathKey {
    /// A key for messages of a format; `tail` ends their nonces where these are longer than 12 bytes.
    pub fn new(format: WireFormat, key: &[u8], tail: [u8; TAIL]) -> Result<Self, BytesError> {
        let longer = (format.nonce_bytes() as usize).saturating_sub(12);
        Ok(Self { key: Key::new(format, key)?, tail: tail[..longer.min(TAIL)].to_vec() })
    }

    pub const fn format(&self) -> WireFormat {
        self.key.format()
    }

    /// The key, expanded, if it is one of AES-GCM.
    pub const fn gcm(&self) -> Option<&Arc<bulk::Key>> {
        self.key.gcm()
    }

    fn nonce(&self, nonce: [u8; 12]) -> Vec<u8> {
        [&nonce[..], &self.tail].concat()
    }

    /// Seals a message in place and gives its tags. No message of a path is longer than its scheme allows.
    pub fn seal(&self, nonce: [u8; 12], text: &mut [u8]) -> Vec<u8> {
        self.key.seal(&self.nonce(nonce), &[], text).unwrap_or_default()
    }

    /// Opens a message in place. Gives whether its tags are right; if not, what `text` holds is not to be used.
    pub fn open(&self, nonce: [u8; 12], text: &mut [u8], tags: &[u8]) -> bool {
        self.key.open(&self.nonce(nonce), &[], text, tags).is_ok()
    }

    /// Begins a message of so many bytes, or a part of one; none where the scheme has no such part.
    pub fn begin(&self, nonce: [u8; 12], part: Part, direction: SealOpen) -> Option<Stream> {
        match part.bytes == part.total {
            true => self.key.begin(&self.nonce(nonce), part.total, direction).ok(),
            false => self.begin_part(nonce, part, None, direction),
        }
    }

    /// Begins a part of a message, which may have the tag of this number; only AES-GCM has parts.
    pub fn begin_part(&self, nonce: [u8; 12], part: Part, number: Option<u32>, direction: SealOpen) -> Option<Stream> {
        self.gcm().map(|key| Stream::of(Box::new(PartMessage::new(key, nonce, part, number, direction))))
    }
}
