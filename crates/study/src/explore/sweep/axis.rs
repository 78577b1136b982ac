//! What varies in a study: one axis, its values, and when it applies.

use crate::config::quantity;
use crate::units::{KINDS, Kind};
use crate::workload::CopyArgument;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashMap};
use thiserror::Error;

/// An axis as a study states it: `values`, or `from` and `to` with `step`, `factor` or `points`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct AxisSpec {
    /// A path of the configuration, or `copy` or `design`.
    pub path: String,
    #[schemars(with = "Option<Vec<Json>>")]
    pub values: Option<Vec<toml::Value>>,
    /// The least value of a range.
    #[schemars(with = "Option<Json>")]
    pub from: Option<toml::Value>,
    #[schemars(with = "Option<Json>")]
    pub to: Option<toml::Value>,
    #[schemars(with = "Option<Json>")]
    pub step: Option<toml::Value>,
    pub factor: Option<u64>,
    /// How many values, evenly on a logarithmic scale.
    pub points: Option<u32>,
    /// Axes of one group advance together.
    pub zip: Option<String>,
    /// The axis applies only where earlier axes have one of these values.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Vec<Json>>")]
    pub when: BTreeMap<String, Vec<toml::Value>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AxisError {
    #[error("axis `{path}`: give `values`, or `from` and `to` with one of `step`, `factor` and `points`")]
    Form { path: String },
    #[error("axis `{path}`: an empty {what}")]
    Empty {
        path: String,
        /// `list` or `range`.
        what: &'static str,
    },
    #[error("axis `{path}`: {value} is no text, integer, number or switch")]
    Value { path: String, value: String },
    #[error("axis `{path}`: `{value}` is neither an integer nor a number with a unit, such as \"4 KiB\"")]
    Bound { path: String, value: String },
    #[error("axis `{path}`: from, to and step are not of one quantity")]
    Mixed { path: String },
    #[error("axis `{path}`: more than {most} values")]
    TooMany { path: String, most: u64 },
}

pub const MOST_VALUES: u64 = 1 << 20;

/// A value as a setting takes it.
pub(super) fn text(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(_) | toml::Value::Float(_) | toml::Value::Boolean(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Two values of an axis are one if this is the same: a quantity in whatever unit, a copy however it is written.
#[derive(PartialEq, Eq, Hash)]
enum Meaning {
    Amount(u64),
    Copy(String),
    Text(String),
}

fn meaning(path: &str, text: &str) -> Meaning {
    let amount = || Some(Meaning::Amount(quantity(path)?.parse(text).ok()?));
    let copy = || text.parse::<CopyArgument>().ok().map(|copy| Meaning::Copy(format!("{copy:?}")));
    let known = if path == "copy" { copy() } else { amount() };
    known.unwrap_or_else(|| Meaning::Text(text.to_owned()))
}

pub(super) fn equal(path: &str, one: &str, other: &str) -> bool {
    one == other || meaning(path, one) == meaning(path, other)
}

/// Writes values that are one alike: as the first of them. They stay in their places, which zipped axes go by.
fn alike(path: &str, texts: Vec<String>) -> Vec<String> {
    let mut first: HashMap<Meaning, String> = HashMap::new();
    texts.into_iter().map(|text| first.entry(meaning(path, &text)).or_insert(text).clone()).collect()
}

/// An integer, or a quantity in base units with its kind.
fn bound(path: &str, value: &toml::Value) -> Result<(u64, Option<&'static Kind>), AxisError> {
    let wrong = || AxisError::Bound { path: path.to_owned(), value: value.to_string() };
    match value {
        toml::Value::Integer(number) => Ok((u64::try_from(*number).map_err(|_| wrong())?, None)),
        toml::Value::String(text) => {
            let read = |kind: &'static Kind| Some((kind.parse(text).ok()?, Some(kind)));
            KINDS.iter().find_map(|(_, kind)| read(kind)).ok_or_else(wrong)
        }
        _ => Err(wrong()),
    }
}

impl AxisSpec {
    /// The values, in order, as settings take them. Equal ones are written alike.
    pub fn texts(&self) -> Result<Vec<String>, AxisError> {
        let path = || self.path.clone();
        let one_form = [self.step.is_some(), self.factor.is_some(), self.points.is_some()];
        let forms = one_form.into_iter().filter(|given| *given).count();
        let texts = match (&self.values, &self.from, &self.to) {
            (Some(values), None, None) if forms == 0 => {
                let wrong = |value: &toml::Value| AxisError::Value { path: path(), value: value.to_string() };
                let texts = values.iter().map(|value| text(value).ok_or_else(|| wrong(value)));
                alike(&self.path, texts.collect::<Result<Vec<_>, _>>()?)
            }
            (None, Some(from), Some(to)) if forms == 1 => self.range(from, to)?,
            _ => return Err(AxisError::Form { path: path() }),
        };
        let what = if self.values.is_some() { "list" } else { "range" };
        if texts.is_empty() { Err(AxisError::Empty { path: path(), what }) } else { Ok(texts) }
    }

    fn range(&self, from: &toml::Value, to: &toml::Value) -> Result<Vec<String>, AxisError> {
        let path = || self.path.clone();
        let ((low, kind), (high, other)) = (bound(&self.path, from)?, bound(&self.path, to)?);
        let step = self.step.as_ref().map(|step| bound(&self.path, step)).transpose()?;
        let name = |kind: Option<&Kind>| kind.map(|kind| kind.what);
        if name(kind) != name(other) || step.is_some_and(|(_, of)| name(of) != name(kind)) {
            return Err(AxisError::Mixed { path: path() });
        }
        let numbers = match (step, self.factor, self.points) {
            (Some((step, _)), ..) if step > 0 => ladder(low, high, |value| value.checked_add(step)),
            (_, Some(factor), _) if factor > 1 && low > 0 => ladder(low, high, |value| value.checked_mul(factor)),
            (.., Some(points)) if points > 0 && low > 0 && low <= high => logarithmic(low, high, points),
            _ => Some(Vec::new()),
        };
        let numbers = numbers.ok_or_else(|| AxisError::TooMany { path: path(), most: MOST_VALUES })?;
        Ok(numbers
            .into_iter()
            .map(|number| kind.map_or_else(|| number.to_string(), |kind| kind.print(number)))
            .collect())
    }
}

fn ladder(low: u64, high: u64, next: impl Fn(u64) -> Option<u64>) -> Option<Vec<u64>> {
    let values: Vec<_> = std::iter::successors(Some(low), |value| next(*value))
        .take_while(|value| *value <= high)
        .take(MOST_VALUES as usize + 1)
        .collect();
    (values.len() as u64 <= MOST_VALUES).then_some(values)
}

fn logarithmic(low: u64, high: u64, points: u32) -> Option<Vec<u64>> {
    if u64::from(points) > MOST_VALUES {
        return None;
    }
    let ratio = high as f64 / low as f64;
    let at = |index: u32| (low as f64 * ratio.powf(f64::from(index) / f64::from((points - 1).max(1)))).round() as u64;
    let mut values: Vec<_> = (0..points).map(|index| at(index).clamp(low, high)).collect();
    values.dedup();
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(toml: &str) -> Result<Vec<String>, AxisError> {
        toml::from_str::<AxisSpec>(&format!("path = \"p\"\n{toml}")).unwrap().texts()
    }

    #[test]
    fn lists_and_ranges_give_settings() {
        assert_eq!(texts("values = [1, \"2 MiB\", true]").unwrap(), ["1", "2 MiB", "true"]);
        assert_eq!(texts("from = 1\nto = 9\nstep = 4").unwrap(), ["1", "5", "9"]);
        assert_eq!(texts("from = \"1 KiB\"\nto = \"20 KiB\"\nfactor = 4").unwrap(), ["1 KiB", "4 KiB", "16 KiB"]);
        assert_eq!(texts("from = \"2 cycles\"\nto = \"6 cycles\"\nstep = \"2 cycles\"").unwrap().len(), 3);
        assert_eq!(texts("from = 1\nto = 1000\npoints = 4").unwrap(), ["1", "10", "100", "1000"]);
    }

    #[test]
    fn equal_values_are_written_alike() {
        let of = |path: &str, values: &[&str]| alike(path, values.iter().map(|&text| text.to_owned()).collect());
        assert_eq!(of("tag_queue.depth", &["4", "4", "5"]), ["4", "4", "5"]);
        let sizes = ["1 MiB", "2 MiB", "1024 KiB", "a lot"];
        assert_eq!(of("tag_queue.quarantine", &sizes), ["1 MiB", "2 MiB", "1 MiB", "a lot"]);
        assert_eq!(
            of("copy", &["h2d:64KiB", "h2d:65536:pinned", "d2h:64KiB"]),
            ["h2d:64KiB", "h2d:64KiB", "d2h:64KiB"]
        );
        assert!(equal("tag_queue.quarantine", "1 MiB", "1024 KiB") && !equal("tag_queue.depth", "4", "5"));
    }

    #[test]
    fn what_has_no_values_says_why() {
        assert!(matches!(texts("values = []"), Err(AxisError::Empty { what: "list", .. })));
        assert!(matches!(texts("from = 9\nto = 1\nstep = 1"), Err(AxisError::Empty { what: "range", .. })));
        assert!(matches!(texts("from = 1\nto = 9\nstep = 0"), Err(AxisError::Empty { .. })));
        assert!(matches!(texts("from = 0\nto = 9\nfactor = 2"), Err(AxisError::Empty { .. })));
        assert!(matches!(texts("from = 1\nto = 9"), Err(AxisError::Form { .. })));
        assert!(matches!(texts("values = [1]\nfrom = 1"), Err(AxisError::Form { .. })));
        assert!(matches!(texts("from = 1\nto = \"2 KiB\"\nstep = 1"), Err(AxisError::Mixed { .. })));
        assert!(matches!(texts("from = \"x\"\nto = 9\nstep = 1"), Err(AxisError::Bound { .. })));
        assert!(matches!(texts("values = [[1]]"), Err(AxisError::Value { .. })));
        assert!(matches!(texts("from = 0\nto = 9000000000\nstep = 1"), Err(AxisError::TooMany { .. })));
    }
}
