//! Runs a point and fills its row.

use super::study::Study;
use crate::config::Varied;
use crate::explore::uncertainty::{MachineDraws, Numbers, Residual, interval_of, residuals, with_residual};
use crate::explore::work::{CompareError, busiest};
use crate::figures::{self, About, Column, Value, columns, price::price, table::SWEEP};
use crate::sim::{Control, SimulationError};
use crate::system::RunError;
use crate::table::{Origin, Point, PointRow};
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
    pub fn run(&self, point: Point, observer: &(dyn Fn() -> Control + Sync)) -> Result<PointRow, Stopped> {
        let refused = |point, error: String| Ok(PointRow::refused(point, error));
        let varied = match self.machine(&point) {
            Ok(varied) => varied,
            Err(error) => return Ok(PointRow::no_machine(point, &error)),
        };
        let one = || {
            let copy = self.copy(&point)?.parse::<CopyArgument>().ok()?;
            let CopyArgument { direction, bytes, memory, .. } = copy;
            Some(Copy { gpu: 0, direction, bytes: bytes.unwrap_or_default(), memory })
        };
        let workload = || self.workload.clone().or_else(|| Some(Workload::timed(vec![one()?], None)));
        let Some(workload) = workload() else { return refused(point, "no such copy".into()) };
        let cells = self.cells(&workload, &varied, observer);
        match cells.and_then(|cells| Ok((cells, self.draws(&point, &workload, observer)?))) {
            Ok((_, None)) => Err(Stopped),
            Ok(((mut figures, origin), Some(draws))) => {
                let residuals = self.residuals();
                for (name, numbers) in &draws {
                    let answered: Vec<f64> = numbers.iter().flatten().copied().collect();
                    let own = figures.get(name).and_then(Value::number);
                    let interval = interval_of(&answered).map(|drawn| with_residual(&residuals, name, drawn, own));
                    for (end, number) in ["low", "high"].into_iter().zip(interval.into_iter().flatten()) {
                        figures.insert(format!("{name}_{end}"), Value::Number(number));
                    }
                }
                Ok(PointRow { point, error: None, origin: Some(origin), figures, draws })
            }
            Err(CompareError::Run { error: RunError::Simulation(SimulationError::Stopped { .. }), .. }) => Err(Stopped),
            Err(CompareError::Run { error, .. }) => refused(point, error.to_string()),
            Err(CompareError::NotDelivered { reason, .. }) if self.workload.is_none() => refused(point, reason),
            Err(error) => refused(point, error.to_string()),
        }
    }

    /// By what intervals of points are wider than their draws: those of one copy alone.
    pub fn residuals(&self) -> Vec<Residual> {
        let alone = self.workload.as_ref().is_none_or(|workload| workload.alone().is_some());
        let drawn = self.spec.uncertainty.is_some() && alone;
        if drawn { residuals(self.base.resolved(), SWEEP) } else { Vec::new() }
    }

    /// What draws give for a point, if any are asked for; nothing if it was stopped.
    fn draws(
        &self,
        point: &Point,
        workload: &Workload,
        observer: Observed<'_>,
    ) -> Result<Option<Numbers>, CompareError> {
        let Some(draws) = self.spec.uncertainty else { return Ok(Some(Numbers::new())) };
        let of = || {
            let axes: Vec<_> = self.spec.axis.iter().map(|axis| axis.path.as_str()).collect();
            MachineDraws::of(self.designs.values().chain([&self.base]), &axes, workload.calls_collectives(), draws)
        };
        let drawn = self.drawn.get_or_init(of);
        let what = (SWEEP, (workload, self.spec.sample));
        drawn.figures(self.layers(point.value("design")), &Self::settings_of(point), what, observer)
    }

    /// The cells of the columns of [`SWEEP`] that apply, and where their outcome is from.
    fn cells(
        &self,
        workload: &Workload,
        varied: &Varied,
        observer: Observed<'_>,
    ) -> Result<(Cells, Origin), CompareError> {
        let of = (&varied.machine, self.again);
        let (known, origin) = self.shared.outcome("the point", of, (workload, self.spec.sample), observer)?;
        let (outcome, sampled, _) = &*known;
        let alone = workload.alone();
        let Varied { machine, assumed } = varied;
        let about = About { machine, assumed: *assumed, alone: alone.is_some(), collectives: None };
        let row = figures::Row::of(SWEEP, about, (outcome, sampled.as_ref()), |outcome| busiest(workload, outcome));
        let costs = (&price(machine), alone.map(|copy| copy.direction));
        let values = row.values(SWEEP, costs, |_| Value::None);
        let cells = columns(SWEEP).into_iter().map(Column::name).zip(values);
        Ok((cells.filter(|(_, value)| *value != Value::None).collect(), origin))
    }
}
