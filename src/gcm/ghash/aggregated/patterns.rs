//! Bursts that find the unit as one before them did: they take the same cycles, only later.
//!
//! Nothing that a unit does depends on a date, only on how long each of its parts is still busy when a burst comes. Bursts of a transfer come
//! alike, so that few patterns make up most of a message.

/// Most blocks of a burst that is remembered.
pub(super) const LONGEST: u64 = 64;
/// Most bursts that are remembered.
const MOST: usize = 32;

/// A burst, and how it finds the unit. Cycles are counted from the first in which the burst may be taken; what lies before is 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Start {
    pub blocks: u64,
    pub ports: u64,
    /// Blocks that the ports have taken, and that have entered, in the first cycle.
    pub taken: u64,
    pub entered: u64,
    /// Of the group that is being collected.
    pub size: u64,
    pub collected: u64,
    pub gate: u64,
    pub lanes_free: u64,
    /// By accumulator, the next one first.
    pub stands: Vec<u64>,
}

/// What becomes of it, and of the unit.
#[derive(Debug, Clone, Default)]
pub(super) struct Pattern {
    pub start: Start,
    /// By block: the cycle in which it is taken.
    pub cycles: Vec<u64>,
    /// The last cycle in which any is taken, and how many.
    pub row: (u64, u64),
    pub waited: u64,
    pub entered: (u64, u64),
    pub size: u64,
    pub collected: u64,
    /// Groups that are issued.
    pub issued: u64,
    /// Where any is: as in [`Start`], of the accumulators that are used.
    pub gate: u64,
    pub lanes_free: u64,
    pub stands: Vec<u64>,
}

/// The patterns that have been seen.
#[derive(Debug, Clone, Default)]
pub(super) struct Patterns {
    /// What is looked for.
    pub start: Start,
    seen: Vec<Pattern>,
    /// The place of the one that was seen last, and of the one that is forgotten next.
    last: usize,
    oldest: usize,
}

impl Patterns {
    /// The pattern of a burst that comes as one before it did.
    #[inline]
    pub fn find(&mut self) -> Option<&Pattern> {
        if self.seen.get(self.last).is_none_or(|pattern| pattern.start != self.start) {
            self.last = self.seen.iter().position(|pattern| pattern.start == self.start)?;
        }
        self.seen.get(self.last)
    }

    /// Remembers what has become of a burst.
    pub fn keep(&mut self, pattern: Pattern) {
        if self.seen.len() < MOST {
            self.seen.push(pattern);
        } else {
            self.seen[self.oldest] = pattern;
            self.oldest = (self.oldest + 1) % MOST;
        }
    }
}
