//! A point, and the row that comes of it: figures by column.

use super::id::PointId;
use crate::config::Refusal;
use crate::figures::{Value, table::DOES_NOT_CLOSE};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One point: what each axis is set to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Its place in the study, from 0.
    pub index: u64,
    /// What identifies it, over the study's base and its settings.
    pub id: PointId,
    /// By axis: the value; none where the axis does not apply.
    pub settings: Vec<(String, Option<String>)>,
}

impl Point {
    /// What an axis is set to, if it applies.
    pub fn value(&self, axis: &str) -> Option<&str> {
        self.settings.iter().find(|(path, _)| path == axis).and_then(|(_, value)| value.as_deref())
    }
}

crate::units::named! {
    /// Where a point's figures are from.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Origin {
        Simulated = "simulated",
        /// The simulation of a point with equal work.
        Shared = "shared",
        /// The simulation of a point with other bounds, which certifies that it is that of this one, too.
        Certified = "certified",
    }
}

/// What came of a point. It is written and read here and not where it is asked for: a sweep does both for each point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointRow {
    #[serde(flatten)]
    pub point: Point,
    /// Why it has no figures: the machine is invalid, or the copy did not arrive.
    pub error: Option<String>,
    /// None if it has none, or if an earlier version wrote the row, which did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The columns of [`SWEEP`](crate::figures::table::SWEEP) that apply.
    #[serde(deserialize_with = "figures")]
    pub figures: BTreeMap<String, Value>,
    /// Where parameters were drawn, by column: what each draw gave, if anything.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub draws: BTreeMap<String, Vec<Option<f64>>>,
}

impl PointRow {
    pub const fn refused(point: Point, error: String) -> Self {
        Self { point, error: Some(error), origin: None, figures: BTreeMap::new(), draws: BTreeMap::new() }
    }

    /// One whose settings make no machine. If its engines do not close at their clock, the row has the column that says so.
    pub fn no_machine(point: Point, error: &Refusal) -> Self {
        let told = error.does_not_close().map(|sentence| (DOES_NOT_CLOSE.name.to_owned(), sentence.as_str().into()));
        Self { figures: told.into_iter().collect(), ..Self::refused(point, error.to_string()) }
    }
}

impl PointRow {
    /// One line of JSON, without its end.
    pub fn to_json(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }

    /// What [`PointRow::to_json`] has written.
    pub fn of_json(line: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(line)
    }

    /// Which point a line is of; all else in it is passed over.
    pub fn id_of_json(line: &[u8]) -> Result<PointId, serde_json::Error> {
        #[derive(Deserialize)]
        struct Known {
            id: PointId,
        }
        serde_json::from_slice(line).map(|Known { id }| id)
    }
}

fn figures<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Value>, D::Error> {
    let mut figures = BTreeMap::<String, Value>::deserialize(deserializer)?;
    if let Some(value) = figures.remove("tags") {
        figures.insert("tags_verified".to_owned(), value);
    }
    // What earlier versions took to limit a point without measuring it.
    figures.retain(|name, _| !name.starts_with("limited_"));
    Ok(figures)
}
