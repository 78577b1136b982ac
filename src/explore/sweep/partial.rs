//! Files that are whole or not there.

use super::folder::{FolderError, failed};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// What the name of a file ends with until it is whole. One that a kill has left is overwritten.
pub(super) const ENDING: &str = ".partial";

/// A file that takes its name when it is whole. Dropped before, it is removed.
pub(super) struct Partial {
    out: Option<BufWriter<File>>,
    path: PathBuf,
}

impl Partial {
    pub fn create(path: &Path) -> Result<Self, FolderError> {
        let file = File::create(beside(path)).map_err(failed(path))?;
        Ok(Self { out: Some(BufWriter::new(file)), path: path.to_owned() })
    }

    /// Gives the file its name.
    pub fn finish(mut self) -> Result<(), FolderError> {
        self.flush().and_then(|()| fs::rename(beside(&self.path), &self.path)).map_err(failed(&self.path))?;
        self.out = None;
        Ok(())
    }
}

impl Write for Partial {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.as_mut().map_or(Ok(bytes.len()), |out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if self.out.take().is_some() {
            // What is left of it does no harm: it is no result, and overwritten by the next attempt.
            let _ = fs::remove_file(beside(&self.path));
        }
    }
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ENDING);
    PathBuf::from(name)
}

/// Writes a file whole or not at all.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    let mut file = Partial::create(path)?;
    file.write_all(bytes).map_err(failed(path))?;
    file.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        write_whole(&path, b"newer").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"newer");
        assert!(write_whole(&folder.path().join("nowhere/points.csv"), b"").is_err());
    }
}
