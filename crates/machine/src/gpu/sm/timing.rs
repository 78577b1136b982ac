//! The cycles of a kernel without its bytes.
//!
//! | part | cycles |
//! | --- | --- |
//! | prologue | the tables into shared memory, all warps |
//! | steps | those of the SM that has most of them |
//! | end | log2 of the warps levels between warps, then the first warp alone |
//! | serial sum | with `serial_sum`: one thread, for each 16 KiB of the message |
//!
//! A barrier lies between any two. Each part is run once on the structure of an SM ([`Processor`]), on made-up text: passes through the banks follow from
//! bytes only where four threads share a copy of the S-box. Of a long message one more step of all warps costs what the last of those that were run cost on
//! average. So the time of a message follows from its length alone.

use super::{
    kernel::{GROUP, Kernel, KernelMessage, Parts},
    processor::Processor,
    spec::{GhashKernel, SmSpec},
    warp::{Instruction, uniform},
};
use crate::gcm::{aes::RoundKeys, bulk::Key, message::SealOpen};
use std::collections::BTreeMap;

/// The time of one message on the SMs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// From the start to the last text.
    pub text: u64,
    /// From the start to tag and verdict.
    pub total: u64,
}

/// A kernel's cycles by length of message.
#[derive(Debug, Clone)]
pub struct KernelTiming {
    spec: SmSpec,
    processor: Processor,
    kernel: Kernel,
    parts: Parts,
    prologue: u64,
    end: u64,
    /// Steps of all warps that are run on the structure, and how many of them say what one more costs.
    rows: (u64, u64),
    /// Instructions of a warp, by direction and number of steps.
    programs: BTreeMap<(bool, u64), Vec<Instruction>>,
    /// Cycles of an SM, by direction and steps of its warps together.
    known: BTreeMap<(bool, u64), u64>,
}

impl KernelTiming {
    /// The timing of a kernel with keys of `key_bits`; none if there are no such keys.
    pub fn new(spec: &SmSpec, key_bits: u32) -> Option<Self> {
        Self::of_parts(spec, key_bits, Parts::BOTH)
    }

    /// The same of a kernel that does only some of the work.
    pub fn of_parts(spec: &SmSpec, key_bits: u32, parts: Parts) -> Option<Self> {
        let secret: Vec<u8> = (0..key_bits / 8).map(|n| (n * 73 + 41) as u8).collect();
        let (keys, key) = (RoundKeys::expand(&secret)?, Key::new(&secret).ok()?);
        let kernel = Kernel::new(spec, &keys, key.h(), 0);
        let processor = Processor::new(spec);
        let (levels, value) = kernel.between_warps(vec![[uniform(0); 4]; spec.warps as usize]);
        let mut working = spec.warps as usize;
        let mut end = processor.run(&[&kernel.finish(value).0]).cycles;
        for level in &levels {
            working /= 2;
            end += processor.run(&vec![&level[..]; working]).cycles;
        }
        let prologue = processor.run(&vec![&kernel.prologue()[..]; spec.warps as usize]).cycles;
        // On tensor cores steps come in groups.
        let group = GROUP as u64;
        let rows = if spec.ghash == GhashKernel::TensorCore { (2 * group + 8, group) } else { (12, 6) };
        let (programs, known) = (BTreeMap::new(), BTreeMap::new());
        Some(Self { spec: spec.clone(), processor, kernel, parts, prologue, end, rows, programs, known })
    }

    pub fn span(&mut self, bytes: u64, direction: SealOpen) -> Span {
        let (used, warps) = (u64::from(self.spec.used), u64::from(self.spec.warps));
        let groups = (bytes.div_ceil(16) + 1).div_ceil(32);
        let (rows, rest) = (groups / (used * warps), groups % (used * warps));
        let busiest = rows * warps + rest.div_ceil(used);
        let text = self.prologue + self.steps(busiest, direction);
        Span { text, total: text + self.end + serial_sum(&self.spec, bytes) }
    }

    /// Cycles of `chunks` steps of warps on one SM, sealing, with all tables in place and nothing behind them.
    pub fn of_steps(&mut self, chunks: u64) -> u64 {
        self.steps(chunks, SealOpen::Seal)
    }

    /// The time of `groups` steps of warps on one SM.
    fn steps(&mut self, groups: u64, direction: SealOpen) -> u64 {
        let warps = u64::from(self.spec.warps);
        let (rows, rest) = (groups / warps, groups % warps);
        let (most, last) = self.rows;
        if rows < most {
            return self.run(groups, direction);
        }
        let base = self.run((most - 1) * warps + rest, direction);
        let before = self.run((most - 1 - last) * warps, direction);
        let more = self.run((most - 1) * warps, direction).saturating_sub(before);
        base + (rows + 1 - most) * more / last
    }

    /// The same on the structure.
    fn run(&mut self, groups: u64, direction: SealOpen) -> u64 {
        let seal = direction == SealOpen::Seal;
        if let Some(&known) = self.known.get(&(seal, groups)) {
            return known;
        }
        let warps = u64::from(self.spec.warps);
        let steps: Vec<_> = (0..warps).map(|warp| groups / warps + u64::from(warp < groups % warps)).collect();
        for &steps in &steps {
            self.programs
                .entry((seal, steps))
                .or_insert_with(|| sample(&self.spec, &self.kernel, (steps, direction), self.parts));
        }
        let programs: Vec<_> = steps.iter().map(|&steps| &self.programs[&(seal, steps)][..]).collect();
        let cycles = self.processor.run(&programs).cycles;
        self.known.insert((seal, groups), cycles);
        cycles
    }
}

/// Bytes of a block of 1024 threads, of 16 B each, whose value a single thread sums.
const SUMMED: u64 = 16 << 10;

/// What a single thread takes to sum the values of a message, where the kernel does so.
pub fn serial_sum(spec: &SmSpec, bytes: u64) -> u64 {
    spec.serial_sum.map_or(0, |each| bytes.div_ceil(SUMMED) * each.0)
}

/// The instructions of a warp with so many steps.
fn sample(spec: &SmSpec, kernel: &Kernel, (steps, direction): (u64, SealOpen), parts: Parts) -> Vec<Instruction> {
    let all = 512 * u64::from(spec.used) * u64::from(spec.warps);
    let text = vec![0; (steps * all).saturating_sub(16) as usize];
    let message = KernelMessage { nonce: *b"made-up text", text: &text, direction };
    kernel.steps(0, steps, message, parts).program
}
