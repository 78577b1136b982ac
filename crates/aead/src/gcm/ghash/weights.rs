//! Powers of H by position, and the multipliers that weight segments with them.
//!
//! With segments of s blocks, a segment that d others follow weighs H^(s d). The table holds W_t = H^(s 2^t) for
//! t < 33 - floor(log2 s): every weight in messages of up to 2^33 blocks, which no GCM text reaches. H^s comes from H by
//! squaring and multiplying, each W_t from the one before by squaring, one after the other on one multiplier.
//!
//! ```text
//!                       +------------------- while d has further ones --------+
//!                       v                                                     |
//!   value, d ---> [ register ]---(x)---> [ multiplier, L cycles ]-------------+---> weighted value
//!                                 ^
//!   W_t, for the next one of d ---+
//! ```
//!
//! | | |
//! | --- | --- |
//! | table | floor(log2 s) + ones(s) - 1 products to H^s, then 32 - floor(log2 s) squarings, on a multiplier of its own: L (31 + ones(s)) cycles |
//! | accepts | a value when the one before has left |
//! | latency | L ones(d) cycles: 0 for the last segment, at most L (33 - floor(log2 s)) |

use crate::gcm::field::Element;
use crate::gcm::multiplier::{Made, Multiplier};
use crate::gcm::register::{Field, TABLE, WEIGHTING};
use crate::gcm::spec::MultiplierSpec;

/// Bits of the longest message's number of blocks.
const POSITION_BITS: u32 = 33;

/// Cycles from H to the whole table.
pub const fn setup(segment: u32, spec: &MultiplierSpec) -> u64 {
    spec.latency() * (POSITION_BITS - 2 + segment.count_ones()) as u64
}

/// The powers by which segments of so many blocks are weighted, and the multiplier that makes them.
#[derive(Debug, Clone)]
pub struct Table {
    multiplier: Multiplier<()>,
    segment: u32,
    h: Element,
    /// On the way to H^s: the exponent of what is in the multiplier.
    climbing: Option<u32>,
    powers: Vec<Element>,
}

impl Table {
    pub fn new(segment: u32, spec: &MultiplierSpec) -> Self {
        Self { multiplier: Multiplier::new(spec), segment, h: Element::ZERO, climbing: None, powers: Vec::new() }
    }

    /// Powers of a table that is complete.
    pub const fn size(&self) -> usize {
        (POSITION_BITS - self.segment.ilog2()) as usize
    }

    pub fn load(&mut self, h: Element) {
        self.h = h;
        self.powers.clear();
        self.climbing = Some(2);
        self.multiplier.issue(h, h, ());
    }

    pub const fn ready(&self) -> bool {
        self.powers.len() == self.size()
    }

    pub fn clock(&mut self) {
        let Some((value, ())) = self.multiplier.clock() else { return };
        let Some(exponent) = self.climbing else {
            self.powers.push(value);
            self.square_last();
            return;
        };
        // The exponent grows along the leading bits of the segment's length.
        let leading = self.segment >> (self.segment.ilog2() - exponent.ilog2());
        if exponent < leading {
            self.climbing = Some(exponent + 1);
            self.multiplier.issue(value, self.h, ());
        } else if exponent < self.segment {
            self.climbing = Some(2 * exponent);
            self.multiplier.issue(value, value, ());
        } else {
            self.climbing = None;
            self.powers.push(value);
            self.square_last();
        }
    }

    fn square_last(&mut self) {
        if let Some(&last) = self.powers.last().filter(|_| !self.ready()) {
            self.multiplier.issue(last, last, ());
        }
    }

    pub fn registers(&mut self, see: &mut dyn FnMut(&'static str, usize, &mut u128)) {
        for (index, power) in self.powers.iter_mut().enumerate() {
            see("weight", index, &mut power.0);
        }
        self.multiplier.registers(Field::Part.put(TABLE), see);
    }

    pub fn products(&self, see: &mut dyn FnMut(usize, Made)) {
        self.multiplier.made().into_iter().for_each(|made| see(Field::Part.put(TABLE), made));
    }
}

/// A multiplier that weights one value at a time.
#[derive(Debug, Clone)]
pub struct Weighting {
    multiplier: Multiplier<()>,
    /// Ones of the position that are left, while a value is in transit.
    left: Option<u64>,
}

impl Weighting {
    pub fn new(spec: &MultiplierSpec) -> Self {
        Self { multiplier: Multiplier::new(spec), left: None }
    }

    pub const fn free(&self) -> bool {
        self.left.is_none()
    }

    /// To the next cycle. Gives the weighted value that is valid in it.
    pub fn clock(&mut self, table: &Table) -> Option<Element> {
        let (value, ()) = self.multiplier.clock()?;
        let position = self.left?;
        self.go_on(value, position, table)
    }

    /// Takes the value of a segment that `position` others follow. Gives the weighted value if it is valid at once.
    pub fn take(&mut self, value: Element, position: u64, table: &Table) -> Option<Element> {
        self.go_on(value, position, table)
    }

    fn go_on(&mut self, value: Element, position: u64, table: &Table) -> Option<Element> {
        if position == 0 {
            self.left = None;
            return Some(value);
        }
        self.left = Some(position & (position - 1));
        let power = table.powers.get(position.trailing_zeros() as usize).copied().unwrap_or_default();
        self.multiplier.issue(value, power, ());
        None
    }

    pub fn registers(&mut self, place: usize, see: &mut dyn FnMut(&'static str, usize, &mut u128)) {
        self.multiplier.registers(Field::Part.put(WEIGHTING) | place, see);
    }

    pub fn products(&self, place: usize, see: &mut dyn FnMut(usize, Made)) {
        self.multiplier.made().into_iter().for_each(|made| see(Field::Part.put(WEIGHTING) | place, made));
    }
}
