//! Named fault points: what can go wrong on every queue and wire, and when it does.

use crate::units::Femtos;
use serde::Serialize;
use std::collections::BTreeSet;

crate::units::named! {
    /// What goes wrong.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum FaultKind {
        /// A bit of what passes is inverted.
        Flip = "flip",
        /// A bit of the framing token is inverted.
        FlipToken = "flip_token",
        /// What passes is lost.
        Drop = "drop",
        /// What passes comes twice.
        Duplicate = "duplicate",
        /// What passes changes places with what comes next.
        Reorder = "reorder",
        /// A counter takes a step too many.
        Skip = "skip",
        /// A bit of a register is held at 0.
        Stuck0 = "stuck0",
        /// A bit of a register is held at 1.
        Stuck1 = "stuck1",
        /// A bit of a protected TLP is inverted above the LCRC, where only IDE can detect it.
        IdeFlip = "ide_flip",
    }
}

/// One fault that a run injects at a named point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Injection {
    /// The queue, wire or counter.
    pub place: String,
    pub kind: FaultKind,
    pub when: When,
    pub aim: Aim,
}

impl Injection {
    /// One at the n-th transfer, counted from 1; the seed of the run picks the bit of a flip.
    pub fn nth(place: impl Into<String>, kind: FaultKind, transfer: u64) -> Self {
        Self { place: place.into(), kind, when: When::Transfer(transfer), aim: Aim::default() }
    }
}

/// The transfer at which a fault activates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// The n-th, counted from 1.
    Transfer(u64),
    /// The first at or after this time.
    At(Femtos),
    /// The n-th of items of a sort, counted from 1.
    Sort(String, u64),
    /// The first of the n-th message that passes there, counted from 1.
    Message(u64),
}

/// Which bit a fault is in, and when a register is struck.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Aim {
    /// Of which field; of the whole item without one.
    pub field: Option<String>,
    /// Which bit, from 0, the lowest; without one the seed of the run picks it.
    pub bit: Option<u64>,
    /// In which cycle of its message a register is struck, from 0; without one the seed of the run picks it.
    pub cycle: Option<u64>,
    /// For how many cycles a bit is stuck; until the end of its message without it.
    pub cycles: Option<u64>,
}

impl Aim {
    /// Whether it is left to the seed, within the whole item.
    pub const fn is_free(&self) -> bool {
        self.field.is_none() && self.bit.is_none()
    }
}

/// What the items of a place let an injection choose, in addition to transfer, time and bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Selectors {
    /// Sorts of items that can be counted apart.
    pub sorts: &'static [&'static str],
    /// Fields of which a bit can be inverted.
    pub fields: &'static [&'static str],
    /// Whether an item knows its message.
    pub messages: bool,
}

impl Selectors {
    pub const NONE: Self = Self { sorts: &[], fields: &[], messages: false };
}

/// How a bit is picked among some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// By a seed: any of them.
    Seed(u64),
    /// This one, from 0.
    Bit(u64),
}

impl Pick {
    /// The bit among so many; none if there is none, or not this one.
    pub const fn among(self, bits: u64) -> Option<u64> {
        match self {
            Self::Seed(seed) => seed.checked_rem(bits),
            Self::Bit(bit) if bit < bits => Some(bit),
            Self::Bit(_) => None,
        }
    }
}

impl From<u64> for Pick {
    fn from(seed: u64) -> Self {
        Self::Seed(seed)
    }
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
    /// In something that is identified by its value alone: a tag, a header.
    Value,
    /// In something that is gone when it has passed.
    Passing,
}

/// Bytes of a word.
const WORD: u64 = 4;

impl Flip {
    /// Inverts the bit of `bytes` that is picked: bit b lies in byte b / 8, and the lowest of a byte is the first. None if there is none. With `address`, that of
    /// the first byte, it is one in memory.
    pub fn of_bytes(bytes: &mut [u8], pick: impl Into<Pick>, address: Option<u64>) -> Option<Self> {
        let bit = pick.into().among(bytes.len() as u64 * 8)?;
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
    pub const fn of_header(before: u64, after: u64) -> Self {
        Self { place: FlipPlace::Value, before, after }
    }

    /// Of bit `bit` of what will be gone when it has passed.
    pub const fn in_passing(bit: u64) -> Self {
        Self { place: FlipPlace::Passing, before: bit, after: bit }
    }

    /// Whether `other` inverts the same bit of the same thing, or of what that is compared with. What is gone when it has passed is the same
    /// only in the same transfer.
    pub fn cancels(&self, other: &Self, same_transfer: bool) -> bool {
        let back = (self.before, self.after) == (other.after, other.before);
        match (self.place, other.place) {
            (FlipPlace::Passing, FlipPlace::Passing) => same_transfer && self.before == other.before,
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
    /// Its transfer has not come.
    Waiting {
        /// Transfers that have.
        passed: u64,
    },
    /// Its transfer has come, but there was nothing that this kind of fault could befall.
    Missed,
    Struck {
        time: Femtos,
        /// At which transfer of its point, counted from 1.
        transfer: u64,
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
    when: When,
    aim: Aim,
    /// Transfers that have come, those of its sort, and the messages that they were of.
    passed: u64,
    of_sort: u64,
    messages: BTreeSet<u64>,
    /// Whether its transfer has come.
    over: bool,
    seed: u64,
    effect: Effect,
}

impl Armed {
    /// Arms `injection`, which is `number` in the list of the run; `seed` and its place in the list pick the bit.
    pub fn new(injection: &Injection, number: usize, seed: u64) -> Self {
        Self {
            kind: injection.kind,
            number,
            when: injection.when.clone(),
            aim: injection.aim.clone(),
            passed: 0,
            of_sort: 0,
            messages: BTreeSet::new(),
            over: false,
            // Neighbours in the list differ in the lowest bits, which are those that every length of item looks at: two faults that activate
            // the same thing invert different bits.
            seed: seed.wrapping_add(number as u64),
            effect: Effect::Waiting { passed: 0 },
        }
    }

    /// Counts one transfer at `time`, of something that has neither sort nor message; says whether this is the one. The caller then says what it
    /// [did](Self::struck).
    pub fn transfer(&mut self, time: Femtos) -> bool {
        self.transfer_of(time, "", None)
    }

    /// Counts one transfer at `time`, of an item of a sort and about a message; says whether this is the one.
    pub fn transfer_of(&mut self, time: Femtos, sort: &str, message: Option<u64>) -> bool {
        if self.over {
            return false;
        }
        self.count(1);
        self.over = match &self.when {
            When::Transfer(transfer) => self.passed == *transfer,
            When::At(from) => time >= *from,
            When::Sort(wanted, number) => {
                self.of_sort += u64::from(sort == wanted);
                sort == wanted && self.of_sort == *number
            }
            When::Message(number) => {
                let is_new = message.is_some_and(|message| self.messages.insert(message));
                is_new && self.messages.len() as u64 == *number
            }
        };
        self.over
    }

    /// Counts transfers, before its own.
    pub(super) const fn count(&mut self, transfers: u64) {
        self.passed += transfers;
        if let Effect::Waiting { passed } = &mut self.effect {
            *passed += transfers;
        }
    }

    /// Transfers from which on it must see each: those until its own, as far as that is known; none if it waits no more.
    pub(super) fn quiet(&self) -> Option<u64> {
        if self.over {
            return None;
        }
        Some(match &self.when {
            When::Transfer(transfer) => transfer.saturating_sub(self.passed),
            When::At(_) | When::Sort(..) | When::Message(_) => 1,
        })
    }

    /// Notes that it was activated at `time`.
    pub fn struck(&mut self, time: Femtos) {
        self.effect = Effect::Struck { time, transfer: self.passed, flip: None };
    }

    /// Notes that it has come to its transfer at `time` as a flip, which has inverted something or found nothing to invert.
    pub fn flipped(&mut self, time: Femtos, flip: Option<Flip>) {
        match flip {
            Some(_) => self.effect = Effect::Struck { time, transfer: self.passed, flip },
            None => self.effect = Effect::Missed,
        }
    }

    /// How it picks a bit: none where it asks for a field, which only an item has.
    pub fn pick(&self) -> Option<Pick> {
        self.aim.field.is_none().then(|| self.pick_within())
    }

    /// How it picks a bit within its field.
    pub(super) fn pick_within(&self) -> Pick {
        self.aim.bit.map_or(Pick::Seed(self.seed), Pick::Bit)
    }

    pub const fn aim(&self) -> &Aim {
        &self.aim
    }

    pub const fn kind(&self) -> FaultKind {
        self.kind
    }

    /// Its place in the list of faults of the run.
    pub const fn number(&self) -> usize {
        self.number
    }

    pub const fn effect(&self) -> Effect {
        self.effect
    }

    /// The number that picks the bit.
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
    fn two_tags_that_change_alike_cancel_and_two_frames_only_in_one_transfer() {
        let (mut computed, mut fetched) = ([7; 16], [7; 16]);
        assert!(flip(&mut computed, 300, None).cancels(&flip(&mut fetched, 300, None), false));
        let frame = Flip::in_passing(5);
        assert!(frame.cancels(&frame, true) && !frame.cancels(&frame, false));
        assert!(!frame.cancels(&Flip::in_passing(6), true));
        assert_eq!(Flip::of_bytes(&mut [], 3, None), None);
    }

    #[test]
    fn neighbours_in_the_list_invert_different_bits_whatever_they_strike() {
        let injection = Injection::nth("p", FaultKind::Flip, 1);
        let seeds: Vec<_> = (0..5).map(|number| Armed::new(&injection, number, u64::MAX - 2).seed()).collect();
        for bits in [8, 32, 48, 128, 2048, 4096 * 8] {
            let struck: std::collections::BTreeSet<_> = seeds.iter().map(|seed| seed % bits).collect();
            assert_eq!(struck.len(), seeds.len(), "{bits}");
        }
    }
}
