//! What limited the copy of a run that ended last, measured.

use super::{Interruption, Job, RunFormat};
use crate::{
    cli::output,
    explore::what_if::{self, LimitedBy},
    sim::SimulationError,
    system::{Outcome, Request, RunError},
    workload::{Arrival, Workload, collective::CollectiveTimes},
};

impl Job {
    /// The place of that copy and what limited it, if that is to be measured.
    pub(super) fn limit(
        &self,
        outcome: &Outcome,
        collectives: &CollectiveTimes,
        interruption: &Interruption,
    ) -> Result<Option<(usize, LimitedBy)>, RunError> {
        let last = (0..outcome.copies.len()).max_by_key(|place| (outcome.copies[*place].end, *place));
        let Some((last, most)) = last.zip(self.asked(outcome)) else { return Ok(None) };
        let repeat = |most| request(&self.workload.only_timing(most), collectives);
        let mut observer = || interruption.control();
        match what_if::measure(&self.resolved, &repeat, last, most, &mut observer) {
            Ok(limit) => return Ok(Some((last, limit))),
            // The run itself is complete: it is only not known what limits it.
            Err(RunError::Simulation(SimulationError::Stopped { .. })) if self.format == RunFormat::Silent => {}
            Err(RunError::Simulation(SimulationError::Stopped { .. })) => {
                output::complain(format_args!("interrupted: what limits copy {} was not measured", last + 1));
            }
            Err(error) => return Err(error),
        }
        Ok(None)
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
