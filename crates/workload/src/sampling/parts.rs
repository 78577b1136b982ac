//! What of some work may be made shorter.

use super::{
    caches,
    looped::{Loop, longest},
};
use crate::{
    config::MachineSpec,
    host::Stride,
    system::{Direction, Memory},
    workload::{Copy, Workload, WorkloadStep},
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Bytes,
    Turns,
}

#[derive(Debug, Clone)]
pub(super) struct Part {
    pub what: What,
    /// Its whole length: bytes of each of its copies, or turns.
    pub whole: u64,
    /// Lengths differ by multiples of this.
    pub step: u64,
    /// What one of `--sample N` is: a message, or a turn.
    pub message: u64,
    pub from: u64,
    /// From there to the longest.
    pub span: u64,
    /// Length after which there is one launch more.
    pub launch: Option<u64>,
}

/// Where lengths lie between the shortest and the longest: at distances that share no period.
pub(super) const THIRTY_SECONDS: [u64; 6] = [0, 5, 13, 19, 26, 32];

#[derive(Debug, Clone)]
pub(super) enum What {
    /// Copies by their places, all alike.
    Copies(Vec<usize>),
    Turns(Loop),
}

/// Span of the lengths of copies to begin with, and the least of steps in it.
const SPAN: u64 = 32 << 20;
const STEPS: u64 = 16;
/// The same of loops.
const TURNS: u64 = 8;

/// The parts of some work on a machine. There are none where nothing is known to be alone, and none where caches hold some of its buffers and
/// not others: what a pass finds then depends on its place.
pub(super) fn parts(machine: &MachineSpec, workload: &Workload) -> Vec<Part> {
    if !caches::are_plain(machine, workload) {
        return Vec::new();
    }
    let Some(steps) = &workload.steps else { return one_by_one(machine, &workload.copies) };
    let found = longest(steps, &workload.copies);
    let mut parts: Vec<_> = found.map(of_loop).into_iter().collect();
    let outside = alone(steps).into_iter().filter(|copy| found.is_none_or(|found| !found.makes(*copy)));
    parts.extend(alike(outside.filter_map(|place| Some((place, workload.copies.get(place)?))), machine));
    parts
}

/// Copies that each GPU makes one after the other; GPUs work side by side, so all must do the same.
fn one_by_one(machine: &MachineSpec, copies: &[Copy]) -> Vec<Part> {
    let mut by_gpu: BTreeMap<usize, Vec<Copy>> = BTreeMap::new();
    copies.iter().for_each(|copy| by_gpu.entry(copy.gpu).or_default().push(Copy { gpu: 0, ..*copy }));
    let mut lists = by_gpu.values();
    let first = lists.next();
    if lists.any(|list| Some(list) != first) {
        return Vec::new();
    }
    alike(copies.iter().enumerate(), machine)
}

/// Copies by what they have in common.
fn alike<'c>(copies: impl Iterator<Item = (usize, &'c Copy)>, machine: &MachineSpec) -> Vec<Part> {
    let mut groups: BTreeMap<(u8, u64, bool), (Copy, Vec<usize>)> = BTreeMap::new();
    for (place, copy) in copies {
        let key = (copy.direction as u8, copy.bytes, copy.memory == Memory::Pinned);
        groups.entry(key).or_insert_with(|| (*copy, Vec::new())).1.push(place);
    }
    groups.into_values().map(|(copy, places)| of_copies(machine, copy, places)).collect()
}

fn of_copies(machine: &MachineSpec, copy: Copy, places: Vec<usize>) -> Part {
    let own = machine.of_gpu(copy.gpu);
    let secure = own.sealed_path() && copy.direction != Direction::D2d;
    let stride = Stride::of((&own.driver, &own.staging), secure, (copy.direction, copy.memory));
    let step = stride.step.0.max(1);
    let from = stride.turn.map_or(0, |turn| turn.0).max(STEPS.saturating_mul(step));
    let span = SPAN.max(STEPS.saturating_mul(step));
    let launch = stride.launch.map(|launch| launch.0);
    Part { what: What::Copies(places), whole: copy.bytes, step, message: stride.message.0.max(1), from, span, launch }
}

fn of_loop(found: Loop) -> Part {
    let whole = found.turns as u64;
    Part { what: What::Turns(found), whole, step: 1, message: 1, from: TURNS, span: 4 * TURNS, launch: None }
}

impl Loop {
    /// Whether it makes the copy with this place.
    pub const fn makes(&self, copy: usize) -> bool {
        copy >= self.copy && copy < self.copy + self.copies * self.turns
    }
}

/// Copies that find all GPUs idle and that the host waits for before it does anything else.
fn alone(steps: &[WorkloadStep]) -> Vec<usize> {
    let (mut pending, mut copies, mut alone) = (BTreeSet::new(), 0, Vec::new());
    for (place, step) in steps.iter().enumerate() {
        let stream = |name: &str| (step.gpu(), name.to_owned());
        match step {
            WorkloadStep::Copy { stream: own, blocking, .. } => {
                let waits = *blocking || waits_for(steps.get(place + 1), step.gpu(), own);
                if pending.is_empty() && waits {
                    alone.push(copies);
                }
                copies += 1;
                pending.insert(stream(own));
            }
            WorkloadStep::Sync { stream: None, .. } => pending.retain(|(gpu, _)| *gpu != step.gpu()),
            WorkloadStep::Sync { stream: Some(own), .. } => _ = pending.remove(&stream(own)),
            WorkloadStep::Record { .. }
            | WorkloadStep::Wait { .. }
            | WorkloadStep::Host { .. }
            | WorkloadStep::Thread { .. } => {}
            WorkloadStep::Kernel { stream: own, .. }
            | WorkloadStep::Launch { stream: own, .. }
            | WorkloadStep::Collective { stream: own, .. }
            | WorkloadStep::Network { stream: own, .. } => _ = pending.insert(stream(own)),
        }
    }
    alone
}

fn waits_for(next: Option<&WorkloadStep>, gpu: usize, stream: &str) -> bool {
    match next {
        Some(next @ WorkloadStep::Sync { stream: of, .. }) => {
            next.gpu() == gpu && of.as_deref().is_none_or(|of| of == stream)
        }
        _ => false,
    }
}

impl Part {
    /// Six lengths, whose distances share no period, and which end like the whole; none if the longest would not be shorter than it.
    pub fn lengths(&self) -> Option<[u64; 6]> {
        let rest = self.whole % self.step;
        let at = |thirty_seconds: u64| {
            let length = self.from.saturating_add(u128_share(self.span, thirty_seconds));
            rest.saturating_add(length.div_ceil(self.step).saturating_mul(self.step))
        };
        let lengths = THIRTY_SECONDS.map(at);
        let rises = lengths.windows(2).all(|two| two[0] < two[1]);
        (rises && lengths[5] < self.whole).then_some(lengths)
    }

    /// How much there is of it, to be compared with others.
    pub fn weight(&self) -> u64 {
        match &self.what {
            What::Copies(places) => self.whole.saturating_mul(places.len() as u64),
            // A loop has whatever its turns do; it is made shorter first.
            What::Turns(_) => u64::MAX,
        }
    }

    /// With at most so many messages or turns.
    pub fn at_most(&mut self, messages: u64) {
        let most = messages.saturating_mul(self.message);
        (self.from, self.span) = (most / 2, most - most / 2);
    }

    pub const fn lengthen(&mut self) {
        (self.from, self.span) = (self.from.saturating_mul(2), self.span.saturating_mul(2));
    }

    /// Launches of the whole beyond those of a length.
    pub fn more_launches(&self, length: u64) -> u64 {
        self.launch.map_or(0, |launch| self.whole.div_ceil(launch.max(1)) - length.div_ceil(launch.max(1)))
    }
}

/// So many of 32 equal shares.
fn u128_share(of: u64, shares: u64) -> u64 {
    (u128::from(of) * u128::from(shares) / 32) as u64
}
