//! Configurations that no host can have.

use crate::{
    host::map,
    units::{Bytes, Cycles},
};
use thiserror::Error;

/// Why a host cannot be built as asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HostError {
    /// Staging is empty, not made of whole pages or too large for its part of the address map.
    #[error("a staging pool of {buffers} buffers of {buffer} each: whole pages, and {} in all at most", map::WINDOW)]
    Pool { buffer: Bytes, buffers: u32 },
    #[error("a message of {message}, in whole pages, does not fit into a staging buffer of {buffer}")]
    Message { message: Bytes, buffer: Bytes },
    #[error("a cipher of no threads can seal nothing")]
    NoThreads,
    #[error("{what} is zero: the run would never end")]
    NoRate { what: &'static str },
    /// A cost is beyond all reason.
    #[error("{what} of {cost}: more than {}", Cycles(HostError::MAX_CYCLES))]
    Cost { what: &'static str, cost: Cycles },
    #[error("copy {} has {bytes}: the longest has {}", copy + 1, map::WINDOW)]
    CopyTooLong { copy: usize, bytes: Bytes },
    #[error("step {} names stream {stream}: the highest is {}", step + 1, map::MAX_STREAMS - 1)]
    NoStream { step: usize, stream: u32 },
    #[error("step {} makes copy {}, which was not asked for", step + 1, copy + 1)]
    NoCopy { step: usize, copy: usize },
    #[error("copy {} is made {times} times: once is right", copy + 1)]
    MadeAgain { copy: usize, times: u32 },
    #[error("{copies} copies: at most {} run one after the other", map::MAX_COPIES)]
    TooManyCopies { copies: usize },
}

impl HostError {
    /// The highest cost of one step of the driver or the cipher: a quarter of an hour at 1 GHz.
    pub const MAX_CYCLES: u64 = 1 << 40;

    pub(super) const fn check_rate(what: &'static str, rate: u64) -> Result<(), Self> {
        if rate == 0 { Err(Self::NoRate { what }) } else { Ok(()) }
    }

    pub(super) const fn check_cost(what: &'static str, cost: Cycles) -> Result<(), Self> {
        if cost.0 > Self::MAX_CYCLES { Err(Self::Cost { what, cost }) } else { Ok(()) }
    }
}
