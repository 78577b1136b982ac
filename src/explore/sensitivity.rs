//! Which of the parameters that nobody knows exactly moves an answer.
//!
//! ```text
//!   parameters that are assumed or calibrated, each with its range
//!        |
//!        +--> one at a time: at its low end, at its high end -----> swing of the rate, and of each design's gain
//!        |                                                                 where a gain changes sides: bisected
//!        +--> all at once: Latin hypercube, seeded ---------------> spread of the rate, how often each gain holds
//! ```
//!
//! A conclusion is "this design is faster than its baseline by at least the margin", or that it is not.

use super::candidate::{CandidateError, copy, named};
use crate::config::{Kind, Layers, Parameter, Resolved};
use crate::sim::{Control, Kernel, Order, SimulationError};
use crate::system::{self, DataMode, Request, RunError};
use crate::units::KINDS;
use crate::validate::pool;
use crate::workload::Copy;
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use thiserror::Error;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// The machine: a path or a shipped name.
    pub machine: String,
    /// Settings above it.
    pub set: Vec<String>,
    /// Designs whose gain is looked at beside the machine itself.
    pub designs: Vec<String>,
    /// The copy.
    pub copy: Copy,
    /// Points of the hypercube; none without.
    pub samples: u32,
    /// Where they come from.
    pub seed: u64,
    /// A gain holds if it is at least one and this.
    pub margin: f64,
}

/// A parameter that is varied.
#[derive(Debug, Clone, Serialize)]
pub struct Range {
    /// Its path.
    pub path: String,
    /// `assumed` or `calibrated`.
    pub kind: Kind,
    /// Its value.
    pub value: String,
    /// The least that it may be.
    pub low: String,
    /// The most.
    pub high: String,
}

/// What a run gives: the machine's rate, and by design its gain over that.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// 10^9 bytes per second.
    pub gb_per_s: f64,
    /// By design: its rate over the machine's.
    pub gains: Vec<f64>,
}

/// One end of a range.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// What came out.
    Answer(Answer),
    /// There is no such machine, and why.
    Refused(String),
}

/// A conclusion that changes within a range.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Flip {
    /// The design.
    pub design: String,
    /// The value at which it has changed, on the way from the machine's own to that end.
    pub at: String,
    /// `low` or `high`: towards which end.
    pub towards: &'static str,
}

/// What one parameter does.
#[derive(Debug, Clone, Serialize)]
pub struct Swing {
    /// The parameter.
    #[serde(flatten)]
    pub range: Range,
    /// At the low end.
    pub at_low: End,
    /// At the high end.
    pub at_high: End,
    /// Greatest rate less the least, among both ends and the machine's own, over the machine's own.
    pub relative_swing: f64,
    /// Conclusions that change.
    pub flips: Vec<Flip>,
}

/// Everything at once.
#[derive(Debug, Clone, Serialize)]
pub struct Together {
    /// Points that are machines.
    pub samples: usize,
    /// Points that are not, with a design over them.
    pub refused: usize,
    /// Values per point, on the average, that were left out since they contradicted others; the machine's own stood in for them.
    pub left_out_per_point: f64,
    /// Rates at the 5th, 50th and 95th percentile.
    pub gb_per_s_percentiles: [f64; 3],
    /// By design: in what part of the points its conclusion is that of the machine itself.
    pub conclusions_that_hold: Vec<f64>,
}

/// The whole answer.
#[derive(Debug, Clone, Serialize)]
pub struct Sensitivity {
    /// The machine.
    pub machine: String,
    /// The designs.
    pub designs: Vec<String>,
    /// The machine itself.
    pub base: Answer,
    /// A gain holds from here on.
    pub margin: f64,
    /// By parameter, the greatest swing first.
    pub swings: Vec<Swing>,
    /// All parameters at once; none if no samples were asked for.
    pub together: Option<Together>,
    /// Parameters that are assumed or calibrated and state no range, and so are not varied.
    pub without_range: Vec<String>,
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum SensitivityError {
    /// The machine or a design.
    #[error(transparent)]
    Candidate(#[from] CandidateError),
    /// The machine itself gave no answer.
    #[error("{0}")]
    Base(String),
    /// It was stopped.
    #[error("stopped")]
    Stopped,
}

/// Steps of the search for the value at which a conclusion changes.
const BISECTIONS: u32 = 8;

/// Answers a question, over threads; `observer` is asked whether to go on, `progress` told of each piece that is done, of how many.
///
/// # Errors
/// If the machine or a design is none, or it was stopped.
pub fn sensitivity(
    question: &Question,
    threads: usize,
    observer: &(dyn Fn() -> Control + Sync),
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Sensitivity, SensitivityError> {
    let run = Runner { question, observer };
    let resolved = question.layers(None, &[]).resolve().map_err(CandidateError::from)?;
    for design in &question.designs {
        named(&question.machine, design, question.copy.memory)?;
    }
    let base = match run.answer(&[])? {
        End::Answer(answer) => answer,
        End::Refused(reason) => return Err(SensitivityError::Base(reason)),
    };
    let (ranges, without_range) = ranges(&resolved);
    progress(ranges.len() as u64 + u64::from(question.samples));
    let one = |range: &Range| {
        let swing = run.swing(range, &base);
        progress(0);
        swing
    };
    let mut swings = pool::map(&ranges, threads, |_| 0, one)?;
    swings.sort_by(|one, other| other.relative_swing.total_cmp(&one.relative_swing));
    let points = hypercube(&ranges, question.samples, question.seed);
    let sampled = pool::map(
        &points,
        threads,
        |_| 0,
        |settings| {
            let (settings, dropped) = question.possible(settings);
            let end = run.answer(&settings)?;
            progress(0);
            Ok::<_, SensitivityError>((end, dropped))
        },
    )?;
    let together = (question.samples > 0).then(|| run.together(&sampled, &base)).flatten();
    let (machine, designs, margin) = (resolved.name(), question.designs.clone(), question.margin);
    Ok(Sensitivity { machine, designs, base, margin, swings, together, without_range })
}

impl Question {
    fn layers(&self, design: Option<&str>, settings: &[String]) -> Layers {
        let layers = self.set.iter().fold(Layers::new(&self.machine), |layers, setting| layers.set(setting));
        let parts = design.into_iter().flat_map(|design| design.split('+'));
        let layers = parts.fold(layers, |layers, part| layers.overlay(part.trim()));
        settings.iter().fold(layers, |layers, setting| layers.set(setting))
    }

    /// Those settings that make a machine together, and how many had to be left out: one that contradicts those before it is.
    fn possible(&self, settings: &[String]) -> (Vec<String>, usize) {
        let fits = |settings: &[String]| self.layers(None, settings).resolve().is_ok();
        if fits(settings) {
            return (settings.to_vec(), 0);
        }
        let mut kept = Vec::new();
        for setting in settings {
            kept.push(setting.clone());
            if !fits(&kept) {
                kept.pop();
            }
        }
        let dropped = settings.len() - kept.len();
        (kept, dropped)
    }
}

/// What may be varied, and what states no range.
fn ranges(resolved: &Resolved) -> (Vec<Range>, Vec<String>) {
    let unsure =
        |one: &&Parameter| matches!(one.provenance.kind, Kind::Assumed | Kind::Calibrated) && one.amount.is_some();
    let (mut ranges, mut without) = (Vec::new(), Vec::new());
    for one in resolved.parameters.iter().filter(unsure) {
        let text = |bound: &Option<String>| bound.clone();
        match (text(&one.provenance.low), text(&one.provenance.high)) {
            (Some(low), Some(high)) if low != high => {
                let (path, kind, value) = (one.path.clone(), one.provenance.kind, one.value.clone());
                ranges.push(Range { path, kind, value, low, high });
            }
            _ => without.push(one.path.clone()),
        }
    }
    (ranges, without)
}

/// How a number of base units is written.
type Print = Box<dyn Fn(u64) -> String>;

/// A value in base units, and how to write one.
fn amount(text: &str) -> Option<(u64, Print)> {
    if let Ok(number) = text.parse() {
        return Some((number, Box::new(|number| number.to_string())));
    }
    let read = |(_, kind): &(&str, &'static crate::units::Kind)| Some((kind.parse(text).ok()?, *kind));
    let (number, kind) = KINDS.iter().find_map(read)?;
    Some((number, Box::new(move |number| kind.print(number))))
}

/// One value of each range per sample, every tenth (or whatever 1 / samples is) of a range once.
fn hypercube(ranges: &[Range], samples: u32, seed: u64) -> Vec<Vec<String>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut points = vec![Vec::new(); samples as usize];
    for range in ranges {
        let mut cells: Vec<u32> = (0..samples).collect();
        cells.shuffle(&mut random);
        let (Some((low, print)), Some((high, _))) = (amount(&range.low), amount(&range.high)) else { continue };
        for (point, cell) in points.iter_mut().zip(cells) {
            let part = (f64::from(cell) + 0.5) / f64::from(samples);
            let value = low as f64 + (high as f64 - low as f64) * part;
            point.push(format!("{}={}", range.path, print(value.round() as u64)));
        }
    }
    points
}

struct Runner<'a> {
    question: &'a Question,
    observer: &'a (dyn Fn() -> Control + Sync),
}

impl Runner<'_> {
    /// The machine with these settings, and each design over it.
    fn answer(&self, settings: &[String]) -> Result<End, SensitivityError> {
        let own = match self.rate(None, settings)? {
            Ok(rate) => rate,
            Err(reason) => return Ok(End::Refused(reason)),
        };
        let mut gains = Vec::new();
        for design in &self.question.designs {
            match self.rate(Some(design), settings)? {
                Ok(rate) => gains.push(rate / own),
                Err(reason) => return Ok(End::Refused(format!("{design}: {reason}"))),
            }
        }
        Ok(End::Answer(Answer { gb_per_s: own, gains }))
    }

    fn rate(&self, design: Option<&str>, settings: &[String]) -> Result<Result<f64, String>, SensitivityError> {
        let resolved = match self.question.layers(design, settings).resolve() {
            Ok(resolved) => resolved,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let Copy { direction, bytes, memory } = self.question.copy;
        let request = Request {
            copies: vec![copy(direction, bytes, memory)],
            program: Vec::new(),
            data: DataMode::None,
            seed: 0,
            kernel: Kernel::Skip,
            order: Order::Ascending,
            injections: Vec::new(),
        };
        let outcome = match system::run(&resolved.machine, request, &mut |_| (self.observer)()) {
            Ok(outcome) => outcome,
            Err(RunError::Simulation(SimulationError::Stopped { .. })) => return Err(SensitivityError::Stopped),
            Err(error) => return Ok(Err(error.to_string())),
        };
        let copy = outcome.copies.first().filter(|copy| copy.delivered);
        Ok(copy
            .map(|copy| bytes as f64 * 1e6 / copy.end.0.saturating_sub(copy.start.0).max(1) as f64)
            .ok_or_else(|| "the copy was not delivered".to_owned()))
    }

    fn holds(&self, gain: f64) -> bool {
        gain >= 1.0 + self.question.margin
    }

    fn swing(&self, range: &Range, base: &Answer) -> Result<Swing, SensitivityError> {
        let end = |value: &str| self.answer(&[format!("{}={value}", range.path)]);
        let (at_low, at_high) = (end(&range.low)?, end(&range.high)?);
        let mut rates = vec![base.gb_per_s];
        let mut flips = Vec::new();
        for (end, value, towards) in [(&at_low, &range.low, "low"), (&at_high, &range.high, "high")] {
            let End::Answer(answer) = end else { continue };
            rates.push(answer.gb_per_s);
            for (place, design) in self.question.designs.iter().enumerate() {
                if self.holds(answer.gains[place]) != self.holds(base.gains[place]) {
                    let at = self.flip(range, value, place, self.holds(base.gains[place]))?;
                    flips.push(Flip { design: design.clone(), at, towards });
                }
            }
        }
        let (least, most) = (rates.iter().copied().fold(f64::MAX, f64::min), rates.iter().copied().fold(0.0, f64::max));
        let relative_swing = (most - least) / base.gb_per_s;
        Ok(Swing { range: range.clone(), at_low, at_high, relative_swing, flips })
    }

    /// The value nearest to the machine's own at which a conclusion was seen to be another, by bisection.
    fn flip(&self, range: &Range, end: &str, place: usize, held: bool) -> Result<String, SensitivityError> {
        let (Some((mut same, print)), Some((mut other, _))) = (amount(&range.value), amount(end)) else {
            return Ok(end.to_owned());
        };
        for _ in 0..BISECTIONS {
            let middle = u64::midpoint(same, other);
            if middle == same || middle == other {
                break;
            }
            match self.answer(&[format!("{}={}", range.path, print(middle))])? {
                End::Answer(answer) if self.holds(answer.gains[place]) == held => same = middle,
                End::Answer(_) => other = middle,
                End::Refused(_) => break,
            }
        }
        Ok(print(other))
    }

    fn together(&self, sampled: &[(End, usize)], base: &Answer) -> Option<Together> {
        let answer = |(end, _): &'_ (End, usize)| match end {
            End::Answer(answer) => Some(answer.clone()),
            End::Refused(_) => None,
        };
        let answers: Vec<Answer> = sampled.iter().filter_map(answer).collect();
        let left_out: usize = sampled.iter().map(|(_, dropped)| dropped).sum();
        let mut rates: Vec<f64> = answers.iter().map(|answer| answer.gb_per_s).collect();
        rates.sort_by(f64::total_cmp);
        let at = |part: f64| rates.get(((rates.len() - 1) as f64 * part).round() as usize).copied();
        let percentiles = if rates.is_empty() { return None } else { [at(0.05)?, at(0.5)?, at(0.95)?] };
        let holding = |place: usize| {
            let same = |answer: &&Answer| self.holds(answer.gains[place]) == self.holds(base.gains[place]);
            answers.iter().filter(same).count() as f64 / answers.len() as f64
        };
        Some(Together {
            samples: answers.len(),
            refused: sampled.len() - answers.len(),
            left_out_per_point: left_out as f64 / sampled.len() as f64,
            gb_per_s_percentiles: percentiles,
            conclusions_that_hold: (0..self.question.designs.len()).map(holding).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{Direction, Memory};

    fn question(designs: &[&str], samples: u32) -> Question {
        Question {
            machine: "h100-nvl-tdx".into(),
            set: Vec::new(),
            designs: designs.iter().map(|&name| name.into()).collect(),
            copy: Copy { direction: Direction::H2d, bytes: 4096, memory: Memory::Pinned },
            samples,
            seed: 5,
            margin: 0.0,
        }
    }

    fn ask(question: &Question, threads: usize) -> Sensitivity {
        sensitivity(question, threads, &|| Control::Continue, &|_| ()).unwrap()
    }

    #[test]
    fn the_answer_does_not_depend_on_the_number_of_threads_and_its_swings_are_in_order() {
        let question = question(&["direct"], 3);
        let [one, two] = [1, 2].map(|threads| ask(&question, threads));
        assert_eq!(serde_json::to_value(&one).unwrap(), serde_json::to_value(&two).unwrap());
        assert!(one.swings.windows(2).all(|pair| pair[0].relative_swing >= pair[1].relative_swing));
        assert!(one.swings[0].relative_swing > 0.0);
        assert_eq!(one.together.unwrap().samples, 3);
    }

    #[test]
    fn every_swing_is_what_the_two_ends_give() {
        let answer = ask(&question(&[], 0), 2);
        let swing =
            answer.swings.iter().find(|swing| swing.range.path == "driver.secure_push").or(answer.swings.first());
        let swing = swing.unwrap();
        let run = |value: &str| {
            let mut question = question(&[], 0);
            question.set = vec![format!("{}={value}", swing.range.path)];
            End::Answer(ask(&question, 1).base)
        };
        assert_eq!((run(&swing.range.low), run(&swing.range.high)), (swing.at_low.clone(), swing.at_high.clone()));
    }

    #[test]
    fn each_range_is_cut_into_as_many_parts_as_there_are_samples_and_each_part_is_taken_once() {
        let range = |low: &str, high: &str| {
            let [path, value, low, high] = ["p", low, low, high].map(str::to_owned);
            Range { path, kind: Kind::Assumed, value, low, high }
        };
        let points = hypercube(&[range("0 cycles", "100 cycles"), range("10", "20")], 10, 1);
        let mut first: Vec<_> = points.iter().map(|point| point[0].clone()).collect();
        assert_eq!(points, hypercube(&[range("0 cycles", "100 cycles"), range("10", "20")], 10, 1));
        first.sort();
        assert_eq!(
            first,
            (0..10)
                .map(|n| format!("p={} cycles", 10 * n + 5))
                .collect::<std::collections::BTreeSet<_>>()
                .into_iter()
                .collect::<Vec<_>>()
        );
    }
}
