//! What travels on the wire between two ports.

use crate::{
    pcie::{
        packet::Tlp,
        wire::{
            dllp::DllpRepr,
            token::{Stp, Token},
        },
    },
    sim::{FaultKind, Item},
};

/// A TLP in its frame.
#[derive(Debug, Clone)]
pub struct TlpFrame {
    /// STP token, as sent.
    pub token: [u8; 4],
    /// LCRC, as sent; zero in a run without data.
    pub lcrc: [u8; 4],
    /// Whether a bit of it was inverted on the way.
    pub damaged: bool,
    /// What it carries.
    pub tlp: Tlp,
}

/// One thing on the wire.
#[derive(Debug, Clone)]
pub enum Frame {
    /// A TLP.
    Tlp(TlpFrame),
    /// A DLLP: its four bytes and their CRC.
    Dllp([u8; 6]),
    /// Training sets that ask the partner into Recovery until a cycle of the MAC.
    Training {
        /// The cycle at which the link is up again.
        until: u64,
    },
}

impl Frame {
    /// Frames a TLP; the LCRC is computed if `exact`.
    #[inline]
    pub(super) fn tlp(tlp: Tlp, sequence: u16, exact: bool) -> Self {
        let token = Stp { length: tlp.wire_dw() as u16, sequence }.emit();
        let lcrc = if exact { tlp.lcrc(sequence) } else { [0; 4] };
        Self::Tlp(TlpFrame { token, lcrc, damaged: false, tlp })
    }

    /// Frames a DLLP.
    pub(super) fn dllp(repr: DllpRepr) -> Self {
        Self::Dllp(repr.emit_with_crc())
    }
}

/// Why a receiver does not take a TLP frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The token is broken: a framing error.
    Framing,
    /// The LCRC is wrong.
    Lcrc,
}

impl TlpFrame {
    /// The sequence number, if token and LCRC are right.
    #[inline]
    pub(super) fn check(&self, exact: bool) -> Result<u16, Refusal> {
        let Ok(Token::Stp(stp)) = Token::decode(&self.token) else { return Err(Refusal::Framing) };
        if u32::from(stp.length) != self.tlp.wire_dw() {
            return Err(Refusal::Framing);
        }
        let intact = if exact { self.tlp.lcrc(stp.sequence) == self.lcrc } else { !self.damaged };
        if intact { Ok(stp.sequence) } else { Err(Refusal::Lcrc) }
    }
}

impl Item for Frame {
    const FAULTS: &'static [FaultKind] =
        &[FaultKind::Flip, FaultKind::FlipToken, FaultKind::Drop, FaultKind::Duplicate, FaultKind::Reorder];

    #[inline]
    fn word(&self) -> u64 {
        match self {
            Self::Tlp(frame) => frame.tlp.word() ^ u64::from(u32::from_le_bytes(frame.token)) << 8,
            Self::Dllp(bytes) => u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])) | 1 << 63,
            Self::Training { until } => *until | 3 << 62,
        }
    }

    fn flip(&mut self, seed: u64) {
        match self {
            Self::Tlp(frame) => {
                frame.damaged = true;
                frame.tlp.flip(seed);
                // The damage lies on the wire, where the LCRC sees it.
                frame.tlp.damaged = false;
            }
            Self::Dllp(bytes) => bytes[(seed / 8 % 6) as usize] ^= 1 << (seed % 8),
            Self::Training { .. } => {}
        }
    }

    /// Inverts a bit of the length or its check bits; a DLLP has no such token and loses a bit of its own.
    fn flip_token(&mut self, seed: u64) {
        match self {
            Self::Tlp(frame) => frame.token[(seed / 8 % 2) as usize] ^= 1 << (seed % 8),
            _ => self.flip(seed),
        }
    }
}
