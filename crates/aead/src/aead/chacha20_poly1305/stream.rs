//! ChaCha20-Poly1305: RFC 8439, section 2.8.

use crate::aead::stream::{Blocks, Pieces};
use crate::gcm::message::SealOpen;
use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use poly1305::Poly1305;
use poly1305::universal_hash::{KeyInit, UniversalHash};

pub struct ChaChaMessage {
    direction: SealOpen,
    cipher: ChaCha20,
    hash: Poly1305,
    blocks: Blocks,
    bytes: u64,
}

impl std::fmt::Debug for ChaChaMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChaChaMessage").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl ChaChaMessage {
    /// Makes the one-time key of the message.
    pub fn new(key: &[u8], nonce: &[u8], direction: SealOpen) -> Option<Self> {
        let mut cipher = ChaCha20::new_from_slices(key, nonce).ok()?;
        let mut one_time = [0; 32];
        cipher.apply_keystream(&mut one_time);
        // The text's keystream begins with the next block.
        cipher.seek(64);
        let hash = Poly1305::new_from_slice(&one_time).ok()?;
        Some(Self { direction, cipher, hash, blocks: Blocks::default(), bytes: 0 })
    }

    fn hash(&mut self, cipher: &[u8]) {
        let Self { blocks, hash, .. } = self;
        blocks.take(cipher, |block: [u8; 16]| hash.update(&[block.into()]));
    }
}

impl Pieces for ChaChaMessage {
    fn update(&mut self, text: &mut [u8]) {
        if self.direction == SealOpen::Open {
            self.hash(text);
        }
        self.cipher.apply_keystream(text);
        self.bytes += text.len() as u64;
        if self.direction == SealOpen::Seal {
            self.hash(text);
        }
    }

    fn tag(&self) -> Vec<u8> {
        let mut hash = self.hash.clone();
        if let Some(last) = self.blocks.padded::<16>() {
            hash.update(&[last.into()]);
        }
        let mut length = [0; 16];
        length[8..].copy_from_slice(&self.bytes.to_le_bytes());
        hash.update(&[length.into()]);
        hash.finalize().to_vec()
    }
}
