//! The injected faults of a run: what became of them, what the machine signalled, and what they came to.

use super::text::time;
use crate::{
    sim::{Effect, Seen, SimulationError, UnitError},
    system::{FaultClass, FaultVerdict, Outcome},
    units::Femtos,
};
use serde::Serialize;

#[derive(Debug, Clone, Default, Serialize)]
pub struct Faults {
    pub injected: usize,
    pub struck: usize,
    /// Whose transfer came with nothing that such a fault could befall.
    pub missed: usize,
    /// Pairs that undid each other because both inverted the same bit, by their places in the list of faults, from 1.
    pub cancelled: Vec<[usize; 2]>,
    /// What they came to; none if none was activated.
    pub class: Option<FaultClass>,
    /// The error that detected them: the first uncorrected one, or the first of those that were repaired. Of class `detected` only.
    pub signal: Option<SignalRecord>,
    /// From the activation of the first fault to that error, in ps.
    pub latency_ps: Option<u64>,
    /// All errors that units have signalled, by unit and kind, the first ones first.
    pub signals: Vec<SignalRecord>,
}

/// Errors of one kind that a unit has signalled.
#[derive(Debug, Clone, Serialize)]
pub struct SignalRecord {
    pub unit: String,
    pub signal: &'static str,
    pub text: &'static str,
    /// Whether the unit has repaired it.
    pub corrected: bool,
    /// When for the first time, in ps.
    pub first_ps: u64,
    pub count: u64,
}

impl SignalRecord {
    fn new(error: &UnitError) -> Self {
        let signalled = error.signalled;
        Self {
            unit: error.unit.clone(),
            signal: signalled.signal.name,
            text: signalled.signal.words,
            corrected: signalled.signal.corrected,
            first_ps: signalled.first.picos(),
            count: signalled.count,
        }
    }
}

impl Faults {
    /// Those of a run that has ended.
    pub fn new(outcome: &Outcome) -> Self {
        let cancelled = outcome.cancelled.iter().map(|&(a, b)| [a + 1, b + 1]).collect();
        let signals = if outcome.faults.is_empty() { &[][..] } else { &outcome.errors };
        Self { cancelled, ..Self::of(&outcome.faults, signals, &outcome.fault_verdict()) }
    }

    /// Those of a run that broke off, if it had any.
    pub fn of_broken(error: &SimulationError) -> Option<Self> {
        let (seen, hangs) = match error {
            SimulationError::Deadlock { seen, .. } => (seen, true),
            SimulationError::Fault { seen, .. } => (seen, false),
            _ => return None,
        };
        let Seen { faults, errors } = seen;
        (!faults.is_empty()).then(|| Self::of(faults, errors, &FaultVerdict::of_broken(seen, hangs)))
    }

    fn of(faults: &[Effect], errors: &[UnitError], verdict: &FaultVerdict) -> Self {
        let count = |is: fn(&Effect) -> bool| faults.iter().filter(|effect| is(effect)).count();
        Self {
            injected: faults.len(),
            struck: count(|effect| matches!(effect, Effect::Struck { .. })),
            missed: count(|effect| *effect == Effect::Missed),
            cancelled: Vec::new(),
            class: verdict.class,
            signal: verdict.error.as_ref().map(SignalRecord::new),
            latency_ps: verdict.latency.map(Femtos::picos),
            signals: errors.iter().map(SignalRecord::new).collect(),
        }
    }

    /// How many were activated in a run that broke off, and what they came to, in lines of their own.
    pub fn told(&self) -> String {
        let came_to = self.came_to().map_or_else(String::new, |what| format!("\nfaults: {what}"));
        format!("\nfaults: {} of {} injected have struck{came_to}", self.struck, self.injected)
    }

    /// What they came to, for people; nothing if none was activated.
    pub fn came_to(&self) -> Option<String> {
        let class = self.class?;
        Some(match (class, &self.signal) {
            (FaultClass::Harmless, _) => "harmless: all bytes are right, and no unit signals an error".to_owned(),
            (FaultClass::Silent, _) => "SILENT: no unit of the machine signals an error, and what lies in memory is wrong; only the simulator's \
                                        comparison with the source tells"
                .to_owned(),
            (FaultClass::Hang, _) => match self.signals.iter().find(|signal| !signal.corrected) {
                Some(signal) => format!("hang, after {} had signalled {}", signal.unit, signal.text),
                None => "hang: no unit signals an error, and no timeout that is modelled ends the wait".to_owned(),
            },
            (FaultClass::Detected, Some(signal)) => {
                let latency = time(self.latency_ps.unwrap_or_default());
                let repaired = if signal.corrected { ", and it is repaired" } else { "" };
                format!("detected: {} signals {} {latency} later{repaired}", signal.unit, signal.text)
            }
            (FaultClass::Detected, None) => "detected".to_owned(),
        })
    }
}
