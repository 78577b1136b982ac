//! What whole-machine tests share.

#![allow(dead_code, reason = "each file of tests uses its part")]

use sealsim::{
    config::{Layers, MachineSpec},
    sim::{Control, Injection, Kernel, Order},
    system::{
        self, CopyRequest, DataMode, Direction, Memory, Outcome, Pages, PayloadSink, PayloadSource, Request, RunError,
    },
};
use std::{cell::RefCell, io, rc::Rc};

/// Bytes that follow from their offset.
pub struct Pattern(pub u64);

impl PayloadSource for Pattern {
    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let (mut at, mut rest) = (offset, into);
        while !rest.is_empty() {
            let word = ((at / 8) ^ self.0).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
            let own = &word[(at % 8) as usize..];
            let (now, later) = rest.split_at_mut(own.len().min(rest.len()));
            now.copy_from_slice(&own[..now.len()]);
            (at, rest) = (at + now.len() as u64, later);
        }
        Ok(())
    }
}

/// Costs that hide the machine behind waiting, made small.
pub const QUICK: &[&str] = &[
    "driver.call=20 cycles",
    "driver.push=30 cycles",
    "driver.secure_push=40 cycles",
    "driver.completion=20 cycles",
    "driver.secure_completion=30 cycles",
    "cipher.per_message=10 cycles",
    "cipher.seal_rate=64 B/cycle",
    "cipher.open_rate=64 B/cycle",
    "driver.pageable_copy_rate=64 B/cycle",
    "copy_engine.fetch=20 cycles",
    "copy_engine.launch=10 cycles",
    "copy_engine.flush=20 cycles",
    "copy_engine.turnaround=10 cycles",
    "root_complex.read_latency=60 cycles",
    "root_complex.write_latency=20 cycles",
    "root_complex.secure_read_latency=0 cycles",
    "memory.llc_rate=1000000 B/cycle",
    "memory.dram_rate=1000000 B/cycle",
    "driver.launch=30 cycles",
    "link.flight=20 cycles",
    "hbm.write_latency=30 cycles",
    "hbm.read_latency=30 cycles",
];

/// Bytes with their offset.
type Piece = (u64, Vec<u8>);

/// What has been delivered, piece by piece.
#[derive(Clone, Default)]
pub struct Delivered(Rc<RefCell<Vec<Piece>>>);

impl PayloadSink for Delivered {
    fn put(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.borrow_mut().push((offset, bytes.to_vec()));
        Ok(())
    }
}

impl Delivered {
    /// Whether every piece is what `source` has at its place.
    pub fn agrees(&self, source: &mut dyn PayloadSource) -> bool {
        self.0.borrow().iter().all(|(offset, bytes)| {
            let mut expected = vec![0; bytes.len()];
            source.read(*offset, &mut expected).is_ok() && expected == *bytes
        })
    }

    /// Bytes delivered.
    pub fn bytes(&self) -> u64 {
        self.0.borrow().iter().map(|piece| piece.1.len() as u64).sum()
    }

    /// Whether they leave the first `bytes` bytes as `source` has them, whatever lay there in between.
    pub fn leave(&self, source: &mut dyn PayloadSource, bytes: u64) -> bool {
        let [mut left, mut written, mut expected] = [(); 3].map(|()| vec![0_u8; bytes as usize]);
        for (offset, piece) in self.0.borrow().iter() {
            let start = (*offset).min(bytes) as usize;
            let end = left.len().min(start + piece.len());
            left[start..end].copy_from_slice(&piece[..end - start]);
            written[start..end].fill(1);
        }
        source.read(0, &mut expected).is_ok() && left == expected && !written.contains(&0)
    }

    /// Whether the pieces cover the first `bytes` bytes once each.
    pub fn covers(&self, bytes: u64) -> bool {
        let mut pieces: Vec<_> = self.0.borrow().iter().map(|(offset, piece)| (*offset, piece.len() as u64)).collect();
        pieces.retain(|piece| piece.1 > 0);
        pieces.sort_unstable();
        let mut next = 0;
        pieces.iter().all(|&(offset, length)| std::mem::replace(&mut next, offset + length) == offset) && next == bytes
    }
}

/// A shipped machine with designs and settings, whether its engines close at their clock or not.
pub fn machine(name: &str, sets: &[&str]) -> MachineSpec {
    let layers = sets.iter().fold(Layers::new(name).set("engine.check=warn"), |layers, set| layers.set(*set));
    layers.resolve().unwrap_or_else(|error| panic!("{name} {sets:?}: {error}")).machine
}

/// A machine with `pces` PCEs for each direction and messages of `message` bytes, `in_push` of them in a push, all of which may be in flight.
pub fn with_pces(pces: u32, (message, in_push): (u64, u64), sets: &[&str]) -> MachineSpec {
    let own = [
        format!("copy_engine.pces_secure={pces}"),
        format!("copy_engine.messages_in_flight={}", 4 * pces),
        format!("tag_queue.depth={}", 4 * pces),
        format!("driver.pinned={{message=\"{message} B\",push=\"{} B\"}}", in_push * message),
        format!("driver.pageable={{message=\"{message} B\",push=\"{} B\"}}", 2 * message),
        format!("driver.push_d2h.pinned={} B", in_push * message),
    ];
    let all: Vec<_> = QUICK.iter().copied().chain(own.iter().map(String::as_str)).chain(sets.iter().copied()).collect();
    machine("h100-nvl-tdx", &all)
}

/// Nanoseconds from the first launch to the last semaphore.
pub fn on_device(outcome: &Outcome) -> f64 {
    let (begin, end) = outcome.copies[0].device.unwrap();
    (end.0 - begin.0) as f64 * 1e-6
}

/// A copy of generated bytes.
pub fn copy(direction: Direction, bytes: u64, memory: Memory) -> CopyRequest {
    let (buffer, pages, source) = (0, Pages::Warm, Box::new(Pattern(bytes)));
    CopyRequest { gpu: 0, direction, bytes, memory, buffer, buffer_bytes: bytes, pages, source, sink: None }
}

/// A run of some copies.
pub fn request(copies: Vec<CopyRequest>, data: DataMode, kernel: Kernel, order: Order) -> Request {
    Request { copies, program: Vec::new(), data, seed: 7, kernel, order, injections: Vec::new(), answers: false }
}

/// Runs to the end.
pub fn run(machine: &MachineSpec, request: Request) -> Result<Outcome, RunError> {
    system::run(machine, request, &mut |_| Control::Continue)
}

/// One pinned copy, with faults, on the skipping kernel.
pub fn one(machine: &MachineSpec, direction: Direction, bytes: u64, data: DataMode, faults: &[Injection]) -> Outcome {
    let mut request = request(vec![copy(direction, bytes, Memory::Pinned)], data, Kernel::Skip, Order::Ascending);
    request.injections = faults.to_vec();
    run(machine, request).unwrap()
}

/// Copies of these sizes, one after the other: what came of them, and of each whether all of its bytes arrived as they were sent.
pub fn sent(machine: &MachineSpec, direction: Direction, memory: Memory, sizes: &[u64]) -> (Outcome, Vec<bool>) {
    let sinks: Vec<_> = sizes.iter().map(|_| Delivered::default()).collect();
    let copies = sizes.iter().zip(&sinks).map(|(&bytes, sink)| {
        let mut copy = copy(direction, bytes, memory);
        copy.sink = Some(Box::new(sink.clone()));
        copy
    });
    let request = request(copies.collect(), DataMode::Exact, Kernel::Skip, Order::Ascending);
    let outcome = run(machine, request).unwrap();
    let whole = |(sink, &bytes): (&Delivered, &u64)| sink.covers(bytes) && sink.agrees(&mut Pattern(bytes));
    (outcome, sinks.iter().zip(sizes).map(whole).collect())
}
