//! What the host does, step by step.

use crate::{
    host::{error::HostError, map::MAX_STREAMS},
    stream::{Computation, StreamTask},
    units::Femtos,
};

/// What the host does, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The stream, where the operation goes to one.
    pub stream: u32,
    pub operation: Operation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Copy {
        /// Its place among the copies of the request; none is made twice.
        copy: usize,
        /// Whether the call returns only when the copy is done, whatever the mode.
        blocking: bool,
    },
    /// Goes to the stream as it is.
    Task(StreamTask),
    /// Kernels that one call launches, one behind the other, as a graph.
    Graph {
        kernels: u32,
        /// How long each runs by itself.
        duration: Femtos,
        /// How long the call takes without confidential computing; none: as long as any launch.
        call: Option<Femtos>,
    },
    /// Holds the host until the stream has nothing left to do.
    Sync,
    /// Holds the host for a time: it works by itself.
    Host { duration: Femtos },
    /// Drives buffers out of the host's caches by writing this much other memory. It takes no simulated time.
    Flush { bytes: u64 },
}

/// When a step of the program was begun, and when the host went on; with the push of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StepDates {
    pub start: Femtos,
    pub returned: Femtos,
    pub push: Option<u32>,
}

impl Operation {
    /// A kernel that runs this long by itself.
    pub const fn kernel(duration: Femtos) -> Self {
        Self::Task(StreamTask::Compute(Computation::Kernel { duration }))
    }
}

/// The program that makes copies one after the other and waits for each.
pub(super) fn one_by_one(copies: usize) -> Vec<Step> {
    (0..copies).map(|copy| Step { stream: 0, operation: Operation::Copy { copy, blocking: true } }).collect()
}

/// How often each copy is made. Steps that name what is not there are refused, and so is a copy that is made again. One that is not made only
/// says which buffer it would have had.
pub(super) fn check(program: &[Step], copies: usize) -> Result<Vec<u32>, HostError> {
    let mut made = vec![0; copies];
    for (step, &Step { stream, operation }) in program.iter().enumerate() {
        if stream >= MAX_STREAMS {
            return Err(HostError::NoStream { step, stream });
        }
        if let Operation::Copy { copy, .. } = operation {
            *made.get_mut(copy).ok_or(HostError::NoCopy { step, copy })? += 1;
        }
    }
    match made.iter().position(|made| *made > 1) {
        Some(copy) => Err(HostError::MadeAgain { copy, times: made[copy] }),
        None => Ok(made),
    }
}
