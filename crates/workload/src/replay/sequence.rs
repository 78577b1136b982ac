//! The copies of a job as a workload: in the order of their calls, with kernels, waits and events between them. Host time between calls is not in it.
//!
//! | of a copy | |
//! | --- | --- |
//! | buffer | that of all copies that go the same way, are as long, and use the same kind of memory; a copy to fresh or from cold memory begins another |
//! | pages | what its first copy finds |

use super::{
    Ns,
    copies::CopyKey,
    job::{Bind, Job, Op},
    ops::Sparse,
};
use crate::{
    host::map::{MAX_COPIES, MAX_STREAMS},
    system::Pages,
    units::Femtos,
    workload::{Copy, MAX_KERNELS, MAX_STEPS, Workload, WorkloadStep, trace::CallKind},
};
use std::collections::{HashMap, HashSet};

/// Femtoseconds of a nanosecond.
const NANO: u64 = 1_000_000;

/// What a copy stands for: the operation, and how often one copy of it comes one behind the other.
pub(super) type Stands = (usize, u64);

/// A job, or a stretch of it, as a workload.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    steps: Vec<WorkloadStep>,
    copies: Vec<Copy>,
    pub stands: Vec<Stands>,
}

impl Sequence {
    /// To be run, for the sake of its timing.
    pub fn workload(&self) -> Workload {
        Workload::timed(self.copies.clone(), Some(self.steps.clone()))
    }

    /// Its first copies, with what is before them.
    pub fn beginning(&self, copies: usize) -> Self {
        let places = self.steps.iter().enumerate().filter(|(_, step)| is_copy(step)).map(|(place, _)| place);
        let end = places.take(copies).last().map_or(0, |place| place + 1);
        Self {
            steps: self.steps[..end].to_vec(),
            copies: self.copies.iter().take(copies).copied().collect(),
            stands: self.stands.iter().take(copies).copied().collect(),
        }
    }

    /// Its steps, each with its copy if it makes one.
    pub fn steps(&self) -> impl Iterator<Item = (&WorkloadStep, Option<&Copy>)> {
        let mut copies = self.copies.iter();
        self.steps.iter().map(move |step| (step, if is_copy(step) { copies.next() } else { None }))
    }

    pub fn bytes(&self) -> u64 {
        self.copies.iter().map(|copy| copy.bytes).fold(0, u64::saturating_add)
    }
}

const fn is_copy(step: &WorkloadStep) -> bool {
    matches!(step, WorkloadStep::Copy { .. })
}

/// Which part of a job is wanted.
#[derive(Clone, Copy, Default)]
pub(super) enum Wanted {
    /// All of it in one piece, whatever a workload takes.
    #[default]
    All,
    /// What goes to one device, in stretches that a machine takes.
    Stretches(u32),
}

/// The copies of a job, each of which is simulated as `simulated` says, as one workload or several.
pub(super) fn sequences(
    job: &Job,
    keys: &Sparse<CopyKey>,
    wanted: Wanted,
    simulated: impl Fn(&CopyKey) -> Vec<(CopyKey, u64)>,
) -> Vec<Sequence> {
    // What other streams wait for.
    let awaited =
        job.bound.iter().filter_map(|bound| if let Bind::Op(other, _) = bound.by { Some(other) } else { None });
    let mut cutter = Cutter { awaited: awaited.collect(), wanted, ..Cutter::default() };
    for call in &job.calls {
        if matches!(call.kind, CallKind::Synchronize(_)) {
            cutter.sync();
        }
        for place in &call.ops {
            match keys.get(*place as usize) {
                Some(key) => cutter.op(*place, job, &simulated(&key)),
                None => cutter.op(*place, job, &[]),
            }
        }
    }
    cutter.end();
    cutter.done
}

#[derive(Default)]
struct Cutter {
    awaited: HashSet<u32>,
    wanted: Wanted,
    done: Vec<Sequence>,
    now: Sequence,
    /// Of this stretch: events that have been recorded, how long kernels last together, and the buffers with what their first copies find.
    recorded: HashSet<u32>,
    kernels: u64,
    buffers: HashMap<CopyKey, (String, Pages)>,
    named: usize,
}

impl Cutter {
    fn end(&mut self) {
        if !self.now.steps.is_empty() {
            self.done.push(std::mem::take(&mut self.now));
        }
        (self.recorded, self.buffers, self.kernels, self.named) = Default::default();
    }

    fn sync(&mut self) {
        // A second wait finds nothing to wait for.
        let idle = self.now.steps.last().is_none_or(|step| matches!(step, WorkloadStep::Sync { .. }));
        if !idle {
            self.now.steps.push(WorkloadStep::Sync { gpu: 0, stream: None });
        }
    }

    fn stream(&self, op: &Op) -> String {
        let stream = if matches!(self.wanted, Wanted::All) { op.stream } else { op.stream % MAX_STREAMS };
        format!("s{stream}")
    }

    /// Begins another stretch if this one has no room for so much more.
    fn make_room(&mut self, copies: usize, kernel: u64) {
        let full = self.now.copies.len() + copies > MAX_COPIES
            || self.now.steps.len() + copies + 3 > MAX_STEPS
            || self.kernels.saturating_add(kernel) > MAX_KERNELS.0;
        if full && matches!(self.wanted, Wanted::Stretches(_)) {
            self.end();
        }
    }

    fn op(&mut self, place: u32, job: &Job, copies: &[(CopyKey, u64)]) {
        let op = &job.ops[place as usize];
        if matches!(self.wanted, Wanted::Stretches(device) if device != job.device(op)) {
            return;
        }
        let kernel = femtos(if copies.is_empty() { op.duration } else { 0 });
        self.make_room(2 * copies.len(), kernel);
        let stream = self.stream(op);
        if let Bind::Op(other, _) = job.bound[place as usize].by
            && self.recorded.contains(&other)
        {
            self.now.steps.push(WorkloadStep::Wait { gpu: 0, stream: stream.clone(), event: format!("e{other}") });
        }
        for (key, count) in copies {
            self.copy(place, op, key);
            if *count > 1 {
                self.copy(place, op, key);
                if let Some((_, stands)) = self.now.stands.last_mut() {
                    *stands = count - 1;
                }
            }
        }
        if kernel > 0 {
            self.kernels = self.kernels.saturating_add(kernel);
            self.now.steps.push(WorkloadStep::Kernel { gpu: 0, stream: stream.clone(), duration: Femtos(kernel) });
        }
        if self.awaited.contains(&place) {
            self.recorded.insert(place);
            self.now.steps.push(WorkloadStep::Record { gpu: 0, stream, event: format!("e{place}") });
        }
    }

    fn copy(&mut self, place: u32, op: &Op, key: &CopyKey) {
        let alike = CopyKey { pages: Pages::Warm, ..*key };
        if key.pages != Pages::Warm || !self.buffers.contains_key(&alike) {
            self.buffers.insert(alike, (format!("b{}", self.named), key.pages));
            self.named += 1;
        }
        let (buffer, pages) = self.buffers.get(&alike).cloned().unwrap_or_default();
        let CopyKey { way, bytes, memory, .. } = *key;
        self.now.copies.push(Copy { gpu: 0, direction: way.direction(), bytes, memory });
        self.now.stands.push((place as usize, 1));
        let (stream, buffer, blocking) = (self.stream(op), Some(buffer), op.host_waits());
        self.now.steps.push(WorkloadStep::Copy { gpu: 0, stream, buffer, pages, blocking });
    }
}

/// The same in femtoseconds, as far as a workload counts.
fn femtos(time: Ns) -> u64 {
    time.saturating_mul(NANO).min(MAX_KERNELS.0)
}
