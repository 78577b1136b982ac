//! GCM-SST: draft-mattsson-cfrg-aes-gcm-sst, sections 3 and 4.1, with AES blocks and POLYVAL of crates.

use super::{SUBKEYS, counter};
use crate::aead::bytes;
use crate::aead::stream::{Keystream, Padded, Pieces};
use crate::gcm::bulk::Key;
use crate::gcm::message::SealOpen;
use polyval::Polyval;
use polyval::universal_hash::{KeyInit, UniversalHash};

#[derive(Debug)]
pub struct GcmSstMessage {
    direction: SealOpen,
    tag_bytes: usize,
    key: Key,
    nonce: [u8; 12],
    hash: Padded<Polyval>,
    aad_bytes: u64,
    text_bytes: u64,
    keystream: Keystream,
}

impl GcmSstMessage {
    /// Makes the message's H, and takes all of its AAD.
    pub fn new(key: &bytes::Key, nonce: &[u8], aad: &[u8], direction: SealOpen) -> Option<Self> {
        let tag_bytes = key.format().tag_bytes() as usize;
        let (key, nonce) = (Key::new(key.raw()).ok()?, <[u8; 12]>::try_from(nonce).ok()?);
        let mut hash = Padded::new(Polyval::new_from_slice(&key.encrypt_block(counter(nonce, 0))).ok()?);
        hash.take(aad);
        hash.pad();
        let (aad_bytes, keystream) = (aad.len() as u64, Keystream::default());
        Some(Self { direction, tag_bytes, key, nonce, hash, aad_bytes, text_bytes: 0, keystream })
    }

    /// POLYVAL of one block under H2, masked by M.
    fn full_tag(&self) -> [u8; 16] {
        let mut sum = self.hash.value(None);
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
            self.hash.take(text);
        }
        let Self { key, nonce, keystream, .. } = self;
        keystream.pass(text, |block| key.encrypt_block(counter(*nonce, (SUBKEYS + block) as u32)));
        self.text_bytes += text.len() as u64;
        if self.direction == SealOpen::Seal {
            self.hash.take(text);
        }
    }

    fn tag(&self) -> Vec<u8> {
        self.full_tag()[..self.tag_bytes.min(16)].to_vec()
    }
}
