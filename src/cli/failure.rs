//! How a verb can fail, and the exit status of each way.

use super::output;
use crate::{
    files::{ReadError, told, visible},
    sim::SimulationError,
    system::RunError,
};
use miette::Report;
use std::{fmt::Display, io, process::ExitCode};

/// Why a verb did not end well. Each kind has its exit status.
#[derive(Debug)]
pub enum Failure {
    /// 1: a verification failed or a copy was not delivered. The output has been printed; the text says what failed.
    Verification(Report),
    /// 2: the arguments are invalid together.
    Usage(Report),
    /// 3: the configuration is wrong.
    Config(Report),
    /// 4: a file or stream could not be read or written.
    InputOutput(Report),
    /// 5: a deadlock or another fault of the simulation.
    Simulation(Report),
}

pub(super) const STATUSES: [(u8, &str); 6] = [
    (0, "done; `run`, `rerun`: all copies were delivered; `rerun`: event digest and simulated time are the manifest's"),
    (
        1,
        "something was not verified: a copy was not delivered, a check has failed, `rerun` has found another event digest or simulated time, \
         a fault was not activated (`--inject-must-strike`), or the run was interrupted",
    ),
    (2, "the arguments are wrong or inconsistent"),
    (3, "the configuration, the workload file, or what a manifest holds, is wrong"),
    (4, "a file or stream could not be read or written, or a payload is not the one of the manifest"),
    (5, "a deadlock or another fault of the simulation"),
];

impl Failure {
    pub const fn status(&self) -> u8 {
        match self {
            Self::Verification(_) => 1,
            Self::Usage(_) => 2,
            Self::Config(_) => 3,
            Self::InputOutput(_) => 4,
            Self::Simulation(_) => 5,
        }
    }

    /// Shows what went wrong on standard error and gives the exit status: that of `result`. If that is a success, but standard output does
    /// not have all that was printed for another reason than that its reader has gone, it is that of a failed write.
    pub fn exit(result: Result<(), Self>) -> ExitCode {
        let trouble = output::trouble().map(Self::output);
        let (failure, more) = match (result, trouble) {
            (Ok(()), None) => return ExitCode::SUCCESS,
            (Ok(()), Some(trouble)) => (trouble, None),
            (Err(failure), trouble) => (failure, trouble),
        };
        let status = failure.status();
        failure.show();
        if let Some(more) = more {
            more.show();
        }
        ExitCode::from(status)
    }

    const fn report(&self) -> &Report {
        let (Self::Verification(report)
        | Self::Usage(report)
        | Self::Config(report)
        | Self::InputOutput(report)
        | Self::Simulation(report)) = self;
        report
    }

    pub(super) fn show(&self) {
        output::show(self.report());
    }

    pub fn message(&self) -> String {
        self.report().to_string()
    }

    /// What went wrong, where, and what to do about it, in plain lines: for programs that show errors in a way of their own.
    pub fn told(&self) -> String {
        visible(&told(self.report().as_ref())).into_owned()
    }

    /// A file that cannot be read or written, which the error names.
    pub fn of_file(error: impl Display) -> Self {
        Self::InputOutput(miette::miette!("{error}"))
    }

    /// A failed read or write of `what`, for example a path.
    pub fn input_output(what: &str, error: &io::Error) -> Self {
        Self::InputOutput(miette::miette!("{what}: {error}"))
    }

    /// A file that cannot be read, or is no text of a fit length.
    pub fn of_text(error: &ReadError) -> Self {
        let told = miette::miette!("{error}");
        if error.is_input_output() { Self::InputOutput(told) } else { Self::Config(told) }
    }

    /// A run without an outcome; `stopped` says what an interruption has left.
    pub fn of_run(error: &RunError, stopped: &str) -> Self {
        let told = miette::miette!("{error}");
        match error {
            RunError::Build(_) => Self::Config(told),
            RunError::NoGpu { .. } | RunError::FaultPoint { .. } | RunError::FaultSelector { .. } => Self::Usage(told),
            RunError::Payload(_) => Self::InputOutput(told),
            RunError::Simulation(SimulationError::Stopped { .. }) => Self::Verification(miette::miette!("{stopped}")),
            RunError::Simulation(_) => Self::Simulation(told),
        }
    }

    pub fn output(error: &io::Error) -> Self {
        Self::input_output("standard output", error)
    }
}

impl From<csv::Error> for Failure {
    /// A table that goes nowhere but to standard output.
    fn from(error: csv::Error) -> Self {
        Self::output(&error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;

    #[test]
    fn an_error_is_told_with_place_and_remedy() {
        let wrong = Layers::new("h100-nvl-tdx").set("link.max_paylod=512B").resolve().unwrap_err();
        let told = Failure::from(wrong).told();
        let lines: Vec<_> = told.lines().collect();
        assert!(lines[0].contains("max_paylod") && lines.iter().any(|line| line.starts_with("  help: ")), "{told}");
        assert!(
            lines.iter().any(|line| line.starts_with("  at ") && line.ends_with(|c: char| c.is_ascii_digit())),
            "{told}"
        );
    }
}
