//! 128b/130b blocks over sixteen lanes.
//!
//! ```text
//!   stream byte i -> lane i mod 16, symbol i / 16
//!
//!   lane n:  sync header (2 bits) | symbol 0 | symbol 1 | ... | symbol 15      130 bit times
//! ```

use super::{scramble::Scrambler, token};
use bitvec::prelude::{BitVec, Lsb0};

/// Lanes of the link.
pub const LANES: usize = 16;
/// Symbols per lane in a block.
pub const SYMBOLS: usize = 16;
/// Bytes of a block over all lanes.
pub const BYTES: usize = LANES * SYMBOLS;
/// Sync header of a data block, H1 H0.
pub const SYNC_DATA: u8 = 0b10;
/// Sync header of an ordered set, H1 H0.
pub const SYNC_ORDERED_SET: u8 = 0b01;

/// One data block in stream order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataBlock {
    bytes: [u8; BYTES],
    used: usize,
}

impl Default for DataBlock {
    fn default() -> Self {
        Self { bytes: [token::IDL; BYTES], used: 0 }
    }
}

impl DataBlock {
    /// Takes as many stream bytes as fit and says how many. With `ordered_set_follows` the last DW stays free for EDS.
    pub fn fill(&mut self, stream: &[u8], ordered_set_follows: bool) -> usize {
        let end = if ordered_set_follows { BYTES - token::EDS.len() } else { BYTES };
        let taken = stream.len().min(end.saturating_sub(self.used));
        self.bytes[self.used..self.used + taken].copy_from_slice(&stream[..taken]);
        self.used += taken;
        taken
    }

    /// The block's bytes in stream order, the rest filled with IDL and, if an ordered set follows, closed by EDS.
    #[must_use]
    pub fn close(mut self, ordered_set_follows: bool) -> [u8; BYTES] {
        if ordered_set_follows {
            self.bytes[BYTES - token::EDS.len()..].copy_from_slice(&token::EDS);
        }
        self.bytes
    }
}

/// Spreads a block over the lanes.
#[must_use]
pub fn stripe(block: &[u8; BYTES]) -> [[u8; SYMBOLS]; LANES] {
    std::array::from_fn(|lane| std::array::from_fn(|symbol| block[symbol * LANES + lane]))
}

/// Collects a block from the lanes.
#[must_use]
pub fn unstripe(lanes: &[[u8; SYMBOLS]; LANES]) -> [u8; BYTES] {
    std::array::from_fn(|byte| lanes[byte % LANES][byte / LANES])
}

/// The scramblers of all lanes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneScramblers([Scrambler; LANES]);

impl Default for LaneScramblers {
    fn default() -> Self {
        Self(std::array::from_fn(Scrambler::new))
    }
}

impl LaneScramblers {
    /// Scrambles or descrambles a data block in place.
    pub fn apply(&mut self, lanes: &mut [[u8; SYMBOLS]; LANES]) {
        for (scrambler, symbols) in self.0.iter_mut().zip(lanes) {
            scrambler.apply(symbols);
        }
    }
}

/// The 130 bits that one lane sends for a block, first bit first: H0, H1, then each symbol from its least significant
/// bit.
#[must_use]
pub fn lane_bits(sync: u8, symbols: &[u8; SYMBOLS]) -> BitVec<u8, Lsb0> {
    let mut bits = BitVec::with_capacity(130);
    bits.push(sync & 1 == 1);
    bits.push(sync >> 1 & 1 == 1);
    bits.extend_from_raw_slice(symbols);
    bits
}

/// Where tokens may start in the stream of a x16 link.
///
/// In one symbol time (16 bytes, one per lane) at most one STP and at most one SDP start. When nothing can start, IDL
/// fills up to the end of the symbol time and the next token starts on lane 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Placement {
    /// Stream position after the last frame, in bytes.
    position: u64,
    /// Symbol time after the one in which the last STP started.
    stp_free_from: u64,
    /// Symbol time after the one in which the last SDP started.
    sdp_free_from: u64,
}

impl Placement {
    /// Bytes of the stream so far.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Places a TLP frame of `bytes` and gives the position of its token.
    pub fn tlp(&mut self, bytes: u64) -> u64 {
        let start = self.start(self.stp_free_from);
        self.stp_free_from = start / LANES as u64 + 1;
        self.position = start + bytes;
        start
    }

    /// Places a DLLP frame of eight bytes and gives the position of its token.
    pub fn dllp(&mut self) -> u64 {
        let start = self.start(self.sdp_free_from);
        self.sdp_free_from = start / LANES as u64 + 1;
        self.position = start + 8;
        start
    }

    /// Nothing to send until `position`: IDL up to there and to the end of the symbol time.
    pub fn idle_until(&mut self, position: u64) {
        if position > self.position {
            self.position = position.next_multiple_of(LANES as u64);
        }
    }

    /// A position not before the symbol time `free_from`.
    fn start(&self, free_from: u64) -> u64 {
        self.position.max(free_from * LANES as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_lane_sends_130_bits_the_sync_header_first() {
        let bits = lane_bits(SYNC_DATA, &[0x01; SYMBOLS]);
        assert_eq!(bits.len(), 130);
        assert_eq!(bits.iter().by_vals().take(4).collect::<Vec<_>>(), [false, true, true, false]);
    }

    #[test]
    fn the_last_dw_is_kept_for_eds() {
        let mut block = DataBlock::default();
        assert_eq!(block.fill(&[0xaa; 300], true), 252);
        assert_eq!(block.fill(&[0xbb; 4], true), 0);
        assert_eq!(block.close(true)[252..], token::EDS);
        assert_eq!(DataBlock::default().fill(&[0; 300], false), 256);
    }

    #[test]
    fn two_tokens_of_one_kind_never_start_in_one_symbol_time() {
        let mut place = Placement::default();
        assert_eq!([place.dllp(), place.dllp(), place.tlp(24), place.tlp(24), place.dllp()], [0, 16, 24, 48, 72]);
        place.idle_until(81);
        assert_eq!(place.tlp(24), 96);
    }

    proptest! {
        #[test]
        fn unstripe_undoes_stripe(bytes in prop::collection::vec(any::<u8>(), BYTES)) {
            let block: [u8; BYTES] = bytes.try_into().unwrap();
            prop_assert_eq!(unstripe(&stripe(&block)), block);
        }
    }
}
