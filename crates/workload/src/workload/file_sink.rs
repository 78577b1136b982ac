//! A file that takes what arrives, in pieces of any order, and stands in its place only when all is right.
//!
//! Neighbours are joined before they are written. The rest is [`WholeFile`]'s.

use crate::files::WholeFile;
use std::{io, ops::Range, path::Path};

/// Bytes after which a run of neighbours is written.
const RUN: usize = 1 << 20;
const RUNS: usize = 16;

#[derive(Debug)]
pub struct OutputFile {
    file: WholeFile,
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
    /// Begins a file that is to be at `path`.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: WholeFile::create(path)?, runs: Vec::new() })
    }

    /// Takes bytes that belong at `offset`, in the place of what came there before.
    pub fn put(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.settle(offset..offset.saturating_add(bytes.len() as u64))?;
        let neighbour = self.runs.iter().position(|run| run.end() == offset);
        let mut run = match neighbour {
            Some(index) => self.runs.remove(index),
            None => Run { offset, bytes: self.spare()? },
        };
        run.bytes.extend_from_slice(bytes);
        if run.bytes.len() >= RUN {
            self.file.write_at(run.offset, &run.bytes)?;
            run.offset = run.end();
            run.bytes.clear();
        }
        self.runs.push(run);
        Ok(())
    }

    /// Writes the runs that hold some of `bytes`, so that what comes there later is written later.
    fn settle(&mut self, bytes: Range<u64>) -> io::Result<()> {
        let overlaps = |run: &Run| run.offset < bytes.end && bytes.start < run.end();
        while let Some(place) = self.runs.iter().position(overlaps) {
            let run = self.runs.remove(place);
            self.file.write_at(run.offset, &run.bytes)?;
        }
        Ok(())
    }

    /// An empty buffer, that of the run that has not grown for longest if there are many.
    fn spare(&mut self) -> io::Result<Vec<u8>> {
        if self.runs.len() < RUNS {
            return Ok(Vec::new());
        }
        let mut run = self.runs.remove(0);
        self.file.write_at(run.offset, &run.bytes)?;
        run.bytes.clear();
        Ok(run.bytes)
    }

    /// Puts the file in its place. If that fails, the target stays as it was.
    pub fn keep(mut self) -> io::Result<()> {
        for run in std::mem::take(&mut self.runs) {
            self.file.write_at(run.offset, &run.bytes)?;
        }
        self.file.keep()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Generator;
    use std::fs;

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn what_comes_last_is_what_lies_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut output = OutputFile::create(&path).unwrap();
        for (offset, byte) in [(0, 1), (8, 2), (4, 3), (12, 4), (8, 5), (2, 6)] {
            output.put(offset, &[byte; 4]).unwrap();
        }
        output.keep().unwrap();
        assert_eq!(fs::read(&path).unwrap(), [1, 1, 6, 6, 6, 6, 3, 3, 5, 5, 5, 5, 4, 4, 4, 4]);
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
}
