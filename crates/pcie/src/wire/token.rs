//! Framing tokens of 128b/130b links.
//!
//! ```text
//!            byte 0          byte 1             byte 2              byte 3
//!  STP   Len[3:0] 1111   P  Len[10:4]     FCRC[3:0] Seq[11:8]      Seq[7:0]
//!  SDP   f0 ac                IDL   00
//!  EDB   c0 c0 c0 c0          EDS   1f 80 90 00
//! ```
//!
//! FCRC is the CRC-4 x^4 + x + 1 over the length, Len\[0\] first; P makes the XOR of length, FCRC and P zero. That code
//! has distance 4. EDS is the code word of length 1.

/// First byte, and each of the four bytes, of EDB.
pub const EDB: [u8; 4] = [0xc0; 4];
/// The end-of-data-stream token: last DW of the data block before an ordered set.
pub const EDS: [u8; 4] = [0x1f, 0x80, 0x90, 0x00];
/// The token that starts a DLLP.
pub const SDP: [u8; 2] = [0xf0, 0xac];
pub const IDL: u8 = 0x00;
/// Least length of an STP token in DW: token, three-DW header, LCRC.
pub const MIN_LENGTH: u16 = 5;
/// Greatest length that an STP token can carry, in DW.
pub const MAX_LENGTH: u16 = 0x7ff;

/// For each length, parity in bit 4 and FCRC in bits 3:0.
pub const LENGTH_CODE: [u8; 2048] = length_code();

const fn length_code() -> [u8; 2048] {
    let mut table = [0; 2048];
    let mut length = 0_usize;
    while length < 2048 {
        let mut fcrc = 0_u8;
        let mut bit = 0;
        while bit < 11 {
            let feedback = (fcrc >> 3) ^ (length >> bit) as u8 & 1;
            fcrc = ((fcrc << 1) & 0xf) ^ (feedback * 0b0011);
            bit += 1;
        }
        let parity = (length.count_ones() + fcrc.count_ones()) as u8 & 1;
        table[length] = parity << 4 | fcrc;
        length += 1;
    }
    table
}

/// A token at the place where one must start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// Start of a TLP.
    Stp(Stp),
    /// Start of a DLLP.
    Sdp,
    /// Logical idle, one byte.
    Idl,
    /// End of a nullified TLP.
    Edb,
    /// End of the data stream.
    Eds,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stp {
    /// DW of token, TLP and LCRC: TLP DW + 2. At most 2047.
    pub length: u16,
    /// Sequence number, 12 bits.
    pub sequence: u16,
}

/// Why bytes are no token. Each is a framing error: the link goes to Recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error("a token of {need} bytes is cut off after {have}")]
    Truncated { need: usize, have: usize },
    #[error("no token starts with {found:02x} {second:02x}")]
    Unknown {
        found: u8,
        /// Second byte, 0 when there is none.
        second: u8,
    },
    #[error("STP: the FCRC of length {length} is {expected:x}, the token has {found:x}")]
    Fcrc { length: u16, expected: u8, found: u8 },
    #[error("STP: the parity bit of length {length} must be {expected}")]
    Parity { length: u16, expected: u8 },
    #[error("STP: length {length} DW is below the {MIN_LENGTH} DW of the smallest TLP")]
    Length { length: u16 },
}

impl Stp {
    /// The four bytes of the token. Length and sequence number are cut to their 11 and 12 bits.
    pub fn emit(self) -> [u8; 4] {
        let (length, sequence) = (u32::from(self.length & MAX_LENGTH), u32::from(self.sequence & 0xfff));
        let code = u32::from(LENGTH_CODE[length as usize]);
        let (parity, fcrc) = (code >> 4, code & 0xf);
        (0x0f | length << 4 | parity << 15 | (sequence >> 8) << 16 | fcrc << 20 | sequence << 24).to_le_bytes()
    }
}

impl Token {
    /// Reads the token at the start of `bytes`.
    ///
    /// # Errors
    /// Says why there is none; an empty slice is [`TokenError::Truncated`].
    pub fn decode(bytes: &[u8]) -> Result<Self, TokenError> {
        match *bytes {
            [] => Err(TokenError::Truncated { need: 1, have: 0 }),
            [IDL, ..] => Ok(Self::Idl),
            [first, ..] if first & 0xf == 0xf => decode_stp(bytes),
            [0xf0, 0xac, ..] => Ok(Self::Sdp),
            [0xc0, 0xc0, 0xc0, 0xc0, ..] => Ok(Self::Edb),
            [0xf0] => Err(TokenError::Truncated { need: 2, have: 1 }),
            [0xc0, ref rest @ ..] if rest.len() < 3 && rest.iter().all(|&byte| byte == 0xc0) => {
                Err(TokenError::Truncated { need: 4, have: bytes.len() })
            }
            [found, ref rest @ ..] => {
                Err(TokenError::Unknown { found, second: rest.first().copied().unwrap_or_default() })
            }
        }
    }

    /// Bytes of the token itself.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Stp(_) | Self::Edb | Self::Eds => 4,
            Self::Sdp => 2,
            Self::Idl => 1,
        }
    }
}

fn decode_stp(bytes: &[u8]) -> Result<Token, TokenError> {
    let Some(&[b0, b1, b2, b3]) = bytes.first_chunk() else {
        return Err(TokenError::Truncated { need: 4, have: bytes.len() });
    };
    let length = u16::from(b0 >> 4) | u16::from(b1 & 0x7f) << 4;
    let code = LENGTH_CODE[usize::from(length)];
    let (fcrc, parity) = (code & 0xf, code >> 4);
    if b2 >> 4 != fcrc {
        return Err(TokenError::Fcrc { length, expected: fcrc, found: b2 >> 4 });
    }
    if b1 >> 7 != parity {
        return Err(TokenError::Parity { length, expected: parity });
    }
    let sequence = u16::from(b2 & 0xf) << 8 | u16::from(b3);
    match length {
        _ if [b0, b1, b2, b3] == EDS => Ok(Token::Eds),
        MIN_LENGTH.. => Ok(Token::Stp(Stp { length, sequence })),
        _ => Err(TokenError::Length { length }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_length_code_has_distance_four() {
        let words: Vec<u32> =
            (0..2048_u32).map(|length| length | u32::from(LENGTH_CODE[length as usize]) << 11).collect();
        // The code is linear, so its distance is its least weight.
        for (a, b) in [(3, 5), (1024, 2047), (70, 69)] {
            assert_eq!(words[a] ^ words[b], words[a ^ b]);
        }
        assert_eq!(words[1..].iter().map(|word| word.count_ones()).min(), Some(4));
    }

    #[test]
    fn lengths_below_the_smallest_tlp_are_refused() {
        assert_eq!(Token::decode(&Stp { length: 4, sequence: 9 }.emit()), Err(TokenError::Length { length: 4 }));
        assert!(matches!(Token::decode(&Stp { length: 5, sequence: 9 }.emit()), Ok(Token::Stp(_))));
        assert_eq!(Token::decode(&Stp { length: 1, sequence: 0 }.emit()), Ok(Token::Eds));
        assert_eq!(Token::decode(&Stp { length: 1, sequence: 1 }.emit()), Err(TokenError::Length { length: 1 }));
    }

    proptest! {
        #[test]
        fn up_to_three_flipped_bits_outside_the_sequence_number_are_caught(
            length in MIN_LENGTH..=MAX_LENGTH,
            sequence in 0u16..4096,
            bits in prop::collection::btree_set(0usize..20, 1..=3),
        ) {
            let mut bytes = Stp { length, sequence }.emit();
            for bit in bits {
                // Bits 0..16 are bytes 0 and 1; the FCRC is the upper half of byte 2. The LCRC covers the rest.
                let bit = if bit < 16 { bit } else { bit + 4 };
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            prop_assert!(Token::decode(&bytes).is_err());
        }

        #[test]
        fn stp_round_trips(length in MIN_LENGTH..=MAX_LENGTH, sequence in 0u16..4096) {
            let stp = Stp { length, sequence };
            prop_assert_eq!(Token::decode(&stp.emit()), Ok(Token::Stp(stp)));
        }

        #[test]
        fn any_bytes_decode_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..6)) {
            if let Ok(token) = Token::decode(&bytes) {
                prop_assert!(token.bytes() <= bytes.len());
            }
        }
    }
}
