//! Products in GF(2^128) on a warp, one per thread.
//!
//! | way | integer lanes | other |
//! | --- | --- | --- |
//! | [`FourBitTable`] | 32 x (2 for the address, 4 sums, 5 shifts) and 25 for the reduction, the first row without sums and shifts | 32 loads of 16 bytes, eight threads to a pass |
//! | [`shift_and_xor`] | 128 x (2 for a mask, 4 sums, 5 shifts) and 25 for the reduction | |
//! | [`BitMatrix`] | 128 per 32 blocks, to collect the low bits of counters | 128 x 128 products of bits per block |
//!
//! What a shift moves out is kept in words of its own and reduced once. Words of an element stand most significant first, as in
//! [`Element`].

use super::warp::{ExecutionUnit, Quad, Register, SharedMemory, Values, Warp, given, uniform};
use crate::gcm::field::Element;
use crate::units::{Fixed, fixed};
use std::collections::VecDeque;

/// Copies of a table side by side: eight threads read in one pass, each its own copy.
const COPIES: u32 = 8;

/// Rows in transit before the first is used, four registers each.
const AHEAD: u32 = 8;

/// What of these kernels no configuration changes.
pub const FIXED: &[Fixed] = fixed! {
    "sm.ghash.table_copies" COPIES, "copies",
        "eight threads read 16 bytes in one pass over the banks, each its own copy";
    "sm.ghash.rows_ahead" AHEAD, "rows", "loads on their way before the first is used: registers of a thread";
};

pub fn words(element: Element) -> [u32; 4] {
    [96, 64, 32, 0].map(|shift| (element.0 >> shift) as u32)
}

pub fn element(quad: &Quad, thread: usize) -> Element {
    Element(quad.iter().fold(0, |value, word| value << 32 | u128::from(word.values[thread])))
}

pub fn sum(warp: &mut Warp<'_>, a: Quad, b: Quad) -> Quad {
    std::array::from_fn(|n| warp.xor(a[n], b[n]))
}

/// A power of H as its multiples by the sixteen polynomials of degree below 4 (Shoup), in shared memory.
#[derive(Debug, Clone, Copy)]
pub struct FourBitTable {
    offset: u32,
}

/// What has been moved out at the low end: the word that is being filled, and those that are full, the first filled first.
struct Overflow {
    words: [Register; 4],
    filling: usize,
    bits: u32,
}

impl Overflow {
    /// `left` bits are still to come in all.
    fn new() -> Self {
        Self { words: [uniform(0); 4], filling: 3, bits: 0 }
    }

    /// Moves `bits` bits out of `low`; `total` is how many will have come in the end.
    fn take(&mut self, warp: &mut Warp<'_>, low: Register, bits: u32, total: u32) {
        // The first word has what is beyond three full words, so that the last bit to come ends a word.
        let full = if self.filling == 3 { total - 96 } else { 32 };
        if self.bits == full {
            self.filling -= 1;
            self.bits = 0;
        }
        let word = &mut self.words[self.filling];
        *word = warp.funnel_right(low, *word, bits);
        self.bits += bits;
    }

    /// Brings it below x^128 and adds it to `value`: x^128 = 1 + x + x^2 + x^7.
    fn reduce(self, warp: &mut Warp<'_>, value: Quad) -> Quad {
        let [high, a, b, low] = self.words;
        let over = [31, 30, 25].map(|bits| warp.left(low, bits));
        let over = warp.xor3(over[0], over[1], over[2]);
        let high = warp.xor(high, over);
        let words = [uniform(0), high, a, b, low];
        std::array::from_fn(|n| {
            let [by1, by2, by7] = [1, 2, 7].map(|bits| warp.funnel_right(words[n], words[n + 1], bits));
            let part = warp.xor3(value[n], words[n + 1], by1);
            warp.xor3(part, by2, by7)
        })
    }
}

/// Moves a value right by `bits`; what leaves it goes to `overflow`.
fn shifted(warp: &mut Warp<'_>, value: Quad, bits: u32, total: u32, overflow: &mut Overflow) -> Quad {
    overflow.take(warp, value[3], bits, total);
    let [a, b, c, d] = value;
    [(uniform(0), a), (a, b), (b, c), (c, d)].map(|(high, low)| warp.funnel_right(high, low, bits))
}

impl FourBitTable {
    /// Lays the table of `power` into shared memory.
    pub fn new(power: Element, memory: &mut SharedMemory) -> Self {
        let multiple = |n: u128| words(Element(n << 124).times(power));
        let rows: Vec<_> = (0..16).map(multiple).collect();
        Self { offset: memory.add_rows(&rows, COPIES) }
    }

    /// `x` times the power.
    pub fn multiply(self, warp: &mut Warp<'_>, x: Quad) -> Quad {
        let mut overflow = Overflow::new();
        let mut rows: VecDeque<_> = (32 - AHEAD..32).rev().map(|place| self.row(warp, x, place)).collect();
        let mut value = rows.pop_front().unwrap_or([uniform(0); 4]);
        for place in (0..31_u32).rev() {
            let ahead = place.checked_sub(AHEAD - 1).map(|ahead| self.row(warp, x, ahead));
            rows.extend(ahead);
            let row = rows.pop_front().unwrap_or([uniform(0); 4]);
            let moved = shifted(warp, value, 4, 124, &mut overflow);
            value = std::array::from_fn(|n| warp.xor(moved[n], row[n]));
        }
        overflow.reduce(warp, value)
    }

    /// The row for the four bits at `place`, counted from the most significant.
    fn row(self, warp: &mut Warp<'_>, x: Quad, place: u32) -> Quad {
        let own: Values = std::array::from_fn(|thread| 16 * (thread as u32 % COPIES));
        let (word, shift) = (x[(place / 8) as usize], 28 - 4 * (place % 8));
        // A row with its copies takes 128 bytes: the four bits go to bit 7 of the address.
        let moved = if shift < 7 { warp.left(word, 7 - shift) } else { warp.funnel_right(uniform(0), word, shift - 7) };
        let address = warp.masked_or(moved, 0xf << 7, given(own));
        warp.load_quad(address, self.offset)
    }
}

pub fn shift_and_xor(warp: &mut Warp<'_>, x: Quad, power: Element) -> Quad {
    let power = words(power).map(uniform);
    let mut overflow = Overflow::new();
    let mut value = [uniform(0); 4];
    for place in (0..128).rev() {
        let mask = warp.spread(x[place / 32], 31 - place as u32 % 32);
        if place < 127 {
            value = shifted(warp, value, 1, 127, &mut overflow);
        }
        value = std::array::from_fn(|n| warp.masked_xor(value[n], power[n], mask));
    }
    overflow.reduce(warp, value)
}

/// Multiplication by a power of H as a matrix over GF(2).
#[derive(Debug, Clone)]
pub struct BitMatrix {
    rows: Vec<u128>,
}

impl BitMatrix {
    /// The matrix of `power`.
    pub fn new(power: Element) -> Self {
        let columns: Vec<_> = (0..128).map(|bit| Element(1 << bit).times(power).0).collect();
        let row = |bit: u32| (0..128).map(|at| (columns[at as usize] >> bit & 1) << at).sum();
        Self { rows: (0..128).map(row).collect() }
    }

    /// What counting the ones in (row AND x) and keeping the lowest bit gives.
    pub fn apply(&self, x: Element) -> Element {
        let bit = |(place, row): (usize, &u128)| u128::from((row & x.0).count_ones() & 1) << place;
        Element(self.rows.iter().enumerate().map(bit).sum())
    }

    /// `x` times the power, added to `counters` of which only the lowest bits count.
    pub fn multiply_add(&self, warp: &mut Warp<'_>, counters: Quad, x: Quad) -> Quad {
        // The tensor core reads the blocks from shared memory.
        warp.store(ExecutionUnit::Shared, x);
        let of = |thread| words(self.apply(element(&x, thread)) ^ element(&counters, thread));
        let sums: Vec<_> = (0..super::warp::THREADS).map(of).collect();
        let values = std::array::from_fn(|n| std::array::from_fn(|thread| sums[thread][n]));
        warp.tensor(128 * 128 * super::warp::THREADS as u32, &[x[0], counters[0]], values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn per_thread(seed: u128) -> (Quad, Vec<Element>) {
        let elements: Vec<_> = (1..=32u128).map(|n| Element(seed.wrapping_mul(2 * n + 1) ^ seed >> n)).collect();
        (std::array::from_fn(|n| given(std::array::from_fn(|thread| words(elements[thread])[n]))), elements)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn every_way_gives_the_product(seed: u128, power: u128) {
            let power = Element(power);
            let mut memory = SharedMemory::new(32);
            let table = FourBitTable::new(power, &mut memory);
            let (x, elements) = per_thread(seed);
            let mut warp = Warp::new(&memory);
            let by_table = table.multiply(&mut warp, x);
            let by_bits = shift_and_xor(&mut warp, x, power);
            let by_matrix = BitMatrix::new(power).multiply_add(&mut warp, [uniform(0); 4], x);
            for (thread, one) in elements.iter().enumerate() {
                let expected = one.times(power);
                prop_assert_eq!(element(&by_table, thread), expected);
                prop_assert_eq!(element(&by_bits, thread), expected);
                prop_assert_eq!(element(&by_matrix, thread), expected);
            }
        }
    }

    #[test]
    fn the_ways_take_the_instructions_that_the_table_says() {
        let mut memory = SharedMemory::new(32);
        let table = FourBitTable::new(Element(12345), &mut memory);
        let (x, _) = per_thread(987_654_321 << 70 | 1);
        let count = |work: &dyn Fn(&mut Warp<'_>)| {
            let mut warp = Warp::new(&memory);
            work(&mut warp);
            let done = warp.into_instructions();
            let integer = done.iter().filter(|one| one.unit == ExecutionUnit::Integer).count();
            let passes: u32 = done.iter().filter(|one| one.unit == ExecutionUnit::Shared).map(|one| one.amount).sum();
            (integer, passes)
        };
        let tables = |warp: &mut Warp<'_>| {
            table.multiply(warp, x);
        };
        assert_eq!(count(&tables), (32 * 2 + 31 * 9 + 25, 32 * 4));
        let bits = |warp: &mut Warp<'_>| {
            shift_and_xor(warp, x, Element(12345));
        };
        // The top bit of a word needs no shift before it is spread.
        assert_eq!(count(&bits), (128 * 2 - 4 + 128 * 4 + 127 * 5 + 25, 0));
    }
}
