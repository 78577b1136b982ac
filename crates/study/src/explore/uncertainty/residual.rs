//! What a model that was fitted leaves between itself and measured figures: a source of width beside the draws.
//!
//! Single calls and times on the device were measured on one host. On another the same model errs by more: what a machine of one host misses of another is
//! known from rates, and is taken to be independent of the rest.

use super::rounded;
use crate::{
    config::Resolved,
    figures::{
        Figure,
        table::{DEVICE, RATE, TIME},
    },
};
use serde::{Deserialize, Serialize};

/// Root mean square of the logarithms of simulated over measured that the fit to p1 leaves in times of single calls. Calibrated: `tests/campaigns/coverage.rs`
/// makes it again from the fitted points, and holds it to 0.005.
pub const OF_CALLS: f64 = 0.22;
/// The same of times on the device.
pub const ON_DEVICE: f64 = 0.23;
/// The same of what `h100-sxm5-off` says of p2's rates without confidential computing: points that were given, of a host that took no part in that machine.
pub const OF_ANOTHER_HOST: f64 = 0.19;

/// By which values a machine has the host of p1.
const HOST: [(&str, &str); 2] = [("cpu.core", "emerald-rapids"), ("cpu.clock", "2.1 GHz")];

/// What was measured in curves of one family.
struct Family {
    name: &'static str,
    /// The figures of a copy that are such times, or follow from them.
    figures: &'static [&'static Figure],
    left: f64,
}

const FAMILIES: [Family; 2] = [
    Family { name: "single calls", figures: &[&RATE, &TIME], left: OF_CALLS },
    Family { name: "times on the device", figures: &[&DEVICE], left: ON_DEVICE },
];

/// A named source of width. It is the model's, and so common to all designs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Residual {
    /// The measured curves that it is of.
    pub family: String,
    /// The names of the figures that are wider by it.
    pub figures: Vec<String>,
    pub root_mean_square: f64,
    /// Whether no such curve was measured on the machine's host, so that [`OF_ANOTHER_HOST`] is in it.
    pub another_host: bool,
}

impl Residual {
    /// What all of them are, in words; nothing of none.
    pub fn sentence(all: &[Self]) -> String {
        if all.is_empty() {
            return String::new();
        }
        let of = |one: &Self| format!("{:.0} % of {}", one.root_mean_square * 100.0, one.family);
        let list = all.iter().map(of).collect::<Vec<_>>().join(", ");
        let on = if all.iter().any(|one| one.another_host) { ", measured on another host" } else { "" };
        format!("Rates and times are wider by the model's residual, common to all designs:\n{list}{on}\n")
    }
}

/// The residuals of figures of one copy on a machine; of those in which it cancels, and of which no such figure was measured, there is none.
pub(in crate::explore) fn residuals(machine: &Resolved, list: &[&Figure]) -> Vec<Residual> {
    let is = |(path, value): (&str, &str)| machine.parameter(path).is_some_and(|one| one.value == value);
    let another_host = !HOST.into_iter().all(is);
    let of = |family: &Family| {
        let shown = |figure: &&&Figure| list.iter().any(|listed| listed.name == figure.name);
        let figures: Vec<_> = family.figures.iter().filter(shown).map(|figure| figure.name.to_owned()).collect();
        let root_mean_square =
            if another_host { rounded((family.left.powi(2) + OF_ANOTHER_HOST.powi(2)).sqrt()) } else { family.left };
        let residual = Residual { family: family.name.to_owned(), figures, root_mean_square, another_host };
        (!residual.figures.is_empty()).then_some(residual)
    };
    FAMILIES.iter().filter_map(of).collect()
}

/// The 95th percentile of a normal distribution with a standard deviation of 1.
const END_OF_NORMAL: f64 = 1.645;

/// An interval of draws, wider by what the model leaves: 90 % of a normal distribution of that residual, in logarithms, independent of the draws. It holds
/// the one of the draws.
pub fn widened([low, high]: [f64; 2], simulated: f64, residual: f64) -> [f64; 2] {
    let beyond = |end: f64| ((end / simulated).ln().powi(2) + (END_OF_NORMAL * residual).powi(2)).sqrt();
    [simulated * (-beyond(low.min(simulated))).exp(), simulated * beyond(high.max(simulated)).exp()]
}

/// The interval of a figure of one copy, with its residual where there is one.
pub(in crate::explore) fn with_residual(
    residuals: &[Residual],
    figure: &str,
    drawn: [f64; 2],
    simulated: Option<f64>,
) -> [f64; 2] {
    let of_it = |residual: &&Residual| residual.figures.iter().any(|name| name == figure);
    match (residuals.iter().find(of_it), simulated) {
        (Some(residual), Some(simulated)) if simulated > 0.0 => {
            widened(drawn, simulated, residual.root_mean_square).map(rounded)
        }
        _ => drawn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::{Layers, Role, Shipped},
        figures::table::{COPIES, SWEEP},
    };

    fn of(machine: &str, list: &[&Figure]) -> Vec<Residual> {
        residuals(&Layers::new(machine).resolve().unwrap(), list)
    }

    #[test]
    fn with_residual_an_interval_holds_the_one_without_and_a_gain_is_as_drawn() {
        let known = of("h100-nvl-tdx", SWEEP);
        for drawn in [[1.0, 4.0], [2.0, 2.0], [2.5, 4.0], [0.5, 1.5]] {
            let [low, high] = with_residual(&known, RATE.name, drawn, Some(2.0));
            assert!(low < drawn[0] && drawn[1] < high, "{drawn:?}");
            assert_eq!(with_residual(&known, "speedup_over_baseline", drawn, Some(2.0)), drawn);
        }
        // Draws that agree leave the residual.
        let [low, high] = with_residual(&known, DEVICE.name, [2.0; 2], Some(2.0));
        assert!((low * high - 4.0).abs() < 1e-4 && (high / 2.0 - (1.645 * ON_DEVICE).exp()).abs() < 1e-4);
        assert_eq!(widened([1.0, 4.0], 2.0, 0.0).map(|end| (end * 1e9).round()), [1e9, 4e9]);
    }

    #[test]
    fn on_no_host_is_a_residual_less_than_where_it_was_measured_and_each_says_which_figures_it_widens() {
        let own = of("h100-nvl-tdx", SWEEP);
        let figures: Vec<_> = own.iter().map(|one| one.figures.join(" ")).collect();
        assert_eq!(figures, ["gb_per_s time_ps", "device_ps"]);
        assert_eq!(of("h100-nvl-tdx", COPIES).len(), 1);
        for machine in Shipped::names(Role::Machine) {
            let there = of(machine, SWEEP);
            for (there, own) in there.iter().zip(&own) {
                assert_eq!(there.another_host, machine != "h100-nvl-tdx", "{machine}");
                let more = there.root_mean_square > own.root_mean_square;
                assert!(more == there.another_host, "{machine}: {there:?}");
            }
        }
    }
}
