//! Bytes out of a file that may be larger than memory.
//!
//! A copy reads its source at several places at once: where it seals, and where what has arrived is compared. So a few
//! windows of the file are kept, the one longest unused making way.

use crate::system::PayloadSource;
use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

const WINDOW: usize = 256 << 10;
const WINDOWS: usize = 4;

#[derive(Debug)]
pub struct FileSource {
    path: PathBuf,
    file: File,
    /// The one used last at the end.
    windows: Vec<Window>,
}

#[derive(Debug)]
struct Window {
    number: u64,
    bytes: Vec<u8>,
}

impl FileSource {
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), file: File::open(path)?, windows: Vec::new() })
    }

    fn window(&mut self, number: u64) -> io::Result<&[u8]> {
        let window = match self.windows.iter().position(|window| window.number == number) {
            Some(known) => self.windows.remove(known),
            None => self.load(number)?,
        };
        self.windows.push(window);
        Ok(self.windows.last().map_or(&[], |window| &window.bytes))
    }

    /// Reads a window, up to the end of the file.
    fn load(&mut self, number: u64) -> io::Result<Window> {
        let free = (self.windows.len() >= WINDOWS).then(|| self.windows.remove(0).bytes);
        let mut bytes = free.unwrap_or_default();
        bytes.clear();
        self.file.seek(SeekFrom::Start(number * WINDOW as u64))?;
        Read::by_ref(&mut self.file).take(WINDOW as u64).read_to_end(&mut bytes)?;
        Ok(Window { number, bytes })
    }

    fn read_inner(&mut self, mut offset: u64, mut into: &mut [u8]) -> io::Result<()> {
        while !into.is_empty() {
            let within = (offset % WINDOW as u64) as usize;
            let (now, later) = into.split_at_mut(into.len().min(WINDOW - within));
            let bytes = self.window(offset / WINDOW as u64)?;
            let Some(bytes) = bytes.get(within..within + now.len()) else {
                let end = offset - within as u64 + bytes.len() as u64;
                let text = format!("ends at byte {end}: it has become shorter while it was read");
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
            };
            now.copy_from_slice(bytes);
            offset += now.len() as u64;
            into = later;
        }
        Ok(())
    }
}

impl PayloadSource for FileSource {
    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let result = self.read_inner(offset, into);
        result.map_err(|error| io::Error::new(error.kind(), format!("payload {}: {error}", self.path.display())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Generator;
    use proptest::prelude::*;
    use std::fs;

    fn generated(count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        Generator::new(1, 0).fill(0, &mut bytes);
        bytes
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn any_places_are_read_right_in_any_order(
            places in prop::collection::vec((0usize..1_900_000, 0usize..100_000), 1..20)
        ) {
            let folder = tempfile::tempdir().unwrap();
            let (path, whole) = (folder.path().join("file"), generated(2_000_000));
            fs::write(&path, &whole).unwrap();
            let mut source = FileSource::open(&path).unwrap();
            for (offset, count) in places {
                let mut piece = vec![0; count];
                source.read(offset as u64, &mut piece).unwrap();
                prop_assert_eq!(&piece[..], &whole[offset..offset + count]);
            }
            prop_assert!(source.windows.len() <= WINDOWS);
        }
    }

    #[test]
    fn a_file_that_became_shorter_is_an_error_that_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, generated(1000)).unwrap();
        let mut source = FileSource::open(&path).unwrap();
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(10).unwrap();
        let error = source.read(5, &mut [0; 20]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert!(error.to_string().contains("ends at byte 10"), "{error}");
    }
}
