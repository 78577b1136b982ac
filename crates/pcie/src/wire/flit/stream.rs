//! TLPs out of the TLP areas of flits, and into them.
//!
//! ```text
//!   | MWr64 header, data ...      | ... data | Cpl | NOP NOP ... |
//!   +-----------------------------+------------------------------+
//!     area of a payload flit        area of the next
//! ```
//!
//! Where a TLP may begin within an area, and how many may, is not limited here.

use super::{
    TLP_BYTES,
    tlp::{FlitTlpError, FlitTlpView, NOP, Word},
};

/// What is in the TLP areas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// NOP TLPs behind each other.
    Nop {
        count: usize,
        /// One of them has other bits set than zeros, which a receiver ignores.
        reserved_bits: bool,
    },
    Tlp(Vec<u8>),
}

/// Puts TLPs together from the areas of flits in order.
#[derive(Debug, Clone, Default)]
pub struct Assembler {
    /// Bytes that are not taken yet.
    bytes: Vec<u8>,
    /// Where the first of them stands.
    start: usize,
}

impl Assembler {
    /// Adds the area of the next payload flit.
    pub fn push(&mut self, area: &[u8; TLP_BYTES]) {
        self.bytes.drain(..self.start);
        self.start = 0;
        self.bytes.extend_from_slice(area);
    }

    /// What is left: the beginning of a TLP whose end has not come, or what could not be read.
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// The next piece that is whole; none until another area comes.
    ///
    /// # Errors
    /// Says why no TLP begins here. Nothing behind can be read then.
    pub fn next_piece(&mut self) -> Result<Option<Piece>, FlitTlpError> {
        let (words, _) = self.rest().as_chunks::<4>();
        let nops = words.iter().take_while(|word| word[0] == NOP).count();
        if nops > 0 {
            let reserved_bits = words[..nops].iter().any(|word| *word != Word::default());
            self.start += 4 * nops;
            return Ok(Some(Piece::Nop { count: nops, reserved_bits }));
        }
        let rest = self.rest();
        let need = match FlitTlpView::new_header(rest) {
            Ok(view) => view.total_bytes(),
            Err(FlitTlpError::Truncated { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let Some(tlp) = rest.get(..need) else { return Ok(None) };
        let tlp = tlp.to_vec();
        self.start += need;
        Ok(Some(Piece::Tlp(tlp)))
    }
}

/// The TLP areas that carry some TLPs, one behind the other; NOP TLPs fill the last.
pub fn areas(tlps: &[u8]) -> impl Iterator<Item = [u8; TLP_BYTES]> {
    tlps.chunks(TLP_BYTES).map(|chunk| {
        let mut area = [0; TLP_BYTES];
        area[..chunk.len()].copy_from_slice(chunk);
        area
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(piece: &Piece) -> Vec<u8> {
        match piece {
            Piece::Nop { count, .. } => vec![0; 4 * count],
            Piece::Tlp(tlp) => tlp.clone(),
        }
    }

    fn pieces(areas: impl IntoIterator<Item = [u8; TLP_BYTES]>) -> (Vec<Piece>, Vec<u8>) {
        let (mut assembler, mut pieces) = (Assembler::default(), Vec::new());
        for area in areas {
            assembler.push(&area);
            while let Ok(Some(piece)) = assembler.next_piece() {
                pieces.push(piece);
            }
        }
        (pieces, assembler.rest().to_vec())
    }

    fn write(dw: u16) -> Vec<u8> {
        let [high, low] = dw.to_be_bytes();
        let header = [0x60, 0, high & 3, low, 1, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 0];
        [&header[..], &vec![0xee; usize::from(dw) * 4]].concat()
    }

    #[test]
    fn a_tlp_that_straddles_flits_is_put_together() {
        let tlps = [write(1024), write(1), write(60)];
        let (found, rest) = pieces(areas(&tlps.concat()));
        assert_eq!(found[..3], tlps.map(Piece::Tlp));
        let filled = (3 * 4 + 1085_usize).next_multiple_of(59) - (3 * 4 + 1085);
        assert_eq!(found[3..], [Piece::Nop { count: filled, reserved_bits: false }]);
        assert!(rest.is_empty());
    }

    #[test]
    fn a_tlp_whose_end_does_not_come_is_left() {
        let (found, rest) = pieces(areas(&write(100)).take(1));
        assert_eq!((found.len(), rest.len()), (0, TLP_BYTES));
    }

    #[test]
    fn behind_an_unknown_type_nothing_is_read() {
        let mut assembler = Assembler::default();
        assembler.push(&[0xff; TLP_BYTES]);
        assert_eq!(assembler.next_piece(), Err(FlitTlpError::Type { code: 0xff }));
        assert_eq!(assembler.rest().len(), TLP_BYTES);
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_out(lengths in prop::collection::vec((1..300_u16, 0..70_usize), 1..12)) {
            let tlps: Vec<_> = lengths.iter().flat_map(|&(dw, nops)| [write(dw), vec![0; 4 * nops]].concat()).collect();
            let (found, rest) = pieces(areas(&tlps));
            prop_assert!(rest.is_empty());
            let whole: Vec<_> = found.iter().filter(|piece| matches!(piece, Piece::Tlp(_))).map(bytes).collect();
            prop_assert_eq!(whole, lengths.iter().map(|&(dw, _)| write(dw)).collect::<Vec<_>>());
            let again: Vec<u8> = found.iter().flat_map(bytes).collect();
            prop_assert_eq!(&again[..tlps.len()], &tlps[..]);
            prop_assert!(again[tlps.len()..].iter().all(|&byte| byte == 0));
        }

        #[test]
        fn any_areas_are_read_without_panic(
            seed in prop::collection::vec(prop::collection::vec(any::<u8>(), TLP_BYTES), 1..6),
            types in prop::collection::vec(prop::sample::select(vec![0, 3, 0x20, 0x40, 0x60, 0x0a, 0x4a]), 6),
        ) {
            let areas = seed.iter().zip(types).map(|(bytes, code)| {
                let mut area: [u8; TLP_BYTES] = bytes.as_slice().try_into().unwrap();
                area[0] = code;
                area
            });
            let total = seed.len() * TLP_BYTES;
            let (found, rest) = pieces(areas);
            prop_assert_eq!(found.iter().map(|piece| bytes(piece).len()).sum::<usize>() + rest.len(), total);
        }
    }
}
