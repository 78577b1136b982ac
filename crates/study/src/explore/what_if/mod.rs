//! What limits a copy, by experiment: its run is repeated with parameters relaxed that can only help, as their fields declare.
//!
//! ```text
//!   all candidates relaxed: +G % --> no one of them gains more than G
//!      |-- the first half: +A %
//!      |      |-- ...                  the half with the greatest gain is halved next,
//!      |      `-- one candidate: +a %  until what is left is one candidate: the answer
//!      `-- the second half: +B %       never looked into where B < a
//! ```
//!
//! | step | runs |
//! | --- | --- |
//! | search, on at most 8 MiB of the copy | two for each halving |
//! | the best, on at most 64 MiB of it | one each |
//! | where none gains 3 % alone | one for each of [`PAIRS`] that the machine has, one for each time of flight |
//! | what limits next | a search on the machine with the best relaxed |
//!
//! One parameter has 60 runs at most. Whatever a half gains bounds what each of its candidates gains alone as far as more of one never spoils another, which
//! parameters are chosen for and tests hold against brute force.

mod relax;

pub use crate::figures::limit::{Gain, LimitedBy};
pub use relax::{freed, relax};

use crate::{
    config::{Base, MachineSpec, Relaxes, Resolved},
    sim::Control,
    system::{self, CopyOutcome, Direction, Outcome, Request, RunError},
    units::Femtos,
    workload::Workload,
};
use relax::Step;
use std::{cmp::Reverse, collections::BinaryHeap, ops::Range};

/// Of longer copies only so many bytes are asked about.
pub const MOST_BYTES: u64 = 64 << 20;

/// Without being asked, several copies are measured only if they have no more bytes than this.
const MOST_UNASKED: u64 = 64 << 20;

/// A gain below this, in percent, is none.
pub const LEAST_GAIN: f64 = 3.0;

/// Of a longer copy the search is made on so many bytes.
const SCREENED: u64 = 8 << 20;

/// Candidates that are tried on the longer copy in addition to those that are asked for, since their order may change.
const ALSO_CONFIRMED: usize = 1;

/// Runs for a copy, and those of them that are left for pairs and for what limits next; each further parameter that is asked for has some of its own.
const MOST_RUNS: u32 = 60;
const RESERVED: u32 = 14;
const MORE_RUNS: u32 = 12;

/// Parameters that may bind together while neither does alone.
pub const PAIRS: [[&str; 2]; 12] = [
    ["engine.aes.lanes", "engine.ghash.width"],
    ["engine.aes.lanes", "engine.ghash.groups"],
    ["copy_engine.outstanding_reads", "copy_engine.read_buffer"],
    ["link.host_credits.posted_headers", "link.host_credits.posted_data"],
    ["link.host_credits.non_posted_headers", "link.host_credits.non_posted_data"],
    ["link.gpu_credits.completion_headers", "link.gpu_credits.completion_data"],
    ["driver.secure_push", "driver.in_flight.h2d"],
    ["driver.secure_push", "driver.in_flight.d2h"],
    ["driver.push", "driver.in_flight.h2d"],
    ["driver.push", "driver.in_flight.d2h"],
    ["copy_engine.pces_secure", "copy_engine.outstanding_reads"],
    ["copy_engine.pces_plain", "copy_engine.outstanding_reads"],
];

/// How many parameters are measured for a run; where nobody has said how many, one if that is quick. None where faults were injected or a copy was not
/// delivered, since what limits such a run is no parameter.
pub(super) fn asked(workload: &Workload, outcome: &Outcome, most: Option<usize>) -> usize {
    if !workload.injections.is_empty() || outcome.copies.iter().any(|copy| !copy.delivered) {
        return 0;
    }
    let bytes = workload.copies.iter().map(|copy| copy.bytes.min(MOST_BYTES)).sum::<u64>();
    most.unwrap_or_else(|| usize::from(workload.copies.len() == 1 || bytes <= MOST_UNASKED))
}

/// A run that can be repeated: the request with copies of at most so many bytes, without data.
pub type Repeat<'r> = &'r (dyn Fn(u64) -> Result<Request, RunError> + 'r);

struct Question<'q> {
    repeat: Repeat<'q>,
    /// Place of the copy that is asked about.
    copy: usize,
    observer: &'q mut dyn FnMut() -> Control,
    runs: u32,
    /// Whether a search ended before all that may gain enough was looked into.
    cut_short: bool,
}

/// How long the copy takes as it is, in a run whose copies have at most so many bytes.
#[derive(Debug, Clone, Copy)]
struct Before {
    time: Femtos,
    most: u64,
}

/// Candidates that stand side by side, and what all of them gain together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    /// The bits of a number that is not negative, whose order is its own.
    gain: u64,
    of: Reverse<(usize, usize)>,
}

#[derive(Debug, Clone)]
struct Tried {
    step: Step,
    gain: f64,
}

impl Question<'_> {
    /// The copy on a machine; none if it is not delivered, or such a machine cannot be built.
    fn run(&mut self, machine: &MachineSpec, most: u64) -> Result<Option<CopyOutcome>, RunError> {
        self.runs += 1;
        let request = (self.repeat)(most)?;
        let outcome = match system::run(machine, request, &mut |_| (self.observer)()) {
            Err(RunError::Build(_)) => return Ok(None),
            outcome => outcome?,
        };
        Ok(outcome.copies.into_iter().nth(self.copy).filter(|copy| copy.delivered))
    }

    /// How much faster the copy is with steps taken, in percent; none if they do not go together, or it is not delivered then.
    fn gain(&mut self, machine: &Base, before: Before, steps: &[Step]) -> Result<Option<f64>, RunError> {
        let settings: Vec<_> = steps.iter().map(Step::setting).collect();
        let Ok(relaxed) = machine.varied(&settings) else { return Ok(None) };
        let copy = self.run(&relaxed.machine, before.most)?;
        Ok(copy.map(|copy| (before.time.0 as f64 / copy.time().0.max(1) as f64 - 1.0) * 100.0))
    }

    /// The candidates that gain most alone, the best first: `most` of them, as far as they gain enough and runs last.
    fn search(&mut self, machine: &Base, before: Before, (most, runs): (usize, u32)) -> Result<Vec<Tried>, RunError> {
        let steps = relax::steps(machine, |way| way != Relaxes::Physics);
        let (mut parts, mut found) = (BinaryHeap::new(), Vec::new());
        self.look(machine, before, &steps, 0..steps.len(), &mut parts)?;
        while let Some(Part { gain, of: Reverse((from, to)) }) = parts.pop() {
            if found.len() == most || f64::from_bits(gain) < LEAST_GAIN {
                break;
            }
            if to - from > 1 && self.runs + 2 > runs {
                self.cut_short = true;
                break;
            }
            if to - from == 1 {
                found.push(Tried { step: steps[from].clone(), gain: f64::from_bits(gain) });
                continue;
            }
            let middle = from.midpoint(to);
            self.look(machine, before, &steps, from..middle, &mut parts)?;
            self.look(machine, before, &steps, middle..to, &mut parts)?;
        }
        Ok(found)
    }

    /// Notes what some candidates gain together; of those that do not go together each half.
    fn look(
        &mut self,
        machine: &Base,
        before: Before,
        steps: &[Step],
        part: Range<usize>,
        parts: &mut BinaryHeap<Part>,
    ) -> Result<(), RunError> {
        match self.gain(machine, before, &steps[part.clone()])? {
            Some(gain) => {
                parts.push(Part { gain: gain.max(0.0).to_bits(), of: Reverse((part.start, part.end)) });
            }
            None if part.len() > 1 => {
                let middle = part.start.midpoint(part.end);
                self.look(machine, before, steps, part.start..middle, parts)?;
                self.look(machine, before, steps, middle..part.end, parts)?;
            }
            None => {}
        }
        Ok(())
    }

    /// The same candidates with what they gain on the longer copy, the best first.
    fn confirm(&mut self, machine: &Base, before: Before, found: Vec<Tried>) -> Result<Vec<Tried>, RunError> {
        let mut confirmed = Vec::new();
        for Tried { step, .. } in found {
            if let Some(gain) =
                self.gain(machine, before, std::slice::from_ref(&step))?.filter(|gain| *gain >= LEAST_GAIN)
            {
                confirmed.push(Tried { step, gain });
            }
        }
        confirmed.sort_by(|one, other| other.gain.total_cmp(&one.gain));
        Ok(confirmed)
    }

    /// The pair that gains most, if one gains enough.
    fn pair(&mut self, machine: &Base, before: Before) -> Result<Option<[Gain; 2]>, RunError> {
        let mut best: Option<[Gain; 2]> = None;
        for paths in PAIRS {
            let steps: Vec<Step> = paths.iter().filter_map(|path| relax::step(machine, path)).collect();
            let [one, other] = &steps[..] else { continue };
            let gain = self.gain(machine, before, &steps)?.unwrap_or(0.0);
            if gain >= best.as_ref().map_or(LEAST_GAIN, |[one, _]| one.gain_percent) {
                best = Some([one, other].map(|step| step.gains(gain)));
            }
        }
        Ok(best)
    }

    /// The time of flight that gains most, if one gains enough.
    fn physics(&mut self, machine: &Base, before: Before) -> Result<Option<Gain>, RunError> {
        let flights = relax::steps(machine, |way| way == Relaxes::Physics);
        let flights = flights.into_iter().map(|step| Tried { step, gain: 0.0 }).collect();
        Ok(self.confirm(machine, before, flights)?.first().map(|one| one.step.gains(one.gain)))
    }
}

/// Measures what limits a copy of a run on `machine`: the best `most` parameters.
pub fn measure(
    machine: &Resolved,
    repeat: Repeat<'_>,
    copy: usize,
    most: usize,
    observer: &mut dyn FnMut() -> Control,
) -> Result<LimitedBy, RunError> {
    let Ok(machine) = machine.base() else { return Ok(LimitedBy::default()) };
    let (machine, own) = (&machine, &machine.resolved().machine);
    let mut question = Question { repeat, copy, observer, runs: 0, cut_short: false };
    let Some(copy) = question.run(own, MOST_BYTES)? else { return Ok(LimitedBy::default()) };
    let whole = Before { time: copy.time(), most: MOST_BYTES };
    // Caches make a short copy within the GPU another one.
    let long = copy.bytes > SCREENED && copy.direction != Direction::D2d;
    let short = if long { question.run(own, SCREENED)? } else { None };
    let screen = short.as_ref().map_or(whole, |copy| Before { time: copy.time(), most: SCREENED });
    let further = if short.is_some() { ALSO_CONFIRMED } else { 0 };
    let all = MOST_RUNS + MORE_RUNS * (most as u32).saturating_sub(1);
    let mut found = question.search(machine, screen, (most + further, all - RESERVED))?;
    if short.is_some() {
        found = question.confirm(machine, whole, found)?;
    }
    found.truncate(most);
    // That what limits next is not known changes no answer.
    let cut_short = question.cut_short;
    let mut limit = LimitedBy { bytes: copy.bytes, ..LimitedBy::default() };
    if let Some(first) = found.first()
        && let Ok(relaxed) = machine.resolved().with(&[first.step.setting()]).and_then(|relaxed| relaxed.base())
        && let Some(copy) = question.run(&relaxed.resolved().machine, screen.most)?
    {
        let next = question.search(&relaxed, Before { time: copy.time(), ..screen }, (1, all))?;
        limit.next = next.into_iter().next().map(|one| one.step.path);
    }
    limit.best = found.into_iter().map(|one| one.step.gains(one.gain)).collect();
    if limit.best.is_empty() {
        limit.together = question.pair(machine, whole)?;
    }
    if limit.best.is_empty() && limit.together.is_none() {
        limit.physics = question.physics(machine, whole)?;
    }
    Ok(LimitedBy { runs: question.runs, cut_short, ..limit })
}
