//! What a PCE asked its engine in a run, and what it saw of the answers: another engine that gives these makes the same run.
//!
//! Of a burst it always sees when its bytes are taken, when text is out only as a write waits for it, and what it waited for only as something stalls; of the
//! work, the stretches that are charged. What it does not see may differ.

use super::engine::{Crossing, Engine};
use crate::{
    aead::spec::EngineSpec,
    gcm::{
        message::SealOpen,
        part::Part,
        timing::{Accepted, Limit},
    },
};
use std::cell::Cell;

/// Calls that are kept at most: those of some 16 MiB. What had more is not compared.
const MOST: usize = 1 << 15;

/// A call of an engine: cycles of the PCE's clock, and bytes of a burst.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// To load the key.
    Load,
    Start {
        cycle: u64,
        part: Part,
        direction: SealOpen,
    },
    Accept {
        cycle: u64,
        bytes: u32,
    },
    Finish {
        part: Part,
    },
}

/// A call, and what was seen of its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    pub call: Call,
    /// When bytes are taken, or when a tag and a share of one stand.
    pub dates: [u64; 2],
    /// When text is out.
    pub out: Option<u64>,
    /// What it waited for.
    pub limit: Option<Limit>,
    /// How many stretches of work were charged behind it; none if another call came first.
    pub charged: Option<usize>,
}

/// Calls and answers of a run, in their order.
#[derive(Debug, Clone)]
pub struct Answers {
    pub calls: Vec<Called>,
    /// The stretches of work that were charged.
    pub stretches: Vec<(u64, u64)>,
    crossing: Crossing,
}

/// What is noted of them during a run.
#[derive(Debug)]
pub(super) struct Notes {
    answers: Answers,
    full: bool,
    /// Of the last burst: its place, its answer, and whether it has been seen when it is out and what it waited for.
    last: Option<(usize, Accepted)>,
    seen: Cell<(bool, bool)>,
}

impl Notes {
    pub fn new(crossing: Crossing) -> Self {
        let answers = Answers { calls: Vec::new(), stretches: Vec::new(), crossing };
        let mut notes = Self { answers, full: false, last: None, seen: Cell::default() };
        notes.note(Call::Load, [0; 2]);
        notes
    }

    fn note(&mut self, call: Call, dates: [u64; 2]) {
        if self.answers.calls.len() == MOST {
            (self.full, self.last) = (true, None);
            (self.answers.calls, self.answers.stretches) = (Vec::new(), Vec::new());
        }
        if !self.full {
            self.answers.calls.push(Called { call, dates, out: None, limit: None, charged: None });
        }
    }

    pub fn started(&mut self, cycle: u64, part: Part, direction: SealOpen) {
        self.note(Call::Start { cycle, part, direction }, [0; 2]);
    }

    #[inline]
    pub fn accepted(&mut self, (cycle, bytes): (u64, u32), answer: Accepted) {
        self.settle();
        self.note(Call::Accept { cycle, bytes }, [taken(cycle, answer); 2]);
        self.last = self.answers.calls.len().checked_sub(1).map(|place| (place, answer));
    }

    pub fn finished(&mut self, part: Part, stand: [u64; 2]) {
        self.note(Call::Finish { part }, stand);
    }

    /// It is seen when text of the last burst is out.
    pub fn see_out(&self) {
        self.seen.set((true, self.seen.get().1));
    }

    /// It is seen what the last burst waited for.
    pub fn see_limit(&self) {
        self.seen.set((self.seen.get().0, true));
    }

    /// A stretch of work is charged, or none.
    pub fn charge(&mut self, stretch: Option<(u64, u64)>) {
        if let Some(called) = self.answers.calls.last_mut() {
            *called.charged.get_or_insert_default() += usize::from(stretch.is_some());
            self.answers.stretches.extend(stretch);
        }
    }

    /// Keeps what was seen of the last burst.
    fn settle(&mut self) {
        let seen = self.seen.take();
        if let Some((place, answer)) = self.last.take() {
            self.answers.calls[place].see(seen, answer);
        }
    }

    /// All answers, unless they were too many.
    pub fn whole(&self) -> Option<Answers> {
        let mut whole = self.answers.clone();
        if let Some((place, answer)) = self.last {
            whole.calls[place].see(self.seen.get(), answer);
        }
        (!self.full).then_some(whole)
    }
}

impl Answers {
    /// Whether another engine would have given them.
    pub fn are_those_of(&self, engine: &EngineSpec) -> bool {
        let Ok(timing) = engine.timing() else { return false };
        let mut engine = Engine::new(timing, engine.model().product(), self.crossing);
        let mut stretches = self.stretches.iter().copied();
        self.calls.iter().all(|called| called.is_answered_by(&mut engine, &mut stretches))
    }
}

impl Called {
    fn see(&mut self, (out, limit): (bool, bool), answer: Accepted) {
        self.out = out.then_some(answer.out);
        self.limit = limit.then(|| waited(answer.limit));
    }

    fn is_answered_by(&self, engine: &mut Engine, stretches: &mut impl Iterator<Item = (u64, u64)>) -> bool {
        let same = match self.call {
            Call::Load => true,
            Call::Start { cycle, part, direction } => {
                engine.start(cycle, part, direction);
                true
            }
            Call::Accept { cycle, bytes } => {
                let answer = engine.accept(cycle, bytes);
                self.dates == [taken(cycle, answer); 2]
                    && self.out.is_none_or(|out| out == answer.out)
                    && self.limit.is_none_or(|limit| limit == waited(answer.limit))
            }
            Call::Finish { part } => self.dates == engine.finish(part),
        };
        same && self.charged.is_none_or(|charged| {
            let mut own = Vec::new();
            engine.charge(|from, until| own.push((from, until)));
            own.len() == charged && own.into_iter().eq(stretches.take(charged))
        })
    }
}

/// When bytes are taken that are there in a cycle: not whether that was before.
fn taken(cycle: u64, answer: Accepted) -> u64 {
    answer.consumed.max(cycle)
}

/// Ports are lanes of AES to who waits for them.
const fn waited(limit: Limit) -> Limit {
    if matches!(limit, Limit::Ports) { Limit::Aes } else { limit }
}
