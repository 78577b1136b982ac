//! GCM-SST: draft-mattsson-cfrg-aes-gcm-sst, sections 3 and 4.1, with AES blocks and POLYVAL of crates.

use super::{SUBKEYS, counter};
use crate::aead::bytes;
use crate::aead::stream::{Blocks, Pieces};
use crate::gcm::bulk::Key;
use crate::gcm::message::SealOpen;
use polyval::Polyval;
use polyval::universal_hash::{KeyInit, UniversalHash};

pub struct GcmSstMessage {
    direction: SealOpen,
    tag_bytes: usize,
    key: Key,
    nonce: [u8; 12],
    hash: Polyval,
    blocks: Blocks,
    aad_bytes: u64,
    text_bytes: u64,
    /// Keystream of the block in which the next text byte lies; it is made when that block's first byte is due.
    keystream: [u8; 16],
}

impl std::fmt::Debug for GcmSstMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GcmSstMessage").field("text_bytes", &self.text_bytes).finish_non_exhaustive()
    }
}

impl GcmSstMessage {
    /// Makes the message's H, and takes all of its AAD.
    pub fn new(key: &bytes::Key, nonce: &[u8], aad: &[u8], direction: SealOpen) -> Option<Self> {
        let tag_bytes = key.format().tag_bytes() as usize;
        let (key, nonce) = (Key::new(key.raw()).ok()?, <[u8; 12]>::try_from(nonce).ok()?);
        let mut hash = Polyval::new_from_slice(&key.encrypt_block(counter(nonce, 0))).ok()?;
        let mut blocks = Blocks::default();
        blocks.take(aad, |block: [u8; 16]| hash.update(&[block.into()]));
        if let Some(last) = blocks.padded::<16>() {
            hash.update(&[last.into()]);
        }
        let (blocks, aad_bytes) = (Blocks::default(), aad.len() as u64);
        Some(Self { direction, tag_bytes, key, nonce, hash, blocks, aad_bytes, text_bytes: 0, keystream: [0; 16] })
    }

    fn hash(&mut self, cipher: &[u8]) {
        let Self { blocks, hash, .. } = self;
        blocks.take(cipher, |block: [u8; 16]| hash.update(&[block.into()]));
    }

    /// POLYVAL of one block under H2, masked by M.
    fn full_tag(&self) -> [u8; 16] {
        let mut hash = self.hash.clone();
        if let Some(last) = self.blocks.padded::<16>() {
            hash.update(&[last.into()]);
        }
        let mut sum: [u8; 16] = hash.finalize().into();
        let bits = [self.text_bytes, self.aad_bytes].map(|bytes| (8 * bytes).to_le_bytes());
        sum.iter_mut().zip(bits.as_flattened()).for_each(|(byte, length)| *byte ^= length);
        let [h2, mask] = [1, 2].map(|number| self.key.encrypt_block(counter(self.nonce, number)));
        let mut last = Polyval::new(&h2.into());
        last.update(&[sum.into()]);
        let mut tag: [u8; 16] = last.finalize().into();
        tag.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
        tag
    }
}

impl Pieces for GcmSstMessage {
    fn update(&mut self, text: &mut [u8]) {
        if self.direction == SealOpen::Open {
            self.hash(text);
        }
        for byte in &mut *text {
            let place = (self.text_bytes % 16) as usize;
            if place == 0 {
                let number = SUBKEYS + self.text_bytes / 16;
                self.keystream = self.key.encrypt_block(counter(self.nonce, number as u32));
            }
            *byte ^= self.keystream[place];
            self.text_bytes += 1;
        }
        if self.direction == SealOpen::Seal {
            self.hash(text);
        }
    }

    fn tag(&self) -> Vec<u8> {
        self.full_tag()[..self.tag_bytes.min(16)].to_vec()
    }
}
