//! AEGIS-256 and AEGIS-256X: draft-irtf-cfrg-aegis-aead, sections 2.4 and 2.6, on the state of the [registers](crate::aead::aegis256::datapath).

use crate::aead::aegis256::datapath::State;
use crate::gcm::message::SealOpen;

/// A message in flight.
#[derive(Debug)]
pub struct Aegis256Message {
    direction: SealOpen,
    state: State,
    tag_bytes: usize,
    width: usize,
    /// What one update takes: plaintext so far, and the keystream for it.
    row: Vec<u8>,
    keystream: Vec<u8>,
    bytes: u64,
}

impl Aegis256Message {
    /// Mixes key and nonce into the state.
    pub fn new(lanes: u32, tag_bytes: usize, key: &[u8], nonce: &[u8], direction: SealOpen) -> Option<Self> {
        let (key, nonce) = (key.try_into().ok()?, nonce.try_into().ok()?);
        let (row, keystream, width) = (Vec::new(), Vec::new(), 16 * lanes as usize);
        Some(Self { direction, state: State::mixed(lanes, key, nonce), tag_bytes, width, row, keystream, bytes: 0 })
    }

    pub fn update(&mut self, text: &mut [u8]) {
        self.bytes += text.len() as u64;
        let mut left = text;
        while !left.is_empty() {
            if self.row.is_empty() {
                self.keystream.clear();
                self.keystream.extend(self.state.keystream());
            }
            let start = self.row.len();
            let (piece, rest) = left.split_at_mut(left.len().min(self.width - start));
            if self.direction == SealOpen::Seal {
                self.row.extend_from_slice(piece);
            }
            piece.iter_mut().zip(&self.keystream[start..]).for_each(|(byte, key)| *byte ^= key);
            if self.direction == SealOpen::Open {
                self.row.extend_from_slice(piece);
            }
            if self.row.len() == self.width {
                self.state.update(&self.row);
                self.row.clear();
            }
            left = rest;
        }
    }

    pub fn tag(&self) -> Vec<u8> {
        let mut state = self.state.clone();
        if !self.row.is_empty() {
            state.update(&self.row);
        }
        state.mix_lengths(0, self.bytes);
        state.tag(self.tag_bytes)
    }
}
