//! What is known of a point once it has run: one row of columns, each with its unit in its name.

use super::points::Point;
use super::study::Study;
use crate::config::{MachineSpec, Varied};
use crate::explore::candidate::copy as copy_request;
use crate::explore::price::{price, risk};
use crate::sim::{Control, Kernel, Order, SimulationError};
use crate::system::{self, DataMode, Direction, Outcome, Request, RunError};
use crate::workload::CopyArgument;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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

/// Why a point has no row at all.
#[derive(Debug)]
pub struct Stopped;

impl Study {
    /// Runs one point. Its row depends on nothing but the study and the point.
    ///
    /// # Errors
    /// If `observer` stopped it.
    pub fn run(&self, point: Point, observer: &(dyn Fn() -> Control + Sync)) -> Result<Row, Stopped> {
        let refused = |point, error: String| Ok(Row { point, error: Some(error), figures: BTreeMap::new() });
        let varied = match self.machine(&point) {
            Ok(varied) => varied,
            Err(error) => return refused(point, error.to_string()),
        };
        let Ok(copy) = self.copy(&point).parse::<CopyArgument>() else { return refused(point, "no such copy".into()) };
        let bytes = copy.bytes.unwrap_or_default();
        let request = Request {
            copies: vec![copy_request(copy.direction, bytes, copy.memory)],
            program: Vec::new(),
            data: DataMode::None,
            seed: 0,
            kernel: Kernel::Skip,
            order: Order::Ascending,
            injections: Vec::new(),
        };
        match system::run(&varied.machine, request, &mut |_| observer()) {
            Ok(outcome) => Ok(row(point, &varied, copy.direction, bytes, &outcome)),
            Err(RunError::Simulation(SimulationError::Stopped { .. })) => Err(Stopped),
            Err(error) => refused(point, error.to_string()),
        }
    }
}

fn row(point: Point, varied: &Varied, direction: Direction, bytes: u64, outcome: &Outcome) -> Row {
    let Some(copy) = outcome.copies.first() else {
        return Row { point, error: Some("there is no such copy".into()), figures: BTreeMap::new() };
    };
    let error = (!copy.delivered).then(|| copy.reason.clone().unwrap_or_else(|| "not delivered".into()));
    let mut figures = BTreeMap::new();
    if error.is_none() {
        let time = copy.end.0.saturating_sub(copy.start.0).max(1);
        let ps = |femtos: u64| Value::Integer((femtos / 1000) as i64);
        let count = |count: u64| Value::Integer(i64::try_from(count).unwrap_or(i64::MAX));
        let since = |date: crate::units::Femtos| ps(date.0.saturating_sub(copy.start.0));
        let queue = &outcome.tag_queue;
        let mut put = |name: &str, value: Value| _ = figures.insert(name.to_owned(), value);
        put("bytes", count(bytes));
        put("gb_per_s", Value::Number(bytes as f64 * 1e6 / time as f64));
        put("time_ps", ps(time));
        put("device_ps", copy.device.map_or(Value::None, |(from, to)| ps(to.0.saturating_sub(from.0))));
        put("first_verified_ps", copy.first_verified.map_or(Value::None, since));
        put("messages", count(copy.messages));
        put("tags", count(copy.tags_verified));
        put("peak_tag_queue", count(queue.peak_entries));
        put("quarantine_bytes", count(queue.peak_quarantine_bytes));
        put("exposure_ps", ps(queue.longest_exposure.0));
        put("exposure_total_ps", ps(queue.total_exposure.0));
        put("limited_by", Value::Text(format!("{} {}", copy.limited_by.unit, copy.limited_by.state)));
        put("limited_fraction", Value::Number(copy.limited_by.fraction));
        put("limited_parameter", copy.limited_by.parameter.clone().map_or(Value::None, Value::Text));
        put("assumed_parameters", count(varied.assumed as u64));
        priced(&varied.machine, direction, bytes, outcome, &mut put);
    }
    Row { point, error, figures }
}

/// What the machine costs and what the copy's tags leave open, as `compare` has it.
fn priced(machine: &MachineSpec, way: Direction, bytes: u64, outcome: &Outcome, put: &mut impl FnMut(&str, Value)) {
    let price = price(machine);
    let notes: Vec<_> = price.missing.iter().chain(&price.notes).map(String::as_str).collect();
    if !notes.is_empty() {
        put("cost_notes", Value::Text(notes.join(" | ")));
    }
    put_interval("area_kge", price.area_kge_low.zip(price.area_kge_high), put);
    put_interval("area_total_kge", price.area_total_kge_low.zip(price.area_total_kge_high), put);
    let energy = match way {
        Direction::D2h => price.d2h_pj_per_byte_low.zip(price.d2h_pj_per_byte_high),
        Direction::H2d | Direction::D2d => price.h2d_pj_per_byte_low.zip(price.h2d_pj_per_byte_high),
    };
    put_interval("pj_per_byte", energy, put);
    put("quarantine_sram_kge", Value::Number(price.quarantine_sram_kge));
    let messages = outcome.copies.first().map_or(0, |copy| copy.messages);
    let risk = risk(machine, bytes, messages, outcome.link.h2d.tlps + outcome.link.d2h.tlps);
    put("forgery_log2", risk.forgery_log2.map_or(Value::None, Value::Number));
    let after = risk.after_first_success.map(|after| Value::Text(after.name().to_owned()));
    put("after_first_success", after.unwrap_or(Value::None));
    put("key_budget_bytes", risk.key_budget_bytes.map_or(Value::None, |bytes| Value::Integer(bytes as i64)));
}

/// Least, middle and most of what is known between two bounds.
fn put_interval(name: &str, bounds: Option<(f64, f64)>, put: &mut impl FnMut(&str, Value)) {
    let Some((low, high)) = bounds else { return };
    put(&format!("{name}_low"), Value::Number(low));
    put(name, Value::Number(f64::midpoint(low, high)));
    put(&format!("{name}_high"), Value::Number(high));
}
