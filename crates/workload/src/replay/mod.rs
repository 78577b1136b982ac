//! What a program would have taken on another machine: its profile, replayed.
//!
//! ```text
//!  Trace --> [ job ] --> Job: calls, operations, and what each of them waited for
//!                         |
//!  machine --> [ copies ] | a simulation for each distinct copy, or where they depend on each other
//!          --> [history ] | of all of them as one workload
//!          --> [ rules ]  | what other calls cost
//!                v        v
//!             [ play ] one pass over the calls --> Played --> figures, breakdown, advice, timeline
//! ```
//!
//! Nothing is stretched. The pass gives each call and each operation of the GPU new dates, out of what they waited for: their thread, their stream, the
//! call that submitted them, the cipher of their GPU's session. Host time between calls stays as it was, and so do kernels. `docs/replay.md` has the rules.

mod breakdown;
mod chakra;
mod collectives;
mod copies;
mod damage;
mod doubts;
mod error;
mod far;
mod figures;
mod history;
mod host_time;
mod import;
mod job;
mod latest;
mod long;
mod managed;
mod missing;
mod nccl;
mod node;
mod ops;
mod play;
mod probe;
mod question;
mod rules;
mod secure;
mod sequence;
mod start;
mod steps;
#[cfg(test)]
mod testing;
mod timeline;
mod told;
mod what_if;
mod written;

pub use breakdown::{Cause, Share, breakdown};
pub use chakra::write_chakra;
pub use copies::{CopyKey, CopyTime, Counts, End, Known, Simulator, times};
pub use doubts::doubts;
pub use error::ReplayError;
pub use figures::{Answer, DeviceCopies, Figures, HostCallFigures, Operation, costliest, operations};
pub use host_time::{StepTimeError, in_step_time};
pub use import::{ImportError, import};
pub use job::{Bind, Bound, Call, Job, KernelScale, Op, Session, WHOLE, Way, Work};
pub use node::{Node, RankFigures};
pub use ops::{Ops, Sparse};
pub use play::{Part, Played, Span, Times, play};
pub use question::{Baseline, Question};
pub use rules::{Causes, Rules};
pub use start::{Beginning, Start};
pub use steps::{StepFigures, Steps};
pub use timeline::{Mark, Owner, Row, Timeline, step_tracks};
pub use what_if::{Advice, CHANGES, Tried, WhatIf, advice, known_as, row, software, try_change, what_if};
pub use written::written;

pub type Ns = u64;
