//! How a verb can fail, and the exit status of each way.

use super::output;
use miette::Report;
use std::{io, process::ExitCode};

/// Why a verb did not end well. Each kind has its exit status.
#[derive(Debug)]
pub enum Failure {
    /// 1: a verification failed or a copy was not delivered. The output has been printed; the text says what failed.
    Verification(Report),
    /// 2: the arguments make no sense together.
    Usage(Report),
    /// 3: the configuration is wrong.
    Config(Report),
    /// 4: a file or stream could not be read or written.
    InputOutput(Report),
    /// 5: a deadlock or another fault of the simulation.
    Simulation(Report),
}

/// The exit statuses, and what each means.
pub(super) const STATUSES: [(u8, &str); 6] = [
    (0, "done; `run`, `rerun`: all copies were delivered; `rerun`: event digest and simulated time are the manifest's"),
    (
        1,
        "something was not verified: a copy was not delivered, a check has failed, `rerun` has found another event digest or simulated time, \
         a fault has not struck (`--inject-must-strike`), or the run was interrupted",
    ),
    (2, "the arguments are wrong or make no sense together"),
    (3, "the configuration, the workload file, or what a manifest holds, is wrong"),
    (4, "a file or stream could not be read or written, or a payload is not the one of the manifest"),
    (5, "a deadlock or another fault of the simulation"),
];

impl Failure {
    /// The exit status.
    #[must_use]
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
    #[must_use]
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

    fn show(&self) {
        output::complain(format_args!("{:?}", self.report()));
    }

    /// What went wrong, in words.
    #[must_use]
    pub fn message(&self) -> String {
        self.report().to_string()
    }

    /// A failed read or write of `what`, for example a path.
    #[must_use]
    pub fn input_output(what: &str, error: &io::Error) -> Self {
        Self::InputOutput(miette::miette!("{what}: {error}"))
    }

    /// A failed write to standard output.
    #[must_use]
    pub fn output(error: &io::Error) -> Self {
        Self::input_output("standard output", error)
    }
}
