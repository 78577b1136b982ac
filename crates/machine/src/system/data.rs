//! The bytes of a run's copies: where they come from, and whether what arrives is what was sent.
//!
//! A copy has arrived if every byte of it was written, and if what lies there at the end is what lay at its source. The end is what counts: a
//! wrong byte that is written again rightly is right, and a right one that is written again wrongly is wrong.

use super::request::{PayloadSink, PayloadSource};
use crate::{
    gpu::{hbm::DeviceMemory, work::JobId},
    host::{PrivateMemory, map},
    pcie::packet::Payload,
    sim::{Coverage, Signals},
};
use std::{
    cell::RefCell,
    collections::{BTreeMap, VecDeque},
    fmt, io,
    ops::Range,
    rc::Rc,
    sync::Arc,
};

/// Bytes of a chunk that is read at once.
const CHUNK: u64 = 1 << 20;
/// Chunks of a copy that are kept.
const CHUNKS_KEPT: usize = 3;

struct CopyBytes {
    bytes: u64,
    source: Box<dyn PayloadSource>,
    sink: Option<Box<dyn PayloadSink>>,
    chunks: VecDeque<(u64, Arc<Vec<u8>>)>,
    arrived: Coverage,
    /// What lies there and is not what was sent.
    wrong: BTreeMap<u64, u64>,
    /// The first write that reached beyond the copy.
    stray: Option<Range<u64>>,
}

impl fmt::Debug for CopyBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bytes arrived", self.arrived.covered(), self.bytes)
    }
}

/// Takes `bytes` out of ranges, which are kept as ends by beginnings.
fn cut_out(ranges: &mut BTreeMap<u64, u64>, bytes: &Range<u64>) {
    while let Some((&start, &end)) = ranges.range(..bytes.end).next_back().filter(|(_, end)| **end > bytes.start) {
        ranges.remove(&start);
        ranges.extend([(start, bytes.start), (bytes.end, end)].into_iter().filter(|(from, to)| from < to));
    }
}

/// The runs of bytes that differ, counted from the first byte of both.
fn differences(a: &[u8], b: &[u8]) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    for place in (0..a.len().min(b.len())).filter(|&place| a[place] != b[place]).map(|place| place as u64) {
        match runs.last_mut().filter(|run| run.end == place) {
            Some(run) => run.end += 1,
            None => runs.push(place..place + 1),
        }
    }
    runs
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

    /// Takes bytes that message or job `by` has written.
    fn deliver(&mut self, offset: u64, bytes: &[u8], by: u64) -> io::Result<()> {
        let length = self.within(offset, bytes.len() as u64);
        let bytes = &bytes[..length as usize];
        let mut wrong = Vec::new();
        self.each_part(offset, bytes.len(), |chunk, at, done, length| {
            let (sent, came) = (&chunk[at..at + length], &bytes[done..done + length]);
            if sent != came {
                let start = offset + done as u64;
                wrong.extend(differences(sent, came).into_iter().map(|run| start + run.start..start + run.end));
            }
            true
        })?;
        if !self.wrong.is_empty() {
            cut_out(&mut self.wrong, &(offset..offset + length));
        }
        self.wrong.extend(wrong.into_iter().map(|run| (run.start, run.end)));
        self.arrived.add(offset, length, by);
        if self.arrived.gap(self.bytes).is_none() {
            // Nothing asks for them again but a fault, and a run may have thousands of copies.
            self.chunks = VecDeque::new();
        }
        match &mut self.sink {
            Some(sink) => sink.put(offset, bytes),
            None => Ok(()),
        }
    }

    /// How many of so many bytes from `offset` on belong to the copy; those beyond are noted.
    fn within(&mut self, offset: u64, bytes: u64) -> u64 {
        let length = self.bytes.saturating_sub(offset).min(bytes);
        if length < bytes {
            self.stray.get_or_insert(offset + length..offset.saturating_add(bytes));
        }
        length
    }

    /// What is wrong with what lies there, if anything, where `arrived` has been written.
    fn complaint(&self, arrived: &Coverage) -> Option<String> {
        let wrong = self.wrong.keys().next();
        let wrong = wrong.map(|offset| format!("what arrived at byte {offset} is not what was sent"));
        let again = Some(arrived.to_string()).filter(|again| !again.is_empty());
        let gap = arrived.gap(self.bytes);
        let gap = gap.filter(|_| !planted::balances(arrived, self.bytes));
        let missing = gap.map(|gap| {
            let but = again.map_or(String::new(), |again| format!(", but {again}"));
            format!("bytes {} to {} of {} have not arrived{but}", gap.start, gap.end - 1, self.bytes)
        });
        let stray = self.stray.as_ref().map(|stray| format!("bytes were written at {}, beyond its end", stray.start));
        wrong.or(missing).or(stray)
    }
}

/// A fault of the simulator for tests of every crate, to see that they find it: a delivery that counts the sum of what came.
#[doc(hidden)]
pub mod planted {
    use crate::sim::Coverage;
    use std::cell::Cell;

    thread_local!(static COUNTS_SUMS: Cell<bool> = const { Cell::new(false) });

    /// Plants it on this thread, or takes it away.
    pub fn count_sums(planted: bool) {
        COUNTS_SUMS.set(planted);
    }

    /// Whether it is planted and takes what came for all `bytes` bytes.
    pub(super) fn balances(arrived: &Coverage, bytes: u64) -> bool {
        let again: u64 = arrived.rewritten().iter().map(|again| again.bytes.end - again.bytes.start).sum();
        COUNTS_SUMS.get() && arrived.covered() + again == bytes
    }
}

/// The bytes of all copies, shared by the host's and the GPU's memory.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    copies: Vec<CopyBytes>,
    exact: bool,
    fault: Option<String>,
    signals: Option<Signals>,
}

/// A ledger with several readers.
pub(super) type SharedLedger = Rc<RefCell<Ledger>>;

impl Ledger {
    pub fn new(exact: bool) -> Self {
        Self { copies: Vec::new(), exact, fault: None, signals: None }
    }

    /// Tells of what ends the run from now on.
    pub fn report_to(&mut self, signals: Signals) {
        self.signals = Some(signals);
    }

    pub fn add(&mut self, bytes: u64, source: Box<dyn PayloadSource>, sink: Option<Box<dyn PayloadSink>>) {
        let chunks = VecDeque::new();
        let (arrived, wrong) = (Coverage::default(), BTreeMap::new());
        self.copies.push(CopyBytes { bytes, source, sink, chunks, arrived, wrong, stray: None });
    }

    /// Why the run cannot go on: bytes could not be read or kept.
    pub fn fault(&self) -> Option<&String> {
        self.fault.as_ref()
    }

    /// What has arrived of each copy, where private memory carries bytes.
    pub fn arrivals(&self) -> impl Iterator<Item = &Coverage> {
        self.copies.iter().map(|copy| &copy.arrived)
    }

    /// What is wrong with what arrived of a copy, if anything. Where private memory carries no bytes, the host says what has `arrived` there.
    pub fn complaint(&self, copy: usize, arrived: Option<&Coverage>) -> Option<String> {
        let copy = self.copies.get(copy)?;
        copy.complaint(arrived.unwrap_or(&copy.arrived))
    }

    fn note(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            let fault = self.fault.get_or_insert_with(|| error.to_string());
            if let Some(signals) = &self.signals {
                signals.fail(fault);
            }
        }
    }
}

pub(super) struct HostBytes(pub SharedLedger);

impl PrivateMemory for HostBytes {
    fn load(&mut self, copy: usize, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let mut ledger = self.0.borrow_mut();
        let copy = ledger.copies.get_mut(copy).ok_or_else(|| io::Error::other("no such copy"))?;
        copy.load(offset, into)
    }

    fn store(&mut self, copy: usize, offset: u64, bytes: &[u8], by: u64) -> io::Result<()> {
        let mut ledger = self.0.borrow_mut();
        let copy = ledger.copies.get_mut(copy).ok_or_else(|| io::Error::other("no such copy"))?;
        copy.deliver(offset, bytes, by)
    }
}

/// Copy and offset of an address in device memory.
fn place(address: u64) -> (usize, u64) {
    let base = if address >= map::DEVICE_COPY_BASE { map::DEVICE_COPY_BASE } else { map::DEVICE_BASE };
    let window = map::WINDOW.0;
    (((address - base) / window) as usize, (address - base) % window)
}

#[derive(Debug)]
pub(super) struct DeviceBytes(pub SharedLedger);

impl DeviceMemory for DeviceBytes {
    fn store(&mut self, address: u64, bytes: u64, payload: &Payload, by: JobId) {
        let mut ledger = self.0.borrow_mut();
        let exact = ledger.exact;
        let (copy, offset) = place(address);
        let Some(copy) = ledger.copies.get_mut(copy) else { return };
        if exact {
            let result = copy.deliver(offset, payload.bytes().unwrap_or_default(), by);
            ledger.note(result);
        } else {
            let length = copy.within(offset, bytes);
            copy.arrived.add(offset, length, by);
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bytes that are all the same.
    struct Same(u8);

    impl PayloadSource for Same {
        fn read(&mut self, _offset: u64, into: &mut [u8]) -> io::Result<()> {
            into.fill(self.0);
            Ok(())
        }
    }

    proptest! {
        /// Held against what lies there, byte by byte.
        #[test]
        fn a_copy_is_right_if_all_of_it_is_there_and_right_at_the_end(
            writes in prop::collection::vec((0u64..40, prop::collection::vec(7u8..9, 0..12)), 0..40),
        ) {
            let mut ledger = Ledger::new(true);
            ledger.add(40, Box::new(Same(7)), None);
            let mut left = [None; 40];
            let mut beyond = false;
            for (offset, bytes) in &writes {
                ledger.copies[0].deliver(*offset, bytes, 1).unwrap();
                for (place, byte) in (*offset as usize..).zip(bytes) {
                    match left.get_mut(place) {
                        Some(left) => *left = Some(*byte),
                        None => beyond = true,
                    }
                }
            }
            let wrong = left.iter().position(|byte| *byte == Some(8));
            let complaint = ledger.complaint(0, None);
            prop_assert_eq!(complaint.is_none(), left == [Some(7); 40] && !beyond, "{:?}", complaint);
            if let Some(wrong) = wrong {
                prop_assert_eq!(complaint, Some(format!("what arrived at byte {wrong} is not what was sent")));
            }
        }
    }
}
