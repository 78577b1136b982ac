//! Files of a folder that are whole or not there.

use super::folder_error::FolderError;
use crate::files::{self, WholeFile};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// A file that takes its name when it is whole, written through a buffer.
pub(super) struct Partial(pub BufWriter<WholeFile>);

impl Partial {
    pub fn create(path: &Path) -> Result<Self, FolderError> {
        Ok(Self(BufWriter::new(WholeFile::create(path)?)))
    }

    /// Gives the file its name.
    pub fn finish(self) -> Result<(), FolderError> {
        Ok(self.0.into_inner().map_err(io::IntoInnerError::into_error)?.keep()?)
    }
}

impl Write for Partial {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes a file whole or not at all.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    Ok(files::write_whole(path, bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_that_is_not_finished_leaves_the_old_one_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("points.csv");
        write_whole(&path, b"old").unwrap();
        let mut partial = Partial::create(&path).unwrap();
        partial.write_all(b"new").unwrap();
        drop(partial);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let mut partial = Partial::create(&path).unwrap();
        partial.write_all(b"newer").unwrap();
        partial.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"newer");
        let lost = write_whole(&folder.path().join("nowhere/points.csv"), b"").unwrap_err();
        assert!(lost.to_string().contains("nowhere/points.csv: "), "{lost}");
    }
}
