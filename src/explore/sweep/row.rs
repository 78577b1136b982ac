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
    Number(f64),
    Text(String),
    /// It does not apply.
    None,
}

/// What came of a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    #[serde(flatten)]
    pub point: Point,
    /// Why it has no figures: the machine is invalid, or the copy did not arrive.
    pub error: Option<String>,
    /// The columns of [`COLUMNS`] that apply.
    #[serde(deserialize_with = "figures")]
    pub figures: BTreeMap<String, Value>,
}

/// Columns that folders of studies may have under another name.
const RENAMED: [(&str, &str); 3] = [
    ("tags", "tags_verified"),
    ("limited_fraction", "limited_by_fraction"),
    ("limited_parameter", "limited_by_parameter"),
];

fn figures<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Value>, D::Error> {
    let mut figures = BTreeMap::<String, Value>::deserialize(deserializer)?;
    for (old, new) in RENAMED {
        if let Some(value) = figures.remove(old) {
            figures.insert(new.to_owned(), value);
        }
    }
    Ok(figures)
}

/// A column of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FigureColumn {
    /// Its name in the table, with its unit.
    pub name: &'static str,
    pub says: &'static str,
    /// What plots call it, without its unit.
    pub words: &'static str,
}

const fn column(name: &'static str, says: &'static str, words: &'static str) -> FigureColumn {
    FigureColumn { name, says, words }
}

/// Columns behind the axes, in the order of the table.
pub const COLUMNS: [FigureColumn; 42] = [
    column("bytes", "bytes of the copy", "length of the copy"),
    column("gb_per_s", "10^9 bytes per second from the call to the copy's end", "rate"),
    column("time_ps", "time from the call to the copy's end, in ps", "time of the copy"),
    column("device_ps", "time from the first byte that a copy engine moves to the last, in ps", "time on the device"),
    column(
        "first_verified_ps",
        "time from the call to the verdict of the first message, in ps",
        "time to the first verdict",
    ),
    column("messages", "GCM messages", "messages"),
    column("tags_verified", "tags that were checked and right", "verified tags"),
    column("peak_tag_queue", "most messages in the tag queue at once", "most messages in the tag queue"),
    column(
        "quarantine_bytes",
        "most plaintext that waited for its verdict in quarantine, in bytes",
        "most plaintext in quarantine",
    ),
    column(
        "exposure_ps",
        "longest time that unverified plaintext of a message was visible, in ps",
        "longest exposure of a message",
    ),
    column("exposure_total_ps", "that time, summed over messages, in ps", "exposure, sum over messages"),
    column(
        "exposed_bytes",
        "most unverified plaintext that was visible at once, in bytes",
        "most unverified plaintext visible",
    ),
    column(
        "exposed_byte_ns",
        "time that each byte was visible before the verdict of its message, summed over bytes, in B ns",
        "exposure, sum over bytes",
    ),
    column("limited_by", "the unit, and its state, that took most of the time", "limiting unit"),
    column(
        "limited_by_fraction",
        "part of the time that this state took, 0 to 1",
        "part of the time of the limiting unit",
    ),
    column("limited_by_parameter", "the parameter that this state points at; not measured", "limiting parameter"),
    column(
        "area_kge_low",
        "area of all engines in kGE (thousand gate equivalents), least; from a synthesis that is not reproducible from this repository",
        "least area of engines",
    ),
    column("area_kge", "area of all engines in kGE, middle", "area of engines"),
    column("area_kge_high", "area of all engines in kGE, most", "greatest area of engines"),
    column(
        "area_total_kge_low",
        "area of all engines, and of quarantine and tag queue as SRAM, in kGE, least",
        "least area of engines and storage",
    ),
    column("area_total_kge", "the same area, middle", "area of engines and storage"),
    column("area_total_kge_high", "the same area, most", "greatest area of engines and storage"),
    column("pj_per_byte_low", "energy of sealing or opening a byte on the GPU, in pJ, least", "least energy"),
    column("pj_per_byte", "the same energy, middle", "energy"),
    column("pj_per_byte_high", "the same energy, most", "greatest energy"),
    column(
        "quarantine_sram_kge",
        "area of the quarantine of all PCEs (copy engines) as SRAM in kGE, middle of the assumed range; 0 unless plaintext is held",
        "area of the quarantine",
    ),
    column(
        "forgery_log2",
        "bound on a first forgery of any tag of the copy with one attempt at each, log2",
        "bound on a first forgery, log2",
    ),
    column(
        "after_first_success",
        "what one forgery leaves of that bound under the same key: certain, as_before, as_claimed",
        "bound after a first forgery",
    ),
    column("key_budget_bytes", "bytes under one key until it must be rotated", "key budget"),
    column("assumed_parameters", "parameters that nobody has published", "assumed parameters"),
    column(
        "cost_notes",
        "which figures of area and energy are used outside of the range that they were made for, or why there is none",
        "notes on costs",
    ),
    column(
        "simulated_part",
        "part of the work that was simulated, where it was to be sampled",
        "part that was simulated",
    ),
    column("gb_per_s_low", "least of `gb_per_s`, where it was sampled, at 95 %", "least rate"),
    column("gb_per_s_high", "most of `gb_per_s`", "greatest rate"),
    column("time_ps_low", "least of `time_ps`", "least time of the copy"),
    column("time_ps_high", "most of `time_ps`", "greatest time of the copy"),
    column("device_ps_low", "least of `device_ps`", "least time on the device"),
    column("device_ps_high", "most of `device_ps`", "greatest time on the device"),
    column("exposure_ps_low", "least of `exposure_ps`", "least longest exposure"),
    column("exposure_ps_high", "most of `exposure_ps`", "greatest longest exposure"),
    column("exposure_total_ps_low", "least of `exposure_total_ps`", "least exposure"),
    column("exposure_total_ps_high", "most of `exposure_total_ps`", "greatest exposure"),
];

/// Columns that have a least and a most where they were sampled.
pub(super) const INTERVALS: [&str; 5] = ["gb_per_s", "time_ps", "device_ps", "exposure_ps", "exposure_total_ps"];
