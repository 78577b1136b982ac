//! A parameter relaxed: twice the rate or depth, half the latency or interval, or the next value that is legal.

use crate::config::{Parameter, Resolved, relaxed_amounts};
use crate::units::KINDS;

/// A machine with parameters relaxed.
#[derive(Debug, Clone)]
pub(super) struct Relaxed {
    pub machine: Resolved,
    /// As they were and as they are, each as `--set` takes it.
    pub value: String,
    pub relaxed_to: String,
}

/// The machine with a parameter relaxed, if that has a less strict value that goes with all others.
pub(super) fn relaxed(machine: &Resolved, path: &str) -> Option<Relaxed> {
    let parameter = machine.parameter(path)?;
    let fits = |relaxed_to: String| {
        let machine = machine.with(&[format!("{path}={relaxed_to}")]).ok()?;
        Some(Relaxed { machine, value: parameter.value.clone(), relaxed_to })
    };
    steps(parameter)?.into_iter().find_map(fits)
}

/// How often a parameter is relaxed until it is as good as free.
const TIMES: usize = 10;

/// The machine with a parameter relaxed again and again, as far as that is legal; and its value before and then.
pub fn freed(machine: &Resolved, path: &str) -> Option<(Resolved, [String; 2])> {
    let mut last = relaxed(machine, path)?;
    let before = last.value.clone();
    for _ in 1..TIMES {
        match relaxed(&last.machine, path) {
            Some(next) => last = next,
            None => break,
        }
    }
    Some((last.machine, [before, last.relaxed_to]))
}

/// What to try, in this order.
fn steps(parameter: &Parameter) -> Option<Vec<String>> {
    let amounts = relaxed_amounts(&parameter.path, parameter.unit, u64::try_from(parameter.amount?).ok()?);
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

    fn step(path: &str) -> Option<(String, String)> {
        let machine = Layers::new("h100-nvl-tdx").resolve().unwrap();
        relaxed(&machine, path).map(|relaxed| {
            assert_eq!(relaxed.machine.parameter(path).unwrap().value, relaxed.relaxed_to);
            (relaxed.value, relaxed.relaxed_to)
        })
    }

    #[test]
    fn rates_and_depths_double_and_latencies_halve() {
        let pair = |one: &str, two: &str| Some((one.to_owned(), two.to_owned()));
        assert_eq!(step("copy_engine.outstanding_reads"), pair("32", "64"));
        assert_eq!(step("cipher.seal_rate"), pair("1.6 B/cycle", "3.2 B/cycle"));
        assert_eq!(step("link.mac_clock"), pair("1 GHz", "2 GHz"));
        assert_eq!(step("root_complex.read_latency"), pair("419 cycles", "209 cycles"));
        assert_eq!(step("copy_engine.read_buffer"), pair("32 KiB", "64 KiB"));
    }

    #[test]
    fn what_has_no_less_strict_value_is_not_relaxed() {
        assert_eq!(step("link.read_tags"), None, "768 is the most");
        assert_eq!(step("engine.aes.rounds_in_hardware"), None, "14 are all");
        assert_eq!(step("tag_queue.release"), None);
        assert_eq!(step("nothing.of.the.kind"), None);
    }
}
