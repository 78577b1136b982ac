//! What limited the copies of a run: from its accounts, and for the copy that ended last measured.

use super::{Interruption, Job, RunFormat};
use crate::{
    cli::output,
    explore::what_if::{self, LimitedBy},
    sim::SimulationError,
    system::{Outcome, Request, RunError},
    workload::{Arrival, Workload, collective::CollectiveTimes},
};

impl Job {
    pub(super) fn limits(
        &self,
        outcome: &Outcome,
        collectives: &CollectiveTimes,
        interruption: &Interruption,
    ) -> Result<Vec<LimitedBy>, RunError> {
        let mut limits: Vec<_> =
            outcome.copies.iter().map(|copy| LimitedBy::of(&copy.limited_by, &self.resolved)).collect();
        let last = (0..outcome.copies.len()).max_by_key(|place| (outcome.copies[*place].end, *place));
        let Some((last, most)) = last.zip(self.asked(outcome)) else { return Ok(limits) };
        let repeat = |most| request(&self.workload.only_timing(most), collectives);
        let mut observer = || interruption.control();
        match what_if::measure(&self.resolved, &repeat, last, most, &mut observer) {
            Ok(found) => limits[last] = limits[last].clone().measured(found),
            // The run itself is complete: it is only not known what limits it.
            Err(RunError::Simulation(SimulationError::Stopped { .. })) if self.format == RunFormat::Silent => {}
            Err(RunError::Simulation(SimulationError::Stopped { .. })) => {
                output::complain(format_args!("interrupted: what limits copy {} was not measured", last + 1));
            }
            Err(error) => return Err(error),
        }
        Ok(limits)
    }

    /// How many parameters to measure, if any.
    fn asked(&self, outcome: &Outcome) -> Option<usize> {
        let faulty = !self.workload.injections.is_empty() || outcome.copies.iter().any(|copy| !copy.delivered);
        let unasked = || if self.expected.is_none() { what_if::unasked(&self.workload, outcome) } else { 0 };
        Some(self.what_if.unwrap_or_else(unasked)).filter(|most| *most > 0 && !faulty)
    }
}

/// A workload's request, whose bytes nobody looks at.
pub(in crate::cli) fn request(workload: &Workload, collectives: &CollectiveTimes) -> Result<Request, RunError> {
    let arrivals: Vec<_> = workload.copies.iter().map(|_| Arrival::new(false, None)).collect();
    workload.request(&arrivals, collectives).map_err(|error| RunError::Payload(error.to_string()))
}
