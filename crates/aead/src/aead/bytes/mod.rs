//! The bytes of AEADs other than AES-GCM, by crates.
//!
//! | scheme | crate | key | nonce |
//! | --- | --- | --- | --- |
//! | AES-GCM-SIV (RFC 8452) | `aes-gcm-siv` | 16 or 32 bytes | 12 |
//! | AEGIS-256, -256X2, -256X4 (draft-irtf-cfrg-aegis-aead) | `aegis` | 32 | 32 |
//! | ChaCha20-Poly1305 (RFC 8439) | `chacha20poly1305` | 32 | 12 |
//!
//! Tags have 16 bytes, those of AEGIS 16 or 32.

use super::spec::AeadSpec;
use aegis::{aegis256::Aegis256, aegis256x2::Aegis256X2, aegis256x4::Aegis256X4};
use aes_gcm_siv::aead::{AeadInOut, KeyInit, Nonce, Tag};
use aes_gcm_siv::{Aes128GcmSiv, Aes256GcmSiv};
use chacha20poly1305::ChaCha20Poly1305;
use thiserror::Error;

/// Why a key or a nonce is refused, or a message not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BytesError {
    /// A key of a length that the scheme does not have.
    #[error("a key of {0} bytes: {1} takes {2}")]
    KeyBytes(usize, &'static str, &'static str),
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

/// A scheme, as far as its bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// AES-GCM-SIV.
    GcmSiv,
    /// AEGIS-256.
    Aegis256,
    /// AEGIS-256X2.
    Aegis256X2,
    /// AEGIS-256X4.
    Aegis256X4,
    /// ChaCha20-Poly1305.
    ChaCha20Poly1305,
}

/// What messages look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireFormat {
    /// The scheme.
    pub scheme: Scheme,
    /// Bytes of a tag: 16, or of AEGIS 32 as well.
    pub tag_bytes: usize,
}

impl From<Scheme> for WireFormat {
    /// With tags of 16 bytes.
    fn from(scheme: Scheme) -> Self {
        Self { scheme, tag_bytes: 16 }
    }
}

impl Scheme {
    /// States of AEGIS side by side; one of any other scheme.
    #[must_use]
    pub const fn lanes(self) -> u32 {
        match self {
            Self::Aegis256X2 => 2,
            Self::Aegis256X4 => 4,
            Self::GcmSiv | Self::Aegis256 | Self::ChaCha20Poly1305 => 1,
        }
    }

    pub(super) const fn wrong_key(self, key: &[u8]) -> BytesError {
        let lengths = if matches!(self, Self::GcmSiv) { "16 or 32" } else { "32" };
        BytesError::KeyBytes(key.len(), self.name(), lengths)
    }

    pub(super) const fn check_nonce(self, nonce: &[u8]) -> Result<(), BytesError> {
        let right = self.nonce_bytes();
        if nonce.len() == right { Ok(()) } else { Err(BytesError::NonceBytes(nonce.len(), self.name(), right)) }
    }

    /// What the standard calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::GcmSiv => "AES-GCM-SIV",
            Self::Aegis256 => "AEGIS-256",
            Self::Aegis256X2 => "AEGIS-256X2",
            Self::Aegis256X4 => "AEGIS-256X4",
            Self::ChaCha20Poly1305 => "ChaCha20-Poly1305",
        }
    }

    /// Bytes of a nonce.
    #[must_use]
    pub const fn nonce_bytes(self) -> usize {
        match self {
            Self::GcmSiv | Self::ChaCha20Poly1305 => 12,
            Self::Aegis256 | Self::Aegis256X2 | Self::Aegis256X4 => 32,
        }
    }
}

impl AeadSpec {
    /// Whose bytes an engine gives; `None` if its specification is none that can be built.
    #[must_use]
    pub const fn scheme(&self) -> Option<Scheme> {
        match self {
            Self::GcmSiv(_) => Some(Scheme::GcmSiv),
            Self::ChaCha20Poly1305(_) => Some(Scheme::ChaCha20Poly1305),
            Self::Aegis256(spec) => match spec.lanes {
                1 => Some(Scheme::Aegis256),
                2 => Some(Scheme::Aegis256X2),
                4 => Some(Scheme::Aegis256X4),
                _ => None,
            },
        }
    }

    /// What its messages look like.
    #[must_use]
    pub fn format(&self) -> Option<WireFormat> {
        let tag_bytes = if let Self::Aegis256(spec) = self { spec.tag_bytes() as usize } else { 16 };
        self.scheme().map(|scheme| WireFormat { scheme, tag_bytes })
    }
}

/// A key of a scheme.
#[derive(Clone)]
enum Cipher {
    GcmSiv128(Box<Aes128GcmSiv>),
    GcmSiv256(Box<Aes256GcmSiv>),
    Aegis([u8; 32]),
    ChaCha(Box<ChaCha20Poly1305>),
}

/// A key, ready for any number of messages.
#[derive(Clone)]
pub struct Key {
    format: WireFormat,
    cipher: Cipher,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key").field("format", &self.format).finish_non_exhaustive()
    }
}

fn seal_in<C: AeadInOut>(cipher: &C, nonce: &[u8], aad: &[u8], text: &mut [u8]) -> Result<Vec<u8>, BytesError> {
    let nonce = Nonce::<C>::try_from(nonce).map_err(|_| BytesError::TooLong)?;
    let tag = cipher.encrypt_inout_detached(&nonce, aad, text.into()).map_err(|_| BytesError::TooLong)?;
    Ok(tag.to_vec())
}

fn open_in<C: AeadInOut>(cipher: &C, nonce: &[u8], aad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), BytesError> {
    let nonce = Nonce::<C>::try_from(nonce).map_err(|_| BytesError::TooLong)?;
    let tag = Tag::<C>::try_from(tag).map_err(|_| BytesError::Forged)?;
    cipher.decrypt_inout_detached(&nonce, aad, text.into(), &tag).map_err(|_| BytesError::Forged)
}

impl Key {
    /// Takes a key.
    ///
    /// # Errors
    /// [`BytesError::KeyBytes`].
    pub fn new(format: impl Into<WireFormat>, key: &[u8]) -> Result<Self, BytesError> {
        let format = format.into();
        let scheme = format.scheme;
        let wrong = scheme.wrong_key(key);
        let cipher = match scheme {
            Scheme::GcmSiv if key.len() == 16 => {
                Cipher::GcmSiv128(Box::new(Aes128GcmSiv::new_from_slice(key).map_err(|_| wrong)?))
            }
            Scheme::GcmSiv => Cipher::GcmSiv256(Box::new(Aes256GcmSiv::new_from_slice(key).map_err(|_| wrong)?)),
            Scheme::ChaCha20Poly1305 => {
                Cipher::ChaCha(Box::new(ChaCha20Poly1305::new_from_slice(key).map_err(|_| wrong)?))
            }
            Scheme::Aegis256 | Scheme::Aegis256X2 | Scheme::Aegis256X4 => {
                Cipher::Aegis(key.try_into().map_err(|_| wrong)?)
            }
        };
        Ok(Self { format, cipher })
    }

    /// Seals `text` in place and gives the tag.
    ///
    /// # Errors
    /// [`BytesError::NonceBytes`], [`BytesError::TooLong`].
    pub fn seal(&self, nonce: &[u8], aad: &[u8], text: &mut [u8]) -> Result<Vec<u8>, BytesError> {
        self.format.scheme.check_nonce(nonce)?;
        match &self.cipher {
            Cipher::GcmSiv128(cipher) => seal_in(&**cipher, nonce, aad, text),
            Cipher::GcmSiv256(cipher) => seal_in(&**cipher, nonce, aad, text),
            Cipher::ChaCha(cipher) => seal_in(&**cipher, nonce, aad, text),
            Cipher::Aegis(key) if self.format.tag_bytes == 32 => self.seal_aegis::<32>(key, nonce, aad, text),
            Cipher::Aegis(key) => self.seal_aegis::<16>(key, nonce, aad, text),
        }
    }

    fn seal_aegis<const TAG: usize>(
        &self,
        key: &[u8; 32],
        nonce: &[u8],
        aad: &[u8],
        text: &mut [u8],
    ) -> Result<Vec<u8>, BytesError> {
        let nonce = nonce_of_32(nonce)?;
        let tag = match self.format.scheme {
            Scheme::Aegis256X2 => Aegis256X2::<TAG>::new(key, &nonce).encrypt_in_place(text, aad),
            Scheme::Aegis256X4 => Aegis256X4::<TAG>::new(key, &nonce).encrypt_in_place(text, aad),
            _ => Aegis256::<TAG>::new(key, &nonce).encrypt_in_place(text, aad),
        };
        Ok(tag.to_vec())
    }

    /// Opens `text` in place. On an error what `text` holds is not to be used.
    ///
    /// # Errors
    /// [`BytesError::Forged`], [`BytesError::NonceBytes`].
    pub fn open(&self, nonce: &[u8], aad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), BytesError> {
        self.format.scheme.check_nonce(nonce)?;
        match &self.cipher {
            Cipher::GcmSiv128(cipher) => open_in(&**cipher, nonce, aad, text, tag),
            Cipher::GcmSiv256(cipher) => open_in(&**cipher, nonce, aad, text, tag),
            Cipher::ChaCha(cipher) => open_in(&**cipher, nonce, aad, text, tag),
            Cipher::Aegis(key) if self.format.tag_bytes == 32 => self.open_aegis::<32>(key, nonce, aad, text, tag),
            Cipher::Aegis(key) => self.open_aegis::<16>(key, nonce, aad, text, tag),
        }
    }

    fn open_aegis<const TAG: usize>(
        &self,
        key: &[u8; 32],
        nonce: &[u8],
        aad: &[u8],
        text: &mut [u8],
        tag: &[u8],
    ) -> Result<(), BytesError> {
        let nonce = nonce_of_32(nonce)?;
        let tag: &[u8; TAG] = tag.try_into().map_err(|_| BytesError::Forged)?;
        let opened = match self.format.scheme {
            Scheme::Aegis256X2 => Aegis256X2::<TAG>::new(key, &nonce).decrypt_in_place(text, tag, aad),
            Scheme::Aegis256X4 => Aegis256X4::<TAG>::new(key, &nonce).decrypt_in_place(text, tag, aad),
            _ => Aegis256::<TAG>::new(key, &nonce).decrypt_in_place(text, tag, aad),
        };
        opened.map_err(|_| BytesError::Forged)
    }
}

fn nonce_of_32(nonce: &[u8]) -> Result<[u8; 32], BytesError> {
    nonce.try_into().map_err(|_| BytesError::NonceBytes(nonce.len(), Scheme::Aegis256.name(), 32))
}

#[cfg(test)]
mod tests;
