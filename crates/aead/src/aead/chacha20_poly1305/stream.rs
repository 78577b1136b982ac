//! ChaCha20-Poly1305: RFC 8439, section 2.8.

use crate::aead::stream::{Padded, Pieces};
use crate::gcm::message::SealOpen;
use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use poly1305::Poly1305;
use poly1305::universal_hash::KeyInit;

#[derive(Debug)]
pub struct ChaChaMessage {
    direction: SealOpen,
    cipher: ChaCha20,
    hash: Padded<Poly1305>,
    bytes: u64,
}

impl ChaChaMessage {
    /// Makes the one-time key of the message.
    pub fn new(key: &[u8], nonce: &[u8], direction: SealOpen) -> Option<Self> {
        let mut cipher = ChaCha20::new_from_slices(key, nonce).ok()?;
        let mut one_time = [0; 32];
        cipher.apply_keystream(&mut one_time);
        // The text's keystream begins with the next block.
        cipher.seek(64);
        let hash = Padded::new(Poly1305::new_from_slice(&one_time).ok()?);
        Some(Self { direction, cipher, hash, bytes: 0 })
    }
}

impl Pieces for ChaChaMessage {
    fn update(&mut self, text: &mut [u8]) {
        if self.direction == SealOpen::Open {
            self.hash.take(text);
        }
        self.cipher.apply_keystream(text);
        self.bytes += text.len() as u64;
        if self.direction == SealOpen::Seal {
            self.hash.take(text);
        }
    }

    fn tag(&self) -> Vec<u8> {
        let mut length = [0; 16];
        length[8..].copy_from_slice(&self.bytes.to_le_bytes());
        self.hash.value(Some(length)).to_vec()
    }
}
