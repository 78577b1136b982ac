//! The bytes of a message as an engine makes them: in order, a piece at a time, and the tag at the end, whether or not it is the one expected.
//!
//! ```text
//!                      +---------------------------+
//!   text to seal ----->| absorb, turn (GCM-SIV)    |
//!   tag to open ------>| seed        (GCM-SIV)     |
//!   text ------------->| update                    |----> text
//!                      |                           |----> tag
//!                      +---------------------------+
//! ```
//!
//! | scheme | built of |
//! | --- | --- |
//! | `gcm_siv` | AES blocks and POLYVAL |
//! | `aegis256` | AES rounds |
//! | `chacha20_poly1305` | ChaCha20 and Poly1305 |
//!
//! [`bytes`](super::bytes) has the same schemes from the crates that offer them whole. Those take a message at once and do not say which tag they
//! expected; a machine's two ends have one each, so that every run holds one against the other.

mod aegis256;
mod chacha20_poly1305;
mod gcm_siv;

use super::bytes::{BytesError, Scheme, WireFormat};
use crate::gcm::message::SealOpen;

/// A message in flight, without AAD.
#[derive(Debug)]
pub struct Stream(AeadMessage);

#[derive(Debug)]
enum AeadMessage {
    GcmSiv(Box<gcm_siv::GcmSivMessage>),
    Aegis256(Box<aegis256::Aegis256Message>),
    ChaCha(Box<chacha20_poly1305::ChaChaMessage>),
}

impl Stream {
    /// Starts a message.
    ///
    /// # Errors
    /// [`BytesError::KeyBytes`], [`BytesError::NonceBytes`].
    pub fn new(format: WireFormat, key: &[u8], nonce: &[u8], direction: SealOpen) -> Result<Self, BytesError> {
        let WireFormat { scheme, tag_bytes } = format;
        scheme.check_nonce(nonce)?;
        let wrong = || scheme.wrong_key(key);
        Ok(Self(match scheme {
            Scheme::GcmSiv => {
                AeadMessage::GcmSiv(Box::new(gcm_siv::GcmSivMessage::new(key, nonce, direction).ok_or_else(wrong)?))
            }
            Scheme::ChaCha20Poly1305 => AeadMessage::ChaCha(Box::new(
                chacha20_poly1305::ChaChaMessage::new(key, nonce, direction).ok_or_else(wrong)?,
            )),
            Scheme::Aegis256 | Scheme::Aegis256X2 | Scheme::Aegis256X4 => {
                let message = aegis256::Aegis256Message::new(scheme.lanes(), tag_bytes, key, nonce, direction);
                AeadMessage::Aegis256(Box::new(message.ok_or_else(wrong)?))
            }
        }))
    }

    /// Takes the tag that came with a message to be opened. Only AES-GCM-SIV needs it.
    pub fn seed(&mut self, tag: &[u8]) {
        if let AeadMessage::GcmSiv(message) = &mut self.0 {
            message.seed(tag);
        }
    }

    /// Takes the next text of a message to be sealed that passes twice, for the first time.
    pub fn absorb(&mut self, text: &[u8]) {
        if let AeadMessage::GcmSiv(message) = &mut self.0 {
            message.absorb(text);
        }
    }

    /// All text has passed for the first time.
    pub fn turn(&mut self) {
        if let AeadMessage::GcmSiv(message) = &mut self.0 {
            message.turn();
        }
    }

    /// Enciphers or deciphers the next bytes in place.
    pub fn update(&mut self, text: &mut [u8]) {
        match &mut self.0 {
            AeadMessage::GcmSiv(message) => message.update(text),
            AeadMessage::Aegis256(message) => message.update(text),
            AeadMessage::ChaCha(message) => message.update(text),
        }
    }

    /// The tag over what has been taken so far.
    #[must_use]
    pub fn tag(&self) -> Vec<u8> {
        match &self.0 {
            AeadMessage::GcmSiv(message) => message.tag(),
            AeadMessage::Aegis256(message) => message.tag(),
            AeadMessage::ChaCha(message) => message.tag(),
        }
    }
}

/// Whole blocks out of pieces of any length.
#[derive(Debug, Clone, Default)]
struct Blocks {
    held: Vec<u8>,
}

impl Blocks {
    /// Takes bytes; gives every block of `N` bytes that is complete.
    fn take<const N: usize>(&mut self, mut bytes: &[u8], mut block: impl FnMut([u8; N])) {
        if !self.held.is_empty() {
            let (first, rest) = bytes.split_at(bytes.len().min(N - self.held.len()));
            self.held.extend_from_slice(first);
            bytes = rest;
            if let Ok(whole) = <[u8; N]>::try_from(&self.held[..]) {
                block(whole);
                self.held.clear();
            }
        }
        let (whole, rest) = bytes.as_chunks::<N>();
        whole.iter().for_each(|bytes| block(*bytes));
        self.held.extend_from_slice(rest);
    }

    /// The last block, padded with zeroes, if one is not complete.
    fn padded<const N: usize>(&self) -> Option<[u8; N]> {
        let mut block = [0; N];
        block[..self.held.len()].copy_from_slice(&self.held);
        (!self.held.is_empty()).then_some(block)
    }
}

#[cfg(test)]
mod tests;
