//! Bytes out of a seed, at the speed of memory.
//!
//! The stream is split into tiles of 4 KiB. Tile t is one random tile, the same for the whole stream, with the 64-bit word
//! `word(t)` XORed onto each of its 512 words. So any byte can be made from its offset alone, a tile in the wrong place shows
//! in every word, and a word in the wrong place within its tile shows too.
//!
//! `word` and the random tile come from SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
//! generators", OOPSLA 2014), which is a bijection on 64 bits: no two tiles of a stream are equal.

use super::request::PayloadSource;
use std::{io, sync::OnceLock};

/// Bytes of one tile.
const TILE: usize = 4096;
/// 2^64 divided by the golden ratio, the increment of SplitMix64.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// An endless stream of bytes.
#[derive(Debug, Clone)]
pub struct Generator {
    start: u64,
    /// The random tile, once it was asked for: a run without data never does.
    tile: OnceLock<Box<[u8; TILE]>>,
}

impl Generator {
    pub fn new(seed: u64, stream: u64) -> Self {
        Self { start: mix(mix(seed.wrapping_add(GOLDEN)).wrapping_add(stream)), tile: OnceLock::new() }
    }

    fn tile(&self) -> &[u8; TILE] {
        self.tile.get_or_init(|| {
            let mut tile = Box::new([0; TILE]);
            for (word, index) in tile.as_chunks_mut().0.iter_mut().zip(1u64..) {
                *word = mix(!self.start ^ index.wrapping_mul(GOLDEN)).to_le_bytes();
            }
            tile
        })
    }

    /// Fills `into` with the stream's bytes from `offset` on.
    pub fn fill(&self, mut offset: u64, mut into: &mut [u8]) {
        while !into.is_empty() {
            let within = (offset % TILE as u64) as usize;
            let (now, later) = into.split_at_mut(into.len().min(TILE - within));
            self.fill_within_tile(offset / TILE as u64, within, now);
            offset = offset.wrapping_add(now.len() as u64);
            into = later;
        }
    }

    fn fill_within_tile(&self, tile: u64, within: usize, into: &mut [u8]) {
        let word = mix(self.start.wrapping_add(tile.wrapping_mul(GOLDEN)));
        let word = word.rotate_right(8 * (within % 8) as u32);
        let random = &self.tile()[within..within + into.len()];
        let ((wide, tail), (wide_random, tail_random)) = (into.as_chunks_mut(), random.as_chunks());
        for (out, random) in wide.iter_mut().zip(wide_random) {
            *out = (u64::from_le_bytes(*random) ^ word).to_le_bytes();
        }
        for ((out, random), word) in tail.iter_mut().zip(tail_random).zip(word.to_le_bytes()) {
            *out = random ^ word;
        }
    }
}

/// The output function of SplitMix64.
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl PayloadSource for Generator {
    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.fill(offset, into);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn bytes(seed: u64, stream: u64, offset: u64, count: usize) -> Vec<u8> {
        let mut out = vec![0; count];
        Generator::new(seed, stream).fill(offset, &mut out);
        out
    }

    proptest! {
        #[test]
        fn a_piece_read_alone_is_the_same_as_within_the_whole(offset in 0usize..20_000, count in 0usize..10_000) {
            let whole = bytes(7, 0, 0, 30_000);
            prop_assert_eq!(&bytes(7, 0, offset as u64, count)[..], &whole[offset..offset + count]);
        }
    }

    /// Both texts come from a few lines of Python over the definition at the head of this file.
    #[test]
    fn the_stream_of_a_seed_never_changes() {
        assert_eq!(hex::encode(bytes(0, 0, 0, 16)), "3ca61748e79e3a7694af8a5dad3ebf51");
        assert_eq!(hex::encode(bytes(42, 1, (1 << 40) + 5, 16)), "4f2d83f3efc3d289505c83e2bb424acd");
    }

    #[test]
    fn seeds_streams_and_tiles_differ() {
        let tiles: HashSet<_> = (0..4096).map(|tile| bytes(1, 0, tile * TILE as u64, 8)).collect();
        assert_eq!(tiles.len(), 4096);
        assert_ne!(bytes(1, 0, 0, 64), bytes(2, 0, 0, 64));
        assert_ne!(bytes(1, 0, 0, 64), bytes(1, 1, 0, 64));
    }

    #[test]
    fn bits_are_balanced() {
        let ones: u32 = bytes(3, 0, 0, 1 << 20).iter().map(|byte| byte.count_ones()).sum();
        let half = 4u32 << 20;
        assert!(ones.abs_diff(half) < half / 50, "{ones}");
    }
}
