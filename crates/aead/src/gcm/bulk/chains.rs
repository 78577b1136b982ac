//! Messages with several tags: an explicit change of GCM's wire format.
//!
//! ```text
//!   AAD, padded | ciphertext      chunk 0   chunk 1   chunk 2   chunk 3   chunk 4 ...
//!   with 3 chains:                chain 0   chain 1   chain 2   chain 0   chain 1 ...
//!
//!   Y_i = GHASH(chunks of chain i, in order, and the length block of the whole message)
//!   T_i = Y_i + E(K, inc32^-i(J0))                     on the wire: T_0 T_1 T_2, 16 bytes each
//! ```
//!
//! The ciphertext is GCM's own, and so is T_0 of a message of one chunk. Why the others are safe: each chain is a universal
//! hash under the same H with a one-time mask of its own, which is what GCM's tag is. The masks come from counter blocks that
//! no other use of the key and IV enciphers, J0 and those before it, so that a tag says which chain it is of: a chain's
//! bytes with its tag are refused in the place of another. The length block binds every chain to the lengths of AAD and
//! text, and so to what its part of them is; number of chains and size of chunks are the key's, not the message's. A
//! message is good if all of its tags are. In exchange, its text ends `chains` - 1 blocks before GCM's limit.

use super::{BulkError, Key, Polyval, SealOpen, Stream, counter, hash_padded, mirrored, text_crc::TextCrc};
use crate::gcm::field::Element;
use crate::gcm::spec::GhashSpec;
use polyval::universal_hash::UniversalHash;

pub const TAG_BYTES: usize = 16;

/// How a message is cut for its tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainFormat {
    /// Chains, and so tags.
    pub chains: u32,
    /// Bytes of a chunk, a multiple of 16.
    pub chunk: u64,
    /// Whether the first tag has a [CRC of the text](super::text_crc) added.
    pub text_crc: bool,
    /// Whether a message has as many chains as chunks, so that each chunk has a tag; `chains` is then that of the longest.
    pub by_chunk: bool,
}

impl ChainFormat {
    /// GCM's own: one chain.
    pub const GCM: Self = Self { chains: 1, chunk: 16, text_crc: false, by_chunk: false };

    /// The format of the messages that an authenticator makes.
    pub fn of(spec: &GhashSpec) -> Self {
        spec.chunk_blocks().map_or(Self::GCM, |blocks| Self { chains: spec.tags(), chunk: 16 * blocks, ..Self::GCM })
    }

    /// That of a message of so many bytes without AAD.
    pub const fn of_message(self, bytes: u64) -> Self {
        match bytes.div_ceil(self.chunk) as u32 {
            chunks @ 2.. if self.by_chunk => Self { chains: chunks, ..self },
            _ if self.by_chunk => Self { chains: 1, ..self },
            _ => self,
        }
    }

    /// Bytes of all tags of a message.
    pub const fn tag_bytes(self) -> u64 {
        self.chains as u64 * TAG_BYTES as u64
    }

    /// The chain of the byte at `position` of padded AAD and ciphertext, and the bytes of its chunk from there on.
    const fn chain(self, position: u64) -> (usize, u64) {
        if self.chains == 1 {
            return (0, u64::MAX);
        }
        ((position / self.chunk % self.chains as u64) as usize, self.chunk - position % self.chunk)
    }
}

/// A message in flight, with the tags of its format. Give it the same [`Key`] at every call.
#[derive(Debug, Clone)]
pub struct Chains {
    format: ChainFormat,
    stream: Stream,
    /// By chain; that of `current` is in the stream.
    hashes: Vec<Polyval>,
    current: usize,
    aad_padded: u64,
    crc: Option<TextCrc>,
}

impl Chains {
    pub fn new(format: ChainFormat, key: &Key, iv: &[u8], aad: &[u8], direction: SealOpen) -> Result<Self, BulkError> {
        let mut stream = Stream::new(key, iv, &[], direction)?;
        stream.aad_bytes = aad.len() as u64;
        let mut hashes = vec![key.empty.clone(); format.chains as usize];
        for (index, chunk) in (0..).zip(aad.chunks(format.chunk as usize)) {
            hash_padded(&mut hashes[format.chain(index * format.chunk).0], chunk);
        }
        stream.hash = hashes[0].clone();
        let (aad_padded, crc) =
            (aad.len().next_multiple_of(16) as u64, format.text_crc.then(|| TextCrc::new(direction)));
        Ok(Self { format, stream, hashes, current: 0, aad_padded, crc })
    }

    /// Enciphers or deciphers the next bytes in place.
    pub fn update(&mut self, key: &Key, text: &mut [u8]) {
        match self.crc.take() {
            Some(mut crc) => {
                crc.pass(text, |text| self.pass(key, text));
                self.crc = Some(crc);
            }
            None => self.pass(key, text),
        }
    }

    fn pass(&mut self, key: &Key, mut text: &mut [u8]) {
        while !text.is_empty() {
            let (chain, left) = self.format.chain(self.aad_padded + self.stream.text_bytes);
            let (piece, rest) = text.split_at_mut(text.len().min(left as usize));
            if chain != self.current {
                std::mem::swap(&mut self.stream.hash, &mut self.hashes[self.current]);
                std::mem::swap(&mut self.stream.hash, &mut self.hashes[chain]);
                self.current = chain;
            }
            self.stream.update(key, piece);
            text = rest;
        }
    }

    /// The tags over what has been taken so far, by chain, without a CRC.
    pub fn tags<'a>(&'a self, key: &'a Key) -> impl Iterator<Item = [u8; TAG_BYTES]> + 'a {
        let (partial, _) = self.format.chain(self.aad_padded + self.stream.text_bytes);
        let used = self.stream.text_bytes as usize % 16;
        let length = counter::length_block(self.stream.aad_bytes, self.stream.text_bytes);
        (0..self.format.chains).zip(&self.hashes).map(move |(chain, hash)| {
            let mut hash = if chain as usize == self.current { self.stream.hash.clone() } else { hash.clone() };
            if chain as usize == partial {
                hash_padded(&mut hash, &self.stream.partial[..used]);
            }
            hash.update(&[mirrored(length.to_bytes())]);
            let value = Element::from_bytes(mirrored(hash.finalize().into()).into());
            let mask = counter::of_block(self.stream.j0, chain.into(), self.format.chains.into());
            (value ^ Element::from_bytes(key.encrypt_block(mask))).to_bytes()
        })
    }

    /// The tags as they are on the wire, one behind the other.
    pub fn on_wire(&self, key: &Key) -> Vec<u8> {
        let mut tags: Vec<u8> = self.tags(key).flatten().collect();
        self.crc.iter().for_each(|crc| crc.add_to(&mut tags));
        tags
    }
}
