//! A time that grows with one length, from short lengths: what a collective takes, by the bytes of its buffers.

use super::{
    ask::Sample,
    check::further,
    figures::TIME,
    line::Line,
    parts::{Part, What},
    points::moved,
};
use std::collections::BTreeMap;

/// No interval is narrower than this share of what `auto` asks for.
const LEAST: f64 = 0.1;
/// Steps of the shortest length to begin with, and from there to the longest.
const STEPS: u64 = 16;

/// A time, and how it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scaled {
    /// What it is estimated to be, and between what it lies.
    pub time: u64,
    pub low: u64,
    pub high: u64,
    /// Length that was measured, in all runs together.
    pub simulated: u64,
    pub runs: usize,
}

/// The time at the length `whole`, from lengths that differ by multiples of `step` and end like the whole; none where all of it is to be measured.
pub fn scaled<E>(
    (whole, step): (u64, u64),
    sample: Sample,
    mut measure: impl FnMut(u64) -> Result<Option<u64>, E>,
) -> Result<Option<Scaled>, E> {
    let span = STEPS.saturating_mul(step);
    let what = What::Copies(Vec::new());
    let mut part = Part { what, whole, step, message: step, from: span, span, launch: None };
    if let Sample::Most(most) = sample {
        part.at_most(most.get());
    }
    let mut known: BTreeMap<u64, u64> = BTreeMap::new();
    loop {
        let Some(lengths) = part.lengths() else { return Ok(None) };
        let longer = further(std::slice::from_ref(&part)).filter(|_| sample == Sample::Auto);
        let check = longer.and_then(|longer| longer.lengths.first().copied());
        let cost = lengths.iter().chain(&check).fold(0, |sum: u64, length| sum.saturating_add(*length));
        if cost > if sample == Sample::Auto { whole / 2 } else { whole } {
            return Ok(None);
        }
        let mut points = Vec::new();
        for length in lengths {
            let Some(time) = at(length, &mut known, &mut measure)? else { return Ok(None) };
            points.push((length, time));
        }
        let Some(line) = Line::through(&points) else { return Ok(None) };
        let (middle, half) = said(&line, points[0].1, whole);
        let narrow = sample != Sample::Auto || half <= TIME * middle as f64;
        let agrees = match check.filter(|_| narrow) {
            Some(length) => {
                let Some(time) = at(length, &mut known, &mut measure)? else { return Ok(None) };
                said(&line, points[0].1, length).0.abs_diff(time) as f64 <= TIME * time as f64
            }
            None => true,
        };
        if narrow && agrees {
            let simulated = known.keys().fold(0, |sum: u64, length| sum.saturating_add(*length));
            let (low, high) = (moved(middle, -half), moved(middle, half));
            return Ok(Some(Scaled { time: middle, low, high, simulated, runs: known.len() }));
        }
        part.lengthen();
    }
}

/// The time at a length, which may be known.
fn at<E>(
    length: u64,
    known: &mut BTreeMap<u64, u64>,
    measure: &mut impl FnMut(u64) -> Result<Option<u64>, E>,
) -> Result<Option<u64>, E> {
    if let Some(time) = known.get(&length) {
        return Ok(Some(*time));
    }
    let time = measure(length)?;
    known.extend(time.map(|time| (length, time)));
    Ok(time)
}

/// What a line says at a length, and half of its interval.
fn said(line: &Line, first: u64, length: u64) -> (u64, f64) {
    let said = line.at(length);
    let middle = moved(first, said.above);
    (middle, said.half.max(LEAST * TIME * middle as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn of(whole: u64, sample: Sample, time: impl Fn(u64) -> u64) -> (Option<Scaled>, u64) {
        let mut measured = 0;
        let found = scaled((whole, 10), sample, |length| {
            measured += length;
            Ok::<_, Infallible>(Some(time(length)))
        });
        (found.unwrap_or_default(), measured)
    }

    #[test]
    fn what_grows_with_its_length_is_found_from_short_ones_that_end_alike() {
        let (found, measured) = of(1_000_007, Sample::Auto, |length| {
            assert_eq!(length % 10, 7);
            500 + 3 * length
        });
        let found = found.unwrap();
        assert_eq!((found.time, found.simulated, found.runs), (500 + 3 * 1_000_007, measured, 7));
        assert!(measured < 5_000 && found.low < found.time && found.time < found.high);
    }

    #[test]
    fn what_is_short_is_measured_whole_and_what_comes_late_is_found_by_the_longer_run() {
        assert_eq!(of(300, Sample::Auto, |length| length).0, None);
        // From a length on that only the longer run has, it takes twice as long: runs of more than that length say so.
        let (found, measured) = of(20_000, Sample::Auto, |length| length + length.saturating_sub(400));
        assert_eq!(found.map(|found| (found.time, found.runs > 7)), Some((39_600, true)));
        assert!(measured < 20_000, "{measured}");
    }
}
