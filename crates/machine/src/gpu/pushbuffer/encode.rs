//! From a launch to the packets that order it, in the order the driver uses.

use super::Command;
use crate::gpu::{
    launch::{
        ADDRESS_BITS, Aperture, Flush, Interrupt, Launch, Location, Operation, Order, Pattern, Reduction, Semaphore,
        Side, Space, Transfer,
    },
    method::{
        COPY_ENGINE_SUBCHANNEL, HOPPER_DMA_COPY_A, Opcode, Packet, PacketError,
        c8b5::{self, LAUNCH_DMA as L, SET_REMAP_COMPONENTS as R, SET_SRC_PHYS_MODE as P},
        c86f,
    },
};
use thiserror::Error;

/// Why a command cannot be put into methods.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// Addresses have 57 bits.
    #[error("address {0:#x} does not fit into 57 bits")]
    Address(u64),
    /// LINE_LENGTH_IN has 32 bits and counts elements.
    #[error("a line of {bytes} bytes is not a 32-bit number of elements of {element} bytes")]
    LineLength {
        /// Bytes of the line.
        bytes: u64,
        /// Bytes of an element.
        element: u32,
    },
    /// Secure copies have one line.
    #[error("a secure copy has one line")]
    SecureLines,
    /// A 4-byte payload is asked to carry more.
    #[error("payload {0:#x} does not fit into 4 bytes")]
    Payload(u64),
    /// A packet does not fit its header.
    #[error(transparent)]
    Packet(#[from] PacketError),
}

type Packets = Result<Vec<Packet>, EncodeError>;

pub fn packets(command: &Command) -> Packets {
    match command {
        Command::Bind => {
            let object = vec![HOPPER_DMA_COPY_A];
            Ok(vec![Packet::new(Opcode::Incrementing, COPY_ENGINE_SUBCHANNEL, c86f::SET_OBJECT::OFFSET, object)?])
        }
        Command::WaitForIdle => Ok(vec![Packet::new(Opcode::Incrementing, 0, c86f::WFI::OFFSET, vec![1])?]),
        Command::Nop(words) => {
            let data = vec![0; usize::from(words.saturating_sub(1))];
            Ok(vec![Packet::new(Opcode::NonIncrementing, 0, c86f::NOP::OFFSET, data)?])
        }
        Command::Launch(launch) => launch_packets(launch),
    }
}

/// One incrementing packet from `method` on.
fn run(method: u16, data: Vec<u32>) -> Result<Packet, EncodeError> {
    Ok(Packet::new(Opcode::Incrementing, COPY_ENGINE_SUBCHANNEL, method, data)?)
}

/// Upper 25 and lower 32 bits.
fn split(address: u64) -> Result<[u32; 2], EncodeError> {
    if address >> ADDRESS_BITS != 0 {
        return Err(EncodeError::Address(address));
    }
    Ok([(address >> 32) as u32, address as u32])
}

fn launch_packets(launch: &Launch) -> Packets {
    let mut packets = Vec::new();
    if let Some(semaphore) = &launch.semaphore {
        packets.push(semaphore_packet(semaphore)?);
    }
    if let Some(transfer) = &launch.transfer {
        packets.extend(operation_packets(transfer)?);
        packets.extend(shape_packets(transfer)?);
    }
    packets.push(run(L::OFFSET, vec![launch_word(launch)])?);
    Ok(packets)
}

fn semaphore_packet(semaphore: &Semaphore) -> Result<Packet, EncodeError> {
    let [upper, lower] = split(semaphore.address)?;
    let mut data = vec![upper, lower, semaphore.payload as u32];
    let high = (semaphore.payload >> 32) as u32;
    if semaphore.wide {
        data.push(high);
    } else if high != 0 {
        return Err(EncodeError::Payload(semaphore.payload));
    }
    run(c8b5::SET_SEMAPHORE_A::OFFSET, data)
}

/// What says what is done: secure mode and pointers, or remap constants; then the offsets.
fn operation_packets(transfer: &Transfer) -> Packets {
    let mut packets = Vec::new();
    let mode = c8b5::SET_SECURE_COPY_MODE::OFFSET;
    match transfer.operation {
        Operation::Encrypt { tag, iv, .. } => {
            let pointers = [split(tag)?, split(iv)?].concat();
            packets.push(run(mode, vec![0])?);
            packets.push(run(c8b5::SET_ENCRYPT_AUTH_TAG_ADDR_UPPER::OFFSET, pointers)?);
        }
        Operation::Decrypt { tag, .. } => {
            packets.push(run(mode, vec![1])?);
            packets.push(run(c8b5::SET_DECRYPT_AUTH_TAG_COMPARE_ADDR_UPPER::OFFSET, split(tag)?.to_vec())?);
        }
        Operation::Copy { .. } => {}
        Operation::Fill { pattern, .. } => packets.push(remap_packet(pattern)?),
    }
    let to = split(transfer.destination.address)?;
    if let Some(source) = transfer.source() {
        packets.extend(aperture_packet(c8b5::SET_SRC_PHYS_MODE::OFFSET, source)?);
        packets.extend(aperture_packet(c8b5::SET_DST_PHYS_MODE::OFFSET, transfer.destination)?);
        packets.push(run(c8b5::OFFSET_IN_UPPER::OFFSET, [split(source.address)?, to].concat())?);
    } else {
        packets.extend(aperture_packet(c8b5::SET_DST_PHYS_MODE::OFFSET, transfer.destination)?);
        packets.push(run(c8b5::OFFSET_OUT_UPPER::OFFSET, to.to_vec())?);
    }
    Ok(packets)
}

fn aperture_packet(method: u16, location: Location) -> Result<Option<Packet>, EncodeError> {
    let target = match location.space {
        Space::Virtual => return Ok(None),
        Space::Physical(Aperture::LocalFb) => 0,
        Space::Physical(Aperture::CoherentSysmem) => 1,
        Space::Physical(Aperture::NonCoherentSysmem) => 2,
        Space::Physical(Aperture::Peer(peer)) => 3 | P::PEER_ID.put(u32::from(peer)),
    };
    run(method, vec![target]).map(Some)
}

/// Constants and components. The constants are the last registers before SET_REMAP_COMPONENTS, so one packet does.
fn remap_packet(pattern: Pattern) -> Result<Packet, EncodeError> {
    let (a, b) = (4, 5);
    let single = |size: u32, constant| {
        let components = R::DST_X.put(b) | R::COMPONENT_SIZE.put(size - 1);
        run(c8b5::SET_REMAP_CONST_B::OFFSET, vec![constant, components])
    };
    match pattern {
        Pattern::B1(v) => single(1, u32::from(v)),
        Pattern::B2(v) => single(2, u32::from(v)),
        Pattern::B4(v) => single(4, v),
        Pattern::B8(v) => {
            let components =
                R::DST_X.put(a) | R::DST_Y.put(b) | R::COMPONENT_SIZE.put(3) | R::NUM_DST_COMPONENTS.put(1);
            run(c8b5::SET_REMAP_CONST_A::OFFSET, vec![v as u32, (v >> 32) as u32, components])
        }
    }
}

/// LINE_LENGTH_IN; with several lines the pitches before it and the count behind it, in one packet.
fn shape_packets(transfer: &Transfer) -> Packets {
    let element = if let Operation::Fill { pattern, .. } = transfer.operation { pattern.width() } else { 1 };
    let bytes = transfer.line_bytes;
    let wrong = EncodeError::LineLength { bytes, element };
    let length = u32::try_from(bytes / u64::from(element)).map_err(|_| wrong.clone())?;
    if !bytes.is_multiple_of(u64::from(element)) {
        return Err(wrong);
    }
    let Some(lines) = transfer.lines else {
        return Ok(vec![run(c8b5::LINE_LENGTH_IN::OFFSET, vec![length])?]);
    };
    if transfer.is_secure() {
        return Err(EncodeError::SecureLines);
    }
    Ok(vec![run(c8b5::PITCH_IN::OFFSET, vec![lines.pitch_in, lines.pitch_out, length, lines.count])?])
}

fn launch_word(launch: &Launch) -> u32 {
    let interrupt = match launch.interrupt {
        Interrupt::None => 0,
        Interrupt::Blocking => 1,
        Interrupt::NonBlocking => 2,
    };
    let mut word = L::INTERRUPT_TYPE.put(interrupt);
    if let Some(flush) = launch.flush {
        word |= L::FLUSH_ENABLE.put(1) | L::FLUSH_TYPE.put(u32::from(flush == Flush::Gl));
    }
    if let Some(semaphore) = &launch.semaphore {
        word |= semaphore_bits(semaphore);
    }
    if let Some(transfer) = &launch.transfer {
        word |= transfer_bits(transfer);
    }
    word
}

fn semaphore_bits(semaphore: &Semaphore) -> u32 {
    let mut word = L::SEMAPHORE_TYPE.put(if semaphore.timestamp { 2 } else { 1 })
        | L::SEMAPHORE_PAYLOAD_SIZE.put(u32::from(semaphore.wide));
    if let Some((reduction, signed)) = semaphore.reduction {
        let code = match reduction {
            Reduction::Min => 0,
            Reduction::Max => 1,
            Reduction::Xor => 2,
            Reduction::And => 3,
            Reduction::Or => 4,
            Reduction::Add => 5,
            Reduction::Inc => 6,
            Reduction::Dec => 7,
        };
        word |= L::SEMAPHORE_REDUCTION.put(code)
            | L::SEMAPHORE_REDUCTION_SIGN.put(u32::from(!signed))
            | L::SEMAPHORE_REDUCTION_ENABLE.put(1);
    }
    word
}

fn transfer_bits(transfer: &Transfer) -> u32 {
    let physical = |location: Option<Location>| {
        u32::from(location.is_some_and(|location| matches!(location.space, Space::Physical(_))))
    };
    let copy_type = match transfer.operation {
        Operation::Encrypt { .. } | Operation::Decrypt { .. } => 1,
        Operation::Copy { side: Side::Unprotected, .. } | Operation::Fill { side: Side::Unprotected, .. } => 2,
        Operation::Copy { .. } | Operation::Fill { .. } => 0,
    };
    let order = match transfer.order {
        Order::Pipelined => 1,
        Order::NonPipelined => 2,
    };
    L::DATA_TRANSFER_TYPE.put(order)
        | L::SRC_MEMORY_LAYOUT.put(u32::from(transfer.source().is_some()))
        | L::DST_MEMORY_LAYOUT.put(1)
        | L::MULTI_LINE_ENABLE.put(u32::from(transfer.lines.is_some()))
        | L::REMAP_ENABLE.put(u32::from(transfer.source().is_none()))
        | L::SRC_TYPE.put(physical(transfer.source()))
        | L::DST_TYPE.put(physical(Some(transfer.destination)))
        | L::COPY_TYPE.put(copy_type)
}
