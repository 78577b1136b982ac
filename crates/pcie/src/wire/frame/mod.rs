//! Frames: TLPs and DLLPs as they are on a link, before striping and scrambling.
//!
//! ```text
//!  gen3 to gen5   STP token | TLP | LCRC [| EDB]           SDP token | DLLP | CRC-16
//!  gen1, gen2     fb | sequence (2) | TLP | LCRC | fd      5c | DLLP | CRC-16 | fd
//! ```
//!
//! A nullified TLP carries the inverted LCRC and ends with EDB: `c0 c0 c0 c0`, or `fe` in the place of `fd`.

mod symbols;

use super::{
    crc,
    dllp::DllpRepr,
    tlp::TlpView,
    token::{self, Stp, Token, TokenError},
};

pub use symbols::{SymbolError, Symbols, emit_symbols_dllp, emit_symbols_tlp, read_symbols};

/// What is wrong with a framed TLP at the link layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TlpFault {
    #[error("the LCRC of this TLP is {}, the frame has {}", hex::encode(.expected), hex::encode(.found))]
    Lcrc { expected: [u8; 4], found: [u8; 4] },
    #[error("the LCRC is inverted as in a nullified TLP, but no EDB follows")]
    NullifiedWithoutEdb,
    #[error("EDB follows, but the LCRC {} is not inverted", hex::encode(.found))]
    EdbWithoutInversion { found: [u8; 4] },
    #[error("the token frames a TLP of {token_dw} DW with token and LCRC, its header makes {header_dw} DW")]
    Length { token_dw: u16, header_dw: usize },
}

/// A TLP in its frame. The token was good; whether the rest is, [`Self::fault`] says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FramedTlp<'a> {
    pub sequence: u16,
    /// The TLP: prefixes, header, data, digest.
    pub tlp: &'a [u8],
    pub lcrc: [u8; 4],
    pub edb: bool,
}

impl FramedTlp<'_> {
    /// Properly nullified: dropped without Ack or Nak.
    pub fn nullified(&self) -> bool {
        self.edb && self.lcrc == crc::inverted(crc::lcrc(self.sequence, self.tlp, &[], None))
    }

    /// What is wrong at the link layer, if anything; a nullified TLP is in order.
    pub fn fault(&self) -> Option<TlpFault> {
        let (expected, found) = (crc::lcrc(self.sequence, self.tlp, &[], None), self.lcrc);
        match (self.edb, found == expected, found == crc::inverted(expected)) {
            (false, true, _) | (true, _, true) => None,
            (false, _, true) => Some(TlpFault::NullifiedWithoutEdb),
            (true, true, _) => Some(TlpFault::EdbWithoutInversion { found }),
            _ => Some(TlpFault::Lcrc { expected, found }),
        }
    }

    /// The disagreement of token and header about the length, if there is one and the header can be read.
    pub fn length_fault(&self) -> Option<TlpFault> {
        let header_dw = TlpView::new_header(self.tlp).ok()?.total_bytes() / 4 + 2;
        let token_dw = (self.tlp.len() / 4 + 2) as u16;
        (usize::from(token_dw) != header_dw).then_some(TlpFault::Length { token_dw, header_dw })
    }
}

/// One thing in a stream of gen3 to gen5 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framed<'a> {
    Tlp(FramedTlp<'a>),
    /// A DLLP: four bytes and the CRC as received.
    Dllp(&'a [u8; 6]),
    Idle {
        bytes: usize,
    },
    /// End of the data stream: an ordered set follows.
    EndOfDataStream,
}

/// Why a stream cannot be read on: a framing error, which sends the link to Recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FramingError {
    /// No token where one is due.
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error("EDB does not follow a TLP")]
    StrayEdb,
    #[error("the {what} is cut off: its frame has {need} bytes, there are {have}")]
    Truncated { what: &'static str, need: usize, have: usize },
}

/// Reads what is at the start of a gen3 to gen5 stream, and says how many bytes it takes: at least one.
pub fn read(stream: &[u8]) -> Result<(Framed<'_>, usize), FramingError> {
    match Token::decode(stream)? {
        Token::Stp(stp) => read_tlp(stream, stp),
        Token::Sdp => match stream[2..].first_chunk() {
            Some(dllp) => Ok((Framed::Dllp(dllp), 8)),
            None => Err(FramingError::Truncated { what: "DLLP", need: 8, have: stream.len() }),
        },
        Token::Idl => {
            let bytes = stream.iter().take_while(|&&byte| byte == token::IDL).count();
            Ok((Framed::Idle { bytes }, bytes))
        }
        Token::Eds => Ok((Framed::EndOfDataStream, 4)),
        Token::Edb => Err(FramingError::StrayEdb),
    }
}

fn read_tlp(stream: &[u8], stp: Stp) -> Result<(Framed<'_>, usize), FramingError> {
    let need = usize::from(stp.length) * 4;
    let truncated = FramingError::Truncated { what: "TLP", need, have: stream.len() };
    let frame = stream.get(4..need).ok_or(truncated)?;
    let (tlp, &lcrc) = frame.split_last_chunk().ok_or(truncated)?;
    let edb = stream[need..].starts_with(&token::EDB);
    let framed = FramedTlp { sequence: stp.sequence, tlp, lcrc, edb };
    Ok((Framed::Tlp(framed), if edb { need + 4 } else { need }))
}

/// Appends the gen3 to gen5 frame of a whole TLP; a nullified one with the inverted LCRC and EDB.
pub fn emit_tlp(stream: &mut Vec<u8>, sequence: u16, tlp: &[u8], nullified: bool) {
    let length = u16::try_from(tlp.len() / 4 + 2).unwrap_or(token::MAX_LENGTH);
    let lcrc = crc::lcrc(sequence, tlp, &[], None);
    stream.extend(Stp { length, sequence }.emit());
    stream.extend(tlp);
    if nullified {
        stream.extend(crc::inverted(lcrc));
        stream.extend(token::EDB);
    } else {
        stream.extend(lcrc);
    }
}

/// The gen3 to gen5 frame of a DLLP.
pub fn emit_dllp(dllp: &DllpRepr) -> [u8; 8] {
    let [a, b, c, d, e, f] = dllp.emit_with_crc();
    let [x, y] = token::SDP;
    [x, y, a, b, c, d, e, f]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn write_frame(nullified: bool) -> Vec<u8> {
        let tlp = hex::decode("60000002000000ff0000380000000090efbeadde78563412").unwrap();
        let mut stream = Vec::new();
        emit_tlp(&mut stream, 17, &tlp, nullified);
        stream
    }

    fn fault(stream: &[u8]) -> Option<TlpFault> {
        match read(stream) {
            Ok((Framed::Tlp(tlp), _)) => tlp.fault(),
            other => panic!("no TLP: {other:?}"),
        }
    }

    #[test]
    fn inverted_lcrc_and_edb_go_together() {
        assert_eq!(fault(&write_frame(false)), None);
        assert_eq!(fault(&write_frame(true)), None);
        let nullified = write_frame(true);
        assert_eq!(fault(&nullified[..nullified.len() - 4]), Some(TlpFault::NullifiedWithoutEdb));
        let mut good = write_frame(false);
        good.extend(token::EDB);
        assert!(matches!(fault(&good), Some(TlpFault::EdbWithoutInversion { .. })));
    }

    #[test]
    fn edb_alone_and_cut_frames_are_framing_errors() {
        assert_eq!(read(&token::EDB), Err(FramingError::StrayEdb));
        let frame = write_frame(false);
        let have = frame.len() - 1;
        assert_eq!(read(&frame[..have]), Err(FramingError::Truncated { what: "TLP", need: have + 1, have }));
        assert!(matches!(read(&[0xf0, 0xac, 0]), Err(FramingError::Truncated { what: "DLLP", need: 8, have: 3 })));
    }

    #[test]
    fn a_token_that_disagrees_with_the_header_is_found() {
        let tlp = hex::decode("60000003000000ff0000380000000090efbeadde78563412").unwrap();
        let mut stream = Vec::new();
        emit_tlp(&mut stream, 1, &tlp, false);
        let Ok((Framed::Tlp(framed), _)) = read(&stream) else { panic!("no TLP") };
        assert_eq!(framed.fault(), None);
        assert_eq!(framed.length_fault(), Some(TlpFault::Length { token_dw: 8, header_dw: 9 }));
    }

    proptest! {
        #[test]
        fn any_stream_is_read_without_panic_and_always_gets_on(stream in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut rest = &stream[..];
            while let Ok((framed, taken)) = read(rest) {
                prop_assert!(taken > 0);
                if let Framed::Tlp(tlp) = framed {
                    let _ = (tlp.fault(), tlp.length_fault(), tlp.nullified());
                }
                rest = &rest[taken..];
            }
        }

        #[test]
        fn one_to_three_flipped_bits_in_sequence_tlp_or_lcrc_are_caught(
            payload in prop::collection::vec(any::<[u8; 4]>(), 1..64),
            sequence in 0u16..4096,
            flips in prop::collection::vec(any::<prop::sample::Index>(), 1..=3),
        ) {
            let mut tlp = hex::decode("60000000000000ff0000380000000090").unwrap();
            tlp[3] = payload.len() as u8;
            tlp.extend(payload.iter().flatten());
            let mut stream = Vec::new();
            emit_tlp(&mut stream, sequence, &tlp, false);
            let bits = 12 + (stream.len() - 4) * 8;
            for bit in flips.iter().map(|flip| flip.index(bits)).collect::<std::collections::BTreeSet<_>>() {
                // The first twelve are the sequence number in bytes 2 and 3 of the token.
                let (byte, bit) = match bit {
                    0..8 => (3, bit),
                    8..12 => (2, bit - 8),
                    _ => (4 + (bit - 12) / 8, bit % 8),
                };
                stream[byte] ^= 1 << bit;
            }
            prop_assert!(fault(&stream).is_some());
        }
    }
}
