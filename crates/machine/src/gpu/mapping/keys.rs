//! Keys of the secure LCEs.
//!
//! Channels of one engine share its keys ("not enough HW key slots" for a key per channel, as uvm_hopper.c says), one
//! for each direction. Kernel channels have two more, which no copy uses.

use super::Lce;
use crate::gcm::iv::IvMask;
use sha2::{Digest, Sha256};
use std::fmt;

/// Direction of the messages that a key seals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyDirection {
    H2d,
    D2h,
}

/// One key of one LCE. Prints as its name in the key store, for example `Lce00_h2d_user`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyName {
    index: u8,
    direction: KeyDirection,
}

impl KeyName {
    /// The key of a secure LCE; GRCEs have none.
    pub fn new(lce: Lce, direction: KeyDirection) -> Option<Self> {
        lce.key_index().map(|index| Self { index, direction })
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.direction == KeyDirection::H2d { "h2d" } else { "d2h" };
        write!(f, "Lce{:02}_{direction}_user", self.index)
    }
}

/// A key for simulation: SHA-256 over the master secret, the key's version and its name. The product instead expands
/// an SPDM export secret with HKDF-SHA256 over the name, and updates keys from their predecessors; only that keys
/// differ matters here.
pub fn simulation_key(master: &[u8; 32], version: u32, name: KeyName) -> [u8; 32] {
    derive(master, version, &name.to_string())
}

/// An IV mask for simulation, in the same manner. In the product it comes from the GPU system processor.
pub fn simulation_mask(master: &[u8; 32], version: u32, name: KeyName) -> IvMask {
    let digest = derive(master, version, &format!("{name} iv mask"));
    let mut mask = IvMask::default();
    mask.0.copy_from_slice(&digest[..12]);
    mask
}

/// What ends the nonces of a scheme whose nonces are longer than an IV, in the same manner.
pub fn simulation_nonce_tail(master: &[u8; 32], version: u32, name: KeyName) -> [u8; 20] {
    let digest = derive(master, version, &format!("{name} nonce tail"));
    let mut tail = [0; 20];
    tail.copy_from_slice(&digest[..20]);
    tail
}

fn derive(master: &[u8; 32], version: u32, label: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(master);
    hash.update(version.to_le_bytes());
    hash.update(label.as_bytes());
    hash.finalize().into()
}
