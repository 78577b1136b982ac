//! What a run that is complete costs over one with CC off, what can be done about it, and what limited the copy that ended last: measured.

use super::{Interruption, Job, RunFormat};
use crate::{
    cli::output,
    explore::{
        explain::last,
        levers::{self, Answers, Done},
    },
    sim::SimulationError,
    system::{Outcome, RunError},
    workload::collective::CollectiveTimes,
};

impl Job {
    pub(super) fn measured(
        &self,
        outcome: &Outcome,
        collectives: &CollectiveTimes,
        interruption: &Interruption,
    ) -> Result<Answers, RunError> {
        let mut answers = Answers::default();
        let done = Done { machine: &self.resolved, workload: &self.workload, outcome };
        let repeats = self.expected.is_some();
        let asked = (self.what_if.or(repeats.then_some(0)), !repeats && self.sample.is_none());
        match levers::answer(&mut answers, done, asked, collectives, &|| interruption.control()) {
            // The run itself is complete: it is only not known what limits it.
            Err(RunError::Simulation(SimulationError::Stopped { .. })) if self.format == RunFormat::Silent => {}
            Err(RunError::Simulation(SimulationError::Stopped { .. })) => {
                let number = last(outcome).map_or(0, |place| place + 1);
                output::complain(format_args!("interrupted: what limits copy {number} was not measured"));
            }
            done => done?,
        }
        Ok(answers)
    }
}
