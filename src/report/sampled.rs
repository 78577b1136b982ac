//! How much of a run was simulated, and what its figures may be.

use super::{Report, record::Context};
use crate::sampling::{CONFIDENCE, Sampled, Unit};
use serde::Serialize;
use serde_json::{Number, Value};
use std::collections::BTreeMap;

/// A run that was sampled. Every field is described in `docs/results.md`.
#[derive(Debug, Clone, Serialize)]
pub struct SampledRecord {
    /// What the next two count.
    pub unit: Unit,
    /// Simulated, in all runs together.
    pub simulated: u64,
    /// Of all the work.
    pub of: u64,
    /// How many runs it were.
    pub runs: usize,
    /// The least that the simulated time may be, in ps.
    pub low: u64,
    /// The most.
    pub high: u64,
    /// How often the interval of a figure holds what a run of all of the work gives.
    pub confidence: f64,
    /// By the place of a figure in the record, as a JSON pointer: its least and most, where they differ.
    pub intervals: BTreeMap<String, [Number; 2]>,
}

impl SampledRecord {
    /// That of a run whose report is made of `context`.
    #[must_use]
    pub fn new(sampled: &Sampled, context: &Context) -> Self {
        let (low, high) = (&sampled.low, &sampled.high);
        let value = |outcome| serde_json::to_value(Report::new(context.clone(), outcome)).unwrap_or_default();
        let mut intervals = BTreeMap::new();
        differences(&value(low), &value(high), String::new(), &mut intervals);
        Self {
            unit: sampled.unit,
            simulated: sampled.simulated,
            of: sampled.of,
            runs: sampled.runs,
            low: low.end.picos(),
            high: high.end.picos(),
            confidence: CONFIDENCE,
            intervals,
        }
    }

    /// The interval of the figure at a place.
    #[must_use]
    pub fn interval(&self, place: &str) -> Option<[f64; 2]> {
        let [low, high] = self.intervals.get(place)?;
        low.as_f64().zip(high.as_f64()).map(|(low, high)| [low, high])
    }
}

/// Members that are no figures of the machine.
const OTHERS: [&str; 4] = ["host", "limited_by", "limited_by_parts", "sampled"];

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
