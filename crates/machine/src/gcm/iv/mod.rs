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
//!
//! All numbers are little endian. The two directions have their own keys, masks and counters. Sources:
//! open-gpu-kernel-modules 595.45.04, ccsl.c (ccslEncrypt_KERNEL, ccslIncrementCounter_IMPL,
//! ccslQueryMessagePool_IMPL), conf_compute_keystore_gh100.c (incrementChannelCounter, checkSlot).

mod channel;

pub use channel::{KeySlot, Stream};

use thiserror::Error;

/// Why no IV can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum IvError {
    /// The message counter is at its end; it never wraps.
    #[error("message counter {0:#x} is exhausted; rotate the IVs or the key")]
    MessageCounter(u32),
    /// The channel counter is at its end: the key slot is unusable.
    #[error("channel counter of the key slot is exhausted at 2^64 - 1")]
    ChannelCounter,
}

/// The 96 bits that are XORed over every IV of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct IvMask(pub [u8; 12]);

/// What GCM takes: 12 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Nonce(pub [u8; 12]);

/// An IV of a channel, before masking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Iv {
    pub channel: u64,
    /// Message counter; 1 for the first message.
    pub message: u32,
}

impl Iv {
    /// Three little-endian dwords: message counter, channel counter low, channel counter high.
    pub fn to_bytes(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&self.message.to_le_bytes());
        bytes[4..].copy_from_slice(&self.channel.to_le_bytes());
        bytes
    }

    /// The nonce under `mask`.
    pub fn nonce(self, mask: IvMask) -> Nonce {
        let mut bytes = self.to_bytes();
        for (byte, mask) in bytes.iter_mut().zip(mask.0) {
            *byte ^= mask;
        }
        Nonce(bytes)
    }
}

#[cfg(test)]
mod tests;
