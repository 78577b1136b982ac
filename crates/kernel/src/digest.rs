//! A running digest of a stream of events.

/// A 64-bit digest of dated words, in order. It is for distinguishing runs, not for security.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0x243F_6A88_85A3_08D3)
    }
}

impl Digest {
    #[inline]
    pub fn add(&mut self, time: u64, word: u64) {
        let mixed = (self.0 ^ time).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = (mixed.rotate_left(29) ^ word).wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ (mixed >> 32);
    }

    pub const fn value(self) -> u64 {
        self.0
    }
}
