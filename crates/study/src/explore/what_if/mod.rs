//! What binds: a run is repeated with the parameters relaxed that may limit a copy.
//!
//! ```text
//!   run --> candidates, each with the most that it can account for
//!             |
//!             +--> run again with one of them relaxed --> gain      as long as the next one can gain more than the best so far
//!             |
//!             +--> the best; on the machine that has it relaxed, the next
//!             +--> or, where none alone gains two percent, the pair that gains most
//! ```
//!
//! Where a depth and a latency or rate bind together, as a window over a round trip does, the depth is the answer and the other stands next to it.

mod relax;

pub use crate::figures::limit::{Found, Gain, LimitedBy, Pair};
pub use relax::freed;

use crate::{
    config::{MachineSpec, Resolved},
    sim::Control,
    system::{self, Candidate, CopyOutcome, Direction, Outcome, Request, RunError, Sort},
    workload::Workload,
};
use relax::{Relaxed, relaxed};

/// Of longer copies only so many bytes are asked about.
pub const MOST_BYTES: u64 = 64 << 20;

/// Without being asked, several copies are measured only if they have no more bytes than this.
const MOST_UNASKED: u64 = 64 << 20;

/// A gain below this, in percent, is none.
pub const LEAST_GAIN: f64 = 2.0;

/// Of a longer copy candidates are first tried on so many bytes, and on all of it in the order of what they gain there.
const SCREENED: u64 = 8 << 20;

/// Candidates that are tried on all of it in addition to those that are asked for, since their order may change.
const ALSO_CONFIRMED: usize = 3;

/// A unit that has work for more than this part of the time is a bottleneck; a depth that is used up for more than this part is waited for.
const SATURATED: f64 = 0.9;
const USED_UP: f64 = 0.5;

/// Candidates that are tried two by two where none gains alone.
const PAIRED: usize = 5;

/// How many parameters are measured for a run of which nobody has said how many: one where that is quick, none where faults were injected
/// or a copy was not delivered, since what limits such a run is no parameter.
pub fn unasked(workload: &Workload, outcome: &Outcome) -> usize {
    let faulty = !workload.injections.is_empty() || outcome.copies.iter().any(|copy| !copy.delivered);
    let bytes = workload.copies.iter().map(|copy| copy.bytes.min(MOST_BYTES)).sum::<u64>();
    usize::from(!faulty && (workload.copies.len() == 1 || bytes <= MOST_UNASKED))
}

/// A run that can be repeated: the request with copies of at most so many bytes, without data.
pub type Repeat<'r> = &'r (dyn Fn(u64) -> Result<Request, RunError> + 'r);

struct Tried<'c> {
    candidate: &'c Candidate,
    relaxed: Relaxed,
    gain: f64,
}

struct Gains<'c> {
    /// Those that gain enough, the answer first.
    enough: Vec<Tried<'c>>,
    /// The others, the likeliest first.
    less: Vec<Tried<'c>>,
}

/// The copy in a run whose copies have at most so many bytes.
struct Base {
    copy: CopyOutcome,
    most: u64,
}

struct Question<'q> {
    repeat: Repeat<'q>,
    /// Place of the copy that is asked about.
    copy: usize,
    observer: &'q mut dyn FnMut() -> Control,
}

impl Question<'_> {
    /// None if the copy is not delivered.
    fn run(&mut self, machine: &MachineSpec, most: u64) -> Result<Option<Base>, RunError> {
        let request = (self.repeat)(most)?;
        let outcome = system::run(machine, request, &mut |_| (self.observer)())?;
        let copy = outcome.copies.into_iter().nth(self.copy).filter(|copy| copy.delivered);
        Ok(copy.map(|copy| Base { copy, most }))
    }

    /// How much faster than in `base` the copy is on another machine, in percent. A machine that cannot be built, or on which the copy is not
    /// delivered, gains nothing.
    fn gain(&mut self, machine: &MachineSpec, base: &Base) -> Result<f64, RunError> {
        let other = match self.run(machine, base.most) {
            Ok(Some(other)) => other,
            Ok(None) | Err(RunError::Build(_)) => return Ok(0.0),
            Err(error) => return Err(error),
        };
        Ok((base.copy.time().0 as f64 / other.copy.time().0.max(1) as f64 - 1.0) * 100.0)
    }

    /// What the candidates of a copy gain, as far as it takes to know the best `most`.
    fn gains<'c>(&mut self, machine: &Resolved, whole: &'c Base, most: usize) -> Result<Gains<'c>, RunError> {
        let copy = &whole.copy;
        // Caches make a short copy within the GPU another one.
        let screened = copy.bytes > SCREENED && copy.direction != Direction::D2d;
        let short = if screened { self.run(&machine.machine, SCREENED)? } else { None };
        let mut tried = self.try_all(machine, copy, short.as_ref().unwrap_or(whole), most)?;
        if short.is_some() {
            tried = self.confirm(tried, whole, most)?;
        }
        let (mut enough, less): (Vec<_>, Vec<_>) = tried.into_iter().partition(|one| one.gain >= LEAST_GAIN);
        put_depth_first(&mut enough);
        Ok(Gains { enough, less })
    }

    /// Tries candidates on `base` as long as they can gain more than the best `most`.
    fn try_all<'c>(
        &mut self,
        machine: &Resolved,
        copy: &'c CopyOutcome,
        base: &Base,
        most: usize,
    ) -> Result<Vec<Tried<'c>>, RunError> {
        let mut tried: Vec<Tried<'c>> = Vec::new();
        for candidate in &copy.candidates {
            let remedy = candidate.sort == Sort::Remedy;
            let rivals = tried.iter().filter(|one| remedy || one.candidate.sort != Sort::Remedy);
            let better = rivals.filter(|one| one.gain >= most_gain(candidate).max(LEAST_GAIN)).count();
            if better >= most {
                continue;
            }
            if let Some(relaxed) = relaxed(machine, &candidate.parameter) {
                let gain = self.gain(&relaxed.machine.machine, base)?;
                tried.push(Tried { candidate, relaxed, gain });
            }
        }
        Ok(tried)
    }

    /// Measures anew on the whole copy: the candidates that gained most on a part of it, and others until some gain enough.
    fn confirm<'c>(
        &mut self,
        mut tried: Vec<Tried<'c>>,
        whole: &Base,
        most: usize,
    ) -> Result<Vec<Tried<'c>>, RunError> {
        let mut order: Vec<_> = (0..tried.len()).collect();
        order.sort_by(|one, other| tried[*other].gain.total_cmp(&tried[*one].gain));
        let mut enough = 0;
        for (rank, place) in order.into_iter().enumerate() {
            let one = &mut tried[place];
            let worth = rank < most + ALSO_CONFIRMED || enough == 0;
            one.gain = if worth { self.gain(&one.relaxed.machine.machine, whole)? } else { 0.0 };
            enough += usize::from(one.gain >= LEAST_GAIN && one.candidate.sort != Sort::Remedy);
        }
        Ok(tried)
    }
}

/// Measures what limits a copy of a run on `machine`: the best `most` parameters.
///
/// # Errors
/// What the runs say; [`Control::Stop`] of the observer ends them.
pub fn measure(
    machine: &Resolved,
    repeat: Repeat<'_>,
    copy: usize,
    most: usize,
    observer: &mut dyn FnMut() -> Control,
) -> Result<Found, RunError> {
    let mut question = Question { repeat, copy, observer };
    let Some(outcome) = question.run(&machine.machine, MOST_BYTES)? else { return Ok(Found::default()) };
    let Gains { enough, less } = question.gains(machine, &outcome, most)?;
    let mut found = Found { bytes: outcome.copy.bytes, ..Found::default() };
    if enough.is_empty() {
        found.pair = pair(&mut question, &outcome, &less)?;
    }
    for (place, one) in enough.iter().take(most).enumerate() {
        let next = if place == 0 { next(&mut question, &one.relaxed.machine)? } else { None };
        found.best.push(Gain {
            parameter: one.candidate.parameter.clone(),
            unit: one.candidate.unit.clone(),
            state: one.candidate.state.clone(),
            fraction: one.candidate.fraction,
            value: one.relaxed.value.clone(),
            relaxed_to: one.relaxed.relaxed_to.clone(),
            gain_percent: one.gain,
            with: partner(one, &enough),
            next,
        });
    }
    Ok(found)
}

/// The machine with a parameter relaxed, and what it was relaxed to: twice the rate or depth, half the latency, or the next value that is legal.
/// None if it has no such value.
pub fn relax(machine: &Resolved, path: &str) -> Option<(Resolved, String)> {
    relaxed(machine, path).map(|relaxed| (relaxed.machine, relaxed.relaxed_to))
}

/// What binds on a machine that has the best parameter relaxed.
fn next(question: &mut Question<'_>, machine: &Resolved) -> Result<Option<String>, RunError> {
    let Some(outcome) = question.run(&machine.machine, MOST_BYTES)? else { return Ok(None) };
    let gains = question.gains(machine, &outcome, 1)?;
    Ok(gains.enough.first().map(|one| one.candidate.parameter.clone()))
}

/// The best pair of those that gain nothing alone, of the likeliest.
fn pair(question: &mut Question<'_>, outcome: &Base, tried: &[Tried<'_>]) -> Result<Option<Pair>, RunError> {
    let mut best: Option<Pair> = None;
    let some = &tried[..tried.len().min(PAIRED)];
    for (place, one) in some.iter().enumerate() {
        for other in &some[place + 1..] {
            let Some(both) = relaxed(&one.relaxed.machine, &other.candidate.parameter) else { continue };
            let gain_percent = question.gain(&both.machine.machine, outcome)?;
            if gain_percent >= LEAST_GAIN.max(best.as_ref().map_or(0.0, |best| best.gain_percent)) {
                let says = |one: &Tried<'_>| format!("{} = {}", one.candidate.parameter, one.relaxed.value);
                let relaxed_to = [one.relaxed.relaxed_to.clone(), both.relaxed_to];
                best = Some(Pair { parameters: [says(one), says(other)], relaxed_to, gain_percent });
            }
        }
    }
    Ok(best)
}

/// Sorts by gain, remedies last. But a unit that has room for more is no bottleneck: where one is waited for because a depth is used up, the depth goes first.
fn put_depth_first(enough: &mut [Tried<'_>]) {
    let remedy = |one: &Tried<'_>| one.candidate.sort == Sort::Remedy;
    enough.sort_by(|one, other| remedy(one).cmp(&remedy(other)).then(other.gain.total_cmp(&one.gain)));
    let Some(best) = enough.first().filter(|best| best.candidate.sort != Sort::Depth) else { return };
    if best.candidate.used > SATURATED {
        return;
    }
    let used_up = |one: &Tried<'_>| one.candidate.sort == Sort::Depth && one.candidate.fraction > USED_UP;
    if let Some(depth) = enough.iter().position(used_up) {
        enough[..=depth].rotate_right(1);
    }
}

/// The latency that a depth is used up by, or the rate: what else gains there.
fn partner(depth: &Tried<'_>, enough: &[Tried<'_>]) -> Option<String> {
    if depth.candidate.sort != Sort::Depth {
        return None;
    }
    let of = |sort: Sort| enough.iter().find(|one| one.candidate.sort == sort && one.candidate.fraction > USED_UP);
    let partner = of(Sort::Latency).or_else(|| of(Sort::Rate));
    partner.map(|one| format!("{} = {}", one.candidate.parameter, one.relaxed.value))
}

/// The most that a candidate can gain, in percent: a depth all the time that it can account for, anything else half of it.
fn most_gain(candidate: &Candidate) -> f64 {
    let saved = if candidate.sort == Sort::Depth { candidate.bound } else { candidate.bound / 2.0 };
    if saved >= 1.0 { f64::INFINITY } else { (1.0 / (1.0 - saved) - 1.0) * 100.0 }
}
