//! The index of a register among those of its name: four fields of 16 bits.
//!
//! ```text
//!   63      48 47      32 31      16 15       0
//!  +----------+----------+----------+----------+
//!  |  stage   |   unit   |   part   |  place   |
//!  +----------+----------+----------+----------+
//! ```

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The place among its like.
    Place,
    /// The AES lane, the chain of a tag, or the unit within a GHASH unit.
    Part,
    Unit,
    Stage,
}

/// The part of a GHASH unit that stands for its table of weights.
pub const TABLE: usize = 0xffff;
/// The part of a GHASH unit that stands for its weightings.
pub const WEIGHTING: usize = 0xfffe;

impl Field {
    const fn shift(self) -> u32 {
        16 * self as u32
    }

    /// An index with this field alone.
    pub const fn put(self, value: usize) -> usize {
        value << self.shift()
    }

    /// This field of an index.
    pub const fn of(self, index: usize) -> usize {
        index >> self.shift() & 0xffff
    }

    /// An index without this field.
    pub const fn cleared(self, index: usize) -> usize {
        index & !(0xffff << self.shift())
    }
}
