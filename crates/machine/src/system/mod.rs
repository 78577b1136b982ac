//! Takes a resolved configuration, builds the machine, wires its units and runs it.
//!
//! This is the only place that knows who is wired to whom.

mod asked;
mod assembled;
mod busiest;
mod clocks;
mod copies;
mod data;
mod fabric;
mod faults;
mod fixed;
mod generator;
mod kept;
mod machine;
mod memory;
mod numbers;
mod onlooker;
mod outcome;
mod parts;
mod portion;
mod pushes;
mod queues;
mod request;
mod run;
mod secrets;
mod session;
mod shares;
mod simulate;
mod threads;
mod topology;
mod tree;
mod verdict;

pub use assembled::{Machine, ReplaceError};
#[doc(hidden)]
pub use data::planted;
pub use fabric::{FabricOutcome, FabricRequest, RankOutcome, fabric_fault_points, run_fabric};
pub use faults::{FaultPoint, counters, fault_points, registers};
pub use fixed::fixed;
pub use generator::Generator;
pub use memory::Received;
pub use onlooker::Onlooker;
pub use outcome::{
    Busiest, ChannelKey, ChannelOutcome, CopyOutcome, DirectionTraffic, EngineAnswers, FailedMessage, GpuOutcome,
    Outcome, RunError, StepOutcome, TagQueueOutcome, UnitOutcome, Waited,
};
pub use request::{
    Computation, CopyRequest, DataMode, Direction, Memory, Operation, Pages, PayloadSink, PayloadSource, Request, Step,
    StreamTask,
};
pub use run::{check, engine_of, outline, run, run_observed, run_on, run_with_listener};
pub use session::as_one_of;
pub use tree::link_of;
pub use verdict::{FaultClass, FaultVerdict};
