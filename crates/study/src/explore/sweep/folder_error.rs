//! What can be wrong with the folder of a sweep.

use crate::explore::{
    simulator::simulator,
    store::{StoreError, kept},
};
use crate::files::ReadError;
use crate::table::PointId;
use std::io;
use thiserror::Error;

/// What can be wrong with a folder.
#[derive(Debug, Error)]
pub enum FolderError {
    /// Rows that cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file of it cannot be written, which the error names.
    #[error("{error}{}", kept(error))]
    File {
        #[from]
        error: io::Error,
    },
    /// What it says of itself is no text of a fit length.
    #[error(transparent)]
    Record(ReadError),
    /// It belongs to something else.
    #[error("{path} holds results of study `{other}`, or of an earlier form of this one: nothing was changed")]
    OtherStudy { path: String, other: String },
    /// Another version of the simulator wrote it.
    #[error("{path} was written by sealsim {version}, this is {}: its points may not compare", simulator())]
    OtherVersion { path: String, version: String },
    /// Files that are no results.
    #[error("{path} is not empty and holds no study")]
    Foreign { path: String },
    /// No results at all.
    #[error("{path} holds no study: run `sealsim sweep` into it first")]
    NoStudy { path: String },
    /// A row of another study.
    #[error("{path}, line {line}: point {id} is none of this study")]
    Stranger {
        path: String,
        /// From 1.
        line: usize,
        id: PointId,
    },
}

impl FolderError {
    /// Whether a file of rows holds anything but rows of its study.
    pub(super) fn is_damage(&self) -> bool {
        match self {
            Self::Store(error) => error.is_damage(),
            Self::Stranger { .. } => true,
            _ => false,
        }
    }
}
