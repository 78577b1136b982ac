//! Frames of gen1 and gen2, before scrambling and 8b/10b; the framing symbols are written as their bytes.

use super::{FramedTlp, TlpView, crc};
use crate::wire::dllp::DllpRepr;

const STP: u8 = 0xfb;
const SDP: u8 = 0x5c;
const END: u8 = 0xfd;
const EDB: u8 = 0xfe;
/// Sequence number, LCRC and both framing symbols.
const TLP_OVERHEAD: usize = 8;
const DLLP_BYTES: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symbols<'a> {
    Tlp(FramedTlp<'a>),
    /// A DLLP: four bytes and the CRC as received.
    Dllp(&'a [u8; 6]),
}

/// Why a stream of gen1 or gen2 bytes cannot be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SymbolError {
    #[error("a frame starts with fb (STP) or 5c (SDP), not {found:02x}")]
    NoStart { found: u8 },
    #[error("the frame is cut off: it has {need} bytes, there are {have}")]
    Truncated { need: usize, have: usize },
    #[error("byte {at} of the frame must be fd (END) or fe (EDB), not {found:02x}")]
    NoEnd { at: usize, found: u8 },
    #[error("the four bits before the sequence number must be 0, the frame has {found:04x}")]
    Sequence { found: u16 },
    /// The header cannot be read, and with it the end of the frame.
    #[error(transparent)]
    Tlp(#[from] crate::wire::tlp::TlpError),
}

/// Reads the frame at the start of a gen1 or gen2 stream, and says how many bytes it takes. Where a TLP ends follows
/// from its header.
pub fn read_symbols(stream: &[u8]) -> Result<(Symbols<'_>, usize), SymbolError> {
    let have = stream.len();
    match *stream {
        [SDP, ref rest @ ..] => {
            let truncated = SymbolError::Truncated { need: DLLP_BYTES, have };
            let dllp = rest.first_chunk().ok_or(truncated)?;
            match rest.get(dllp.len()) {
                Some(&END) => Ok((Symbols::Dllp(dllp), DLLP_BYTES)),
                Some(&found) => Err(SymbolError::NoEnd { at: DLLP_BYTES - 1, found }),
                None => Err(truncated),
            }
        }
        [STP, high, low, ref rest @ ..] => {
            let length = TlpView::new_header(rest)?.total_bytes();
            let truncated = SymbolError::Truncated { need: length + TLP_OVERHEAD, have };
            let (tlp, after) = rest.split_at_checked(length).ok_or(truncated)?;
            let &lcrc = after.first_chunk().ok_or(truncated)?;
            let edb = match *after.get(4).ok_or(truncated)? {
                END => false,
                EDB => true,
                found => return Err(SymbolError::NoEnd { at: length + TLP_OVERHEAD - 1, found }),
            };
            let sequence = u16::from_be_bytes([high, low]);
            if sequence > 0xfff {
                return Err(SymbolError::Sequence { found: sequence });
            }
            Ok((Symbols::Tlp(FramedTlp { sequence, tlp, lcrc, edb }), length + TLP_OVERHEAD))
        }
        [found, ..] if found != STP => Err(SymbolError::NoStart { found }),
        _ => Err(SymbolError::Truncated { need: TLP_OVERHEAD + 12, have }),
    }
}

/// Appends the gen1 and gen2 frame of a whole TLP; a nullified one with the inverted LCRC and EDB.
pub fn emit_symbols_tlp(stream: &mut Vec<u8>, sequence: u16, tlp: &[u8], nullified: bool) {
    let lcrc = crc::lcrc(sequence, tlp, &[], None);
    stream.push(STP);
    stream.extend((sequence & 0xfff).to_be_bytes());
    stream.extend(tlp);
    stream.extend(if nullified { crc::inverted(lcrc) } else { lcrc });
    stream.push(if nullified { EDB } else { END });
}

/// The gen1 and gen2 frame of a DLLP.
pub fn emit_symbols_dllp(dllp: &DllpRepr) -> [u8; 8] {
    let [a, b, c, d, e, f] = dllp.emit_with_crc();
    [SDP, a, b, c, d, e, f, END]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_stream_is_read_without_panic(
            start in prop::sample::select(vec![STP, SDP, 0]),
            rest in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let mut stream = vec![start];
            stream.extend(rest);
            if let Ok((_, taken)) = read_symbols(&stream) {
                prop_assert!(taken > 0 && taken <= stream.len());
            }
        }

        #[test]
        fn a_cut_frame_is_no_frame(cut in 0usize..32) {
            let tlp = hex::decode("60000002000000ff0000380000000090efbeadde78563412").unwrap();
            let mut stream = Vec::new();
            emit_symbols_tlp(&mut stream, 17, &tlp, true);
            prop_assert_eq!(stream.len(), 32);
            prop_assert!(read_symbols(&stream[..cut]).is_err());
            let framed = Symbols::Tlp(FramedTlp {
                sequence: 17,
                tlp: &tlp,
                lcrc: crc::inverted(crc::lcrc(17, &tlp, &[], None)),
                edb: true,
            });
            prop_assert_eq!(read_symbols(&stream), Ok((framed, 32)));
        }
    }
}
