//! What part of the variance of an answer a parameter gives, alone and with others: first-order and total indices of Sobol.
//!
//! ```text
//!   hypercubes A and B over the parameters that matter --> f(A), f(B), and for each parameter f(A with its column of B)
//!        first order: mean of f(B) (f(A with it) - f(A)), over the variance       Saltelli et al. 2010, table 2 (b)
//!        total:       mean of (f(A) - f(A with it))^2 / 2, over the variance      Jansen 1999; ibid. (f)
//! ```
//!
//! Answers are centred on their mean, which keeps the first estimator's error small. The other parameters keep their own values. `.ci/outside salib` holds
//! both estimators against SALib's.

use super::{Answer, Came, Runner, Sample, SensitivityError, Swing, draw};
use crate::explore::uncertainty::interval_of;
use crate::pool;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// The most parameters that indices are found for, and from what swing of a rate on.
const MOST: usize = 8;
const LEAST_SWING: f64 = 0.01;

/// So often points are drawn again from those that there are, for the interval of an index.
const RESAMPLINGS: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Part {
    pub value: f64,
    /// From 5 to 95 % of resamplings of the points.
    pub interval_90: [f64; 2],
}

/// The parts of a parameter in one answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Parts {
    pub first_order: Part,
    /// By itself and together with others.
    pub total: Part,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Index {
    pub path: String,
    /// Of the machine's rate.
    pub rate: Parts,
    /// By design: of its gain.
    pub gains: Vec<Parts>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Indices {
    /// Points of each hypercube that gave an answer with every column.
    pub points: usize,
    /// Points that did not.
    pub refused: usize,
    /// Values per run, on the average, that contradicted others and were moved to the nearest that makes a machine.
    pub moved_per_run: f64,
    /// The parameters that move a rate most when varied one at a time, the first first.
    pub parameters: Vec<Index>,
}

/// What an answer is at the points of A, at those of B, and at those of A with each column of B.
struct Answers {
    a: Vec<f64>,
    b: Vec<f64>,
    with: Vec<Vec<f64>>,
}

impl Answers {
    /// The mean of all, to be taken from each.
    fn mean(&self) -> f64 {
        let all = || self.a.iter().chain(&self.b).chain(self.with.iter().flatten());
        all().sum::<f64>() / all().count().max(1) as f64
    }

    /// First-order and total part of a parameter, over the points in `rows`; none of the variance where there is none.
    fn parts(&self, parameter: usize, mean: f64, rows: &[usize]) -> [f64; 2] {
        let count = rows.len().max(1) as f64;
        let with = &self.with[parameter];
        let both = || rows.iter().flat_map(|row| [self.a[*row] - mean, self.b[*row] - mean]);
        let middle = both().sum::<f64>() / (2.0 * count);
        let variance = both().map(|answer| (answer - middle).powi(2)).sum::<f64>() / (2.0 * count);
        if variance == 0.0 {
            return [0.0; 2];
        }
        let first = rows.iter().map(|row| (self.b[*row] - mean) * (with[*row] - self.a[*row])).sum::<f64>();
        let total = rows.iter().map(|row| (self.a[*row] - with[*row]).powi(2)).sum::<f64>() / 2.0;
        [first, total].map(|sum| sum / count / variance)
    }

    fn indices(&self, seed: u64) -> Vec<Parts> {
        let (mean, points) = (self.mean(), self.a.len());
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut resampled = || (0..points).map(|_| random.random_range(0..points)).collect::<Vec<_>>();
        let resamplings: Vec<_> = (0..RESAMPLINGS).map(|_| resampled()).collect();
        let all: Vec<_> = (0..points).collect();
        let of = |parameter| {
            let own = self.parts(parameter, mean, &all);
            let others: Vec<_> = resamplings.iter().map(|rows| self.parts(parameter, mean, rows)).collect();
            let part = |place: usize| {
                let others: Vec<_> = others.iter().map(|parts| parts[place]).collect();
                Part { value: own[place], interval_90: interval_of(&others).unwrap_or([own[place]; 2]) }
            };
            Parts { first_order: part(0), total: part(1) }
        };
        (0..self.with.len()).map(of).collect()
    }
}

impl Runner<'_> {
    /// The parameters that move a rate most.
    pub(super) fn that_matter(&self, swings: &[Swing]) -> Vec<String> {
        let mut paths: Vec<String> = Vec::new();
        for swing in swings.iter().filter(|swing| swing.relative_swing >= LEAST_SWING) {
            if paths.len() < MOST && !paths.contains(&swing.range.path) {
                paths.push(swing.range.path.clone());
            }
        }
        paths
    }

    /// Indices of these parameters, and every point that was run for them.
    pub(super) fn indices(
        &self,
        paths: Vec<String>,
        threads: usize,
    ) -> Result<(Indices, Vec<Sample>), SensitivityError> {
        let (points, seed) = (self.question.indices, self.question.seed);
        let cube = |name: &dyn Fn(&str) -> String| -> Vec<Vec<f64>> {
            paths.iter().map(|path| draw::parts(&name(path), points, seed).collect()).collect()
        };
        let (a, b) = (cube(&|path| path.to_owned()), cube(&|path| format!("b {path}")));
        let sets = 2 + paths.len();
        let tasks: Vec<_> = (0..points as usize).flat_map(|point| (0..sets).map(move |set| (set, point))).collect();
        let one = |&(set, point): &(usize, usize)| {
            let of_b = |column: usize| set == 1 || set == column + 2;
            let parts = (0..paths.len()).map(|column| if of_b(column) { &b } else { &a }[column][point]);
            let parts: Vec<f64> = parts.collect();
            let part = |path: &str| paths.iter().position(|own| own == path).map(|column| parts[column]);
            let settings = draw::at(&self.ranges, part);
            let drawn = draw::repaired(&self.variants, &self.ranges, &settings);
            let name = match set {
                0 => "a".to_owned(),
                1 => "b".to_owned(),
                set => format!("a with {} of b", paths[set - 2]),
            };
            let came = self.answer(&drawn.settings)?;
            Ok::<_, SensitivityError>((self.sample((name, point), part, &drawn.settings, came), drawn.moved.len()))
        };
        let ran = pool::map(&tasks, threads, |_| 0, one)?;
        let moved: usize = ran.iter().map(|(_, moved)| moved).sum();
        let moved_per_run = moved as f64 / ran.len().max(1) as f64;
        let samples: Vec<Sample> = ran.into_iter().map(|(sample, _)| sample).collect();
        let complete = |chunk: &&[Sample]| chunk.iter().all(|sample| sample.answer.is_some());
        let whole: Vec<&[Sample]> = samples.chunks(sets).filter(complete).collect();
        let answers = |of: &dyn Fn(&Answer) -> f64| {
            let at = |set: usize| whole.iter().filter_map(|row| row[set].answer.as_ref()).map(of).collect::<Vec<_>>();
            Answers { a: at(0), b: at(1), with: (2..sets).map(at).collect() }.indices(seed)
        };
        let rate = answers(&|answer| answer.rate);
        let designs = 0..self.question.designs.len();
        let gains: Vec<_> = designs.map(|design| answers(&|answer| answer.gains[design])).collect();
        let index = |(place, path): (usize, String)| Index {
            path,
            rate: rate[place],
            gains: gains.iter().map(|of_design| of_design[place]).collect(),
        };
        let refused = points as usize - whole.len();
        let points = whole.len();
        let parameters = paths.into_iter().enumerate().map(index).collect();
        Ok((Indices { points, refused, moved_per_run, parameters }, samples))
    }
}

impl Sample {
    /// What came of it, if anything did.
    pub(super) fn came(came: Came) -> Option<Answer> {
        match came {
            Came::Answer(answer) => Some(answer),
            Came::Refused(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// Ishigami's function, whose indices have a closed form.
    fn ishigami(at: [f64; 3]) -> f64 {
        let [x, y, z] = at.map(|part| PI * (2.0 * part - 1.0));
        x.sin() + 7.0 * y.sin().powi(2) + 0.1 * z.powi(4) * x.sin()
    }

    #[test]
    fn indices_of_ishigamis_function_are_those_of_its_closed_form() {
        let points = 4096;
        let cube = |name: &str| ["x", "y", "z"].map(|path| draw::parts(&format!("{name}{path}"), points, 1).collect());
        let (a, b): ([Vec<f64>; 3], [Vec<f64>; 3]) = (cube(""), cube("b "));
        let at = |which: [bool; 3]| {
            let point =
                |place: usize| [0, 1, 2].map(|axis: usize| if which[axis] { b[axis][place] } else { a[axis][place] });
            (0..points as usize).map(|place| ishigami(point(place))).collect::<Vec<_>>()
        };
        let with = [0, 1, 2].map(|axis| at([0, 1, 2].map(|own| own == axis))).to_vec();
        let found = Answers { a: at([false; 3]), b: at([true; 3]), with }.indices(1);
        // a^2 / 8 + b pi^4 / 5 + b^2 pi^8 / 18 + 1 / 2 with a = 7 and b = 0.1.
        let whole = 49.0 / 8.0 + 0.1 * PI.powi(4) / 5.0 + 0.01 * PI.powi(8) / 18.0 + 0.5;
        let alone = [0.5 * (1.0 + 0.1 * PI.powi(4) / 5.0).powi(2), 49.0 / 8.0, 0.0];
        let of_both = 0.01 * PI.powi(8) * (1.0 / 18.0 - 1.0 / 50.0);
        for ((parts, alone), both) in found.iter().zip(alone).zip([of_both, 0.0, of_both]) {
            for (part, closed) in [(parts.first_order, alone / whole), (parts.total, (alone + both) / whole)] {
                let [low, high] = part.interval_90;
                // Twice the distance to an end of the interval is beyond 99.9 %.
                let slack = high - low;
                assert!(low <= part.value && part.value <= high && slack < 0.1, "{part:?}");
                assert!((part.value - closed).abs() <= slack, "{part:?} {closed}");
            }
        }
    }

    #[test]
    fn what_does_not_move_an_answer_has_no_part_of_it() {
        let a = vec![1.0, 3.0, 2.0];
        let parts = Answers { a: a.clone(), b: vec![2.0, 1.0, 3.0], with: vec![a] }.indices(1)[0];
        assert_eq!((parts.first_order.value, parts.total.value), (0.0, 0.0));
        let parts = Answers { a: vec![1.0; 3], b: vec![1.0; 3], with: vec![vec![1.0; 3]] }.indices(1)[0];
        assert_eq!(parts.total.value, 0.0);
    }
}
