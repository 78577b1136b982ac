//! Sets of faults drawn at random, run on one machine: which are harmless, detected (by which signal, after how long), silent, or hang.
//!
//! ```text
//!  machine, copies --> a run with a counter at every fault point --> how often each is passed
//!                                |
//!                                +--> draw: sets of faults --> a run each, with the user's bytes and without --> judge --> Campaign
//! ```
//!
//! Each set has a class. It follows from the errors that the machine's units have signalled and from an oracle outside the machine, which compares
//! memory with the source. A copy that only the oracle objects to is silent corruption.
//!
//! The checker trusts the simulator no more than the machine: it keeps what every copy has left at its destination in memory of its own. A *finding* is
//! a contradiction of the simulator: the oracle calls delivered what is not equal, a copy fails without a signal, the verdict depends on the data mode
//! or the kernel, a run does not end, or it panics.

mod draw;
mod image;
mod judge;
mod single;

#[cfg(test)]
mod tests;

use crate::{
    config::MachineSpec,
    pool,
    sim::{Control, Effect, Injection, Kernel, UnitError},
    system::{self, DataMode, FaultClass, Outcome, RunError, counters},
    units::Femtos,
    workload::{
        Workload,
        collective::{CollectiveError, CollectiveTimes},
    },
};
use draw::Point;
use judge::Ran;
use serde::Serialize;
pub use single::{Extent, PointTally, Single, Tally, clopper_pearson, single};
use thiserror::Error;

/// Bytes of all copies together, at most: every run keeps what they leave.
pub const MOST_BYTES: u64 = 64 << 20;

#[derive(Debug, Clone)]
pub struct Question {
    pub machine: MachineSpec,
    /// What every run makes. Its seed and data mode are the campaign's to set.
    pub workload: Workload,
    pub sets: u64,
    /// Most faults of a set; at least one.
    pub most: u32,
    /// Of the draw, of payloads and of the bits that are inverted.
    pub seed: u64,
    /// Whether the runs without the user's bytes are those of the `every-cycle` kernel.
    pub both_kernels: bool,
}

/// What came of all sets. Every field is described in `docs/results.md`.
#[derive(Debug, Clone, Serialize)]
pub struct Campaign {
    /// Simulated time of the copies without a fault, in ps.
    pub sound_ps: u64,
    /// Fault points that the copies pass, by kind of fault.
    pub points: usize,
    pub most: u32,
    pub classes: Vec<ClassShare>,
    pub sets: Vec<Judged>,
}

impl Campaign {
    fn new(sound_ps: u64, points: usize, most: u32, sets: Vec<Judged>) -> Self {
        let activated = sets.iter().filter(|set| set.class.is_some()).count() as u64;
        let share = |class| {
            let count = sets.iter().filter(|set| set.class == Some(class)).count() as u64;
            ClassShare { class, sets: count, bounds: wilson(count, activated) }
        };
        Self { sound_ps, points, most, classes: FaultClass::ALL.map(share).into(), sets }
    }

    /// Sets in which the simulator contradicts itself.
    pub fn findings(&self) -> impl Iterator<Item = &Judged> {
        self.sets.iter().filter(|set| set.finding.is_some())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClassShare {
    pub class: FaultClass,
    pub sets: u64,
    /// Wilson's 95 % interval of its share among sets of which a fault was activated; 0 to 1 if none was.
    pub bounds: [f64; 2],
}

/// Wilson's score interval at 95 % of a share of which `count` of `all` independent draws were seen (E. B. Wilson, JASA 22, 1927).
pub fn wilson(count: u64, all: u64) -> [f64; 2] {
    /// The 97.5 % quantile of the normal distribution.
    const Z: f64 = 1.959_963_984_540_054;
    if all == 0 {
        return [0.0, 1.0];
    }
    let (n, share) = (all as f64, count as f64 / all as f64);
    let scale = 1.0 + Z * Z / n;
    let middle = (share + Z * Z / (2.0 * n)) / scale;
    let half = Z / scale * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    [if count == 0 { 0.0 } else { middle - half }, if count == all { 1.0 } else { middle + half }]
}

/// The error that reported a set of faults.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Signal {
    /// Path of the unit that signalled it.
    pub unit: String,
    /// Its name, as in `faults.signals` of a run.
    pub signal: &'static str,
    pub corrected: bool,
}

impl Signal {
    fn of(error: UnitError) -> Self {
        let UnitError { unit, signalled } = error;
        Self { unit, signal: signalled.signal.name, corrected: signalled.signal.corrected }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// Its number, from 1.
    pub number: u64,
    pub seed: u64,
    /// Its faults, as `--inject` takes them.
    pub faults: Vec<String>,
    /// How many of them were activated, also in a run that hangs.
    pub struck: usize,
    /// Pairs of them that cancelled each other.
    pub cancelled: usize,
    pub delivered: usize,
    /// What they came to; none if none was activated.
    pub class: Option<FaultClass>,
    /// The error that detected them: the first uncorrected one, or the first of those that were repaired. Of class `detected` only.
    pub signal: Option<Signal>,
    /// From the activation of the first fault to that error, in ps.
    pub latency_ps: Option<u64>,
    /// How the simulator contradicts itself, if it does.
    pub finding: Option<String>,
}

#[derive(Debug, Error)]
pub enum CampaignError {
    #[error("the machine fails without a fault: {0}")]
    Sound(RunError),
    #[error("{0}")]
    Collective(CollectiveError),
    #[error("copy {number} is not delivered without a fault: {reason}")]
    NotDelivered {
        /// Which, from 1.
        number: usize,
        reason: String,
    },
    #[error("{bytes} bytes of copies: every run keeps what they leave, so they may have {MOST_BYTES} together at most")]
    TooLong { bytes: u64 },
    #[error(
        "the copy is of {messages} messages in one engine: registers are struck in copies of one, so ask for fewer bytes"
    )]
    Messages { messages: u64 },
    #[error("interrupted")]
    Stopped,
}

/// Runs a campaign on so many threads; the answer does not depend on how many. `observer` is asked now and then whether to go on, and `ended`
/// gets every set that has been run.
pub fn campaign(
    question: &Question,
    threads: usize,
    observer: &(dyn Fn() -> Control + Sync),
    ended: &(dyn Fn() + Sync),
) -> Result<Campaign, CampaignError> {
    let bytes = question.workload.bytes();
    if bytes > MOST_BYTES {
        return Err(CampaignError::TooLong { bytes });
    }
    let collectives = question.workload.collectives(&question.machine, &mut |_| observer());
    let collectives = collectives.map_err(|error| or_stopped(CampaignError::Collective(error), observer))?;
    let (sound, points) = count(question, &collectives, Vec::new(), observer)?;
    let numbers: Vec<_> = (1..=question.sets).collect();
    let sets = pool::map(
        &numbers,
        threads,
        |_| 1,
        |&number| {
            let judged = judge_set(question, &collectives, (&points, sound.end), number, observer)?;
            ended();
            Ok(judged)
        },
    )?;
    Ok(Campaign::new(sound.end.picos(), points.len(), question.most, sets))
}

fn or_stopped(error: CampaignError, observer: &dyn Fn() -> Control) -> CampaignError {
    if observer() == Control::Stop { CampaignError::Stopped } else { error }
}

/// Runs the copies without a fault; gives how often each point, and each of some `further` ones, is passed.
fn count(
    question: &Question,
    collectives: &CollectiveTimes,
    further: Vec<Injection>,
    observer: &(dyn Fn() -> Control + Sync),
) -> Result<(Outcome, Vec<Point>), CampaignError> {
    let mut counters = counters(&question.machine).map_err(CampaignError::Sound)?;
    counters.extend(further);
    let run = Workload { seed: question.seed, injections: counters.clone(), ..question.workload.only_timing(u64::MAX) };
    let (request, _) = image::kept(&run, collectives).map_err(CampaignError::Sound)?;
    let outcome = system::run(&question.machine, request, &mut |_| observer());
    let outcome = outcome.map_err(|error| or_stopped(CampaignError::Sound(error), observer))?;
    if let Some((number, copy)) = (1..).zip(&outcome.copies).find(|(_, copy)| !copy.delivered) {
        let reason = copy.reason.clone().unwrap_or_default();
        return Err(CampaignError::NotDelivered { number, reason });
    }
    let passed = outcome.faults.iter().map(|effect| match effect {
        Effect::Waiting { passed } => *passed,
        Effect::Missed | Effect::Struck { .. } => 0,
    });
    let points = counters.into_iter().zip(passed).filter(|(_, passed)| *passed > 0);
    let points = points.map(|(Injection { place, kind, .. }, passed)| Point { place, kind, passed }).collect();
    Ok((outcome, points))
}

/// Simulated time after which a run counts as one that does not end.
fn patience(question: &Question, sound: Femtos) -> Femtos {
    let timeout = question.machine.copy_engine.completion_timeout;
    let slack = Femtos(10_000_000_000_000);
    sound.saturating_add(timeout).saturating_mul(10).saturating_add(slack)
}

/// Draws a set, runs it in both data modes, and judges it.
fn judge_set(
    question: &Question,
    collectives: &CollectiveTimes,
    (points, sound): (&[Point], Femtos),
    number: u64,
    observer: &(dyn Fn() -> Control + Sync),
) -> Result<Judged, CampaignError> {
    let drawn = draw::set(points, question.most, question.seed, number);
    let patience = patience(question, sound);
    let run = |data, kernel| {
        let injections = drawn.injections.clone();
        let workload = Workload { data, kernel, seed: drawn.seed, injections, ..question.workload.clone() };
        Ran::of(&question.machine, (&workload, collectives), patience, observer)
    };
    let other = if question.both_kernels { Kernel::EveryCycle } else { Kernel::Skip };
    let exact = run(DataMode::Exact, Kernel::Skip);
    let none = run(DataMode::None, other);
    if observer() == Control::Stop {
        return Err(CampaignError::Stopped);
    }
    Ok(judge::judged(number, drawn, question.machine.sealed_path(), &exact, &none))
}
