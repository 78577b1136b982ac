//! Why a function failed.

use crate::guard::{SEALSIM_ERROR_CONFIG, SEALSIM_ERROR_USAGE};
use simulator::cli::Failure;
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

impl<E: Into<Failure>> From<E> for Fault {
    fn from(error: E) -> Self {
        let failure = error.into();
        Self { code: -i32::from(failure.status()), text: failure.told() }
    }
}
