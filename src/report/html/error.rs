//! Why there is no page.

use crate::files::json_fault;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum PageError {
    #[error("not JSON: {0}")]
    NotJson(String),
    #[error("not the results of a verb that a page can show: {0}")]
    Unknown(String),
    #[error("the results of a run that failed, which has no figures: {0}")]
    FailedRun(String),
    #[error("its schema_version is {found}, this version of sealsim shows {known}")]
    OtherVersion { found: u64, known: u32 },
    #[error("it looks like the JSON of `sealsim {verb}`, but is not as that prints it: {reason}")]
    Malformed { verb: &'static str, reason: String },
}

impl PageError {
    pub(super) fn not_json(error: serde_json::Error) -> Self {
        Self::NotJson(json_fault(&error))
    }
}
