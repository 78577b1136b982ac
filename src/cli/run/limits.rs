//! What a run that is complete costs over one with CC off, what can be done about it, and what limited the copy that ended last: measured.

use super::{Interruption, Job, RunFormat};
use crate::{
    cli::output,
    explore::{
        levers::{self, Answers, Done, request},
        what_if::{self, LimitedBy},
    },
    sim::SimulationError,
    system::{Outcome, RunError},
    workload::collective::CollectiveTimes,
};

/// What further runs have shown.
#[derive(Default)]
pub(super) struct Measured {
    /// The place of the copy that ended last, and what limited it.
    pub limit: Option<(usize, LimitedBy)>,
    pub answers: Answers,
}

impl Job {
    /// What is to be measured.
    pub(super) fn measured(
        &self,
        outcome: &Outcome,
        collectives: &CollectiveTimes,
        interruption: &Interruption,
    ) -> Result<Measured, RunError> {
        let last = (0..outcome.copies.len()).max_by_key(|place| (outcome.copies[*place].end, *place));
        let mut measured = Measured::default();
        let Some((last, most)) = last.zip(self.asked(outcome)) else { return Ok(measured) };
        match self.measure(&mut measured, outcome, (last, most), collectives, interruption) {
            // The run itself is complete: it is only not known what limits it.
            Err(RunError::Simulation(SimulationError::Stopped { .. })) if self.format == RunFormat::Silent => {}
            Err(RunError::Simulation(SimulationError::Stopped { .. })) => {
                output::complain(format_args!("interrupted: what limits copy {} was not measured", last + 1));
            }
            done => done?,
        }
        Ok(measured)
    }

    fn measure(
        &self,
        into: &mut Measured,
        outcome: &Outcome,
        (last, most): (usize, usize),
        collectives: &CollectiveTimes,
        interruption: &Interruption,
    ) -> Result<(), RunError> {
        let (workload, go_on) = (&self.workload, || interruption.control());
        if self.expected.is_none() && self.sample.is_none() {
            let done = Done { machine: &self.resolved, workload, outcome };
            levers::answer(&mut into.answers, (done, last), collectives, &go_on)?;
        }
        let repeat = |most| request(&workload.only_timing(most), collectives);
        into.limit = Some((last, what_if::measure(&self.resolved, &repeat, last, most, &mut || go_on())?));
        Ok(())
    }

    /// How many parameters to measure, if any.
    fn asked(&self, outcome: &Outcome) -> Option<usize> {
        let faulty = !self.workload.injections.is_empty() || outcome.copies.iter().any(|copy| !copy.delivered);
        let unasked = || if self.expected.is_none() { what_if::unasked(&self.workload, outcome) } else { 0 };
        Some(self.what_if.unwrap_or_else(unasked)).filter(|most| *most > 0 && !faulty)
    }
}
