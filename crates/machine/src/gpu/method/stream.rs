//! From bytes to packets, and from packets to method writes.

use super::{
    COPY_ENGINE_SUBCHANNEL, HOPPER_DMA_COPY_A, SUBCHANNELS,
    packet::{COUNT_MAX, Opcode, Packet},
    table::{Class, Field, Method, c86f, find},
};
use thiserror::Error;

const RESERVED_BIT: Field = Field { name: "RESERVED", high: 12, low: 12 };
const METHOD: Field = Field { name: "METHOD_ADDRESS", high: 11, low: 0 };
const SUBCHANNEL: Field = Field { name: "METHOD_SUBCHANNEL", high: 15, low: 13 };
const COUNT: Field = Field { name: "METHOD_COUNT", high: 28, low: 16 };
const OPCODE: Field = Field { name: "SEC_OP", high: 31, low: 29 };

/// First method offset that belongs to the engine and not to the host.
const FIRST_ENGINE_METHOD: u16 = 0x100;

/// Where and why a pushbuffer could not be decoded.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("word {word:#010x} at byte {offset}: {cause}")]
pub struct DecodeError {
    /// Byte offset of the word in the stream.
    pub offset: usize,
    /// The word; of an incomplete one the bytes that are there, zero-extended.
    pub word: u32,
    pub cause: DecodeCause,
}

/// What is wrong with a word.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DecodeCause {
    /// The stream's length is not a multiple of 4.
    #[error("the stream ends inside a word, after {0} of 4 bytes")]
    Misaligned(usize),
    /// The opcode in bits 31:29 is not one of those modelled.
    #[error("opcode {0} in bits 31:29 is reserved; 1, 3, 4 and 5 are known")]
    Opcode(u32),
    /// Header bit 12 is set.
    #[error("reserved header bit 12 is set")]
    HeaderBit,
    /// The count runs past the end.
    #[error("the header announces {announced} data words, but the stream ends after {present}")]
    Truncated { announced: usize, present: usize },
    /// SET_OBJECT names another class.
    #[error("class {0:#06x} is not modelled; SET_OBJECT takes 0xc8b5 (HOPPER_DMA_COPY_A)")]
    Class(u32),
    /// No class is bound.
    #[error("method {method:#x} on subchannel {subchannel}, to which SET_OBJECT has bound no class")]
    Unbound {
        subchannel: u8,
        /// Byte offset of the method.
        method: usize,
    },
    /// The class has no such method.
    #[error("class {class} has no method at {method:#x}")]
    Method {
        class: &'static str,
        /// Byte offset of the method.
        method: usize,
    },
    /// Bits outside the method's fields.
    #[error("{method} has no field for bits {bits:#010x}")]
    DataBits { method: &'static str, bits: u32 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Write {
    /// Byte offset in the stream of the word that holds the datum.
    pub at: usize,
    /// Subchannel, 0 to 7.
    pub subchannel: u8,
    pub class: Class,
    pub method: &'static Method,
    pub data: u32,
}

/// Cuts `bytes` into packets, each with the byte offset of its header. Knows nothing of classes.
pub fn parse(bytes: &[u8]) -> Result<Vec<(usize, Packet)>, DecodeError> {
    let mut packets = Vec::new();
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let packet = parse_one(rest, at)?;
        let size = 4 * packet.words();
        packets.push((at, packet));
        at += size;
    }
    Ok(packets)
}

fn parse_one(rest: &[u8], offset: usize) -> Result<Packet, DecodeError> {
    let Some((first, behind)) = rest.split_first_chunk::<4>() else {
        let word = rest.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
        return Err(DecodeError { offset, word, cause: DecodeCause::Misaligned(rest.len()) });
    };
    let header = u32::from_le_bytes(*first);
    let wrong = |cause| DecodeError { offset, word: header, cause };
    let opcode = Opcode::from_bits(OPCODE.get(header)).ok_or(wrong(DecodeCause::Opcode(OPCODE.get(header))))?;
    if RESERVED_BIT.get(header) != 0 {
        return Err(wrong(DecodeCause::HeaderBit));
    }
    let count = COUNT.get(header) as usize & COUNT_MAX;
    let data = if opcode == Opcode::Immediate {
        vec![count as u32]
    } else {
        let truncated = DecodeCause::Truncated { announced: count, present: behind.len() / 4 };
        let words = behind.get(..4 * count).ok_or(wrong(truncated))?;
        words.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
    };
    // Every field was cut to its width above, so the packet always fits; the fallback keeps this free of panics.
    let method = 4 * METHOD.get(header) as u16;
    Packet::new(opcode, SUBCHANNEL.get(header) as u8, method, data).map_err(|_| wrong(DecodeCause::HeaderBit))
}

/// Turns bytes into method writes; remembers what SET_OBJECT bound to each subchannel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Decoder {
    bound: [bool; SUBCHANNELS],
}

impl Decoder {
    /// Nothing is bound yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The copy engine is bound to its fixed subchannel, as after the channel's first push.
    pub fn bound() -> Self {
        let mut decoder = Self::default();
        decoder.bind(COPY_ENGINE_SUBCHANNEL);
        decoder
    }

    /// Whether the copy engine is bound to `subchannel`.
    pub fn is_bound(&self, subchannel: u8) -> bool {
        self.bound.get(usize::from(subchannel)).copied().unwrap_or(false)
    }

    fn bind(&mut self, subchannel: u8) {
        if let Some(bound) = self.bound.get_mut(usize::from(subchannel)) {
            *bound = true;
        }
    }

    /// The writes of a whole stream. On an error the bindings are as before.
    pub fn decode(&mut self, bytes: &[u8]) -> Result<Vec<Write>, DecodeError> {
        let mut bindings = self.clone();
        let mut writes = Vec::new();
        for (at, packet) in parse(bytes)? {
            for (method, data, word) in packet.writes() {
                let write = bindings.write(packet.subchannel(), method, data).map_err(|cause| {
                    let word_at = if matches!(cause, DecodeCause::Unbound { .. }) { at } else { at + 4 * word };
                    let word = if word_at == at { packet.header() } else { data };
                    DecodeError { offset: word_at, word, cause }
                })?;
                writes.push(Write { at: at + 4 * word, ..write });
            }
        }
        *self = bindings;
        Ok(writes)
    }

    fn write(&mut self, subchannel: u8, offset: usize, data: u32) -> Result<Write, DecodeCause> {
        let (class, number) = if offset < usize::from(FIRST_ENGINE_METHOD) {
            (Class::Host, "0xc86f")
        } else {
            (Class::CopyEngine, "0xc8b5")
        };
        if class == Class::CopyEngine && !self.is_bound(subchannel) {
            return Err(DecodeCause::Unbound { subchannel, method: offset });
        }
        let method = u16::try_from(offset)
            .ok()
            .and_then(|offset| find(class, offset))
            .ok_or(DecodeCause::Method { class: number, method: offset })?;
        let stray = data & method.reserved();
        if stray != 0 {
            return Err(DecodeCause::DataBits { method: method.name, bits: stray });
        }
        if class == Class::Host && method.offset == c86f::SET_OBJECT::OFFSET {
            let object = c86f::SET_OBJECT::NVCLASS.get(data);
            if object != HOPPER_DMA_COPY_A {
                return Err(DecodeCause::Class(object));
            }
            self.bind(subchannel);
        }
        Ok(Write { at: 0, subchannel, class, method, data })
    }
}
