//! A workload file as a profile: what a profiler would have seen of it without confidential computing.
//!
//! Each thread makes its calls one after the other, with its own work between them; each stream takes operations in the order of their calls. Launches,
//! submissions, gaps and completions take what the machine's table of calls says, copies what they take when simulated.

use super::{
    Ns,
    copies::{CopyKey, CopyTime, Simulator, times},
    error::ReplayError,
    job::Way,
    rules::ns,
};
use crate::{
    config::{MachineSpec, Resolved},
    host::calls::CallsSpec,
    system::{Direction as Towards, Memory, Pages},
    units::Femtos,
    workload::{
        Copy, WorkloadStep,
        trace::{
            CallKind, DeviceKind, DeviceOp, Direction, Events, HostCall, Memory as Traced, Place, Thread, Trace, Waited,
        },
    },
};
use std::collections::HashMap;

/// A call that records an event, or lets a stream wait for one, takes so long without confidential computing.
const EVENT: Ns = 500;
/// A call that waits for what is done already.
const LEAST: Ns = 2_000;

/// The profile of a program of copies, which is in the order of its steps.
pub fn written(
    steps: &[WorkloadStep],
    copies: &[Copy],
    machine: &Resolved,
    simulator: Simulator<'_>,
) -> Result<Trace, ReplayError> {
    let calls = machine.machine.calls.as_ref();
    let calls = calls.ok_or_else(|| ReplayError::NoCalls { machine: machine.name() })?;
    if steps.iter().any(|step| matches!(step, WorkloadStep::Collective { .. })) {
        return Err(ReplayError::Written);
    }
    let off = MachineSpec { confidential_computing: false, ..machine.machine.of_gpu(0) };
    let pages = steps.iter().filter_map(|step| match step {
        WorkloadStep::Copy { pages, .. } => Some(*pages),
        _ => None,
    });
    let keys: Vec<_> = copies.iter().zip(pages).map(|(copy, pages)| key(copy, pages)).collect();
    let (times, _) = times((&format!("off {}", machine.digest), &off), &keys, simulator)?;
    let mut writer = Writer::new(calls);
    let mut copies = copies.iter().zip(&keys).zip(times);
    for step in steps {
        writer.step(step, &mut copies);
    }
    Ok(writer.finish())
}

fn key(copy: &Copy, pages: Pages) -> Option<CopyKey> {
    let way = match copy.direction {
        Towards::H2d => Way::H2d,
        Towards::D2h => Way::D2h,
        Towards::D2d => return None,
    };
    // The state of memory shows in the first copy alone.
    let pages = if pages == Pages::Fresh && way == Way::D2h { pages } else { Pages::Warm };
    Some(CopyKey { way, bytes: copy.bytes.max(1), memory: copy.memory, pages })
}

#[derive(Default)]
struct Stream {
    /// When its last operation ends.
    end: Ns,
    /// What it waits for.
    after: Ns,
    /// When the first operation of each call begins.
    begun: Vec<Ns>,
}

struct Writer<'a> {
    spec: &'a CallsSpec,
    names: HashMap<String, u32>,
    /// By thread: until when it is busy.
    threads: Vec<(Thread, Ns)>,
    thread: usize,
    streams: HashMap<(usize, String), (u32, Stream)>,
    /// By GPU and name: when an event comes.
    events: HashMap<(usize, String), Ns>,
    device: Vec<DeviceOp>,
    calls: Vec<HostCall>,
}

type Copies<'c> = dyn Iterator<Item = ((&'c Copy, &'c Option<CopyKey>), Option<CopyTime>)> + 'c;

impl<'a> Writer<'a> {
    fn new(spec: &'a CallsSpec) -> Self {
        let main = Thread { process: "program".to_owned(), thread: "main".to_owned() };
        let (names, streams, events) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self {
            spec,
            names,
            threads: vec![(main, 0)],
            thread: 0,
            streams,
            events,
            device: Vec::new(),
            calls: Vec::new(),
        }
    }

    fn name(&mut self, name: &str) -> u32 {
        let next = self.names.len() as u32;
        *self.names.entry(name.to_owned()).or_insert(next)
    }

    fn stream(&mut self, gpu: usize, name: &str) -> &mut (u32, Stream) {
        let next = self.streams.len() as u32;
        self.streams.entry((gpu, name.to_owned())).or_insert_with(|| (next, Stream::default()))
    }

    /// Makes a call of the current thread that takes so long; says when it begins and ends.
    fn call(&mut self, name: &str, what: CallKind, duration: Ns) -> (Ns, Ns) {
        let name = self.name(name);
        let (thread, start) = (self.thread as u32, self.threads[self.thread].1);
        let place = Place::Node(self.calls.len() as u64 + 1);
        let correlation = Some(self.calls.len() as u64 + 1);
        let call =
            HostCall { start_ns: start, duration_ns: duration, name, thread, correlation, failed: false, what, place };
        self.calls.push(call);
        self.threads[self.thread].1 = start.saturating_add(duration);
        (start, self.threads[self.thread].1)
    }

    /// Lets the last call end later.
    fn holds(&mut self, until: Ns) {
        let Some(call) = self.calls.last_mut() else { return };
        call.duration_ns = call.duration_ns.max(until.saturating_sub(call.start_ns));
        self.threads[self.thread].1 = call.start_ns.saturating_add(call.duration_ns);
    }

    /// Puts an operation of the last call behind what its stream has; says when it begins and ends.
    fn op(&mut self, gpu: usize, stream: &str, ready: Ns, (name, kind, duration): (&str, DeviceKind, Ns)) -> (Ns, Ns) {
        let (gap, name) = (ns(self.spec.gap.off), self.name(name));
        let (number, of) = self.stream(gpu, stream);
        let queued = if of.end > 0 { of.end.saturating_add(gap) } else { 0 };
        let start = ready.max(queued).max(of.after);
        of.end = start.saturating_add(duration);
        let (stream, end) = (*number, of.end);
        self.device.push(DeviceOp {
            start_ns: start,
            duration_ns: duration,
            kind,
            device: gpu as u32,
            stream,
            correlation: Some(self.calls.len() as u64),
            graph_node: None,
            name,
            place: Place::Node(self.calls.len() as u64),
        });
        (start, end)
    }

    fn launch(&mut self, (gpu, stream): (usize, &str), (kernels, duration): (u32, Ns), call: Option<Femtos>) {
        let graph = kernels > 1;
        let (name, kind) =
            if graph { ("cudaGraphLaunch", CallKind::GraphLaunch) } else { ("cudaLaunchKernel", CallKind::Launch) };
        let (_, mut end) = self.call(name, kind, ns(call.unwrap_or(self.spec.launch.next)));
        let queue = self.spec.launch.queue as usize;
        let begun = &self.stream(gpu, stream).1.begun;
        if let Some(begun) = begun.len().checked_sub(queue).map(|place| begun[place]) {
            self.holds(begun);
            end = end.max(begun);
        }
        let ready = end.saturating_add(ns(self.spec.submission.off));
        let named = format!("kernel of {}", Femtos(duration.saturating_mul(1_000_000)));
        let mut first = None;
        for _ in 0..kernels {
            let (start, _) = self.op(gpu, stream, ready, (&named, DeviceKind::Kernel, duration));
            first.get_or_insert(start);
        }
        self.stream(gpu, stream).1.begun.extend(first);
    }

    fn copy(&mut self, (gpu, stream): (usize, &str), blocking: bool, copy: &Copy, time: Option<CopyTime>) {
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
        let holds = blocking || (copy.memory == Memory::Pageable && time.is_some());
        let call = if holds { "cudaMemcpy" } else { "cudaMemcpyAsync" };
        // Within the device a copy reads and writes at what a fast memory takes.
        let time = time.unwrap_or(CopyTime {
            before: ns(self.spec.launch.next) + ns(self.spec.submission.off),
            span: copy.bytes / 1_000,
            after: 0,
        });
        let submission = ns(self.spec.submission.off).min(time.before);
        let (start, _) = self.call(call, CallKind::Copy { blocking: holds }, time.before - submission);
        let kind = DeviceKind::Copy { direction, bytes: copy.bytes, source: memory(from), target: memory(to) };
        let (begun, end) = self.op(gpu, stream, start.saturating_add(time.before), (name, kind, time.span.max(1)));
        self.stream(gpu, stream).1.begun.push(begun);
        if holds {
            self.holds(end.saturating_add(time.after));
        }
    }

    fn step<'c>(&mut self, step: &WorkloadStep, copies: &mut Copies<'c>) {
        match step {
            WorkloadStep::Thread { name } => {
                let known = self.threads.iter().position(|(thread, _)| thread.thread == *name);
                self.thread = known.unwrap_or_else(|| {
                    let thread = Thread { process: "program".to_owned(), thread: name.clone() };
                    self.threads.push((thread, 0));
                    self.threads.len() - 1
                });
            }
            WorkloadStep::Host { duration, .. } => {
                let busy = &mut self.threads[self.thread].1;
                *busy = busy.saturating_add(ns(*duration));
            }
            WorkloadStep::Copy { gpu, stream, blocking, .. } => {
                if let Some(((copy, _), time)) = copies.next() {
                    self.copy((*gpu, stream), *blocking, copy, time);
                }
            }
            WorkloadStep::Kernel { gpu, stream, duration } => self.launch((*gpu, stream), (1, ns(*duration)), None),
            WorkloadStep::Launch { gpu, stream, kernels, duration, call } => {
                self.launch((*gpu, stream), (*kernels, ns(*duration)), *call);
            }
            WorkloadStep::Network { gpu, stream, duration } => self.launch((*gpu, stream), (1, ns(*duration)), None),
            WorkloadStep::Record { gpu, stream, event } => {
                let (_, end) = self.call("cudaEventRecord", CallKind::EventRecord, EVENT);
                let comes = self.stream(*gpu, stream).1.end.max(end.saturating_add(ns(self.spec.event.off)));
                self.events.insert((*gpu, event.clone()), comes);
            }
            WorkloadStep::Wait { gpu, stream, event } => {
                self.call("cudaStreamWaitEvent", CallKind::StreamWait, EVENT);
                let comes = self.events.get(&(*gpu, event.clone())).copied().unwrap_or(0);
                let after = &mut self.stream(*gpu, stream).1.after;
                *after = comes.max(*after);
            }
            WorkloadStep::Sync { gpu, stream } => {
                let (name, waited) = match stream {
                    Some(_) => ("cudaStreamSynchronize", Waited::Stream),
                    None => ("cudaDeviceSynchronize", Waited::Device),
                };
                self.call(name, CallKind::Synchronize(waited), LEAST);
                let own = |(key, _): &(&(usize, String), &(u32, Stream))| {
                    key.0 == *gpu && stream.as_ref().is_none_or(|stream| *stream == key.1)
                };
                let end = self.streams.iter().filter(own).map(|(_, (_, stream))| stream.end).max().unwrap_or(0);
                self.holds(end.saturating_add(ns(self.spec.completion.off)));
            }
            WorkloadStep::Collective { .. } => {}
        }
    }

    fn finish(self) -> Trace {
        let mut names: Vec<(String, u32)> = self.names.into_iter().collect();
        names.sort_by_key(|(_, number)| *number);
        let (mut device, mut calls) = (self.device, self.calls);
        device.sort_by_key(|op| op.start_ns);
        calls.sort_by_key(|call| call.start_ns);
        let used = (device.len() + calls.len()) as u64;
        Trace {
            format: None,
            names: names.into_iter().map(|(name, _)| name.into()).collect(),
            device,
            calls,
            synchronizations: Vec::new(),
            dependencies: Vec::new(),
            threads: self.threads.into_iter().map(|(thread, _)| thread).collect(),
            rank: None,
            gpu: None,
            first_step: None,
            marks: Vec::new(),
            events: Events { all: used, used, left_out: Vec::new() },
            assumed: Vec::new(),
        }
    }
}
