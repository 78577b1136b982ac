//! A warp of 32 threads: registers with values, and the instructions that made them.
//!
//! A kernel is written as a function over a [`Warp`]. Each call computes the values of all threads and notes an instruction: the unit that
//! carries it out, how long it occupies the unit, and the instructions whose results it needs. So the number of instructions of a kernel,
//! and its passes through the banks of shared memory, follow from the kernel and its bytes.

pub const THREADS: usize = 32;

/// Threads that a 16-byte access serves in one pass.
const QUARTER: usize = 8;

pub type Values = [u32; THREADS];

/// A register of all threads, and the instruction that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Register {
    pub values: Values,
    /// One more than the number of the instruction; 0 if it was there from the beginning.
    made: u32,
}

/// Four registers: 16 bytes per thread, the most significant word first.
pub type Quad = [Register; 4];

/// A register with a value per thread that no instruction makes: a constant, an operand, the number of a thread.
pub fn given(values: Values) -> Register {
    Register { values, made: 0 }
}

pub fn uniform(value: u32) -> Register {
    given([value; THREADS])
}

/// Who carries out an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecutionUnit {
    /// The integer lanes of the warp's sub-core.
    Integer,
    /// Shared memory and the exchange of registers between threads.
    Shared,
    Global,
    /// The tensor core of the warp's sub-core.
    Tensor,
    /// Nobody but the scheduler: branches.
    Control,
}

/// An instruction, as far as its time goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    pub unit: ExecutionUnit,
    /// Of shared memory and device memory: passes of 128 bytes. Of tensor cores: products of bits. Of others 1.
    pub amount: u32,
    /// The instructions whose results it needs, as [`Register`] counts them.
    pub needs: [u32; 4],
}

/// Sixteen bytes of shared memory per entry.
type Row = [u32; 4];

/// The shared memory of a block of warps: named tables at addresses, as the kernel has laid them out.
#[derive(Debug, Clone, Default)]
pub struct SharedMemory {
    words: Vec<u32>,
    banks: u32,
}

impl SharedMemory {
    /// Empty, with so many banks.
    pub const fn new(banks: u32) -> Self {
        Self { words: Vec::new(), banks }
    }

    pub fn bytes(&self) -> u64 {
        4 * self.words.len() as u64
    }

    /// Lays down a table of words, each `copies` times side by side. Gives its address.
    pub fn add_words(&mut self, table: &[u32], copies: u32) -> u32 {
        let address = 4 * self.words.len() as u32;
        self.words.extend(table.iter().flat_map(|&word| std::iter::repeat_n(word, copies as usize)));
        address
    }

    /// Lays down a table of rows, each `copies` times side by side. Gives its address.
    pub fn add_rows(&mut self, table: &[Row], copies: u32) -> u32 {
        let address = 4 * self.words.len() as u32;
        for row in table {
            (0..copies).for_each(|_| self.words.extend(row));
        }
        address
    }

    fn word(&self, address: u32) -> u32 {
        self.words[(address / 4) as usize]
    }

    /// Passes that `width` words at each of these addresses take: as many as the bank that is asked for most different words.
    fn passes(&self, addresses: &[u32], width: u32) -> u32 {
        let threads = if width == 4 { QUARTER } else { THREADS };
        addresses.chunks(threads).map(|together| self.pass(together, width)).sum()
    }

    fn pass(&self, addresses: &[u32], width: u32) -> u32 {
        let mut asked: Vec<u32> = addresses.iter().flat_map(|a| (0..width).map(move |n| a / 4 + n)).collect();
        asked.sort_unstable();
        asked.dedup();
        let mut load = vec![0; self.banks as usize];
        asked.iter().for_each(|word| load[(word % self.banks) as usize] += 1);
        load.into_iter().max().unwrap_or(1)
    }
}

#[derive(Debug)]
pub struct Warp<'m> {
    memory: &'m SharedMemory,
    instructions: Vec<Instruction>,
}

impl<'m> Warp<'m> {
    pub const fn new(memory: &'m SharedMemory) -> Self {
        Self { memory, instructions: Vec::new() }
    }

    pub fn into_instructions(self) -> Vec<Instruction> {
        self.instructions
    }

    fn note(&mut self, unit: ExecutionUnit, amount: u32, needs: &[Register]) -> u32 {
        let mut all = [0; 4];
        for (need, register) in all.iter_mut().zip(needs) {
            *need = register.made;
        }
        self.instructions.push(Instruction { unit, amount, needs: all });
        self.instructions.len() as u32
    }

    fn integer<const N: usize>(&mut self, inputs: [Register; N], f: impl Fn([u32; N]) -> u32) -> Register {
        let values = std::array::from_fn(|thread| f(inputs.map(|input| input.values[thread])));
        Register { values, made: self.note(ExecutionUnit::Integer, 1, &inputs) }
    }

    /// IADD3 of two.
    pub fn add(&mut self, a: Register, b: Register) -> Register {
        self.integer([a, b], |[a, b]| a.wrapping_add(b))
    }

    /// LOP3: the sum of three over GF(2).
    pub fn xor3(&mut self, a: Register, b: Register, c: Register) -> Register {
        self.integer([a, b, c], |[a, b, c]| a ^ b ^ c)
    }

    /// LOP3: the sum of two over GF(2).
    pub fn xor(&mut self, a: Register, b: Register) -> Register {
        self.integer([a, b], |[a, b]| a ^ b)
    }

    /// LOP3: a where the mask says so, with b's bits.
    pub fn masked_or(&mut self, a: Register, mask: u32, b: Register) -> Register {
        self.integer([a, b], |[a, b]| a & mask | b)
    }

    /// LOP3: a + (b AND mask) over GF(2).
    pub fn masked_xor(&mut self, a: Register, b: Register, mask: Register) -> Register {
        self.integer([a, b, mask], |[a, b, mask]| a ^ b & mask)
    }

    /// PRMT: byte `n` of a, counted from the least significant.
    pub fn byte(&mut self, a: Register, n: u32) -> Register {
        self.integer([a], |[a]| a >> (8 * n) & 0xff)
    }

    /// PRMT: turned right by `n` bytes.
    pub fn turn(&mut self, a: Register, n: u32) -> Register {
        self.integer([a], |[a]| a.rotate_right(8 * n))
    }

    /// PRMT: the bytes in the opposite order.
    pub fn mirror(&mut self, a: Register) -> Register {
        self.integer([a], |[a]| a.swap_bytes())
    }

    /// PRMT: byte `n` of b into byte `n` of a.
    pub fn insert(&mut self, a: Register, b: Register, n: u32) -> Register {
        let mask = 0xff << (8 * n);
        self.integer([a, b], |[a, b]| a & !mask | b << (8 * n) & mask)
    }

    /// LEA: `index` x `stride` + `base`.
    pub fn address(&mut self, index: Register, stride: u32, base: Register) -> Register {
        self.integer([index, base], |[index, base]| index * stride + base)
    }

    /// SHF: the low word of (high, low) moved right by `n` < 32 bits.
    pub fn funnel_right(&mut self, high: Register, low: Register, n: u32) -> Register {
        self.integer([high, low], |[high, low]| ((u64::from(high) << 32 | u64::from(low)) >> n) as u32)
    }

    /// SHF: moved left by `n` < 32 bits.
    pub fn left(&mut self, a: Register, n: u32) -> Register {
        self.integer([a], |[a]| a << n)
    }

    /// SHF with sign: all bits as bit `n` of a, which SHF.L has brought to the top by an instruction of its own.
    pub fn spread(&mut self, a: Register, n: u32) -> Register {
        let top = if n == 31 { a } else { self.left(a, 31 - n) };
        self.integer([top], |[top]| ((top as i32) >> 31) as u32)
    }

    /// A branch at the end of a loop.
    pub fn branch(&mut self) {
        self.note(ExecutionUnit::Control, 1, &[]);
    }

    /// LDS.32.
    pub fn load(&mut self, address: Register) -> Register {
        let memory = self.memory;
        let made = self.note(ExecutionUnit::Shared, memory.passes(&address.values, 1), &[address]);
        Register { values: address.values.map(|address| memory.word(address)), made }
    }

    /// LDS.128 with an offset in the instruction.
    pub fn load_quad(&mut self, address: Register, offset: u32) -> Quad {
        let memory = self.memory;
        let places = address.values.map(|address| address + offset);
        let made = self.note(ExecutionUnit::Shared, memory.passes(&places, 4), &[address]);
        [0, 1, 2, 3].map(|n| Register { values: places.map(|place| memory.word(place + 4 * n)), made })
    }

    /// SHFL.DOWN: each thread takes the value of the one `distance` further, or keeps its own.
    pub fn from_thread_above(&mut self, a: Register, distance: usize) -> Register {
        let made = self.note(ExecutionUnit::Shared, 1, &[a]);
        let above = |thread: usize| if thread + distance < THREADS { thread + distance } else { thread };
        Register { values: std::array::from_fn(|thread| a.values[above(thread)]), made }
    }

    /// LDG.128: 16 bytes per thread, side by side; `after` is the address.
    pub fn fetch(&mut self, words: [Values; 4], after: Register) -> Quad {
        let made = self.note(ExecutionUnit::Global, 4, &[after]);
        words.map(|values| Register { values, made })
    }

    /// STG.128, STS.128: 16 bytes per thread, side by side.
    pub fn store(&mut self, unit: ExecutionUnit, quad: Quad) {
        self.note(unit, 4, &quad);
    }

    /// One thread's access to device memory that waits for `after`: an atomic operation, a fence, a load. Gives what can be waited for.
    pub fn round_trip(&mut self, after: Register) -> Register {
        Register { values: after.values, made: self.note(ExecutionUnit::Global, 1, &[after]) }
    }

    /// A product of bit matrices on the tensor core: `products` products of bits, with the values that it gives.
    pub fn tensor(&mut self, products: u32, inputs: &[Register], values: [Values; 4]) -> Quad {
        let made = self.note(ExecutionUnit::Tensor, products, inputs);
        words_of(values, made)
    }

    /// Instructions of integer lanes that need `input` and whose values are of no interest one by one; the last makes the result.
    pub fn integers(&mut self, count: u32, input: Quad) -> Quad {
        for _ in 0..count.saturating_sub(1) {
            self.note(ExecutionUnit::Integer, 1, &input);
        }
        let made = self.note(ExecutionUnit::Integer, 1, &input);
        words_of(input.map(|register| register.values), made)
    }
}

fn words_of(values: [Values; 4], made: u32) -> Quad {
    values.map(|values| Register { values, made })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> SharedMemory {
        let mut memory = SharedMemory::new(32);
        memory.add_words(&[0; 4096], 1);
        memory
    }

    #[test]
    fn a_load_takes_as_many_passes_as_different_words_share_a_bank() {
        let memory = memory();
        let passes = |f: fn(u32) -> u32| memory.passes(&std::array::from_fn::<_, 32, _>(|n| 4 * f(n as u32)), 1);
        assert_eq!(passes(|n| n), 1);
        assert_eq!(passes(|_| 77), 1);
        assert_eq!(passes(|n| 2 * n), 2);
        assert_eq!(passes(|n| 32 * n), 32);
        assert_eq!(passes(|n| 32 * (n % 5)), 5);
    }

    #[test]
    fn sixteen_bytes_for_each_thread_take_a_pass_for_every_eight_threads() {
        let memory = memory();
        let passes = |f: fn(u32) -> u32| memory.passes(&std::array::from_fn::<_, 32, _>(|n| 16 * f(n as u32)), 4);
        assert_eq!(passes(|n| n), 4);
        assert_eq!(passes(|n| n % 8 + 8 * (n * n % 7)), 4);
        assert_eq!(passes(|n| 8 * n), 32);
    }
}
