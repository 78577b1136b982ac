//! A file of records that is written as they come: whole at the end, or not there. It may be a pipe.
//!
//! If it cannot be written any further, nothing more is taken.

use super::WholeFile;
use std::{
    io::{self, Write},
    path::Path,
};

/// Bytes after which records are written.
const RUN: usize = 1 << 20;

#[derive(Debug)]
pub struct RecordFile {
    file: WholeFile,
    /// Whole records that are yet to be written.
    buffer: Vec<u8>,
    trouble: Option<io::Error>,
}

impl RecordFile {
    /// A file that is to be at `path`, in the place of what is there.
    pub fn create(path: &Path) -> io::Result<Self> {
        WholeFile::create_or_open(path).map(Self::of)
    }

    /// A file that is to be at `path`, where nothing is.
    pub fn create_new(path: &Path) -> io::Result<Self> {
        WholeFile::create_new(path).map(Self::of)
    }

    const fn of(file: WholeFile) -> Self {
        Self { file, buffer: Vec::new(), trouble: None }
    }

    /// Takes a record, as `write` writes it. It is lost if the file is in trouble.
    pub fn record(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if self.trouble.is_some() {
            return;
        }
        write(&mut self.buffer);
        if self.buffer.len() >= RUN {
            self.flush();
        }
    }

    pub const fn in_trouble(&self) -> bool {
        self.trouble.is_some()
    }

    /// Writes what is left, and puts the file in its place.
    pub fn close(mut self) -> io::Result<()> {
        self.flush();
        self.trouble.map_or_else(|| self.file.keep(), Err)
    }

    fn flush(&mut self) {
        if self.trouble.is_none() {
            self.trouble = self.file.write_all(&self.buffer).err();
        }
        self.buffer.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn records_are_in_order_in_a_file_that_is_whole_or_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records");
        let mut file = RecordFile::create(&path).unwrap();
        let expected: Vec<u8> = (0..3_000u32).flat_map(|n| vec![n as u8; 1_000]).collect();
        for n in 0..3_000u32 {
            file.record(|buffer| buffer.extend(vec![n as u8; 1_000]));
        }
        file.close().unwrap();
        let mut lost = RecordFile::create(&path).unwrap();
        lost.record(|buffer| buffer.resize(RUN, 1));
        drop(lost);
        assert!(fs::read(&path).unwrap() == expected);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
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
        let (first, second) = (RecordFile::create_new(&path).unwrap(), RecordFile::create_new(&path).unwrap());
        first.close().unwrap();
        assert_eq!(second.close().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
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
