//! The cycles of an engine in a machine, where text comes when it comes.
//!
//! ```text
//!                  +----------------------------------+
//!   message ------>| begin                            |
//!   tag to open -->| seed (AES-GCM-SIV)               |
//!   text --------->| take, in order  (turn)  take     |----> text, one cycle later; of two passes, in the second one
//!                  | end                              |----> tag, verdict
//!                  +----------------------------------+
//! ```
//!
//! | | |
//! | --- | --- |
//! | accepts | what its scheme takes: see [`SchemeTiming`]'s implementations |
//! | passes | one; two where AES-GCM-SIV seals: all of the text goes by once for the tag, then once more to be enciphered |
//! | block | text of an incomplete block waits for the next burst |
//! | next message | when text and tag of the one before are out |
//! | stalls | [`Limit`]: its cipher or its authenticator |
//!
//! As in [`the timing of AES-GCM`](crate::gcm::timing), a call gives the cycles that the engine will need, whenever these lie.

use super::scheme_timing::SchemeTiming;
use super::spec::{AeadSpec, EngineSpec};
use crate::gcm::message::{SealOpen, Shape};
use crate::gcm::part::Part;
use crate::gcm::spec::SpecError;
use crate::gcm::timing::{Accepted, Finished, Limit, Timing, Waits, Work};
use std::fmt::Debug;

/// The cycles of an engine, whatever it seals with. Messages follow each other: start, text in order, finish.
pub trait EngineTiming: Debug {
    /// Loads a key from cycle `at` on, or once the last message is done.
    fn load_key(&mut self, at: u64);
    /// Starts a message without AAD, or of AES-GCM a part of one, in cycle `at`; the message before has been [finished](Self::finish).
    fn start(&mut self, at: u64, part: Part, direction: SealOpen);
    /// The tag that came with a message to be opened is there in cycle `at`. Only AES-GCM-SIV waits for it.
    fn seed(&mut self, _at: u64) {}
    /// Takes the next `bytes` of text, all visible from cycle `at` on; of text that passes twice, first all of it, then all of it again. Bytes beyond the
    /// pass are ignored.
    fn accept(&mut self, at: u64, bytes: u32) -> Accepted;
    /// Ends the message: all its text has been accepted, as often as it passes.
    fn finish(&mut self) -> Finished;
    /// The latest stretches of its work, oldest first; they may reach into the future, and the last may still grow.
    fn stretches(&self) -> &[(u64, u64)];
}

impl EngineSpec {
    /// The cycles of an engine at rest in cycle 0, without a key.
    pub fn timing(&self) -> Result<Box<dyn EngineTiming>, SpecError> {
        Ok(match self {
            Self::Gcm(spec) => Box::new(Timing::new(spec)?),
            Self::Other(spec) => Box::new(AeadTiming::new(spec)?),
        })
    }
}

/// An engine that is fed in bursts of bytes.
#[derive(Debug)]
pub struct AeadTiming {
    engine: Box<dyn SchemeTiming>,
    block: u64,
    text_bytes: u64,
    /// Bytes of the pass that have not come.
    left: u64,
    /// Whether another pass comes behind this one.
    again: bool,
    /// Bytes of the block that is not complete.
    held: u64,
    /// Cycle in which the data seen so far is visible.
    visible: u64,
    /// The last cycle in which text was taken.
    last: u64,
    /// When text and tag of the message before were out.
    done: u64,
    waits: Waits,
    work: Work,
}

impl AeadTiming {
    pub fn new(spec: &AeadSpec) -> Result<Self, SpecError> {
        let engine = spec.timing()?;
        Ok(Self {
            block: engine.block_bytes(),
            engine,
            text_bytes: 0,
            left: 0,
            again: false,
            held: 0,
            visible: 0,
            last: 0,
            done: 0,
            waits: Waits::default(),
            work: Work::default(),
        })
    }

    fn turn(&mut self) {
        if self.left == 0 && self.again {
            self.engine.turn();
            (self.again, self.left) = (false, self.text_bytes);
        }
    }

    /// The cycle in which text and tag of the last message, or the last key, were there.
    pub const fn done(&self) -> u64 {
        self.done
    }

    /// Cycles up to `until` in which the engine had work.
    pub fn busy(&self, until: u64) -> u64 {
        self.work.until(until)
    }

    /// Cycles in which text waited, since the engine was built.
    pub const fn waits(&self) -> Waits {
        self.waits
    }
}

impl EngineTiming for AeadTiming {
    fn load_key(&mut self, at: u64) {
        let from = at.max(self.done);
        self.done = self.engine.load_key(from);
        self.work.add(from, self.done);
    }

    fn start(&mut self, at: u64, part: Part, direction: SealOpen) {
        let at = at.max(self.done);
        let ready = self.engine.begin(at, &Shape::new(0, part.bytes, direction));
        self.work.add(at, ready);
        (self.text_bytes, self.left, self.held, self.visible, self.last) = (part.bytes, part.bytes, 0, at, at);
        self.again = self.engine.passes_twice(direction);
        self.turn();
    }

    fn seed(&mut self, at: u64) {
        self.engine.seed(at);
    }

    fn accept(&mut self, at: u64, bytes: u32) -> Accepted {
        let bytes = u64::from(bytes).min(self.left);
        self.left -= bytes;
        self.visible = self.visible.max(at);
        let total = self.held + bytes;
        let blocks = if self.left == 0 { total.div_ceil(self.block) } else { total / self.block };
        self.held = if self.left == 0 { 0 } else { total % self.block };
        let mut limit = Limit::Data;
        if blocks > 0 {
            let burst = self.engine.take(self.visible, blocks);
            (self.last, limit) = (burst.last, burst.limit);
            self.waits.aes += burst.waits.aes;
            self.waits.ghash += burst.waits.ghash;
            self.work.add(self.visible, self.last + 1);
        }
        self.turn();
        // Of a block that is not complete the date is not known yet.
        let consumed = self.last.max(self.visible);
        Accepted { consumed, out: consumed + 1, limit }
    }

    fn finish(&mut self) -> Finished {
        debug_assert!(self.left == 0 && !self.again, "the message is not complete");
        let dates = self.engine.end();
        self.done = dates.done();
        self.work.add(self.last, self.done);
        Finished { tag: dates.tag, verdict: dates.verdict }
    }

    fn stretches(&self) -> &[(u64, u64)] {
        &self.work.recent
    }
}
