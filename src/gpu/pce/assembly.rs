//! Bytes that arrive in pieces.

use crate::pcie::packet::Payload;

/// Pieces in order: one slice while they lie side by side in the same memory, a copy otherwise.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    run: Option<Payload>,
    copied: Vec<u8>,
}

impl Assembly {
    /// Appends a piece.
    #[inline]
    pub fn push(&mut self, piece: Payload) {
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

    /// Takes all bytes, as a copy that may be changed.
    pub fn take_bytes(&mut self) -> Vec<u8> {
        let run = self.run.take();
        let copied = std::mem::take(&mut self.copied);
        run.and_then(|run| run.bytes().map(<[u8]>::to_vec)).unwrap_or(copied)
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
            assert_eq!(assembly.take_bytes(), *memory);
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
