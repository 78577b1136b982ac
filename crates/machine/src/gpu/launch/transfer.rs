//! The data part of a launch.

use super::{Location, Side};

/// What is written by a fill: the constants of the remap unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    B1(u8),
    B2(u16),
    B4(u32),
    B8(u64),
}

impl Pattern {
    /// Bytes of one element.
    pub const fn width(self) -> u32 {
        match self {
            Self::B1(_) => 1,
            Self::B2(_) => 2,
            Self::B4(_) => 4,
            Self::B8(_) => 8,
        }
    }

    pub const fn byte(self, position: u64) -> u8 {
        let value = match self {
            Self::B1(v) => v as u64,
            Self::B2(v) => v as u64,
            Self::B4(v) => v as u64,
            Self::B8(v) => v,
        };
        value.to_le_bytes()[(position % self.width() as u64) as usize]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Plaintext in, ciphertext, tag and IV out. Tag and IV lie in the destination's space.
    Encrypt {
        source: Location,
        /// Address at which the engine writes the tag.
        tag: u64,
        /// Address at which the engine writes the IV it used.
        iv: u64,
    },
    /// Ciphertext in, plaintext out, if the tag agrees. The expected tag lies in the source's space.
    Decrypt {
        source: Location,
        /// Address of the expected tag.
        tag: u64,
    },
    /// Bytes as they are, between ends on the same side.
    Copy {
        source: Location,
        /// COPY_TYPE: which side both ends are on.
        side: Side,
    },
    Fill {
        pattern: Pattern,
        /// COPY_TYPE: which side the destination is on.
        side: Side,
    },
}

/// Order of a transfer against earlier ones of its LCE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// May overlap with its predecessors.
    Pipelined,
    /// Starts after all earlier transfers.
    NonPipelined,
}

/// More than one line, each `pitch` bytes after the other. Both layouts are pitch: block-linear is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    pub count: u32,
    /// Bytes from line to line in the source.
    pub pitch_in: u32,
    /// Bytes from line to line in the destination.
    pub pitch_out: u32,
}

/// The data part of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// What is moved, from where.
    pub operation: Operation,
    pub destination: Location,
    pub line_bytes: u64,
    /// Multi-line shape; `None` is one line.
    pub lines: Option<Lines>,
    pub order: Order,
}

impl Transfer {
    pub fn bytes(&self) -> u64 {
        self.line_bytes.saturating_mul(self.lines.map_or(1, |lines| u64::from(lines.count)))
    }

    /// Where it reads; a fill reads nothing.
    pub fn source(&self) -> Option<Location> {
        match self.operation {
            Operation::Encrypt { source, .. } | Operation::Decrypt { source, .. } | Operation::Copy { source, .. } => {
                Some(source)
            }
            Operation::Fill { .. } => None,
        }
    }

    /// Whether it is a GCM message.
    pub fn is_secure(&self) -> bool {
        self.tag().is_some()
    }

    /// Where the tag is written (encrypt) or expected (decrypt).
    pub fn tag(&self) -> Option<Location> {
        match self.operation {
            Operation::Encrypt { tag, .. } => Some(Location { address: tag, space: self.destination.space }),
            Operation::Decrypt { source, tag } => Some(Location { address: tag, space: source.space }),
            _ => None,
        }
    }

    pub fn iv(&self) -> Option<Location> {
        match self.operation {
            Operation::Encrypt { iv, .. } => Some(Location { address: iv, space: self.destination.space }),
            _ => None,
        }
    }
}
