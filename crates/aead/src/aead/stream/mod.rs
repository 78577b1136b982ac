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

use polyval::universal_hash::{UniversalHash, consts::U16};
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

/// A hash of bytes that come in pieces of any length, in blocks of 16 of which the last is padded with zeroes.
#[derive(Debug, Clone)]
pub(super) struct Padded<H> {
    hash: H,
    /// Bytes of the block that is not complete.
    held: Vec<u8>,
}

impl<H: UniversalHash<BlockSize = U16> + Clone> Padded<H> {
    pub(super) const fn new(hash: H) -> Self {
        Self { hash, held: Vec::new() }
    }

    pub(super) fn take(&mut self, mut bytes: &[u8]) {
        if !self.held.is_empty() {
            let (first, rest) = bytes.split_at(bytes.len().min(16 - self.held.len()));
            self.held.extend_from_slice(first);
            bytes = rest;
            if self.held.len() == 16 {
                self.pad();
            }
        }
        let (whole, rest) = bytes.as_chunks::<16>();
        whole.iter().for_each(|block| self.hash.update(&[(*block).into()]));
        self.held.extend_from_slice(rest);
    }

    /// Ends what has come so far with a whole block.
    pub(super) fn pad(&mut self) {
        if !self.held.is_empty() {
            let mut block = [0; 16];
            block[..self.held.len()].copy_from_slice(&self.held);
            self.hash.update(&[block.into()]);
            self.held.clear();
        }
    }

    /// The value over what has come, and a block behind it.
    pub(super) fn value(&self, last: Option<[u8; 16]>) -> [u8; 16] {
        let mut whole = self.clone();
        whole.pad();
        last.into_iter().for_each(|block| whole.hash.update(&[block.into()]));
        whole.hash.finalize().into()
    }
}

/// Keystream in blocks of 16 bytes, each made when its first byte is due.
#[derive(Debug, Default)]
pub(super) struct Keystream {
    passed: u64,
    block: [u8; 16],
}

impl Keystream {
    /// Enciphers or deciphers the next bytes in place; `made` gives a block by its number.
    pub(super) fn pass(&mut self, text: &mut [u8], made: impl Fn(u64) -> [u8; 16]) {
        for byte in text {
            let place = (self.passed % 16) as usize;
            if place == 0 {
                self.block = made(self.passed / 16);
            }
            *byte ^= self.block[place];
            self.passed += 1;
        }
    }
}
