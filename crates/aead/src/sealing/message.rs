//! A message in pieces, as an engine seals or opens it.

use super::{Format, Key};
use crate::aead::stream::Stream;
use crate::gcm::bulk::chains;
use crate::gcm::message::SealOpen;

/// A message without AAD in flight. Give it the same [`Key`] at every call.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a few messages are in flight")]
pub enum Message {
    Gcm(chains::ChainedMessage),
    Aead(Stream),
}

impl Message {
    /// Starts a message; none if the format is not the key's.
    pub fn new(format: Format, key: &Key, nonce: [u8; 12], direction: SealOpen) -> Option<Self> {
        match (format, key) {
            (Format::Gcm(format), Key::Gcm(key)) => {
                chains::ChainedMessage::new(format, key, &nonce, direction).ok().map(Self::Gcm)
            }
            (Format::Aead(format), Key::Aead(key)) => {
                Stream::new(format, &key.raw, &key.nonce(format, nonce), direction).ok().map(Self::Aead)
            }
            _ => None,
        }
    }

    /// Takes the tag that came with a message to be opened, before its text.
    pub fn seed(&mut self, tag: &[u8]) {
        if let Self::Aead(stream) = self {
            stream.seed(tag);
        }
    }

    /// Takes the next text of a message to be sealed that passes twice, for the first time.
    pub fn absorb(&mut self, text: &[u8]) {
        if let Self::Aead(stream) = self {
            stream.absorb(text);
        }
    }

    /// All text has passed for the first time.
    pub fn turn(&mut self) {
        if let Self::Aead(stream) = self {
            stream.turn();
        }
    }

    /// Enciphers or deciphers the next bytes in place.
    pub fn update(&mut self, key: &Key, text: &mut [u8]) {
        match (self, key) {
            (Self::Gcm(message), Key::Gcm(key)) => message.update(key, text),
            (Self::Aead(stream), _) => stream.update(text),
            (Self::Gcm(_), Key::Aead(_)) => {}
        }
    }

    /// The tags over what has been taken so far, as they are on the wire.
    pub fn tags(&self, key: &Key) -> Vec<u8> {
        match (self, key) {
            (Self::Gcm(message), Key::Gcm(key)) => message.tags(key),
            (Self::Aead(stream), _) => stream.tag(),
            (Self::Gcm(_), Key::Aead(_)) => Vec::new(),
        }
    }
}
