//! AES-GCM-SIV: RFC 8452, section 4.

use crate::aead::stream::{Keystream, Padded, Pieces};
use crate::gcm::bulk::Key;
use crate::gcm::message::SealOpen;
use polyval::Polyval;
use polyval::universal_hash::KeyInit;

#[derive(Debug)]
pub struct GcmSivMessage {
    direction: SealOpen,
    key: Key,
    nonce: [u8; 12],
    hash: Padded<Polyval>,
    hashed: u64,
    /// To seal the tag that was made, to open the one that came.
    seed: [u8; 16],
    keystream: Keystream,
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
        let hash = Padded::new(Polyval::new_from_slice(h).ok()?);
        let (key, keystream) = (Key::new(own).ok()?, Keystream::default());
        Some(Self { direction, key, nonce, hash, hashed: 0, seed: [0; 16], keystream })
    }

    /// The tag of the plaintext so far.
    fn computed(&self) -> [u8; 16] {
        let mut length = [0; 16];
        length[8..].copy_from_slice(&(8 * self.hashed).to_le_bytes());
        let mut sum = self.hash.value(Some(length));
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
        self.hashed += text.len() as u64;
        self.hash.take(text);
    }

    fn turn(&mut self) {
        self.seed = self.computed();
    }

    fn update(&mut self, text: &mut [u8]) {
        let Self { seed, key, keystream, .. } = self;
        keystream.pass(text, |block| {
            let first = u32::from_le_bytes([seed[0], seed[1], seed[2], seed[3]]);
            let mut counter = *seed;
            counter[..4].copy_from_slice(&first.wrapping_add(block as u32).to_le_bytes());
            counter[15] |= 0x80;
            key.encrypt_block(counter)
        });
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
