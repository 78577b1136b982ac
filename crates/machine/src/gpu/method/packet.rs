//! One header word and its data.

use thiserror::Error;

/// Most data words behind one header, and the largest immediate datum: 13 bits.
pub(super) const COUNT_MAX: usize = 0x1FFF;

/// How the method address moves from one data word to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opcode {
    /// Each word goes to the next method.
    Incrementing,
    /// All words go to the same method.
    NonIncrementing,
    /// The datum is in the header, in place of the count.
    Immediate,
    /// The first word goes to the method, all others to the next one.
    IncrementOnce,
}

/// Opcode bits 31:29, and what they mean.
const OPCODES: [(u32, Opcode); 4] =
    [(1, Opcode::Incrementing), (3, Opcode::NonIncrementing), (4, Opcode::Immediate), (5, Opcode::IncrementOnce)];

impl Opcode {
    pub(super) fn from_bits(bits: u32) -> Option<Self> {
        OPCODES.iter().find(|(code, _)| *code == bits).map(|(_, opcode)| *opcode)
    }

    fn bits(self) -> u32 {
        OPCODES.iter().find(|(_, opcode)| *opcode == self).map_or(0, |(code, _)| *code)
    }

    /// How far past the header's method the data word number `index` goes, in methods of 4 bytes.
    fn step(self, index: usize) -> usize {
        match self {
            Self::Incrementing => index,
            Self::NonIncrementing | Self::Immediate => 0,
            Self::IncrementOnce => index.min(1),
        }
    }
}

/// Why a packet cannot be put into words.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PacketError {
    /// The subchannel has three bits.
    #[error("subchannel {0} does not exist; there are 8, from 0")]
    Subchannel(u8),
    /// The method has 12 bits, in units of 4 bytes.
    #[error("method offset {0:#x} is not a multiple of 4 up to 0x3ffc")]
    Method(u16),
    /// The count has 13 bits.
    #[error("{0} data words do not fit behind one header; at most 8191 do")]
    Count(usize),
    /// An immediate packet has exactly one datum, of 13 bits.
    #[error("an immediate packet carries exactly one datum of 13 bits")]
    Immediate,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    opcode: Opcode,
    subchannel: u8,
    method: u16,
    data: Vec<u32>,
}

impl Packet {
    /// A packet for the method at byte offset `method`.
    pub fn new(opcode: Opcode, subchannel: u8, method: u16, data: Vec<u32>) -> Result<Self, PacketError> {
        if usize::from(subchannel) >= super::SUBCHANNELS {
            return Err(PacketError::Subchannel(subchannel));
        }
        if !method.is_multiple_of(4) || method > 0x3FFC {
            return Err(PacketError::Method(method));
        }
        let immediate = matches!(data.as_slice(), [datum] if *datum <= COUNT_MAX as u32);
        if opcode == Opcode::Immediate && !immediate {
            return Err(PacketError::Immediate);
        }
        if data.len() > COUNT_MAX {
            return Err(PacketError::Count(data.len()));
        }
        Ok(Self { opcode, subchannel, method, data })
    }

    pub fn opcode(&self) -> Opcode {
        self.opcode
    }

    /// Subchannel, 0 to 7.
    pub fn subchannel(&self) -> u8 {
        self.subchannel
    }

    /// Byte offset of the first method.
    pub fn method(&self) -> u16 {
        self.method
    }

    /// Data words; for an immediate packet the one datum of the header.
    pub fn data(&self) -> &[u32] {
        &self.data
    }

    pub fn header(&self) -> u32 {
        let count = match (self.opcode, self.data.as_slice()) {
            (Opcode::Immediate, [datum, ..]) => *datum,
            (_, data) => data.len() as u32,
        };
        self.opcode.bits() << 29 | count << 16 | u32::from(self.subchannel) << 13 | u32::from(self.method / 4)
    }

    /// The data words that follow the header: none for an immediate packet.
    pub fn trailing(&self) -> &[u32] {
        if self.opcode == Opcode::Immediate { &[] } else { &self.data }
    }

    pub fn words(&self) -> usize {
        1 + self.trailing().len()
    }

    /// `(byte offset of the method, datum, index of the datum's word behind the header)`, in order. The offset may
    /// run past the last method.
    pub(super) fn writes(&self) -> impl Iterator<Item = (usize, u32, usize)> + '_ {
        let inline = self.opcode == Opcode::Immediate;
        self.data.iter().enumerate().map(move |(index, &datum)| {
            let offset = usize::from(self.method) + 4 * self.opcode.step(index);
            (offset, datum, if inline { 0 } else { index + 1 })
        })
    }
}

/// The packets as bytes: little-endian words.
pub fn emit(packets: &[Packet]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 * packets.iter().map(Packet::words).sum::<usize>());
    for packet in packets {
        bytes.extend_from_slice(&packet.header().to_le_bytes());
        for word in packet.trailing() {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
    }
    bytes
}
