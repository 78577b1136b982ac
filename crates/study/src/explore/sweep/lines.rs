//! Lines of points and rows, from files and from standard input: any number of them, none longer than a bound. A line that is kept ends with a digest of the
//! rest of it, so that what has been changed since is not taken for a result.

use super::folder_error::{FolderError, failed};
use crate::units::Bytes;
use sha2::{Digest, Sha256};
use std::{
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

pub const LONGEST_LINE: Bytes = Bytes(1 << 20);

/// A stream that ends with an error where a line grows longer than [`LONGEST_LINE`], so that what has no lines is not read into memory.
#[derive(Debug)]
pub struct BoundedLines<R> {
    stream: R,
    length: u64,
}

impl<R> BoundedLines<R> {
    pub const fn new(stream: R) -> Self {
        Self { stream, length: 0 }
    }
}

impl<R: Read> Read for BoundedLines<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(into)?;
        for piece in into[..read].split_inclusive(|byte| *byte == b'\n') {
            self.length += piece.len() as u64;
            if self.length > LONGEST_LINE.0 {
                let what = format!("a line longer than {LONGEST_LINE}, which is the limit");
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
            if piece.ends_with(b"\n") {
                self.length = 0;
            }
        }
        Ok(read)
    }
}

/// A line of a file, with its end.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    pub path: &'a Path,
    pub text: &'a str,
    /// From 1.
    pub number: usize,
    pub start: u64,
}

impl Line<'_> {
    /// What `read` makes of it.
    pub fn read<T>(&self, read: impl Fn(&[u8]) -> Result<T, serde_json::Error>) -> Result<T, FolderError> {
        let wrong = |error| FolderError::Line { path: self.path.display().to_string(), line: self.number, error };
        read(self.text.as_bytes()).map_err(wrong)
    }
}

/// What is before a line's digest: of so many bytes of SHA-256.
const SEAL: &str = ",\"digest\":\"";
const SEAL_BYTES: usize = 16;

/// An object as a line of JSON without its end, with a digest of it as its last field.
pub fn sealed(mut object: Vec<u8>) -> Vec<u8> {
    let digest = hex::encode(&Sha256::digest(&object)[..SEAL_BYTES]);
    object.pop();
    object.extend(format!("{SEAL}{digest}\"}}").bytes());
    object
}

/// Whether a line is as [`sealed`] has made it.
fn is_sealed(line: &str) -> bool {
    let parts = line.trim_end().strip_suffix("\"}").and_then(|line| line.rsplit_once(SEAL));
    parts.is_some_and(|(said, digest)| {
        hex::encode(&Sha256::new().chain_update(said).chain_update("}").finalize()[..SEAL_BYTES]) == digest
    })
}

pub struct Lines {
    /// Where the last one ends: one that is cut short, by a kill, is none.
    pub length: u64,
    /// Those that are not as they were written.
    pub altered: Option<FolderError>,
}

/// Calls `take` with each whole line of a file that is as it was written.
pub fn each_line(
    path: &Path,
    file: impl Read,
    take: &mut dyn FnMut(Line<'_>) -> Result<(), FolderError>,
) -> Result<Lines, FolderError> {
    let (mut reader, mut text) = (BufReader::new(BoundedLines::new(file)), String::new());
    let (mut start, mut number, mut altered) = (0, 0, None);
    while reader.read_line(&mut text).map_err(failed(path))? > 0 && text.ends_with('\n') {
        number += 1;
        if is_sealed(&text) {
            take(Line { path, text: &text, number, start })?;
        } else if !text.trim().is_empty() {
            let (first, others) = altered.map_or((number, 0), |(first, others)| (first, others + 1));
            altered = Some((first, others));
        }
        start += text.len() as u64;
        text.clear();
    }
    let path = || path.display().to_string();
    Ok(Lines {
        length: start,
        altered: altered.map(|(line, others)| FolderError::Altered { path: path(), line, others }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_bound_pass_whatever_their_number_and_a_longer_one_ends_the_stream() {
        let longest = "x".repeat(LONGEST_LINE.0 as usize - 1) + "\n";
        let read = |text: &str| io::read_to_string(BoundedLines::new(text.as_bytes())).map(|read| read == text);
        assert!(read(&longest.repeat(3)).unwrap());
        assert!(read(&format!("{longest}x{longest}")).unwrap_err().to_string().contains("longer than 1 MiB"));
        assert!(io::read_to_string(BoundedLines::new(io::repeat(0))).is_err());
    }
}
