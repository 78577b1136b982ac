//! Takes a resolved configuration, builds the machine, wires its units and runs it.
//!
//! This is the only place that knows who is wired to whom.

mod outcome;
mod request;

pub use outcome::{CopyOutcome, DirectionTraffic, Limiter, Outcome, RunError, TagQueueOutcome, UnitOutcome};
pub use request::{CopyRequest, DataMode, Direction, Memory, PayloadSink, PayloadSource, Request};
