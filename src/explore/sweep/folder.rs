//! A folder of results: which study it belongs to, and one line per point that has run.

use super::figures::Row;
use super::study::Study;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What a folder says of itself, in `study.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderRecord {
    /// The study's name.
    pub study: String,
    /// The study's digest.
    pub study_digest: String,
    /// The simulator that ran it.
    pub sealsim_version: String,
    /// The study's text.
    pub text: String,
    /// Columns of the table that are axes.
    pub axes: Vec<String>,
    /// Objectives: columns to be small, columns to be large.
    pub min: Vec<String>,
    /// See `min`.
    pub max: Vec<String>,
}

/// What can be wrong with a folder.
#[derive(Debug, Error)]
pub enum FolderError {
    /// It cannot be read or written.
    #[error("{path}: {error}")]
    InputOutput {
        /// What.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// It belongs to something else.
    #[error("{path} holds results of study `{other}`, or of an earlier form of this one: nothing was changed")]
    OtherStudy {
        /// The folder.
        path: String,
        /// Whose results.
        other: String,
    },
    /// Another version of the simulator wrote it.
    #[error("{path} was written by sealsim {version}, this is {}: its points may not compare", env!("CARGO_PKG_VERSION"))]
    OtherVersion {
        /// The folder.
        path: String,
        /// By which version.
        version: String,
    },
    /// Files that are no results.
    #[error("{path} is not empty and holds no study")]
    Foreign {
        /// The folder.
        path: String,
    },
    /// No results at all.
    #[error("{path} holds no study: run `sealsim sweep` into it first")]
    NoStudy {
        /// The folder.
        path: String,
    },
    /// A line that is no result, though not the last one.
    #[error("{path}, line {line}: {error}")]
    Line {
        /// The file.
        path: String,
        /// From 1.
        line: usize,
        /// What is wrong.
        error: serde_json::Error,
    },
    /// Another process writes there.
    #[error("{path} is in use by another sweep")]
    InUse {
        /// The folder.
        path: String,
    },
}

/// An open folder. It is locked against other sweeps while it is open for writing.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    lines: File,
    /// Lines by point.
    done: HashMap<String, Row>,
}

const RECORD: &str = "study.json";
const LINES: &str = "points.jsonl";

fn failed(path: &Path) -> impl Fn(io::Error) -> FolderError {
    let path = path.display().to_string();
    move |error| FolderError::InputOutput { path: path.clone(), error }
}

impl FolderRecord {
    /// Reads what a folder says of itself.
    ///
    /// # Errors
    /// If it says nothing, or nothing that can be read.
    pub fn read(folder: &Path) -> Result<Self, FolderError> {
        let path = folder.join(RECORD);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(FolderError::NoStudy { path: folder.display().to_string() });
            }
            Err(error) => return Err(failed(&path)(error)),
        };
        serde_json::from_str(&text).map_err(|error| FolderError::Line {
            path: path.display().to_string(),
            line: 1,
            error,
        })
    }

    fn of(study: &Study, text: &str) -> Self {
        let spec = &study.spec;
        Self {
            study: spec.name.clone(),
            study_digest: study.digest.clone(),
            sealsim_version: env!("CARGO_PKG_VERSION").to_owned(),
            text: text.to_owned(),
            axes: spec.axis.iter().map(|axis| axis.path.clone()).collect(),
            min: spec.objectives.min.clone(),
            max: spec.objectives.max.clone(),
        }
    }

    /// Whether results of `other` may lie beside those of `self`.
    fn agrees(&self, other: &Self, folder: &Path) -> Result<(), FolderError> {
        let path = folder.display().to_string();
        if self.sealsim_version != other.sealsim_version {
            return Err(FolderError::OtherVersion { path, version: other.sealsim_version.clone() });
        }
        if self.study_digest != other.study_digest {
            return Err(FolderError::OtherStudy { path, other: other.study.clone() });
        }
        Ok(())
    }
}

impl Folder {
    /// Opens a folder for a study, or makes it.
    ///
    /// # Errors
    /// If it holds anything else, is in use, or cannot be written.
    pub fn open(path: &Path, study: &Study, text: &str) -> Result<Self, FolderError> {
        let record = FolderRecord::of(study, text);
        fs::create_dir_all(path).map_err(failed(path))?;
        match FolderRecord::read(path) {
            Ok(known) => record.agrees(&known, path)?,
            Err(FolderError::NoStudy { .. }) => {
                let mut entries = fs::read_dir(path).map_err(failed(path))?;
                if entries.next().is_some() {
                    return Err(FolderError::Foreign { path: path.display().to_string() });
                }
                let json = serde_json::to_string_pretty(&record).map_err(|error| failed(path)(error.into()))?;
                write_whole(&path.join(RECORD), json.as_bytes())?;
            }
            Err(error) => return Err(error),
        }
        Self::attach(path)
    }

    fn attach(path: &Path) -> Result<Self, FolderError> {
        let file = path.join(LINES);
        let mut options = OpenOptions::new();
        let lines = options.create(true).read(true).append(true).open(&file).map_err(failed(&file))?;
        match lines.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(FolderError::InUse { path: path.display().to_string() }),
            Err(TryLockError::Error(error)) => return Err(failed(&file)(error)),
        }
        let mut folder = Self { path: path.to_owned(), lines, done: HashMap::new() };
        let whole = folder.read_lines(&file)?;
        folder.lines.set_len(whole).map_err(failed(&file))?;
        Ok(folder)
    }

    /// Reads all lines; gives the length of those that are whole. Only the last may be cut short, by a kill.
    fn read_lines(&mut self, file: &Path) -> Result<u64, FolderError> {
        self.lines.seek(SeekFrom::Start(0)).map_err(failed(file))?;
        let (mut whole, mut number) = (0, 0);
        let mut reader = BufReader::new(&self.lines);
        let mut line = String::new();
        while reader.read_line(&mut line).map_err(failed(file))? > 0 {
            number += 1;
            if !line.ends_with('\n') {
                break;
            }
            let row: Row = serde_json::from_str(&line).map_err(|error| FolderError::Line {
                path: file.display().to_string(),
                line: number,
                error,
            })?;
            self.done.insert(row.point.id.clone(), row);
            whole += line.len() as u64;
            line.clear();
        }
        Ok(whole)
    }

    /// What is known of a point.
    #[must_use]
    pub fn row(&self, id: &str) -> Option<&Row> {
        self.done.get(id)
    }

    /// Adds a row, if it is new, and sees it to the file.
    ///
    /// # Errors
    /// If it cannot be written; what was written before is still there.
    pub fn add(&mut self, row: Row) -> Result<(), FolderError> {
        if self.done.contains_key(&row.point.id) {
            return Ok(());
        }
        let file = self.path.join(LINES);
        let json = serde_json::to_string(&row).map_err(|error| failed(&file)(error.into()))?;
        let before = self.lines.metadata().map_err(failed(&file))?.len();
        if let Err(error) = self.lines.write_all(format!("{json}\n").as_bytes()).and_then(|()| self.lines.flush()) {
            // Half a line would be taken for a kill's; without it the file is as it was.
            let _ = self.lines.set_len(before);
            return Err(failed(&file)(error));
        }
        self.done.insert(row.point.id.clone(), row);
        Ok(())
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Writes a file beside its place and renames it, so that it is whole or not there.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed(path))?;
    file.write_all(bytes).and_then(|()| file.flush()).map_err(failed(path))?;
    file.persist(path).map_err(|error| failed(path)(error.error))?;
    Ok(())
}
