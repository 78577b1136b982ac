//! What limited a copy: the parameters that may have, each with the part of the copy's time that it can account for at most.
//!
//! | sort of parameter | evidence | can account for |
//! | --- | --- | --- |
//! | rate | the unit is busy | as long as it is |
//! | depth | somebody stalls because that many are there | as long as the stall lasts |
//! | cost of each call, push or message | the unit that bears it is busy | its sum over the copy |
//! | latency | a depth that is filled for as long as it lasts; else nothing waits visibly | the stalls of these depths, or once for every message and push |
//!
//! A buffer that is full is no cause: the unit that does not empty it is, so a wait for room (`link_busy`, `hbm_busy`, `order`) names no parameter. Which
//! of the candidates binds is measured, by [relaxing](crate::explore::what_if) them; the order in which they stand here is only likely.

mod engine;
mod finder;
mod gpu;
mod host;
mod link;
mod queued;

use super::{
    outcome::{Candidate, Limiter},
    request::{Direction, Memory, Pages},
    shares::Shares,
};
use crate::{config::MachineSpec, units::Femtos};
use finder::Finder;
pub(super) use finder::{Names, Parameters};
pub(super) use queued::{Place, name_queues};

/// A copy whose limit is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject {
    pub direction: Direction,
    pub memory: Memory,
    pub bytes: u64,
    /// From its call to its end.
    pub time: Femtos,
    /// Launches that were handed to the GPU for it.
    pub messages: u64,
    /// State of its buffer when the run began.
    pub pages: Pages,
    /// Whether the program drives out the caches before it.
    pub flushed: bool,
}

/// Less of a copy's time than this no candidate is asked about: with twice the rate it could not gain two percent.
const LEAST: f64 = 0.039;

/// The parameters that may limit a copy, the likeliest first.
pub(super) fn candidates(
    machine: &MachineSpec,
    names: &Names,
    parameters: &Parameters,
    subject: Subject,
    shares: &Shares,
) -> Vec<Candidate> {
    let mut finder = Finder::new(machine, names, parameters, subject, shares);
    host::find(&mut finder);
    link::find(&mut finder);
    gpu::find(&mut finder);
    finder.candidates(LEAST)
}

fn none() -> Limiter {
    Limiter { unit: "none".into(), state: "idle".into(), fraction: 0.0, parameter: None, behind: None }
}

/// What the likeliest of them says.
pub(super) fn limiter(candidates: &[Candidate]) -> Limiter {
    candidates.first().map_or_else(none, |first| Limiter {
        unit: first.unit.clone(),
        state: first.state.clone(),
        fraction: first.fraction,
        parameter: Some(first.parameter.clone()),
        behind: None,
    })
}
