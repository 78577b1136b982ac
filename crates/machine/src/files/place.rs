//! Where a path leads.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Most links on the way, as on Linux.
const LINKS: usize = 40;

/// Where a file that is written to `path` comes to lie: links resolved, also those that lead to no file yet.
///
/// # Errors
/// If its folder does not exist, or links lead in a circle.
pub fn destination(path: &Path) -> io::Result<PathBuf> {
    if let Ok(there) = path.canonicalize() {
        return Ok(there);
    }
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Ok(link) = fs::read_link(&path) else {
            let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "names no file"))?;
            return Ok(folder_of(&path).canonicalize()?.join(name));
        };
        path = folder_of(&path).join(link);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("leads over more than {LINKS} links")))
}

/// The folder that a path names a file in.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Which of the process's own streams `path` is, if it is one: replaced by a file, what is printed there would be lost.
#[cfg(unix)]
pub fn standard_stream(path: &Path) -> Option<&'static str> {
    use std::os::{
        fd::AsFd,
        unix::fs::{FileTypeExt, MetadataExt},
    };
    let known = path.metadata().ok().filter(|known| !known.file_type().is_char_device())?;
    let (out, err) = (io::stdout(), io::stderr());
    [("standard output", out.as_fd()), ("standard error", err.as_fd())].into_iter().find_map(|(name, stream)| {
        let stream = fs::File::from(stream.try_clone_to_owned().ok()?).metadata().ok()?;
        ((stream.dev(), stream.ino()) == (known.dev(), known.ino())).then_some(name)
    })
}

/// Which of the process's own streams `path` is, if it is one. Nothing says so here.
#[cfg(not(unix))]
pub fn standard_stream(_: &Path) -> Option<&'static str> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_there_lies_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().canonicalize().unwrap().join("new");
        fs::create_dir(folder.path().join("sub")).unwrap();
        assert_eq!(destination(&folder.path().join("sub/../new")).unwrap(), place);
        assert!(destination(&folder.path().join("absent/new")).is_err());
        assert!(destination(&folder.path().join("absent/..")).is_err());
        assert_eq!(standard_stream(&place), None);
    }
}
