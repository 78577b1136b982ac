//! What travels on the wire between two ports.
//!
//! A token's bytes are always there. An LCRC is a function of the bytes that it covers, so it is written out, and checked against the bytes, where
//! something touches the frame in transit or looks at it; so are the bytes of a DLLP. A frame that nothing has touched passes by construction.

mod fields;

use crate::{
    pcie::{
        packet::Tlp,
        wire::{
            dllp::{DllpRepr, DllpView},
            token::{Stp, Token},
        },
    },
    sim::{FaultKind, Flip, Item, Pick, Selectors},
};

/// The sorts of frames that can be counted apart.
const TLP: &str = "tlp";
const DLLP: &str = "dllp";

#[derive(Debug, Clone)]
pub struct TlpFrame {
    /// STP token, as sent.
    pub token: [u8; 4],
    /// LCRC, as sent, once it is written out: when something touches the frame or its token.
    lcrc: Option<[u8; 4]>,
    /// A bit of the header that was inverted by its name, counted from 1; 0 if there is none. The header says nothing that a receiver believes before it has
    /// checked the LCRC, which cannot fit then.
    header_bit: u8,
    pub tlp: Tlp,
}

#[derive(Debug, Clone)]
pub struct DllpFrame {
    repr: DllpRepr,
    /// Its four bytes and their CRC, once they are written out.
    bytes: Option<[u8; 6]>,
}

/// One thing on the wire.
#[derive(Debug, Clone)]
pub enum Frame {
    Tlp(TlpFrame),
    Dllp(DllpFrame),
    /// Training sets that ask the partner into Recovery until a cycle of the MAC.
    Training {
        /// The cycle at which the link is up again.
        until: u64,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PacketBytes {
    /// A TLP: 16 bits of reserved zeros and sequence number, then header, payload, ECRC and LCRC. Payload that the run does not carry is zeros.
    Tlp(Vec<u8>),
    /// A DLLP with its CRC.
    Dllp([u8; 6]),
}

impl Frame {
    /// The packet as sent; none for training sets. What IDE adds to a TLP and makes of it is not in it.
    pub fn packet(&self) -> Option<PacketBytes> {
        match self {
            Self::Tlp(frame) => Some(PacketBytes::Tlp(frame.bytes())),
            Self::Dllp(frame) => Some(PacketBytes::Dllp(frame.bytes.unwrap_or_else(|| frame.repr.emit_with_crc()))),
            Self::Training { .. } => None,
        }
    }

    /// The token of a TLP that is `length` DW long.
    #[inline]
    pub(super) fn token(length: u64, sequence: u16) -> [u8; 4] {
        Stp { length: length as u16, sequence }.emit()
    }

    #[inline(always)]
    pub(super) const fn tlp(tlp: Tlp, token: [u8; 4]) -> Self {
        Self::Tlp(TlpFrame { token, lcrc: None, header_bit: 0, tlp })
    }

    #[inline(always)]
    pub(super) const fn dllp(repr: DllpRepr) -> Self {
        Self::Dllp(DllpFrame { repr, bytes: None })
    }
}

/// Why a receiver does not take a TLP frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The token is broken: a framing error.
    Framing,
    Lcrc,
}

/// What identifies a TLP in its frame, from what identifies the TLP.
#[inline(always)]
pub(super) fn word(of_tlp: u64, token: [u8; 4]) -> u64 {
    of_tlp ^ u64::from(u32::from_le_bytes(token)) << 8
}

/// What identifies a DLLP.
#[inline(always)]
pub(super) fn word_of_dllp(repr: DllpRepr) -> u64 {
    u64::from(u32::from_le_bytes(repr.emit())) | 1 << 63
}

impl DllpFrame {
    /// What it said as it was sent.
    pub const fn repr(&self) -> DllpRepr {
        self.repr
    }

    /// What it says, if its CRC is right and its type known.
    #[inline]
    pub(super) fn check(&self) -> Option<DllpRepr> {
        let Some(bytes) = &self.bytes else { return Some(self.repr) };
        let view = DllpView::new_checked(bytes).ok()?;
        view.check_crc().ok()?;
        DllpRepr::parse(&view).ok()
    }

    #[inline]
    fn event_key(&self) -> u64 {
        match &self.bytes {
            Some([a, b, c, d, ..]) => u64::from(u32::from_le_bytes([*a, *b, *c, *d])) | 1 << 63,
            None => word_of_dllp(self.repr),
        }
    }
}

impl TlpFrame {
    /// Whether nothing has touched it in transit.
    #[inline(always)]
    pub(super) const fn untouched(&self) -> bool {
        self.lcrc.is_none()
    }

    /// The sequence number, if token and LCRC are right.
    #[inline]
    pub(super) fn check(&self) -> Result<u16, Refusal> {
        let Some(sent) = self.lcrc else { return Ok(self.sequence()) };
        let Ok(Token::Stp(stp)) = Token::decode(&self.token) else { return Err(Refusal::Framing) };
        if u32::from(stp.length) != self.tlp.wire_dw() {
            return Err(Refusal::Framing);
        }
        let fits = self.header_bit == 0 && self.tlp.lcrc(stp.sequence) == sent;
        if fits { Ok(stp.sequence) } else { Err(Refusal::Lcrc) }
    }

    /// Inverts a bit of sequence number, header, payload or LCRC, each in a quarter of all seeds.
    fn flip(&mut self, seed: u64) -> Flip {
        let mut lcrc = self.lcrc();
        let bit = seed / 4;
        match seed % 4 {
            0 if bit % 12 < 8 => self.token[3] ^= 1 << (bit % 12),
            0 => self.token[2] ^= 1 << (bit % 12 - 8),
            1 => self.tlp.flip_header(bit),
            2 => self.tlp.flip_content(bit),
            _ => lcrc[(bit / 8 % 4) as usize] ^= 1 << (bit % 8),
        }
        self.lcrc = Some(lcrc);
        Flip::in_passing(seed)
    }

    fn bytes(&self) -> Vec<u8> {
        let (mut header, length) = self.tlp.header();
        if let Some(bit) = self.header_bit.checked_sub(1) {
            header[usize::from(bit / 8)] ^= 1 << (bit % 8);
        }
        let mut bytes = self.sequence().to_be_bytes().to_vec();
        bytes.extend(&header[..length]);
        self.tlp.with_whole_payload(|payload| bytes.extend(payload));
        bytes.extend(self.tlp.ecrc.into_iter().flatten());
        bytes.extend(self.lcrc());
        bytes
    }

    /// The LCRC, as sent.
    pub fn lcrc(&self) -> [u8; 4] {
        self.lcrc.unwrap_or_else(|| self.tlp.lcrc(self.sequence()))
    }

    /// The sequence number in its token.
    #[inline]
    pub(super) const fn sequence(&self) -> u16 {
        (self.token[2] as u16 & 0xf) << 8 | self.token[3] as u16
    }
}

impl Item for Frame {
    const FAULTS: &'static [FaultKind] = &[
        FaultKind::Flip,
        FaultKind::FlipToken,
        FaultKind::IdeFlip,
        FaultKind::Drop,
        FaultKind::Duplicate,
        FaultKind::Reorder,
    ];

    #[inline(always)]
    fn event_key(&self) -> u64 {
        match self {
            Self::Tlp(frame) => word(frame.tlp.event_key(), frame.token),
            Self::Dllp(frame) => frame.event_key(),
            Self::Training { until } => *until | 3 << 62,
        }
    }

    const SELECTORS: Selectors = Selectors { sorts: &[TLP, DLLP], fields: &fields::NAMES, messages: false };

    fn sort(&self) -> &'static str {
        match self {
            Self::Tlp(_) => TLP,
            Self::Dllp(_) => DLLP,
            Self::Training { .. } => "",
        }
    }

    fn flip_bit(&mut self, field: Option<&str>, pick: Pick) -> Option<Flip> {
        match self {
            Self::Tlp(frame) => frame.flip_bit(field, pick),
            Self::Dllp(frame) => frame.flip_bit(field, pick),
            Self::Training { .. } => None,
        }
    }

    fn flip(&mut self, seed: u64) -> Option<Flip> {
        match self {
            Self::Tlp(frame) => Some(frame.flip(seed)),
            Self::Dllp(frame) => frame.flip_bit(None, seed.into()),
            Self::Training { .. } => None,
        }
    }

    /// Token and LCRC are made over the flipped TLP. A DLLP is not protected.
    fn flip_protected(&mut self, seed: u64) -> Option<Flip> {
        let Self::Tlp(frame) = self else { return None };
        let bytes = (frame.tlp.wire_dw() - 2) * 4;
        frame.tlp.ide.flip(bytes, seed).then(|| Flip::in_passing(seed % (u64::from(bytes) * 8)))
    }

    /// Inverts a bit of the length or its check bits; a DLLP has no such token and loses a bit of its own.
    fn flip_token(&mut self, seed: u64) -> Option<Flip> {
        let Self::Tlp(frame) = self else { return self.flip(seed) };
        frame.lcrc = Some(frame.lcrc());
        // Sixteen bits in bytes 0 and 1; the FCRC is the upper half of byte 2.
        let bit = seed % 20;
        let place = if bit < 16 { bit } else { bit + 4 };
        frame.token[(place / 8) as usize] ^= 1 << (place % 8);
        Some(Flip::in_passing(bit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcie::packet::Payload;
    use proptest::prelude::*;

    fn frame(tlp: Tlp) -> TlpFrame {
        let token = Frame::token(tlp.wire_dw().into(), 4095);
        let Frame::Tlp(frame) = Frame::tlp(tlp, token) else { panic!("no TLP") };
        frame
    }

    proptest! {
        #[test]
        fn a_flipped_bit_is_found_and_the_same_flip_again_undoes_it(seed in any::<u64>(), dw in 0u32..65, high in any::<bool>()) {
            let address = if high { 1 << 40 } else { 1 << 20 };
            let tlp = match dw {
                0 => Tlp::read(700, address, 512),
                _ => Tlp::write(address, dw * 4, Payload::of(vec![0x5a; dw as usize * 4])),
            };
            for (kind, refusal) in [(FaultKind::Flip, Refusal::Lcrc), (FaultKind::FlipToken, Refusal::Framing)] {
                let mut frame = Frame::Tlp(frame(tlp.clone()));
                for checked in [Err(refusal), Ok(4095)] {
                    let flip = if kind == FaultKind::Flip { frame.flip(seed) } else { frame.flip_token(seed) };
                    prop_assert!(flip.is_some());
                    let Frame::Tlp(tlp) = &frame else { panic!("no TLP") };
                    prop_assert_eq!(tlp.check(), checked, "{:?}", kind);
                }
            }
        }
    }

    #[test]
    fn a_frame_that_is_whole_gives_its_sequence_number() {
        assert_eq!(frame(Tlp::read(0, 64, 64)).check(), Ok(4095));
    }

    #[test]
    fn a_frame_is_small() {
        assert!(size_of::<Frame>() <= 64, "{}", size_of::<Frame>());
    }
}
