//! When `auto` is content: narrower than the errors that it answers for.

use super::{
    figures::{REST, TIME},
    parts::{Part, What},
    points::Estimate,
};
use crate::system::{CopyOutcome, GpuOutcome, Outcome, UnitOutcome};

/// A figure between its least and its most.
struct Between {
    low: u64,
    high: u64,
}

impl Between {
    fn within(&self, part: f64, of: u64) -> bool {
        self.high.saturating_sub(self.low) as f64 / 2.0 <= part * of as f64
    }
}

impl Estimate {
    /// Whether intervals are narrow: of the run, of each copy that is in no loop, of the states of units, and of exposure and peaks.
    pub fn is_narrow(&self, parts: &[Part]) -> bool {
        let looped = |part: &Part| matches!(part.what, What::Turns(_));
        let [low, middle, high] = [&self.low, &self.middle, &self.high];
        let run = Between { low: low.end.0, high: high.end.0 }.within(TIME, middle.end.0);
        run && (parts.iter().any(looped) || each(self, |outcome| &outcome.copies, of_copy))
            && each(self, |outcome| &outcome.units, of_unit)
            && each(self, |outcome| &outcome.gpus, of_gpu)
    }
}

/// Whether all parts of an outcome are narrow: each is given its least, what is estimated, and its most.
fn each<T>(estimate: &Estimate, parts: impl Fn(&Outcome) -> &Vec<T>, narrow: impl Fn([&T; 3]) -> bool) -> bool {
    let [low, middle, high] = [&estimate.low, &estimate.middle, &estimate.high].map(parts);
    low.iter().zip(middle).zip(high).all(|((low, middle), high)| narrow([low, middle, high]))
}

fn of_copy([low, middle, high]: [&CopyOutcome; 3]) -> bool {
    Between { low: low.time().0, high: high.time().0 }.within(TIME, middle.time().0)
}

fn of_unit([low, middle, high]: [&UnitOutcome; 3]) -> bool {
    let stalls = low.stalls.iter().zip(&high.stalls).map(|(low, high)| Between { low: low.1, high: high.1 });
    let busy = Between { low: low.busy, high: high.busy };
    stalls.chain([busy]).all(|state| state.within(REST, middle.cycles))
}

fn of_gpu(gpus: [&GpuOutcome; 3]) -> bool {
    let [low, middle, high] = gpus.map(|gpu| {
        let queue = &gpu.tag_queue;
        [queue.total_exposure.0, queue.longest_exposure.0, queue.peak_entries, queue.peak_quarantine_bytes]
    });
    (0..middle.len()).all(|place| Between { low: low[place], high: high[place] }.within(REST, middle[place]))
}
