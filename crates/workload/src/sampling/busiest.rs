//! Who worked and waited longest for a copy whose middle was not simulated: what its longest run says, with the parts of the whole copy's time.

use super::{
    figures::{RESOLUTION, REST},
    line::Line,
    parts::{Part, What},
    points::{Estimate, Point},
};
use crate::system::{Busiest, CopyOutcome, Outcome, Waited};

/// One of the two, and its part of a copy's time.
type Share = for<'b> fn(&'b mut Busiest) -> Option<(&'b str, &'b str, &'b mut f64)>;

const SHARES: [Share; 2] = [
    |Busiest { unit, state, fraction, .. }| Some((unit, state, fraction)),
    |busiest| busiest.waited.as_mut().map(|Waited { unit, stall, fraction }| (&**unit, &**stall, fraction)),
];

/// Says it of the copies that were made shorter.
pub(super) fn name(estimate: &mut Estimate, parts: &[Part], base: &Point, longer: &[Vec<Point>]) {
    for (number, (part, runs)) in parts.iter().zip(longer).enumerate() {
        let What::Copies(places) = &part.what else { continue };
        for place in places {
            let runs = std::iter::once(base).chain(runs).map(|run| Some((run.lengths[number], run.copy(*place)?)));
            if let Some(runs) = runs.collect::<Option<Vec<_>>>() {
                name_one(estimate, *place, &runs, part.whole);
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
fn name_one(estimate: &mut Estimate, place: usize, runs: &[(u64, &CopyOutcome)], whole: u64) {
    let time = |outcome: &Outcome| Some(outcome.copies.get(place)?.time().0 as f64);
    let times = [&estimate.low, &estimate.middle, &estimate.high].map(time);
    let ([Some(low), Some(middle), Some(high)], Some(&(_, longest))) = (times, runs.last()) else { return };
    let time = Time { middle, half: (high - low).max(0.0) / 2.0 };
    for (outcome, way) in [(&mut estimate.middle, 0.0), (&mut estimate.low, -1.0), (&mut estimate.high, 1.0)] {
        let Some(copy) = outcome.copies.get_mut(place) else { continue };
        copy.busiest = longest.busiest.clone();
        for share in SHARES {
            if let Some(part) = fraction(runs, share, (whole, time, way))
                && let Some((.., of)) = share(&mut copy.busiest)
            {
                *of = part;
            }
        }
    }
}

/// A part of the whole copy's time: what all runs say of it lies on a line, as cycles of units do. None where they name others. A quotient is off
/// by what either of its terms is.
fn fraction(runs: &[(u64, &CopyOutcome)], share: Share, (whole, time, way): (u64, Time, f64)) -> Option<f64> {
    let mut last = runs.last()?.1.busiest.clone();
    let (unit, state, _) = share(&mut last)?;
    let point = |(length, run): &(u64, &CopyOutcome)| {
        let mut own = run.busiest.clone();
        let (own_unit, own_state, of) = share(&mut own)?;
        (own_unit == unit && own_state == state).then_some((*length, (*of * run.time().0 as f64) as u64))
    };
    let points: Vec<(u64, u64)> = runs.iter().map(point).collect::<Option<_>>()?;
    let said = Line::through(&points)?.at(whole);
    let all = time.middle.max(1.0);
    let middle = (points[0].1 as f64 + said.above) / all;
    let half = said.half.max(RESOLUTION * REST * all) / all + middle * time.half / all;
    Some((middle + way * half).clamp(0.0, 1.0))
}
