//! Why a function failed.

use crate::guard::{SEALSIM_ERROR_CONFIG, SEALSIM_ERROR_USAGE};
use sealsim_machine::{
    config::Refusal,
    files::{told, visible},
};
use sealsim_pcie::items::Refused;
use std::fmt::Display;

/// A failure: the number that is returned, and the text of `sealsim_last_error`.
#[derive(Debug)]
pub struct Fault {
    pub code: i32,
    pub text: String,
}

impl Fault {
    /// An argument makes no sense.
    pub fn usage(text: impl Display) -> Self {
        Self { code: SEALSIM_ERROR_USAGE, text: text.to_string() }
    }

    /// A configuration is wrong.
    pub fn config(text: impl Display) -> Self {
        Self { code: SEALSIM_ERROR_CONFIG, text: text.to_string() }
    }
}

impl From<Refusal> for Fault {
    fn from(error: Refusal) -> Self {
        Self::config(visible(&told(&error)))
    }
}

impl From<Refused> for Fault {
    fn from(error: Refused) -> Self {
        let help = error.help().map_or_else(String::new, |help| format!("\n  help: {help}"));
        Self::usage(format!("{error}{help}"))
    }
}
