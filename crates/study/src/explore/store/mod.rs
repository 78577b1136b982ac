//! One store of what is finished: a file with a line of JSON for each point, added as they end. What it holds need not be done again, however
//! the process ended that did it.
//!
//! Lines stay in their file: of a point, memory holds no more than its identity and where its line is. A line is written whole before the next, so a
//! kill cuts the last one short at most, and the next process drops that.

mod lines;

pub use lines::{BoundedLines, LONGEST_LINE, Line, each_line};

use crate::{
    files::excerpt,
    table::{PointId, PointRow},
};
use std::{
    collections::HashMap,
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};
use thiserror::Error;

/// What can be wrong with a store.
#[derive(Debug, Error)]
pub enum StoreError {
    /// It cannot be read or written.
    #[error("{path}: {error}{}", kept(error))]
    InputOutput { path: String, error: io::Error },
    /// A line that is no result, though not the last one.
    #[error("{path}, line {line}: {}", excerpt(&error.to_string(), 200))]
    Line {
        path: String,
        /// From 1.
        line: usize,
        error: serde_json::Error,
    },
    /// Another process writes there.
    #[error("{path} is in use by another sweep")]
    InUse { path: String },
}

/// An open store. It is locked against other processes while it is open.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    file: File,
    /// Bytes of whole lines.
    length: u64,
    /// By point: where its line begins, and how long it is.
    done: HashMap<PointId, (u64, u32)>,
}

impl StoreError {
    /// Whether the store holds anything but whole lines of JSON.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Line { .. } => true,
            // No UTF-8, or a line longer than any.
            Self::InputOutput { error, .. } => error.kind() == io::ErrorKind::InvalidData,
            Self::InUse { .. } => false,
        }
    }
}

impl Store {
    /// Opens a store, or makes it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let mut options = OpenOptions::new();
        let file = options.create(true).read(true).append(true).open(path).map_err(failed(path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::InUse { path: path.display().to_string() }),
            Err(TryLockError::Error(error)) => return Err(failed(path)(error)),
        }
        let mut done = HashMap::new();
        let length = each_line(path, &file, &mut |line| {
            let id = line.read(PointRow::id_of_json)?;
            done.insert(id, (line.start, line.text.len() as u32));
            Ok::<_, StoreError>(())
        })?;
        file.set_len(length).map_err(failed(path))?;
        Ok(Self { path: path.to_owned(), file, length, done })
    }

    /// Whether a point is finished.
    pub fn has(&self, id: PointId) -> bool {
        self.done.contains_key(&id)
    }

    /// How many points are finished.
    pub fn len(&self) -> usize {
        self.done.len()
    }

    pub fn is_empty(&self) -> bool {
        self.done.is_empty()
    }

    /// The line of a point, as `read` reads it, if it is finished.
    pub fn line<T>(
        &self,
        id: PointId,
        read: impl Fn(&[u8]) -> Result<T, serde_json::Error>,
    ) -> Result<Option<T>, StoreError> {
        let Some(&(start, length)) = self.done.get(&id) else { return Ok(None) };
        let mut line = vec![0; length as usize];
        let mut file = &self.file;
        file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(&mut line)).map_err(failed(&self.path))?;
        let wrong = |error| StoreError::Line { path: self.path.display().to_string(), line: 0, error };
        read(&line).map(Some).map_err(wrong)
    }

    /// Adds the line of a point, if it is new, and sees it to the file.
    ///
    /// # Errors
    /// If it cannot be written; what was written before is still there.
    pub fn add(
        &mut self,
        id: PointId,
        line: impl FnOnce() -> Result<Vec<u8>, serde_json::Error>,
    ) -> Result<(), StoreError> {
        if self.has(id) {
            return Ok(());
        }
        let mut line = line().map_err(|error| failed(&self.path)(error.into()))?;
        line.push(b'\n');
        if let Err(error) = self.file.write_all(&line) {
            // Half a line would be taken for a kill's; without it the file is as it was.
            let _ = self.file.set_len(self.length);
            return Err(failed(&self.path)(error));
        }
        self.done.insert(id, (self.length, line.len() as u32));
        self.length += line.len() as u64;
        Ok(())
    }

    /// Waits until all lines are on the disk.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.file.sync_data().map_err(failed(&self.path))
    }
}

/// What to do about a file that cannot grow.
pub(super) fn kept(error: &io::Error) -> &'static str {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    match error.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => {
            "; all points that were done are kept: make room and run the same command again to go on"
        }
        _ => "",
    }
}

/// Says of which file an error is.
pub(super) fn failed(path: &Path) -> impl Fn(io::Error) -> StoreError + use<> {
    let path = path.display().to_string();
    move |error| StoreError::InputOutput { path: path.clone(), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_full_is_named_as_such_and_says_that_nothing_is_lost() {
        let full = failed(Path::new("results/points.jsonl"))(io::Error::from(io::ErrorKind::StorageFull));
        assert!(full.to_string().contains("all points that were done are kept"), "{full}");
        let other = failed(Path::new("results"))(io::Error::from(io::ErrorKind::PermissionDenied));
        assert!(!other.to_string().contains("kept"), "{other}");
    }

    #[test]
    fn what_memory_holds_of_a_point_that_has_run_has_a_fixed_size() {
        // Identity and place of the line. Hash tables of the standard library are at least seven sixteenths full after they have
        // grown, and take one byte more per slot.
        let slot = size_of::<(PointId, (u64, u32))>();
        assert!((slot + 1) * 16 / 7 <= 96, "{slot}");
    }
}
