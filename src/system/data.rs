//! The bytes of a run's copies: where they come from, and whether what arrives is what was sent.

use super::request::{PayloadSink, PayloadSource};
use crate::{
    gpu::hbm::DeviceMemory,
    host::{Arrived, PrivateMemory, map},
    pcie::packet::Payload,
};
use std::{cell::RefCell, collections::VecDeque, fmt, io, rc::Rc, sync::Arc};

/// Bytes of a chunk that is read at once.
const CHUNK: u64 = 1 << 20;
/// Chunks of a copy that are kept.
const CHUNKS_KEPT: usize = 3;

/// One copy's bytes.
struct CopyBytes {
    bytes: u64,
    source: Box<dyn PayloadSource>,
    sink: Option<Box<dyn PayloadSink>>,
    chunks: VecDeque<(u64, Arc<Vec<u8>>)>,
    arrived: u64,
    damage: Option<String>,
}

impl fmt::Debug for CopyBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bytes arrived", self.arrived, self.bytes)
    }
}

impl CopyBytes {
    fn chunk(&mut self, number: u64) -> io::Result<Arc<Vec<u8>>> {
        if let Some((_, chunk)) = self.chunks.iter().find(|(n, _)| *n == number) {
            return Ok(Arc::clone(chunk));
        }
        let start = number * CHUNK;
        let length = CHUNK.min(self.bytes.saturating_sub(start)) as usize;
        let spent = if self.chunks.len() >= CHUNKS_KEPT { self.chunks.pop_front() } else { None };
        let mut bytes = spent.and_then(|(_, chunk)| Arc::try_unwrap(chunk).ok()).unwrap_or_default();
        bytes.resize(length, 0);
        self.source.read(start, &mut bytes)?;
        let chunk = Arc::new(bytes);
        self.chunks.push_back((number, Arc::clone(&chunk)));
        Ok(chunk)
    }

    fn load(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.each_part(offset, into.len(), |chunk, at, done, length| {
            into[done..done + length].copy_from_slice(&chunk[at..at + length]);
            true
        })?;
        Ok(())
    }

    /// Calls `each` with the parts of the source that lie in one chunk each, until it says no.
    fn each_part(
        &mut self,
        offset: u64,
        length: usize,
        mut each: impl FnMut(&[u8], usize, usize, usize) -> bool,
    ) -> io::Result<bool> {
        let mut done = 0;
        while done < length {
            let position = offset + done as u64;
            let chunk = self.chunk(position / CHUNK)?;
            let at = (position % CHUNK) as usize;
            let part = (length - done).min(chunk.len().saturating_sub(at));
            if part == 0 {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "past the end of the copy"));
            }
            if !each(&chunk, at, done, part) {
                return Ok(false);
            }
            done += part;
        }
        Ok(true)
    }

    fn deliver(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let same = self.each_part(offset, bytes.len(), |chunk, at, done, length| {
            chunk[at..at + length] == bytes[done..done + length]
        })?;
        if !same {
            self.damage.get_or_insert_with(|| damage(offset));
        }
        self.arrived += bytes.len() as u64;
        if self.arrived >= self.bytes {
            // Nothing asks for them again, and a run may have thousands of copies.
            self.chunks = VecDeque::new();
        }
        match &mut self.sink {
            Some(sink) => sink.put(offset, bytes),
            None => Ok(()),
        }
    }
}

/// Says that bytes at a place are wrong.
fn damage(offset: u64) -> String {
    format!("what arrived at byte {offset} is not what was sent")
}

/// The bytes of all copies, shared by the host's and the GPU's memory.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    copies: Vec<CopyBytes>,
    exact: bool,
    fault: Option<String>,
}

/// A ledger with several readers.
pub(super) type SharedLedger = Rc<RefCell<Ledger>>;

impl Ledger {
    pub fn new(exact: bool) -> Self {
        Self { copies: Vec::new(), exact, fault: None }
    }

    pub fn add(&mut self, bytes: u64, source: Box<dyn PayloadSource>, sink: Option<Box<dyn PayloadSink>>) {
        let chunks = VecDeque::new();
        self.copies.push(CopyBytes { bytes, source, sink, chunks, arrived: 0, damage: None });
    }

    /// Why the run cannot go on: bytes could not be read or kept.
    pub fn fault(&self) -> Option<&String> {
        self.fault.as_ref()
    }

    /// What is wrong with what arrived of a copy, if anything. Without data, the host says what has `arrived` there.
    pub fn complaint(&self, copy: usize, arrived: Option<Arrived>) -> Option<String> {
        let copy = self.copies.get(copy)?;
        let damage = arrived.and_then(|a| a.damaged).map(damage);
        let bytes = arrived.map_or(copy.arrived, |a| a.bytes);
        let missing = (bytes != copy.bytes).then(|| format!("{bytes} of {} bytes arrived", copy.bytes));
        copy.damage.clone().or(damage).or(missing)
    }

    fn note(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.fault.get_or_insert_with(|| error.to_string());
        }
    }
}

/// The host's private memory.
pub(super) struct HostBytes(pub SharedLedger);

impl PrivateMemory for HostBytes {
    fn load(&mut self, copy: usize, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let mut ledger = self.0.borrow_mut();
        let copy = ledger.copies.get_mut(copy).ok_or_else(|| io::Error::other("no such copy"))?;
        copy.load(offset, into)
    }

    fn store(&mut self, copy: usize, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut ledger = self.0.borrow_mut();
        let copy = ledger.copies.get_mut(copy).ok_or_else(|| io::Error::other("no such copy"))?;
        copy.deliver(offset, bytes)
    }
}

/// Copy and offset of an address in device memory.
fn place(address: u64) -> (usize, u64) {
    let base = if address >= map::DEVICE_COPY_BASE { map::DEVICE_COPY_BASE } else { map::DEVICE_BASE };
    let window = map::WINDOW.0;
    (((address - base) / window) as usize, (address - base) % window)
}

/// The GPU's memory.
#[derive(Debug)]
pub(super) struct DeviceBytes(pub SharedLedger);

impl DeviceMemory for DeviceBytes {
    fn store(&mut self, address: u64, bytes: u64, payload: &Payload, damaged: bool) {
        let mut ledger = self.0.borrow_mut();
        let exact = ledger.exact;
        let (copy, offset) = place(address);
        let Some(copy) = ledger.copies.get_mut(copy) else { return };
        if exact {
            let pieces = payload.bytes().unwrap_or_default();
            if pieces.len() as u64 != bytes {
                let length = pieces.len();
                copy.damage.get_or_insert_with(|| format!("{bytes} of {length} bytes were written at byte {offset}"));
            }
            let result = copy.deliver(offset, pieces);
            ledger.note(result);
        } else {
            copy.arrived += bytes;
            if damaged {
                copy.damage.get_or_insert_with(|| damage(offset));
            }
        }
    }

    fn load(&mut self, address: u64, bytes: u32) -> Payload {
        let mut ledger = self.0.borrow_mut();
        // Ciphertext between copy engines and SMs travels with the messages themselves.
        if !ledger.exact || address >= map::DEVICE_STAGING {
            return Payload::none();
        }
        let (number, offset) = place(address);
        let Some(copy) = ledger.copies.get_mut(number) else { return Payload::none() };
        let result = load_slice(copy, offset, u64::from(bytes));
        match result {
            Ok(payload) => payload,
            Err(error) => {
                ledger.note(Err(error));
                Payload::none()
            }
        }
    }
}

/// A slice of a chunk where the bytes lie in one, a copy of them where they do not.
fn load_slice(copy: &mut CopyBytes, offset: u64, bytes: u64) -> io::Result<Payload> {
    let at = offset % CHUNK;
    if at + bytes <= CHUNK {
        let chunk = copy.chunk(offset / CHUNK)?;
        return Ok(Payload::slice(&chunk, at, bytes));
    }
    let mut copied = vec![0; bytes as usize];
    copy.load(offset, &mut copied)?;
    Ok(Payload::of(copied))
}
