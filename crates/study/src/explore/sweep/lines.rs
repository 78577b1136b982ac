//! Lines of points and rows, from files and from standard input: any number of them, none longer than a bound.

use super::folder_error::{FolderError, failed};
use crate::units::Bytes;
use std::{
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

/// The longest line of points, rows and tables.
pub const LONGEST_LINE: Bytes = Bytes(1 << 20);

/// A stream that ends with an error where a line grows longer than [`LONGEST_LINE`], so that what has no lines is not read into memory.
#[derive(Debug)]
pub struct BoundedLines<R> {
    stream: R,
    /// Bytes since the last line ended.
    length: u64,
}

impl<R> BoundedLines<R> {
    /// Bounds the lines of a stream.
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
    /// Bytes before it.
    pub start: u64,
}

impl Line<'_> {
    /// What `read` makes of it.
    pub fn read<T>(&self, read: impl Fn(&[u8]) -> Result<T, serde_json::Error>) -> Result<T, FolderError> {
        let wrong = |error| FolderError::Line { path: self.path.display().to_string(), line: self.number, error };
        read(self.text.as_bytes()).map_err(wrong)
    }
}

/// Calls `take` with each whole line of a file, and says where the last one ends: one that is cut short, by a kill, is none.
pub fn each_line(
    path: &Path,
    file: impl Read,
    take: &mut dyn FnMut(Line<'_>) -> Result<(), FolderError>,
) -> Result<u64, FolderError> {
    let (mut reader, mut text) = (BufReader::new(BoundedLines::new(file)), String::new());
    let (mut start, mut number) = (0, 0);
    while reader.read_line(&mut text).map_err(failed(path))? > 0 && text.ends_with('\n') {
        number += 1;
        take(Line { path, text: &text, number, start })?;
        start += text.len() as u64;
        text.clear();
    }
    Ok(start)
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
