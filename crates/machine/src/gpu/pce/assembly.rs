//! Bytes that arrive in pieces.

use crate::pcie::packet::Payload;

/// Pieces in order: one slice while they lie side by side in the same memory, a copy otherwise.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    run: Option<Payload>,
    copied: Vec<u8>,
}

impl Assembly {
    #[inline(always)]
    pub fn push(&mut self, piece: Payload) {
        if piece.is_there() {
            self.append(piece);
        }
    }

    fn append(&mut self, piece: Payload) {
        let Some(bytes) = piece.bytes() else { return };
        if !self.copied.is_empty() {
            self.copied.extend_from_slice(bytes);
            return;
        }
        match &mut self.run {
            None => self.run = Some(piece),
            Some(run) => {
                if !run.extend(&piece) {
                    self.copied = run.bytes().unwrap_or_default().to_vec();
                    self.copied.extend_from_slice(bytes);
                    self.run = None;
                }
            }
        }
    }

    #[inline]
    pub fn length(&self) -> u64 {
        self.run.as_ref().map_or(self.copied.len() as u64, Payload::length)
    }

    /// Takes all bytes, as they lie.
    pub fn take(&mut self) -> Payload {
        match self.run.take() {
            Some(run) => run,
            None if self.copied.is_empty() => Payload::none(),
            None => Payload::of(std::mem::take(&mut self.copied)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn pieces_come_out_in_the_order_in_which_they_went_in() {
        let memory = Arc::new((0..=255u8).collect::<Vec<_>>());
        for cuts in [[0, 64, 128, 256], [0, 10, 11, 256]] {
            let mut assembly = Assembly::default();
            for pair in cuts.windows(2) {
                assembly.push(Payload::slice(&memory, pair[0], pair[1] - pair[0]));
            }
            assert_eq!(assembly.length(), 256);
            assert_eq!(assembly.take().bytes(), Some(&memory[..]));
        }
    }

    #[test]
    fn a_piece_from_elsewhere_is_copied_into_place() {
        let memory = Arc::new(vec![1; 64]);
        let mut assembly = Assembly::default();
        assembly.push(Payload::slice(&memory, 0, 16));
        assembly.push(Payload::of(vec![2; 4]));
        assembly.push(Payload::slice(&memory, 16, 16));
        let expected = [vec![1; 16], vec![2; 4], vec![1; 16]].concat();
        assert_eq!(assembly.take().bytes(), Some(&expected[..]));
    }
}
