//! What came of a run.

use super::request::{Direction, Memory};
use crate::{
    config::MachineSpec,
    gpu::{key_rotation::Work, pce::Answers},
    growth::outcome,
    pcie::port::Traffic,
    sim::{Effect, SimulationError, Stall, UnitError},
    units::{Femtos, Frequency},
};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use thiserror::Error;

#[derive(Debug, Clone)]
pub struct CopyOutcome {
    /// Number of the GPU, from 0.
    pub gpu: usize,
    pub direction: Direction,
    pub bytes: u64,
    pub memory: Memory,
    /// When the call began.
    pub start: Femtos,
    /// When it was over.
    pub end: Femtos,
    /// When the call returned to its caller.
    pub returned: Femtos,
    /// From the first byte that a copy engine was to move to the last that it had moved: what a profiler calls the copy's time.
    pub device: Option<(Femtos, Femtos)>,
    /// When the first of its messages was where it belongs and had its verdict: by the GPU, or on the way back by the CPU or the
    /// user. None where nothing is sealed.
    pub first_verified: Option<Femtos>,
    /// GCM messages launched; 0 without confidential computing.
    pub messages: u64,
    /// Tags that were found right. What is opened and sealed anew on the path has two for a message.
    pub tags_verified: u64,
    pub tags_failed: u64,
    /// Whether the machine reports it complete: its call ended without an error. What lies at its destination may be wrong all the same.
    pub completed: bool,
    /// Whether it is complete, and all bytes have arrived and equal the source. The simulator compares them; no machine can.
    pub delivered: bool,
    /// Why not, if not.
    pub reason: Option<String>,
    /// Who worked and waited longest meanwhile.
    pub busiest: Busiest,
}

impl CopyOutcome {
    /// From the beginning of the call to the end of the copy.
    pub const fn time(&self) -> Femtos {
        self.end.saturating_sub(self.start)
    }

    /// 10^9 bytes per second of that time; 0 if the copy was not delivered or took no time.
    pub fn gb_per_s(&self) -> f64 {
        let Femtos(time) = self.time();
        if time == 0 || !self.delivered { 0.0 } else { self.bytes as f64 * 1e6 / time as f64 }
    }
}

/// Who worked longest while a copy was in progress, on its path, and who waited longest. What limits a copy is another question: a unit that is
/// always busy may be so because it is slow, or because it polls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Busiest {
    pub unit: String,
    /// `busy`, `copying` where the CPU's cipher only copies, `queued` behind a copy, `kernels` where it waits for kernels on its stream, or
    /// `idle` if nothing worked.
    pub state: String,
    /// Fraction of the copy's time that the unit was so, 0 to 1.
    pub fraction: f64,
    /// Who waited longest for something else than work.
    pub waited: Option<Waited>,
    /// Number, from 1, of the copy behind which this one waited in a queue, if that is what took most of its time.
    pub behind: Option<usize>,
}

impl Default for Busiest {
    fn default() -> Self {
        Self { unit: "none".into(), state: "idle".into(), fraction: 0.0, waited: None, behind: None }
    }
}

impl fmt::Display for Busiest {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} {} {:.0} %", self.unit, self.state, self.fraction * 100.0)?;
        if let Some(number) = self.behind {
            write!(to, " behind copy {number}")?;
        }
        match &self.waited {
            Some(Waited { unit, stall, fraction }) => write!(to, "; {unit} {stall} {:.0} %", fraction * 100.0),
            None => Ok(()),
        }
    }
}

/// A unit that waited while a copy was in progress.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Waited {
    pub unit: String,
    pub stall: String,
    /// Fraction of the copy's time, 0 to 1.
    pub fraction: f64,
}

/// One unit's cycles.
#[derive(Debug, Clone)]
pub struct UnitOutcome {
    pub name: String,
    pub clock: Frequency,
    /// All its cycles: busy, idle and stalls add up to them exactly.
    pub cycles: u64,
    /// Cycles in which it worked.
    pub busy: u64,
    /// Cycles in which it had nothing to do.
    pub idle: u64,
    /// Cycles by stall, those that occurred.
    pub stalls: Vec<(Stall, u64)>,
}

/// What has passed one queue or wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelOutcome {
    pub name: String,
    /// Digest of every event on it.
    pub digest: u64,
}

/// Traffic on the link, by the way it goes.
#[derive(Debug, Clone, Copy, Default)]
pub struct DirectionTraffic {
    pub h2d: Traffic,
    pub d2h: Traffic,
}

outcome! {
    /// The tag queue. What is the most of something is the highest that the gauges of waves stand at, of all units of the GPU together.
    pub struct TagQueueOutcome {
        /// Most entries at once.
        peak_entries: u64 = Peak,
        /// Most bytes of plaintext that waited for a verdict in the quarantine of all copy engines together.
        peak_quarantine_bytes: u64 = Peak,
        /// Least `tag_queue.quarantine` with which all would have been the same.
        least_quarantine_bytes: u64 = Peak,
        /// Longest time that unverified plaintext of a message was visible.
        longest_exposure: Femtos = Peak,
        /// The same, summed over all messages.
        total_exposure: Femtos = Sum,
        /// Most bytes of unverified plaintext that were visible at once.
        most_exposed_bytes: u64 = Peak,
        /// How long each byte was visible before the verdict of its message, summed over bytes: bytes times nanoseconds, rounded down.
        exposed_byte_ns: u64 = Sum,
        /// Messages whose plaintext had landed and was scrubbed because their tags differed.
        scrubbed: u64 = Count,
    }
}

/// A message to the GPU whose tags differed, in a run with faults: what was visible of it, and who had started on it. Dates are simulated time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FailedMessage {
    /// Its number among the launches of its LCE, counted from 1.
    pub message: u64,
    #[serde(rename = "verdict_ps", serialize_with = "date")]
    pub verdict: Femtos,
    /// When its first byte was visible, if one was by then.
    #[serde(rename = "first_visible_ps", serialize_with = "perhaps")]
    pub first_visible: Option<Femtos>,
    /// Bytes of it that were visible by then.
    pub visible_bytes: u64,
    /// Other messages of which something was visible and that had no verdict.
    pub other_visible_messages: u64,
    /// Their visible bytes.
    pub other_visible_bytes: u64,
    /// When its consumers had started: the semaphore of its push was released without waiting for the verdict.
    #[serde(rename = "consumers_started_ps", serialize_with = "perhaps")]
    pub consumers_started: Option<Femtos>,
    /// Other messages without a verdict whose consumers had started.
    pub other_started_messages: u64,
}

/// A date in ps.
fn date<S: Serializer>(time: &Femtos, to: S) -> Result<S::Ok, S::Error> {
    time.picos().serialize(to)
}

/// The same of one that there may not be.
fn perhaps<S: Serializer>(time: &Option<Femtos>, to: S) -> Result<S::Ok, S::Error> {
    time.map(Femtos::picos).serialize(to)
}

#[derive(Debug, Clone)]
pub struct GpuOutcome {
    pub link: DirectionTraffic,
    pub tag_queue: TagQueueOutcome,
    /// Messages to the GPU whose tags differed; only of runs with faults.
    pub failed_messages: Vec<FailedMessage>,
    /// What the keys have done: host to device, then device to host.
    pub key_work: [Work; 2],
    /// Their keys and IVs, where copies are sealed.
    pub keys: Option<[ChannelKey; 2]>,
    /// The steps of its session's program.
    pub steps: Vec<StepOutcome>,
}

/// What became of a step of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepOutcome {
    /// When the host began it.
    pub start: Femtos,
    /// When the host went on.
    pub returned: Femtos,
    /// Of what a kernel does: when it was on the GPU.
    pub computed: Option<(Femtos, Femtos)>,
}

/// What seals one direction of a channel: with it, everything of a run can be sealed and opened elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelKey {
    /// As many bytes as the engine's key has.
    pub key: Vec<u8>,
    /// What is XORed over the counters of an IV; as many bytes as the nonce has.
    pub iv_mask: Vec<u8>,
    /// IV of the first message. The next ones count up its first four bytes, little endian, below the mask.
    pub first_iv: Vec<u8>,
}

/// A run that came to its end, well or not.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub end: Femtos,
    /// Digest of every event on every queue and wire, hexadecimal. Equal for both kernels, any order and any data mode.
    pub event_digest: String,
    /// The queues and wires, by name.
    pub channels: Vec<ChannelOutcome>,
    pub copies: Vec<CopyOutcome>,
    pub units: Vec<UnitOutcome>,
    /// By GPU: its link, its tag queue, its keys.
    pub gpus: Vec<GpuOutcome>,
    /// What went wrong on the way, in words, in no particular order of time between units.
    pub incidents: Vec<String>,
    /// The errors that units have signalled, the first ones first.
    pub errors: Vec<UnitError>,
    /// What became of the injected faults, in the order in which they were asked for.
    pub faults: Vec<Effect>,
    /// Pairs of faults that undid each other, since both inverted the same bit: their places in the list.
    pub cancelled: Vec<(usize, usize)>,
    /// Ticks of units: the host's work.
    pub ticks: u64,
    /// Parameters that units are [bounded](crate::sim::Unit::bounded) by, and the most that any of these asked for.
    pub bounded: Vec<(&'static str, u64)>,
    /// What PCEs saw of their engines; none where that was not [asked for](super::Request::answers), or an engine does not tell.
    pub engines: Option<Vec<EngineAnswers>>,
}

/// What a PCE saw of its engine.
#[derive(Debug, Clone)]
pub struct EngineAnswers {
    pub gpu: usize,
    /// Whether it opens; else it seals.
    pub opens: bool,
    pub answers: Answers,
}

impl Outcome {
    /// Whether it is known that a machine would have done the same whose [bounds](crate::config::MachineSpec::take_bounds) are not the own ones: both have room
    /// for all that was asked for.
    pub fn is_that_under(&self, own: &[(&str, u64)], others: &[(&str, u64)]) -> bool {
        let holds = |name, room| self.bounded.iter().any(|&(of, asked)| of == name && asked <= room);
        own.iter().zip(others).all(|(&(name, own), &(_, other))| own == other || holds(name, own.min(other)))
    }

    /// Whether it is known that a machine would have done the same that differs in its [engine](MachineSpec::take_engine) alone: that gives all
    /// answers that were seen.
    pub fn is_that_with_engines_of(&self, machine: &MachineSpec) -> bool {
        self.engines.as_ref().is_some_and(|engines| {
            engines.iter().all(|EngineAnswers { gpu, opens, answers }| {
                let machine = machine.of_gpu(*gpu);
                answers.are_those_of(&if *opens { machine.opening() } else { machine.sealing() })
            })
        })
    }

    /// Injected faults that were activated, of how many.
    pub fn faults_struck(&self) -> (usize, usize) {
        (self.faults.iter().filter(|effect| matches!(effect, Effect::Struck { .. })).count(), self.faults.len())
    }
}

/// Why there is no outcome.
#[derive(Debug, Error)]
pub enum RunError {
    #[error("the machine cannot be built: {0}")]
    Build(String),
    #[error("no GPU {gpu}: the machine has {gpus}, counted from 0")]
    NoGpu { gpu: usize, gpus: usize },
    #[error("no fault point `{point}`; the nearest is `{nearest}` (`sealsim list --faults` names all)")]
    FaultPoint { point: String, nearest: String },
    #[error("`{point}` has no {what}; {remedy}")]
    FaultSelector { point: String, what: String, remedy: String },
    #[error("{0}")]
    Payload(String),
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}
