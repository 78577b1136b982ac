//! Why there is no page.

use crate::files::json_fault;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum PageError {
    #[error("not JSON: {0}")]
    NotJson(String),
    /// JSON, but of nothing that a page shows.
    #[error("not the results of a verb that a page can show: {0}")]
    Unknown(String),
    /// The results of a run that failed.
    #[error("the results of a run that failed, which has no figures: {0}")]
    FailedRun(String),
    /// Of a version with other fields.
    #[error("its schema_version is {found}, this version of sealsim shows {known}")]
    OtherVersion {
        found: u64,
        /// The one that is shown.
        known: u32,
    },
    /// It lacks a field that its kind has, or a field holds something else.
    #[error("it looks like the JSON of `sealsim {verb}`, but is not as that prints it: {reason}")]
    Malformed { verb: &'static str, reason: String },
}

impl PageError {
    pub(super) fn not_json(error: serde_json::Error) -> Self {
        Self::NotJson(json_fault(&error))
    }
}
