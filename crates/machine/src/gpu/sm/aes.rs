//! AES in counter mode with T-tables in shared memory, one block per thread.
//!
//! | per block | integer lanes | shared memory |
//! | --- | --- | --- |
//! | a word of a round | 4 extracts, 4 addresses, 3 turns, 2 sums | 4 loads, each thread in a bank of its own |
//! | a word of the last round | 4 extracts, 4 addresses, 3 insertions, 1 sum with key and text | 4 loads, four threads to a copy of the S-box |
//! | the keys of a round | operands in constant memory, without an instruction | |
//!
//! Bitsliced, a block takes `BITSLICED` instructions of integer lanes for 14 rounds and no shared memory; they are counted, not written out.
//!
//! One table of 1 KiB serves all four rows, since the others are its turns. It lies in shared memory once per bank.

use super::spec::AesKernel;
use super::warp::{Quad, Register, SharedMemory, Values, Warp, given, uniform};
use crate::gcm::aes::RoundKeys;
use crate::units::{Fixed, fixed};

/// Copies of the S-box: four threads share one.
const S_BOX_COPIES: u32 = 8;

/// Instructions of integer lanes for a block of AES-256, bitsliced over 32 blocks of a thread: what 1.47 Tb/s of AES-128 in counter mode on a V100
/// (Hajihassani et al. 2019; 80 SMs of 64 lanes at 1.53 GHz) leave for a round, 68, times 14.
const BITSLICED: u32 = 955;

/// What of these kernels no configuration changes.
pub const FIXED: &[Fixed] = fixed! {
    "sm.aes.s_box_copies" S_BOX_COPIES, "copies", "four threads share one";
    "sm.aes.bitsliced" BITSLICED, "instructions", "for a block, from published throughput (Hajihassani et al. 2019)";
};

/// AES's tables and keys in shared memory.
#[derive(Debug, Clone)]
pub struct Aes {
    rounds: u32,
    banks: u32,
    table: u32,
    s_box: u32,
    keys: Vec<[u32; 4]>,
    /// Bitsliced: tables next to the SM that give the values.
    beside: Option<SharedMemory>,
}

/// The S-box, from the inverse in GF(2^8) and the affine map (FIPS 197, section 5.1.1).
fn s_box() -> [u8; 256] {
    let mut table = [0x63; 256];
    // 3 generates the field, 0xf6 is its inverse.
    let (mut power, mut inverse) = (1_u8, 1_u8);
    for _ in 0..255 {
        let affine = (1..5).fold(inverse, |sum, n| sum ^ inverse.rotate_left(n));
        table[usize::from(power)] = affine ^ 0x63;
        power ^= doubled(power);
        inverse = (0..8).fold(0, |sum, bit| {
            let shifted = (0..bit).fold(inverse, |value, _| doubled(value));
            if 0xf6 >> bit & 1 == 1 { sum ^ shifted } else { sum }
        });
    }
    table
}

fn doubled(value: u8) -> u8 {
    value << 1 ^ if value >> 7 == 1 { 0x1b } else { 0 }
}

/// SubBytes and MixColumns of the first row: (2, 1, 1, 3) times the S-box, the most significant byte first.
fn t_table() -> [u32; 256] {
    s_box().map(|s| u32::from_be_bytes([doubled(s), s, s, doubled(s) ^ s]))
}

fn words(element: crate::gcm::field::Element) -> [u32; 4] {
    [96, 64, 32, 0].map(|shift| (element.0 >> shift) as u32)
}

impl Aes {
    /// Lays the tables and keys into shared memory.
    pub fn new(kernel: AesKernel, keys: &RoundKeys, banks: u32, memory: &mut SharedMemory) -> Self {
        let mut beside = (kernel == AesKernel::Bitsliced).then(|| SharedMemory::new(banks));
        let memory = beside.as_mut().unwrap_or(memory);
        let table = memory.add_words(&t_table(), banks);
        let s_box = memory.add_words(&s_box().map(u32::from), S_BOX_COPIES);
        let mut rows: Vec<_> = (0..=keys.rounds()).map(|round| words(keys.round_key(round))).collect();
        // Text lies in memory with its first byte in the lowest place, and so does what the last round gives.
        rows.iter_mut().skip(keys.rounds() as usize).for_each(|last| *last = last.map(u32::swap_bytes));
        Self { rounds: keys.rounds(), banks, table, s_box, keys: rows, beside }
    }

    /// The keystream for each thread's counter, added to `text`, both with their first byte in the lowest place.
    pub fn crypt(&self, warp: &mut Warp<'_>, iv: [u32; 3], counter: Register, text: Quad) -> Quad {
        let Some(beside) = &self.beside else { return self.by_tables(warp, iv, counter, text) };
        let values = self.by_tables(&mut Warp::new(beside), iv, counter, [uniform(0); 4]);
        let mut keystream = warp.integers(BITSLICED * self.rounds / 14, [counter; 4]);
        for (word, value) in keystream.iter_mut().zip(values) {
            word.values = value.values;
        }
        std::array::from_fn(|n| warp.xor(keystream[n], text[n]))
    }

    fn by_tables(&self, warp: &mut Warp<'_>, iv: [u32; 3], counter: Register, text: Quad) -> Quad {
        // The words of the IV are the same for all blocks of a message, so their sums with the key stand before the loop.
        let [a, b, c] = [0, 1, 2].map(|n| uniform(iv[n] ^ self.keys[0][n]));
        let mut state = [a, b, c, warp.xor(counter, uniform(self.keys[0][3]))];
        for round in 1..self.rounds {
            let looked_up = self.look_up(warp, state, self.table, 4 * self.banks, self.banks);
            let key = self.key(round);
            state = std::array::from_fn(|column| {
                let [mut b0, b1, b2, b3] = looked_up[column];
                let turned = [(b1, 1), (b2, 2), (b3, 3)].map(|(word, bytes)| warp.turn(word, bytes));
                b0 = warp.xor3(b0, turned[0], turned[1]);
                warp.xor3(b0, turned[2], key[column])
            });
        }
        let looked_up = self.look_up(warp, state, self.s_box, 4 * S_BOX_COPIES, S_BOX_COPIES);
        let key = self.key(self.rounds);
        std::array::from_fn(|column| {
            let [mut word, b1, b2, b3] = looked_up[column];
            for (byte, place) in [(b1, 1), (b2, 2), (b3, 3)] {
                word = warp.insert(word, byte, place);
            }
            warp.xor3(word, key[column], text[column])
        })
    }

    /// ShiftRows, and a look-up for each byte: by column, then row. All loads are in transit before the first is used.
    fn look_up(&self, warp: &mut Warp<'_>, state: Quad, table: u32, stride: u32, copies: u32) -> [Quad; 4] {
        let own: Values = std::array::from_fn(|thread| table + 4 * (thread as u32 % copies));
        std::array::from_fn(|column| {
            std::array::from_fn(|row| {
                let index = warp.byte(state[(column + row) % 4], 3 - row as u32);
                let address = warp.address(index, stride, given(own));
                warp.load(address)
            })
        })
    }

    fn key(&self, round: u32) -> Quad {
        self.keys[round as usize].map(uniform)
    }
}

#[cfg(test)]
mod tests {
    use super::super::warp::ExecutionUnit;
    use super::*;
    use crate::gcm::bulk::Key;

    #[test]
    fn a_warp_enciphers_32_counters_as_the_cipher_does() {
        for (bytes, kernel) in
            [(16, AesKernel::TTables), (24, AesKernel::TTables), (32, AesKernel::TTables), (32, AesKernel::Bitsliced)]
        {
            let secret: Vec<u8> = (0..bytes).map(|n| n * 7 + 3).collect();
            let mut memory = SharedMemory::new(32);
            let aes = Aes::new(kernel, &RoundKeys::expand(&secret).unwrap(), 32, &mut memory);
            let mut warp = Warp::new(&memory);
            let counters: Values = std::array::from_fn(|thread| 0xffff_fff0_u32.wrapping_add(thread as u32));
            let sealed = aes.crypt(&mut warp, [1, 2, 3], given(counters), [uniform(0); 4]);
            let key = Key::new(&secret).unwrap();
            for (thread, counter) in counters.into_iter().enumerate() {
                let block: Vec<u8> = [1, 2, 3, counter].iter().flat_map(|word| word.to_be_bytes()).collect();
                let expected = key.encrypt_block(block.try_into().unwrap());
                let got: Vec<u8> = sealed.iter().flat_map(|word| word.values[thread].to_le_bytes()).collect();
                assert_eq!(got, expected);
            }
        }
    }

    #[test]
    fn the_rounds_take_the_instructions_that_the_table_says() {
        let mut memory = SharedMemory::new(32);
        let aes = Aes::new(AesKernel::TTables, &RoundKeys::expand(&[9; 32]).unwrap(), 32, &mut memory);
        let mut warp = Warp::new(&memory);
        aes.crypt(&mut warp, [0; 3], given(std::array::from_fn(|n| n as u32)), [uniform(0); 4]);
        let done = warp.into_instructions();
        let integer = done.iter().filter(|one| one.unit == ExecutionUnit::Integer).count();
        assert_eq!(integer, 1 + 13 * 4 * (4 + 4 + 3 + 2) + 4 * (4 + 4 + 3 + 1));
        let loads: Vec<_> = done.iter().filter(|one| one.unit == ExecutionUnit::Shared).map(|one| one.amount).collect();
        assert_eq!(loads.len(), 14 * 16);
        // A bank for each thread: no load from the T-table takes a second pass.
        assert!(loads[..13 * 16].iter().all(|&passes| passes == 1));
    }
}
