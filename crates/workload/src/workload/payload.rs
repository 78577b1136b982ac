//! A file whose bytes are copied.

use super::file_source::FileSource;
use sha2::{Digest, Sha256};
use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};
use thiserror::Error;

/// A payload file, as it was when it was first looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    pub path: PathBuf,
    pub size: u64,
}

#[derive(Debug, Error)]
pub enum PayloadError {
    #[error("payload {}: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("payload {} is {what}: give a regular file, whose size is known", path.display())]
    NotRegular { path: PathBuf, what: &'static str },
    #[error("interrupted while reading payload {}", path.display())]
    Interrupted { path: PathBuf },
}

impl Payload {
    /// Looks at the file at `path` without reading it.
    pub fn find(path: &Path) -> Result<Self, PayloadError> {
        let unreadable = |error| PayloadError::Unreadable { path: path.to_owned(), error };
        let metadata = path.metadata().map_err(unreadable)?;
        if !metadata.is_file() {
            let what = if metadata.is_dir() { "a directory" } else { "a device or a pipe" };
            return Err(PayloadError::NotRegular { path: path.to_owned(), what });
        }
        File::open(path).map_err(unreadable)?;
        Ok(Self { path: path.to_owned(), size: metadata.len() })
    }

    pub fn open(&self) -> Result<FileSource, PayloadError> {
        FileSource::open(&self.path).map_err(|error| PayloadError::Unreadable { path: self.path.clone(), error })
    }

    /// SHA-256 of the whole file in hexadecimal. `stop` is asked now and then whether to give up.
    pub fn sha256(&self, stop: &dyn Fn() -> bool) -> Result<String, PayloadError> {
        let unreadable = |error| PayloadError::Unreadable { path: self.path.clone(), error };
        let mut file = File::open(&self.path).map_err(unreadable)?;
        let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
        loop {
            if stop() {
                return Err(PayloadError::Interrupted { path: self.path.clone() });
            }
            match file.read(&mut buffer) {
                Ok(0) => return Ok(hex::encode(hash.finalize())),
                Ok(count) => hash.update(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_regular_files_are_payloads() {
        let folder = tempfile::tempdir().unwrap();
        let missing = Payload::find(&folder.path().join("none")).unwrap_err().to_string();
        assert!(missing.contains("none: "), "{missing}");
        let directory = Payload::find(folder.path()).unwrap_err().to_string();
        assert!(directory.contains("is a directory"), "{directory}");
    }

    #[test]
    fn the_digest_is_that_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("abc"), "abc").unwrap();
        let payload = Payload::find(&folder.path().join("abc")).unwrap();
        assert_eq!(payload.size, 3);
        // FIPS 180-4, appendix B.1.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(payload.sha256(&|| false).unwrap(), abc);
        assert!(matches!(payload.sha256(&|| true), Err(PayloadError::Interrupted { .. })));
    }
}
