//! Messages in pieces: draft-irtf-cfrg-aegis-aead, sections 2.2 to 2.6, on the state of the [registers](super::datapath).

use super::{Form, datapath::State};
use crate::aead::bytes::Key;
use crate::aead::stream::Pieces;
use crate::gcm::message::SealOpen;

#[derive(Debug)]
pub struct AegisMessage {
    direction: SealOpen,
    state: State,
    tag_bytes: usize,
    width: usize,
    /// What one update takes: plaintext so far, and the keystream for it.
    row: Vec<u8>,
    keystream: Vec<u8>,
    bytes: u64,
}

impl AegisMessage {
    pub fn new(form: Form, lanes: u32, key: &Key, nonce: &[u8], direction: SealOpen) -> Self {
        let (row, keystream, width) = (Vec::new(), Vec::new(), 16 * form.words() * lanes as usize);
        let (state, tag_bytes) = (State::mixed(form, lanes, key.raw(), nonce), key.format().tag_bytes() as usize);
        Self { direction, state, tag_bytes, width, row, keystream, bytes: 0 }
    }
}

impl Pieces for AegisMessage {
    fn update(&mut self, text: &mut [u8]) {
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

    fn tag(&self) -> Vec<u8> {
        let mut state = self.state.clone();
        if !self.row.is_empty() {
            state.update(&self.row);
        }
        state.mix_lengths(0, self.bytes);
        state.tag(self.tag_bytes)
    }
}
