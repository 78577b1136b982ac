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
//! | next message | when the tag is valid: a lane has one state |
//!
//! With a AAD and t text blocks of 16 x `lanes` bytes, from the start of a message: first input 1 + 16 r, first output 2 + (16 + a) r,
//! last output 2 + (15 + a + t) r, tag 2 + (23 + a + t) r, if the text is there. Nothing else makes it wait: there is no FIFO and no credit.
//! [`datapath`] is the same with its registers.

pub mod datapath;

use super::flow::Dates;
use super::scheme::{Burst, Scheme};
use crate::gcm::message::{SealOpen, Shape};
use crate::gcm::spec::{LONGEST, SpecError, within};
use crate::gcm::timing::{Limit, Waits};
use crate::units::{Bytes, Cycles};
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
    #[schemars(title = "AEGIS states side by side")]
    pub lanes: u32,
    /// Latency of an AES round, and so of an update: six rounds per lane are side by side.
    #[schemars(title = "AEGIS round latency")]
    pub round: Cycles,
    /// Bytes of a tag: 16, if absent, or 32. The longer one is the same state in two sums, in the same cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "tag length")]
    pub tag: Option<Bytes>,
    /// From the tag to the verdict.
    #[schemars(title = "tag comparison")]
    pub compare: Cycles,
}

impl Aegis256Spec {
    /// Bytes of text that an update takes.
    #[must_use]
    pub const fn width(&self) -> u64 {
        16 * self.lanes as u64
    }

    /// Bytes of a tag.
    #[must_use]
    pub fn tag_bytes(&self) -> u64 {
        self.tag.map_or(16, |tag| tag.0)
    }

    /// Says whether such an engine can be built.
    ///
    /// # Errors
    /// The first field that is out of its range.
    pub fn check(&self) -> Result<(), SpecError> {
        if ![1, 2, 4].contains(&self.lanes) {
            return Err(SpecError::Lanes(self.lanes));
        }
        if ![16, 32].contains(&self.tag_bytes()) {
            return Err(SpecError::SchemeTag(self.tag_bytes()));
        }
        within("round", self.round.0, 1, LONGEST)?;
        within("compare", self.compare.0, 0, LONGEST)
    }
}

/// The timing.
#[derive(Debug, Clone)]
pub struct Aegis256Timing {
    width: u64,
    round: u64,
    compare: u64,
    /// The cycle in which the next update may begin.
    next: u64,
    /// The last cycle in which text was taken.
    last: Option<u64>,
    dates: Dates,
}

impl Aegis256Timing {
    /// An engine at rest in cycle 0.
    ///
    /// # Errors
    /// What [`Aegis256Spec::check`] says.
    pub fn new(spec: &Aegis256Spec) -> Result<Self, SpecError> {
        spec.check()?;
        let (width, round, compare) = (spec.width(), spec.round.0, spec.compare.0);
        Ok(Self { width, round, compare, next: 0, last: None, dates: Dates::default() })
    }
}

impl Scheme for Aegis256Timing {
    fn load_key(&self, at: u64) -> u64 {
        at
    }

    fn block_bytes(&self) -> u64 {
        self.width
    }

    fn passes_twice(&self, _: SealOpen) -> bool {
        false
    }

    fn begin(&mut self, at: u64, shape: &Shape) -> u64 {
        let mixed = at + 1 + FIRST_UPDATES * self.round;
        let aad = shape.aad_bytes.div_ceil(self.width);
        let first_input = (aad > 0).then_some(mixed);
        (self.next, self.last) = (mixed + aad * self.round, None);
        self.dates = Dates { first_input, ..Dates::default() };
        self.next
    }

    fn seed(&mut self, _: u64) {}

    fn take(&mut self, visible: u64, blocks: u64) -> Burst {
        let free = self.last.map_or(visible, |last| visible.max(last + 1));
        let first = free.max(self.next);
        let last = first + (blocks - 1) * self.round;
        (self.next, self.last) = (last + self.round, Some(last));
        self.dates.first_input.get_or_insert(first);
        self.dates.first_text.get_or_insert(first + 1);
        self.dates.last_text = Some(last + 1);
        // A state takes a block per cycle at best.
        let waited = first - free + (blocks - 1) * (self.round - 1);
        // Text that finds the block before it still in the state waits for nothing else.
        let limit = if waited > 0 || first > visible { Limit::Aes } else { Limit::Data };
        Burst { last, waits: Waits { aes: waited, ghash: 0 }, limit }
    }

    fn turn(&mut self) {}

    fn end(&mut self) -> Dates {
        self.dates.tag = self.next + LAST_UPDATES * self.round + 1;
        self.dates.verdict = self.dates.tag + self.compare;
        self.dates
    }
}

#[cfg(test)]
mod tests;
