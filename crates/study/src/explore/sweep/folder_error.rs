//! What can be wrong with the folder of a sweep.

use crate::explore::simulator::simulator;
use crate::files::{ReadError, json_fault};
use crate::table::PointId;
use std::{io, path::Path};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum FolderError {
    /// It cannot be read or written.
    #[error("{path}: {error}{}", kept(error))]
    InputOutput { path: String, error: io::Error },
    /// A file of it cannot be written, which the error names.
    #[error("{error}{}", kept(error))]
    File {
        #[from]
        error: io::Error,
    },
    /// What it says of itself is no text of a fit length.
    #[error(transparent)]
    Record(ReadError),
    #[error("{path} holds results of study `{other}`, or of an earlier form of this one: nothing was changed")]
    OtherStudy { path: String, other: String },
    #[error("{path} was written by sealsim {version}, this is {}: its points may not compare", simulator())]
    OtherVersion { path: String, version: String },
    #[error("{path} is not empty and holds no study")]
    Foreign { path: String },
    #[error("{path} holds no study: run `sealsim sweep` into it first")]
    NoStudy { path: String },
    /// A line that is no result, though not the last one.
    #[error("{path}, line {line}: {}", json_fault(error))]
    Line {
        path: String,
        /// From 1.
        line: usize,
        error: serde_json::Error,
    },
    /// Lines that somebody has changed, or that are of a version that wrote no digests.
    #[error("{path}, line {line}{}, is not as it was written: its digest is another, or none", others_too(*others))]
    Altered {
        path: String,
        /// The first of them, from 1.
        line: usize,
        others: usize,
    },
    #[error("{path}, line {line}: point {id} is none of this study")]
    Stranger {
        path: String,
        /// From 1.
        line: usize,
        id: PointId,
    },
    #[error("{path} is in use by another sweep")]
    InUse { path: String },
}

impl FolderError {
    /// Whether a file of rows holds anything but rows of its study.
    pub(super) fn is_damage(&self) -> bool {
        match self {
            Self::Line { .. } | Self::Altered { .. } | Self::Stranger { .. } => true,
            // No UTF-8, or a line longer than any row.
            Self::InputOutput { error, .. } => error.kind() == io::ErrorKind::InvalidData,
            _ => false,
        }
    }
}

fn others_too(others: usize) -> String {
    if others == 0 { String::new() } else { format!(" (and {others} more)") }
}

/// What to do about a file that cannot grow.
fn kept(error: &io::Error) -> &'static str {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    match error.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => {
            "; all points that were done are kept: make room and run the same command again to go on"
        }
        _ => "",
    }
}

/// Says of which file an error is.
pub(super) fn failed(path: &Path) -> impl Fn(io::Error) -> FolderError + use<> {
    let path = path.display().to_string();
    move |error| FolderError::InputOutput { path: path.clone(), error }
}
