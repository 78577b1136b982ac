//! IVs of the copy path: who counts, from where, and when it ends.
//!
//! ```text
//!   bytes 0..4            4..12                          nonce (12)        J0 (16)
//!  +----------------+-----------------------------+
//!  | message counter| channel counter (64)        |  XOR mask  ------>  || 00 00 00 01
//!  +----------------+-----------------------------+
//!    per direction     per channel, from the key slot     per key
//! ```
//!
//! | event | message counter | channel counter | mask |
//! | --- | --- | --- | --- |
//! | message (one launch) | +1, then used; 0xFFFFFFFF is the last | kept | kept |
//! | new channel | 0 | +1 of the key slot | of the key |
//! | IV rotation | 0 | +1 of the key slot | kept |
//! | key rotation | 0 | kept | new |
//!
//! All numbers are little endian. The two directions have their own keys, masks and counters. Sources:
//! open-gpu-kernel-modules 595.45.04, ccsl.c (ccslEncrypt_KERNEL, ccslIncrementCounter_IMPL,
//! ccslQueryMessagePool_IMPL), conf_compute_keystore_gh100.c (incrementChannelCounter, checkSlot),
//! conf_compute_gh100.c (confComputeUpdateSecrets_GH100).

mod bundle;
mod channel;

pub use bundle::{BundleError, KEY_VERSIONS, KeyBundle, KeyVersion};
pub use channel::{ChannelIvs, KeySlot, SlotPair, Stream};

use thiserror::Error;

/// Why no IV can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum IvError {
    /// The message counter is at its end; it never wraps.
    #[error("message counter {0:#x} is exhausted; rotate the IVs or the key")]
    MessageCounter(u64),
    /// The channel counter is at its end: the key slot is unusable.
    #[error("channel counter of the key slot is exhausted at 2^64 - 1")]
    ChannelCounter,
    /// A rotation limit outside what the driver accepts.
    #[error("rotation limit {0} is not in {min}..={max}", min = RotationLimit::MIN, max = RotationLimit::MAX)]
    RotationLimit(u32),
}

/// The 96 bits that are XORed over every IV of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct IvMask(pub [u8; 12]);

/// What GCM takes: 12 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Nonce(pub [u8; 12]);

impl Nonce {
    /// The block that masks the tag: nonce, then the 32-bit big-endian number 1.
    #[must_use]
    pub fn j0(self) -> [u8; 16] {
        let mut block = [0; 16];
        block[..12].copy_from_slice(&self.0);
        block[15] = 1;
        block
    }
}

/// An IV of a channel, before masking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Iv {
    /// Channel counter.
    pub channel: u64,
    /// Message counter; 1 for the first message.
    pub message: u32,
}

impl Iv {
    /// Three little-endian dwords: message counter, channel counter low, channel counter high.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&self.message.to_le_bytes());
        bytes[4..].copy_from_slice(&self.channel.to_le_bytes());
        bytes
    }

    /// Inverse of [`Iv::to_bytes`].
    #[must_use]
    pub fn from_bytes(bytes: [u8; 12]) -> Self {
        let [m0, m1, m2, m3, c0, c1, c2, c3, c4, c5, c6, c7] = bytes;
        Self {
            message: u32::from_le_bytes([m0, m1, m2, m3]),
            channel: u64::from_le_bytes([c0, c1, c2, c3, c4, c5, c6, c7]),
        }
    }

    /// The nonce under `mask`.
    #[must_use]
    pub fn nonce(self, mask: IvMask) -> Nonce {
        masked(self.to_bytes(), mask)
    }
}

/// The IV of a context of the GPU system processor (RPC, DMA, faults): a 64-bit message counter over the first two
/// dwords, and no channel counter: the third dword is zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct GspIv {
    /// Message counter; 1 for the first message.
    pub message: u64,
}

impl GspIv {
    /// Three little-endian dwords.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&self.message.to_le_bytes());
        bytes
    }

    /// The nonce under `mask`.
    #[must_use]
    pub fn nonce(self, mask: IvMask) -> Nonce {
        masked(self.to_bytes(), mask)
    }

    /// Advances to the next message and gives its IV.
    ///
    /// # Errors
    /// At the end of the counter, which then stays.
    pub fn advance(&mut self) -> Result<Self, IvError> {
        self.message = self.message.checked_add(1).ok_or(IvError::MessageCounter(self.message))?;
        Ok(*self)
    }
}

fn masked(mut bytes: [u8; 12], mask: IvMask) -> Nonce {
    for (byte, mask) in bytes.iter_mut().zip(mask.0) {
        *byte ^= mask;
    }
    Nonce(bytes)
}

/// When the driver rotates the IVs of a channel: as soon as no more than this many messages remain.
///
/// Source: uvm_conf_computing.c, UVM_CONF_COMPUTING_IV_REMAINING_LIMIT_{DEFAULT, MIN, MAX}.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RotationLimit(u32);

impl RotationLimit {
    /// Secure operations that one push of 128 KiB can hold, with its tracking semaphore.
    pub const MIN: u32 = 2342;
    /// One message short of never using the counter.
    pub const MAX: u32 = 0xFFFF_FFFE;

    /// A limit in messages.
    ///
    /// # Errors
    /// Outside [`Self::MIN`]`..=`[`Self::MAX`].
    pub fn new(messages: u32) -> Result<Self, IvError> {
        if (Self::MIN..=Self::MAX).contains(&messages) {
            Ok(Self(messages))
        } else {
            Err(IvError::RotationLimit(messages))
        }
    }

    /// The limit in messages.
    #[must_use]
    pub fn messages(self) -> u32 {
        self.0
    }

    /// Whether a stream with `remaining` messages is to be rotated.
    #[must_use]
    pub fn is_due(self, remaining: u32) -> bool {
        remaining <= self.0
    }
}

impl Default for RotationLimit {
    /// 2^31 messages.
    fn default() -> Self {
        Self(1 << 31)
    }
}

#[cfg(test)]
mod tests;
