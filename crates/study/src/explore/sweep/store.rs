//! One store of what is finished: a file with a line of JSON for each point, added as they end. What it holds need not be done again, however
//! the process ended that did it.
//!
//! Lines stay in their file: of a point, memory holds no more than its identity and where its line is. A line is written whole before the next, so a
//! kill cuts the last one short at most, and the next process drops that. A file with lines that are not as they were written is set aside, and the others are
//! taken from it.

use super::folder_error::{FolderError, failed};
use super::lines::{each_line, sealed};
use crate::table::{PointId, PointRow};
use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions, TryLockError},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// An open store. It is locked against other processes while it is open.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    file: File,
    length: u64,
    /// By point: where its line begins, and how long it is.
    done: HashMap<PointId, (u64, u32)>,
    /// The file that was there, if some of its lines were not as they were written.
    pub(super) damaged: Option<Damaged>,
}

/// A file of rows that was not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    pub path: PathBuf,
    pub why: String,
}

impl Store {
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let mut store = Self::empty(path)?;
        let mut done = HashMap::new();
        let lines = each_line(path, &store.file, &mut |line| {
            let id = line.read(PointRow::id_of_json)?;
            done.insert(id, (line.start, line.text.len() as u32));
            Ok(())
        })?;
        if let Some(altered) = lines.altered {
            let aside = set_aside(path)?;
            let mut whole = Self::empty(path)?;
            each_line(&aside, File::open(&aside).map_err(failed(&aside))?, &mut |line| {
                whole.append(line.read(PointRow::id_of_json)?, line.text.as_bytes())
            })?;
            whole.damaged = Some(Damaged { path: aside, why: altered.to_string() });
            return Ok(whole);
        }
        store.file.set_len(lines.length).map_err(failed(path))?;
        (store.length, store.done) = (lines.length, done);
        Ok(store)
    }

    /// A store of which nothing has been read, locked.
    fn empty(path: &Path) -> Result<Self, FolderError> {
        let mut options = OpenOptions::new();
        let file = options.create(true).read(true).append(true).open(path).map_err(failed(path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(FolderError::InUse { path: path.display().to_string() }),
            Err(TryLockError::Error(error)) => return Err(failed(path)(error)),
        }
        Ok(Self { path: path.to_owned(), file, length: 0, done: HashMap::new(), damaged: None })
    }

    /// Opens a store in a folder, or makes both. A file that holds anything but lines of points is set aside.
    pub fn of_whatever(path: &Path) -> Result<Self, FolderError> {
        let folder = path.parent().unwrap_or_else(|| Path::new(""));
        fs::create_dir_all(folder).map_err(failed(folder))?;
        match Self::open(path) {
            Err(error) if error.is_damage() => {
                set_aside(path)?;
                Self::open(path)
            }
            store => store,
        }
    }

    pub fn has(&self, id: PointId) -> bool {
        self.done.contains_key(&id)
    }

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
    ) -> Result<Option<T>, FolderError> {
        let Some(&(start, length)) = self.done.get(&id) else { return Ok(None) };
        let mut line = vec![0; length as usize];
        let mut file = &self.file;
        file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(&mut line)).map_err(failed(&self.path))?;
        let wrong = |error| FolderError::Line { path: self.path.display().to_string(), line: 0, error };
        read(&line).map(Some).map_err(wrong)
    }

    /// Adds the line of a point, if it is new, and sees it to the file. If that fails, what was written before is still there.
    pub fn add(
        &mut self,
        id: PointId,
        line: impl FnOnce() -> Result<Vec<u8>, serde_json::Error>,
    ) -> Result<(), FolderError> {
        if self.has(id) {
            return Ok(());
        }
        let mut line = sealed(line().map_err(|error| failed(&self.path)(error.into()))?);
        line.push(b'\n');
        self.append(id, &line)
    }

    fn append(&mut self, id: PointId, line: &[u8]) -> Result<(), FolderError> {
        if let Err(error) = self.file.write_all(line) {
            // Half a line would be taken for a kill's; without it the file is as it was.
            let _ = self.file.set_len(self.length);
            return Err(failed(&self.path)(error));
        }
        self.done.insert(id, (self.length, line.len() as u32));
        self.length += line.len() as u64;
        Ok(())
    }

    pub fn sync(&self) -> Result<(), FolderError> {
        self.file.sync_data().map_err(failed(&self.path))
    }
}

/// Gives a file a name under which it is no store, in the place of an earlier one; the name.
pub fn set_aside(path: &Path) -> Result<PathBuf, FolderError> {
    let aside = path.with_extension("damaged");
    fs::rename(path, &aside).map_err(failed(path))?;
    Ok(aside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_memory_holds_of_a_point_that_has_run_has_a_fixed_size() {
        // Identity and place of the line. Hash tables of the standard library are at least seven sixteenths full after they have
        // grown, and take one byte more per slot.
        let slot = size_of::<(PointId, (u64, u32))>();
        assert!((slot + 1) * 16 / 7 <= 96, "{slot}");
    }
}
