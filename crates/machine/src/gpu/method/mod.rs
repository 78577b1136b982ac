//! Methods: how a driver speaks to the copy engine, word by word.
//!
//! ```text
//!              +---------+ Packet  +---------+ Write{subchannel, method, data}
//!   bytes ---->|  parse  |-------->| Decoder |------------------------------->  launch::Lce
//!              +---------+         +---------+
//!                    ^               |  SET_OBJECT binds a class to one of 8 subchannels
//!   bytes <----------+--- emit ------+
//! ```
//!
//! A pushbuffer is a run of little-endian 32-bit words: headers, each followed by its data words.
//!
//! | bits of a header | meaning |
//! | --- | --- |
//! | 11:0 | method offset / 4 |
//! | 12 | reserved, zero |
//! | 15:13 | subchannel |
//! | 28:16 | number of data words, or the datum itself (immediate) |
//! | 31:29 | 1 incrementing, 3 non-incrementing, 4 immediate, 5 increment once; others are refused |
//!
//! Offsets below 0x100 belong to the host (class 0xC86F) on every subchannel; the others belong to the class that
//! SET_OBJECT bound to the subchannel, here always HOPPER_DMA_COPY_A = 0xC8B5. The header layout is that of the host
//! classes 0xC36F to 0xC56F (NVIDIA open-gpu-doc, clc56f.h) and is taken to hold for GH100. The first word forms
//! with opcode 0 and 2, of the oldest host classes, are not modelled.

mod packet;
mod stream;
mod table;

pub use packet::{Opcode, Packet, PacketError, emit};
pub use stream::{DecodeCause, DecodeError, Decoder, Write, parse};
pub use table::{Class, Field, Method, c8b5, c86f, find};

/// Class number of the copy engine, HOPPER_DMA_COPY_A.
pub const HOPPER_DMA_COPY_A: u32 = 0xC8B5;

/// Subchannel that hardware since Kepler keeps for the copy engine (UVM_SUBCHANNEL_CE).
pub const COPY_ENGINE_SUBCHANNEL: u8 = 4;

/// Number of subchannels of a channel: three header bits.
pub const SUBCHANNELS: usize = 8;

#[cfg(test)]
mod tests;
