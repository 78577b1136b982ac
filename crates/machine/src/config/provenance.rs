//! Where a parameter's value comes from, and the range in which it may lie.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// How much it is to be trusted.
    pub kind: Kind,
    /// The public source, the data set, or the reason.
    pub source: String,
    /// Least value that it may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<String>,
    /// Greatest value that it may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<String>,
}

crate::units::named! {
    /// The kinds of provenance.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Kind {
        /// Stated by a public source.
        Documented = "documented",
        /// Taken from published measurements.
        Measured = "measured",
        /// Fitted so that the model meets measurements.
        Calibrated = "calibrated",
        /// Nobody has published it; the source gives the reason.
        Assumed = "assumed",
        /// Set on the command line, or in a file that does not say where it comes from.
        User = "user",
    }
}

impl Kind {
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
