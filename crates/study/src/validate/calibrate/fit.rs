//! Least squares after Levenberg and Marquardt over whole numbers within bounds.
//!
//! Each variable is scaled by its range, so that steps and derivatives of all have one size. Derivatives are differences over one
//! hundredth of the range: a simulation in whole cycles is a staircase, and smaller steps would see its treads. Four damping factors are
//! tried at once, since simulations run side by side.

use super::linear::{inverse, normal, product};

/// Of a variable's range, over which derivatives are taken.
const STEP: f64 = 0.01;
/// Improvement of the sum of squares below which a fit is at its end.
const LEAST_GAIN: f64 = 1e-4;
/// Rounds, of which each is a set of derivatives and some trials.
const ROUNDS: usize = 40;
const DIGITS: u32 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    pub start: i128,
    pub low: i128,
    pub high: i128,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    pub values: Vec<i128>,
    pub before: Vec<f64>,
    pub residuals: Vec<f64>,
    /// Derivatives of the residuals at the end, by variable, over its whole range.
    pub columns: Vec<Vec<f64>>,
    pub rounds: usize,
}

impl Variable {
    fn range(&self) -> f64 {
        (self.high - self.low).max(1) as f64
    }

    /// The nearest value within bounds that has few digits.
    fn rounded(&self, value: f64) -> i128 {
        let value = value.round() as i128;
        let digits = value.unsigned_abs().checked_ilog10().map_or(1, |log| log + 1);
        let unit = 10i128.pow(digits.saturating_sub(DIGITS));
        let whole = (value + unit / 2).div_euclid(unit) * unit;
        whole.clamp(self.low, self.high)
    }

    /// A value one step away, upwards where there is room.
    fn neighbour(&self, value: i128) -> i128 {
        let step = ((self.range() * STEP).round() as i128).max(1);
        if value + step <= self.high { value + step } else { (value - step).max(self.low) }
    }
}

pub type Residuals<'r, E> = dyn FnMut(&[Vec<i128>]) -> Result<Vec<Vec<f64>>, E> + 'r;

/// Finds the values with the least sum of squared residuals, downhill from the start.
pub fn fit<E>(variables: &[Variable], residuals: &mut Residuals<'_, E>) -> Result<Fit, E> {
    let mut values: Vec<_> = variables.iter().map(|one| one.start.clamp(one.low, one.high)).collect();
    let mut at = first(residuals(std::slice::from_ref(&values))?);
    let before = at.clone();
    let mut damping = 1e-2;
    for round in 1..=ROUNDS {
        let columns = derivatives(variables, &values, &at, residuals)?;
        let mut next = None;
        // A second try takes much smaller steps.
        for factor in [1.0, 1e4] {
            let trials = trials(variables, &values, &at, &columns, damping * factor);
            let outcomes = residuals(&trials.iter().map(|trial| trial.1.clone()).collect::<Vec<_>>())?;
            let best = trials.into_iter().zip(outcomes).min_by(|a, b| squares(&a.1).total_cmp(&squares(&b.1)));
            next = best.filter(|(_, outcome)| squares(outcome) < squares(&at) * (1.0 - LEAST_GAIN));
            if next.is_some() {
                break;
            }
        }
        let Some(((used, trial), outcome)) = next else {
            return Ok(Fit { values, before, residuals: at, columns, rounds: round });
        };
        (values, at, damping) = (trial, outcome, used);
    }
    let columns = derivatives(variables, &values, &at, residuals)?;
    Ok(Fit { values, before, residuals: at, columns, rounds: ROUNDS })
}

fn first(mut all: Vec<Vec<f64>>) -> Vec<f64> {
    if all.is_empty() { Vec::new() } else { all.swap_remove(0) }
}

fn squares(residuals: &[f64]) -> f64 {
    residuals.iter().map(|residual| residual * residual).sum()
}

fn derivatives<E>(
    variables: &[Variable],
    values: &[i128],
    at: &[f64],
    residuals: &mut Residuals<'_, E>,
) -> Result<Vec<Vec<f64>>, E> {
    let moved = |place: usize| {
        let mut moved = values.to_vec();
        moved[place] = variables[place].neighbour(values[place]);
        moved
    };
    let candidates: Vec<_> = (0..values.len()).map(moved).collect();
    let outcomes = residuals(&candidates)?;
    let column = |(place, outcome): (usize, &Vec<f64>)| {
        let step = (candidates[place][place] - values[place]) as f64 / variables[place].range();
        let slope = |(new, old): (&f64, &f64)| if step == 0.0 { 0.0 } else { (new - old) / step };
        outcome.iter().zip(at).map(slope).collect()
    };
    Ok(outcomes.iter().enumerate().map(column).collect())
}

/// Candidates with their damping, other than where the fit stands.
fn trials(
    variables: &[Variable],
    values: &[i128],
    at: &[f64],
    columns: &[Vec<f64>],
    damping: f64,
) -> Vec<(f64, Vec<i128>)> {
    let mut trials: Vec<(f64, Vec<i128>)> = Vec::new();
    for damping in [0.1, 1.0, 10.0, 100.0].map(|factor| (damping * factor).clamp(1e-9, 1e9)) {
        let Some(trial) = step(variables, values, at, columns, damping) else { continue };
        if trial != values && trials.iter().all(|known| known.1 != trial) {
            trials.push((damping, trial));
        }
    }
    trials
}

/// One damped step. Variables at a bound that would leave it, and such that change nothing, stay.
fn step(variables: &[Variable], values: &[i128], at: &[f64], columns: &[Vec<f64>], damping: f64) -> Option<Vec<i128>> {
    let free: Vec<_> = (0..values.len())
        .filter(|&place| {
            let slope: f64 = columns[place].iter().zip(at).map(|(column, residual)| column * residual).sum();
            let Variable { low, high, .. } = variables[place];
            let leaves = (values[place] <= low && slope >= 0.0) || (values[place] >= high && slope <= 0.0);
            squares(&columns[place]) > 0.0 && !leaves
        })
        .collect();
    let own: Vec<_> = free.iter().map(|&place| columns[place].clone()).collect();
    let (mut matrix, slopes) = normal(&own, at);
    for (place, row) in matrix.iter_mut().enumerate() {
        row[place] *= 1.0 + damping;
    }
    let change = product(&inverse(&matrix)?, &slopes);
    let mut moved = values.to_vec();
    for (&place, change) in free.iter().zip(change) {
        let variable = &variables[place];
        let target = values[place] as f64 - change * variable.range();
        moved[place] = variable.rounded(target.clamp(variable.low as f64, variable.high as f64));
    }
    Some(moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative residuals of a latency and a rate against times of some sizes, in whole cycles as a simulation gives them.
    fn line(sizes: &[f64], truth: (f64, f64), candidate: &[i128]) -> Vec<f64> {
        let time = |offset: f64, rate: f64, size: f64| (offset + size * 1000.0 / rate).ceil();
        let [offset, rate] = [candidate[0] as f64, candidate[1] as f64];
        sizes.iter().map(|&size| time(offset, rate, size) / time(truth.0, truth.1, size) - 1.0).collect()
    }

    fn run(variables: &[Variable], residuals: impl Fn(&[i128]) -> Vec<f64>) -> Fit {
        fit(variables, &mut |all| Ok::<_, ()>(all.iter().map(|one| residuals(one)).collect())).unwrap()
    }

    #[test]
    fn a_latency_and_a_rate_are_found_from_times() {
        let variables =
            [Variable { start: 5000, low: 100, high: 20_000 }, Variable { start: 900, low: 100, high: 9000 }];
        let sizes = [64.0, 4096.0, 65536.0, 1048576.0];
        let fit = run(&variables, |candidate| line(&sizes, (1234.0, 2345.0), candidate));
        let near = |value: i128, truth: f64| (value as f64 / truth - 1.0).abs() < 0.003;
        assert!(near(fit.values[0], 1234.0) && near(fit.values[1], 2345.0), "{fit:?}");
        assert!(squares(&fit.residuals) < 1e-5 && squares(&fit.before) > 0.5);
    }

    #[test]
    fn bounds_hold_and_what_changes_nothing_stays() {
        let variables = [
            Variable { start: 3000, low: 2000, high: 20_000 },
            Variable { start: 2345, low: 100, high: 9000 },
            Variable { start: 77, low: 1, high: 99 },
        ];
        let fit = run(&variables, |candidate| line(&[64.0, 4096.0], (1234.0, 2345.0), candidate));
        assert_eq!((fit.values[0], fit.values[2]), (2000, 77));
        assert!(fit.columns[2].iter().all(|slope| *slope == 0.0));
    }

    #[test]
    fn values_have_four_digits() {
        let variable = Variable { start: 0, low: 0, high: 10_000_000_000 };
        assert_eq!(
            [12.4, 9999.0, 12_345_678.0, 1_755_000_000.0].map(|value| variable.rounded(value)),
            [12, 9999, 12_350_000, 1_755_000_000]
        );
    }
}
