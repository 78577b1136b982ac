//! The bytes of AES-GCM, without cycles: what every modelled engine must give, at the host's full speed.
//!
//! A [`Key`] is expanded once and serves any number of messages. A [`Stream`] is one message in flight: it takes the text
//! in pieces of any size and works in place; [parts](super::part::Part) of one are hashed in any order, and [`Chains`](chains::Chains)
//! have several tags. Any IV of at least one byte, any AAD, any length up to 2^36 - 32 bytes, tags cut to any length (NIST SP
//! 800-38D).

pub mod chains;
pub mod text_crc;

use super::counter;
use super::field::Element;
use super::message::SealOpen;
use aes::cipher::{Block, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use polyval::{Polyval, hazmat::FieldElement, universal_hash::UniversalHash};
use thiserror::Error;

type Bytes16 = Block<Aes128>;

/// Blocks that the widest backend of the `aes` crate enciphers at once; it takes a remainder block by block.
const WIDE: usize = 64;

fn mirrored(mut block: [u8; 16]) -> Bytes16 {
    block.reverse();
    block.into()
}

/// Takes bytes that are padded with zeroes to whole blocks.
fn hash_padded(hash: &mut Polyval, bytes: &[u8]) {
    for block in bytes.chunks(16) {
        hash.update(&[mirrored(Element::from_partial(block).to_bytes())]);
    }
}

/// Bytes that a tag may have (NIST SP 800-38D, section 5.2.1.2).
pub const TAG_BYTES: [usize; 7] = [16, 15, 14, 13, 12, 8, 4];

/// Why a key or an IV is refused, or a message not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BulkError {
    #[error("a key of {0} bytes: AES takes 16, 24 or 32")]
    KeyBytes(usize),
    #[error("an empty IV: GCM needs at least one byte")]
    EmptyIv,
    #[error("a tag of {0} bytes: GCM takes 4, 8 or 12 to 16")]
    TagBytes(usize),
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
    bytes: Box<[u8]>,
    cipher: Cipher,
    empty: Polyval,
    h: Element,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key").finish_non_exhaustive()
    }
}

impl Key {
    /// Expands a key of 16, 24 or 32 bytes.
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
        // GHASH with H is POLYVAL with x H, all blocks mirrored (RFC 8452, appendix A).
        let mirror = FieldElement::from(h[0]).reverse().mulx();
        Ok(Self { bytes: key.into(), cipher, empty: Polyval::new(&mirror.into()), h: Element::from_bytes(h[0].into()) })
    }

    pub const fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// H = E(K, 0).
    pub const fn h(&self) -> Element {
        self.h
    }

    pub fn encrypt_block(&self, block: [u8; 16]) -> [u8; 16] {
        let mut blocks = [Bytes16::from(block)];
        self.cipher.encrypt(&mut blocks);
        blocks[0].into()
    }

    pub fn j0(&self, iv: &[u8]) -> Result<[u8; 16], BulkError> {
        match <&[u8; 12]>::try_from(iv) {
            Ok(iv) => Ok(counter::j0_of_96_bits(iv)),
            Err(_) if iv.is_empty() => Err(BulkError::EmptyIv),
            Err(_) => {
                let mut hash = self.empty.clone();
                hash_padded(&mut hash, iv);
                hash.update(&[mirrored(counter::length_block(0, iv.len() as u64).to_bytes())]);
                Ok(mirrored(hash.finalize().into()).into())
            }
        }
    }

    /// Seals `text` in place and gives the full tag.
    pub fn seal(&self, iv: &[u8], aad: &[u8], text: &mut [u8]) -> Result<[u8; 16], BulkError> {
        let mut stream = Stream::new(self, iv, aad, SealOpen::Seal)?;
        stream.update(self, text);
        Ok(stream.tag(self))
    }

    /// Opens `text` in place and compares the first `tag.len()` bytes of the tag. On an error `text` holds
    /// unauthenticated plaintext, as an engine's output would.
    pub fn open(&self, iv: &[u8], aad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), BulkError> {
        if !TAG_BYTES.contains(&tag.len()) {
            return Err(BulkError::TagBytes(tag.len()));
        }
        let mut stream = Stream::new(self, iv, aad, SealOpen::Open)?;
        stream.update(self, text);
        if stream.tag(self).starts_with(tag) { Ok(()) } else { Err(BulkError::Forged) }
    }
}

/// A message in flight. Give it the same [`Key`] at every call.
#[derive(Clone)]
pub struct Stream {
    direction: SealOpen,
    hash: Polyval,
    j0: [u8; 16],
    aad_bytes: u64,
    text_bytes: u64,
    /// Keystream of the `WIDE` blocks in which the next text byte lies; made when the first of them is due.
    keystream: [Bytes16; WIDE],
    /// Ciphertext of the block that is not complete.
    partial: [u8; 16],
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("text_bytes", &self.text_bytes).finish_non_exhaustive()
    }
}

impl Stream {
    pub fn new(key: &Key, iv: &[u8], aad: &[u8], direction: SealOpen) -> Result<Self, BulkError> {
        Ok(Self::from_j0(key, key.j0(iv)?, aad, direction))
    }

    /// Starts a message whose first counter block is known.
    pub fn from_j0(key: &Key, j0: [u8; 16], aad: &[u8], direction: SealOpen) -> Self {
        let mut hash = key.empty.clone();
        hash_padded(&mut hash, aad);
        let (aad_bytes, keystream, partial) = (aad.len() as u64, [Bytes16::default(); WIDE], [0; 16]);
        Self { direction, hash, j0, aad_bytes, text_bytes: 0, keystream, partial }
    }

    pub const fn text_bytes(&self) -> u64 {
        self.text_bytes
    }

    /// Enciphers or deciphers the next bytes in place.
    pub fn update(&mut self, key: &Key, mut text: &mut [u8]) {
        while !text.is_empty() {
            let offset = self.text_bytes as usize % (16 * WIDE);
            if offset == 0 {
                self.make_keystream(key);
            }
            let (piece, rest) = text.split_at_mut(text.len().min(16 * WIDE - offset));
            let (head, piece) = piece.split_at_mut(piece.len().min((16 - offset % 16) % 16));
            let (body, tail) = Bytes16::slice_as_chunks_mut(piece);
            self.bytewise(head);
            self.blockwise(body);
            self.bytewise(tail);
            text = rest;
        }
    }

    fn make_keystream(&mut self, key: &Key) {
        let j0 = u128::from_be_bytes(self.j0);
        let first = (j0 as u32).wrapping_add((self.text_bytes / 16) as u32);
        for (counter, block) in (1..).zip(&mut self.keystream) {
            *block = ((j0 & !0xffff_ffff) | u128::from(first.wrapping_add(counter))).to_be_bytes().into();
        }
        key.cipher.encrypt(&mut self.keystream);
    }

    /// Some bytes of one block.
    fn bytewise(&mut self, text: &mut [u8]) {
        if text.is_empty() {
            return;
        }
        let (block, used) = (self.text_bytes as usize / 16 % WIDE, self.text_bytes as usize % 16);
        let keystream = self.keystream[block].iter().skip(used);
        for ((byte, key), cipher) in text.iter_mut().zip(keystream).zip(self.partial.iter_mut().skip(used)) {
            let before = *byte;
            *byte ^= key;
            *cipher = if self.direction == SealOpen::Seal { *byte } else { before };
        }
        self.text_bytes += text.len() as u64;
        if self.text_bytes.is_multiple_of(16) {
            self.hash.update(&[mirrored(self.partial)]);
        }
    }

    /// Whole blocks, whose keystream has been made. POLYVAL takes them while they are in the first-level cache.
    fn blockwise(&mut self, text: &mut [Bytes16]) {
        let sealing = self.direction == SealOpen::Seal;
        let mut mirror = [Bytes16::default(); 16];
        let first = self.text_bytes as usize / 16 % WIDE;
        self.text_bytes += 16 * text.len() as u64;
        for (text, keystream) in text.chunks_mut(16).zip(self.keystream[first..].chunks(16)) {
            for ((text, key), mirror) in text.iter_mut().zip(keystream).zip(&mut mirror) {
                let before = u128::from_ne_bytes((*text).into());
                let after = before ^ u128::from_ne_bytes((*key).into());
                *mirror = if sealing { after } else { before }.swap_bytes().to_ne_bytes().into();
                *text = after.to_ne_bytes().into();
            }
            self.hash.update(&mirror[..text.len()]);
        }
    }

    /// GHASH over AAD and the ciphertext so far, padded, without a length block.
    pub fn sum(&self) -> Element {
        let mut hash = self.hash.clone();
        let used = self.text_bytes as usize % 16;
        hash_padded(&mut hash, &self.partial[..used]);
        Element::from_bytes(mirrored(hash.finalize().into()).into())
    }

    /// GHASH over AAD, ciphertext and the length block.
    pub fn ghash(&self) -> Element {
        let mut hash = self.hash.clone();
        let used = self.text_bytes as usize % 16;
        hash_padded(&mut hash, &self.partial[..used]);
        hash.update(&[mirrored(counter::length_block(self.aad_bytes, self.text_bytes).to_bytes())]);
        Element::from_bytes(mirrored(hash.finalize().into()).into())
    }

    /// The full tag over what has been taken so far.
    pub fn tag(&self, key: &Key) -> [u8; 16] {
        (self.ghash() ^ Element::from_bytes(key.encrypt_block(self.j0))).to_bytes()
    }
}
