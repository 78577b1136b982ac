//! What a model that was fitted leaves between itself and measured figures: a source of width beside the draws.

use super::rounded;
use crate::figures::{
    Figure,
    table::{DEVICE, RATE, TIME},
};
use serde::Serialize;

/// Root mean square of the logarithms of simulated over measured that the fit to p1 leaves in times of single calls. Calibrated: `tests/campaigns/coverage.rs`
/// makes it again from the fitted points, and holds it to 0.005.
pub const OF_CALLS: f64 = 0.19;
/// The same of times on the device.
pub const ON_DEVICE: f64 = 0.23;

/// A named source of width. It is the model's, and so common to all designs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Residual {
    /// The measured curves that it is of.
    pub family: &'static str,
    pub root_mean_square: f64,
}

/// The residual of single calls, which figures of a copy from call to end are.
pub(super) const CALLS: Residual = Residual { family: "single calls", root_mean_square: OF_CALLS };

/// The 95th percentile of a normal distribution with a standard deviation of 1.
const END_OF_NORMAL: f64 = 1.645;

/// The residual of a figure of one copy; none where no such figure was measured, and of gains, in which it cancels.
pub(super) fn residual_of(figure: &str) -> Option<f64> {
    match figure {
        name if name == RATE.name || name == TIME.name => Some(OF_CALLS),
        name if name == DEVICE.name => Some(ON_DEVICE),
        _ => None,
    }
}

/// An interval of draws, wider by what the model leaves: 90 % of a normal distribution of that residual, in logarithms, independent of the draws. It holds
/// the one of the draws.
#[must_use]
pub fn widened([low, high]: [f64; 2], simulated: f64, residual: f64) -> [f64; 2] {
    let beyond = |end: f64| ((end / simulated).ln().powi(2) + (END_OF_NORMAL * residual).powi(2)).sqrt();
    [simulated * (-beyond(low.min(simulated))).exp(), simulated * beyond(high.max(simulated)).exp()]
}

/// The interval of a figure of one copy, with the residual where there is one.
pub(in crate::explore) fn with_residual(figure: &str, drawn: [f64; 2], simulated: Option<f64>) -> [f64; 2] {
    match (residual_of(figure), simulated) {
        (Some(residual), Some(simulated)) if simulated > 0.0 => widened(drawn, simulated, residual).map(rounded),
        _ => drawn,
    }
}

/// As [`with_residual`], of a row that states the figure.
pub(super) fn of_row(figure: &Figure, drawn: [f64; 2], row: &crate::figures::Row) -> [f64; 2] {
    with_residual(figure.name, drawn, row.number(figure))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_residual_an_interval_holds_the_one_without_and_a_gain_is_as_drawn() {
        for drawn in [[1.0, 4.0], [2.0, 2.0], [2.5, 4.0], [0.5, 1.5]] {
            let [low, high] = with_residual(RATE.name, drawn, Some(2.0));
            assert!(low < drawn[0] && drawn[1] < high, "{drawn:?}");
            assert_eq!(with_residual("speedup_over_baseline", drawn, Some(2.0)), drawn);
        }
        // Draws that agree leave the residual.
        let [low, high] = with_residual(DEVICE.name, [2.0; 2], Some(2.0));
        assert!((low * high - 4.0).abs() < 1e-4 && (high / 2.0 - (1.645 * ON_DEVICE).exp()).abs() < 1e-4);
        assert_eq!(widened([1.0, 4.0], 2.0, 0.0).map(|end| (end * 1e9).round()), [1e9, 4e9]);
    }
}
