//! A replay as a Chakra execution trace, for simulators that read such.
//!
//! ```text
//!  thread:  [host time] -> [call, until its operation begins] ----------> [call, from its end on] -> ...
//!                                        |                                   ^
//!                                        +--control--> [operation] --data----+
//!  stream:                                   [operation before] --data--> [operation]
//! ```
//!
//! A call is cut where its operation begins, and goes on where what it waited for ends: whoever goes by dependencies then counts no time
//! twice. Each node waits for nodes with smaller numbers only.

use super::{
    Ns,
    job::{Bind, Call, Job, Way, Work},
    play::{Played, Span},
};
use crate::workload::trace::{CallKind, ChakraNode, ChakraWork, DeviceKind, DeviceOp, Trace, write_chakra_head};
use std::{
    collections::BTreeSet,
    io::{self, Write},
};

/// What host time between two calls is called.
const BETWEEN: &str = "host time";

pub fn write_chakra(trace: &Trace, job: &Job, played: &Played, out: &mut dyn Write) -> io::Result<()> {
    write_chakra_head(out)?;
    let mut writer = Writer {
        trace,
        job,
        played,
        out,
        last: 0,
        threads: vec![None; job.threads],
        streams: vec![None; job.streams],
        ops: vec![0; job.ops.len()],
        submitted: BTreeSet::new(),
    };
    job.calls.iter().zip(&played.calls).try_for_each(|(call, span)| writer.call(call, *span))
}

struct Writer<'a> {
    trace: &'a Trace,
    job: &'a Job,
    played: &'a Played,
    out: &'a mut dyn Write,
    last: u64,
    /// The last node of each thread, and its end.
    threads: Vec<Option<(u64, Ns)>>,
    streams: Vec<Option<u64>>,
    /// The node of each operation; 0: it has none yet.
    ops: Vec<u64>,
    /// Operations that have a node, by their ends.
    submitted: BTreeSet<(Ns, u32)>,
}

impl Writer<'_> {
    fn call(&mut self, call: &Call, span: Span) -> io::Result<()> {
        if !call.traced() {
            return call.ops.iter().try_for_each(|op| self.op(*op, None));
        }
        let (job, played) = (self.job, self.played);
        let name = job.name(call.name);
        self.between(call.thread, span.start)?;
        let waits = matches!(call.kind, CallKind::Synchronize(_) | CallKind::Free);
        if waits && let Some((ended, op)) = self.ended(span) {
            return self.host(name, call.thread, Span { start: ended, ..span }, Some(op));
        }
        let begins = call.ops.iter().map(|op| played.ops[*op as usize].start).min();
        let cut = begins.unwrap_or(span.end).clamp(span.start, span.end);
        self.host(name, call.thread, Span { end: cut, ..span }, None)?;
        let asked = self.last;
        call.ops.iter().try_for_each(|op| self.op(*op, Some(asked)))?;
        let own = call.ops.iter().map(|op| (played.ops[*op as usize].end, *op)).filter(|(end, _)| *end <= span.end);
        let rest = own.max().map_or((cut, None), |(end, op)| (end.max(cut), Some(op)));
        match rest {
            (from, _) if from >= span.end => Ok(()),
            (start, waited) => self.host(name, call.thread, Span { start, ..span }, waited),
        }
    }

    /// The time since the last call of a thread.
    fn between(&mut self, thread: u32, until: Ns) -> io::Result<()> {
        match self.threads[thread as usize] {
            Some((_, start)) if start < until => self.host(BETWEEN, thread, Span { start, end: until }, None),
            _ => Ok(()),
        }
    }

    /// The last operation that ends while a call waits.
    fn ended(&self, Span { start, end }: Span) -> Option<(Ns, u32)> {
        let last = self.submitted.range(..=(end, u32::MAX)).next_back();
        last.copied().filter(|(ended, _)| *ended > start)
    }

    /// A node of a thread, behind its last one and behind an operation.
    fn host(&mut self, name: &str, thread: u32, span: Span, waited: Option<u32>) -> io::Result<()> {
        self.last += 1;
        let before = self.threads[thread as usize].replace((self.last, span.end));
        let node = ChakraNode {
            id: self.last,
            name,
            work: ChakraWork::Host,
            start_ns: span.start,
            duration_ns: span.duration(),
            control: before.map(|(before, _)| before).into_iter().collect(),
            data: waited.map(|op| self.ops[op as usize]).into_iter().collect(),
            bytes: None,
            lane: thread,
            gpu: None,
        };
        node.write(self.out)
    }

    /// The node of an operation, behind those that it waited for.
    fn op(&mut self, place: u32, asked: Option<u64>) -> io::Result<()> {
        let (op, span) = (&self.job.ops[place as usize], self.played.ops[place as usize]);
        self.last += 1;
        let before = self.streams[op.stream as usize].replace(self.last);
        let other = match self.job.bound[place as usize].by {
            Bind::Op(other, _) if self.played.ops[other as usize].end <= span.start => self.ops[other as usize],
            _ => 0,
        };
        let (work, bytes) = work(self.trace, op.work, &self.trace.device[op.traced as usize]);
        self.ops[place as usize] = self.last;
        self.submitted.insert((span.end, place));
        let node = ChakraNode {
            id: self.last,
            name: self.job.name(op.name),
            work,
            start_ns: span.start,
            duration_ns: span.duration(),
            control: asked.into_iter().collect(),
            data: before.into_iter().chain((other > 0).then_some(other)).collect(),
            bytes,
            lane: op.stream,
            gpu: Some(self.job.device(op)),
        };
        node.write(self.out)
    }
}

/// What an operation is to the format, and its bytes.
fn work<'a>(trace: &'a Trace, work: Work, op: &DeviceOp) -> (ChakraWork<'a>, Option<u64>) {
    match (work, &op.kind) {
        (Work::Copy { way: Way::H2d, bytes, .. }, _) => (ChakraWork::Load, Some(bytes)),
        (Work::Copy { way: Way::D2h, bytes, .. }, _) => (ChakraWork::Store, Some(bytes)),
        (_, DeviceKind::Collective(sent)) => {
            (ChakraWork::Collective(trace.name(sent.op)), sent.bytes_in.or(sent.bytes_out))
        }
        (_, DeviceKind::Copy { bytes, .. }) => (ChakraWork::Computation, Some(*bytes)),
        (_, DeviceKind::Memset { bytes }) => (ChakraWork::Computation, Some(*bytes).filter(|bytes| *bytes > 0)),
        (_, DeviceKind::Kernel | DeviceKind::Graph) => (ChakraWork::Computation, None),
    }
}
