//! The bytes of AEADs other than AES-GCM, by crates; GCM-SST, which none has, of [its parts](super::gcm_sst).
//!
//! | scheme | crate | key | nonce |
//! | --- | --- | --- | --- |
//! | AES-GCM-SIV (RFC 8452) | `aes-gcm-siv` | 16 or 32 bytes | 12 |
//! | GCM-SST (draft-mattsson-cfrg-aes-gcm-sst) | `aes`, `polyval` | 16 or 32 | 12 |
//! | AEGIS-256, -256X2, -256X4 (draft-irtf-cfrg-aegis-aead) | `aegis` | 32 | 32 |
//! | AEGIS-128L, -128X2, -128X4 (the same) | `aegis` | 16 | 16 |
//! | ChaCha20-Poly1305 (RFC 8439) | `chacha20poly1305` | 32 | 12 |
//!
//! Tags have 16 bytes, those of AEGIS 16 or 32, those of GCM-SST 4 to 16.

pub use super::spec::Scheme;

use super::stream::Pieces;
use crate::gcm::message::SealOpen;
use aes_gcm_siv::aead::{AeadInOut, KeyInit, Nonce, Tag};
use thiserror::Error;

/// Why a key or a nonce is refused, or a message not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BytesError {
    /// A key of a length that the scheme does not have.
    #[error("a key of {0} bytes: {1} takes {words}", words = either(.2))]
    KeyBytes(usize, &'static str, &'static [usize]),
    /// A nonce of another length than the scheme's.
    #[error("a nonce of {0} bytes: {1} takes {2}")]
    NonceBytes(usize, &'static str, usize),
    /// Text or AAD beyond what the scheme allows.
    #[error("the message is longer than the scheme allows")]
    TooLong,
    /// The tag is not the message's.
    #[error("the tag does not belong to this key, nonce, AAD and text")]
    Forged,
}

fn either(lengths: &[usize]) -> String {
    lengths.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ")
}

/// Key, nonce, AAD, text in place, bytes of the tag: gives the tag, and none of a message that is too long.
type Seal = fn(&[u8], &[u8], &[u8], &mut [u8], usize) -> Option<Vec<u8>>;
/// Key, nonce, AAD, text in place, tag: none if the tag is another.
type Open = fn(&[u8], &[u8], &[u8], &mut [u8], &[u8]) -> Option<()>;
/// Key, nonce, bytes of the tag, direction.
type InPieces = fn(&[u8], &[u8], usize, SealOpen) -> Option<Box<dyn Pieces>>;

/// What is published of a scheme, and its bytes.
///
/// Its functions are given keys and nonces of the scheme's lengths.
#[derive(Debug)]
pub struct Wire {
    /// What the standard calls it.
    pub name: &'static str,
    /// What files of vectors call it.
    pub listed: &'static str,
    pub engine: &'static str,
    /// Bytes that a key may have.
    pub key_bytes: &'static [usize],
    pub nonce_bytes: usize,
    /// Bytes that a tag has in vectors, the usual length first.
    pub tag_bytes: &'static [usize],
    pub(super) seal: Seal,
    pub(super) open: Open,
    /// Starts one in pieces.
    pub(super) message: InPieces,
}

/// What messages look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireFormat {
    pub scheme: Scheme,
    pub tag_bytes: usize,
}

impl From<Scheme> for WireFormat {
    /// With tags of the usual length.
    fn from(scheme: Scheme) -> Self {
        Self { scheme, tag_bytes: scheme.wire().tag_bytes[0] }
    }
}

impl Scheme {
    pub(super) fn check_key(self, key: &[u8]) -> Result<(), BytesError> {
        let right = self.wire().key_bytes;
        if right.contains(&key.len()) { Ok(()) } else { Err(BytesError::KeyBytes(key.len(), self.name(), right)) }
    }

    pub(super) const fn check_nonce(self, nonce: &[u8]) -> Result<(), BytesError> {
        let right = self.nonce_bytes();
        if nonce.len() == right { Ok(()) } else { Err(BytesError::NonceBytes(nonce.len(), self.name(), right)) }
    }
}

/// A key, ready for any number of messages.
#[derive(Clone)]
pub struct Key {
    format: WireFormat,
    raw: Vec<u8>,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key").field("format", &self.format).finish_non_exhaustive()
    }
}

/// Seals with a cipher of RustCrypto's.
pub(super) fn seal_in<C: AeadInOut + KeyInit>(
    key: &[u8],
    nonce: &[u8],
    aad: &[u8],
    text: &mut [u8],
    _: usize,
) -> Option<Vec<u8>> {
    let (cipher, nonce) = (C::new_from_slice(key).ok()?, Nonce::<C>::try_from(nonce).ok()?);
    Some(cipher.encrypt_inout_detached(&nonce, aad, text.into()).ok()?.to_vec())
}

/// Opens with a cipher of RustCrypto's.
pub(super) fn open_in<C: AeadInOut + KeyInit>(
    key: &[u8],
    nonce: &[u8],
    aad: &[u8],
    text: &mut [u8],
    tag: &[u8],
) -> Option<()> {
    let (cipher, nonce) = (C::new_from_slice(key).ok()?, Nonce::<C>::try_from(nonce).ok()?);
    cipher.decrypt_inout_detached(&nonce, aad, text.into(), &Tag::<C>::try_from(tag).ok()?).ok()
}

impl Key {
    /// Takes a key.
    pub fn new(format: impl Into<WireFormat>, key: &[u8]) -> Result<Self, BytesError> {
        let format = format.into();
        format.scheme.check_key(key)?;
        Ok(Self { format, raw: key.to_vec() })
    }

    /// Seals `text` in place and gives the tag.
    pub fn seal(&self, nonce: &[u8], aad: &[u8], text: &mut [u8]) -> Result<Vec<u8>, BytesError> {
        let WireFormat { scheme, tag_bytes } = self.format;
        scheme.check_nonce(nonce)?;
        (scheme.wire().seal)(&self.raw, nonce, aad, text, tag_bytes).ok_or(BytesError::TooLong)
    }

    /// Opens `text` in place. On an error what `text` holds is not to be used.
    pub fn open(&self, nonce: &[u8], aad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), BytesError> {
        let WireFormat { scheme, tag_bytes } = self.format;
        scheme.check_nonce(nonce)?;
        let opened = (tag.len() == tag_bytes).then(|| (scheme.wire().open)(&self.raw, nonce, aad, text, tag));
        opened.flatten().ok_or(BytesError::Forged)
    }
}

#[cfg(test)]
mod tests;
