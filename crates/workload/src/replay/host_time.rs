//! The host's time without its profiler: a profiler makes calls, and what is between them, longer than they are in the program alone.
//!
//! | | |
//! | --- | --- |
//! | given | what a step takes without the profiler, measured |
//! | found | one share for all of the host's own time, with which a step of the run without confidential computing takes that |
//! | unchanged | operations of the GPU, waits for them, copies that the host waits for |

use super::{
    Ns,
    error::ReplayError,
    job::{Job, WHOLE},
    node::Node,
    play::{Part, Times, play},
    question::{Copies, rules},
    rules::Causes,
    what_if::length,
};
use crate::config::Resolved;
use std::cmp::Ordering;
use thiserror::Error;

/// Why a job has no steps of that length.
#[derive(Debug, Error)]
pub enum StepTimeError {
    #[error("no steps were found in the profile")]
    NoSteps,
    /// The profiler would have made them shorter.
    #[error("a step takes {:.3} ms in the profile, which has its profiler's time as well", *.0 as f64 / 1e6)]
    Longer(Ns),
    #[error("with no time of the host at all a step would take {:.3} ms", *.0 as f64 / 1e6)]
    Shorter(Ns),
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

/// The job with as much of the host's own time as lets a step take `step` without confidential computing.
pub fn in_step_time(mut job: Job, machine: &Resolved, step: Ns) -> Result<Job, StepTimeError> {
    let count = job.steps.as_ref().map_or(0, super::Steps::count) as u64;
    if count == 0 {
        return Err(StepTimeError::NoSteps);
    }
    let mean = |job: &mut Job, ppm: u32| -> Result<Ns, ReplayError> {
        job.host_ppm = ppm;
        let part =
            Part { job, rules: rules(job, machine, Copies::Traced, Causes::default())?, times: Times::default() };
        let (played, _) = play(&[part], &Node::default());
        Ok(played.first().map_or(0, |played| length(job, played)) / count)
    };
    let (most, least) = (mean(&mut job, WHOLE)?, mean(&mut job, 0)?);
    match step.cmp(&most) {
        Ordering::Greater => return Err(StepTimeError::Longer(most)),
        _ if step < least => return Err(StepTimeError::Shorter(least)),
        _ => {}
    }
    let (mut low, mut high) = (0, WHOLE);
    while low < high {
        let middle = low + (high - low) / 2;
        if mean(&mut job, middle)? < step {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    job.host_ppm = low;
    job.assumed.push(format!(
        "The host's own time, in calls and between them, is {:.3} of that in the profile, so that a step takes what --step-time says: the rest is \
         taken to be the profiler's.",
        f64::from(low) / f64::from(WHOLE)
    ));
    Ok(job)
}
