//! A file of records that is written as they come. Whenever the writer ends, what was complete by then stays and can be read.
//!
//! It may be a pipe. If it cannot be written any further, it is cut behind its last whole record, and nothing more is taken.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Bytes after which records are written.
const RUN: usize = 1 << 20;

#[derive(Debug)]
pub struct RecordFile {
    /// As it was given.
    shown: PathBuf,
    file: File,
    /// Bytes of whole records in the file.
    written: u64,
    /// Whole records that are yet to be written, and where each ends.
    buffer: Vec<u8>,
    ends: Vec<usize>,
    trouble: Option<io::Error>,
}

impl RecordFile {
    /// An empty file at `path`, in the place of what was there.
    pub fn create(path: &Path) -> io::Result<Self> {
        File::create(path).map(|file| Self::of(path, file)).map_err(|error| named(path, &error))
    }

    /// An empty file at `path`, where nothing was.
    pub fn create_new(path: &Path) -> io::Result<Self> {
        File::create_new(path).map(|file| Self::of(path, file)).map_err(|error| named(path, &error))
    }

    fn of(path: &Path, file: File) -> Self {
        Self { shown: path.to_owned(), file, written: 0, buffer: Vec::new(), ends: Vec::new(), trouble: None }
    }

    /// Takes a record, as `write` writes it. It is lost if the file is in trouble.
    pub fn record(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if self.trouble.is_some() {
            return;
        }
        write(&mut self.buffer);
        self.ends.push(self.buffer.len());
        if self.buffer.len() >= RUN {
            self.flush();
        }
    }

    /// Whether it cannot be written any more.
    pub const fn in_trouble(&self) -> bool {
        self.trouble.is_some()
    }

    /// Writes what is left.
    pub fn close(mut self) -> io::Result<()> {
        self.flush();
        self.trouble.take().map_or(Ok(()), Err)
    }

    fn flush(&mut self) {
        let mut done = 0;
        while done < self.buffer.len() && self.trouble.is_none() {
            match self.file.write(&self.buffer[done..]) {
                Ok(0) => self.fail(done, &io::ErrorKind::WriteZero.into()),
                Ok(more) => done += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => self.fail(done, &error),
            }
        }
        self.written += done as u64;
        self.buffer.clear();
        self.ends.clear();
    }

    /// Cuts the file behind the last record that is whole among `done` bytes more. A pipe stays as it is.
    fn fail(&mut self, done: usize, error: &io::Error) {
        let whole = self.ends.iter().rev().find(|end| **end <= done).copied().unwrap_or(0);
        _ = self.file.set_len(self.written + whole as u64);
        self.trouble = Some(named(&self.shown, error));
    }
}

impl Drop for RecordFile {
    fn drop(&mut self) {
        self.flush();
    }
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn records_stay_in_order_whenever_the_writer_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records");
        let mut file = RecordFile::create(&path).unwrap();
        let expected: Vec<u8> = (0..3_000u32).flat_map(|n| vec![n as u8; 1_000]).collect();
        for n in 0..3_000u32 {
            file.record(|buffer| buffer.extend(vec![n as u8; 1_000]));
        }
        drop(file);
        assert!(fs::read(&path).unwrap() == expected);
    }

    #[test]
    fn a_file_that_cannot_be_made_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none/records");
        assert!(RecordFile::create(&path).unwrap_err().to_string().contains("none/records"));
    }

    #[test]
    fn a_new_file_takes_no_other_ones_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records");
        drop(RecordFile::create_new(&path).unwrap());
        assert_eq!(RecordFile::create_new(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told_once_and_takes_nothing_more() {
        let mut file = RecordFile::create(Path::new("/dev/full")).unwrap();
        file.record(|buffer| buffer.resize(RUN, 1));
        assert!(file.in_trouble());
        file.record(|buffer| buffer.push(2));
        assert!(file.close().unwrap_err().to_string().starts_with("/dev/full: "));
    }
}
