//! The cycles of an engine of an AEAD other than AES-GCM, message by message.

use super::flow::{Dates, Taken};
use crate::gcm::{
    message::{SealOpen, Shape},
    timing::{Limit, Waits},
};

/// What became of blocks that were offered together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burst {
    /// The cycle in which the last one was taken.
    pub last: u64,
    pub waits: Waits,
    /// For what the last that waited did.
    pub limit: Limit,
}

impl Burst {
    /// Takes blocks one after the other; `take` gives the cycle, and what was waited for and how long.
    pub(super) fn of(blocks: u64, mut take: impl FnMut() -> Taken) -> Self {
        let mut burst = Self { last: 0, waits: Waits::default(), limit: Limit::Data };
        for block in 0..blocks {
            let taken = take();
            burst.last = taken.at;
            match taken.limit {
                Limit::Aes => burst.waits.aes += taken.waited,
                Limit::Ghash | Limit::Ports | Limit::Data => burst.waits.ghash += taken.waited,
            }
            // Behind the first block of a burst it is the burst itself that is at the ports.
            let itself = taken.limit == Limit::Data || (taken.limit == Limit::Ports && block > 0);
            if !itself {
                burst.limit = taken.limit;
            }
        }
        burst
    }
}

/// One message after the other through an engine.
pub trait SchemeTiming: std::fmt::Debug + Send + Sync {
    /// Loads a key in cycle `at`. Gives the cycle from which messages may start.
    fn load_key(&self, at: u64) -> u64;
    /// Bytes of text that are taken together.
    fn block_bytes(&self) -> u64 {
        16
    }
    fn passes_twice(&self, _direction: SealOpen) -> bool {
        false
    }
    /// A message starts in cycle `at`, when the one before is done. Gives the cycle from which it can take text.
    fn begin(&mut self, at: u64, shape: &Shape) -> u64;
    /// The tag that came with a message to be opened is there in cycle `at`, before the first of its text.
    fn seed(&mut self, _at: u64) {}
    /// Takes the next blocks, at least one, all there from cycle `visible` on.
    fn take(&mut self, visible: u64, blocks: u64) -> Burst;
    /// All text has passed for the first time.
    fn turn(&mut self) {}
    /// Ends the message, all of whose text has passed.
    fn end(&mut self) -> Dates;

    /// A message that starts in cycle `at`, its input always there and its output always taken.
    fn message(&mut self, at: u64, shape: &Shape) -> Dates {
        self.begin(at, shape);
        let blocks = shape.text_bytes.div_ceil(self.block_bytes());
        if blocks > 0 {
            self.take(at, blocks);
        }
        if self.passes_twice(shape.direction) {
            self.turn();
            if blocks > 0 {
                self.take(at, blocks);
            }
        }
        self.end()
    }
}
