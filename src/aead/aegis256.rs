//! AEGIS-256 and AEGIS-256X in hardware: a state of six AES blocks per lane that is cipher and authenticator at once.
//!
//! ```text
//!             lane 0 ... D - 1:   S0    S1    S2    S3    S4    S5
//!                                  |     |     |     |     |     |
//!    +-----------------------------|-----|-----|-----|-----|-----|---+
//!    |   M --(+)                   v     v     v     v     v     v   |
//!    |        +--> [AES round x 6, each of its left neighbour's block, r cycles] --+
//!    |                  (S5 to S0) ^                                 |             |
//!    +-------------------------------------------------------------- | <-----------+
//!   text ---->(+) S1 ^ S4 ^ S5 ^ (S2 & S3) ---> [register] ----> text, one cycle later
//! ```
//!
//! | | |
//! | --- | --- |
//! | accepts | 16 x `lanes` bytes of AAD or text per `round` cycles: an update must end before the next begins, and needs the text |
//! | start | a cycle to load key, nonce and constants; 16 updates |
//! | output | one cycle after a block is taken |
//! | tail | 7 updates after the last one of the text, the XOR of all blocks into a register: 8 x `round` cycles from the last output to the tag |
//! | keystream ahead | none: each update takes the text before |
//! | key set-up | none |
//! | next message | when the tag stands: a lane has one state |
//!
//! With a AAD and t text blocks of 16 x `lanes` bytes, from the start of a message: first input 1 + 16 r, first output 2 + (16 + a) r,
//! last output 2 + (15 + a + t) r, tag 2 + (23 + a + t) r. Nothing else makes it wait: there is no FIFO and no credit. [`datapath`] is the same
//! with its registers.

pub mod datapath;

use super::flow::Dates;
use crate::gcm::message::Shape;
use crate::gcm::spec::{LONGEST, SpecError, within};
use crate::units::Cycles;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Updates that mix key and nonce into the state.
pub const FIRST_UPDATES: u64 = 16;
/// Updates that mix the lengths into it.
pub const LAST_UPDATES: u64 = 7;

/// An AEGIS-256 engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Aegis256Spec {
    /// States side by side: 1 is AEGIS-256, 2 and 4 are AEGIS-256X2 and AEGIS-256X4.
    pub lanes: u32,
    /// Latency of an AES round, and so of an update: six rounds per lane stand side by side.
    pub round: Cycles,
    /// From the tag to the verdict.
    pub compare: Cycles,
}

impl Aegis256Spec {
    /// Says whether such an engine can be built.
    ///
    /// # Errors
    /// The first field that is out of its range.
    pub fn check(&self) -> Result<(), SpecError> {
        if ![1, 2, 4].contains(&self.lanes) {
            return Err(SpecError::Lanes(self.lanes));
        }
        within("round", self.round.0, 1, LONGEST)?;
        within("compare", self.compare.0, 0, LONGEST)
    }
}

/// The clockwork.
#[derive(Debug, Clone)]
pub struct Timing {
    width: u64,
    round: u64,
    compare: u64,
}

impl Timing {
    /// An engine at rest in cycle 0.
    ///
    /// # Errors
    /// What [`Aegis256Spec::check`] says.
    pub fn new(spec: &Aegis256Spec) -> Result<Self, SpecError> {
        spec.check()?;
        Ok(Self { width: 16 * u64::from(spec.lanes), round: spec.round.0, compare: spec.compare.0 })
    }

    /// A message that starts in cycle `at`, its input always there and its output always taken.
    #[must_use]
    pub const fn message(&self, at: u64, shape: &Shape) -> Dates {
        let (aad, text) = (shape.aad_bytes.div_ceil(self.width), shape.text_bytes.div_ceil(self.width));
        // The cycle in which update n of the message begins.
        let first = at + 1;
        let absorbed = FIRST_UPDATES + aad;
        let last = absorbed + text + LAST_UPDATES;
        let tag = first + last * self.round + 1;
        let any = aad + text > 0;
        Dates {
            first_input: if any { Some(first + FIRST_UPDATES * self.round) } else { None },
            first_text: if text > 0 { Some(first + absorbed * self.round + 1) } else { None },
            last_text: if text > 0 { Some(first + (absorbed + text - 1) * self.round + 1) } else { None },
            tag,
            verdict: tag + self.compare,
        }
    }
}

#[cfg(test)]
mod tests;
