//! A file that takes its name when it is whole, and leaves what was there as it was until then.
//!
//! Bytes go to a hidden file in the same folder, `.NAME.sealsim-XXXXXX.part`, which [`WholeFile::keep`] renames onto the target. Dropped
//! before, it is removed. A process that is killed cannot remove it: the next one that writes into the folder does.
//!
//! What distinguishes an orphan from the file of a live process is an advisory lock (`flock`) that its writer holds. The system drops the lock
//! with the process, however it ends; a process number in the name could be that of another process by now. A lock is taken after the file
//! is made, so a new file may be taken for an orphan in between: its writer then finds it locked or gone, and makes another. Where a
//! file system has no locks, nothing is removed.
//!
//! What writes as it goes may be given a pipe or a device as well, which nothing can replace: its bytes go straight there.

use super::{
    note_unfinished,
    place::{destination, folder_of},
};
use std::{
    fs::{self, File, Permissions, TryLockError},
    io::{self, BufWriter, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

/// What is between the name of the target and a random part.
const MARK: &str = ".sealsim-";
const RANDOM: usize = 6;
const ENDING: &str = ".part";
/// Bytes of the target's name that are kept: with all else, less than the 255 that a file system allows.
const NAME: usize = 200;
/// Times that another process may take a new file for an orphan.
const ATTEMPTS: usize = 16;

/// A file in progress. Its errors name the target as it was given.
#[derive(Debug)]
pub struct WholeFile {
    /// As it was given.
    shown: PathBuf,
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// A hidden file, where it is to be, and whether it may replace what is there.
    Hidden(NamedTempFile, PathBuf, bool),
    /// A pipe or a device.
    Straight(File),
}

impl WholeFile {
    /// Begins a file that is to be at `path`; behind a symbolic link, where the link leads.
    ///
    /// # Errors
    /// If `path` is something other than a regular file, or nothing can be written in its folder.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::begin(path, true).map_err(|error| at(path, &error))
    }

    /// As [`WholeFile::create`], where nothing is, now and when it is whole.
    pub fn create_new(path: &Path) -> io::Result<Self> {
        Self::begin(path, false).map_err(|error| at(path, &error))
    }

    /// As [`WholeFile::create`], or straight into what is no regular file.
    pub fn create_or_open(path: &Path) -> io::Result<Self> {
        if !path.metadata().is_ok_and(|known| !known.is_file()) {
            return Self::create(path);
        }
        let file = File::options().write(true).open(path).map_err(|error| at(path, &error))?;
        Ok(Self { shown: path.to_owned(), place: Place::Straight(file) })
    }

    fn begin(path: &Path, replaces: bool) -> io::Result<Self> {
        if !replaces && path.symlink_metadata().is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let old = path.metadata();
        if old.as_ref().is_ok_and(|metadata| !metadata.is_file()) {
            let text = "is not a regular file; only such a file can be replaced in one step";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let permissions = old.ok().map(|metadata| metadata.permissions());
        if permissions.as_ref().is_some_and(Permissions::readonly) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "is read-only"));
        }
        let target = destination(path)?;
        let name = target.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "names no file"))?;
        let folder = folder_of(&target);
        remove_orphans(folder);
        let temporary = temporary(folder, &name.to_string_lossy())?;
        note_unfinished(temporary.path());
        if let Some(permissions) = permissions {
            temporary.as_file().set_permissions(permissions)?;
        }
        Ok(Self { shown: path.to_owned(), place: Place::Hidden(temporary, target, replaces) })
    }

    /// Where the bytes are until the file is whole.
    pub fn temporary(&self) -> &Path {
        match &self.place {
            Place::Hidden(temporary, ..) => temporary.path(),
            Place::Straight(_) => &self.shown,
        }
    }

    fn file(&mut self) -> &mut File {
        match &mut self.place {
            Place::Hidden(temporary, ..) => temporary.as_file_mut(),
            Place::Straight(file) => file,
        }
    }

    pub fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.seek(SeekFrom::Start(offset))?;
        self.write_all(bytes)
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// If it cannot be renamed. The target is then as it was.
    pub fn keep(self) -> io::Result<()> {
        let Place::Hidden(temporary, target, replaces) = self.place else { return Ok(()) };
        temporary.as_file().sync_all().map_err(|error| at(&self.shown, &error))?;
        let kept = if replaces { temporary.persist(&target) } else { temporary.persist_noclobber(&target) };
        kept.map(|_| ()).map_err(|error| at(&self.shown, &error.error))
    }

    /// Puts a file in its place that was written through a buffer.
    pub fn keep_buffered(file: BufWriter<Self>) -> io::Result<()> {
        file.into_inner().map_err(io::IntoInnerError::into_error)?.keep()
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes).map_err(|error| at(&self.shown, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for WholeFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file().seek(to).map_err(|error| at(&self.shown, &error))
    }
}

/// Writes a file whole or not at all.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = WholeFile::create(path)?;
    file.write_all(bytes)?;
    file.keep()
}

/// Whether a file of this name is one in progress, or was.
pub fn is_under_way(name: &str) -> bool {
    let random = name.strip_prefix('.').and_then(|name| name.strip_suffix(ENDING)?.rsplit_once(MARK));
    random.is_some_and(|(_, random)| random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// A new hidden file, locked.
fn temporary(folder: &Path, name: &str) -> io::Result<NamedTempFile> {
    let kept = (0..=name.len().min(NAME)).rev().find(|&end| name.is_char_boundary(end)).unwrap_or(0);
    let prefix = format!(".{}{MARK}", &name[..kept]);
    for _ in 0..ATTEMPTS {
        let file = builder(&prefix).rand_bytes(RANDOM).suffix(ENDING).tempfile_in(folder)?;
        // Without locks on this file system, nobody removes it either.
        let taken = matches!(file.as_file().try_lock(), Err(TryLockError::WouldBlock));
        if !taken && file.path().exists() {
            return Ok(file);
        }
    }
    Err(io::Error::other("other processes keep removing new files in this folder"))
}

#[cfg(unix)]
fn builder(prefix: &str) -> tempfile::Builder<'_, 'static> {
    use std::os::unix::fs::PermissionsExt;
    let mut builder = tempfile::Builder::new();
    // As any new file: the umask takes its share.
    builder.prefix(prefix).permissions(Permissions::from_mode(0o666));
    builder
}

#[cfg(not(unix))]
fn builder(prefix: &str) -> tempfile::Builder<'_, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    builder
}

/// Removes what processes have left that are gone. What cannot be looked at or removed does no harm.
fn remove_orphans(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let ours = is_under_way(&entry.file_name().to_string_lossy());
        if !ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let Ok(file) = File::options().read(true).write(true).open(entry.path()) else { continue };
        // The lock is held until the file is gone.
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_dead_process_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let live = WholeFile::create(&path("live")).unwrap();
        let live_name = live.temporary().file_name().unwrap().to_str().unwrap().to_owned();
        let others =
            [".out.backup.part", ".out.sealsim-abc.part", "out.sealsim-abcdef.part", ".sealsim-abcdef.part.txt"];
        others.iter().for_each(|name| fs::write(path(name), "mine").unwrap());
        fs::write(path(".out.sealsim-abcdef.part"), "an orphan").unwrap();
        fs::create_dir(path(".dir.sealsim-abcdef.part")).unwrap();
        write_whole(&path("new"), b"new").unwrap();
        let mut expected = others.map(str::to_owned).to_vec();
        expected.extend([live_name, "new".into(), ".dir.sealsim-abcdef.part".into()]);
        expected.sort();
        assert_eq!(names(folder.path()), expected);
        live.keep().unwrap();
        assert!(path("live").exists());
    }

    #[test]
    fn dropped_before_it_is_whole_it_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        write_whole(&path, b"old").unwrap();
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        assert_eq!(names(folder.path()).len(), 2);
        drop(file);
        assert_eq!((fs::read(&path).unwrap(), names(folder.path()).len()), (b"old".to_vec(), 1));
        write_whole(&path, b"newer").unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(folder.path()).len()), (b"newer".to_vec(), 1));
    }

    #[test]
    fn what_cannot_be_replaced_in_one_step_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &Path| WholeFile::create(path).unwrap_err().to_string();
        assert!(refused(folder.path()).contains("not a regular file"));
        assert!(refused(&folder.path().join("none/out")).contains("none/out"));
        assert!(refused(Path::new("/dev/null")).contains("/dev/null: is not a regular file"));
        assert!(Path::new("/dev/null").metadata().is_ok_and(|metadata| !metadata.is_file()));
    }

    #[test]
    fn a_name_as_long_as_names_may_be_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ä".repeat(127));
        write_whole(&path, b"x").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"x");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_nothing_gets_what_it_points_to() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("sub")).unwrap();
        symlink("sub/second", path("first")).unwrap();
        symlink("../file", path("sub/second")).unwrap();
        write_whole(&path("first"), b"new").unwrap();
        assert!(path("first").symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read(path("file")).unwrap(), b"new");
        symlink("round", path("round")).unwrap();
        assert!(write_whole(&path("round"), b"").unwrap_err().to_string().contains("links"));
        symlink("absent/file", path("lost")).unwrap();
        assert!(write_whole(&path("lost"), b"").unwrap_err().to_string().contains("lost: "));
        assert!(path("lost").symlink_metadata().unwrap().is_symlink());
    }
}
