//! Which of the parameters that are uncertain moves an answer.
//!
//! ```text
//!   numbers with a stated range, in each machine that has them
//!        |
//!        +--> one at a time: at its low end, at its high end -----> swing of the rate, and of each design's gain
//!        |                                                                 where a gain changes sides: bisected
//!        +--> all at once: Latin hypercube, seeded ---------------> spread of the rate, how often each gain holds
//!        +--> those that matter, two hypercubes and their mixtures -> what part of the variance each gives
//! ```
//!
//! A conclusion is "this design is faster than its baseline by at least the margin", or that it is not; baselines are those of
//! `compare`. A parameter that a design sets is varied within the design's own range there, and within the machine's
//! elsewhere; where it states none, it is said not to be varied.

pub(super) mod draw;
mod indices;
mod range;
pub(super) mod variant;

pub use indices::{Index, Indices, Part, Parts};
pub use range::{Fixed, Range, Why};

use super::{candidate::CandidateError, finished::Finished, uncertainty::percentile};
use crate::config::{Base, Layers, MachineSpec};
use crate::pool;
use crate::sim::{Control, SimulationError};
use crate::system::{self, Memory, Outcome, RunError};
use crate::workload::{Workload, collective::CollectiveError};
use draw::{Drawn, Setting};
use serde::Serialize;
use std::collections::BTreeMap;
use thiserror::Error;
use variant::Variant;

#[derive(Debug, Clone)]
pub struct Question {
    /// The machine, without designs.
    pub machine: Layers,
    /// Designs whose gain is asked for in addition to the machine itself.
    pub designs: Vec<String>,
    /// What is run: its one copy's rate is the answer; of a workload, how many runs of it there would be in a second.
    pub workload: Workload,
    /// Points of the hypercube; none without.
    pub samples: u32,
    /// Points of each of the two hypercubes that indices are found from; none without.
    pub indices: u32,
    pub seed: u64,
    /// A gain holds if it is at least one and this.
    pub margin: f64,
}

/// What a run gives: the machine's rate, and by design its rate and its gain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// In the [unit](Sensitivity::unit) of the answer.
    pub rate: f64,
    /// By design: the same.
    pub designs_rates: Vec<f64>,
    /// By design: its rate over its baseline's.
    pub gains: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Came {
    Answer(Answer),
    /// There is no such machine, and why.
    Refused(String),
}

/// One end of a range, or the value nearest to it that makes a machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct End {
    pub at: String,
    /// The machines whose engines close at their own value, and not at the end of the range: it is then moved, or with `engine.check =
    /// "warn"` simulated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub does_not_close: Vec<String>,
    #[serde(flatten)]
    pub came: Came,
}

impl End {
    pub const fn answer(&self) -> Option<&Answer> {
        match &self.came {
            Came::Answer(answer) => Some(answer),
            Came::Refused(_) => None,
        }
    }
}

/// A conclusion that changes within a range.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Flip {
    pub design: String,
    pub path: String,
    /// The value at which it has changed, on the way from the machine's own to that end.
    pub at: String,
    /// `low` or `high`: towards which end.
    pub towards: &'static str,
}

#[derive(Debug, Clone, Serialize)]
pub struct Swing {
    #[serde(flatten)]
    pub range: Range,
    pub at_low: End,
    pub at_high: End,
    /// Greatest rate less the least, among both ends and the own value, over the rate at the own value: of the machine, or of the design
    /// that it moves most.
    pub relative_swing: f64,
    /// That of the machine alone.
    pub machine_swing: f64,
    pub flips: Vec<Flip>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Together {
    pub samples: usize,
    /// Points that did not.
    pub refused: usize,
    /// Values per point, on the average, that contradicted others and were moved to the nearest that makes a machine.
    pub moved_per_point: f64,
    /// Of these, how many went back to the parameter's own value.
    pub own_per_point: f64,
    /// By parameter: in how many points its value was moved.
    pub moved: BTreeMap<String, usize>,
    /// Rates at the 5th, 50th and 95th percentile.
    pub rate_percentiles: [f64; 3],
}

/// What is said of a design, and whether it survives.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Conclusion {
    pub design: String,
    pub against: String,
    pub gain: f64,
    /// Whether that is one and the margin at least.
    pub faster: bool,
    /// Whether that holds at both ends of every range.
    pub survives: bool,
    /// In what part of the points with everything varied it holds.
    pub holds_in: Option<f64>,
}

/// A point of all that were drawn, and what came of it.
#[derive(Debug, Clone)]
pub struct Sample {
    /// `draw`; of indices `a`, `b`, and `a with PATH of b`.
    pub set: String,
    pub point: usize,
    /// By range: the part of its probability that was drawn, and the value that this gave, perhaps moved; none of those that stay as they are.
    pub values: Vec<Option<(f64, String)>>,
    pub answer: Option<Answer>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Sensitivity {
    pub machine: String,
    /// Of the machine and each design whose engines do not close at their clock: its name and the sentence, which holds for every figure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub does_not_close: Vec<String>,
    /// What rates are in: `GB/s` (10^9 bytes per second) of a copy, `runs/s` of a workload.
    pub unit: &'static str,
    pub base: Answer,
    /// A gain holds from here on.
    pub margin: f64,
    pub conclusions: Vec<Conclusion>,
    /// By parameter, the greatest swing first.
    pub swings: Vec<Swing>,
    /// All parameters at once; none if no samples were asked for.
    pub together: Option<Together>,
    /// What part of the variance those give that move a rate most; none if it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indices: Option<Indices>,
    pub not_varied: Vec<Fixed>,
    /// What is varied, in the order of [`Sample::values`].
    #[serde(skip)]
    pub ranges: Vec<Range>,
    #[serde(skip)]
    pub samples: Vec<Sample>,
}

impl Sensitivity {
    /// What the ends of a range do to the machine's rate, or, where it is one of designs alone, to that of the design that it moves most: the
    /// rate at each end less the own one, over that; none where an end gives no answer.
    pub fn changes(&self, swing: &Swing) -> [Option<f64>; 2] {
        let design = swing.most_moved(&self.base);
        let rate = |answer: &Answer| design.map_or(answer.rate, |design| answer.designs_rates[design]);
        [&swing.at_low, &swing.at_high].map(|end| Some(rate(end.answer()?) / rate(&self.base) - 1.0))
    }
}

impl Swing {
    /// Rates at both ends and without variation, of the machine or of a design.
    fn spread(&self, base: &Answer, rate: impl Fn(&Answer) -> f64) -> f64 {
        let answers = [self.at_low.answer(), self.at_high.answer()].into_iter().flatten().chain([base]);
        spread(answers.map(&rate), rate(base))
    }

    /// Of a range that the machine itself has not: the place of the design that it moves most.
    fn most_moved(&self, base: &Answer) -> Option<usize> {
        let by = |design: &usize| self.spread(base, |answer| answer.designs_rates[*design]);
        let designs = (0..base.designs_rates.len()).filter(|_| !self.range.is_of_machine());
        designs.max_by(|one, other| by(one).total_cmp(&by(other)))
    }

    /// The swing that is shown of it: the machine's, or, where the range is one of designs alone, the greatest of theirs.
    pub fn shown_swing(&self) -> f64 {
        if self.range.is_of_machine() { self.machine_swing } else { self.relative_swing }
    }
}

#[derive(Debug, Error)]
pub enum SensitivityError {
    /// The machine or a design.
    #[error(transparent)]
    Candidate(#[from] CandidateError),
    #[error("{0}")]
    Base(String),
    #[error("stopped")]
    Stopped {
        /// Runs that there are to do, but for the search where conclusions change.
        of: usize,
    },
}

/// What a run came to: its rate, or why there is none.
pub type Rate = Result<f64, String>;

/// Steps of the search for the value at which a conclusion changes.
const BISECTIONS: u32 = 8;

/// Answers a question, over threads; `observer` is asked whether to go on, `progress` called with the part of the whole that each run is. Runs that
/// are `finished` are not done again.
pub fn sensitivity(
    question: &Question,
    threads: usize,
    finished: &Finished<Rate>,
    observer: &(dyn Fn() -> Control + Sync),
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Sensitivity, SensitivityError> {
    let memory = question.workload.copies.first().map_or(Memory::Pinned, |copy| copy.memory);
    let variants = variant::variants(&question.machine, &question.designs, memory)?;
    let (ranges, not_varied) = varied(&variants);
    let points = draw::hypercube(&ranges, question.samples, question.seed);
    let ends: usize = ranges.iter().map(Range::machines).sum();
    let runs = variants.len() * (1 + points.len()) + 2 * ends;
    let mut run = Runner { question, finished, observer, progress, runs, variants, ranges, own: Vec::new() };
    let places: Vec<usize> = (0..run.variants.len()).collect();
    run.own = pool::map(&places, threads, |_| 0, |place| run.own_rate(*place))?;
    let base = run.answered(&run.own);
    let places: Vec<usize> = (0..run.ranges.len()).collect();
    let mut swings = pool::map(&places, threads, |_| 0, |place| run.swing(*place, &base))?;
    swings.sort_by(|one, other| other.relative_swing.total_cmp(&one.relative_swing));
    let matter = run.that_matter(&swings);
    run.more(question.indices as usize * (2 + matter.len()));
    let one = |point: &Vec<Setting>| {
        let drawn = draw::repaired(&run.variants, &run.ranges, point);
        Ok::<_, SensitivityError>((run.answer(&drawn.settings)?, drawn))
    };
    let sampled = pool::map(&points, threads, |_| 0, one)?;
    let conclusions = run.conclusions(&base, &swings, &sampled);
    let together = run.together(&sampled);
    let mut samples = run.samples(sampled);
    let indices = match question.indices {
        0 => None,
        _ => {
            let (indices, more) = run.indices(matter, threads)?;
            samples.extend(more);
            Some(indices)
        }
    };
    let machine = run.variants[0].name.clone();
    let does_not_close = run.variants.iter().filter_map(Variant::does_not_close).collect();
    let unit = if question.workload.steps.is_none() { "GB/s" } else { "runs/s" };
    let (margin, ranges) = (question.margin, run.ranges);
    Ok(Sensitivity {
        machine,
        does_not_close,
        unit,
        base,
        margin,
        conclusions,
        swings,
        together,
        indices,
        not_varied,
        ranges,
        samples,
    })
}

/// What is varied in any variant, and numbers that are not: those without a range, and those of whose range no other value makes a machine.
pub(super) fn varied(variants: &[Variant]) -> (Vec<Range>, Vec<Fixed>) {
    let (ranges, mut not) = range::ranges(variants);
    let moves = |place: usize| {
        let (own, low, high) = ranges[place].amounts()?;
        let to = |end: u64| draw::nearest(variants, &ranges, &[], (place, end));
        Some([low, high].into_iter().any(|end| to(end) != own))
    };
    let moves: Vec<_> = (0..ranges.len()).map(|place| moves(place) == Some(true)).collect();
    let (moving, stuck): (Vec<_>, Vec<_>) = ranges.into_iter().zip(moves).partition(|(_, moves)| *moves);
    not.extend(stuck.into_iter().map(|(range, _)| range.stuck()));
    (moving.into_iter().map(|(range, _)| range).collect(), not)
}

struct Runner<'a> {
    question: &'a Question,
    finished: &'a Finished<Rate>,
    observer: &'a (dyn Fn() -> Control + Sync),
    progress: &'a (dyn Fn(f64) + Sync),
    /// That there are to do.
    runs: usize,
    /// The machine, the designs, and what else designs are compared with.
    variants: Vec<Variant>,
    ranges: Vec<Range>,
    /// By variant: its rate with nothing varied.
    own: Vec<f64>,
}

impl Runner<'_> {
    fn own_rate(&self, variant: usize) -> Result<f64, SensitivityError> {
        let name = &self.variants[variant].name;
        self.rate(variant, &[])?.map_err(|reason| SensitivityError::Base(format!("{name}: {reason}")))
    }

    /// The points that were drawn for all parameters together.
    fn samples(&self, sampled: Vec<(Came, Drawn)>) -> Vec<Sample> {
        let count = u32::try_from(sampled.len()).unwrap_or(u32::MAX);
        let of = |range: &Range| (range.path.clone(), draw::parts(&range.path, count, self.question.seed).collect());
        let parts: BTreeMap<String, Vec<f64>> = self.ranges.iter().map(of).collect();
        let sample = |(point, (came, drawn)): (usize, (Came, Drawn))| {
            let part = |path: &str| parts.get(path).map(|parts| parts[point]);
            self.sample(("draw".to_owned(), point), part, &drawn.settings, came)
        };
        sampled.into_iter().enumerate().map(sample).collect()
    }

    fn sample(
        &self,
        (set, point): (String, usize),
        part: impl Fn(&str) -> Option<f64>,
        settings: &[Setting],
        came: Came,
    ) -> Sample {
        let mut values = vec![None; self.ranges.len()];
        for (place, value) in settings {
            let range = &self.ranges[*place];
            values[*place] = part(&range.path).map(|part| (part, range.written(*value)));
        }
        Sample { set, point, values, answer: Sample::came(came) }
    }

    /// There are so many more points to run.
    const fn more(&mut self, points: usize) {
        self.runs += points * self.variants.len();
    }

    /// Rates by variant as an answer.
    fn answered(&self, rates: &[f64]) -> Answer {
        let designs = 1..=self.question.designs.len();
        let gain = |place: usize| rates[place] / rates[self.variants[place].against];
        Answer { rate: rates[0], designs_rates: rates[designs.clone()].to_vec(), gains: designs.map(gain).collect() }
    }

    /// All variants with these settings.
    fn answer(&self, settings: &[Setting]) -> Result<Came, SensitivityError> {
        let mut rates = self.own.clone();
        for (place, rate) in rates.iter_mut().enumerate() {
            let own = draw::of_variant(&self.ranges, settings, place);
            if own.is_empty() {
                continue;
            }
            match self.rate(place, &own)? {
                Ok(moved) => *rate = moved,
                Err(reason) => return Ok(Came::Refused(format!("{}: {reason}", self.variants[place].name))),
            }
        }
        Ok(Came::Answer(self.answered(&rates)))
    }

    /// The rate of a variant with settings, as it is known or comes out.
    fn rate(&self, variant: usize, settings: &[String]) -> Result<Rate, SensitivityError> {
        let base = &self.variants[variant].base;
        let key = format!("{} {}", base.resolved().digest, settings.join(" "));
        let rate = match self.finished.known(&key) {
            Some(rate) => rate,
            None => {
                let rate = self.simulated(base, settings)?;
                self.finished.keep(&key, rate.clone());
                rate
            }
        };
        (self.progress)(1.0 / self.runs as f64);
        Ok(rate)
    }

    fn simulated(&self, base: &Base, settings: &[String]) -> Result<Rate, SensitivityError> {
        let stopped = || Err(SensitivityError::Stopped { of: self.runs });
        if (self.observer)() == Control::Stop {
            return stopped();
        }
        let varied = match base.varied(settings) {
            Ok(varied) => varied,
            Err(error) => return Ok(Err(error.to_string())),
        };
        match self.run(&varied.machine) {
            Ok(outcome) => Ok(self.measured(&outcome)),
            Err(RunError::Simulation(SimulationError::Stopped { .. })) => stopped(),
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    fn run(&self, machine: &MachineSpec) -> Result<Outcome, RunError> {
        let workload = &self.question.workload;
        let collectives = workload.collectives(machine, &mut |_| (self.observer)());
        let collectives = collectives.map_err(|error| match error {
            CollectiveError::Run(error) => error,
            error => RunError::Payload(error.to_string()),
        })?;
        system::run(machine, workload.unwatched(&collectives)?, &mut |_| (self.observer)())
    }

    /// The rate of a run's copy; of a workload, runs per second.
    fn measured(&self, outcome: &Outcome) -> Rate {
        if outcome.copies.iter().any(|copy| !copy.delivered) {
            return Err("not every copy was delivered".to_owned());
        }
        match (&self.question.workload.steps, outcome.copies.first()) {
            (None, Some(copy)) => Ok(copy.bytes as f64 * 1e6 / copy.time().0.max(1) as f64),
            _ => Ok(1e15 / outcome.end.0.max(1) as f64),
        }
    }

    fn holds(&self, gain: f64) -> bool {
        gain >= 1.0 + self.question.margin
    }

    fn swing(&self, place: usize, base: &Answer) -> Result<Swing, SensitivityError> {
        let range = &self.ranges[place];
        let (own, low, high) = range.amounts().unwrap_or_default();
        let value = |wanted| draw::nearest(&self.variants, &self.ranges, &[], (place, wanted));
        let end = |(wanted, value): (u64, u64)| {
            let came = self.answer(&[(place, value)])?;
            let does_not_close = self.not_closing(&[(place, wanted)]);
            Ok::<_, SensitivityError>(End { at: range.written(value), does_not_close, came })
        };
        let ends = [low, high].map(|wanted| (wanted, value(wanted)));
        let [(_, low), (_, high)] = ends;
        let (at_low, at_high) = (end(ends[0])?, end(ends[1])?);
        let mut flips = Vec::new();
        for (end, value, towards) in [(&at_low, low, "low"), (&at_high, high, "high")] {
            let Some(answer) = end.answer() else { continue };
            for (design, name) in self.question.designs.iter().enumerate() {
                if self.holds(answer.gains[design]) != self.holds(base.gains[design]) {
                    let at = self.flip(place, (own, value), design, base)?;
                    let (design, path) = (name.clone(), range.path.clone());
                    flips.push(Flip { design, path, at: range.written(at), towards });
                }
            }
        }
        let mut swing = Swing { range: range.clone(), at_low, at_high, relative_swing: 0.0, machine_swing: 0.0, flips };
        swing.machine_swing = swing.spread(base, |answer| answer.rate);
        let of_design = |design: usize| swing.spread(base, |answer| answer.designs_rates[design]);
        swing.relative_swing = (0..self.question.designs.len()).map(of_design).fold(swing.machine_swing, f64::max);
        Ok(swing)
    }

    /// Variants whose engines close by themselves, and not with these settings, which make a machine where it is asked for as it is.
    fn not_closing(&self, settings: &[Setting]) -> Vec<String> {
        let closes = |(place, variant): &(usize, &Variant)| {
            let mut own = draw::of_variant(&self.ranges, settings, *place);
            let applies = !own.is_empty();
            own.push("engine.check=warn".to_owned());
            let varied = if applies { variant.base.varied(&own).ok() } else { None };
            variant.does_not_close().is_some() || varied.is_none_or(|varied| varied.machine.does_not_close().is_none())
        };
        let variants = self.variants.iter().enumerate().filter(|variant| !closes(variant));
        variants.map(|(_, variant)| variant.name.clone()).collect()
    }

    /// Where a conclusion changes on the way from a value at which it holds to one at which it does not.
    fn flip(
        &self,
        place: usize,
        (mut same, mut other): (u64, u64),
        design: usize,
        base: &Answer,
    ) -> Result<u64, SensitivityError> {
        let held = self.holds(base.gains[design]);
        for _ in 0..BISECTIONS {
            let middle = u64::midpoint(same, other);
            if middle == same || middle == other {
                break;
            }
            match self.answer(&[(place, middle)])? {
                Came::Answer(answer) if self.holds(answer.gains[design]) == held => same = middle,
                Came::Answer(_) => other = middle,
                Came::Refused(_) => break,
            }
        }
        Ok(other)
    }

    fn conclusions(&self, base: &Answer, swings: &[Swing], sampled: &[(Came, Drawn)]) -> Vec<Conclusion> {
        let one = |(place, design): (usize, &String)| {
            let faster = self.holds(base.gains[place]);
            let answers = sampled.iter().filter_map(|(came, _)| match came {
                Came::Answer(answer) => Some(self.holds(answer.gains[place]) == faster),
                Came::Refused(_) => None,
            });
            let (all, held) = answers.fold((0, 0), |(all, held), same| (all + 1, held + u32::from(same)));
            Conclusion {
                design: design.clone(),
                against: self.variants[self.variants[place + 1].against].name.clone(),
                gain: base.gains[place],
                faster,
                survives: !swings.iter().flat_map(|swing| &swing.flips).any(|flip| flip.design == *design),
                holds_in: (all > 0).then(|| f64::from(held) / f64::from(all)),
            }
        };
        self.question.designs.iter().enumerate().map(one).collect()
    }

    fn together(&self, sampled: &[(Came, Drawn)]) -> Option<Together> {
        let mut rates: Vec<f64> = sampled
            .iter()
            .filter_map(|(came, _)| match came {
                Came::Answer(answer) => Some(answer.rate),
                Came::Refused(_) => None,
            })
            .collect();
        rates.sort_by(f64::total_cmp);
        let at = |part: f64| percentile(&rates, part);
        let per_point = |count: usize| count as f64 / sampled.len() as f64;
        let mut moved = BTreeMap::new();
        for place in sampled.iter().flat_map(|(_, drawn)| &drawn.moved) {
            *moved.entry(self.ranges[*place].path.clone()).or_default() += 1;
        }
        Some(Together {
            samples: rates.len(),
            refused: sampled.len() - rates.len(),
            moved_per_point: per_point(sampled.iter().map(|(_, drawn)| drawn.moved.len()).sum()),
            own_per_point: per_point(sampled.iter().map(|(_, drawn)| drawn.own).sum()),
            moved,
            rate_percentiles: [at(0.05)?, at(0.5)?, at(0.95)?],
        })
    }
}

/// Greatest less least, over what it is without variation.
fn spread(rates: impl Iterator<Item = f64>, own: f64) -> f64 {
    let (least, most) = rates.fold((f64::MAX, 0.0_f64), |(least, most), rate| (least.min(rate), most.max(rate)));
    (most - least) / own
}

#[cfg(test)]
mod tests;
