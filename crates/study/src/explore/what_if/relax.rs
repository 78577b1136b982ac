//! A parameter relaxed: twice the rate or depth, half the latency or interval, or the next value that is legal.

use super::Gain;
use crate::config::{Base, Parameter, Relaxes, Resolved, relaxed_amounts, relaxes};
use crate::units::KINDS;

/// What a parameter is relaxed to, so that the machine is legal.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub path: String,
    /// As it was and as it is, each as `--set` takes it.
    value: String,
    relaxed_to: String,
}

impl Step {
    pub fn setting(&self) -> String {
        format!("{}={}", self.path, self.relaxed_to)
    }

    pub fn gains(&self, gain_percent: f64) -> Gain {
        let Self { path, value, relaxed_to } = self.clone();
        Gain { parameter: path, value, relaxed_to, gain_percent }
    }
}

/// The steps of all parameters that can only help in such a way, in the order of their paths.
pub(super) fn steps(machine: &Base, of: impl Fn(Relaxes) -> bool) -> Vec<Step> {
    let paths = machine.resolved().parameters.iter().map(|parameter| &parameter.path);
    paths.filter(|path| relaxes(path).is_some_and(&of)).filter_map(|path| step(machine, path)).collect()
}

/// The step of a parameter: the first less strict value that goes with all other parameters.
pub(super) fn step(machine: &Base, path: &str) -> Option<Step> {
    let parameter = machine.resolved().parameter(path)?;
    let step = |relaxed_to| Step { path: path.to_owned(), value: parameter.value.clone(), relaxed_to };
    values(parameter)?.into_iter().map(step).find(|step| machine.possible(&[step.setting()]))
}

/// The machine with a parameter relaxed, and what it was relaxed to: twice the rate or depth, half the latency, or the next value that is legal.
/// None if it has no such value.
pub fn relax(machine: &Resolved, path: &str) -> Option<(Resolved, String)> {
    let step = step(&machine.base().ok()?, path)?;
    Some((machine.with(&[step.setting()]).ok()?, step.relaxed_to))
}

/// How often a parameter is relaxed until it is as good as free.
const TIMES: usize = 10;

/// The machine with a parameter relaxed again and again, as far as that is legal; and its value before and then.
pub fn freed(machine: &Resolved, path: &str) -> Option<(Resolved, [String; 2])> {
    let before = machine.parameter(path)?.value.clone();
    let (mut last, mut value) = relax(machine, path)?;
    for _ in 1..TIMES {
        match relax(&last, path) {
            Some(next) => (last, value) = next,
            None => break,
        }
    }
    Some((last, [before, value]))
}

/// What to try, in this order.
fn values(parameter: &Parameter) -> Option<Vec<String>> {
    let amount = u64::try_from(parameter.amount?).ok()?;
    let amounts = relaxed_amounts(relaxes(&parameter.path)?, parameter.unit, amount);
    let print = |number: u64| match KINDS.iter().find(|(_, kind)| kind.what.ends_with(parameter.unit)) {
        Some((_, kind)) => kind.print(number),
        None => number.to_string(),
    };
    Some(amounts.into_iter().map(print).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;

    #[test]
    fn rates_and_depths_double_latencies_halve_and_what_has_no_less_strict_value_stays() {
        let machine = Layers::new("h100-nvl-tdx").base().unwrap();
        for (path, value, relaxed_to) in [
            ("copy_engine.outstanding_reads", "32", Some("64")),
            ("cipher.seal_rate", "1.6 B/cycle", Some("3.2 B/cycle")),
            ("link.mac_clock", "1 GHz", Some("2 GHz")),
            ("root_complex.read_latency", "419 cycles", Some("209 cycles")),
            ("copy_engine.read_buffer", "32 KiB", Some("64 KiB")),
            ("link.read_tags", "768 is the most", None),
            ("engine.aes.rounds_in_hardware", "14 are all", None),
            ("tag_queue.release", "no number", None),
            ("copy_engine.clock", "holds for much at once", None),
            ("nothing.of.the.kind", "", None),
        ] {
            let step = step(&machine, path);
            assert_eq!(step.as_ref().map(|step| &*step.relaxed_to), relaxed_to, "{path}: {value}");
            assert!(step.is_none_or(|step| step.value == value), "{path}");
        }
    }
}
