//! Sets of faults drawn at random, run on one machine: who caught what, after how long, and whether anything wrong was called right.
//!
//! ```text
//!  machine, copies --> a run with a counter at every fault point --> how often each is passed
//!                                |
//!                                +--> draw: sets of faults --> a run each, with the user's bytes and without --> judge --> Campaign
//! ```
//!
//! The judge trusts nothing that the machine says of itself: it keeps what every copy has left at its destination in memory of its own, and
//! compares that with the source. What the machine calls delivered and is not equal is a finding; so is a run whose verdict depends on the data
//! mode or the kernel, one that does not end, and one that panics.

mod draw;
mod image;
mod judge;

#[cfg(test)]
mod tests;

use crate::{
    config::MachineSpec,
    sim::{Control, Effect, Injection, Kernel},
    system::{self, Catch, DataMode, Outcome, RunError, counters},
    units::Femtos,
    validate::pool,
    workload::{
        Workload,
        collective::{CollectiveError, CollectiveTimes},
    },
};
use draw::Point;
use judge::Ran;
use serde::Serialize;
use thiserror::Error;

/// Bytes of all copies together, at most: every run keeps what they leave.
pub const MOST_BYTES: u64 = 64 << 20;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// The machine.
    pub machine: MachineSpec,
    /// What every run makes. Its seed and data mode are the campaign's to set.
    pub workload: Workload,
    /// How many sets are drawn.
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
    /// The sets, in order.
    pub sets: Vec<Judged>,
}

impl Campaign {
    /// Sets that gave something wrong.
    pub fn findings(&self) -> impl Iterator<Item = &Judged> {
        self.sets.iter().filter(|set| set.finding.is_some())
    }
}

/// What came of one set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// Its number, from 1.
    pub number: u64,
    /// The seed of its runs.
    pub seed: u64,
    /// Its faults, as `--inject` takes them.
    pub faults: Vec<String>,
    /// How many of them have struck.
    pub struck: usize,
    /// Pairs of them that cancelled each other.
    pub cancelled: usize,
    /// Copies that were delivered.
    pub delivered: usize,
    /// Who noticed.
    pub caught: Caught,
    /// From the first fault that struck to the end of the copy that failed, in ps; none if all were delivered or the run broke off.
    pub after_ps: Option<u64>,
    /// What is wrong, if anything was called right that is not.
    pub finding: Option<String>,
}

/// Who noticed a set of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Caught {
    /// No fault has struck.
    NotStruck,
    /// Nobody, and rightly: all copies were delivered as they were sent.
    Harmless,
    /// The link, which repaired it: all copies were delivered.
    Link,
    /// A unit that noted and dropped what it had not asked for: all copies were delivered.
    Dropped,
    /// A port of a link with IDE: a MAC was wrong.
    Mac,
    /// The tag queue of the GPU.
    TagQueue,
    /// The CPU, or the user beyond it.
    Host,
    /// A copy engine or its front end.
    CopyEngine,
    /// The driver.
    Driver,
    /// Nobody in the machine, but the comparison with the source.
    Comparison,
    /// Nobody: the machine waits for what never comes.
    Hang,
    /// A port: its partner broke the rules of flow control.
    FlowControl,
}

impl Caught {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 12] = [
        Self::NotStruck,
        Self::Harmless,
        Self::Link,
        Self::Dropped,
        Self::Mac,
        Self::TagQueue,
        Self::Host,
        Self::CopyEngine,
        Self::Driver,
        Self::Comparison,
        Self::Hang,
        Self::FlowControl,
    ];

    /// Who did, for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotStruck => "no fault struck",
            Self::Harmless => "nobody: harmless",
            Self::Link => "link, repaired",
            Self::Dropped => "a unit, dropped",
            Self::Mac => "IDE MAC",
            Self::TagQueue => "tag queue",
            Self::Host => "CPU or user, tag",
            Self::CopyEngine => "copy engine",
            Self::Driver => "driver",
            Self::Comparison => "comparison only",
            Self::Hang => "nobody: it hangs",
            Self::FlowControl => "flow control",
        }
    }

    const fn by(catch: Catch) -> Self {
        match catch {
            Catch::Mac => Self::Mac,
            Catch::TagQueue => Self::TagQueue,
            Catch::Host => Self::Host,
            Catch::CopyEngine => Self::CopyEngine,
            Catch::Driver | Catch::EarlierCopy => Self::Driver,
            Catch::Comparison => Self::Comparison,
        }
    }
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum CampaignError {
    /// The machine cannot be built, or fails without a fault.
    #[error("the machine fails without a fault: {0}")]
    Sound(RunError),
    /// The collectives of a workload cannot be run.
    #[error("{0}")]
    Collective(CollectiveError),
    /// A copy is not delivered without a fault.
    #[error("copy {number} is not delivered without a fault: {reason}")]
    NotDelivered {
        /// Which, from 1.
        number: usize,
        /// Why not.
        reason: String,
    },
    /// The copies are too long.
    #[error("{bytes} bytes of copies: every run keeps what they leave, so they may have {MOST_BYTES} together at most")]
    TooLong {
        /// Of all copies.
        bytes: u64,
    },
    /// It was interrupted.
    #[error("interrupted")]
    Stopped,
}

/// Runs a campaign on so many threads; the answer does not depend on how many. `observer` is asked now and then whether to go on, and `ended`
/// is told of every set that has been run.
///
/// # Errors
/// [`CampaignError`]; findings are no error.
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
    let collectives = collectives.map_err(|error| match observer() {
        Control::Stop => CampaignError::Stopped,
        Control::Continue | Control::Look => CampaignError::Collective(error),
    })?;
    let (sound, points) = count(question, &collectives, observer)?;
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
    Ok(Campaign { sound_ps: sound.end.picos(), points: points.len(), sets })
}

/// Runs the copies without a fault; gives how often each point is passed.
fn count(
    question: &Question,
    collectives: &CollectiveTimes,
    observer: &(dyn Fn() -> Control + Sync),
) -> Result<(Outcome, Vec<Point>), CampaignError> {
    let counters = counters(&question.machine).map_err(CampaignError::Sound)?;
    let run = Workload { seed: question.seed, injections: counters.clone(), ..question.workload.only_timing(u64::MAX) };
    let (request, _) = image::kept(&run, collectives).map_err(CampaignError::Sound)?;
    let outcome = system::run(&question.machine, request, &mut |_| observer());
    let outcome = outcome.map_err(|error| match observer() {
        Control::Stop => CampaignError::Stopped,
        Control::Continue | Control::Look => CampaignError::Sound(error),
    })?;
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
        match image::kept(&workload, collectives) {
            Ok((request, images)) => Ran::of(&question.machine, request, images, patience, observer),
            Err(error) => Ran::refused(&error),
        }
    };
    let other = if question.both_kernels { Kernel::EveryCycle } else { Kernel::Skip };
    let exact = run(DataMode::Exact, Kernel::Skip);
    let none = run(DataMode::None, other);
    if observer() == Control::Stop {
        return Err(CampaignError::Stopped);
    }
    Ok(judge::judged(number, drawn, question.machine.sealed_path(), &exact, &none))
}
