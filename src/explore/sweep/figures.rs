//! Runs a point and fills its row.

use super::row::{Point, Row, Value};
use super::study::Study;
use crate::config::{MachineSpec, Varied};
use crate::explore::candidate::copy as copy_request;
use crate::explore::compare::CompareError;
use crate::explore::compare_workload::{limit, run_workload};
use crate::explore::price::{Price, price, risk};
use crate::sim::{Control, Kernel, Order, SimulationError};
use crate::system::{self, CopyOutcome, DataMode, Direction, Outcome, Request, RunError};
use crate::workload::{CopyArgument, Workload};
use std::collections::BTreeMap;

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
        if let Some(workload) = &self.workload {
            return match of_workload(workload, &varied, observer) {
                Ok(figures) => Ok(Row { point, error: None, figures }),
                Err(CompareError::Run { error: RunError::Simulation(SimulationError::Stopped { .. }), .. }) => {
                    Err(Stopped)
                }
                Err(error) => refused(point, error.to_string()),
            };
        }
        let copy = self.copy(&point).and_then(|copy| copy.parse::<CopyArgument>().ok());
        let Some(copy) = copy else { return refused(point, "no such copy".into()) };
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
        let queue = &outcome.gpus[0].tag_queue;
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

/// Figures of a workload: those of its whole run, and no bound on forgeries, since its messages may differ in length.
fn of_workload(
    workload: &Workload,
    varied: &Varied,
    observer: &(dyn Fn() -> Control + Sync),
) -> Result<BTreeMap<String, Value>, CompareError> {
    let (outcome, _) = run_workload("the workload", &varied.machine, workload, observer)?;
    let count = |count: u64| Value::Integer(i64::try_from(count).unwrap_or(i64::MAX));
    let (bytes, time) = (workload.bytes(), outcome.end.0.max(1));
    let queues = || outcome.gpus.iter().map(|gpu| &gpu.tag_queue);
    let sum = |of: fn(&CopyOutcome) -> u64| count(outcome.copies.iter().map(of).sum());
    let mut figures = BTreeMap::new();
    let mut put = |name: &str, value: Value| _ = figures.insert(name.to_owned(), value);
    put("bytes", count(bytes));
    put("gb_per_s", Value::Number(bytes as f64 * 1e6 / time as f64));
    put("time_ps", count(outcome.end.picos()));
    put("messages", sum(|copy| copy.messages));
    put("tags", sum(|copy| copy.tags_verified));
    put("peak_tag_queue", count(queues().map(|queue| queue.peak_entries).max().unwrap_or(0)));
    put("quarantine_bytes", count(queues().map(|queue| queue.peak_quarantine_bytes).max().unwrap_or(0)));
    put("exposure_ps", count(queues().map(|queue| queue.longest_exposure.picos()).max().unwrap_or(0)));
    put("exposure_total_ps", count(queues().map(|queue| queue.total_exposure.picos()).sum()));
    if let Some(limited) = limit(&outcome.copies, &|_| Some(String::new())) {
        put("limited_by", Value::Text(format!("{} {}", limited.unit, limited.state)));
        put("limited_fraction", Value::Number(limited.part));
        put("limited_parameter", limited.parameter.map_or(Value::None, Value::Text));
    }
    put("assumed_parameters", count(varied.assumed as u64));
    areas(&price(&varied.machine), &mut put);
    Ok(figures)
}

/// What the machine costs and what the copy's tags leave open, as `compare` has it.
fn priced(machine: &MachineSpec, way: Direction, bytes: u64, outcome: &Outcome, put: &mut impl FnMut(&str, Value)) {
    let price = price(machine);
    areas(&price, put);
    let energy = match way {
        Direction::D2h => price.d2h_pj_per_byte_low.zip(price.d2h_pj_per_byte_high),
        Direction::H2d | Direction::D2d => price.h2d_pj_per_byte_low.zip(price.h2d_pj_per_byte_high),
    };
    put_interval("pj_per_byte", energy, put);
    let messages = outcome.copies.first().map_or(0, |copy| copy.messages);
    let risk = risk(machine, bytes, messages, outcome.gpus[0].link.h2d.tlps + outcome.gpus[0].link.d2h.tlps);
    put("forgery_log2", risk.forgery_log2.map_or(Value::None, Value::Number));
    let after = risk.after_first_success.map(|after| Value::Text(after.name().to_owned()));
    put("after_first_success", after.unwrap_or(Value::None));
    put("key_budget_bytes", risk.key_budget_bytes.map_or(Value::None, |bytes| Value::Integer(bytes as i64)));
}

fn areas(price: &Price, put: &mut impl FnMut(&str, Value)) {
    let notes: Vec<_> = price.missing.iter().chain(&price.notes).map(String::as_str).collect();
    if !notes.is_empty() {
        put("cost_notes", Value::Text(notes.join(" | ")));
    }
    put_interval("area_kge", price.area_kge_low.zip(price.area_kge_high), put);
    put_interval("area_total_kge", price.area_total_kge_low.zip(price.area_total_kge_high), put);
    put("quarantine_sram_kge", Value::Number(price.quarantine_sram_kge));
}

/// Least, middle and most of what is known between two bounds.
fn put_interval(name: &str, bounds: Option<(f64, f64)>, put: &mut impl FnMut(&str, Value)) {
    let Some((low, high)) = bounds else { return };
    put(&format!("{name}_low"), Value::Number(low));
    put(name, Value::Number(f64::midpoint(low, high)));
    put(&format!("{name}_high"), Value::Number(high));
}
