//! What limits a copy whose middle was not simulated: the candidates of its longest run, with the parts of the whole copy's time that they come to.

use super::{
    figures::{RESOLUTION, REST},
    line::Line,
    parts::{Part, What},
    points::{Estimate, Point},
};
use crate::system::{Candidate, CopyOutcome, Outcome};

/// A part of a copy's time that a candidate states.
type Fraction = fn(&mut Candidate) -> &mut f64;

const FRACTIONS: [Fraction; 3] =
    [|candidate| &mut candidate.fraction, |candidate| &mut candidate.bound, |candidate| &mut candidate.used];

/// Names what limits the copies that were made shorter.
pub(super) fn limit(estimate: &mut Estimate, parts: &[Part], base: &Point, longer: &[Vec<Point>]) {
    for (number, (part, runs)) in parts.iter().zip(longer).enumerate() {
        let What::Copies(places) = &part.what else { continue };
        for place in places {
            let runs = std::iter::once(base).chain(runs).map(|run| Some((run.lengths[number], run.copy(*place)?)));
            if let Some(runs) = runs.collect::<Option<Vec<_>>>() {
                limit_copy(estimate, *place, &runs, part.whole);
            }
        }
    }
}

/// A length of time, and by how much it may be off.
#[derive(Debug, Clone, Copy)]
struct Time {
    middle: f64,
    half: f64,
}

/// One of them, by its runs and their lengths.
fn limit_copy(estimate: &mut Estimate, place: usize, runs: &[(u64, &CopyOutcome)], whole: u64) {
    let time = |outcome: &Outcome| Some(outcome.copies.get(place)?.time().0 as f64);
    let times = [&estimate.low, &estimate.middle, &estimate.high].map(time);
    let ([Some(low), Some(middle), Some(high)], Some(&(_, longest))) = (times, runs.last()) else { return };
    let time = Time { middle, half: (high - low).max(0.0) / 2.0 };
    for (outcome, way) in [(&mut estimate.middle, 0.0), (&mut estimate.low, -1.0), (&mut estimate.high, 1.0)] {
        let Some(copy) = outcome.copies.get_mut(place) else { continue };
        copy.candidates.clone_from(&longest.candidates);
        copy.limited_by = longest.limited_by.clone();
        for candidate in &mut copy.candidates {
            for of in FRACTIONS {
                if let Some(part) = fraction(runs, candidate, of, (whole, time, way)) {
                    *of(candidate) = part;
                }
            }
        }
        let limiter = &mut copy.limited_by;
        let own = copy.candidates.iter().find(|one| {
            Some(&one.parameter) == limiter.parameter.as_ref() && one.unit == limiter.unit && one.state == limiter.state
        });
        limiter.fraction = own.map_or(limiter.fraction, |own| own.fraction);
    }
}

/// A part of the whole copy's time: what all runs say of that candidate lies on a line, as cycles of units do. None where one of them does not
/// name it. A quotient is off by what either of its terms is.
fn fraction(
    runs: &[(u64, &CopyOutcome)],
    candidate: &Candidate,
    of: Fraction,
    (whole, time, way): (u64, Time, f64),
) -> Option<f64> {
    let point = |(length, run): &(u64, &CopyOutcome)| {
        let mut own = run.candidates.iter().find(|one| one.parameter == candidate.parameter)?.clone();
        Some((*length, (*of(&mut own) * run.time().0 as f64) as u64))
    };
    let points: Vec<(u64, u64)> = runs.iter().map(point).collect::<Option<_>>()?;
    let said = Line::through(&points)?.at(whole);
    let all = time.middle.max(1.0);
    let middle = (points[0].1 as f64 + said.above) / all;
    let half = said.half.max(RESOLUTION * REST * all) / all + middle * time.half / all;
    Some((middle + way * half).clamp(0.0, 1.0))
}
