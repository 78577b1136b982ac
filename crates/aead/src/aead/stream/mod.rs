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
//! Each scheme builds them of its parts: AES blocks and POLYVAL, AES rounds, ChaCha20 and Poly1305. A [key](super::bytes::Key::begin) begins them.
//!
//! [`bytes`](super::bytes) has AES-GCM-SIV, AEGIS and ChaCha20-Poly1305 also from the crates that offer them whole. Those take a message at once and do not
//! say which tag they expected; a machine's two ends have one each, so that every run holds one against the other.

use std::fmt::Debug;

/// A message of a scheme in flight, without AAD.
pub(super) trait Pieces: Debug + Send + Sync {
    /// Takes the tag that came with a message to be opened.
    fn seed(&mut self, _tag: &[u8]) {}
    /// Takes the next text of a message to be sealed that passes twice, for the first time.
    fn absorb(&mut self, _text: &[u8]) {}
    /// All text has passed for the first time.
    fn turn(&mut self) {}
    /// Enciphers or deciphers the next bytes in place.
    fn update(&mut self, text: &mut [u8]);
    /// The tag over what has been taken so far.
    fn tag(&self) -> Vec<u8>;
}

/// A message in flight, without AAD.
#[derive(Debug)]
pub struct Stream(Box<dyn Pieces>);

impl Stream {
    pub(super) fn of(pieces: Box<dyn Pieces>) -> Self {
        Self(pieces)
    }

    /// Takes the tag that came with a message to be opened. Only AES-GCM-SIV needs it.
    pub fn seed(&mut self, tag: &[u8]) {
        self.0.seed(tag);
    }

    /// Takes the next text of a message to be sealed that passes twice, for the first time.
    pub fn absorb(&mut self, text: &[u8]) {
        self.0.absorb(text);
    }

    /// All text has passed for the first time.
    pub fn turn(&mut self) {
        self.0.turn();
    }

    /// Enciphers or deciphers the next bytes in place.
    pub fn update(&mut self, text: &mut [u8]) {
        self.0.update(text);
    }

    /// The tag over what has been taken so far.
    pub fn tag(&self) -> Vec<u8> {
        self.0.tag()
    }
}

/// Whole blocks out of pieces of any length.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks {
    held: Vec<u8>,
}

impl Blocks {
    /// Takes bytes; gives every block of `N` bytes that is complete.
    pub(super) fn take<const N: usize>(&mut self, mut bytes: &[u8], mut block: impl FnMut([u8; N])) {
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
    pub(super) fn padded<const N: usize>(&self) -> Option<[u8; N]> {
        let mut block = [0; N];
        block[..self.held.len()].copy_from_slice(&self.held);
        (!self.held.is_empty()).then_some(block)
    }
}

#[cfg(test)]
mod tests;
