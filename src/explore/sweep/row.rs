//! A point, and the row that comes of it: columns, each with its unit in its name.

use super::id::PointId;
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
    #[must_use]
    pub fn value(&self, axis: &str) -> Option<&str> {
        self.settings.iter().find(|(path, _)| path == axis).and_then(|(_, value)| value.as_deref())
    }
}

/// A value in a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A count, or a time in whole units.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// It does not apply.
    None,
}

/// What came of a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The point.
    #[serde(flatten)]
    pub point: Point,
    /// Why it has no figures: the machine makes no sense, or the copy did not arrive.
    pub error: Option<String>,
    /// The columns of [`COLUMNS`] that apply.
    pub figures: BTreeMap<String, Value>,
}

/// Columns behind the axes, in the order of the table, and what each says.
pub const COLUMNS: [(&str, &str); 29] = [
    ("bytes", "bytes of the copy"),
    ("gb_per_s", "10^9 bytes per second from the call to its return"),
    ("time_ps", "that time"),
    ("device_ps", "from the first byte that a copy engine moves to the last"),
    ("first_verified_ps", "from the call to the verdict of the first message"),
    ("messages", "GCM messages"),
    ("tags", "tags that were checked and right"),
    ("peak_tag_queue", "most messages in the tag queue at once"),
    ("quarantine_bytes", "most plaintext that waited out of sight"),
    ("exposure_ps", "longest time that unverified plaintext was visible"),
    ("exposure_total_ps", "the same, summed over messages"),
    ("limited_by", "unit and state that took most of the time"),
    ("limited_fraction", "part of the time that they took"),
    ("limited_parameter", "the parameter that they say binds, not measured"),
    ("area_kge_low", "area of all engines, least; synthesis that is not reproducible from this repository"),
    ("area_kge", "the same, middle"),
    ("area_kge_high", "the same, most"),
    ("area_total_kge_low", "area of all engines, and of quarantine and tag queue as SRAM, least"),
    ("area_total_kge", "the same, middle"),
    ("area_total_kge_high", "the same, most"),
    ("pj_per_byte_low", "energy of sealing or opening a byte on the GPU, least"),
    ("pj_per_byte", "the same, middle"),
    ("pj_per_byte_high", "the same, most"),
    ("quarantine_sram_kge", "quarantine of all PCEs as SRAM, middle of the assumed range; 0 unless plaintext is held"),
    ("forgery_log2", "bound on a first forgery of any tag of the copy with one attempt at each, log2"),
    ("after_first_success", "what one forgery leaves of that bound under the same key: certain, as_before, as_claimed"),
    ("key_budget_bytes", "bytes under one key until it must be rotated"),
    ("assumed_parameters", "parameters that nobody has published"),
    (
        "cost_notes",
        "what of area and energy lies outside of the range that a figure was made for, or why there is none",
    ),
];
