//! What can be asked of any family: its multiplier, its chains, whether it can be built.

use super::{GhashSpec, LONGEST, MultiplierSpec, SpecError, within};

/// Bytes of a block and of a tag.
const BLOCK: u64 = 16;

impl GhashSpec {
    pub const fn multiplier(&self) -> &MultiplierSpec {
        match self {
            Self::Serial { multiplier, .. }
            | Self::Interleaved { multiplier, .. }
            | Self::Aggregated { multiplier, .. }
            | Self::Folded { multiplier, .. } => multiplier,
            Self::Segmented { unit, .. } | Self::MessageParallel { unit, .. } | Self::SubChains { unit, .. } => {
                unit.multiplier()
            }
        }
    }

    /// The same, to change it.
    pub const fn multiplier_mut(&mut self) -> &mut MultiplierSpec {
        match self {
            Self::Serial { multiplier, .. }
            | Self::Interleaved { multiplier, .. }
            | Self::Aggregated { multiplier, .. }
            | Self::Folded { multiplier, .. } => multiplier,
            Self::Segmented { unit, .. } | Self::MessageParallel { unit, .. } | Self::SubChains { unit, .. } => {
                unit.multiplier_mut()
            }
        }
    }

    /// Messages that may be hashed at the same time.
    pub const fn messages(&self) -> u32 {
        match self {
            Self::MessageParallel { units, .. } => *units,
            _ => 1,
        }
    }

    pub const fn tags(&self) -> u32 {
        match self {
            Self::SubChains { chains, .. } => *chains,
            _ => 1,
        }
    }

    /// Blocks of a chunk, which is what one chain takes before the next one takes over; none where there is one chain.
    pub const fn chunk_blocks(&self) -> Option<u64> {
        match self {
            Self::SubChains { chains: 2.., chunk, .. } => Some(chunk.0 / BLOCK),
            _ => None,
        }
    }

    /// Whether a message's tag is GCM's own, so that any other AES-GCM can check it.
    pub const fn wire_compatible(&self) -> bool {
        self.tags() == 1
    }

    /// Its name in a configuration.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Serial { .. } => "serial",
            Self::Interleaved { .. } => "interleaved",
            Self::Aggregated { .. } => "aggregated",
            Self::Folded { .. } => "folded",
            Self::Segmented { .. } => "segmented",
            Self::MessageParallel { .. } => "message_parallel",
            Self::SubChains { .. } => "sub_chains",
        }
    }

    /// Says whether such a unit can be built.
    pub fn check(&self) -> Result<(), SpecError> {
        match self {
            Self::Serial { multiplier, first_block } => {
                within("ghash.first_block", first_block.unwrap_or_default().0, 0, LONGEST)?;
                multiplier.check()
            }
            Self::Interleaved { ways, multipliers, multiplier, .. } => {
                within("ghash.ways", (*ways).into(), 1, 1024)?;
                within("ghash.multipliers", (*multipliers).into(), 1, 256)?;
                multiplier.check()
            }
            Self::Aggregated { width, groups, multiplier } => {
                within("ghash.width", (*width).into(), 1, 256)?;
                within("ghash.groups", (*groups).into(), 1, 256)?;
                multiplier.check()
            }
            Self::Folded { powers, fold, multiplier } => {
                within("ghash.powers", (*powers).into(), 1, 4096)?;
                within("ghash.fold", fold.0, 0, LONGEST)?;
                multiplier.check()
            }
            Self::Segmented { units, segment, ports, buffer, unit } => {
                within("ghash.units", (*units).into(), 1, 64)?;
                within("ghash.segment", (*segment).into(), 2, 1 << 24)?;
                check_buffer(*ports, *buffer)?;
                self.check_inner(unit)
            }
            Self::MessageParallel { units, ports, buffer, unit } => {
                within("ghash.units", (*units).into(), 1, 64)?;
                check_buffer(*ports, *buffer)?;
                self.check_inner(unit)
            }
            Self::SubChains { chains, chunk, ports, buffer, unit } => {
                within("ghash.chains", (*chains).into(), 1, 64)?;
                if chunk.0 < BLOCK {
                    return Err(SpecError::ChunkBelowTag { chunk: chunk.0, tag: BLOCK });
                }
                if !chunk.0.is_multiple_of(BLOCK) {
                    return Err(SpecError::ChunkNotInBlocks { chunk: chunk.0, block: BLOCK });
                }
                within("ghash.chunk", chunk.0, BLOCK, 1 << 32)?;
                check_buffer(*ports, *buffer)?;
                self.check_inner(unit)
            }
        }
    }

    /// Whether it hashes one message at a time, to one value.
    pub const fn is_single(&self) -> bool {
        !matches!(self, Self::MessageParallel { .. } | Self::SubChains { .. })
    }

    /// Says whether it can be the POLYVAL of a scheme.
    pub fn check_polyval(&self, scheme: &'static str) -> Result<(), SpecError> {
        if !self.is_single() {
            let excludes = "`polyval` with several tags per message, or for several messages at a time";
            return Err(SpecError::Apart { what: scheme, excludes });
        }
        self.check()
    }

    fn check_inner(&self, unit: &Self) -> Result<(), SpecError> {
        if matches!(unit, Self::Segmented { .. }) || !unit.is_single() {
            return Err(SpecError::Nested { outer: self.name(), inner: unit.name() });
        }
        unit.check()
    }
}

fn check_buffer(ports: u32, buffer: u32) -> Result<(), SpecError> {
    within("ghash.ports", ports.into(), 1, 256)?;
    within("ghash.buffer", buffer.into(), 1, 1 << 16)?;
    if buffer < ports {
        return Err(SpecError::BufferBelowPorts { buffer, ports });
    }
    Ok(())
}
