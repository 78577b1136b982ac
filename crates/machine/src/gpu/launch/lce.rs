//! The registers of an LCE, and how LAUNCH_DMA reads them.

use super::{
    Aperture, Flush, Interrupt, Launch, LaunchError, Lines, Location, Operation, Order, Pattern, Protection, Reduction,
    Rule, Semaphore, Side, Space, Transfer, check,
};
use crate::gpu::method::{
    Class,
    c8b5::{self, LAUNCH_DMA as L, SET_REMAP_COMPONENTS as R, SET_SRC_PHYS_MODE as P},
    find,
};
use std::collections::BTreeMap;

/// A logical copy engine, as far as methods reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lce {
    confidential: bool,
    registers: BTreeMap<u16, u32>,
}

/// SET_RENDER_ENABLE_C, MODE TRUE: launches do not depend on memory.
const RENDER_ALWAYS: u32 = 1;

const REDUCTIONS: [Reduction; 8] = [
    Reduction::Min,
    Reduction::Max,
    Reduction::Xor,
    Reduction::And,
    Reduction::Or,
    Reduction::Add,
    Reduction::Inc,
    Reduction::Dec,
];

impl Lce {
    /// An engine with no register written. `confidential` is whether confidential computing is on.
    pub fn new(confidential: bool) -> Self {
        Self { confidential, registers: BTreeMap::new() }
    }

    /// Takes one method. LAUNCH_DMA gives the order that it starts; all other methods are remembered.
    ///
    /// # Errors
    /// If the class has no such method, or LAUNCH_DMA breaks a [`Rule`]. The registers stay as they are.
    pub fn write(&mut self, method: u16, data: u32, protection: &Protection) -> Result<Option<Launch>, LaunchError> {
        let Some(row) = find(Class::CopyEngine, method) else {
            return Rule::KnownMethod.broken(format!("no method at {method:#x}"));
        };
        let stray = data & row.reserved();
        Rule::KnownMethod.require(stray == 0, || format!("{} has no field for bits {stray:#010x}", row.name))?;
        if method != L::OFFSET {
            self.registers.insert(method, data);
            return Ok(None);
        }
        let launch = self.launch(data)?;
        check::launch(&launch, self.confidential, protection)?;
        Ok(Some(launch))
    }

    fn launch(&self, word: u32) -> Result<Launch, LaunchError> {
        let unused = [(L::RESERVED_START_OF_COPY, Rule::ReservedValue), (L::RESERVED_ERR_CODE, Rule::ReservedValue)];
        let unmodelled = [(L::VPRMODE, Rule::Unmodelled), (L::MEMORY_SCRUB_ENABLE, Rule::Unmodelled)];
        for (field, rule) in unused.into_iter().chain(unmodelled) {
            rule.require(field.get(word) == 0, || format!("{} is {}", field.name, field.get(word)))?;
        }
        let render = self.registers.get(&c8b5::SET_RENDER_ENABLE_C::OFFSET).copied().unwrap_or(RENDER_ALWAYS);
        Rule::Unmodelled.require(render == RENDER_ALWAYS, || format!("SET_RENDER_ENABLE_C is {render}"))?;
        let order = match L::DATA_TRANSFER_TYPE.get(word) {
            0 => None,
            1 => Some(Order::Pipelined),
            2 => Some(Order::NonPipelined),
            _ => return Rule::ReservedValue.broken("DATA_TRANSFER_TYPE is 3"),
        };
        let flush = if L::FLUSH_TYPE.get(word) == 0 { Flush::Sys } else { Flush::Gl };
        let interrupt = match L::INTERRUPT_TYPE.get(word) {
            0 => Interrupt::None,
            1 => Interrupt::Blocking,
            2 => Interrupt::NonBlocking,
            _ => return Rule::ReservedValue.broken("INTERRUPT_TYPE is 3"),
        };
        Rule::ReservedValue.require(L::COPY_TYPE.get(word) != 3, || "COPY_TYPE is 3".into())?;
        Ok(Launch {
            transfer: order.map(|order| self.transfer(word, order)).transpose()?,
            flush: (L::FLUSH_ENABLE.get(word) != 0).then_some(flush),
            semaphore: self.semaphore(word)?,
            interrupt,
        })
    }

    fn transfer(&self, word: u32, order: Order) -> Result<Transfer, LaunchError> {
        let secure = L::COPY_TYPE.get(word) == 1;
        let (multi_line, remap) = (L::MULTI_LINE_ENABLE.get(word) != 0, L::REMAP_ENABLE.get(word) != 0);
        let block_linear = L::DST_MEMORY_LAYOUT.get(word) == 0 || (!remap && L::SRC_MEMORY_LAYOUT.get(word) == 0);
        if secure {
            let shape = || format!("MULTI_LINE {multi_line}, REMAP {remap}, block-linear {block_linear}");
            Rule::SecureShape.require(!multi_line && !remap && !block_linear, shape)?;
        }
        Rule::Unmodelled.require(!block_linear, || "a block-linear layout".into())?;
        let destination = self.location(
            (c8b5::OFFSET_OUT_UPPER::OFFSET, c8b5::OFFSET_OUT_LOWER::OFFSET),
            L::DST_TYPE.get(word),
            c8b5::SET_DST_PHYS_MODE::OFFSET,
        )?;
        let operation = match (secure, remap) {
            (true, _) => self.secure(word)?,
            (false, true) => Operation::Fill { pattern: self.pattern()?, side: side(word) },
            (false, false) => Operation::Copy { source: self.source(word)?, side: side(word) },
        };
        let element = if let Operation::Fill { pattern, .. } = operation { pattern.width() } else { 1 };
        let line_bytes = u64::from(self.read(c8b5::LINE_LENGTH_IN::OFFSET)?) * u64::from(element);
        Ok(Transfer { operation, destination, line_bytes, lines: self.lines(multi_line)?, order })
    }

    fn secure(&self, word: u32) -> Result<Operation, LaunchError> {
        let source = self.source(word)?;
        if self.read(c8b5::SET_SECURE_COPY_MODE::OFFSET)? == 0 {
            let tag = self.address(
                c8b5::SET_ENCRYPT_AUTH_TAG_ADDR_UPPER::OFFSET,
                c8b5::SET_ENCRYPT_AUTH_TAG_ADDR_LOWER::OFFSET,
            )?;
            let iv = self.address(c8b5::SET_ENCRYPT_IV_ADDR_UPPER::OFFSET, c8b5::SET_ENCRYPT_IV_ADDR_LOWER::OFFSET)?;
            return Ok(Operation::Encrypt { source, tag, iv });
        }
        let tag = self.address(
            c8b5::SET_DECRYPT_AUTH_TAG_COMPARE_ADDR_UPPER::OFFSET,
            c8b5::SET_DECRYPT_AUTH_TAG_COMPARE_ADDR_LOWER::OFFSET,
        )?;
        Ok(Operation::Decrypt { source, tag })
    }

    fn source(&self, word: u32) -> Result<Location, LaunchError> {
        let offset = (c8b5::OFFSET_IN_UPPER::OFFSET, c8b5::OFFSET_IN_LOWER::OFFSET);
        self.location(offset, L::SRC_TYPE.get(word), c8b5::SET_SRC_PHYS_MODE::OFFSET)
    }

    fn lines(&self, multi_line: bool) -> Result<Option<Lines>, LaunchError> {
        if !multi_line {
            return Ok(None);
        }
        Ok(Some(Lines {
            count: self.read(c8b5::LINE_COUNT::OFFSET)?,
            pitch_in: self.read(c8b5::PITCH_IN::OFFSET)?,
            pitch_out: self.read(c8b5::PITCH_OUT::OFFSET)?,
        }))
    }

    /// The remap unit as a fill: constants only, in the shapes that drivers use.
    fn pattern(&self) -> Result<Pattern, LaunchError> {
        let components = self.read(c8b5::SET_REMAP_COMPONENTS::OFFSET)?;
        let (size, count) = (R::COMPONENT_SIZE.get(components) + 1, R::NUM_DST_COMPONENTS.get(components) + 1);
        let constant = |selector| match selector {
            4 => self.read(c8b5::SET_REMAP_CONST_A::OFFSET),
            5 => self.read(c8b5::SET_REMAP_CONST_B::OFFSET),
            other => Rule::Unmodelled.broken(format!("remap component from selector {other}")),
        };
        let x = constant(R::DST_X.get(components))?;
        Ok(match (size, count) {
            (1, 1) => Pattern::B1(x as u8),
            (2, 1) => Pattern::B2(x as u16),
            (4, 1) => Pattern::B4(x),
            (4, 2) => Pattern::B8(u64::from(constant(R::DST_Y.get(components))?) << 32 | u64::from(x)),
            _ => return Rule::Unmodelled.broken(format!("remap of {count} components of {size} bytes")),
        })
    }

    fn semaphore(&self, word: u32) -> Result<Option<Semaphore>, LaunchError> {
        let timestamp = match L::SEMAPHORE_TYPE.get(word) {
            0 => return Ok(None),
            1 => false,
            2 => true,
            _ => return Rule::Unmodelled.broken("SEMAPHORE_TYPE is 3, a conditional interrupt"),
        };
        let wide = L::SEMAPHORE_PAYLOAD_SIZE.get(word) != 0;
        let upper = if wide { self.read(c8b5::SET_SEMAPHORE_PAYLOAD_UPPER::OFFSET)? } else { 0 };
        let lower = self.read(c8b5::SET_SEMAPHORE_PAYLOAD::OFFSET)?;
        Ok(Some(Semaphore {
            address: self.address(c8b5::SET_SEMAPHORE_A::OFFSET, c8b5::SET_SEMAPHORE_B::OFFSET)?,
            payload: u64::from(upper) << 32 | u64::from(lower),
            wide,
            timestamp,
            reduction: reduction(word)?,
        }))
    }

    fn location(&self, offset: (u16, u16), physical: u32, mode: u16) -> Result<Location, LaunchError> {
        let address = self.address(offset.0, offset.1)?;
        if physical == 0 {
            return Ok(Location::virt(address));
        }
        // Source and destination modes have the same fields.
        let mode = self.read(mode)?;
        for field in [P::FLA, P::BASIC_KIND] {
            Rule::Unmodelled.require(field.get(mode) == 0, || format!("{} is {}", field.name, field.get(mode)))?;
        }
        let aperture = match P::TARGET.get(mode) {
            0 => Aperture::LocalFb,
            1 => Aperture::CoherentSysmem,
            2 => Aperture::NonCoherentSysmem,
            _ => Aperture::Peer(P::PEER_ID.get(mode) as u8),
        };
        Ok(Location { address, space: Space::Physical(aperture) })
    }

    fn address(&self, upper: u16, lower: u16) -> Result<u64, LaunchError> {
        Ok(u64::from(self.read(upper)?) << 32 | u64::from(self.read(lower)?))
    }

    fn read(&self, method: u16) -> Result<u32, LaunchError> {
        self.registers.get(&method).copied().map_or_else(
            || {
                let name = find(Class::CopyEngine, method).map_or("?", |row| row.name);
                Rule::Written.broken(format!("{name} has not been written"))
            },
            Ok,
        )
    }
}

/// COPY_TYPE of a plain launch; the secure and the reserved type do not come here.
fn side(word: u32) -> Side {
    if L::COPY_TYPE.get(word) == 2 { Side::Unprotected } else { Side::Protected }
}

fn reduction(word: u32) -> Result<Option<(Reduction, bool)>, LaunchError> {
    if L::SEMAPHORE_REDUCTION_ENABLE.get(word) == 0 {
        return Ok(None);
    }
    let code = L::SEMAPHORE_REDUCTION.get(word);
    let signed = L::SEMAPHORE_REDUCTION_SIGN.get(word) == 0;
    match (REDUCTIONS.get(code as usize), code) {
        (Some(reduction), _) => Ok(Some((*reduction, signed))),
        (None, 0xA..=0xC) => Rule::Unmodelled.broken(format!("floating-point reduction {code:#x}")),
        (None, _) => Rule::ReservedValue.broken(format!("SEMAPHORE_REDUCTION is {code:#x}")),
    }
}
