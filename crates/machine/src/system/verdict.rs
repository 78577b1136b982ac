//! What a run with faults came to.
//!
//! Two that know nothing of each other are asked. The machine says what its units have signalled: a tag that differs, an LCRC, a timeout, an error
//! status. The oracle stands outside of it and compares what lies at the destination with what was sent. What only the oracle objects to, nobody on a
//! real machine would know.

use super::outcome::{CopyOutcome, Outcome};
use crate::{
    sim::{Effect, Seen, UnitError},
    units::Femtos,
};
use serde::Serialize;

crate::units::named! {
    /// What faults come to.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum FaultClass {
        /// All copies are right, and no unit has signalled an error.
        Harmless = "harmless",
        /// A unit has signalled an error, and no copy was reported complete before that is wrong.
        Detected = "detected",
        /// A copy is wrong that was reported complete before any uncorrected error was signalled.
        Silent = "silent",
        /// The machine waits for what never comes, and has no timeout for it.
        Hang = "hang",
    }
}

/// What the faults of a run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultVerdict {
    /// The class; none if no fault was activated.
    pub class: Option<FaultClass>,
    /// The error by which they were detected: the first uncorrected one, or the first of those that were corrected where all were.
    pub error: Option<UnitError>,
    /// From the activation of the first fault to that error.
    pub latency: Option<Femtos>,
}

impl FaultVerdict {
    fn of(faults: &[Effect], errors: &[UnitError], silent: bool, hangs: bool) -> Self {
        let Some(activated) = activated(faults) else { return Self { class: None, error: None, latency: None } };
        let after = || errors.iter().filter(|error| error.signalled.first >= activated);
        let error = after().find(|error| !error.signalled.signal.corrected).or_else(|| after().next());
        let class = match () {
            () if hangs => FaultClass::Hang,
            () if silent => FaultClass::Silent,
            () if error.is_some() => FaultClass::Detected,
            () => FaultClass::Harmless,
        };
        let error = error.filter(|_| class == FaultClass::Detected).cloned();
        let latency = error.as_ref().map(|error| error.signalled.first.saturating_sub(activated));
        Self { class: Some(class), error, latency }
    }

    /// Of a run that broke off, because nothing could go on (`hangs`) or because a unit found what cannot be.
    pub fn of_broken(seen: &Seen, hangs: bool) -> Self {
        Self::of(&seen.faults, &seen.errors, false, hangs)
    }
}

/// When the first of some faults was activated.
fn activated(faults: &[Effect]) -> Option<Femtos> {
    let times = faults.iter().filter_map(|effect| match effect {
        Effect::Struck { time, .. } => Some(*time),
        Effect::Waiting { .. } | Effect::Missed => None,
    });
    times.min()
}

impl Outcome {
    pub fn fault_verdict(&self) -> FaultVerdict {
        let silent = self.copies.iter().any(|copy| self.is_silent(copy));
        FaultVerdict::of(&self.faults, &self.errors, silent, false)
    }

    /// Whether a copy is wrong and was reported complete before any uncorrected error was signalled.
    fn is_silent(&self, copy: &CopyOutcome) -> bool {
        let known = |error: &UnitError| !error.signalled.signal.corrected && error.signalled.first <= copy.end;
        copy.completed && !copy.delivered && !self.errors.iter().any(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::{ErrorSignal, Signalled};

    const REPAIRED: ErrorSignal = ErrorSignal::corrected("lcrc", "");
    const TAG: ErrorSignal = ErrorSignal::uncorrected("tag", "");

    fn error(signal: ErrorSignal, first: u64) -> UnitError {
        UnitError { unit: "u".into(), signalled: Signalled { signal, first: Femtos(first), count: 1 } }
    }

    #[test]
    fn a_class_follows_from_signals_and_the_oracle() {
        let struck = [Effect::Struck { time: Femtos(10), transfer: 1, flip: None }];
        let (none, both) = ([], [error(REPAIRED, 12), error(TAG, 15)]);
        for (errors, silent, hangs, class, latency) in [
            (&none[..], false, false, FaultClass::Harmless, None),
            (&none, true, false, FaultClass::Silent, None),
            (&none, false, true, FaultClass::Hang, None),
            (&both, false, false, FaultClass::Detected, Some(5)),
            (&both[..1], false, false, FaultClass::Detected, Some(2)),
            (&both[..1], true, false, FaultClass::Silent, None),
            (&[error(REPAIRED, 9)], false, false, FaultClass::Harmless, None),
        ] {
            let verdict = FaultVerdict::of(&struck, errors, silent, hangs);
            assert_eq!((verdict.class, verdict.latency), (Some(class), latency.map(Femtos)), "{errors:?}");
            assert_eq!(verdict.error.is_some(), class == FaultClass::Detected);
        }
        assert_eq!(FaultVerdict::of(&[Effect::Missed], &both, false, false).class, None);
    }
}
