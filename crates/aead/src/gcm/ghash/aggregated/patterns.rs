//! Bursts that find the unit as one before them did: they take the same cycles, only later.
//!
//! Nothing that a unit does depends on a date, only on how long each of its parts is still busy when a burst comes. Bursts of a transfer come
//! alike, so that few patterns make up most of a message.

/// Most blocks of a burst that is remembered.
pub(super) const LONGEST: u64 = 64;
/// Most bursts that are remembered.
const MOST: usize = 32;

/// A burst, and how it finds the unit, by dates.
#[derive(Debug)]
pub(super) struct Meeting<'a> {
    /// The first cycle in which the burst may be taken.
    pub from: u64,
    pub blocks: u64,
    pub ports: u64,
    /// Blocks that the ports have taken, and that have entered, in that cycle.
    pub taken: u64,
    pub entered: u64,
    /// Of the group that is being collected.
    pub size: u64,
    pub collected: u64,
    pub gate: u64,
    pub lanes_free: u64,
    /// When accumulators are valid: those from the next one on, and those before it.
    pub valid_at: [&'a [u64]; 2],
}

/// The same by cycles from the first on; what lies before is 0.
#[derive(Debug, Default)]
pub(super) struct Start {
    blocks: u64,
    ports: u64,
    taken: u64,
    entered: u64,
    size: u64,
    collected: u64,
    gate: u64,
    lanes_free: u64,
    valid_at: Vec<u64>,
}

impl Meeting<'_> {
    /// Whether it is so, but for its date.
    #[inline]
    fn is(&self, start: &Start) -> bool {
        let (next, before) = start.valid_at.split_at(self.valid_at[0].len());
        let same =
            |valid_at: &[u64], after: &[u64]| valid_at.iter().zip(after).all(|(&at, &after)| self.after(at) == after);
        start.collected == self.collected
            && start.blocks == self.blocks
            && start.size == self.size
            && start.taken == self.taken
            && start.entered == self.entered
            && start.ports == self.ports
            && start.gate == self.after(self.gate)
            && start.lanes_free == self.after(self.lanes_free)
            && same(self.valid_at[0], next)
            && same(self.valid_at[1], before)
    }

    #[inline]
    const fn after(&self, cycle: u64) -> u64 {
        cycle.saturating_sub(self.from)
    }

    /// It, without its date.
    pub fn start(&self) -> Start {
        Start {
            blocks: self.blocks,
            ports: self.ports,
            taken: self.taken,
            entered: self.entered,
            size: self.size,
            collected: self.collected,
            gate: self.after(self.gate),
            lanes_free: self.after(self.lanes_free),
            valid_at: self.valid_at.concat().into_iter().map(|at| self.after(at)).collect(),
        }
    }
}

impl Start {
    /// Groups of `width` blocks that are issued.
    pub fn issues(&self, width: u64) -> u64 {
        (self.collected + self.blocks).checked_sub(self.size).map_or(0, |beyond| 1 + beyond / width)
    }
}

/// What becomes of it, and of the unit.
#[derive(Debug)]
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
    /// Groups that are issued, and by how many the next accumulator lies behind the one that was next.
    pub issued: u64,
    pub turn: usize,
    /// Where any is: when the gate opens, when the lanes are free, and when the accumulators are valid that were used.
    pub gate: u64,
    pub lanes_free: u64,
    pub valid_at: Vec<u64>,
}

#[derive(Debug, Default)]
pub(super) struct Patterns {
    seen: Vec<Pattern>,
    /// The place of the one that was found last, and of the one that is forgotten next.
    last: usize,
    oldest: usize,
}

impl Clone for Patterns {
    /// Of another unit, which is yet to see them.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Patterns {
    /// The pattern of a burst that comes as one before it did.
    #[inline]
    pub fn find(&mut self, meeting: &Meeting<'_>) -> Option<&Pattern> {
        if self.seen.get(self.last).is_none_or(|pattern| !meeting.is(&pattern.start)) {
            self.last = self.seen.iter().position(|pattern| meeting.is(&pattern.start))?;
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
