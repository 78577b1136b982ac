//! Which points to measure: those that determine the parameters of a fit, the most informative first.
//!
//! A point says about a parameter what its figure changes by when the parameter does. With measurements that scatter by a known part of their value,
//! the standard errors of all parameters follow from the points alone, before anything is measured. Each next point is the one that leaves the
//! least sum of squares of these errors.

use super::linear::{Matrix, inverse};

/// What is taken to be known of each parameter before anything is measured: it is right within a factor of some three.
const BEFORE: f64 = 1.0;

/// A point that leaves more than this of the sum of squares says next to nothing.
const TELLS: f64 = 0.97;

#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its place among the candidates.
    pub point: usize,
    /// By parameter: its standard error after this point and those before, relative to its value.
    pub errors: Vec<f64>,
}

/// Candidates in the order in which they should be measured, until no parameter's error is above `goal`, or none that is left says anything about
/// those that are.
///
/// `slopes[parameter][point]` is by how much a point's figure changes, relative to itself, when the parameter does, relative to itself; `scatter` is the
/// standard error of one measurement, relative to its value.
pub fn plan(slopes: &[Vec<f64>], scatter: f64, goal: f64) -> Vec<Step> {
    let candidates = slopes.iter().map(Vec::len).min().unwrap_or(0);
    let row = |point: usize| -> Vec<f64> { slopes.iter().map(|slope| slope[point] / scatter).collect() };
    let mut known: Matrix = (0..slopes.len()).map(|own| prior(slopes.len(), own)).collect();
    let (mut left, mut steps): (Vec<usize>, Vec<Step>) = ((0..candidates).collect(), Vec::new());
    loop {
        let now = errors(&known);
        if now.iter().all(|error| *error <= goal) {
            return steps;
        }
        // What is good enough needs no further point.
        let counts: Vec<bool> = now.iter().map(|error| *error > goal).collect();
        let after = |place: usize| sum(&errors(&with(&known, &row(left[place]))), &counts);
        let best = (0..left.len()).map(|place| (place, after(place))).min_by(|(_, a), (_, b)| a.total_cmp(b));
        let Some((place, _)) = best.filter(|(_, after)| *after <= TELLS * sum(&now, &counts)) else { return steps };
        let point = left.remove(place);
        known = with(&known, &row(point));
        steps.push(Step { point, errors: errors(&known) });
    }
}

fn prior(parameters: usize, own: usize) -> Vec<f64> {
    (0..parameters).map(|other| if own == other { BEFORE.powi(-2) } else { 0.0 }).collect()
}

/// What is known with one more point.
fn with(known: &Matrix, row: &[f64]) -> Matrix {
    let rows = known.iter().zip(row);
    rows.map(|(cells, own)| cells.iter().zip(row).map(|(cell, other)| cell + own * other).collect()).collect()
}

fn errors(known: &Matrix) -> Vec<f64> {
    match inverse(known) {
        Some(covariance) => (0..known.len()).map(|place| covariance[place][place].max(0.0).sqrt()).collect(),
        None => vec![f64::INFINITY; known.len()],
    }
}

/// The sum of squares of those that count.
fn sum(errors: &[f64], counts: &[bool]) -> f64 {
    errors.iter().zip(counts).filter(|(_, counts)| **counts).map(|(error, _)| error * error).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn points_that_show_one_parameter_each_are_enough() {
        let slopes = [vec![0.0, 1.0, 0.1], vec![1.0, 0.0, 0.1]];
        let steps = plan(&slopes, 0.02, 0.05);
        let mut points: Vec<_> = steps.iter().map(|step| step.point).collect();
        points.sort_unstable();
        assert_eq!(points, [0, 1]);
        assert!(steps[1].errors.iter().all(|error| (0.019..0.021).contains(error)), "{steps:?}");
        assert!(steps[0].errors.iter().any(|error| *error > 0.9));
    }

    #[test]
    fn what_no_point_shows_stays_unknown_and_costs_no_measurement() {
        let steps = plan(&[vec![0.5, 1.0], vec![0.0, 0.0]], 0.02, 0.05);
        assert_eq!(steps.iter().map(|step| step.point).collect::<Vec<_>>(), [1]);
        assert!(steps[0].errors[1] > 0.9);
        assert_eq!(plan(&[], 0.02, 0.05), []);
    }

    proptest! {
        #[test]
        fn each_point_is_named_once_and_errors_never_grow(
            slopes in prop::collection::vec(prop::collection::vec(-2.0..2.0f64, 8), 1..5),
            goal in 0.001..0.2f64,
        ) {
            let steps = plan(&slopes, 0.02, goal);
            for pair in steps.windows(2) {
                prop_assert!(pair[0].errors.iter().zip(&pair[1].errors).all(|(before, after)| *after <= before + 1e-9));
                prop_assert!(pair[0].errors.iter().any(|error| *error > goal));
            }
            let mut points: Vec<_> = steps.iter().map(|step| step.point).collect();
            points.sort_unstable();
            points.dedup();
            prop_assert_eq!(points.len(), steps.len());
        }
    }
}
