//! What came of a run with faults, and whether it is right.

use super::{
    Judged, Signal,
    draw::Drawn,
    image::{self, Image},
};
use crate::{
    config::MachineSpec,
    sim::{Control, Effect, Seen, SimulationError},
    system::{self, FaultVerdict, Outcome, RunError},
    units::Femtos,
    workload::{InjectionArgument, Workload, collective::CollectiveTimes},
};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[derive(Debug)]
enum End {
    Outcome(Box<Outcome>),
    /// It waits for what never comes.
    Hang(String, Seen),
    /// A unit found what cannot be, and nothing can go on.
    Fatal(String, Seen),
    Endless,
    Panic,
    Other(String),
}

#[derive(Debug)]
pub(super) struct Ran {
    end: End,
    images: Vec<Image>,
}

impl Ran {
    /// Runs a workload, which counts as endless beyond `patience`.
    pub fn of(
        machine: &MachineSpec,
        (workload, collectives): (&Workload, &CollectiveTimes),
        patience: Femtos,
        observer: &(dyn Fn() -> Control + Sync),
    ) -> Self {
        let (request, images) = match image::kept(workload, collectives) {
            Ok(kept) => kept,
            Err(error) => return Self { end: End::Other(error.to_string()), images: Vec::new() },
        };
        let mut late = false;
        let result = catch_unwind(AssertUnwindSafe(|| {
            system::run(machine, request, &mut |time| {
                late |= time > patience;
                if late { Control::Stop } else { observer() }
            })
        }));
        let end = match result {
            Err(_) => End::Panic,
            Ok(Ok(outcome)) => End::Outcome(Box::new(outcome)),
            Ok(Err(RunError::Simulation(error))) => {
                let text = error.to_string();
                match error {
                    SimulationError::Deadlock { seen, .. } => End::Hang(text, seen),
                    SimulationError::Fault { seen, .. } => End::Fatal(text, seen),
                    _ if late => End::Endless,
                    _ => End::Other(text),
                }
            }
            Ok(Err(error)) => End::Other(error.to_string()),
        };
        Self { end, images }
    }

    /// All that must not depend on data mode or kernel.
    fn verdict(&self) -> String {
        match &self.end {
            End::Outcome(outcome) => {
                let copies = outcome.copies.iter();
                let copies = copies.map(|c| (c.delivered, c.tags_verified, c.tags_failed, &c.reason, c.end));
                let copies: Vec<_> = copies.collect();
                let (digest, faults) = (&outcome.event_digest, &outcome.faults);
                let Outcome { incidents, errors, cancelled, .. } = &**outcome;
                format!("{copies:?} {digest} {faults:?} {incidents:?} {errors:?} {cancelled:?}")
            }
            End::Hang(what, seen) | End::Fatal(what, seen) => format!("{what} {seen:?}"),
            End::Other(what) => what.clone(),
            End::Endless => "endless".into(),
            End::Panic => "panic".into(),
        }
    }

    /// What is wrong with it by itself. Where messages are `sealed`, nothing may arrive that was not verified.
    pub fn fault(&self, sealed: bool) -> Option<String> {
        let outcome = match &self.end {
            End::Outcome(outcome) => outcome,
            End::Hang(..) => return None,
            End::Fatal(what, _) if self.came_to().error.is_none() => {
                return Some(format!("no unit signals this: {what}"));
            }
            End::Fatal(..) => return None,
            End::Endless => return Some("the run does not end".into()),
            End::Panic => return Some("the simulator panics".into()),
            End::Other(what) => return Some(what.clone()),
        };
        for (number, (copy, image)) in (1..).zip(outcome.copies.iter().zip(&self.images)) {
            if copy.delivered && !image.is_whole() {
                return Some(format!("copy {number} is called delivered, and what it left is not what was sent"));
            }
            if sealed && !image.is_pure() {
                return Some(format!("of copy {number} bytes arrived that were not verified"));
            }
            if !copy.delivered && copy.reason.is_none() {
                return Some(format!("copy {number} is not delivered, and nothing says why"));
            }
            if !copy.completed && outcome.errors.iter().all(|error| error.signalled.signal.corrected) {
                return Some(format!("copy {number} has failed, and no unit signals an error"));
            }
        }
        let all = outcome.copies.iter().all(|copy| copy.delivered);
        (struck(outcome) == 0 && !all).then(|| "no fault has struck, and yet something is not delivered".into())
    }

    pub fn came_to(&self) -> FaultVerdict {
        match &self.end {
            End::Outcome(outcome) => outcome.fault_verdict(),
            End::Hang(_, seen) => FaultVerdict::of_broken(seen, true),
            End::Fatal(_, seen) => FaultVerdict::of_broken(seen, false),
            End::Endless | End::Panic | End::Other(_) => FaultVerdict { class: None, error: None, latency: None },
        }
    }

    pub fn faults(&self) -> &[Effect] {
        match &self.end {
            End::Outcome(outcome) => &outcome.faults,
            End::Hang(_, seen) | End::Fatal(_, seen) => &seen.faults,
            End::Endless | End::Panic | End::Other(_) => &[],
        }
    }
}

fn struck(outcome: &Outcome) -> usize {
    outcome.faults_struck().0
}

/// Judges a set by its two runs: `exact` with the user's bytes, `none` without.
pub(super) fn judged(number: u64, drawn: Drawn, sealed: bool, exact: &Ran, none: &Ran) -> Judged {
    let finding = exact.fault(sealed).or_else(|| none.fault(sealed).map(|fault| format!("without data: {fault}")));
    let finding = finding.or_else(|| {
        let (one, other) = (exact.verdict(), none.verdict());
        (one != other).then(|| format!("the verdict depends on the data mode or the kernel: {one} against {other}"))
    });
    let outcome = match &exact.end {
        End::Outcome(outcome) => Some(outcome),
        _ => None,
    };
    let FaultVerdict { class, error, latency } = exact.came_to();
    let struck = exact.faults().iter().filter(|effect| matches!(effect, Effect::Struck { .. })).count();
    Judged {
        number,
        seed: drawn.seed,
        faults: drawn.injections.into_iter().map(|one| InjectionArgument(one).to_string()).collect(),
        struck,
        cancelled: outcome.map_or(0, |outcome| outcome.cancelled.len()),
        delivered: outcome.map_or(0, |outcome| outcome.copies.iter().filter(|copy| copy.delivered).count()),
        class,
        signal: error.map(Signal::of),
        latency_ps: latency.map(Femtos::picos),
        finding,
    }
}
