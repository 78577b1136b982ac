//! `[gpuN:]DIR[:SIZE[:MEM]]`: one copy as the command line writes it.

use crate::{
    host::map,
    system::{Direction, Memory},
    units::{Bytes, QuantityError},
};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};
use thiserror::Error;

/// Largest copy: the machine's address map has no room for a larger one.
pub const MAX_BYTES: u64 = map::WINDOW.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Copy {
    /// Number of the GPU, from 0.
    #[serde(default, skip_serializing_if = "is_first")]
    pub gpu: usize,
    pub direction: Direction,
    pub bytes: u64,
    /// Kind of host memory. Copies within the device use none.
    pub memory: Memory,
}

const fn is_first(gpu: &usize) -> bool {
    *gpu == 0
}

/// One copy as written: the size may be left to the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyArgument {
    /// Number of the GPU, from 0.
    pub gpu: usize,
    pub direction: Direction,
    pub bytes: Option<u64>,
    pub memory: Memory,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CopyError {
    #[error("`{text}` is no GPU: they are counted from 0, for example gpu1:h2d:64MiB")]
    Gpu { text: String },
    #[error("`{text}` is no direction: use h2d, d2h or d2d, for example h2d:64MiB")]
    Direction { text: String },
    #[error("the size `{text}`: {reason}; write for example 64MiB, or a bare number of bytes")]
    Size { text: String, reason: String },
    #[error("a copy of 0 bytes: give it at least one")]
    Empty,
    #[error("the size `{text}` is more than {}, the largest copy", Bytes(MAX_BYTES))]
    TooLarge { text: String },
    #[error("`{text}` is no kind of host memory: use pinned or pageable, for example h2d:64MiB:pageable")]
    Memory { text: String },
    #[error(
        "`{text}`: a d2d copy stays within the device and uses no host memory; leave it out, for example d2d:64KiB"
    )]
    NoHostMemory { text: String },
    #[error("`{text}` is one part too many: a copy is [gpuN:]DIR[:SIZE[:MEM]], for example d2h:1GiB:pinned")]
    Surplus { text: String },
}

impl FromStr for CopyArgument {
    type Err = CopyError;

    fn from_str(text: &str) -> Result<Self, CopyError> {
        let (gpu, rest) = read_gpu(text)?;
        let mut parts = rest.split(':');
        let direction = read_direction(parts.next().unwrap_or_default())?;
        let bytes = parts.next().filter(|size| !size.is_empty()).map(read_size).transpose()?;
        let memory = match parts.next() {
            None => Memory::Pinned,
            Some(memory) if direction != Direction::D2d => read_memory(memory)?,
            Some(memory) => return Err(CopyError::NoHostMemory { text: memory.to_owned() }),
        };
        match parts.next() {
            Some(surplus) => Err(CopyError::Surplus { text: surplus.to_owned() }),
            None => Ok(Self { gpu, direction, bytes, memory }),
        }
    }
}

/// The number of the GPU, and what is behind it.
fn read_gpu(text: &str) -> Result<(usize, &str), CopyError> {
    let Some((number, rest)) = text.strip_prefix("gpu").and_then(|text| text.split_once(':')) else {
        return Ok((0, text));
    };
    let all_digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let gpu = number.parse().ok().filter(|_| all_digits);
    gpu.map(|gpu| (gpu, rest)).ok_or_else(|| CopyError::Gpu { text: format!("gpu{number}") })
}

fn read_direction(text: &str) -> Result<Direction, CopyError> {
    let known = [Direction::H2d, Direction::D2h, Direction::D2d];
    known
        .into_iter()
        .find(|one| direction_name(*one) == text)
        .ok_or_else(|| CopyError::Direction { text: text.to_owned() })
}

pub fn read_memory(text: &str) -> Result<Memory, CopyError> {
    let known = [Memory::Pinned, Memory::Pageable];
    known.into_iter().find(|one| memory_name(*one) == text).ok_or_else(|| CopyError::Memory { text: text.to_owned() })
}

/// Reads a size as the command line writes it: `64MiB`, or a bare number of bytes.
pub fn read_size(text: &str) -> Result<u64, CopyError> {
    let bare = text.chars().all(|c| c.is_ascii_digit());
    let read = if bare { format!("{text} B").parse::<Bytes>() } else { text.parse() };
    match read {
        Ok(Bytes(0)) => Err(CopyError::Empty),
        Ok(Bytes(bytes)) if bytes <= MAX_BYTES => Ok(bytes),
        Ok(_) => Err(CopyError::TooLarge { text: text.to_owned() }),
        Err(error) => Err(match error {
            QuantityError::TooLarge { .. } => CopyError::TooLarge { text: text.to_owned() },
            QuantityError::NotANumber { .. } if bare => CopyError::TooLarge { text: text.to_owned() },
            QuantityError::UnknownUnit { unit, known, .. } => {
                CopyError::Size { text: text.to_owned(), reason: format!("`{unit}` is none of the units {known}") }
            }
            QuantityError::NotWhole { .. } => {
                CopyError::Size { text: text.to_owned(), reason: "not a whole number of bytes".into() }
            }
            QuantityError::NotANumber { .. } | QuantityError::NoUnit { .. } => {
                CopyError::Size { text: text.to_owned(), reason: "not a number with a unit".into() }
            }
        }),
    }
}

/// `h2d`, `d2h` or `d2d`.
pub const fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::H2d => "h2d",
        Direction::D2h => "d2h",
        Direction::D2d => "d2d",
    }
}

/// `pinned` or `pageable`.
pub const fn memory_name(memory: Memory) -> &'static str {
    match memory {
        Memory::Pinned => "pinned",
        Memory::Pageable => "pageable",
    }
}

impl fmt::Display for Copy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { gpu, direction, bytes, memory } = *self;
        if gpu > 0 {
            write!(f, "gpu{gpu}:")?;
        }
        write!(f, "{}:{bytes}", direction_name(direction))?;
        if direction == Direction::D2d { Ok(()) } else { write!(f, ":{}", memory_name(memory)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<CopyArgument, CopyError> {
        text.parse()
    }

    #[test]
    fn size_and_memory_may_be_left_out() {
        let copy = |direction, bytes, memory| Ok(CopyArgument { gpu: 0, direction, bytes, memory });
        assert_eq!(read("h2d:64MiB"), copy(Direction::H2d, Some(64 << 20), Memory::Pinned));
        assert_eq!(read("d2h:4097:pageable"), copy(Direction::D2h, Some(4097), Memory::Pageable));
        assert_eq!(read("d2d"), copy(Direction::D2d, None, Memory::Pinned));
        assert_eq!(read("h2d::pageable"), copy(Direction::H2d, None, Memory::Pageable));
        assert_eq!(read("h2d:1.5 KiB:pinned"), copy(Direction::H2d, Some(1536), Memory::Pinned));
        let second = CopyArgument { gpu: 1, ..read("d2h:4097:pageable").unwrap() };
        assert_eq!(read("gpu1:d2h:4097:pageable"), Ok(second));
        assert_eq!(read("gpu0:d2d"), read("d2d"));
        assert_eq!(read("h2d:1TiB"), copy(Direction::H2d, Some(MAX_BYTES), Memory::Pinned));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, phrase) in [
            ("", "`` is no direction"),
            ("H2D:4", "`H2D` is no direction"),
            ("up:4MiB", "h2d, d2h or d2d"),
            ("gpu:h2d:4", "`gpu` is no GPU"),
            ("gpu+1:h2d:4", "`gpu+1` is no GPU"),
            ("gpu1", "`gpu1` is no direction"),
            ("gpu99999999999999999999:h2d:4", "is no GPU"),
            ("h2d:0", "0 bytes"),
            ("h2d:0MiB", "0 bytes"),
            ("h2d:4mib", "`mib` is none of the units B, KiB"),
            ("h2d:MiB", "not a number"),
            ("h2d:-4", "`-4`"),
            ("h2d:1e9", "`e9` is none"),
            ("h2d:0.5B", "whole number of bytes"),
            ("h2d:99999999TiB", "the largest copy"),
            ("h2d:2TiB", "1 TiB"),
            ("h2d:999999999999999999999999999999999999999999", "the largest copy"),
            ("h2d:4MiB:pined", "pinned or pageable"),
            ("h2d:4MiB:", "`` is no kind of host memory"),
            ("d2d:64KiB:pinned", "`pinned`: a d2d copy stays within the device"),
            ("d2d::pageable", "uses no host memory"),
            ("h2d:4MiB:pinned:twice", "`twice` is one part too many"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(phrase), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(gpu in 0..20usize, bytes in 1..=MAX_BYTES, pageable: bool) {
            let memory = if pageable { Memory::Pageable } else { Memory::Pinned };
            for (direction, memory) in [(Direction::D2h, memory), (Direction::D2d, Memory::Pinned)] {
                let copy = Copy { gpu, direction, bytes, memory };
                let again = CopyArgument { gpu, direction, bytes: Some(bytes), memory };
                prop_assert_eq!(read(&copy.to_string()), Ok(again));
            }
        }
    }
}
