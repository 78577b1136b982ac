//! A run that is longer than those that an estimate was made of, to find what only comes later: a backlog that fills a buffer, say.

use super::{
    figures::{REST, TIME},
    parts::Part,
    points::Estimate,
};
use crate::{
    sim::Stall,
    system::{Outcome, UnitOutcome},
};

/// How many times as long as the longest.
const TIMES: u64 = 3;

#[derive(Debug)]
pub(super) struct Further {
    /// The parts as if it were all of the work.
    pub parts: Vec<Part>,
    pub lengths: Vec<u64>,
}

/// The run that is to come out as estimated: each part three times as long, or whole if that is shorter.
pub(super) fn further(parts: &[Part]) -> Option<Further> {
    let further = |part: &Part| {
        let rest = part.whole % part.step;
        let longest = part.lengths()?[5];
        let whole = longest.saturating_mul(TIMES).div_ceil(part.step).saturating_mul(part.step).saturating_add(rest);
        Some(Part { whole: whole.min(part.whole), ..part.clone() })
    };
    let parts: Vec<Part> = parts.iter().map(further).collect::<Option<_>>()?;
    let lengths = parts.iter().map(|part| part.whole).collect();
    Some(Further { parts, lengths })
}

/// Whether a run came out as it was estimated: no further off than what `auto` allows, and its units as busy.
pub(super) fn agrees(estimate: &Estimate, run: &Outcome) -> bool {
    let middle = &estimate.middle;
    let near = |one: u64, other: u64, part: f64, of: u64| one.abs_diff(other) as f64 <= part * of as f64;
    let unit = |(one, other): (&UnitOutcome, &UnitOutcome)| {
        let stall = |unit: &UnitOutcome, stall| unit.stalls.iter().find(|own| own.0 == stall).map_or(0, |own| own.1);
        let stalls = Stall::ALL.into_iter().all(|kind| near(stall(one, kind), stall(other, kind), REST, other.cycles));
        near(one.busy, other.busy, REST, other.cycles) && stalls
    };
    let exposed = |outcome: &Outcome| outcome.gpus.iter().map(|gpu| gpu.tag_queue.total_exposure.0).collect::<Vec<_>>();
    near(middle.end.0, run.end.0, TIME, run.end.0)
        && middle.units.iter().zip(&run.units).all(unit)
        && exposed(middle).into_iter().zip(exposed(run)).all(|(one, other)| near(one, other, REST, other))
}
