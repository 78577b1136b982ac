//! What came of a run with faults, and whether it is right.

use super::{Caught, Judged, draw::Drawn, image::Image};
use crate::{
    config::MachineSpec,
    sim::{Control, Effect, SimulationError},
    system::{self, Catch, Outcome, Request, RunError},
    units::Femtos,
    workload::InjectionArgument,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a run ended.
#[derive(Debug)]
enum End {
    Outcome(Box<Outcome>),
    Hang(String),
    FlowControl(String),
    Endless,
    Panic,
    Other(String),
}

/// A run and what it left.
#[derive(Debug)]
pub(super) struct Ran {
    end: End,
    images: Vec<Image>,
}

impl Ran {
    /// Runs a request, which counts as endless beyond `patience`.
    pub fn of(
        machine: &MachineSpec,
        request: Request,
        images: Vec<Image>,
        patience: Femtos,
        observer: &(dyn Fn() -> Control + Sync),
    ) -> Self {
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
            Ok(Err(RunError::Simulation(error))) => match error {
                SimulationError::Deadlock { .. } => End::Hang(error.to_string()),
                SimulationError::Fault { .. } => End::FlowControl(error.to_string()),
                _ if late => End::Endless,
                _ => End::Other(error.to_string()),
            },
            Ok(Err(error)) => End::Other(error.to_string()),
        };
        Self { end, images }
    }

    /// A run that cannot begin.
    pub fn refused(error: &RunError) -> Self {
        Self { end: End::Other(error.to_string()), images: Vec::new() }
    }

    /// All that must not depend on data mode or kernel.
    fn verdict(&self) -> String {
        match &self.end {
            End::Outcome(outcome) => {
                let copies = outcome.copies.iter();
                let copies = copies.map(|c| (c.delivered, c.tags_verified, c.tags_failed, &c.reason, c.end));
                let copies: Vec<_> = copies.collect();
                let (digest, faults) = (&outcome.event_digest, &outcome.faults);
                format!("{copies:?} {digest} {faults:?} {:?} {:?}", outcome.incidents, outcome.cancelled)
            }
            End::Hang(what) | End::FlowControl(what) | End::Other(what) => what.clone(),
            End::Endless => "endless".into(),
            End::Panic => "panic".into(),
        }
    }

    /// What is wrong with it by itself. Where messages are `sealed`, nothing may arrive that was not verified.
    fn fault(&self, sealed: bool) -> Option<String> {
        let outcome = match &self.end {
            End::Outcome(outcome) => outcome,
            End::Hang(_) | End::FlowControl(_) => return None,
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
        }
        let all = outcome.copies.iter().all(|copy| copy.delivered);
        (struck(outcome) == 0 && !all).then(|| "no fault has struck, and yet something is not delivered".into())
    }

    fn caught(&self) -> Caught {
        let outcome = match &self.end {
            End::Outcome(outcome) => outcome,
            End::FlowControl(_) => return Caught::FlowControl,
            End::Hang(_) | End::Endless | End::Panic | End::Other(_) => return Caught::Hang,
        };
        let failed = outcome.copies.iter().filter_map(|copy| copy.caught);
        if let Some(catch) = failed.min_by_key(|&catch| catch == Catch::EarlierCopy) {
            return Caught::by(catch);
        }
        let ways = outcome.gpus.iter().flat_map(|gpu| [&gpu.link.h2d, &gpu.link.d2h]);
        let repaired: u64 = ways
            .map(|way| {
                way.bad_lcrc + way.bad_tokens + way.out_of_sequence + way.duplicates + way.bad_dllps + way.replays
            })
            .sum();
        match () {
            () if struck(outcome) == 0 => Caught::NotStruck,
            () if repaired > 0 => Caught::Link,
            () if outcome.incidents.is_empty() => Caught::Harmless,
            () => Caught::Dropped,
        }
    }

    /// From the first strike to the end of the first copy that failed.
    fn after(&self) -> Option<Femtos> {
        let End::Outcome(outcome) = &self.end else { return None };
        let first = outcome.faults.iter().filter_map(|effect| match effect {
            Effect::Struck { time, .. } => Some(*time),
            _ => None,
        });
        let failed = outcome.copies.iter().find(|copy| !copy.delivered)?;
        Some(failed.end.saturating_sub(first.min()?))
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
    Judged {
        number,
        seed: drawn.seed,
        faults: drawn.injections.into_iter().map(|one| InjectionArgument(one).to_string()).collect(),
        struck: outcome.map_or(0, |outcome| struck(outcome)),
        cancelled: outcome.map_or(0, |outcome| outcome.cancelled.len()),
        delivered: outcome.map_or(0, |outcome| outcome.copies.iter().filter(|copy| copy.delivered).count()),
        caught: exact.caught(),
        after_ps: exact.after().map(Femtos::picos),
        finding,
    }
}
