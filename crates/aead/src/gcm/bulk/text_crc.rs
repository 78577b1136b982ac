//! A CRC of the plaintext, added to the tag: what is wrong in the text and not in the ciphertext is seen by whoever compares tags.
//!
//! ```text
//!   sealing:  text --+--> engine --> ciphertext          opening:  ciphertext --> engine --+--> text
//!                    |                                                                     |
//!                    +--> CRC --(+)--> tag                         tag that came <-?- (+)--+ CRC
//!                               tag                                               tag
//! ```
//!
//! The CRC-32 is that of PCIe and Ethernet; it is XORed over the first four bytes of the first tag, so that nothing more is carried. GCM's bound holds: the
//! tag stays masked by E(K,J0), which is used once, and as the CRC is affine in the ciphertext, the difference of two messages' tags is still a polynomial in
//! H that only as many H as it has blocks make zero.

use super::SealOpen;

#[derive(Debug, Clone)]
pub struct TextCrc {
    direction: SealOpen,
    crc: crc32fast::Hasher,
}

impl TextCrc {
    /// Of a message of which nothing has come.
    pub fn new(direction: SealOpen) -> Self {
        Self { direction, crc: crc32fast::Hasher::new() }
    }

    /// Passes the next text through an engine, and takes it where it is plaintext.
    pub fn pass(&mut self, text: &mut [u8], engine: impl FnOnce(&mut [u8])) {
        if self.direction == SealOpen::Seal {
            self.crc.update(text);
        }
        engine(text);
        if self.direction == SealOpen::Open {
            self.crc.update(text);
        }
    }

    /// Adds the CRC of what has passed to tags.
    pub fn add_to(&self, tags: &mut [u8]) {
        let crc = self.crc.clone().finalize().to_be_bytes();
        tags.iter_mut().zip(crc).for_each(|(byte, crc)| *byte ^= crc);
    }
}
