//! What the host of a workload does, in its order, with streams, events and buffers by name.
//!
//! A workload file is unrolled to this, a manifest holds it, and the machine gets it with numbers instead of names.

use super::collective::{CollectiveCall, CollectiveTimes};
use crate::{
    host::map,
    stream::{Computation, StreamTask},
    system::{Operation, Pages, Step},
    units::Femtos,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Most steps of a workload: eight for each copy of the longest.
pub const MAX_STEPS: usize = 8 * map::MAX_COPIES;

/// How long all kernels of a workload may last together: half of what simulated time can count.
pub const MAX_KERNELS: Femtos = Femtos(9_000 * 1_000_000_000_000_000);

/// One step. The n-th copy among them makes the n-th copy of the workload.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum WorkloadStep {
    Copy {
        /// Number of the GPU, from 0.
        #[serde(default, skip_serializing_if = "is_first")]
        gpu: usize,
        stream: String,
        /// The host's buffer; without a name it is one of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        buffer: Option<String>,
        /// State of the buffer when the run begins.
        pages: Pages,
        /// Whether the call returns only when the copy is done, whatever the mode.
        blocking: bool,
    },
    Kernel {
        #[serde(default, skip_serializing_if = "is_first")]
        gpu: usize,
        stream: String,
        /// How long it runs by itself.
        duration: Femtos,
    },
    /// Launches kernels with one call: more than one are a graph.
    Launch {
        #[serde(default, skip_serializing_if = "is_first")]
        gpu: usize,
        stream: String,
        kernels: u32,
        /// How long each runs by itself.
        duration: Femtos,
        /// How long the call takes without confidential computing; none: as the machine's table of calls says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Femtos>,
    },
    /// The host works by itself.
    Host {
        /// Number of the GPU whose session waits, from 0.
        #[serde(default, skip_serializing_if = "is_first")]
        gpu: usize,
        duration: Femtos,
    },
    /// What follows is done by another thread of the host.
    Thread { name: String },
    Collective {
        #[serde(default, skip_serializing_if = "is_first")]
        gpu: usize,
        stream: String,
        call: CollectiveCall,
    },
    /// Sends to a GPU that no fabric reaches, or receives from it: the stream waits for the network.
    Network {
        #[serde(default, skip_serializing_if = "is_first")]
        gpu: usize,
        stream: String,
        duration: Femtos,
    },
    /// Notes on the stream that an event has come when all before it is done.
    Record {
        #[serde(default, skip_serializing_if = "is_first")]
        gpu: usize,
        stream: String,
        event: String,
    },
    /// Holds the stream until an event has come.
    Wait {
        #[serde(default, skip_serializing_if = "is_first")]
        gpu: usize,
        stream: String,
        event: String,
    },
    /// Holds the host until a stream has nothing left to do; without a name, all streams.
    Sync {
        #[serde(default, skip_serializing_if = "is_first")]
        gpu: usize,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stream: Option<String>,
    },
}

/// A step that is invalid after those before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepFault {
    /// Its place, from 0.
    pub step: usize,
    pub field: &'static str,
    pub what: String,
    pub remedy: String,
}

const fn is_first(gpu: &usize) -> bool {
    *gpu == 0
}

impl WorkloadStep {
    pub const fn gpu(&self) -> usize {
        match self {
            Self::Copy { gpu, .. }
            | Self::Kernel { gpu, .. }
            | Self::Launch { gpu, .. }
            | Self::Host { gpu, .. }
            | Self::Collective { gpu, .. }
            | Self::Network { gpu, .. }
            | Self::Record { gpu, .. }
            | Self::Wait { gpu, .. }
            | Self::Sync { gpu, .. } => *gpu,
            Self::Thread { .. } => 0,
        }
    }

    pub fn stream(&self) -> Option<&str> {
        match self {
            Self::Copy { stream, .. }
            | Self::Kernel { stream, .. }
            | Self::Launch { stream, .. }
            | Self::Collective { stream, .. }
            | Self::Network { stream, .. }
            | Self::Record { stream, .. }
            | Self::Wait { stream, .. } => Some(stream),
            Self::Sync { stream, .. } => stream.as_deref(),
            Self::Host { .. } | Self::Thread { .. } => None,
        }
    }
}

/// `warm`, `cold` or `fresh`.
pub const fn pages_name(pages: Pages) -> &'static str {
    match pages {
        Pages::Warm => "warm",
        Pages::Cold => "cold",
        Pages::Fresh => "fresh",
    }
}

/// What the steps before one have made known.
#[derive(Default)]
struct Known<'s> {
    streams: HashMap<usize, HashSet<&'s str>>,
    events: HashMap<usize, HashSet<&'s str>>,
    buffers: HashMap<&'s str, Pages>,
    kernels: u128,
    searches: usize,
}

pub fn check(program: &[WorkloadStep]) -> Vec<StepFault> {
    let mut known = Known::default();
    let faults = program.iter().enumerate().filter_map(|(step, one)| {
        let (field, what, remedy) = known.refuse(one)?;
        Some(StepFault { step, field, what, remedy })
    });
    faults.collect()
}

impl<'s> Known<'s> {
    /// Takes note of a step. If it is invalid: the field, what is wrong, what to do.
    fn refuse(&mut self, step: &'s WorkloadStep) -> Option<(&'static str, String, String)> {
        if !self.takes_stream(step) {
            let most = map::MAX_STREAMS;
            let what = format!("stream `{}` is one too many: there are at most {most}", step.stream().unwrap_or(""));
            return Some(("stream", what, "let several of them share a stream".into()));
        }
        let gpu = step.gpu();
        match step {
            WorkloadStep::Copy { buffer: Some(buffer), pages, .. } => {
                let before = *self.buffers.entry(buffer).or_insert(*pages);
                (before != *pages).then(|| {
                    let (one, other) = (pages_name(*pages), pages_name(before));
                    let what = format!("buffer `{buffer}` cannot be {one}: an earlier copy says that it is {other}");
                    ("pages", what, "a buffer has one state when the run begins: give it at its first copy".into())
                })
            }
            WorkloadStep::Kernel { duration, .. }
            | WorkloadStep::Network { duration, .. }
            | WorkloadStep::Host { duration, .. } => self.refuse_kernel(*duration),
            WorkloadStep::Launch { kernels, duration, .. } => {
                self.refuse_kernel(Femtos(duration.0.saturating_mul(u64::from(*kernels))))
            }
            WorkloadStep::Collective { call, .. } => call.refuse(),
            WorkloadStep::Record { event, .. } => {
                self.events.entry(gpu).or_default().insert(event);
                None
            }
            WorkloadStep::Wait { event, .. } => {
                let told = ("event", "records the event", "record it before, in the order of the host");
                missing(&mut self.searches, self.events.get(&gpu), (gpu, event), told)
            }
            WorkloadStep::Sync { stream: Some(stream), .. } => {
                let told = ("stream", "goes to the stream", "leave out `stream` to wait for all streams");
                missing(&mut self.searches, self.streams.get(&gpu), (gpu, stream), told)
            }
            _ => None,
        }
    }

    /// Whether there is room for a step's stream.
    fn takes_stream(&mut self, step: &'s WorkloadStep) -> bool {
        let Some(stream) = step.stream().filter(|_| !matches!(step, WorkloadStep::Sync { .. })) else { return true };
        let streams = self.streams.entry(step.gpu()).or_default();
        let room = streams.len() < map::MAX_STREAMS as usize || streams.contains(stream);
        if room {
            streams.insert(stream);
        }
        room
    }

    fn refuse_kernel(&mut self, duration: Femtos) -> Option<(&'static str, String, String)> {
        if duration.0 == 0 {
            let what = "a kernel that lasts no time".to_owned();
            return Some(("duration", what, "give it a duration, for example \"2 ms\"".into()));
        }
        let before = self.kernels;
        self.kernels += u128::from(duration.0);
        let most = u128::from(MAX_KERNELS.0);
        (before <= most && self.kernels > most).then(|| {
            let what = format!("with this kernel all of them last longer than {MAX_KERNELS} together");
            ("duration", what, "simulated time ends after 5 hours: make kernels shorter or fewer".into())
        })
    }
}

/// The most searches for what was meant, and the most names that one goes through.
const MOST_SEARCHES: usize = 20;
const MOST_SEARCHED: usize = 1000;

/// What is wrong with a name that is not known; the remedy begins with the known one that was probably meant.
fn missing(
    searches: &mut usize,
    known: Option<&HashSet<&str>>,
    (gpu, name): (usize, &str),
    (field, makes, otherwise): (&'static str, &str, &str),
) -> Option<(&'static str, String, String)> {
    if known.is_some_and(|names| names.contains(name)) {
        return None;
    }
    *searches += 1;
    let on = if gpu == 0 { String::new() } else { format!(" on GPU {gpu}") };
    let known = known.filter(|known| *searches <= MOST_SEARCHES && known.len() <= MOST_SEARCHED);
    let remedy = match known.and_then(|known| crate::config::nearest(name, known.iter().copied())) {
        Some(meant) => format!("did you mean `{meant}`? Otherwise {otherwise}"),
        None => otherwise.to_owned(),
    };
    Some((field, format!("nothing earlier {makes} `{name}`{on}"), remedy))
}

/// A program as the machine takes it.
#[derive(Debug, Default)]
pub(super) struct Lowered {
    /// Streams and events by number.
    pub steps: Vec<Step>,
    /// By copy: number of its buffer, and the buffer's state.
    pub buffers: Vec<(u32, Pages)>,
}

/// Numbers for names, in the order in which they come.
#[derive(Default)]
struct Numbers<'s>(HashMap<&'s str, u32>);

impl<'s> Numbers<'s> {
    fn of(&mut self, name: &'s str) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(name).or_insert(next)
    }
}

pub(super) fn lower(program: &[WorkloadStep], collectives: &CollectiveTimes) -> Lowered {
    let (mut streams, mut events) = (HashMap::<usize, Numbers<'_>>::new(), HashMap::<usize, Numbers<'_>>::new());
    let mut buffers = Numbers::default();
    // By GPU, the streams that have got something since its session last waited for them.
    let mut pending = BTreeSet::new();
    let mut lowered = Lowered::default();
    for one in program {
        let gpu = one.gpu();
        let operation = match one {
            WorkloadStep::Copy { buffer, pages, blocking, .. } => {
                let copy = lowered.buffers.len();
                // Buffers of one copy alone have the copy's number, the others follow.
                let own = copy as u32;
                let buffer = buffer.as_deref().map_or(own, |name| map::MAX_COPIES as u32 + buffers.of(name));
                lowered.buffers.push((buffer, *pages));
                Operation::Copy { copy, blocking: *blocking }
            }
            WorkloadStep::Kernel { duration, .. } => Operation::kernel(*duration),
            WorkloadStep::Launch { kernels, duration, call, .. } => {
                Operation::Graph { kernels: *kernels, duration: *duration, call: *call }
            }
            WorkloadStep::Host { duration, .. } => Operation::Host { duration: *duration },
            // What runs whole workloads refuses several threads.
            WorkloadStep::Thread { .. } => continue,
            WorkloadStep::Collective { call, .. } => {
                Operation::Task(StreamTask::Compute(Computation::Collective { duration: collectives.of(call) }))
            }
            WorkloadStep::Network { duration, .. } => {
                Operation::Task(StreamTask::Compute(Computation::Network { duration: *duration }))
            }
            WorkloadStep::Record { event, .. } => {
                Operation::Task(StreamTask::Record { event: events.entry(gpu).or_default().of(event) })
            }
            WorkloadStep::Wait { event, .. } => {
                Operation::Task(StreamTask::Wait { event: events.entry(gpu).or_default().of(event) })
            }
            WorkloadStep::Sync { stream: Some(_), .. } => Operation::Sync,
            WorkloadStep::Sync { stream: None, .. } => {
                let all = pending.iter().filter(|(of, _)| *of == gpu);
                lowered.steps.extend(all.map(|&(gpu, stream)| Step { gpu, stream, operation: Operation::Sync }));
                pending.retain(|(of, _)| *of != gpu);
                continue;
            }
        };
        let stream = one.stream().map_or(0, |name| streams.entry(gpu).or_default().of(name));
        _ = match operation {
            Operation::Host { .. } => false,
            Operation::Sync => pending.remove(&(gpu, stream)),
            _ => pending.insert((gpu, stream)),
        };
        lowered.steps.push(Step { gpu, stream, operation });
    }
    lowered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(stream: &str, buffer: Option<&str>, pages: Pages) -> WorkloadStep {
        WorkloadStep::Copy { gpu: 0, stream: stream.into(), buffer: buffer.map(Into::into), pages, blocking: false }
    }

    fn kernel(stream: &str, duration: u64) -> WorkloadStep {
        WorkloadStep::Kernel { gpu: 0, stream: stream.into(), duration: Femtos(duration) }
    }

    fn sync(stream: Option<&str>) -> WorkloadStep {
        WorkloadStep::Sync { gpu: 0, stream: stream.map(Into::into) }
    }

    #[test]
    fn a_sync_of_all_waits_for_what_has_something_to_do() {
        let program = [
            copy("a", None, Pages::Warm),
            kernel("b", 1),
            sync(Some("a")),
            copy("c", Some("x"), Pages::Cold),
            sync(None),
            sync(None),
            copy("a", Some("x"), Pages::Cold),
            sync(None),
        ];
        let lowered = lower(&program, &CollectiveTimes::default());
        let waits: Vec<_> =
            lowered.steps.iter().filter(|step| step.operation == Operation::Sync).map(|step| step.stream).collect();
        assert_eq!(waits, [0, 1, 2, 0]);
        let named = map::MAX_COPIES as u32;
        assert_eq!(lowered.buffers, [(0, Pages::Warm), (named, Pages::Cold), (named, Pages::Cold)]);
    }

    #[test]
    fn each_gpu_has_streams_and_events_of_its_own() {
        let on = |gpu, stream: &str| WorkloadStep::Kernel { gpu, stream: stream.into(), duration: Femtos(1) };
        let sync = |gpu, stream: Option<&str>| WorkloadStep::Sync { gpu, stream: stream.map(Into::into) };
        let program = [on(0, "a"), on(1, "b"), on(1, "a"), sync(1, None), sync(0, Some("a"))];
        assert_eq!(check(&program), []);
        let waits = lower(&program, &CollectiveTimes::default())
            .steps
            .into_iter()
            .map(|step| (step.gpu, step.stream))
            .collect::<Vec<_>>();
        assert_eq!(waits, [(0, 0), (1, 0), (1, 1), (1, 0), (1, 1), (0, 0)]);
        let record = WorkloadStep::Record { gpu: 0, stream: "a".into(), event: "e".into() };
        let wait = WorkloadStep::Wait { gpu: 1, stream: "a".into(), event: "e".into() };
        let faults = check(&[record, wait, sync(1, Some("b"))]);
        assert_eq!(faults.iter().map(|fault| fault.field).collect::<Vec<_>>(), ["event", "stream"]);
        assert!(faults[0].what.ends_with("on GPU 1"), "{faults:?}");
    }

    #[test]
    fn as_many_streams_as_there_are_fit_and_no_more() {
        let mut program: Vec<_> = (0..map::MAX_STREAMS).map(|n| kernel(&format!("s{n}"), 1)).collect();
        program.push(kernel("s0", 1));
        assert_eq!(check(&program), []);
        program.push(kernel("more", 1));
        let faults = check(&program);
        assert_eq!((faults.len(), faults[0].step, faults[0].field), (1, program.len() - 1, "stream"));
    }

    #[test]
    fn kernels_have_a_bound_together_that_is_named_once() {
        let half = MAX_KERNELS.0 / 2;
        assert_eq!(check(&[kernel("a", half), kernel("b", half)]), []);
        let faults = check(&[kernel("a", half), kernel("b", half), kernel("a", 1), kernel("a", 1)]);
        assert_eq!(faults.iter().map(|fault| fault.step).collect::<Vec<_>>(), [2]);
        assert_eq!(check(&[kernel("a", 0)])[0].field, "duration");
    }
}
