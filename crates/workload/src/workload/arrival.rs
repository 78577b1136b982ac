//! What has arrived of a copy: seen by the machine as a sink, and by the caller of the copy.
//!
//! Whatever a machine makes of bytes that cannot be read or kept, [`Arrival::trouble`] knows why.

use super::{file_sink::OutputFile, ordered::Ordered};
use crate::system::{PayloadSink, PayloadSource};
use std::{cell::RefCell, io, rc::Rc};
use thiserror::Error;

/// One copy's arrivals. [`Arrival::sink`] gives the machine's end of it.
#[derive(Debug, Clone, Default)]
pub struct Arrival(Rc<RefCell<State>>);

#[derive(Debug, Default)]
struct State {
    bytes: u64,
    hash: Option<Ordered>,
    output: Option<OutputFile>,
    trouble: Option<String>,
}

impl State {
    fn note(&mut self, result: io::Result<()>) -> io::Result<()> {
        if let Err(error) = &result {
            self.trouble.get_or_insert_with(|| error.to_string());
        }
        result
    }
}

/// Why what arrived could not be kept.
#[derive(Debug, Error)]
#[error("output {0}")]
pub struct ArrivalError(#[from] io::Error);

impl Arrival {
    /// Counts what arrives; with `digest` takes its SHA-256, with `output` writes it there.
    pub fn new(digest: bool, output: Option<OutputFile>) -> Self {
        let hash = digest.then(Ordered::default);
        Self(Rc::new(RefCell::new(State { hash, output, ..State::default() })))
    }

    /// The end that takes bytes.
    pub fn sink(&self) -> Box<dyn PayloadSink> {
        Box::new(Sink(Rc::clone(&self.0)))
    }

    /// The end that gives bytes: `source`, with its errors noted.
    pub fn watch(&self, source: Box<dyn PayloadSource>) -> Box<dyn PayloadSource> {
        Box::new(Watched { source, state: Rc::clone(&self.0) })
    }

    /// Why bytes could not be read or kept, if so.
    pub fn trouble(&self) -> Option<String> {
        self.0.borrow().trouble.clone()
    }

    pub fn bytes(&self) -> u64 {
        self.0.borrow().bytes
    }

    /// SHA-256 in hexadecimal, if it was asked for and exactly the first `bytes` bytes have arrived.
    pub fn sha256(&self, bytes: u64) -> Option<String> {
        self.0.borrow().hash.as_ref().and_then(|hash| hash.digest(bytes))
    }

    /// Puts the output in its place if `delivered`, else forgets it.
    pub fn close(&self, delivered: bool) -> Result<(), ArrivalError> {
        let output = self.0.borrow_mut().output.take().filter(|_| delivered);
        Ok(output.map_or(Ok(()), OutputFile::keep)?)
    }
}

struct Sink(Rc<RefCell<State>>);

impl PayloadSink for Sink {
    fn put(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        state.bytes += bytes.len() as u64;
        if let Some(hash) = &mut state.hash {
            hash.put(offset, bytes);
        }
        let Some(output) = &mut state.output else { return Ok(()) };
        let result = output.put(offset, bytes);
        state.note(result.map_err(|error| io::Error::new(error.kind(), format!("output {error}"))))
    }
}

struct Watched {
    source: Box<dyn PayloadSource>,
    state: Rc<RefCell<State>>,
}

impl PayloadSource for Watched {
    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let result = self.source.read(offset, into);
        self.state.borrow_mut().note(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn bytes_are_counted_hashed_and_written_and_kept_only_if_delivered() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        for delivered in [false, true] {
            let arrival = Arrival::new(true, Some(OutputFile::create(&path).unwrap()));
            let mut sink = arrival.sink();
            sink.put(2, b"c").unwrap();
            sink.put(0, b"ab").unwrap();
            assert_eq!(arrival.bytes(), 3);
            assert_eq!(arrival.sha256(4), None);
            assert!(arrival.sha256(3).unwrap().starts_with("ba7816bf"));
            arrival.close(delivered).unwrap();
            assert_eq!(fs::read(&path).ok(), delivered.then(|| b"abc".to_vec()));
        }
    }

    #[test]
    fn a_source_that_fails_is_remembered() {
        struct Broken;
        impl PayloadSource for Broken {
            fn read(&mut self, offset: u64, _: &mut [u8]) -> io::Result<()> {
                Err(io::Error::other(format!("no byte {offset}")))
            }
        }
        let arrival = Arrival::default();
        let mut source = arrival.watch(Box::new(Broken));
        assert_eq!(arrival.trouble(), None);
        assert!(source.read(5, &mut [0]).is_err() && source.read(6, &mut [0]).is_err());
        assert_eq!(arrival.trouble().as_deref(), Some("no byte 5"));
    }
}
