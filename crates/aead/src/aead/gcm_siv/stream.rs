//! AES-GCM-SIV: RFC 8452, section 4.

use crate::aead::stream::{Blocks, Pieces};
use crate::gcm::bulk::Key;
use crate::gcm::message::SealOpen;
use polyval::Polyval;
use polyval::universal_hash::{KeyInit, UniversalHash};

pub struct GcmSivMessage {
    direction: SealOpen,
    key: Key,
    nonce: [u8; 12],
    hash: Polyval,
    blocks: Blocks,
    hashed: u64,
    /// To seal the tag that was made, to open the one that came.
    seed: [u8; 16],
    /// Text bytes that were enciphered or deciphered, and the keystream block of the last one.
    passed: u64,
    keystream: [u8; 16],
}

impl std::fmt::Debug for GcmSivMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GcmSivMessage").field("passed", &self.passed).finish_non_exhaustive()
    }
}

impl GcmSivMessage {
    /// Derives the message's keys.
    pub fn new(key: &[u8], nonce: &[u8], direction: SealOpen) -> Option<Self> {
        if ![16, 32].contains(&key.len()) {
            return None;
        }
        let (master, nonce) = (Key::new(key).ok()?, <[u8; 12]>::try_from(nonce).ok()?);
        let blocks = 2 + key.len() as u32 / 8;
        let half = |number: u32| {
            let mut block = [0; 16];
            block[..4].copy_from_slice(&number.to_le_bytes());
            block[4..].copy_from_slice(&nonce);
            master.encrypt_block(block).into_iter().take(8)
        };
        let derived: Vec<u8> = (0..blocks).flat_map(half).collect();
        let (h, own) = derived.split_at(16);
        Some(Self {
            direction,
            key: Key::new(own).ok()?,
            nonce,
            hash: Polyval::new_from_slice(h).ok()?,
            blocks: Blocks::default(),
            hashed: 0,
            seed: [0; 16],
            passed: 0,
            keystream: [0; 16],
        })
    }

    /// The tag of the plaintext so far.
    fn computed(&self) -> [u8; 16] {
        let mut hash = self.hash.clone();
        if let Some(last) = self.blocks.padded::<16>() {
            hash.update(&[last.into()]);
        }
        let mut length = [0; 16];
        length[8..].copy_from_slice(&(8 * self.hashed).to_le_bytes());
        hash.update(&[length.into()]);
        let mut sum: [u8; 16] = hash.finalize().into();
        sum.iter_mut().zip(self.nonce).for_each(|(byte, nonce)| *byte ^= nonce);
        sum[15] &= 0x7f;
        self.key.encrypt_block(sum)
    }
}

impl Pieces for GcmSivMessage {
    fn seed(&mut self, tag: &[u8]) {
        self.seed = tag.try_into().unwrap_or_default();
    }

    fn absorb(&mut self, text: &[u8]) {
        let Self { blocks, hash, hashed, .. } = self;
        *hashed += text.len() as u64;
        blocks.take(text, |block: [u8; 16]| hash.update(&[block.into()]));
    }

    fn turn(&mut self) {
        self.seed = self.computed();
    }

    fn update(&mut self, text: &mut [u8]) {
        for byte in &mut *text {
            let place = (self.passed % 16) as usize;
            if place == 0 {
                let first = u32::from_le_bytes([self.seed[0], self.seed[1], self.seed[2], self.seed[3]]);
                let mut counter = self.seed;
                counter[..4].copy_from_slice(&first.wrapping_add((self.passed / 16) as u32).to_le_bytes());
                counter[15] |= 0x80;
                self.keystream = self.key.encrypt_block(counter);
            }
            *byte ^= self.keystream[place];
            self.passed += 1;
        }
        if self.direction == SealOpen::Open {
            self.absorb(text);
        }
    }

    fn tag(&self) -> Vec<u8> {
        match self.direction {
            SealOpen::Seal => self.seed.to_vec(),
            SealOpen::Open => self.computed().to_vec(),
        }
    }
}
