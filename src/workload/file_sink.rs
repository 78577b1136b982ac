//! A file that takes what arrives and stands in its place only when all is right.
//!
//! Bytes go to a temporary file in the same directory. [`OutputFile::keep`] renames it onto the target; dropped before, it
//! goes away and the target is as it was. Pieces come in any order; neighbours are joined before they are written.

use std::{
    fs::{self, Permissions},
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

/// Bytes after which a run of neighbours is written.
const RUN: usize = 1 << 20;
/// Runs that grow at once.
const RUNS: usize = 16;

/// A file under way.
#[derive(Debug)]
pub struct OutputFile {
    target: PathBuf,
    temporary: NamedTempFile,
    /// The one that grew last at the end.
    runs: Vec<Run>,
}

#[derive(Debug)]
struct Run {
    offset: u64,
    bytes: Vec<u8>,
}

impl Run {
    fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }
}

impl OutputFile {
    /// Begins a file that is to stand at `path`.
    ///
    /// # Errors
    /// If `path` is something other than a regular file, or nothing can be written in its directory.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::begin(path).map_err(|error| at(path, &error))
    }

    fn begin(path: &Path) -> io::Result<Self> {
        let old = path.metadata();
        if old.as_ref().is_ok_and(|metadata| !metadata.is_file()) {
            let text = "is not a regular file; only such a file can be replaced in one step";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let permissions = old.ok().map(|metadata| metadata.permissions());
        if permissions.as_ref().is_some_and(Permissions::readonly) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "is read-only"));
        }
        // Through a symbolic link, what it points to is replaced and not the link.
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let name = target.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "names no file"))?;
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let temporary = builder(&format!(".{}.", name.display())).tempfile_in(folder)?;
        if let Some(permissions) = permissions {
            fs::set_permissions(temporary.path(), permissions)?;
        }
        Ok(Self { target, temporary, runs: Vec::new() })
    }

    /// Takes bytes that belong at `offset`.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn put(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let neighbour = self.runs.iter().position(|run| run.end() == offset);
        let mut run = match neighbour {
            Some(index) => self.runs.remove(index),
            None => Run { offset, bytes: self.spare()? },
        };
        run.bytes.extend_from_slice(bytes);
        if run.bytes.len() >= RUN {
            self.write(&run)?;
            run.offset = run.end();
            run.bytes.clear();
        }
        self.runs.push(run);
        Ok(())
    }

    /// An empty buffer, that of the run that has not grown for longest if there are many.
    fn spare(&mut self) -> io::Result<Vec<u8>> {
        if self.runs.len() < RUNS {
            return Ok(Vec::new());
        }
        let mut run = self.runs.remove(0);
        self.write(&run)?;
        run.bytes.clear();
        Ok(run.bytes)
    }

    fn write(&mut self, run: &Run) -> io::Result<()> {
        let file = self.temporary.as_file_mut();
        let written = file.seek(SeekFrom::Start(run.offset)).and_then(|_| file.write_all(&run.bytes));
        written.map_err(|error| at(&self.target, &error))
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// If what is left cannot be written or the file not be renamed. The target is then as it was.
    pub fn keep(mut self) -> io::Result<()> {
        for run in std::mem::take(&mut self.runs) {
            self.write(&run)?;
        }
        self.temporary.as_file().sync_all().map_err(|error| at(&self.target, &error))?;
        self.temporary.persist(&self.target).map_err(|error| at(&self.target, &error.error))?;
        Ok(())
    }
}

#[cfg(unix)]
fn builder(prefix: &str) -> tempfile::Builder<'_, 'static> {
    use std::os::unix::fs::PermissionsExt;
    let mut builder = tempfile::Builder::new();
    // As any new file: the umask takes its share.
    builder.prefix(prefix).suffix(".part").permissions(Permissions::from_mode(0o666));
    builder
}

#[cfg(not(unix))]
fn builder(prefix: &str) -> tempfile::Builder<'_, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(".part");
    builder
}

fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Generator;

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn pieces_in_any_order_give_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut whole = vec![0; 5_000_000];
        Generator::new(1, 0).fill(0, &mut whole);
        let mut output = OutputFile::create(&path).unwrap();
        // Stripes of 20 chunks that each grow by 4 KiB in turn: more than there are runs.
        let stripe = whole.len() / 20;
        for step in (0..stripe).step_by(4096) {
            for chunk in (0..20).rev() {
                let start = chunk * stripe + step;
                let end = (start + 4096).min((chunk + 1) * stripe);
                output.put(start as u64, &whole[start..end]).unwrap();
            }
            assert!(output.runs.len() <= RUNS);
        }
        assert!(!path.exists());
        output.keep().unwrap();
        assert!(fs::read(&path).unwrap() == whole);
        assert_eq!(names(folder.path()), ["out"]);
    }

    #[test]
    fn dropped_before_the_end_it_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        fs::write(&path, "old").unwrap();
        let mut output = OutputFile::create(&path).unwrap();
        output.put(0, &vec![1; 3 << 20]).unwrap();
        assert_eq!(names(folder.path()).len(), 2);
        drop(output);
        assert_eq!((fs::read(&path).unwrap(), names(folder.path()).len()), (b"old".to_vec(), 1));
    }

    #[test]
    fn what_cannot_be_replaced_in_one_step_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &Path| OutputFile::create(path).unwrap_err().to_string();
        assert!(refused(folder.path()).contains("not a regular file"));
        assert!(refused(&folder.path().join("none/out")).contains("none/out"));
        assert!(refused(Path::new("/dev/null")).contains("/dev/null: is not a regular file"));
        assert!(Path::new("/dev/null").metadata().is_ok_and(|metadata| !metadata.is_file()));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        let mut output = OutputFile::create(&link).unwrap();
        output.put(0, b"new").unwrap();
        output.keep().unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    }
}
