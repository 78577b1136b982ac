//! What the host's units hand each other: copies to make, jobs for the cipher, and whose keys they use.

use super::staging::SlotId;
use crate::{
    sim::{FaultKind, Item},
    units::Bytes,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A key that seals or opens on this side of the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyOf {
    /// Of what the GPU opens. Where data are forwarded, the user and the GPU share it and the CPU does not have it.
    ToGpu,
    /// Of what the GPU has sealed; shared as above.
    FromGpu,
    /// Of what the user has sealed for the CPU.
    FromUser,
    /// Of what the CPU seals for the user.
    ToUser,
}

/// An AEAD without AAD over the bytes of one message.
pub trait Cryptor {
    /// Seals `text` in place; gives the tag.
    fn seal(&mut self, key: KeyOf, nonce: [u8; 12], text: &mut [u8]) -> Vec<u8>;

    /// Begins to seal `text`, perhaps in parallel with the simulation.
    fn begin_seal(&mut self, key: KeyOf, nonce: [u8; 12], mut text: Vec<u8>) -> Sealing {
        let tag = self.seal(key, nonce, &mut text);
        Sealing(Box::new(move || (text, tag)))
    }

    /// Opens `text` in place; gives whether `tag` is the one that it should have come with. If not, what `text` holds is not to be used.
    fn open(&mut self, key: KeyOf, nonce: [u8; 12], text: &mut [u8], tag: &[u8]) -> bool;
}

/// A message that is being sealed; it gives ciphertext and tag.
pub struct Sealing(pub Box<dyn FnOnce() -> (Vec<u8>, Vec<u8>)>);

impl std::fmt::Debug for Sealing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sealing")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    /// Seals a message from private memory into staging.
    Seal,
    /// Opens a message from staging into private memory, if its tag is right.
    Open,
    /// Copies a message into staging.
    CopyIn,
    /// Copies a message out of staging.
    CopyOut,
    /// Opens a message of the user's and, if its tag is right, seals it into staging.
    ResealIn,
    /// Opens a message from staging and, if its tag is right, seals it for the user, who opens it.
    ResealOut,
    /// Brings what the user has sealed for the GPU into staging, with its tag.
    ForwardIn,
    /// Brings what the GPU has sealed for the user out of staging, with its tag; the user opens it.
    ForwardOut,
    /// Seals a message before it is asked for and keeps it in private memory.
    SealAhead,
    /// The same of a message that nobody will ask for.
    SealUnused,
    /// Copies a message that was sealed ahead into staging, with its tag.
    Place,
    /// As [`Self::Open`], after the call has returned.
    OpenAfter,
}

impl JobKind {
    /// Tags that are checked on this side of the link, of one message.
    pub const fn tags_checked(self) -> u64 {
        match self {
            Self::Seal | Self::CopyIn | Self::CopyOut | Self::ForwardIn => 0,
            Self::SealAhead | Self::SealUnused | Self::Place => 0,
            Self::Open | Self::ResealIn | Self::ForwardOut | Self::OpenAfter => 1,
            Self::ResealOut => 2,
        }
    }

    /// Whether a message from the GPU has its verdict when the job ends.
    pub const fn judges_what_comes_out(self) -> bool {
        matches!(self, Self::Open | Self::ResealOut | Self::ForwardOut | Self::OpenAfter)
    }
}

#[derive(Debug, Clone)]
pub struct CipherJob {
    pub id: u64,
    pub kind: JobKind,
    /// The staging slot, or [`SlotId::NONE`].
    pub slot: SlotId,
    /// The copy whose private memory is at the other end.
    pub copy: usize,
    pub offset: u64,
    pub bytes: u64,
    /// Whether its bytes take the second pass of a small copy.
    pub small: bool,
    /// Nonce, where the message is sealed between here and the GPU.
    pub nonce: [u8; 12],
}

impl CipherJob {
    /// The nonce between user and CPU: a message of a copy is the only one under its key that begins there.
    pub fn user_nonce(&self) -> [u8; 12] {
        let mut nonce = [0; 12];
        nonce[..4].copy_from_slice(&(self.copy as u32).to_be_bytes());
        nonce[4..].copy_from_slice(&self.offset.to_be_bytes());
        nonce
    }
}

/// Who looks at a tag on this side of the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Party {
    Cpu,
    User,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CipherDone {
    pub id: u64,
    /// Whether the message is where it should be: false for a wrong tag.
    pub ok: bool,
    pub by: Party,
}

impl Item for CipherJob {
    const FAULTS: &'static [FaultKind] = &[];

    fn event_key(&self) -> u64 {
        let kind = self.kind as u64;
        self.id ^ self.bytes << 24 ^ u64::from(self.slot.0) << 40 ^ kind << 62 ^ (kind >> 2) << 60
    }
}

impl Item for CipherDone {
    const FAULTS: &'static [FaultKind] = &[];

    fn event_key(&self) -> u64 {
        self.id << 1 | u64::from(self.ok)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    H2d,
    D2h,
    D2d,
}

/// The kind of host memory of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// Page-locked memory, which the GPU can reach by itself.
    Pinned,
    /// Ordinary memory, which passes through staging.
    Pageable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyPlan {
    pub direction: Direction,
    pub bytes: Bytes,
    /// The host's end; of no account within the GPU.
    pub memory: Memory,
    pub buffer: u32,
    /// Length of that buffer, of which the copy takes the beginning.
    pub buffer_bytes: Bytes,
    /// Its state when the run begins.
    pub pages: Pages,
}

/// What the host's caches and page tables know of a copy's buffer when the run begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pages {
    /// Copies of the same buffer came before: the caches hold what they leave of it.
    Warm,
    /// Its pages exist, and no cache holds any of it.
    #[default]
    Cold,
    /// Its pages have never been touched: the first write to each faults.
    Fresh,
}
