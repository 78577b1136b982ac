//! Text of a bounded length from a file or a stream.
//!
//! Every reader of a whole text goes through here, so that an endless file, a directory, another encoding or a line of a megabyte ends
//! the same way everywhere: soon, and in one short sentence.

use crate::units::Bytes;
use std::{
    fs,
    io::{self, Read},
    path::Path,
};
use thiserror::Error;

/// A text with a capital, as a sentence or a label begins.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Why a text was not read.
#[derive(Debug, Error)]
pub enum ReadError {
    #[error("{name}: {error}")]
    Unreadable {
        /// What was to be read.
        name: String,
        /// What the system said.
        error: io::Error,
    },
    #[error("{name}: is {what}, not a file")]
    NoFile { name: String, what: &'static str },
    /// It is longer than its reader accepts; no more than that was read.
    #[error("{name}: longer than {limit}, which is the limit for such a file")]
    TooLong { name: String, limit: Bytes },
    #[error("{name}: not UTF-8 text (line {line}, byte {byte} of the file)")]
    NotText {
        name: String,
        /// The line, from 1.
        line: usize,
        /// The byte, from 0.
        byte: usize,
    },
    #[error("{name}: begins with a byte-order mark; save it as UTF-8 without one")]
    ByteOrderMark { name: String },
}

impl ReadError {
    /// Whether the system refused, and not the content.
    pub const fn is_input_output(&self) -> bool {
        matches!(self, Self::Unreadable { .. } | Self::NoFile { .. })
    }
}

pub fn read_text(path: &Path, limit: Bytes) -> Result<String, ReadError> {
    let name = path.display().to_string();
    if let Some(what) = no_file(path) {
        return Err(ReadError::NoFile { name, what });
    }
    match fs::File::open(path) {
        Ok(file) => read_text_from(file, &name, limit),
        Err(error) => Err(ReadError::Unreadable { name, error }),
    }
}

/// What a path leads to that is not to be read: a directory, or a pipe that has a name of its own, into which nobody may ever write. Those of a shell,
/// `<(command)`, have none.
pub fn no_file(path: &Path) -> Option<&'static str> {
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_fifo(&path.metadata().ok()?.file_type()) && path.canonicalize().is_ok() {
        return Some("a named pipe");
    }
    path.is_dir().then_some("a directory")
}

/// Reads a stream of at most `limit` bytes, which messages call `name`.
pub fn read_text_from(stream: impl Read, name: &str, limit: Bytes) -> Result<String, ReadError> {
    let name = || name.to_owned();
    let mut bytes = Vec::new();
    let read = stream.take(limit.0.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| ReadError::Unreadable { name: name(), error })?;
    if bytes.len() as u64 > limit.0 {
        return Err(ReadError::TooLong { name: name(), limit });
    }
    // UTF-16 has a mark of its own, and is not UTF-8 behind it either.
    if [&b"\xef\xbb\xbf"[..], b"\xff\xfe", b"\xfe\xff"].iter().any(|mark| bytes.starts_with(mark)) {
        return Err(ReadError::ByteOrderMark { name: name() });
    }
    String::from_utf8(bytes).map_err(|error| {
        let byte = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..byte].iter().filter(|&&byte| byte == b'\n').count() + 1;
        ReadError::NotText { name: name(), line, byte }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<String, String> {
        read_text_from(bytes, "it", Bytes(8)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_text_of_the_limit_is_read_and_one_byte_more_is_refused() {
        assert_eq!(read(b"12345678").unwrap(), "12345678");
        assert_eq!(read(b"123456789").unwrap_err(), "it: longer than 8 B, which is the limit for such a file");
    }

    #[test]
    fn an_endless_stream_ends_at_the_limit() {
        let refused = read_text_from(io::repeat(b'x'), "it", Bytes(1 << 16));
        assert!(matches!(refused, Err(ReadError::TooLong { .. })));
    }

    #[test]
    fn other_encodings_are_named() {
        assert_eq!(read(b"a\n\xff").unwrap_err(), "it: not UTF-8 text (line 2, byte 2 of the file)");
        for mark in [&b"\xef\xbb\xbfa"[..], b"\xff\xfea\0"] {
            assert!(read(mark).unwrap_err().contains("byte-order mark"));
        }
    }

    #[test]
    fn a_directory_is_named_as_one() {
        let folder = tempfile::tempdir().unwrap();
        let refused = read_text(folder.path(), Bytes(8)).unwrap_err();
        assert!(refused.is_input_output() && refused.to_string().ends_with("is a directory, not a file"));
    }
}
