//! Named fault points: what can go wrong on every queue and wire, and when it does.

use super::queue::Item;
use serde::Serialize;
use std::collections::VecDeque;

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// A bit of what passes is inverted.
    Flip,
    /// A bit of the framing token is inverted.
    FlipToken,
    /// What passes is lost.
    Drop,
    /// What passes comes twice.
    Duplicate,
    /// What passes changes places with what comes next.
    Reorder,
    /// A counter takes a step too many.
    Skip,
    /// A bit of a protected TLP is inverted above the LCRC, where only IDE can tell.
    IdeFlip,
}

impl FaultKind {
    /// The name as a fault point ends.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flip => "flip",
            Self::FlipToken => "flip_token",
            Self::Drop => "drop",
            Self::Duplicate => "duplicate",
            Self::Reorder => "reorder",
            Self::Skip => "skip",
            Self::IdeFlip => "ide_flip",
        }
    }
}

/// One fault that a run injects: at the n-th passage of a named point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Injection {
    /// The queue, wire or counter.
    pub place: String,
    /// What goes wrong there.
    pub kind: FaultKind,
    /// At which passage, counted from 1.
    pub passage: u64,
}

/// A fault that waits at its point.
#[derive(Debug, Clone)]
pub struct Armed {
    kind: FaultKind,
    countdown: u64,
    seed: u64,
}

impl Armed {
    /// Arms `injection`; `seed` picks the bit.
    #[must_use]
    pub fn new(injection: &Injection, seed: u64) -> Self {
        Self { kind: injection.kind, countdown: injection.passage, seed }
    }

    /// Counts one passage; gives what goes wrong if this is the one.
    pub fn passage(&mut self) -> Option<FaultKind> {
        if self.countdown == 0 {
            return None;
        }
        self.countdown -= 1;
        (self.countdown == 0).then_some(self.kind)
    }

    /// Whether it has struck.
    #[must_use]
    pub const fn struck(&self) -> bool {
        self.countdown == 0
    }

    /// The number that picks the bit.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }
}

/// What a queue keeps for its fault points.
#[derive(Debug)]
pub(super) struct Faults<T> {
    armed: Vec<Armed>,
    held: Option<T>,
}

impl<T: Item> Faults<T> {
    pub fn new() -> Self {
        Self { armed: Vec::new(), held: None }
    }

    pub fn arm(&mut self, armed: Armed) {
        self.armed.push(armed);
    }

    pub fn struck(&self) -> usize {
        self.armed.iter().filter(|a| a.struck()).count()
    }

    /// What comes out when `item` passes: nothing, one or two items.
    pub fn pass(&mut self, mut item: T) -> VecDeque<T> {
        let mut out = VecDeque::new();
        let held = self.held.take();
        let strikes: Vec<_> = self.armed.iter_mut().filter_map(|a| a.passage().map(|kind| (kind, a.seed()))).collect();
        let mut copies = 1;
        for (kind, seed) in strikes {
            match kind {
                FaultKind::Flip => item.flip(seed),
                FaultKind::FlipToken => item.flip_token(seed),
                FaultKind::IdeFlip => item.flip_protected(seed),
                FaultKind::Drop => copies = 0,
                FaultKind::Duplicate => copies = 2,
                FaultKind::Reorder => {
                    self.held = Some(item.clone());
                    copies = 0;
                }
                FaultKind::Skip => {}
            }
        }
        out.extend(std::iter::repeat_n(item, copies));
        out.extend(held);
        out
    }
}
