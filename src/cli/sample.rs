//! The argument that asks for sampled timing.

use super::Failure;
use crate::sampling::Sample;
use clap::Args;
use miette::miette;

/// How much is simulated.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct SampleArgument {
    /// Simulate a part of long copies and loops in full detail, and extrapolate the rest: `auto` simulates as much as narrow intervals need, up
    /// to all; N at most so many messages of each copy, or iterations of a loop. Figures are then estimates with intervals. Off by default
    #[arg(long, value_name = "auto|N")]
    pub sample: Option<Sample>,
}

impl SampleArgument {
    /// Refuses arguments that need every byte or event.
    pub(super) fn refuse(self, others: &[(&str, bool)]) -> Result<(), Failure> {
        match others.iter().find(|(_, given)| *given && self.sample.is_some()) {
            Some((name, _)) => {
                let help = format!("leave out {name}, or simulate all of it without --sample");
                let text = format!("{name} with --sample: it needs what a sampled run leaves out");
                Err(Failure::Usage(miette!(help = help, "{text}")))
            }
            None => Ok(()),
        }
    }
}
