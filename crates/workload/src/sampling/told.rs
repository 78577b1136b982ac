//! What is reported of a sampled run: how much of it was simulated, and between what each figure lies.

use super::{CONFIDENCE, Sampled, Unit};
use crate::system::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use std::collections::BTreeMap;

/// A sampled run. Every field is described in `docs/results.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// What the next two count.
    pub unit: Unit,
    /// Simulated, in all runs together.
    pub simulated: u64,
    pub of: u64,
    pub runs: usize,
    /// The least that the time of the run may be, in ps.
    pub low: u64,
    pub high: u64,
    /// How often the interval of a figure holds what a run of all of the work gives.
    pub confidence: f64,
    /// By the place of a figure in the record that this is a part of, as a JSON pointer: its least and most, where they differ.
    pub intervals: BTreeMap<String, [Number; 2]>,
}

impl Told {
    /// Of a sampled run, from whose outcomes `figures` makes the record that has them.
    pub fn of<'s, F: Serialize>(sampled: &'s Sampled, figures: impl Fn(&'s Outcome) -> F) -> Self {
        let Sampled { unit, simulated, of, runs, low, high } = sampled;
        let value = |outcome| serde_json::to_value(figures(outcome)).unwrap_or_default();
        let mut intervals = BTreeMap::new();
        if simulated != of {
            differences(&value(low), &value(high), String::new(), &mut intervals);
        }
        let (low, high) = (low.end.picos(), high.end.picos());
        Self { unit: *unit, simulated: *simulated, of: *of, runs: *runs, low, high, confidence: CONFIDENCE, intervals }
    }

    /// Of several pieces of work of so many bytes, a part of which was simulated in so many runs, with the least and the most of a time in ps; `records` have the
    /// figures that rest on them at their least and at their most.
    pub fn between<F: Serialize>((simulated, of, runs): (u64, u64, usize), time: [u64; 2], records: [&F; 2]) -> Self {
        let [low, high] = records.map(|record| serde_json::to_value(record).unwrap_or_default());
        let mut intervals = BTreeMap::new();
        differences(&low, &high, String::new(), &mut intervals);
        let [low, high] = time;
        Self { unit: Unit::Bytes, simulated, of, runs, low, high, confidence: CONFIDENCE, intervals }
    }

    /// Whether all of it was simulated, so that its figures are no estimates.
    pub const fn is_all(&self) -> bool {
        self.simulated == self.of && self.low == self.high
    }

    /// The part of the work that was simulated.
    pub fn simulated_part(&self) -> f64 {
        self.simulated as f64 / self.of.max(1) as f64
    }

    pub fn interval(&self, place: &str) -> Option<[f64; 2]> {
        let [low, high] = self.intervals.get(place)?;
        low.as_f64().zip(high.as_f64()).map(|(low, high)| [low, high])
    }

    /// Notes the interval of a figure that was made of others.
    pub fn note(&mut self, place: &str, between: [f64; 2]) {
        if let (Some(low), Some(high)) = (Number::from_f64(between[0]), Number::from_f64(between[1])) {
            self.intervals.insert(place.to_owned(), [low, high]);
        }
    }

    /// By what part of it the time of the run may be less or more.
    pub fn part(&self) -> f64 {
        let middle = self.low.midpoint(self.high).max(1);
        (self.high - self.low.min(self.high)) as f64 / 2.0 / middle as f64
    }
}

/// Members that are no figures of the machine.
const OTHERS: [&str; 2] = ["host", "sampled"];

/// Notes the numbers that differ, the lesser first.
fn differences(low: &Value, high: &Value, place: String, into: &mut BTreeMap<String, [Number; 2]>) {
    match (low, high) {
        (Value::Object(low), Value::Object(high)) => {
            for (key, low) in low.iter().filter(|(key, _)| !OTHERS.contains(&key.as_str())) {
                if let Some(high) = high.get(key) {
                    // As RFC 6901 writes the two characters that it uses itself.
                    let key = key.replace('~', "~0").replace('/', "~1");
                    differences(low, high, format!("{place}/{key}"), into);
                }
            }
        }
        (Value::Array(low), Value::Array(high)) => {
            let both = low.iter().zip(high).enumerate();
            both.for_each(|(number, (low, high))| differences(low, high, format!("{place}/{number}"), into));
        }
        (Value::Number(low), Value::Number(high)) if low != high => {
            let rises = low.as_f64() <= high.as_f64();
            let (least, most) = if rises { (low, high) } else { (high, low) };
            into.insert(place, [least.clone(), most.clone()]);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_differs_is_found_with_its_place_and_the_lesser_is_first() {
        let low = json!({"a": [{"b/c": 1, "same": 4}], "host": {"x": 1}, "rate": 3.5, "text": "1"});
        let high = json!({"a": [{"b/c": 2, "same": 4}], "host": {"x": 9}, "rate": 3.25, "text": "2"});
        let mut found = BTreeMap::new();
        differences(&low, &high, String::new(), &mut found);
        assert_eq!(serde_json::to_value(&found).unwrap(), json!({"/a/0/b~1c": [1, 2], "/rate": [3.25, 3.5]}));
        assert!(found.keys().all(|place| low.pointer(place).is_some()));
    }
}
