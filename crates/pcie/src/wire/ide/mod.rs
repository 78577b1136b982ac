//! IDE: integrity and encryption of TLPs between two ports, non-flit mode.
//!
//! ```text
//!  +------------+------------------------+----------------+--------+-----------+
//!  | IDE prefix | other prefixes, header | data, sealed   | [PCRC] | [MAC]     |
//!  +------------+------------------------+----------------+--------+-----------+
//!       4 B              12 B and up          4n B            4 B      12 B
//!
//!  prefix  byte 0      byte 1                 byte 2            byte 3
//!          1001 0010   PR_Sent_Counter[7:0]   Stream ID[7:0]    R  Sub-Stream[2:0]  P  M  K  T
//! ```
//!
//! AES-256-GCM with the first 96 bits of its tag. Data, and the PCRC if there is one, are encrypted; prefixes and header are
//! only authenticated. TLPs of one sub-stream and direction are counted together, up to eight under one MAC, which the last
//! of them carries (`seal`).
//!
//! This layout rests on public header files and descriptions of control software, not on the base specification and not on a
//! capture. `docs/ide.md` of the simulator says of each part what it rests on. Sealing and opening need the feature `ide`.

#[cfg(feature = "ide")]
mod seal;

#[cfg(feature = "ide")]
pub use seal::{IdeError, Opener, Protection, Sealer, iv};

use super::crc;

/// First byte of the prefix: Fmt 100b, Type 10010b.
pub const FIRST_BYTE: u8 = 0x92;
pub const PREFIX_BYTES: usize = 4;
pub const MAC_BYTES: usize = 12;
pub const PCRC_BYTES: usize = 4;
/// Most TLPs that share a MAC.
pub const LARGEST_AGGREGATE: usize = 8;

/// The field map: bytes of the prefix, bits of its last byte.
mod field {
    pub const FIRST: usize = 0;
    pub const POSTED_SENT: usize = 1;
    pub const STREAM: usize = 2;
    pub const FLAGS: usize = 3;
    pub const SUB_STREAM_SHIFT: u8 = 4;
    pub const PCRC: u8 = 1 << 3;
    pub const MAC: u8 = 1 << 2;
    pub const KEY_SET: u8 = 1 << 1;
    pub const TRUSTED: u8 = 1;
}

/// Which TLPs share a key, an IV and their MACs: the three kinds of flow control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubStream {
    Posted,
    /// Requests that are answered.
    NonPosted,
    Completion,
}

impl SubStream {
    /// All of them, by number.
    pub const ALL: [Self; 3] = [Self::Posted, Self::NonPosted, Self::Completion];

    pub const fn number(self) -> u8 {
        self as u8
    }
}

/// Why four bytes are no IDE prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PrefixError {
    #[error("an IDE prefix has 4 bytes, the first {FIRST_BYTE:02x}")]
    NoPrefix,
    #[error("sub-stream {0} is reserved")]
    ReservedSubStream(u8),
}

#[derive(Debug, Clone, Copy)]
pub struct PrefixView<'a> {
    bytes: &'a [u8; PREFIX_BYTES],
}

impl<'a> PrefixView<'a> {
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, PrefixError> {
        let bytes = bytes.try_into().map_err(|_| PrefixError::NoPrefix)?;
        let view = Self { bytes };
        if view.bytes[field::FIRST] == FIRST_BYTE { Ok(view) } else { Err(PrefixError::NoPrefix) }
    }

    const fn flag(&self, mask: u8) -> bool {
        self.bytes[field::FLAGS] & mask != 0
    }

    /// Posted TLPs sent since the last one of this sub-stream.
    pub const fn posted_sent(&self) -> u8 {
        self.bytes[field::POSTED_SENT]
    }

    pub const fn stream(&self) -> u8 {
        self.bytes[field::STREAM]
    }

    /// The sub-stream as it is, 3 bits.
    pub const fn raw_sub_stream(&self) -> u8 {
        self.bytes[field::FLAGS] >> field::SUB_STREAM_SHIFT & 7
    }

    pub const fn mac(&self) -> bool {
        self.flag(field::MAC)
    }

    pub const fn pcrc(&self) -> bool {
        self.flag(field::PCRC)
    }

    /// Bytes that follow the data: PCRC and MAC.
    pub const fn trailer_bytes(&self) -> usize {
        self.mac() as usize * MAC_BYTES + self.pcrc() as usize * PCRC_BYTES
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrefixRepr {
    /// Posted TLPs sent since the last one of this sub-stream; 0 in posted ones.
    pub posted_sent: u8,
    pub stream: u8,
    pub sub_stream: SubStream,
    /// P: a PCRC is before the MAC.
    pub pcrc: bool,
    /// M: a MAC ends the TLP.
    pub mac: bool,
    /// K: which of two sets of keys.
    pub key_set: bool,
    /// T: sent by a trusted device interface.
    pub trusted: bool,
}

impl PrefixRepr {
    /// The values of a prefix. The reserved bit is ignored.
    pub fn parse(view: &PrefixView<'_>) -> Result<Self, PrefixError> {
        let number = view.raw_sub_stream();
        let known = SubStream::ALL.into_iter().find(|known| known.number() == number);
        Ok(Self {
            posted_sent: view.posted_sent(),
            stream: view.stream(),
            sub_stream: known.ok_or(PrefixError::ReservedSubStream(number))?,
            pcrc: view.pcrc(),
            mac: view.mac(),
            key_set: view.flag(field::KEY_SET),
            trusted: view.flag(field::TRUSTED),
        })
    }

    pub const fn emit(&self) -> [u8; PREFIX_BYTES] {
        let flags = (self.sub_stream.number() << field::SUB_STREAM_SHIFT)
            | (self.pcrc as u8 * field::PCRC)
            | (self.mac as u8 * field::MAC)
            | (self.key_set as u8 * field::KEY_SET)
            | (self.trusted as u8 * field::TRUSTED);
        let mut bytes = [0; PREFIX_BYTES];
        bytes[field::FIRST] = FIRST_BYTE;
        bytes[field::POSTED_SENT] = self.posted_sent;
        bytes[field::STREAM] = self.stream;
        bytes[field::FLAGS] = flags;
        bytes
    }
}

/// PCRC of the plaintext data under one MAC, as it is sent before it is encrypted.
pub fn pcrc(data: &[u8]) -> [u8; PCRC_BYTES] {
    crc::plain(data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn prefixes() -> impl Strategy<Value = PrefixRepr> {
        (any::<(u8, u8)>(), 0usize..3, any::<[bool; 4]>()).prop_map(|((posted_sent, stream), number, flags)| {
            let [pcrc, mac, key_set, trusted] = flags;
            PrefixRepr { posted_sent, stream, sub_stream: SubStream::ALL[number], pcrc, mac, key_set, trusted }
        })
    }

    proptest! {
        #[test]
        fn a_prefix_comes_back_as_it_was(repr in prefixes()) {
            let bytes = repr.emit();
            let view = PrefixView::new_checked(&bytes).unwrap();
            prop_assert_eq!(PrefixRepr::parse(&view), Ok(repr));
            prop_assert_eq!(view.trailer_bytes(), 12 * usize::from(repr.mac) + 4 * usize::from(repr.pcrc));
        }

        #[test]
        fn every_prefix_that_is_read_is_written_as_it_was_but_for_the_reserved_bit(bytes in any::<[u8; 3]>()) {
            let bytes = [FIRST_BYTE, bytes[0], bytes[1], bytes[2]];
            let parsed = PrefixRepr::parse(&PrefixView::new_checked(&bytes).unwrap());
            match parsed {
                Ok(repr) => prop_assert_eq!(repr.emit(), [bytes[0], bytes[1], bytes[2], bytes[3] & 0x7f]),
                Err(error) => prop_assert_eq!(error, PrefixError::ReservedSubStream(bytes[3] >> 4 & 7)),
            }
        }
    }

    #[test]
    fn a_known_prefix_has_its_bytes() {
        let repr = PrefixRepr {
            posted_sent: 3,
            stream: 0x5a,
            sub_stream: SubStream::Completion,
            pcrc: false,
            mac: true,
            key_set: false,
            trusted: true,
        };
        assert_eq!(repr.emit(), [0x92, 3, 0x5a, 0b0010_0101]);
    }

    #[test]
    fn other_bytes_are_no_prefix() {
        for bytes in [&[][..], &[0x92], &[0x91, 0, 0, 0], &[0x92, 0, 0, 0, 0]] {
            assert_eq!(PrefixView::new_checked(bytes).err(), Some(PrefixError::NoPrefix));
        }
    }
}
