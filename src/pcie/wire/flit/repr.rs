//! A flit as plain values.

use super::{BYTES, DLP_BYTES, FlitView, TLP_BYTES, crc, ecc, field};

/// What a flit is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// 0: an IDLE flit, if its sequence number is 0, or a NOP flit. It has no TLPs.
    Nop,
    /// 1: it has TLPs.
    Payload,
    /// 2 or 3: a receiver takes such a flit for invalid.
    Reserved(u8),
}

impl Usage {
    /// From two bits.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::Nop,
            1 => Self::Payload,
            bits => Self::Reserved(bits),
        }
    }

    /// The two bits.
    #[must_use]
    pub const fn bits(self) -> u8 {
        match self {
            Self::Nop => 0,
            Self::Payload => 1,
            Self::Reserved(bits) => bits & 3,
        }
    }
}

/// What the sequence number means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayCommand {
    /// 0: it is that of this flit, or of the last payload flit before.
    Explicit,
    /// 1: all flits up to it have arrived.
    Ack,
    /// 2: all flits up to it have arrived, the rest must be sent again.
    StandardNak,
    /// 3: all flits up to it have arrived, the next alone must be sent again.
    SelectiveNak,
}

impl ReplayCommand {
    const ALL: [Self; 4] = [Self::Explicit, Self::Ack, Self::StandardNak, Self::SelectiveNak];

    /// From two bits.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self::ALL[(bits & 3) as usize]
    }

    /// The two bits.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self as u8
    }
}

/// The data link layer's part of a flit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dlp {
    /// What the flit is for.
    pub usage: Usage,
    /// The flit before had TLPs, so that a receiver that lost it needs it again.
    pub prior_payload: bool,
    /// `dllp` is no DLLP but an optimised credit update or a marker.
    pub dllp_optimised: bool,
    /// What the sequence number means.
    pub replay: ReplayCommand,
    /// Sequence number, 10 bits.
    pub sequence: u16,
    /// A DLLP without its CRC. Its coding in flit mode is not read: all zeros is nothing there, but an Ack on other links.
    pub dllp: [u8; 4],
}

impl Dlp {
    /// The values; every six bytes are a DLP.
    #[must_use]
    pub fn parse(bytes: [u8; DLP_BYTES]) -> Self {
        let flags = bytes[field::FLAGS];
        let mut dllp = [0; 4];
        dllp.copy_from_slice(&bytes[field::DLLP]);
        Self {
            usage: Usage::from_bits(flags >> field::USAGE_SHIFT),
            prior_payload: flags & field::PRIOR_PAYLOAD != 0,
            dllp_optimised: flags & field::DLLP_TYPE != 0,
            replay: ReplayCommand::from_bits(flags >> field::REPLAY_SHIFT),
            sequence: u16::from_be_bytes([flags & 3, bytes[field::SEQUENCE_LOW]]),
            dllp,
        }
    }

    /// The six bytes. Values are cut to their width.
    #[must_use]
    pub fn emit(&self) -> [u8; DLP_BYTES] {
        let [sequence_high, sequence_low] = self.sequence.to_be_bytes();
        let mut bytes = [0; DLP_BYTES];
        bytes[field::FLAGS] = self.usage.bits() << field::USAGE_SHIFT
            | if self.prior_payload { field::PRIOR_PAYLOAD } else { 0 }
            | if self.dllp_optimised { field::DLLP_TYPE } else { 0 }
            | self.replay.bits() << field::REPLAY_SHIFT
            | sequence_high & 3;
        bytes[field::SEQUENCE_LOW] = sequence_low;
        bytes[field::DLLP].copy_from_slice(&self.dllp);
        bytes
    }
}

/// A flit as plain values: everything but CRC and ECC, which follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlitRepr {
    /// The data link layer's part.
    pub dlp: Dlp,
    /// The TLP area.
    pub tlp: [u8; TLP_BYTES],
}

impl FlitRepr {
    /// The values of a flit. CRC and ECC are not looked at: see [`super::receive`].
    #[must_use]
    pub fn parse(view: &FlitView<'_>) -> Self {
        Self { dlp: Dlp::parse(view.dlp()), tlp: view.tlp() }
    }

    /// The bytes of the flit, with CRC and ECC.
    #[must_use]
    pub fn emit(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[field::TLP].copy_from_slice(&self.tlp);
        bytes[field::DLP].copy_from_slice(&self.dlp.emit());
        let crc = crc::of(&bytes[..field::CRC.start]);
        bytes[field::CRC].copy_from_slice(&crc);
        ecc::emit(&mut bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_field_has_its_bits() {
        let dlp = Dlp::parse([0x6d, 0x02, 0x80, 1, 2, 3]);
        let expected = Dlp {
            usage: Usage::Payload,
            prior_payload: true,
            dllp_optimised: false,
            replay: ReplayCommand::SelectiveNak,
            sequence: 0x102,
            dllp: [0x80, 1, 2, 3],
        };
        assert_eq!(dlp, expected);
        assert_eq!(Dlp::parse([0x90, 0, 0, 0, 0, 0]).usage, Usage::Reserved(2));
        assert!(Dlp::parse([0x10, 0, 0, 0, 0, 0]).dllp_optimised);
    }

    proptest! {
        #[test]
        fn any_dlp_round_trips(bytes in any::<[u8; DLP_BYTES]>()) {
            prop_assert_eq!(Dlp::parse(bytes).emit(), bytes);
        }
    }
}
