//! Why a call failed, by the exit status that the program would have.

use pyo3::prelude::*;
use sealsim::{cli::Failure, sim::SimulationError, system::RunError, workload::collective::CollectiveError};
use std::fmt::Display;

/// A failure with its exit status and what to tell: message, place, remedy.
#[derive(Debug)]
pub struct Fault {
    status: u8,
    text: String,
}

impl Fault {
    /// 1: not verified, or stopped.
    pub fn verification(text: impl Display) -> Self {
        Self { status: 1, text: text.to_string() }
    }

    /// 2: the arguments make no sense.
    pub fn usage(text: impl Display) -> Self {
        Self { status: 2, text: text.to_string() }
    }

    /// 3: the configuration is wrong.
    pub fn config(text: impl Display) -> Self {
        Self { status: 3, text: text.to_string() }
    }

    /// 4: a file cannot be read or written.
    pub fn input_output(text: impl Display) -> Self {
        Self { status: 4, text: text.to_string() }
    }

    /// 5: a fault of the simulation.
    pub fn simulation(text: impl Display) -> Self {
        Self { status: 5, text: text.to_string() }
    }

    /// The same with what to do about it.
    pub fn help(mut self, help: impl Display) -> Self {
        self.text += &format!("\n  help: {help}");
        self
    }

    /// A run that has no outcome.
    pub fn of_run(error: &RunError) -> Self {
        match error {
            RunError::Build(_) => Self::config(error),
            RunError::NoGpu { .. } | RunError::FaultPoint { .. } | RunError::FaultSelector { .. } => Self::usage(error),
            RunError::Payload(_) => Self::input_output(error),
            RunError::Simulation(SimulationError::Stopped { .. }) => {
                Self::verification("interrupted: nothing was delivered")
            }
            RunError::Simulation(_) => Self::simulation(error),
        }
    }

    /// Collectives that cannot be run.
    pub fn of_collective(error: &CollectiveError) -> Self {
        match error {
            CollectiveError::Run(error) => Self::of_run(error),
            error => Self::config(error).help("take a machine with a switch and enough GPUs, such as hgx-h100-8gpu"),
        }
    }

    /// As Python raises it: the class of `sealsim.errors` that has this status.
    pub fn raised(&self, py: Python<'_>) -> PyErr {
        let made =
            py.import("sealsim.errors").and_then(|errors| errors.call_method1("of_status", (self.status, &self.text)));
        made.map_or_else(|error| error, PyErr::from_value)
    }
}

impl<E: Into<Failure>> From<E> for Fault {
    fn from(error: E) -> Self {
        let failure = error.into();
        Self { status: failure.status(), text: failure.told() }
    }
}
