//! The bytes of AES-GCM, without cycles: what every modelled engine must give, at the host's full speed.
//!
//! A [`Key`] is expanded once and serves any number of messages. A [`Stream`] is one message in flight: it takes the text
//! in pieces of any size and works in place. Any IV of at least one byte, any AAD, any length up to 2^36 - 32 bytes, tags
//! cut to any length (NIST SP 800-38D).

use super::counter;
use super::field::Element;
use super::message::Direction;
use aes::cipher::{Block, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use ghash::{GHash, universal_hash::UniversalHash};
use thiserror::Error;

type Bytes16 = Block<Aes128>;

/// Blocks that are enciphered and then authenticated while they are in the first-level cache.
const CHUNK: usize = 256;

/// Why a key or an IV is refused, or a message not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BulkError {
    /// A key has 16, 24 or 32 bytes.
    #[error("a key of {0} bytes: AES takes 16, 24 or 32")]
    KeyBytes(usize),
    /// An IV has at least one byte.
    #[error("an empty IV: GCM needs at least one byte")]
    EmptyIv,
    /// A tag has 4 to 16 bytes.
    #[error("a tag of {0} bytes: GCM takes 4 to 16")]
    TagBytes(usize),
    /// The tag is not the message's.
    #[error("the tag does not belong to this key, IV, AAD and text")]
    Forged,
}

#[derive(Clone)]
enum Cipher {
    Aes128(Aes128),
    Aes192(Aes192),
    Aes256(Aes256),
}

impl Cipher {
    fn encrypt(&self, blocks: &mut [Bytes16]) {
        match self {
            Self::Aes128(cipher) => cipher.encrypt_blocks(blocks),
            Self::Aes192(cipher) => cipher.encrypt_blocks(blocks),
            Self::Aes256(cipher) => cipher.encrypt_blocks(blocks),
        }
    }
}

/// An expanded key: round keys, H and its powers.
#[derive(Clone)]
pub struct Key {
    cipher: Cipher,
    empty: GHash,
    h: Element,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key").finish_non_exhaustive()
    }
}

impl Key {
    /// Expands a key of 16, 24 or 32 bytes.
    ///
    /// # Errors
    /// [`BulkError::KeyBytes`] for any other length.
    pub fn new(key: &[u8]) -> Result<Self, BulkError> {
        let wrong = |_| BulkError::KeyBytes(key.len());
        let cipher = match key.len() {
            16 => Cipher::Aes128(Aes128::new_from_slice(key).map_err(wrong)?),
            24 => Cipher::Aes192(Aes192::new_from_slice(key).map_err(wrong)?),
            32 => Cipher::Aes256(Aes256::new_from_slice(key).map_err(wrong)?),
            other => return Err(BulkError::KeyBytes(other)),
        };
        let mut h = [Bytes16::default()];
        cipher.encrypt(&mut h);
        Ok(Self { cipher, empty: GHash::new(&h[0]), h: Element::from_bytes(h[0].into()) })
    }

    /// H = E(K, 0).
    #[must_use]
    pub const fn h(&self) -> Element {
        self.h
    }

    /// E(K, block).
    #[must_use]
    pub fn encrypt_block(&self, block: [u8; 16]) -> [u8; 16] {
        let mut blocks = [Bytes16::from(block)];
        self.cipher.encrypt(&mut blocks);
        blocks[0].into()
    }

    /// J0 of an IV.
    ///
    /// # Errors
    /// [`BulkError::EmptyIv`].
    pub fn j0(&self, iv: &[u8]) -> Result<[u8; 16], BulkError> {
        match <&[u8; 12]>::try_from(iv) {
            Ok(iv) => Ok(counter::j0_of_96_bits(iv)),
            Err(_) if iv.is_empty() => Err(BulkError::EmptyIv),
            Err(_) => {
                let mut hash = self.empty.clone();
                hash.update_padded(iv);
                hash.update(&[counter::length_block(0, iv.len() as u64).to_bytes().into()]);
                Ok(hash.finalize().into())
            }
        }
    }

    /// Seals `text` in place and gives the full tag.
    ///
    /// # Errors
    /// [`BulkError::EmptyIv`].
    pub fn seal(&self, iv: &[u8], aad: &[u8], text: &mut [u8]) -> Result<[u8; 16], BulkError> {
        let mut stream = Stream::new(self, iv, aad, Direction::Seal)?;
        stream.update(self, text);
        Ok(stream.tag(self))
    }

    /// Opens `text` in place and compares the first `tag.len()` bytes of the tag. On an error `text` holds
    /// unauthenticated plaintext, as an engine's output would.
    ///
    /// # Errors
    /// [`BulkError::Forged`], [`BulkError::TagBytes`], [`BulkError::EmptyIv`].
    pub fn open(&self, iv: &[u8], aad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), BulkError> {
        if !(4..=16).contains(&tag.len()) {
            return Err(BulkError::TagBytes(tag.len()));
        }
        let mut stream = Stream::new(self, iv, aad, Direction::Open)?;
        stream.update(self, text);
        if stream.tag(self).starts_with(tag) { Ok(()) } else { Err(BulkError::Forged) }
    }
}

/// A message in flight. Give it the same [`Key`] at every call.
#[derive(Clone)]
pub struct Stream {
    direction: Direction,
    hash: GHash,
    j0: [u8; 16],
    /// Text blocks whose keystream has been made.
    blocks: u32,
    aad_bytes: u64,
    text_bytes: u64,
    /// Keystream and ciphertext of the block that is not complete; `text_bytes % 16` bytes of it are used.
    keystream: [u8; 16],
    partial: [u8; 16],
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("text_bytes", &self.text_bytes).finish_non_exhaustive()
    }
}

impl Stream {
    /// Starts a message.
    ///
    /// # Errors
    /// [`BulkError::EmptyIv`].
    pub fn new(key: &Key, iv: &[u8], aad: &[u8], direction: Direction) -> Result<Self, BulkError> {
        Ok(Self::from_j0(key, key.j0(iv)?, aad, direction))
    }

    /// Starts a message whose first counter block is known.
    #[must_use]
    pub fn from_j0(key: &Key, j0: [u8; 16], aad: &[u8], direction: Direction) -> Self {
        let mut hash = key.empty.clone();
        hash.update_padded(aad);
        let (keystream, partial) = ([0; 16], [0; 16]);
        Self { direction, hash, j0, blocks: 0, aad_bytes: aad.len() as u64, text_bytes: 0, keystream, partial }
    }

    /// Text bytes taken so far.
    #[must_use]
    pub const fn text_bytes(&self) -> u64 {
        self.text_bytes
    }

    /// Enciphers or deciphers the next bytes in place.
    pub fn update(&mut self, key: &Key, text: &mut [u8]) {
        let used = (self.text_bytes % 16) as usize;
        let (head, text) = text.split_at_mut(text.len().min((16 - used) % 16));
        if !head.is_empty() {
            self.bytewise(used, head);
            self.text_bytes += head.len() as u64;
        }
        let (body, tail) = text.split_at_mut(text.len() / 16 * 16);
        let mut chunks = body.chunks_exact_mut(16 * CHUNK);
        for chunk in &mut chunks {
            self.whole_blocks::<CHUNK>(key, chunk);
        }
        for chunk in chunks.into_remainder().chunks_mut(1024) {
            self.whole_blocks::<64>(key, chunk);
        }
        if !tail.is_empty() {
            self.blocks = self.blocks.wrapping_add(1);
            self.keystream = key.encrypt_block(counter::advanced(self.j0, self.blocks));
            self.partial = [0; 16];
            self.bytewise(0, tail);
            self.text_bytes += tail.len() as u64;
        }
    }

    /// Bytes of one block, from its byte `used` on.
    fn bytewise(&mut self, used: usize, text: &mut [u8]) {
        let keystream = self.keystream.iter().skip(used);
        for ((byte, key), cipher) in text.iter_mut().zip(keystream).zip(self.partial.iter_mut().skip(used)) {
            let before = *byte;
            *byte ^= key;
            *cipher = if self.direction == Direction::Seal { *byte } else { before };
        }
        if used + text.len() == 16 {
            self.hash.update(&[self.partial.into()]);
        }
    }

    /// At most `N` whole blocks.
    fn whole_blocks<const N: usize>(&mut self, key: &Key, text: &mut [u8]) {
        let mut buffer = [Bytes16::default(); N];
        let (text, _) = Bytes16::slice_as_chunks_mut(text);
        let (keystream, _) = buffer.split_at_mut(text.len().min(N));
        let prefix = u128::from_be_bytes(self.j0) & !0xffff_ffff;
        let first = (u128::from_be_bytes(self.j0) as u32).wrapping_add(self.blocks);
        for (counter, block) in (1..).zip(keystream.iter_mut()) {
            *block = (prefix | u128::from(first.wrapping_add(counter))).to_be_bytes().into();
        }
        key.cipher.encrypt(keystream);
        if self.direction == Direction::Open {
            self.hash.update(text);
        }
        for (text, key) in text.iter_mut().zip(keystream.iter()) {
            *text = (u128::from_ne_bytes((*text).into()) ^ u128::from_ne_bytes((*key).into())).to_ne_bytes().into();
        }
        if self.direction == Direction::Seal {
            self.hash.update(text);
        }
        self.blocks = self.blocks.wrapping_add(text.len() as u32);
        self.text_bytes += 16 * text.len() as u64;
    }

    /// GHASH over AAD, ciphertext and the length block.
    #[must_use]
    pub fn ghash(&self) -> Element {
        let mut hash = self.hash.clone();
        if !self.text_bytes.is_multiple_of(16) {
            hash.update(&[self.partial.into()]);
        }
        hash.update(&[counter::length_block(self.aad_bytes, self.text_bytes).to_bytes().into()]);
        Element::from_bytes(hash.finalize().into())
    }

    /// The full tag over what has been taken so far.
    #[must_use]
    pub fn tag(&self, key: &Key) -> [u8; 16] {
        (self.ghash() ^ Element::from_bytes(key.encrypt_block(self.j0))).to_bytes()
    }
}

#[cfg(test)]
mod tests;
