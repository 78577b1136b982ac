//! What a run that is complete costs over one with CC off, what can be done about it, and what limited the copy that ended last: measured.

use super::{Interruption, Job, RunFormat};
use crate::{
    cli::output,
    explore::{
        explain,
        levers::{self, Done, Lever, Off},
        what_if::{self, LimitedBy},
    },
    observe::messages::Message,
    sim::SimulationError,
    system::{Outcome, Request, RunError},
    workload::{Arrival, Copy, Workload, collective::CollectiveTimes},
};

/// What further runs have shown.
#[derive(Default)]
pub(super) struct Measured {
    /// The place of the copy that ended last, and what limited it.
    pub limit: Option<(usize, LimitedBy)>,
    pub off: Option<Off>,
    pub earlier_library: Option<Lever>,
    pub levers: Vec<Lever>,
    /// The first message of that copy, where it is alone.
    pub first: Option<Message>,
}

/// Runs of more bytes in all are repeated only as far as what limits them asks.
const MOST_BYTES: u64 = 64 << 20;
/// The first message does not depend on what comes after so many bytes.
const BEGINNING: u64 = 4 << 20;

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
        let calls = collectives.iter().next().is_some();
        if workload.bytes() <= MOST_BYTES && !calls && self.expected.is_none() && self.sample.is_none() {
            let done = Done { machine: &self.resolved, workload, outcome };
            into.off = levers::off(done, &go_on)?;
            into.earlier_library = levers::earlier_library(done, &go_on)?;
            into.levers = levers::levers(done, &go_on)?;
            into.first = self.first_message(workload.copies[last], interruption)?;
        }
        let repeat = |most| request(&workload.only_timing(most), collectives);
        into.limit = Some((last, what_if::measure(&self.resolved, &repeat, last, most, &mut || go_on())?));
        Ok(())
    }

    /// The first message of a copy that runs alone.
    fn first_message(&self, copy: Copy, interruption: &Interruption) -> Result<Option<Message>, RunError> {
        let alone = Workload::timed(vec![copy], None).only_timing(BEGINNING);
        let request = request(&alone, &CollectiveTimes::default())?;
        match explain::observe(&self.resolved.machine, request, &mut |_| interruption.control()) {
            // One that is longer is not seen whole.
            Ok(observed) => Ok(observed.messages.into_iter().next().filter(|message| message.bytes < BEGINNING)),
            Err(explain::ExplainError::Run(error)) => Err(error),
            Err(_) => Ok(None),
        }
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
