//! A workload file as a profile: what a profiler would have seen of it without confidential computing.
//!
//! Each thread makes its calls one after the other, with its own work between them, and waits as the [law](crate::host::law) says; what it submits gets
//! its turn from the [`Device`]. Calls take what they take on the machine when they are [probed](super::probe), copies what they take when simulated.

use super::{
    Ns, Way,
    copies::{CopyKey, CopyTime, Simulator, times},
    error::{MOST_KERNELS, ReplayError},
    ops::Sparse,
    play::{
        Span,
        device::{Device, Engines, Task},
    },
    probe::{Calls, nanos},
    rules::ns,
};
use crate::{
    config::{MachineSpec, Resolved},
    host::law::{After, Asked, Knobs, Returns, law},
    system::{Direction as Towards, Memory, Pages},
    units::Femtos,
    workload::{
        Copy, WorkloadStep,
        trace::{
            CallKind, DeviceKind, DeviceOp, Direction, Events, HostCall, Memory as Traced, OnHost, Place,
            Synchronization, Thread, Trace, Waited,
        },
    },
};
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    num::NonZeroU64,
};

/// The profile of a program of copies, which is in the order of its steps.
pub fn written(
    steps: &[WorkloadStep],
    copies: &[Copy],
    machine: &Resolved,
    simulator: Simulator<'_>,
) -> Result<Trace, ReplayError> {
    if machine.machine.calls.is_none() {
        return Err(ReplayError::NoCalls { machine: machine.name() });
    }
    if steps.iter().any(|step| matches!(step, WorkloadStep::Collective { .. })) {
        return Err(ReplayError::Written);
    }
    let kernels = steps.iter().map(|step| u64::from(operations(step))).fold(0, u64::saturating_add);
    if kernels > MOST_KERNELS {
        return Err(ReplayError::Kernels { kernels });
    }
    let off = MachineSpec { confidential_computing: false, ..machine.machine.of_gpu(0) };
    let staging = off.staging.buffer.0.saturating_mul(off.staging.buffers.into());
    let keys = Sparse::of(keys(steps, copies, staging));
    let (times, _) = times((&format!("off {}", machine.digest), &off), &keys, simulator)?;
    let calls = simulator.known.calls.of(&format!("off {}", machine.digest), &off, simulator.go_on)?;
    let mut copies = copies.iter().enumerate().map(|(place, copy)| (copy, times.get(place), keys.get(place)));
    let copies: Vec<_> = steps.iter().map(|step| if is_copy(step) { copies.next() } else { None }).collect();
    let mut writer = Writer::new(steps, &copies, calls, &off);
    while writer.goes_on() {}
    Ok(writer.finish())
}

/// What the copies of a program are, which go through `staging`.
fn keys(steps: &[WorkloadStep], copies: &[Copy], staging: u64) -> Vec<Option<CopyKey>> {
    let of = steps.iter().filter_map(|step| match step {
        WorkloadStep::Copy { buffer, pages, .. } => Some((buffer.as_deref(), *pages)),
        _ => None,
    });
    // Without a name it is a buffer of its own.
    let of: Vec<_> = (0..).zip(of).map(|(own, (name, pages))| ((name, name.map_or(own, |_| 0)), pages)).collect();
    let moved = |copy: &&Copy| copy.direction != Towards::D2d;
    let mut all = 0_u64;
    // How many bytes had been copied when a buffer was last used; as if those that are warm had been copied before the first step.
    let mut used = HashMap::new();
    for (copy, (buffer, pages)) in copies.iter().zip(&of).filter(|(copy, _)| moved(copy)) {
        if *pages == Pages::Warm && !used.contains_key(buffer) {
            all = all.saturating_add(copy.bytes);
            used.insert(*buffer, all);
        }
    }
    let begun = all;
    let largest = copies.iter().filter(moved).map(|copy| copy.bytes).max().unwrap_or(0);
    let mut keys = Vec::with_capacity(copies.len());
    for (copy, (buffer, pages)) in copies.iter().zip(&of) {
        let way = match copy.direction {
            Towards::H2d => Way::H2d,
            Towards::D2h => Way::D2h,
            Towards::D2d => {
                keys.push(None);
                continue;
            }
        };
        let last = used.get(buffer).copied();
        let kib = |bytes: u64| u32::try_from(bytes.div_ceil(1 << 10)).unwrap_or(u32::MAX);
        // Caches have taken in other buffers since, and as much of the staging ring, of which what is warm has left one buffer's.
        let since = last.unwrap_or(all);
        let passed = (all - since.max(begun)).min(staging).saturating_sub(largest);
        let beside = (kib(rounded(all - since + passed)), kib(largest));
        all = all.saturating_add(copy.bytes);
        used.insert(*buffer, all);
        let (bytes, memory, pages) = (copy.bytes.max(1), copy.memory, last.map_or(*pages, |_| Pages::Warm));
        keys.push(Some(CopyKey { way, bytes, memory, pages, beside, waited: false }));
    }
    keys
}

/// To five binary digits, so that copies which differ little share a simulation.
fn rounded(bytes: u64) -> u64 {
    let shift = (u64::BITS - bytes.leading_zeros()).saturating_sub(5);
    (bytes >> shift) << shift
}

const fn is_copy(step: &WorkloadStep) -> bool {
    matches!(step, WorkloadStep::Copy { .. })
}

/// A copy, what it takes when simulated, which copies within a device are not, and as what.
type Copies<'a> = Option<(&'a Copy, Option<CopyTime>, Option<CopyKey>)>;

/// A thread of the host: each GPU has its own.
#[derive(Debug, Default)]
struct Own {
    /// Its steps that are to come.
    steps: VecDeque<usize>,
    /// Until when it is busy.
    now: Ns,
    /// The operations that the call in progress waits for, and how long after the last of them it returns.
    waits: Option<(Vec<u32>, Ns)>,
}

#[derive(Debug, Default)]
struct Stream {
    number: u32,
    submitted: u32,
    last: Option<u32>,
    /// What its next operation is after.
    after: Vec<u32>,
}

struct Writer<'a> {
    steps: &'a [WorkloadStep],
    copies: &'a [Copies<'a>],
    spec: Calls,
    machine: &'a MachineSpec,
    names: HashMap<String, u32>,
    threads: Vec<Thread>,
    own: Vec<Own>,
    streams: BTreeMap<(usize, &'a str), Stream>,
    /// By step that records an event: its call, its stream, and what the event comes after.
    recorded: HashMap<usize, (u64, u32, Vec<u32>)>,
    /// By step that waits for an event: the one that records it.
    records: HashMap<usize, usize>,
    gpu: Device,
    ops: Vec<DeviceOp>,
    calls: Vec<HostCall>,
    synchronizations: Vec<Synchronization>,
    /// By call, the memory of its copy.
    on_host: HashMap<u64, OnHost>,
}

impl<'a> Writer<'a> {
    fn new(steps: &'a [WorkloadStep], copies: &'a [Copies<'a>], spec: Calls, machine: &'a MachineSpec) -> Self {
        let (mut streams, mut counts, mut recorded) = (BTreeMap::new(), Vec::new(), HashMap::new());
        let (mut threads, mut own, mut known) = (Vec::new(), Vec::<Own>::new(), HashMap::new());
        let (mut records, mut thread, mut gpus) = (HashMap::new(), "main", 0);
        for (place, step) in steps.iter().enumerate() {
            let gpu = step.gpu();
            gpus = gpus.max(gpu + 1);
            if let WorkloadStep::Thread { name } = step {
                thread = name.as_str();
                continue;
            }
            let number = *known.entry((gpu, thread)).or_insert_with(|| {
                let thread = if gpu == 0 { thread.to_owned() } else { format!("{thread} of GPU {gpu}") };
                threads.push(Thread { process: "program".to_owned(), thread });
                own.push(Own::default());
                own.len() - 1
            });
            own[number].steps.push_back(place);
            if let Some(name) = step.stream() {
                let next = counts.len() as u32;
                let stream = streams.entry((gpu, name)).or_insert_with(|| {
                    counts.push(0);
                    Stream { number: next, ..Stream::default() }
                });
                counts[stream.number as usize] += operations(step);
            }
            match step {
                WorkloadStep::Record { event, .. } => _ = recorded.insert((gpu, event.as_str()), place),
                WorkloadStep::Wait { event, .. } => {
                    records.extend(recorded.get(&(gpu, event.as_str())).map(|record| (place, *record)));
                }
                _ => {}
            }
        }
        let all = counts.iter().sum::<u32>() as usize;
        let gpu = Device::new(&counts, 0, gpus, all, Engines::of(machine));
        let (names, recorded, on_host) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (ops, calls, synchronizations) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            steps,
            copies,
            spec,
            machine,
            names,
            threads,
            own,
            streams,
            recorded,
            records,
            gpu,
            ops,
            calls,
            synchronizations,
            on_host,
        }
    }

    /// Does what comes next: a call of the thread that is free first, or the next turn on the GPU. Tells whether there was anything.
    fn goes_on(&mut self) -> bool {
        for thread in 0..self.own.len() {
            self.wakes(thread);
        }
        let ready = |own: &&Own| own.waits.is_none() && own.steps.front().is_some_and(|step| self.may_begin(*step));
        let next = self.own.iter().zip(0..).filter(|(own, _)| ready(own)).map(|(own, thread)| (own.now, thread)).min();
        match (next, self.gpu.next()) {
            (Some((now, thread)), turn) if turn.is_none_or(|turn| now <= turn) => self.step(thread),
            (_, Some(_)) => self.gpu.turn(&mut []),
            _ => return false,
        }
        true
    }

    /// Whether the event that a step waits for has been recorded.
    fn may_begin(&self, step: usize) -> bool {
        self.records.get(&step).is_none_or(|record| self.recorded.contains_key(record))
    }

    /// Ends the wait of a thread, if it can.
    fn wakes(&mut self, thread: usize) {
        let own = &mut self.own[thread];
        let Some((ops, later)) = &own.waits else { return };
        let Ok(ends) = ops.iter().map(|op| self.gpu.span(*op).map(|span| span.end)).collect::<Result<Vec<_>, _>>()
        else {
            return;
        };
        // One stream after the other; what is done by then costs nothing.
        for end in ends {
            if end.saturating_add(self.spec.notice) > own.now {
                own.now = end.saturating_add(*later);
            }
        }
        own.waits = None;
        let call = self.calls.iter_mut().rfind(|call| call.thread as usize == thread);
        call.into_iter().for_each(|call| call.duration_ns = own.now.saturating_sub(call.start_ns));
    }

    fn name(&mut self, name: &str) -> u32 {
        let next = self.names.len() as u32;
        *self.names.entry(name.to_owned()).or_insert(next)
    }

    /// Makes a call of a thread that takes so long by itself; gives its number and its return.
    fn call(&mut self, thread: usize, name: &str, what: CallKind, duration_ns: Ns) -> (u64, Ns) {
        let name = self.name(name);
        let own = &mut self.own[thread];
        let start_ns = own.now;
        own.now = start_ns.saturating_add(duration_ns);
        let number = self.calls.len() as u64 + 1;
        let (thread, place, correlation) = (thread as u32, Place::Node(number), NonZeroU64::new(number));
        self.calls.push(HostCall { start_ns, duration_ns, name, thread, correlation, failed: false, what, place });
        (number, start_ns.saturating_add(duration_ns))
    }

    fn op(
        &mut self,
        (gpu, stream): (usize, &'a str),
        call: u64,
        asked: Asked,
        (name, kind): (&str, DeviceKind),
        task: Task,
    ) -> u32 {
        let name = self.name(name);
        let of = self.streams.entry((gpu, stream)).or_default();
        let place = self.ops.len() as u32;
        let turn = |after: &After| if let After::Engine(engine) = after { Some(*engine) } else { None };
        let after = std::mem::take(&mut of.after);
        let task = Task {
            queue: of.number,
            stream: of.number,
            rank: of.submitted,
            behind: of.submitted,
            after: after.into_iter().map(|other| (other, task.lag)).collect(),
            device: gpu as u32,
            engine: law(asked, Knobs::default()).begins_after.iter().find_map(turn),
            rank_of_all: place,
            ..task
        };
        (of.submitted, of.last) = (of.submitted + 1, Some(place));
        self.ops.push(DeviceOp {
            start_ns: 0,
            duration_ns: 0,
            kind,
            device: gpu as u32,
            stream: of.number,
            correlation: NonZeroU64::new(call),
            in_graph: false,
            name,
            place: Place::Node(call),
        });
        self.gpu.submit(place, task);
        place
    }

    fn launch(
        &mut self,
        thread: usize,
        at: (usize, &'a str),
        (kernels, duration, stretch): (u32, Femtos, u64),
        call: Ns,
    ) {
        let graph = kernels > 1;
        let (name, kind) =
            if graph { ("cudaGraphLaunch", CallKind::GraphLaunch) } else { ("cudaLaunchKernel", CallKind::Launch) };
        let (number, end) = self.call(thread, name, kind, call);
        let named = format!("kernel of {duration}");
        let takes = ns(Femtos((u128::from(duration.0) * u128::from(stretch) / 1000) as u64));
        let node = ns(self.machine.gap());
        // All of a graph is in one slot.
        let holds = takes.saturating_add(node).saturating_mul(u64::from(kernels)).saturating_sub(node);
        for place in 0..kernels {
            let (lag, asked) = if place == 0 { (self.spec.gap, Asked::Launch) } else { (node, Asked::Record) };
            let ready = end.saturating_add(self.spec.submission);
            let task = Task { ready, lag, takes, holds: Some(holds), ..Task::default() };
            self.op(at, number, asked, (&named, DeviceKind::Kernel), task);
        }
    }

    fn copy(
        &mut self,
        thread: usize,
        at: (usize, &'a str),
        blocking: bool,
        (copy, time, _): (&Copy, Option<CopyTime>, Option<CopyKey>),
    ) {
        let memory = |host| match (host, copy.memory) {
            (false, _) => Traced::Device,
            (true, Memory::Pageable) => Traced::Pageable,
            (true, Memory::Pinned) => Traced::Pinned,
        };
        let (direction, name, from, to) = match copy.direction {
            Towards::H2d => (Direction::H2d, "copy from the host", true, false),
            Towards::D2h => (Direction::D2h, "copy to the host", false, true),
            Towards::D2d => (Direction::D2d, "copy within the device", false, false),
        };
        let asked = Asked::Copy { way: copy.direction, memory: copy.memory, blocking };
        let waits = law(asked, Knobs::default()).host == Returns::StreamDone;
        let called = if blocking { "cudaMemcpy" } else { "cudaMemcpyAsync" };
        let time = time.unwrap_or_else(|| self.within(copy.bytes));
        let returns = if waits { time.call() } else { time.returns };
        let (number, _) = self.call(thread, called, CallKind::Copy { blocking }, returns);
        let start = self.own[thread].now.saturating_sub(returns);
        let kind = DeviceKind::Copy { direction, bytes: copy.bytes, source: memory(from), target: memory(to) };
        let within = copy.direction == Towards::D2d;
        let lag = if within { self.spec.gap } else { self.spec.copy_gap() };
        let ready = start.saturating_add(time.before);
        let staged = copy.memory == Memory::Pageable && !within;
        let pieces = time.pieces;
        let holds = (staged && pieces.is_none()).then_some(0);
        let task = Task { ready, lag, takes: time.span.max(1), holds, pieces, ..Task::default() };
        let place = self.op(at, number, asked, (name, kind), task);
        if waits {
            self.own[thread].waits = Some((vec![place], time.after));
        }
    }

    /// A copy within a device: a kernel that copies.
    fn within(&self, bytes: u64) -> CopyTime {
        let compute = &self.machine.compute;
        let cycles = compute.copy_launch.0.saturating_add(compute.cycles_of_copy(bytes));
        let span = nanos(cycles, compute.clock);
        let before = self.spec.launch.saturating_add(self.spec.submission);
        CopyTime { before, span, after: self.spec.completion, returns: self.spec.launch, pieces: None }
    }

    fn step(&mut self, thread: usize) {
        let Some(place) = self.own[thread].steps.pop_front() else { return };
        let (launch, stretch) = (self.spec.launch, u64::from(self.machine.compute.stretch));
        match &self.steps[place] {
            WorkloadStep::Thread { .. } | WorkloadStep::Collective { .. } => {}
            WorkloadStep::Host { duration, .. } => {
                let now = &mut self.own[thread].now;
                *now = now.saturating_add(ns(*duration));
            }
            WorkloadStep::Copy { gpu, stream, blocking, .. } => {
                if let Some(copy) = self.copies[place] {
                    self.copy(thread, (*gpu, stream), *blocking, copy);
                    let on_host = copy.2.map(|CopyKey { pages, beside, .. }| OnHost { pages, beside });
                    self.on_host.extend(on_host.map(|on_host| (self.calls.len() as u64, on_host)));
                }
            }
            WorkloadStep::Kernel { gpu, stream, duration } => {
                self.launch(thread, (*gpu, stream), (1, *duration, stretch), launch);
            }
            WorkloadStep::Launch { gpu, stream, kernels, duration, call } => {
                let call = call.map_or(launch, ns);
                self.launch(thread, (*gpu, stream), (*kernels, *duration, stretch), call);
            }
            WorkloadStep::Network { gpu, stream, duration } => {
                let (number, end) = self.call(thread, "cudaLaunchKernel", CallKind::Launch, self.spec.record);
                let ready = end.saturating_add(self.spec.submission);
                let task = Task { ready, lag: self.spec.gap, takes: ns(*duration), ..Task::default() };
                self.op((*gpu, stream), number, Asked::Record, ("network", DeviceKind::Kernel), task);
            }
            WorkloadStep::Record { gpu, stream, .. } => {
                let (number, _) = self.call(thread, "cudaEventRecord", CallKind::EventRecord, self.spec.record);
                let of = self.streams.entry((*gpu, stream)).or_default();
                let comes = of.last.into_iter().chain(of.after.iter().copied()).collect();
                self.recorded.insert(place, (number, of.number, comes));
            }
            WorkloadStep::Wait { gpu, stream, .. } => {
                let (number, _) = self.call(thread, "cudaStreamWaitEvent", CallKind::StreamWait, self.spec.wait);
                let record = self.records.get(&place).and_then(|record| self.recorded.get(record));
                let Some((record, from, comes)) = record else { return };
                let of = self.streams.entry((*gpu, stream)).or_default();
                of.after.extend(comes);
                self.synchronizations.push(Synchronization {
                    correlation: NonZeroU64::new(number),
                    waiting_stream: Some(of.number),
                    host_waits_for: None,
                    stream: Some(*from),
                    record: Some(*record),
                    place: Place::Node(number),
                });
            }
            WorkloadStep::Sync { gpu, stream } => self.sync(thread, *gpu, stream.as_deref()),
        }
    }

    fn sync(&mut self, thread: usize, gpu: usize, stream: Option<&str>) {
        let (name, waited) = match stream {
            Some(_) => ("cudaStreamSynchronize", Waited::Stream),
            None => ("cudaDeviceSynchronize", Waited::Device),
        };
        let (number, now) = self.call(thread, name, CallKind::Synchronize(waited), 0);
        let own =
            |((on, name), _): &(&(usize, &str), &Stream)| *on == gpu && stream.is_none_or(|stream| stream == *name);
        let mut ops = Vec::new();
        let mut of_gpu: Vec<&Stream> = self.streams.iter().filter(own).map(|(_, of)| of).collect();
        of_gpu.sort_unstable_by_key(|of| of.number);
        for of in of_gpu {
            ops.extend(of.last.into_iter().chain(of.after.iter().copied()));
            self.synchronizations.push(Synchronization {
                correlation: NonZeroU64::new(number),
                waiting_stream: None,
                host_waits_for: Some(waited),
                stream: Some(of.number),
                record: None,
                place: Place::Node(number),
            });
        }
        // What is done already is not waited for.
        let known = |span: Span| span.end.saturating_add(self.spec.notice) <= now;
        ops.retain(|op| !self.gpu.span(*op).is_ok_and(known));
        if !ops.is_empty() {
            self.own[thread].waits = Some((ops, self.spec.completion));
        }
    }

    fn finish(self) -> Trace {
        let mut names: Vec<(String, u32)> = self.names.into_iter().collect();
        names.sort_by_key(|(_, number)| *number);
        let (mut device, mut calls) = (self.ops, self.calls);
        for (op, span) in device.iter_mut().zip(&self.gpu.spans) {
            (op.start_ns, op.duration_ns) = (span.start, span.duration());
        }
        let on_host =
            |place: &Place| if let Place::Node(call) = place { self.on_host.get(call).copied() } else { None };
        device.sort_by_key(|op| op.start_ns);
        let on_host = device.iter().zip(0..).filter_map(|(op, place)| Some((place, on_host(&op.place)?))).collect();
        calls.sort_by_key(|call| call.start_ns);
        let used = (device.len() + calls.len() + self.synchronizations.len()) as u64;
        Trace {
            names: names.into_iter().map(|(name, _)| name.into()).collect(),
            device,
            calls,
            synchronizations: self.synchronizations,
            threads: self.threads,
            events: Events { all: used, used, left_out: Vec::new() },
            on_host,
            ..Trace::default()
        }
    }
}

const fn operations(step: &WorkloadStep) -> u32 {
    match step {
        WorkloadStep::Copy { .. } | WorkloadStep::Kernel { .. } | WorkloadStep::Network { .. } => 1,
        WorkloadStep::Launch { kernels, .. } => *kernels,
        _ => 0,
    }
}
