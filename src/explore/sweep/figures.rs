//! Runs a point and fills its row.

use super::row::{Point, Row};
use super::study::Study;
use crate::config::Varied;
use crate::explore::work::{CompareError, limited_by};
use crate::figures::{self, About, Column, Value, columns, price::price, table::SWEEP};
use crate::sim::{Control, SimulationError};
use crate::system::RunError;
use crate::workload::{Copy, CopyArgument, Workload};
use std::collections::BTreeMap;

type Cells = BTreeMap<String, Value>;

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
        let workload = || self.workload.clone().or_else(|| Some(Workload::timed(vec![one()?], None)));
        let Some(workload) = workload() else { return refused(point, "no such copy".into()) };
        match self.cells(&workload, &varied, observer) {
            Ok(figures) => Ok(Row { point, error: None, figures }),
            Err(CompareError::Run { error: RunError::Simulation(SimulationError::Stopped { .. }), .. }) => Err(Stopped),
            Err(CompareError::Run { error, .. }) => refused(point, error.to_string()),
            Err(CompareError::NotDelivered { reason, .. }) if self.workload.is_none() => refused(point, reason),
            Err(error) => refused(point, error.to_string()),
        }
    }

    /// The cells of the columns of [`SWEEP`] that apply.
    fn cells(&self, workload: &Workload, varied: &Varied, observer: Observed<'_>) -> Result<Cells, CompareError> {
        let known = self.shared.outcome(&varied.machine, (workload, self.spec.sample), observer)?;
        let (outcome, sampled) = &*known;
        let alone = workload.alone();
        let Varied { machine, assumed } = varied;
        let about = About { machine, assumed: *assumed, alone: alone.is_some(), collectives: None };
        // Whether a parameter is one of the machine is left to whoever asks for its value.
        let limit = |outcome| limited_by(workload, outcome, &|_| Some(String::new()));
        let row = figures::Row::of(SWEEP, about, (outcome, sampled.as_ref()), limit);
        let costs = (&price(machine), alone.map(|copy| copy.direction));
        let values = row.values(SWEEP, costs, |_| Value::None);
        let cells = columns(SWEEP).into_iter().map(Column::name).zip(values);
        Ok(cells.filter(|(_, value)| *value != Value::None).collect())
    }
}
