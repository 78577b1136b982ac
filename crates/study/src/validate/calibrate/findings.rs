//! How well a fit determines its parameters: standard errors and correlations from its derivatives and residuals.

use super::{
    fit::{Fit, Variable},
    linear::{Matrix, inverse, normal},
};

/// Greatest change of any residual over a parameter's whole range below which the points say nothing about it.
const NOTHING: f64 = 1e-3;
/// Correlation above which two parameters are determined only together.
const TOGETHER: f64 = 0.98;
/// Standard errors on each side of an interval: 95 % if residuals are normal.
const WIDTH: f64 = 2.0;

/// What the points say about a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Determination {
    /// It is known to a standard error, in base units.
    Known { error: f64 },
    /// Only together with another one.
    Together {
        /// The place of the other.
        with: usize,
        correlation: f64,
    },
    /// As many parameters as points, so nothing is left to judge by.
    Exact,
    /// The points do not depend on it.
    Not,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finding {
    pub value: i128,
    pub low: i128,
    pub high: i128,
    /// Whether the value lies on one of its bounds.
    pub at_bound: bool,
    /// What the points say about it.
    pub determination: Determination,
    /// The parameter whose error goes most with its own, and how much.
    pub strongest: Option<(usize, f64)>,
}

pub fn findings(variables: &[Variable], fit: &Fit) -> Vec<Finding> {
    let felt = |place: &usize| fit.columns[*place].iter().any(|slope| slope.abs() >= NOTHING);
    let places: Vec<_> = (0..variables.len()).filter(felt).collect();
    let columns: Vec<_> = places.iter().map(|&place| fit.columns[place].clone()).collect();
    let covariance = covariance(&columns, &fit.residuals);
    let of = |(place, variable): (usize, &Variable)| {
        let own = places.iter().position(|known| *known == place);
        let strongest = own.and_then(|own| strongest(&covariance, own)).map(|(other, much)| (places[other], much));
        let error = own.map(|own| covariance[own][own].sqrt() * (variable.high - variable.low) as f64);
        let freedom = fit.residuals.len() > places.len();
        let determination = match (error, strongest) {
            (None, _) => Determination::Not,
            (Some(_), Some((with, correlation))) if correlation.abs() > TOGETHER => {
                Determination::Together { with, correlation }
            }
            (Some(error), _) if freedom && error.is_finite() => Determination::Known { error },
            (Some(_), _) => Determination::Exact,
        };
        finding(variable, fit.values[place], determination, strongest)
    };
    variables.iter().enumerate().map(of).collect()
}

fn finding(variable: &Variable, value: i128, determination: Determination, strongest: Option<(usize, f64)>) -> Finding {
    let at_bound = value <= variable.low || value >= variable.high;
    let (low, high) = match determination {
        Determination::Known { error } => {
            let reach = (WIDTH * error).ceil().min(1e30) as i128;
            ((value - reach).max(variable.low), (value + reach).min(variable.high))
        }
        _ => (variable.low, variable.high),
    };
    Finding { value, low, high, at_bound, determination, strongest }
}

/// Of the scaled variables. What is nearly singular is made regular: its correlations come out as nearly one.
fn covariance(columns: &[Vec<f64>], residuals: &[f64]) -> Matrix {
    let (mut matrix, _) = normal(columns, residuals);
    for (place, row) in matrix.iter_mut().enumerate() {
        row[place] *= 1.0 + 1e-9;
    }
    let freedom = residuals.len().saturating_sub(columns.len()).max(1) as f64;
    let variance = residuals.iter().map(|residual| residual * residual).sum::<f64>() / freedom;
    let none = || vec![vec![f64::NAN; columns.len()]; columns.len()];
    // Where the points are met exactly, correlations still are those of the derivatives.
    let scaled = |row: Vec<f64>| row.into_iter().map(|cell| cell * variance.max(f64::MIN_POSITIVE.sqrt())).collect();
    inverse(&matrix).map_or_else(none, |inverse| inverse.into_iter().map(scaled).collect())
}

fn strongest(covariance: &Matrix, own: usize) -> Option<(usize, f64)> {
    let with = |other: usize| covariance[own][other] / (covariance[own][own] * covariance[other][other]).sqrt();
    let others = (0..covariance.len()).filter(|other| *other != own).map(|other| (other, with(other)));
    others.filter(|(_, much)| much.is_finite()).max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(columns: &[[f64; 4]], residuals: [f64; 4]) -> Vec<Finding> {
        let variables = vec![Variable { start: 50, low: 0, high: 100 }; columns.len()];
        let fit = Fit {
            values: vec![50; columns.len()],
            before: residuals.to_vec(),
            residuals: residuals.to_vec(),
            columns: columns.iter().map(|column| column.to_vec()).collect(),
            rounds: 1,
        };
        findings(&variables, &fit)
    }

    #[test]
    fn a_standard_error_is_that_of_linear_regression() {
        // One variable with slope 1 at four points: sqrt(sum of squares / 3 / 4) of a range of 100.
        let finding = judged(&[[1.0; 4]], [0.01, -0.01, 0.01, -0.01])[0];
        let Determination::Known { error } = finding.determination else { panic!("{finding:?}") };
        assert!((error - (0.0004_f64 / 3.0 / 4.0).sqrt() * 100.0).abs() < 1e-6);
        assert_eq!((finding.low, finding.high, finding.at_bound), (48, 52, false));
    }

    #[test]
    fn what_moves_nothing_or_only_with_another_is_said() {
        let found = judged(&[[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.001], [0.0, 0.0, 0.0, 1e-4]], [0.01; 4]);
        for (own, other) in [(0, 1), (1, 0)] {
            let Determination::Together { with, correlation } = found[own].determination else { panic!("{found:?}") };
            assert!(with == other && correlation < -0.98);
            assert_eq!((found[own].low, found[own].high), (0, 100));
        }
        assert_eq!((found[2].determination, found[2].strongest), (Determination::Not, None));
    }

    #[test]
    fn as_many_parameters_as_points_leave_nothing_to_judge_by() {
        let columns = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
        assert!(judged(&columns, [0.0; 4]).iter().all(|one| one.determination == Determination::Exact));
    }
}
