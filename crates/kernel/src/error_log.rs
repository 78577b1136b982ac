//! The errors that units of the machine signal: what a driver, a register or a log of the real machine would show. They are not what the simulator
//! knows by looking at the bytes from outside.

use crate::units::Femtos;

/// A kind of error that a unit can signal. Each layer declares its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorSignal {
    /// Its name in results.
    pub name: &'static str,
    /// What it is, for people.
    pub words: &'static str,
    /// Whether the unit that signals it has repaired the error, so that nothing above is notified of it.
    pub corrected: bool,
}

impl ErrorSignal {
    /// Of an error that is repaired where it is found.
    pub const fn corrected(name: &'static str, words: &'static str) -> Self {
        Self { name, words, corrected: true }
    }

    /// Of an error that is not.
    pub const fn uncorrected(name: &'static str, words: &'static str) -> Self {
        Self { name, words, corrected: false }
    }
}

/// Errors of one kind that one unit has signalled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signalled {
    pub signal: ErrorSignal,
    pub first: Femtos,
    pub count: u64,
}

/// What a unit has signalled, by kind.
#[derive(Debug, Clone, Default)]
pub struct ErrorLog(Vec<Signalled>);

impl ErrorLog {
    #[cold]
    pub fn note(&mut self, signal: ErrorSignal, time: Femtos) {
        match self.0.iter_mut().find(|known| known.signal == signal) {
            Some(known) => {
                known.first = known.first.min(time);
                known.count += 1;
            }
            None => self.0.push(Signalled { signal, first: time, count: 1 }),
        }
    }

    /// All kinds, in the order in which they were first noted.
    pub fn all(&self) -> &[Signalled] {
        &self.0
    }
}

/// What one unit of a machine has signalled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitError {
    pub unit: String,
    pub signalled: Signalled,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_keeps_the_first_time_of_each_kind() {
        let (lcrc, tag) =
            (ErrorSignal::corrected("lcrc", "a wrong LCRC"), ErrorSignal::uncorrected("tag", "a wrong tag"));
        let mut log = ErrorLog::default();
        for (signal, time) in [(lcrc, 7), (tag, 9), (lcrc, 5), (lcrc, 11)] {
            log.note(signal, Femtos(time));
        }
        let all: Vec<_> = log.all().iter().map(|one| (one.signal.name, one.first.0, one.count)).collect();
        assert_eq!(all, [("lcrc", 5, 3), ("tag", 9, 1)]);
    }
}
