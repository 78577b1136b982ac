//! Named fault points: what can go wrong on every queue and wire, and when it does.

use crate::units::Femtos;
use serde::Serialize;

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

/// What a flip made of the word that its bit lies in: enough to tell whether another one undoes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flip {
    place: FlipPlace,
    before: u64,
    after: u64,
}

/// Where the bit of a flip is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FlipPlace {
    /// In memory, or in what was read from there: the address of its word.
    Memory(u64),
    /// In something that is told apart by its value alone: a tag, a header.
    Value,
    /// In something that is gone when it has passed.
    Passing,
}

/// Bytes of a word.
const WORD: u64 = 4;

impl Flip {
    /// Inverts the bit of `bytes` that `seed` picks; none if there is none. With `address`, that of the first byte, it is one in memory.
    pub fn of_bytes(bytes: &mut [u8], seed: u64, address: Option<u64>) -> Option<Self> {
        let bit = seed.checked_rem(bytes.len() as u64 * 8)?;
        let start = bit / 8 / WORD * WORD;
        let word = |bytes: &[u8]| {
            bytes.iter().skip(start as usize).take(WORD as usize).fold(1, |word, &byte| word << 8 | u64::from(byte))
        };
        let before = word(bytes);
        *bytes.get_mut((bit / 8) as usize)? ^= 1 << (bit % 8);
        let place = address.map_or(FlipPlace::Value, |address| FlipPlace::Memory(address.wrapping_add(start)));
        Some(Self { place, before, after: word(bytes) })
    }

    /// Of a header that was `before` and is `after`.
    #[must_use]
    pub const fn of_header(before: u64, after: u64) -> Self {
        Self { place: FlipPlace::Value, before, after }
    }

    /// Of bit `bit` of what will be gone when it has passed.
    #[must_use]
    pub const fn in_passing(bit: u64) -> Self {
        Self { place: FlipPlace::Passing, before: bit, after: bit }
    }

    /// Whether `other` inverts the same bit of the same thing, or of what that is compared with. What is gone when it has passed is the same
    /// only in the same passage.
    #[must_use]
    pub fn cancels(&self, other: &Self, same_passage: bool) -> bool {
        let back = (self.before, self.after) == (other.after, other.before);
        match (self.place, other.place) {
            (FlipPlace::Passing, FlipPlace::Passing) => same_passage && self.before == other.before,
            (FlipPlace::Passing, _) | (_, FlipPlace::Passing) => false,
            (FlipPlace::Memory(mine), FlipPlace::Memory(theirs)) => back && mine == theirs,
            // Of two tags that are compared, both may have changed alike.
            _ => back || (self.before, self.after) == (other.before, other.after),
        }
    }
}

/// What became of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Its passage has not come.
    Waiting {
        /// Passages that have.
        passed: u64,
    },
    /// Its passage has come, but there was nothing that this kind of fault could befall.
    Missed,
    /// It has struck.
    Struck {
        /// When.
        time: Femtos,
        /// What it inverted, if it was a flip.
        flip: Option<Flip>,
    },
}

/// A fault that waits at its point.
#[derive(Debug, Clone)]
pub struct Armed {
    pub(super) kind: FaultKind,
    /// Its place in the list of faults of the run.
    number: usize,
    pub(super) countdown: u64,
    pub(super) seed: u64,
    effect: Effect,
}

impl Armed {
    /// Arms `injection`, which is `number` in the list of the run; `seed` and its place in the list pick the bit.
    #[must_use]
    pub fn new(injection: &Injection, number: usize, seed: u64) -> Self {
        // Neighbours in the list differ in the lowest bits, which are those that every length of item looks at: two faults that strike
        // the same thing invert different bits.
        let seed = seed.wrapping_add(number as u64);
        let effect = Effect::Waiting { passed: 0 };
        Self { kind: injection.kind, number, countdown: injection.passage, seed, effect }
    }

    /// Counts one passage; says whether this is the one. The caller then says what it [did](Self::struck).
    pub const fn passage(&mut self) -> bool {
        if self.countdown == 0 {
            return false;
        }
        self.countdown -= 1;
        if let Effect::Waiting { passed } = &mut self.effect {
            *passed += 1;
        }
        self.countdown == 0
    }

    /// Counts passages, before its own.
    pub(super) const fn count(&mut self, passages: u64) {
        self.countdown = self.countdown.saturating_sub(passages);
        if let Effect::Waiting { passed } = &mut self.effect {
            *passed += passages;
        }
    }

    /// Notes that it has struck at `time`.
    pub const fn struck(&mut self, time: Femtos) {
        self.effect = Effect::Struck { time, flip: None };
    }

    /// Notes that it has come to its passage at `time` as a flip, which has inverted something or found nothing to invert.
    pub const fn flipped(&mut self, time: Femtos, flip: Option<Flip>) {
        match flip {
            Some(_) => self.effect = Effect::Struck { time, flip },
            None => self.effect = Effect::Missed,
        }
    }

    /// Its place in the list of faults of the run.
    #[must_use]
    pub const fn number(&self) -> usize {
        self.number
    }

    /// What became of it.
    #[must_use]
    pub const fn effect(&self) -> Effect {
        self.effect
    }

    /// The number that picks the bit.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn flip(bytes: &mut [u8], seed: u64, address: Option<u64>) -> Flip {
        Flip::of_bytes(bytes, seed, address).unwrap()
    }

    proptest! {
        #[test]
        fn a_flip_is_undone_by_the_same_bit_of_the_same_word_and_by_nothing_else(
            bytes in prop::collection::vec(any::<u8>(), 1..40), seed: u64, other: u64, address in 0u64..1 << 50,
        ) {
            let mut work = bytes.clone();
            let first = flip(&mut work, seed, Some(address));
            let second = flip(&mut work, other, Some(address));
            prop_assert_eq!(first.cancels(&second, false), work == bytes);
            let mut elsewhere = bytes.clone();
            flip(&mut elsewhere, seed, None);
            let back = flip(&mut elsewhere, seed, Some(address + 64));
            prop_assert!(!first.cancels(&back, false));
        }
    }

    #[test]
    fn two_tags_that_change_alike_cancel_and_two_frames_only_in_one_passage() {
        let (mut computed, mut fetched) = ([7; 16], [7; 16]);
        assert!(flip(&mut computed, 300, None).cancels(&flip(&mut fetched, 300, None), false));
        let frame = Flip::in_passing(5);
        assert!(frame.cancels(&frame, true) && !frame.cancels(&frame, false));
        assert!(!frame.cancels(&Flip::in_passing(6), true));
        assert_eq!(Flip::of_bytes(&mut [], 3, None), None);
    }

    #[test]
    fn neighbours_in_the_list_invert_different_bits_whatever_they_strike() {
        let injection = Injection { place: "p".into(), kind: FaultKind::Flip, passage: 1 };
        let seeds: Vec<_> = (0..5).map(|number| Armed::new(&injection, number, u64::MAX - 2).seed()).collect();
        for bits in [8, 32, 48, 128, 2048, 4096 * 8] {
            let struck: std::collections::BTreeSet<_> = seeds.iter().map(|seed| seed % bits).collect();
            assert_eq!(struck.len(), seeds.len(), "{bits}");
        }
    }
}
