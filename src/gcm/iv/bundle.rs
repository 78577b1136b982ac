//! Keys that the CPU keeps so that it can still open what the GPU sealed before a rotation.

use super::IvMask;
use std::fmt;
use thiserror::Error;

/// Key versions that stay usable, by version modulo this number (ccsl.c: MAX_DECRYPT_BUNDLES).
pub const KEY_VERSIONS: u32 = 16;

/// One version of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyVersion {
    /// Its number, from 0.
    pub version: u32,
    /// AES-256 key.
    pub key: [u8; 32],
    /// Its IV mask.
    pub mask: IvMask,
}

impl fmt::Debug for KeyVersion {
    /// Without the key, which has no business in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyVersion").field("version", &self.version).finish_non_exhaustive()
    }
}

/// Why a key version is not to be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BundleError {
    /// Its slot has been taken by a newer version.
    #[error("key version {version} is gone; {oldest} to {current} are kept")]
    TooOld {
        /// Asked for.
        version: u32,
        /// Oldest that is kept.
        oldest: u32,
        /// Newest.
        current: u32,
    },
    /// No rotation has reached it.
    #[error("key version {version} does not exist yet; the current one is {current}")]
    NotYet {
        /// Asked for.
        version: u32,
        /// Newest.
        current: u32,
    },
    /// The copy engine refuses a key of zeroes with an interrupt.
    #[error("the key is all zeroes")]
    ZeroKey,
    /// The version number is at its end.
    #[error("key version {0} is the last one")]
    LastVersion(u32),
}

/// The last 16 versions of the key that opens GPU-to-CPU messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyBundle {
    slots: [KeyVersion; KEY_VERSIONS as usize],
    current: u32,
}

impl KeyBundle {
    /// A bundle that holds version 0 only.
    ///
    /// # Errors
    /// If the key is all zeroes.
    pub fn new(key: [u8; 32], mask: IvMask) -> Result<Self, BundleError> {
        Ok(Self { slots: [checked(0, key, mask)?; KEY_VERSIONS as usize], current: 0 })
    }

    /// The newest version.
    #[must_use]
    pub fn current(&self) -> &KeyVersion {
        &self.slots[slot(self.current)]
    }

    /// Installs the next version, in place of the one 16 before it.
    ///
    /// # Errors
    /// If the key is all zeroes, or versions have run out.
    pub fn install(&mut self, key: [u8; 32], mask: IvMask) -> Result<u32, BundleError> {
        let version = self.current.checked_add(1).ok_or(BundleError::LastVersion(self.current))?;
        self.slots[slot(version)] = checked(version, key, mask)?;
        self.current = version;
        Ok(version)
    }

    /// A version that is still kept.
    ///
    /// # Errors
    /// If it is too old, or not there yet.
    pub fn get(&self, version: u32) -> Result<&KeyVersion, BundleError> {
        let (current, oldest) = (self.current, self.current.saturating_sub(KEY_VERSIONS - 1));
        if version > current {
            return Err(BundleError::NotYet { version, current });
        }
        if version < oldest {
            return Err(BundleError::TooOld { version, oldest, current });
        }
        Ok(&self.slots[slot(version)])
    }
}

fn slot(version: u32) -> usize {
    (version % KEY_VERSIONS) as usize
}

fn checked(version: u32, key: [u8; 32], mask: IvMask) -> Result<KeyVersion, BundleError> {
    if key == [0; 32] { Err(BundleError::ZeroKey) } else { Ok(KeyVersion { version, key, mask }) }
}
