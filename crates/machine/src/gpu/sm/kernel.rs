//! The kernel: AES-GCM over one message by k blocks of w warps, a block of 16 bytes per thread and step.
//!
//! ```text
//!  step t, warp j = v k + c of J = k w (warp v of SM c):   blocks 32 (t J + j) .. + 31
//!
//!  thread    Y = Y H^(32 J) + X              a step
//!  SM        Y(v) H^(32 k 2^s) + Y(v + 2^s)  log2 w levels, through shared memory
//!  warp      Y(n) H^(2^s) + Y(n + 2^s)       five levels, by exchange between threads
//!  GPU       the sum of Y(c) H^(32 (k - 1 - c) + 1)
//! ```
//!
//! The message is put at the end of the last step, with nothing before it, so that every block has its power without regard to the length.
//! Its last block is the length block, whose thread enciphers J0 instead: that is the mask of the tag. Selecting what lies before the message
//! and beyond it takes a few instructions per message, which are not counted.

use super::{
    aes::Aes,
    ghash::{BitMatrix, FourBitTable, element, shift_and_xor, sum, words},
    spec::{GhashKernel, SmSpec},
    warp::{ExecutionUnit, Instruction, Quad, SharedMemory, THREADS, Values, Warp, given, uniform},
};
use crate::gcm::{aes::RoundKeys, field::Element, message::SealOpen};
use crate::units::{Fixed, fixed};

/// Steps whose blocks the tensor cores sum before a multiplication.
pub const GROUP: usize = 32;
/// Integer instructions to bring the low bits of the counters of a block into four words.
const COLLECT: u32 = 128;

/// What of the kernels no configuration changes.
pub const FIXED: &[Fixed] = fixed! {
    "sm.tensor.group" GROUP, "steps", "blocks that tensor cores sum before a multiplication";
    "sm.tensor.collect" COLLECT, "instructions", "to bring the low bits of 128 counters into four words";
    "sm.warp" THREADS, "threads", "a warp of every NVIDIA GPU";
};
/// Levels within a warp.
const LEVELS: u32 = THREADS.trailing_zeros();

/// Which parts of the work a kernel does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    pub cipher: bool,
    pub hash: bool,
}

impl Parts {
    pub const BOTH: Self = Self { cipher: true, hash: true };
}

#[derive(Debug, Clone)]
enum Hash {
    Table(FourBitTable),
    Bits(Element),
    /// By steps to come in the group; and the table between groups.
    Tensor(Vec<BitMatrix>, FourBitTable),
}

/// The kernel of one SM: its shared memory and what lies there.
#[derive(Debug, Clone)]
pub struct Kernel {
    memory: SharedMemory,
    aes: Aes,
    hash: Hash,
    /// Between warps, then between threads.
    levels: Vec<FourBitTable>,
    own: FourBitTable,
    warps: u32,
    used: u32,
    /// Which SM of those that are used.
    place: u32,
}

#[derive(Debug, Clone, Copy)]
pub struct KernelMessage<'t> {
    pub nonce: [u8; 12],
    /// Its text; without, what a thread reads is made up.
    pub text: &'t [u8],
    pub direction: SealOpen,
}

/// What a warp has done with its blocks.
#[derive(Debug, Clone)]
pub struct Worked {
    pub program: Vec<Instruction>,
    /// What each thread has summed.
    pub sum: Quad,
    /// The text that it writes, by block of the message.
    pub output: Vec<(u64, [u8; 16])>,
}

fn squared(power: Element, times: u32) -> Element {
    (0..times).fold(power, |value, _| value.times(value))
}

fn raised(power: Element, exponent: u64) -> Element {
    let bits = (0..u64::BITS).filter(|bit| exponent >> bit & 1 == 1);
    bits.fold(Element::ONE, |product, bit| product.times(squared(power, bit)))
}

impl Kernel {
    /// The kernel of SM `place` of those that `spec` uses.
    pub fn new(spec: &SmSpec, keys: &RoundKeys, h: Element, place: u32) -> Self {
        let mut memory = SharedMemory::new(spec.banks);
        let aes = Aes::new(spec.aes, keys, spec.banks, &mut memory);
        let (used, warps) = (u64::from(spec.used), u64::from(spec.warps));
        let stride = raised(h, 32 * used * warps);
        let hash = match spec.ghash {
            GhashKernel::FourBitTables => Hash::Table(FourBitTable::new(stride, &mut memory)),
            GhashKernel::ShiftAndXor => Hash::Bits(stride),
            GhashKernel::TensorCore => {
                let matrices = (0..GROUP as u64).map(|to_come| BitMatrix::new(raised(stride, to_come))).collect();
                memory.add_words(&[0; GROUP * 128 * 4], 1);
                Hash::Tensor(matrices, FourBitTable::new(raised(stride, GROUP as u64), &mut memory))
            }
        };
        let between_warps = (0..spec.warps.trailing_zeros()).map(|level| raised(h, (32 * used) << level));
        let between_threads = (0..LEVELS).map(|level| raised(h, 1 << level));
        let levels = between_warps.chain(between_threads).map(|power| FourBitTable::new(power, &mut memory)).collect();
        let own = FourBitTable::new(raised(h, 32 * (used - 1 - u64::from(place)) + 1), &mut memory);
        Self { memory, aes, hash, levels, own, warps: spec.warps, used: spec.used, place }
    }

    /// Shared memory that it takes on an SM.
    pub fn shared_memory(&self) -> u64 {
        // A place for each warp's value, besides the tables.
        self.memory.bytes() + u64::from(self.warps) * 16 * THREADS as u64
    }

    /// What each warp does first: the tables into shared memory.
    pub fn prologue(&self) -> Vec<Instruction> {
        let mut warp = Warp::new(&self.memory);
        let rows = self.memory.bytes().div_ceil(16 * THREADS as u64 * u64::from(self.warps));
        let rows: Vec<_> = (0..rows).map(|_| warp.fetch([[0; THREADS]; 4], uniform(0))).collect();
        rows.into_iter().for_each(|row| warp.store(ExecutionUnit::Shared, row));
        warp.into_instructions()
    }

    /// All steps of warp `number` of this SM, of `steps` in all.
    pub fn steps(&self, number: u32, steps: u64, message: KernelMessage<'_>, parts: Parts) -> Worked {
        let mut warp = Warp::new(&self.memory);
        let global = u64::from(number) * u64::from(self.used) + u64::from(self.place);
        let all = u64::from(self.warps) * u64::from(self.used);
        let blocks = message.text.len().div_ceil(16) as u64 + 1;
        let padding = (steps * all * 32) as i64 - blocks as i64;
        let iv: [u32; 3] = std::array::from_fn(|n| word(&message.nonce[4 * n..]).swap_bytes());
        let (mut hash, mut output, mut begun) = ([uniform(0); 4], Vec::new(), false);
        let (mut counter, mut ahead) = (uniform(0), None);
        let first = |step: u64| ((step * all + global) * 32) as i64 - padding;
        let from = (0..steps).find(|&step| first(step) + 32 > 0).unwrap_or(steps);
        for step in from..steps {
            let block = |thread: usize| first(step) + thread as i64;
            let numbers: Values = std::array::from_fn(|thread| match block(thread) {
                block if block == blocks as i64 - 1 => 1,
                block => 2_u32.wrapping_add(block as u32),
            });
            // Address of the text (64 bits), counter, and how many steps are left.
            counter = warp.add(counter, uniform(32));
            counter.values = numbers;
            let address = warp.add(uniform(0), uniform(32));
            let carry = warp.add(address, uniform(0));
            warp.add(uniform(0), uniform(1));
            // The text of the next step is in transit while this one is worked on.
            let text = ahead.take().unwrap_or_else(|| warp.fetch(read(message.text, block), carry));
            if step + 1 < steps {
                let next = read(message.text, |thread| first(step + 1) + thread as i64);
                ahead = Some(warp.fetch(next, carry));
            }
            let mut done = text;
            if parts.cipher {
                done = self.aes.crypt(&mut warp, iv, counter, text);
            }
            if parts.hash {
                let sealed = if message.direction == SealOpen::Open || !parts.cipher { text } else { done };
                let mut x = sealed.map(|word| warp.mirror(word));
                hashed(&mut x, message.text.len() as u64, block);
                hash = self.hash(&mut warp, hash, x, (begun, (steps - 1 - step) as usize));
                begun = true;
            }
            if parts.cipher {
                warp.store(ExecutionUnit::Global, done);
                output.extend((0..32).filter(|&thread| block(thread) >= 0).map(|n| (block(n) as u64, bytes(&done, n))));
            }
            warp.branch();
        }
        Worked { program: warp.into_instructions(), sum: hash, output }
    }

    /// Y H^(32 J) + X; the first of a warp's steps has no Y yet.
    fn hash(&self, warp: &mut Warp<'_>, y: Quad, x: Quad, (begun, to_come): (bool, usize)) -> Quad {
        match &self.hash {
            Hash::Table(_) | Hash::Bits(_) if !begun => x,
            Hash::Table(table) => {
                let product = table.multiply(warp, y);
                sum(warp, product, x)
            }
            Hash::Bits(power) => {
                let product = shift_and_xor(warp, y, *power);
                sum(warp, product, x)
            }
            Hash::Tensor(matrices, table) => {
                let place = to_come % GROUP;
                let mut y = y;
                if begun && place == GROUP - 1 {
                    y = table.multiply(warp, y);
                }
                let counters = matrices[place].multiply_add(warp, y, x);
                // At the end of a group only the lowest bits of the counters go on.
                if place == 0 { warp.integers(COLLECT, counters) } else { counters }
            }
        }
    }

    /// Levels between warps: by level the instructions of each warp that is at work, and at the end the values of the first.
    pub fn between_warps(&self, mut values: Vec<Quad>) -> (Vec<Vec<Instruction>>, Quad) {
        let mut levels = Vec::new();
        for (level, table) in self.levels[..self.warps.trailing_zeros() as usize].iter().enumerate() {
            let mut last = Vec::new();
            for number in (0..values.len()).step_by(2 << level) {
                let mut warp = Warp::new(&self.memory);
                let other = warp.load_quad(given(std::array::from_fn(|thread| 16 * thread as u32)), 0);
                let other = std::array::from_fn(|n| {
                    let mut word = other[n];
                    word.values = values[number + (1 << level)][n].values;
                    word
                });
                let old = values[number].map(|word| given(word.values));
                let product = table.multiply(&mut warp, old);
                values[number] = sum(&mut warp, product, other);
                warp.store(ExecutionUnit::Shared, values[number]);
                last = warp.into_instructions();
            }
            levels.push(last);
        }
        (levels, values[0].map(|word| given(word.values)))
    }

    /// What the first warp of the SM does last: levels between threads, the SM's own power, the sum over all SMs, tag and verdict. Gives the SM's
    /// share of the sum.
    pub fn finish(&self, mut value: Quad) -> (Vec<Instruction>, Element) {
        let mut warp = Warp::new(&self.memory);
        for (level, table) in self.levels[self.warps.trailing_zeros() as usize..].iter().enumerate() {
            let other = value.map(|word| warp.from_thread_above(word, 1 << level));
            let product = table.multiply(&mut warp, value);
            value = sum(&mut warp, product, other);
        }
        let share = self.own.multiply(&mut warp, value);
        // Atomic sums into device memory, a fence, the count of SMs that are done; the last one reads the sum and the expected tag.
        let mut after = share[3];
        for word in share {
            after = warp.round_trip(word);
        }
        let counted = warp.round_trip(after);
        let read = warp.round_trip(counted);
        let compared = warp.xor(read, uniform(0));
        warp.round_trip(compared);
        (warp.into_instructions(), element(&share, 0))
    }

    pub fn steps_of(spec: &SmSpec, bytes: u64) -> u64 {
        (bytes.div_ceil(16) + 1).div_ceil(32 * u64::from(spec.used) * u64::from(spec.warps))
    }
}

/// What is authenticated: nothing before the message, its bytes without those that only fill up a block, the length block at the end.
fn hashed(x: &mut Quad, length: u64, block: impl Fn(usize) -> i64) {
    let last = length.div_ceil(16) as i64;
    for thread in 0..THREADS {
        let value = match block(thread) {
            at if at < 0 => Element::ZERO,
            at if at == last => crate::gcm::counter::length_block(0, length),
            at if at == last - 1 && !length.is_multiple_of(16) => {
                Element(element(x, thread).0 & !(u128::MAX >> (8 * (length % 16))))
            }
            _ => continue,
        };
        let words = words(value);
        (0..4).for_each(|n| x[n].values[thread] = words[n]);
    }
}

/// What each thread reads: its block, filled up with zeroes.
fn read(text: &[u8], block: impl Fn(usize) -> i64) -> [Values; 4] {
    let word_of = |thread: usize, n: usize| {
        let at = usize::try_from(block(thread)).map_or(usize::MAX, |block| 16 * block + 4 * n);
        text.get(at..).map_or(0, word)
    };
    std::array::from_fn(|n| std::array::from_fn(|thread| word_of(thread, n)))
}

/// The word whose first byte is the lowest.
fn word(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
}

fn bytes(quad: &Quad, thread: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (to, word) in bytes.chunks_exact_mut(4).zip(quad) {
        to.copy_from_slice(&word.values[thread].to_le_bytes());
    }
    bytes
}
