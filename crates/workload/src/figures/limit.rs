//! What limited a copy, as other runs showed it; and who was busiest, which one run can count.

use crate::system::{Busiest, CopyOutcome};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A parameter that was relaxed, and what that gained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    pub parameter: String,
    pub value: String,
    pub relaxed_to: String,
    /// How much faster the copy then was, in percent.
    pub gain_percent: f64,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LimitedBy {
    /// The parameters that gain most alone, the best first: as many as were asked for, those that gain enough.
    pub best: Vec<Gain>,
    /// The parameter that gains most once the first is relaxed; none if none gains enough, or runs were used up before it was known.
    pub next: Option<String>,
    /// Where none gains enough alone: the two that gain most together, and what each was relaxed to. Both have the gain of the pair.
    pub together: Option<[Gain; 2]>,
    /// Where no pair does either: a time of flight that would.
    pub physics: Option<Gain>,
    /// Bytes of the copy that were asked about.
    pub bytes: u64,
    pub runs: u32,
    /// Whether runs were used up before all candidates had been tried or bounded: another may gain more.
    pub cut_short: bool,
}

impl LimitedBy {
    /// In few words, for a table.
    pub fn short(&self) -> String {
        match (self.best.first(), &self.together) {
            (Some(one), _) => format!("{} +{:.0} %", one.parameter, one.gain_percent),
            (None, Some([one, other])) => {
                format!("{} and {} +{:.0} %", one.parameter, other.parameter, one.gain_percent)
            }
            (None, None) => "nothing".to_owned(),
        }
    }

    /// In words, behind "is limited by".
    pub fn text(&self) -> String {
        let named = |one: &Gain| format!("{} = {}", one.parameter, one.value);
        match (self.best.first(), &self.together, &self.physics) {
            (Some(one), ..) => {
                let then = match &self.next {
                    Some(next) if *next == one.parameter => ", and still limits".to_owned(),
                    Some(next) => format!(", then {next} limits"),
                    None => String::new(),
                };
                format!("{}: {} gives +{:.0} %{then}", named(one), one.relaxed_to, one.gain_percent)
            }
            (None, Some([one, other]), _) => format!(
                "{} and {} together: {} and {} give +{:.0} %",
                named(one),
                named(other),
                one.relaxed_to,
                other.relaxed_to,
                one.gain_percent
            ),
            (None, None, Some(flight)) => {
                let Gain { relaxed_to, gain_percent, .. } = flight;
                format!("nothing but physics: {}, of which {relaxed_to} would give +{gain_percent:.0} %", named(flight))
            }
            (None, None, None) if self.cut_short => format!("nothing that was found in {} runs", self.runs),
            (None, None, None) => "nothing, alone or in pairs".to_owned(),
        }
    }

    /// The further ones of [`LimitedBy::best`], a line each.
    pub fn others(&self) -> impl Iterator<Item = String> + '_ {
        self.best.iter().skip(1).map(|one| {
            let Gain { parameter, value, relaxed_to, gain_percent } = one;
            format!("{parameter} = {value}: {relaxed_to} gives +{gain_percent:.0} %")
        })
    }
}

/// Of several copies: what was busiest in those that took most of the time, those aside that waited for kernels if there are others. Its fraction
/// is the part that these took of the time of all.
pub fn busiest(copies: &[CopyOutcome]) -> Option<Busiest> {
    let mut shares: BTreeMap<_, (u128, &CopyOutcome)> = BTreeMap::new();
    for copy in copies {
        let Busiest { unit, state, .. } = &copy.busiest;
        shares.entry((unit, state)).or_insert((0, copy)).0 += u128::from(copy.time().0);
    }
    let whole: u128 = shares.values().map(|(time, _)| time).sum();
    let (time, copy) = shares.into_values().max_by_key(|(time, copy)| (!waits_for_kernels(&copy.busiest), *time))?;
    let fraction = time as f64 / whole.max(1) as f64;
    Some(Busiest { fraction, behind: None, waited: None, ..copy.busiest.clone() })
}

/// Whether a copy waited for kernels: in a queue behind them, or in a call that returns when it is done, while no unit works for it.
pub fn waits_for_kernels(busiest: &Busiest) -> bool {
    busiest.state == "kernels" || busiest.state == "idle"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gain(parameter: &str) -> Gain {
        let (value, relaxed_to) = ("32".to_owned(), "64".to_owned());
        Gain { parameter: parameter.to_owned(), value, relaxed_to, gain_percent: 28.7 }
    }

    #[test]
    fn words_begin_with_what_limits() {
        let none = LimitedBy::default();
        let said = [
            LimitedBy { best: vec![gain("a.b")], next: Some("c".into()), ..none.clone() },
            LimitedBy { best: vec![gain("a.b"), gain("c")], next: Some("a.b".into()), ..none.clone() },
            LimitedBy { together: Some(["a", "b"].map(gain)), ..none.clone() },
            LimitedBy { physics: Some(gain("link.flight")), ..none.clone() },
            LimitedBy { cut_short: true, runs: 60, ..none.clone() },
            none,
        ];
        assert_eq!(
            said.each_ref().map(LimitedBy::text),
            [
                "a.b = 32: 64 gives +29 %, then c limits",
                "a.b = 32: 64 gives +29 %, and still limits",
                "a = 32 and b = 32 together: 64 and 64 give +29 %",
                "nothing but physics: link.flight = 32, of which 64 would give +29 %",
                "nothing that was found in 60 runs",
                "nothing, alone or in pairs",
            ]
        );
        assert_eq!(
            said.each_ref().map(LimitedBy::short),
            ["a.b +29 %", "a.b +29 %", "a and b +29 %", "nothing", "nothing", "nothing"]
        );
        assert_eq!(said[1].others().collect::<Vec<_>>(), ["c = 32: 64 gives +29 %"]);
    }
}
