//! Keys of the secure LCEs: names, slots, ids.
//!
//! Channels of one engine share its keys ("not enough HW key slots" for a key per channel, as uvm_hopper.c says), so
//! there are four per LCE: two directions for user channels, two for kernel channels. Slots in the key store come in
//! the order GSP (12), SEC2 (6), then 6 per LCE, of which GH100 derives the first four. Even is H2D, odd is D2H.

use super::Lce;
use crate::gcm::iv::IvMask;
use sha2::{Digest, Sha256};
use std::fmt;
use thiserror::Error;

/// Live AES keys in the copy engines: 8 LCEs, 2 owners, 2 directions.
pub const LCE_KEYS: usize = 32;

/// Slots before those of the LCEs: 12 of GSP and 6 of SEC2.
const FIRST_LCE_SLOT: u16 = 12 + 6;

/// Slots per LCE: user, kernel, peer to peer; two directions each.
const SLOTS_PER_LCE: u16 = 6;

/// Key space of the first LCE: GSP is 0, SEC2 is 1.
const FIRST_LCE_KEY_SPACE: u32 = 2;

/// KeyDirection of the messages that a key seals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyDirection {
    /// CPU to GPU.
    H2d,
    /// GPU to CPU.
    D2h,
}

/// Whose channels use a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    User,
    /// Channels of the driver.
    Kernel,
}

/// A slot that is no derived key of an LCE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("slot {0} of the key store holds no copy-engine key of GH100")]
pub struct KeySlotIndexError(pub u16);

/// One key of one LCE. Prints as its name in the key store, for example `Lce00_h2d_user`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyName {
    index: u8,
    owner: Owner,
    direction: KeyDirection,
}

impl KeyName {
    /// The key of a secure LCE; GRCEs have none.
    #[must_use]
    pub fn new(lce: Lce, owner: Owner, direction: KeyDirection) -> Option<Self> {
        lce.key_index().map(|index| Self { index, owner, direction })
    }

    #[must_use]
    pub fn lce(self) -> Lce {
        Lce(self.index + 2)
    }

    /// Whose channels use it.
    #[must_use]
    pub fn owner(self) -> Owner {
        self.owner
    }

    #[must_use]
    pub fn direction(self) -> KeyDirection {
        self.direction
    }

    /// The other key of the pair; both rotate together.
    #[must_use]
    pub fn partner(self) -> Self {
        let direction = if self.direction == KeyDirection::H2d { KeyDirection::D2h } else { KeyDirection::H2d };
        Self { direction, ..self }
    }

    /// Local id in the LCE's key space, 0 to 3.
    fn local_id(self) -> u16 {
        2 * u16::from(self.owner == Owner::Kernel) + u16::from(self.direction == KeyDirection::D2h)
    }

    /// Slot in the key store.
    #[must_use]
    pub fn slot(self) -> u16 {
        FIRST_LCE_SLOT + SLOTS_PER_LCE * u16::from(self.index) + self.local_id()
    }

    /// The key in a slot.
    ///
    /// # Errors
    /// If the slot is not one of the 32.
    pub fn from_slot(slot: u16) -> Result<Self, KeySlotIndexError> {
        key_names().find(|key| key.slot() == slot).ok_or(KeySlotIndexError(slot))
    }

    /// Global key id: key space << 16 | local id.
    #[must_use]
    pub fn global_id(self) -> u32 {
        (FIRST_LCE_KEY_SPACE + u32::from(self.index)) << 16 | u32::from(self.local_id())
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.direction == KeyDirection::H2d { "h2d" } else { "d2h" };
        let owner = if self.owner == Owner::User { "user" } else { "kernel" };
        write!(f, "Lce{:02}_{direction}_{owner}", self.index)
    }
}

/// All 32 keys, in slot order.
pub fn key_names() -> impl Iterator<Item = KeyName> {
    Lce::all().filter_map(Lce::key_index).flat_map(|index| {
        [Owner::User, Owner::Kernel].into_iter().flat_map(move |owner| {
            [KeyDirection::H2d, KeyDirection::D2h].into_iter().map(move |direction| KeyName { index, owner, direction })
        })
    })
}

/// A key for simulation: SHA-256 over the master secret, the key's version and its name. The product instead expands
/// an SPDM export secret with HKDF-SHA256 over the name, and updates keys from their predecessors; only that keys
/// differ matters here.
#[must_use]
pub fn simulation_key(master: &[u8; 32], version: u32, name: KeyName) -> [u8; 32] {
    derive(master, version, &name.to_string())
}

/// An IV mask for simulation, in the same manner. In the product it comes from the GPU system processor.
#[must_use]
pub fn simulation_mask(master: &[u8; 32], version: u32, name: KeyName) -> IvMask {
    let digest = derive(master, version, &format!("{name} iv mask"));
    let mut mask = IvMask::default();
    mask.0.copy_from_slice(&digest[..12]);
    mask
}

/// What ends the nonces of a scheme whose nonces are longer than an IV, in the same manner.
#[must_use]
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
