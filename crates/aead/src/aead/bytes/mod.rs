//! The bytes of AEADs, by crates; GCM-SST, which none has, of [its parts](super::gcm_sst).
//!
//! | scheme | crate | key | nonce |
//! | --- | --- | --- | --- |
//! | AES-GCM (NIST SP 800-38D) | `aes`, `polyval` | 16, 24 or 32 bytes | 12; [`gcm::bulk`](crate::gcm::bulk) takes any |
//! | AES-GCM-SIV (RFC 8452) | `aes-gcm-siv` | 16 or 32 | 12 |
//! | GCM-SST (draft-mattsson-cfrg-aes-gcm-sst) | `aes`, `polyval` | 16 or 32 | 12 |
//! | AEGIS-256, -256X2, -256X4 (draft-irtf-cfrg-aegis-aead) | `aegis` | 32 | 32 |
//! | AEGIS-128L, -128X2, -128X4 (the same) | `aegis` | 16 | 16 |
//! | ChaCha20-Poly1305 (RFC 8439) | `chacha20poly1305` | 32 | 12 |
//!
//! Tags have 16 bytes; those of AEGIS 16 or 32, of GCM-SST 4 to 16, of AES-GCM also 4, 8 or 12 to 15. AES-GCM may have [several](crate::gcm::bulk::chains) to a message.

pub use super::spec::Scheme;

use super::stream::{Pieces, Stream};
use crate::gcm::bulk::{self, chains::ChainFormat};
use crate::gcm::message::SealOpen;
use crate::gcm::spec::SpecError;
use crate::units::Bytes;
use aes_gcm_siv::aead::{AeadInOut, KeyInit, Nonce, Tag};
use std::sync::Arc;
use thiserror::Error;

/// Why a key or a nonce is refused, or a message not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BytesError {
    #[error("a key of {0} bytes: {1} takes {words}", words = either(.2))]
    KeyBytes(usize, &'static str, &'static [usize]),
    #[error("a nonce of {0} bytes: {1} takes {2}")]
    NonceBytes(usize, &'static str, usize),
    #[error("a tag of {0} bytes: {1} takes {words}", words = either(.2))]
    TagBytes(usize, &'static str, &'static [usize]),
    #[error("the message is longer than the scheme allows")]
    TooLong,
    #[error("the tag does not belong to this key, nonce, AAD and text")]
    Forged,
}

pub(crate) fn either(lengths: &[usize]) -> String {
    lengths.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ")
}

/// Key, nonce, AAD, text in place: gives the tags, and none of a message that is too long.
type Seal = fn(&Key, &[u8], &[u8], &mut [u8]) -> Option<Vec<u8>>;
/// Key, nonce, AAD, text in place, tags: none if the tags are others.
type Open = fn(&Key, &[u8], &[u8], &mut [u8], &[u8]) -> Option<()>;
/// Key, nonce, bytes of the text, direction.
type InPieces = fn(&Key, &[u8], u64, SealOpen) -> Option<Box<dyn Pieces>>;

/// What is published of a scheme, and its bytes.
///
/// Its functions are given keys and nonces of the scheme's lengths.
#[derive(Debug)]
pub struct Wire {
    /// What files of vectors call it.
    pub listed: &'static str,
    pub engine: &'static str,
    pub key_bytes: &'static [usize],
    pub nonce_bytes: usize,
    /// Bytes that a tag may have, the usual length first.
    pub tag_bytes: &'static [usize],
    pub(super) seal: Seal,
    pub(super) open: Open,
    pub(super) message: InPieces,
}

/// What a message carries in addition to its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireFormat {
    pub scheme: Scheme,
    pub one_tag: u64,
    /// How a message is cut for its tags; only AES-GCM has several.
    pub chains: ChainFormat,
}

/// Bytes of the blocks that tags are counted in.
const TAG_BLOCK: u64 = 16;

impl WireFormat {
    pub const GCM: Self = Self::new(Scheme::AesGcm, 16);

    /// One tag of so many bytes.
    pub const fn new(scheme: Scheme, tag_bytes: u64) -> Self {
        Self { scheme, one_tag: tag_bytes, chains: ChainFormat::GCM }
    }

    /// The same with one tag of the whole message, and nothing in it but that.
    pub const fn with_one_tag(self) -> Self {
        Self { chains: ChainFormat::GCM, ..self }
    }

    /// The same with a [CRC of the text](crate::gcm::bulk::text_crc) in the tag, or without.
    pub const fn with_text_crc(self, text_crc: bool) -> Self {
        Self { chains: ChainFormat { text_crc, ..self.chains }, ..self }
    }

    /// The same with a tag for each `chunk` bytes of messages of up to `longest`.
    pub const fn with_chunks(self, chunk: u64, longest: u64) -> Self {
        let chains = longest.div_ceil(chunk) as u32;
        Self { chains: ChainFormat { chains, chunk, by_chunk: true, ..self.chains }, ..self }
    }

    /// That of a message of so many bytes.
    pub const fn of_message(self, bytes: u64) -> Self {
        Self { chains: self.chains.of_message(bytes), ..self }
    }

    /// Bytes of all tags of a message.
    pub const fn tag_bytes(self) -> u64 {
        self.chains.chains as u64 * self.one_tag
    }

    /// The same in blocks of 16 bytes, the last of which a shorter tag does not fill.
    pub const fn tag_blocks(self) -> u32 {
        self.tag_bytes().div_ceil(TAG_BLOCK) as u32
    }

    /// Bytes of a nonce, and of the IV that an engine reports.
    pub const fn nonce_bytes(self) -> u64 {
        self.scheme.nonce_bytes() as u64
    }
}

impl From<Scheme> for WireFormat {
    /// With tags of the usual length.
    fn from(scheme: Scheme) -> Self {
        Self::new(scheme, scheme.wire().tag_bytes[0] as u64)
    }
}

impl Scheme {
    pub(super) fn check_key(self, key: &[u8]) -> Result<(), BytesError> {
        let right = self.wire().key_bytes;
        if right.contains(&key.len()) { Ok(()) } else { Err(BytesError::KeyBytes(key.len(), self.name(), right)) }
    }

    /// Says whether a tag may have so many bytes.
    pub fn check_tag(self, bytes: usize) -> Result<(), BytesError> {
        let right = self.wire().tag_bytes;
        if right.contains(&bytes) { Ok(()) } else { Err(BytesError::TagBytes(bytes, self.name(), right)) }
    }

    /// The same of an engine's specification, whose scheme has a name of its own there.
    pub(super) fn check_spec_tag(self, name: &'static str, tag: Bytes) -> Result<(), SpecError> {
        self.check_tag(tag.0 as usize).map_err(|_| SpecError::SchemeTag(tag.0, name, self.wire().tag_bytes))
    }

    pub(super) const fn check_nonce(self, nonce: &[u8]) -> Result<(), BytesError> {
        let right = self.nonce_bytes();
        if nonce.len() == right { Ok(()) } else { Err(BytesError::NonceBytes(nonce.len(), self.name(), right)) }
    }
}

/// A key, ready for any number of messages of its format.
#[derive(Clone)]
pub struct Key {
    format: WireFormat,
    raw: Box<[u8]>,
    /// Round keys and powers of H, of AES-GCM.
    expanded: Option<Arc<bulk::Key>>,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key").field("format", &self.format).finish_non_exhaustive()
    }
}

/// Seals with a cipher of RustCrypto's.
pub(super) fn seal_in<C: AeadInOut + KeyInit>(key: &Key, nonce: &[u8], aad: &[u8], text: &mut [u8]) -> Option<Vec<u8>> {
    let (cipher, nonce) = (C::new_from_slice(&key.raw).ok()?, Nonce::<C>::try_from(nonce).ok()?);
    Some(cipher.encrypt_inout_detached(&nonce, aad, text.into()).ok()?.to_vec())
}

pub(super) fn open_in<C: AeadInOut + KeyInit>(
    key: &Key,
    nonce: &[u8],
    aad: &[u8],
    text: &mut [u8],
    tag: &[u8],
) -> Option<()> {
    let (cipher, nonce) = (C::new_from_slice(&key.raw).ok()?, Nonce::<C>::try_from(nonce).ok()?);
    cipher.decrypt_inout_detached(&nonce, aad, text.into(), &Tag::<C>::try_from(tag).ok()?).ok()
}

impl Key {
    pub fn new(format: impl Into<WireFormat>, key: &[u8]) -> Result<Self, BytesError> {
        let format = format.into();
        format.scheme.check_key(key)?;
        let gcm = (format.scheme == Scheme::AesGcm).then(|| bulk::Key::new(key).ok()).flatten();
        Ok(Self { format, raw: key.into(), expanded: gcm.map(Arc::new) })
    }

    pub const fn format(&self) -> WireFormat {
        self.format
    }

    pub(super) const fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// The key, expanded, if it is one of AES-GCM.
    pub const fn gcm(&self) -> Option<&Arc<bulk::Key>> {
        self.expanded.as_ref()
    }

    /// Seals `text` in place and gives the tags.
    pub fn seal(&self, nonce: &[u8], aad: &[u8], text: &mut [u8]) -> Result<Vec<u8>, BytesError> {
        self.format.scheme.check_nonce(nonce)?;
        (self.format.scheme.wire().seal)(self, nonce, aad, text).ok_or(BytesError::TooLong)
    }

    /// Opens `text` in place. On an error what `text` holds is not to be used.
    pub fn open(&self, nonce: &[u8], aad: &[u8], text: &mut [u8], tags: &[u8]) -> Result<(), BytesError> {
        self.format.scheme.check_nonce(nonce)?;
        let fits = tags.len() as u64 == self.format.of_message(text.len() as u64).tag_bytes();
        let opened = fits.then(|| (self.format.scheme.wire().open)(self, nonce, aad, text, tags));
        opened.flatten().ok_or(BytesError::Forged)
    }

    /// Begins a message of so many bytes without AAD, which comes in pieces.
    pub fn begin(&self, nonce: &[u8], bytes: u64, direction: SealOpen) -> Result<Stream, BytesError> {
        self.format.scheme.check_nonce(nonce)?;
        (self.format.scheme.wire().message)(self, nonce, bytes, direction).map(Stream::of).ok_or(BytesError::TooLong)
    }
}
