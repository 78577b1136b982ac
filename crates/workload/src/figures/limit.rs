//! What limited a copy, as results say it.

use crate::{
    config::Resolved,
    system::{CopyOutcome, Limiter},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A parameter that was relaxed, and what that gained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    pub parameter: String,
    /// The unit at which it shows.
    pub unit: String,
    /// `busy` or a stall.
    pub state: String,
    /// Part of the copy's time that the unit was so, 0 to 1.
    pub fraction: f64,
    pub value: String,
    /// What it was relaxed to.
    pub relaxed_to: String,
    /// How much faster the copy then was, in percent.
    pub gain_percent: f64,
    /// Another parameter that binds together with this depth: `path = value`.
    pub with: Option<String>,
    /// The parameter that binds then.
    pub next: Option<String>,
}

/// Parameters that gain together and not alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Both, as `path = value`.
    pub parameters: [String; 2],
    /// What they were relaxed to.
    pub relaxed_to: [String; 2],
    /// How much faster the copy then was, in percent.
    pub gain_percent: f64,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// The parameters that gain enough alone, the best first.
    pub best: Vec<Gain>,
    /// Without any, the pair that does.
    pub pair: Option<Pair>,
    /// Bytes of the copy that were asked about.
    pub bytes: u64,
}

/// What limited a copy.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LimitedBy {
    /// The unit at which it shows.
    pub unit: String,
    /// `busy`, a stall, `copying`, `queued` or `kernels`.
    pub state: String,
    /// Part of the copy's time that the unit was so, 0 to 1.
    pub fraction: f64,
    /// Number, from 1, of the copy behind which it waited most of its time.
    pub behind: Option<usize>,
    /// Path of the parameter. Where it was measured: none if no parameter alone gains two percent.
    pub parameter: Option<String>,
    pub value: Option<String>,
    /// Whether gains were measured.
    pub measured: bool,
    /// What the parameter was relaxed to.
    pub relaxed_to: Option<String>,
    /// How much faster the copy then was, in percent.
    pub gain_percent: Option<f64>,
    /// A latency or rate that binds together with this depth: `path = value`.
    pub with: Option<String>,
    /// The parameter that binds then; none if nothing alone does.
    pub next: Option<String>,
    /// Where none gains alone, two that do together.
    pub together: Option<Pair>,
    /// The best of those that gain, this one first, if more than one was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub best: Vec<Gain>,
}

impl LimitedBy {
    /// What the accounts of a run say.
    pub fn of(limiter: &Limiter, machine: &Resolved) -> Self {
        Self::known(limiter, &|path| machine.parameter(path).map(|one| one.value.clone()))
    }

    /// The same by the value of a parameter, if it is one.
    pub fn known(limiter: &Limiter, value: &dyn Fn(&str) -> Option<String>) -> Self {
        let value = limiter.parameter.as_deref().and_then(value);
        Self {
            unit: limiter.unit.clone(),
            state: limiter.state.clone(),
            fraction: limiter.fraction,
            behind: limiter.behind.map(|place| place + 1),
            parameter: limiter.parameter.clone().filter(|_| value.is_some()),
            value,
            ..Self::default()
        }
    }

    /// Of several copies: what limited those that took most of the time, those aside that waited for kernels if there are others. Its fraction
    /// is the part that these took of the time of all.
    pub fn of_copies(copies: &[CopyOutcome], value: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let mut shares: BTreeMap<_, (u128, &CopyOutcome)> = BTreeMap::new();
        for copy in copies {
            let by = &copy.limited_by;
            // One parameter may show at several units.
            let place = if by.parameter.is_some() { ("", "") } else { (by.unit.as_str(), by.state.as_str()) };
            shares.entry((&by.parameter, place)).or_insert((0, copy)).0 += u128::from(copy.time().0);
        }
        let whole: u128 = shares.values().map(|(time, _)| time).sum();
        let waits = |copy: &CopyOutcome| waits_for_kernels(&copy.limited_by.unit, &copy.limited_by.state);
        let (time, copy) = shares.into_values().max_by_key(|(time, copy)| (!waits(copy), *time))?;
        let fraction = time as f64 / whole.max(1) as f64;
        Some(Self::known(&Limiter { fraction, behind: None, ..copy.limited_by.clone() }, value))
    }

    pub fn waits_for_kernels(&self) -> bool {
        waits_for_kernels(&self.unit, &self.state)
    }

    /// The same with what was measured.
    pub fn measured(self, found: Found) -> Self {
        let Found { best, pair, .. } = found;
        let none = Self { measured: true, parameter: None, value: None, together: pair, ..self };
        let Some(first) = best.first().cloned() else { return none };
        // Of a copy that waits for another the queue is what shows at its own engine.
        let queued = none.behind.is_some();
        Self {
            unit: if queued { none.unit } else { first.unit },
            state: if queued { none.state } else { first.state },
            fraction: if queued { none.fraction } else { first.fraction },
            parameter: Some(first.parameter),
            value: Some(first.value),
            relaxed_to: Some(first.relaxed_to),
            gain_percent: Some(first.gain_percent),
            with: first.with,
            next: first.next,
            best: if best.len() > 1 { best } else { Vec::new() },
            ..none
        }
    }

    /// In few words, for a table.
    pub fn short(&self) -> String {
        let seen = format!("{} {} {:.0} %", self.unit, self.state, self.fraction * 100.0);
        let named = match (&self.parameter, self.measured) {
            (Some(path), _) => path.as_str(),
            (None, true) => "nothing alone",
            (None, false) => return seen,
        };
        let gain = self.gain_percent.map(|gain| format!(", +{gain:.0} %")).unwrap_or_default();
        format!("{named} ({seen}{gain})")
    }

    /// In words, behind "is limited by".
    pub fn text(&self) -> String {
        let with = self.with.as_ref().map(|with| format!(", with {with}")).unwrap_or_default();
        let share = format!("{} {} {:.0} %{with}", self.unit, self.state, self.fraction * 100.0);
        let named = self.parameter.iter().zip(&self.value).next().map(|(path, value)| format!("{path} = {value}"));
        let what = match (self.behind, &named) {
            (Some(copy), Some(named)) => format!("copy {copy} before it ({share}), and that by {named}"),
            (Some(copy), None) => format!("copy {copy} before it ({share})"),
            (None, Some(named)) => format!("{named} ({share})"),
            (None, None) if self.measured => format!("nothing alone ({share})"),
            (None, None) => share,
        };
        match (&self.gain_percent.zip(self.relaxed_to.as_ref()), &self.together) {
            (Some((gain, relaxed_to)), _) => format!("{what}; {relaxed_to} gives +{gain:.0} %, {}", self.then()),
            (None, Some(Pair { parameters: [one, other], relaxed_to: [to, other_to], gain_percent })) => {
                format!("{what}; {one} and {other} bind together: {to} and {other_to} give +{gain_percent:.0} %")
            }
            (None, None) if named.is_some() && !self.measured => format!("{what}, not measured"),
            (None, None) => what,
        }
    }

    fn then(&self) -> String {
        match &self.next {
            Some(next) if self.parameter.as_ref() == Some(next) => "it still limits then".to_owned(),
            Some(next) => format!("then {next} limits"),
            None => "then nothing alone does".to_owned(),
        }
    }

    /// The further ones of [`LimitedBy::best`], a line each.
    pub fn others(&self) -> impl Iterator<Item = String> + '_ {
        self.best.iter().skip(1).map(|one| {
            let Gain { parameter, value, relaxed_to, gain_percent, .. } = one;
            format!("{parameter} = {value}: {relaxed_to} gives +{gain_percent:.0} %")
        })
    }
}

/// Whether a copy waited for kernels: in a queue behind them, or in a call that returns when it is done, while no unit works for it.
fn waits_for_kernels(unit: &str, state: &str) -> bool {
    state == "kernels" || (unit == "none" && state == "idle")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;

    fn limit() -> LimitedBy {
        let machine = Layers::new("h100-nvl-tdx").resolve().unwrap();
        let parameter = Some("copy_engine.outstanding_reads".to_owned());
        let (unit, state) = ("gpu.pce14".to_owned(), "outstanding_reads".to_owned());
        LimitedBy::of(&Limiter { unit, state, fraction: 0.991, parameter, behind: None }, &machine)
    }

    fn gain(parameter: &str) -> Gain {
        let text = |text: &str| text.to_owned();
        let (unit, state, fraction) = (text("gpu.pce14"), text("outstanding_reads"), 0.99);
        let (value, relaxed_to, gain_percent) = (text("32"), text("64"), 28.7);
        let (with, next) = (Some(text("root_complex.read_latency = 419 cycles")), Some(text("link.mac_clock")));
        Gain { parameter: text(parameter), unit, state, fraction, value, relaxed_to, gain_percent, with, next }
    }

    #[test]
    fn the_words_say_what_was_measured_and_what_was_not() {
        assert_eq!(
            limit().text(),
            "copy_engine.outstanding_reads = 32 (gpu.pce14 outstanding_reads 99 %), not measured"
        );
        let found = Found { best: vec![gain("copy_engine.outstanding_reads")], ..Found::default() };
        let measured = limit().measured(found);
        assert_eq!(
            measured.text(),
            "copy_engine.outstanding_reads = 32 (gpu.pce14 outstanding_reads 99 %, with root_complex.read_latency = 419 cycles); \
             64 gives +29 %, then link.mac_clock limits"
        );
        assert_eq!(measured.best, [], "one that was asked for stands in the fields alone");
        assert_eq!(limit().measured(Found::default()).text(), "nothing alone (gpu.pce14 outstanding_reads 99 %)");
    }

    #[test]
    fn a_pair_and_a_queue_are_named() {
        let pair = |text: [&str; 2]| text.map(str::to_owned);
        let together = Pair { parameters: pair(["a = 1", "b = 2"]), relaxed_to: pair(["2", "4"]), gain_percent: 7.4 };
        let found = Found { pair: Some(together), ..Found::default() };
        let text = limit().measured(found).text();
        assert!(text.ends_with("; a = 1 and b = 2 bind together: 2 and 4 give +7 %"), "{text}");
        let queued = LimitedBy { behind: Some(3), state: "queued".into(), ..limit() };
        assert_eq!(
            queued.text(),
            "copy 3 before it (gpu.pce14 queued 99 %), and that by copy_engine.outstanding_reads = 32, not measured"
        );
    }
}
