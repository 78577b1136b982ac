//! How much of a run is to be simulated.

use serde::{Deserialize, Serialize};
use std::{fmt, num::NonZero, str::FromStr};
use thiserror::Error;

/// What `--sample` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Sample {
    /// As much as narrow intervals need.
    Auto,
    /// So many messages of each copy at most, or turns of a loop.
    Most(NonZero<u64>),
}

/// Fewest messages or turns: six lengths are made of them.
pub const FEWEST: u64 = 32;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{text}` is neither `auto` nor a number of messages of at least {FEWEST}")]
pub struct SampleError {
    pub text: String,
}

impl FromStr for Sample {
    type Err = SampleError;

    fn from_str(text: &str) -> Result<Self, SampleError> {
        let wrong = || SampleError { text: text.chars().take(40).collect() };
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let most: NonZero<u64> = text.parse().map_err(|_| wrong())?;
        if most.get() < FEWEST { Err(wrong()) } else { Ok(Self::Most(most)) }
    }
}

impl TryFrom<String> for Sample {
    type Error = SampleError;

    fn try_from(text: String) -> Result<Self, SampleError> {
        text.parse()
    }
}

impl From<Sample> for String {
    fn from(sample: Sample) -> Self {
        sample.to_string()
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Most(most) => write!(f, "{most}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else_is() {
        for text in ["auto", "32", "100000"] {
            assert_eq!(text.parse::<Sample>().unwrap().to_string(), text);
        }
        for wrong in ["", "0", "31", "-1", "Auto", "1.5", "99999999999999999999999"] {
            assert!(wrong.parse::<Sample>().is_err(), "{wrong}");
        }
    }
}
