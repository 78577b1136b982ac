//! A trace as a job: calls in the order of their starts, the operations that each submits, and what each operation waited for.
//!
//! That order is topological: whatever a call or an operation waits for began before it in the trace.

use super::{
    Ns,
    damage::{lost, mended},
    latest::Latest,
    managed::Managed,
    missing::{hidden, missing},
    nccl::collective,
    ops::{Ops, Sparse},
    secure::secure,
    start::{Beginning, Start},
    steps::Steps,
    told::told,
};
use crate::{
    config::MachineSpec,
    system::{Direction, Memory, as_one_of},
    workload::collective::CollectiveCall,
    workload::trace::{CallKind, DeviceKind, DeviceOp, HostCall, Memory as Traced, OnHost, Place, Trace},
};
use std::{
    collections::HashMap,
    num::{NonZeroU32, NonZeroU64},
    str::FromStr,
    sync::Arc,
};
use thiserror::Error;

/// How long after the end of the operation before it an operation of a stream begins at most if it waited for it.
const STREAM: Ns = 6_000;
/// How long after a call could have started its operation it begins at most if it waited for nothing else.
const CALL: Ns = 8_000;
/// How long after an operation of another stream an operation begins at most if it waited for it.
const OTHER: Ns = 10_000;
/// How long before its operation ends a call may return that waited for it: clocks of host and device differ by so much.
const CLOCKS: Ns = 8_000;
/// How long two operations of a stream overlap at most that run one after the other: dates of some profilers are whole microseconds.
const OVERLAP: Ns = 2_000;
/// Share of the profile's own end by which that of its replay without confidential computing may be off.
const APART: f64 = 0.02;
/// When a made-up call was made, before its operation began.
const MADE_UP: Ns = 6_200;

/// All of the host's time, in millionths.
pub const WHOLE: u32 = 1_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Copy {
        way: Way,
        bytes: u64,
        memory: Memory,
        /// Whether its call returned when it had ended, in the trace.
        host_waits: bool,
    },
    /// A copy within a device, or to another one.
    DeviceCopy,
    Memset,
    /// A kernel, a graph as a whole, or a collective of which the trace does not say enough.
    Kernel,
    Collective(CollectiveCall),
}

/// How much longer kernels take on another GPU.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelScale {
    /// A part of the kernel's name; empty: of all.
    pub name: String,
    pub factor: f64,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{0}`: a factor is a number above 0 and at most 1000, as 0.6, or name=0.6 for kernels whose names contain `name`"
)]
pub struct KernelScaleError(String);

impl FromStr for KernelScale {
    type Err = KernelScaleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, factor) = text.rsplit_once('=').unwrap_or(("", text));
        let known = factor.trim().parse::<f64>().ok().filter(|factor| *factor > 0.0 && *factor <= 1e3);
        let factor = known.ok_or_else(|| KernelScaleError(text.to_owned()))?;
        Ok(Self { name: name.trim().to_owned(), factor })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Way {
    H2d,
    D2h,
}

impl Way {
    /// The same for the simulator.
    pub const fn direction(self) -> Direction {
        match self {
            Self::H2d => Direction::H2d,
            Self::D2h => Direction::D2h,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bind {
    Call,
    /// The operation before it in its stream.
    Stream,
    /// An operation of another stream, after which it began so many ns later.
    Op(u32, u16),
}

#[derive(Debug, Clone)]
pub struct Op {
    pub work: Work,
    /// Its stream, counted over all devices.
    pub stream: u32,
    /// Start in the trace.
    pub start: Ns,
    /// Duration in the trace.
    pub duration: Ns,
    /// How many operations of its stream had ended when it began.
    pub behind: u32,
    /// Its place among the operations of its stream by their ends.
    pub rank: u32,
    /// Its place among all operations by their ends.
    pub rank_of_all: u32,
    pub name: u32,
    /// Its place among the operations of the trace.
    pub traced: u32,
}

/// What an operation waited for, apart from it: a change of the program changes this of a million operations.
#[derive(Debug, Clone, Copy)]
pub struct Bound {
    pub by: Bind,
    /// Later by one: zero is where none is.
    before: Option<NonZeroU64>,
}

impl Bound {
    /// `before` is when the last operation ended that was submitted to its stream before it and had ended when it began, in the trace. Nodes of a
    /// graph overlap in one stream.
    pub const fn new(by: Bind, before: Option<Ns>) -> Self {
        let later = if let Some(before) = before { before.saturating_add(1) } else { 0 };
        Self { by, before: NonZeroU64::new(later) }
    }

    /// When the one before it in its stream ended.
    pub fn before(self) -> Option<Ns> {
        self.before.map(|later| later.get() - 1)
    }
}

// A million of each are held, of what is changed and played again twice.
const _: () = assert!(size_of::<Op>() <= 64 && size_of::<Bound>() <= 16 && size_of::<Call>() <= 48);

impl Op {
    /// End in the trace.
    pub const fn end(&self) -> Ns {
        self.start.saturating_add(self.duration)
    }

    /// Whether it is a copy whose call returned when it had ended, in the trace.
    pub const fn host_waits(&self) -> bool {
        matches!(self.work, Work::Copy { host_waits: true, .. })
    }
}

/// What is done otherwise with a call than the program did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Change {
    #[default]
    None,
    /// It is not made; its operations take no time.
    Gone,
    /// The same, and the host's work before it is not done.
    GoneWithWork,
    /// Another thread makes it, one after the other.
    Aside,
    /// It is on a stream of its own.
    Ahead,
}

/// The session of a GPU, and how many copy at the same time: they share the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    pub gpu: usize,
    pub of: usize,
}

impl Default for Session {
    fn default() -> Self {
        Self { gpu: 0, of: 1 }
    }
}

impl Session {
    /// A machine as this session has it, and a name for it behind that of the machine.
    pub fn own(self, name: &str, machine: &MachineSpec) -> (String, MachineSpec) {
        match self.of {
            0 | 1 => (name.to_owned(), machine.of_gpu(0)),
            of => (format!("{name} {} of {of}", self.gpu), as_one_of(machine, self.gpu, of)),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Call {
    pub name: u32,
    pub kind: CallKind,
    pub thread: u32,
    /// Start in the trace.
    pub start: Ns,
    /// Duration in the trace.
    pub duration: Ns,
    pub failed: bool,
    /// Its number in the trace, from 1; if it has none it stands for the unknown thread that submitted an operation.
    pub number: Option<NonZeroU32>,
    pub ops: Ops,
    pub change: Change,
}

impl Call {
    /// Return in the trace.
    pub const fn end(&self) -> Ns {
        self.start.saturating_add(self.duration)
    }

    pub const fn traced(&self) -> bool {
        self.number.is_some()
    }
}

#[derive(Debug, Clone, Default)]
pub struct Job {
    /// Names of calls and operations.
    pub names: Vec<Arc<str>>,
    /// In the order of their starts.
    pub calls: Vec<Call>,
    /// Where the file has calls, by their numbers.
    pub places: Arc<Vec<Place>>,
    /// In the order of their calls.
    pub ops: Arc<Vec<Op>>,
    /// How long those take that are no copies between host and device and take other times on the GPU that is asked about than in the trace.
    pub takes: Sparse<Ns>,
    /// By operation: what it begins after.
    pub bound: Vec<Bound>,
    /// Operations by their ends in the trace, the earliest first.
    pub ends: Arc<Vec<u32>>,
    /// How many operations each stream has.
    pub in_stream: Vec<u32>,
    /// Streams, over all devices.
    pub streams: usize,
    /// By stream, its device, counted from 0.
    pub device_of: Vec<u32>,
    pub devices: usize,
    pub threads: usize,
    /// By thread, its process; threads that stand for the unknown thread that submitted an operation are of none that the trace has.
    pub processes: Vec<u32>,
    /// The number of the first step that the profiler marked, if it marks steps.
    pub first_step: Option<u64>,
    /// Start and end of the steps that it marks, in the trace.
    pub marks: Vec<(Ns, Ns)>,
    /// Whether a profiler made its calls longer.
    pub profiled: bool,
    /// The steps that a reader wants to know of, if not the whole.
    pub steps: Option<Steps>,
    pub beginning: Beginning,
    /// What was taken for the beginning, in a sentence.
    pub begun: String,
    /// Whether kernels take other times than in the profile, so that no replay is like it.
    pub scaled: bool,
    /// How much of the host's own time the program has without its profiler, in millionths.
    pub host_ppm: u32,
    /// Who copies at the same time on the machine.
    pub session: Session,
    /// What a reader has to know of the trace before any figure, in sentences.
    pub cautions: Vec<String>,
    /// Whether the first of these says why no slow-down is given.
    pub no_slowdown: bool,
    /// By operation that copies: what a workload file says of its memory.
    pub on_host: HashMap<u32, OnHost>,
    /// By call that waits: for which streams it does, where the profile says so.
    pub waited: HashMap<u32, Vec<u32>>,
    /// By operation: those of other streams that come before it by events, where the profile says so.
    pub after: HashMap<u32, Vec<u32>>,
    /// How many kernels, fills and copies within devices ran at once on a device.
    pub at_once: usize,
    /// What the trace lacks and what was taken instead.
    pub assumed: Vec<String>,
}

impl Job {
    /// The job of a trace; `submission` is the time from the return of a launch to its operation on an idle stream.
    pub fn of(trace: &Trace, submission: Ns) -> Self {
        let launches = trace.launches();
        let (mended, damage) = mended(trace, &launches).unzip();
        let trace = mended.as_ref().unwrap_or(trace);
        let mut assumed = trace.assumed.clone();
        assumed.extend(missing(trace));
        let mut gathered = gather(trace, launches, &mut assumed);
        if trace.format.is_some() {
            fold(&mut gathered.calls);
        }
        let mut job = number(trace, gathered, assumed);
        order_streams(&mut job);
        bind(&mut job, submission);
        job.at_once = at_once(&job);
        told(trace, &mut job);
        let mut job = job.begins(Start::Auto);
        let lost = lost(&job);
        let decides = lost.iter().filter(|(decides, _)| *decides).map(|(_, what)| what.clone());
        let why = secure(trace, &job).or_else(|| Managed::of(trace).map(Managed::notice));
        job.cautions.extend(why.into_iter().chain(decides));
        job.no_slowdown = !job.cautions.is_empty();
        job.cautions.extend(damage.into_iter().flatten());
        job.cautions.extend(lost.filter(|(decides, _)| !decides).map(|(_, what)| what));
        job.cautions.extend(hidden(trace));
        job
    }

    /// The same job with kernels that take `scales` times as long, each for the kernels whose names contain its text; the last that fits counts.
    pub fn scaled(mut self, scales: &[KernelScale]) -> Self {
        if scales.is_empty() {
            return self;
        }
        let factor =
            |name: &str| scales.iter().rev().find(|scale| name.contains(&scale.name)).map(|scale| scale.factor);
        let by_name: Vec<Option<f64>> = self.names.iter().map(|name| factor(name)).collect();
        self.takes = Sparse::of(self.ops.iter().map(|op| {
            let factor = by_name.get(op.name as usize).copied().flatten().filter(|_| op.work == Work::Kernel)?;
            Some((op.duration as f64 * factor).round() as Ns)
        }));
        let count = self.takes.0.len();
        self.scaled = true;
        self.assumed.push(format!("{count} kernels take other times than in the profile, as --kernel-scale says."));
        self
    }

    /// How long an operation takes that is no copy between host and device.
    pub fn takes(&self, place: u32) -> Ns {
        self.takes.get(place as usize).unwrap_or(self.ops[place as usize].duration)
    }

    pub fn device(&self, op: &Op) -> u32 {
        self.device_of.get(op.stream as usize).copied().unwrap_or(0)
    }

    /// Where the file has a call.
    pub fn place(&self, call: &Call) -> String {
        let place = call.number.and_then(|number| self.places.get(number.get() as usize - 1));
        place.map_or_else(|| "not in the file".to_owned(), Place::to_string)
    }

    /// Whether the process of a call begins in the profile.
    pub fn begins_in_profile(&self, call: &Call) -> bool {
        self.beginning.cold.get(call.thread as usize).copied().unwrap_or(false)
    }

    /// From the start of the first operation to the end of the last, in the trace.
    pub fn device_time(&self) -> Ns {
        let first = self.ops.iter().map(|op| op.start).min().unwrap_or(0);
        self.ends.last().map_or(0, |place| self.ops[*place as usize].end()).saturating_sub(first)
    }

    /// What is left of a time that the host took, in a call of its own or between two.
    pub fn host(&self, time: Ns) -> Ns {
        if self.host_ppm == WHOLE {
            return time;
        }
        Ns::try_from(u128::from(time) * u128::from(self.host_ppm) / u128::from(WHOLE)).unwrap_or(Ns::MAX)
    }

    /// What a reader has to know before any figure; `off` is where the replay without confidential computing ends.
    pub fn notices(&self, off: Ns) -> Vec<String> {
        let traced = self.device_time();
        let apart = off.abs_diff(traced);
        let mut notices = self.cautions.clone();
        if !self.scaled && self.host_ppm == WHOLE && apart as f64 > APART * traced as f64 {
            notices.push(format!(
                "The replay is not to be relied on: without confidential computing it ends {:.1} % {} than the profile itself.",
                100.0 * apart as f64 / traced.max(1) as f64,
                if off > traced { "later" } else { "earlier" }
            ));
        }
        notices
    }

    pub fn name(&self, name: u32) -> &str {
        self.names.get(name as usize).map_or("", |name| &**name)
    }
}

/// Calls with the places of their operations in the trace.
struct Gathered {
    calls: Vec<Call>,
    threads: usize,
}

/// Joins operations with the calls that asked for them, and makes up a call for each that has none.
fn gather(trace: &Trace, launches: Vec<Option<u32>>, assumed: &mut Vec<String>) -> Gathered {
    let call = |(call, number): (&HostCall, u32)| Call {
        name: call.name,
        kind: call.what,
        thread: call.thread,
        start: call.start_ns,
        duration: call.duration_ns,
        failed: call.failed,
        number: NonZeroU32::new(number),
        ops: Ops::default(),
        change: Change::None,
    };
    let mut calls: Vec<Call> = trace.calls.iter().zip(1..).map(call).collect();
    let threads = trace.threads.len().max(1);
    let mut alone = 0_usize;
    let latest = latest_submissions(trace, &launches);
    for (place, launch) in (0..).zip(launches) {
        match launch.and_then(|launch| calls.get_mut(launch as usize)) {
            Some(call) => call.ops.push(place),
            None => {
                alone += 1;
                calls.push(made_up(trace, place, threads, latest[place as usize]));
            }
        }
    }
    if alone > 0 {
        assumed.push(format!(
            "{alone} operations have no call in the trace: each is taken to have been submitted {MADE_UP} ns before it began, by a thread of its stream; \
             what the host waited for is then unknown."
        ));
    }
    if trace.format.is_some() {
        calls.sort_by_key(|call| (call.start, call.traced(), std::cmp::Reverse(call.duration)));
    }
    Gathered { calls, threads }
}

/// By operation, when its call was made at the latest: a stream takes operations in the order of their calls.
fn latest_submissions(trace: &Trace, launches: &[Option<u32>]) -> Vec<Ns> {
    let mut next: HashMap<(u32, u32), Ns> = HashMap::new();
    let mut all = vec![Ns::MAX; trace.device.len()];
    for (place, op) in trace.device.iter().enumerate().rev() {
        let next = next.entry((op.device, op.stream)).or_insert(Ns::MAX);
        all[place] = *next;
        let call = launches[place].and_then(|call| trace.calls.get(call as usize));
        *next = call.map_or(*next, |call| call.start_ns.min(*next));
    }
    all
}

/// Whoever submitted an operation of which the trace has no call, at `latest` then.
fn made_up(trace: &Trace, place: u32, threads: usize, latest: Ns) -> Call {
    let op = &trace.device[place as usize];
    let copies = matches!(work(trace, op), Work::Copy { .. });
    let start = op.start_ns.saturating_sub(MADE_UP).min(latest);
    let end = if copies { op.start_ns.saturating_add(op.duration_ns) } else { start };
    Call {
        name: op.name,
        kind: CallKind::Other,
        thread: (threads as u32).saturating_add(op.stream),
        start,
        duration: end.saturating_sub(start),
        failed: false,
        number: None,
        ops: Ops::one(place),
        change: Change::None,
    }
}

/// Puts calls within calls of the same thread into these: a call of the driver within one of the runtime.
fn fold(calls: &mut Vec<Call>) {
    let mut outer: HashMap<u32, usize> = HashMap::new();
    let mut kept = 0;
    for place in 0..calls.len() {
        let call = &calls[place];
        let within = outer.get(&call.thread).copied();
        match within.filter(|outer| call.end() <= calls[*outer].end().saturating_add(1)) {
            Some(outer) => {
                let ops = std::mem::take(&mut calls[place].ops);
                calls[outer].ops.extend(ops.iter().copied());
            }
            None => {
                outer.insert(call.thread, kept);
                calls.swap(kept, place);
                kept += 1;
            }
        }
    }
    calls.truncate(kept);
}

fn work(trace: &Trace, op: &DeviceOp) -> Work {
    let DeviceKind::Copy { bytes, source, target, .. } = op.kind else {
        return match op.kind {
            DeviceKind::Memset { .. } => Work::Memset,
            _ => collective(trace, op).map_or(Work::Kernel, Work::Collective),
        };
    };
    if bytes == 0 {
        // Without a size nothing can be simulated.
        return Work::DeviceCopy;
    }
    let on_host = |memory| matches!(memory, Traced::Pinned | Traced::Pageable | Traced::Managed);
    let memory = if [source, target].contains(&Traced::Pageable) { Memory::Pageable } else { Memory::Pinned };
    let host_waits = false;
    match (on_host(source), on_host(target)) {
        (true, false) => Work::Copy { way: Way::H2d, bytes, memory, host_waits },
        (false, true) => Work::Copy { way: Way::D2h, bytes, memory, host_waits },
        _ => by_direction(op, bytes),
    }
}

/// The same where the kinds of memory do not say it.
fn by_direction(op: &DeviceOp, bytes: u64) -> Work {
    use crate::workload::trace::Direction as Told;
    let (memory, host_waits) = (Memory::Pinned, false);
    match op.kind {
        DeviceKind::Copy { direction: Told::H2d, .. } => Work::Copy { way: Way::H2d, bytes, memory, host_waits },
        DeviceKind::Copy { direction: Told::D2h, .. } => Work::Copy { way: Way::D2h, bytes, memory, host_waits },
        _ => Work::DeviceCopy,
    }
}

/// Gives operations, streams, devices and threads their numbers in the job.
fn number(trace: &Trace, gathered: Gathered, assumed: Vec<String>) -> Job {
    let (mut streams, mut devices, mut threads) = (HashMap::new(), HashMap::new(), HashMap::new());
    let (mut ops, mut device_of) = (Vec::with_capacity(trace.device.len()), Vec::new());
    let mut calls = gathered.calls;
    for call in &mut calls {
        let next = threads.len() as u32;
        call.thread = *threads.entry(call.thread).or_insert(next);
        call.ops.sort_by_key(|place| trace.device[*place as usize].start_ns);
        for place in call.ops.iter_mut() {
            let op = &trace.device[*place as usize];
            let next = streams.len() as u32;
            let stream = *streams.entry((op.device, op.stream)).or_insert(next);
            if stream == next {
                let next = devices.len() as u32;
                device_of.push(*devices.entry(op.device).or_insert(next));
            }
            let traced = std::mem::replace(place, ops.len() as u32);
            ops.push(Op {
                work: work(trace, op),
                stream,
                start: op.start_ns,
                duration: op.duration_ns,
                behind: 0,
                rank: 0,
                rank_of_all: 0,
                name: op.name,
                traced,
            });
        }
    }
    let count = threads.len().max(gathered.threads);
    let on_host = |op: &Op| trace.on_host.get(&op.traced).copied();
    let on_host = ops.iter().zip(0..).filter_map(|(op, place)| Some((place, on_host(op)?))).collect();
    Job {
        names: trace.names.clone(),
        calls,
        places: Arc::new(trace.calls.iter().map(|call| call.place).collect()),
        bound: vec![Bound::new(Bind::Call, None); ops.len()],
        ops: Arc::new(ops),
        streams: streams.len(),
        device_of,
        devices: devices.len(),
        threads: count,
        processes: processes(trace, &threads, count),
        first_step: trace.first_step,
        marks: trace.marks.clone(),
        profiled: trace.format.is_some(),
        host_ppm: WHOLE,
        on_host,
        assumed,
        ..Job::default()
    }
}

/// By thread of the job, its process; `threads` has the numbers of threads of the trace.
fn processes(trace: &Trace, threads: &HashMap<u32, u32>, count: usize) -> Vec<u32> {
    let mut numbers = HashMap::new();
    let mut all = vec![u32::MAX; count];
    let mut threads: Vec<_> = threads.iter().collect();
    threads.sort_unstable_by_key(|(_, thread)| **thread);
    for (traced, thread) in threads {
        if let Some(of) = trace.threads.get(*traced as usize) {
            let next = numbers.len() as u32;
            all[*thread as usize] = *numbers.entry(of.process.as_str()).or_insert(next);
        }
    }
    all
}

/// Notes for each operation which of its stream had ended when it began, and when the last of these did.
pub(super) fn order_streams(job: &mut Job) {
    let mut by_end: Vec<u32> = (0..job.ops.len() as u32).collect();
    by_end.sort_unstable_by_key(|place| (job.ops[*place as usize].end(), *place));
    job.ends = Arc::new(by_end);
    let ops = Arc::make_mut(&mut job.ops);
    let mut ends: Vec<Vec<Ns>> = vec![Vec::new(); job.streams];
    for (place, rank) in job.ends.iter().zip(0..) {
        let op = &mut ops[*place as usize];
        let of_stream = &mut ends[op.stream as usize];
        (op.rank_of_all, op.rank) = (rank, of_stream.len() as u32);
        of_stream.push(op.end());
    }
    job.in_stream = ends.iter().map(|ends| ends.len() as u32).collect();
    let mut ended: Vec<Latest> = ends.iter().map(|ends| Latest::new(ends.len())).collect();
    for (op, bound) in ops.iter_mut().zip(&mut job.bound) {
        let (ends, ended) = (&ends[op.stream as usize], &mut ended[op.stream as usize]);
        op.behind = ends.partition_point(|end| *end <= op.start.saturating_add(OVERLAP)) as u32;
        *bound = Bound::new(bound.by, ended.below(op.behind));
        ended.put(op.rank, op.end());
    }
}

/// Finds what each operation waited for.
fn bind(job: &mut Job, submission: Ns) {
    for call in &job.calls {
        for place in &call.ops {
            let (op, before) = (&job.ops[*place as usize], job.bound[*place as usize].before());
            let ready = call.end().saturating_add(submission);
            let waited = before.is_some_and(|before| before > call.start && op.start <= before.saturating_add(STREAM));
            let bind = if waited {
                Bind::Stream
            } else if op.start <= ready.saturating_add(CALL) {
                Bind::Call
            } else {
                let behind = before.is_some_and(|before| before > call.end());
                let rest = if behind { Bind::Stream } else { Bind::Call };
                other(job, *place).unwrap_or(rest)
            };
            let pageable_in = matches!(op.work, Work::Copy { memory: Memory::Pageable, .. });
            let waits = call.duration > 0 && (call.end().saturating_add(CLOCKS) >= op.end() || pageable_in);
            job.bound[*place as usize].by = bind;
            if let Work::Copy { host_waits, .. } = &mut Arc::make_mut(&mut job.ops)[*place as usize].work {
                *host_waits = waits;
            }
        }
    }
}

/// How many operations that are no copies between host and device ran at once on a device at most.
fn at_once(job: &Job) -> usize {
    let computing = |op: &&Op| !matches!(op.work, Work::Copy { .. }) && op.duration > 0;
    let mut starts: Vec<_> = job.ops.iter().filter(computing).map(|op| (op.start, job.device(op))).collect();
    starts.sort_unstable();
    let ends = job.ends.iter().map(|place| &job.ops[*place as usize]).filter(computing);
    let (mut ends, mut now, mut most) = (ends.peekable(), vec![0; job.devices], 0);
    for (start, device) in starts {
        // What ends then makes room for what begins.
        while let Some(op) = ends.next_if(|op| op.end() <= start) {
            let now = &mut now[job.device(op) as usize];
            *now = usize::saturating_sub(*now, 1);
        }
        now[device as usize] += 1;
        most = most.max(now[device as usize]);
    }
    most
}

/// The operation of another stream, submitted earlier, after which an operation began at once, if there is one.
fn other(job: &Job, place: u32) -> Option<Bind> {
    let op = &job.ops[place as usize];
    let since = |other: &u32| op.start.checked_sub(job.ops[*other as usize].end());
    let upto = job.ends.partition_point(|other| since(other).is_some());
    // Of what ended just before, so many are looked at.
    let recent = job.ends[..upto]
        .iter()
        .rev()
        .take(64)
        .map_while(|other| Some((other, since(other).filter(|since| *since < OTHER)?)));
    let mut found = recent.filter(|(other, _)| **other < place && job.ops[**other as usize].stream != op.stream);
    found.find_map(|(other, since)| Some(Bind::Op(*other, u16::try_from(since).ok()?)))
}
