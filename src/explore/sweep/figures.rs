//! Runs a point and fills its row.

use super::row::{INTERVALS, Point, Row, Value};
use super::study::Study;
use crate::config::{MachineSpec, Varied};
use crate::explore::compare::CompareError;
use crate::explore::compare_workload::limit;
use crate::explore::price::{Price, price, risk};
use crate::sampling::Sampled;
use crate::sim::{Control, SimulationError};
use crate::system::{CopyOutcome, Direction, Outcome, RunError};
use crate::workload::{Copy, CopyArgument, Workload};
use std::collections::BTreeMap;

type Figures = BTreeMap<String, Value>;

/// Who is asked whether to go on.
type Observed<'a> = &'a (dyn Fn() -> Control + Sync);

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
        let one = || {
            let copy = self.copy(&point)?.parse::<CopyArgument>().ok()?;
            let CopyArgument { direction, bytes, memory, .. } = copy;
            Some(Copy { gpu: 0, direction, bytes: bytes.unwrap_or_default(), memory })
        };
        let made = match (&self.workload, one()) {
            (Some(workload), _) => self.of_workload(workload, &varied, observer),
            (None, Some(copy)) => self.of_copy(copy, &varied, observer),
            (None, None) => return refused(point, "no such copy".into()),
        };
        match made {
            Ok(figures) => Ok(Row { point, error: None, figures }),
            Err(CompareError::Run { error: RunError::Simulation(SimulationError::Stopped { .. }), .. }) => Err(Stopped),
            Err(CompareError::Run { error, .. }) => refused(point, error.to_string()),
            Err(CompareError::NotDelivered { reason, .. }) if self.workload.is_none() => refused(point, reason),
            Err(error) => refused(point, error.to_string()),
        }
    }

    fn of_copy(&self, copy: Copy, varied: &Varied, observer: Observed<'_>) -> Result<Figures, CompareError> {
        let workload = Workload::timed(vec![copy], None);
        let known = self.shared.outcome(&varied.machine, (&workload, self.spec.sample), observer)?;
        Ok(with_intervals(&known, |outcome| copy_figures(copy, varied, outcome)))
    }

    fn of_workload(
        &self,
        workload: &Workload,
        varied: &Varied,
        observer: Observed<'_>,
    ) -> Result<Figures, CompareError> {
        let known = self.shared.outcome(&varied.machine, (workload, self.spec.sample), observer)?;
        Ok(with_intervals(&known, |outcome| workload_figures(workload, varied, outcome)))
    }
}

/// The figures of an outcome; of one that was sampled also how much of it, and between what those lie that rest on it.
fn with_intervals((outcome, sampled): &(Outcome, Option<Sampled>), figures: impl Fn(&Outcome) -> Figures) -> Figures {
    let mut all = figures(outcome);
    let Some(sampled) = sampled else { return all };
    let Sampled { simulated, of, low, high, .. } = sampled;
    all.insert("simulated_part".to_owned(), Value::Number(*simulated as f64 / (*of).max(1) as f64));
    let (low, high) = (figures(low), figures(high));
    for name in INTERVALS {
        let Some((low, high)) = low.get(name).zip(high.get(name)) else { continue };
        // A rate is the higher the less time it is of.
        let falls = matches!((low, high), (Value::Number(low), Value::Number(high)) if low > high);
        let (least, most) = if falls { (high, low) } else { (low, high) };
        all.insert(format!("{name}_low"), least.clone());
        all.insert(format!("{name}_high"), most.clone());
    }
    all
}

/// The figures of a copy.
fn copy_figures(copy: Copy, varied: &Varied, outcome: &Outcome) -> Figures {
    let (direction, bytes) = (copy.direction, copy.bytes);
    let mut figures = BTreeMap::new();
    let Some(copy) = outcome.copies.first() else { return figures };
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
    put("tags_verified", count(copy.tags_verified));
    put("peak_tag_queue", count(queue.peak_entries));
    put("quarantine_bytes", count(queue.peak_quarantine_bytes));
    put("exposure_ps", ps(queue.longest_exposure.0));
    put("exposure_total_ps", ps(queue.total_exposure.0));
    put("exposed_bytes", count(queue.most_exposed_bytes));
    put("exposed_byte_ns", count(queue.exposed_byte_ns));
    put("limited_by", Value::Text(format!("{} {}", copy.limited_by.unit, copy.limited_by.state)));
    put("limited_by_fraction", Value::Number(copy.limited_by.fraction));
    put("limited_by_parameter", copy.limited_by.parameter.clone().map_or(Value::None, Value::Text));
    put("assumed_parameters", count(varied.assumed as u64));
    priced(&varied.machine, direction, bytes, outcome, &mut put);
    figures
}

/// Figures of a workload: those of its whole run, and no bound on forgeries, since its messages may differ in length.
fn workload_figures(workload: &Workload, varied: &Varied, outcome: &Outcome) -> Figures {
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
    put("tags_verified", sum(|copy| copy.tags_verified));
    put("peak_tag_queue", count(queues().map(|queue| queue.peak_entries).max().unwrap_or(0)));
    put("quarantine_bytes", count(queues().map(|queue| queue.peak_quarantine_bytes).max().unwrap_or(0)));
    put("exposure_ps", count(queues().map(|queue| queue.longest_exposure.picos()).max().unwrap_or(0)));
    put("exposure_total_ps", count(queues().map(|queue| queue.total_exposure.picos()).sum()));
    put("exposed_bytes", count(queues().map(|queue| queue.most_exposed_bytes).max().unwrap_or(0)));
    put("exposed_byte_ns", count(queues().map(|queue| queue.exposed_byte_ns).fold(0, u64::saturating_add)));
    if let Some(limited) = limit(&outcome.copies, &|_| Some(String::new())) {
        put("limited_by", Value::Text(format!("{} {}", limited.unit, limited.state)));
        put("limited_by_fraction", Value::Number(limited.part));
        put("limited_by_parameter", limited.parameter.map_or(Value::None, Value::Text));
    }
    put("assumed_parameters", count(varied.assumed as u64));
    areas(&price(&varied.machine), &mut put);
    figures
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
