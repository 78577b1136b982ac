//! GHASH units: hardware for Y = sum of X_i H^(N - i) over N blocks, i from 0, in GF(2^128).
//!
//! ```text
//!              +--------------------------------------+
//!   block ---->| ports: how many blocks per cycle,    |
//!   (AAD, text,| accumulators, multipliers, powers of |----> GHASH value, when it is known
//!    length)   | H: the family's own                  |
//!   H -------->|                                      |
//!              +--------------------------------------+
//! ```
//!
//! Every family has two forms in its file: `GhashUnit`, the registers with their values, clocked cycle by cycle, and
//! `TimingModel`, the cycles alone. Conventions that all share:
//!
//! - A value *is valid* in cycle t when its register shows it in t; it may be used in t. What is issued to a multiplier in
//!   t is valid in t + L, where L is the multiplier's latency.
//! - A unit knows the number of blocks N of a message when the message begins, and hashes one message at a time: the
//!   next may begin in the cycle in which the value of the one before is known.
//! - Blocks enter in order and without regard to what they are: AAD, text and length block follow each other with no
//!   bubble and no alignment.
//! - The *tail* runs from the cycle in which the last ciphertext block enters to the one in which the value is known.
//! - Powers of H are made by the unit's own multipliers when a key is loaded: see [`powers`].

pub mod aggregated;
mod buffered;
pub mod folded;
pub mod interleaved;
pub mod message_parallel;
pub mod powers;
pub mod segmented;
pub mod serial;
pub mod sub_chains;
pub mod unhindered;
pub mod weights;

use super::field::Element;
use super::multiplier::Made;
use super::spec::GhashSpec;

/// A unit with its values, clocked cycle by cycle: [`Datapath::clock`] first, then what happens in that cycle.
pub trait Datapath {
    /// To the next cycle.
    fn clock(&mut self);
    /// H comes in this cycle; the unit starts making its powers.
    fn load(&mut self, h: Element);
    /// Whether all powers are valid in this cycle.
    fn ready(&self) -> bool;
    /// A message of `blocks` blocks, the length block included, begins in this cycle.
    fn begin(&mut self, blocks: u64);
    /// Whether the next block may enter in this cycle.
    fn can_enter(&self) -> bool;
    /// The next block enters in this cycle.
    fn enter(&mut self, block: Element);
    /// The value, if it is valid in this cycle.
    fn result(&self) -> Option<Element>;
    /// Shows every register: its name, its index among those of that name, its value, which may be changed.
    fn registers(&mut self, see: &mut dyn FnMut(&'static str, usize, &mut u128));
    /// Shows every product that is valid in this cycle: the index of its multiplier, and the product.
    fn products(&self, see: &mut dyn FnMut(usize, Made));
}

#[derive(Debug, Clone, Copy)]
pub enum Taken<'a> {
    /// So many blocks in one cycle.
    Row { at: u64, blocks: u64 },
    /// The last so many blocks' cycles again, for as many blocks that follow.
    Again {
        blocks: u64,
        times: u64,
        /// How much later each time.
        later: u64,
    },
    Burst {
        from: u64,
        /// By block: how long after that it is taken.
        cycles: &'a [u64],
    },
}

impl Taken<'_> {
    /// Appends, by block, how long after cycle `from` it is taken, to what came before.
    pub fn note(self, from: u64, cycles: &mut Vec<u64>) {
        match self {
            Taken::Row { at, blocks } => cycles.extend((0..blocks).map(|_| at - from)),
            Taken::Again { blocks, times, later } => {
                for _ in 0..blocks * times {
                    cycles.push(cycles[cycles.len() - blocks as usize] + later);
                }
            }
            Taken::Burst { from: first, cycles: burst } => {
                cycles.extend(burst.iter().map(|after| first + after - from));
            }
        }
    }
}

/// The cycles of a unit without its values.
///
/// Times never go back: each call's cycle is at least that of the call before.
pub trait GhashTiming {
    /// Cycles from H to all powers.
    fn power_setup(&self) -> u64;
    /// A message of `blocks` blocks begins in cycle `at`, in which the message before it is known.
    fn begin(&mut self, at: u64, blocks: u64);
    /// Earliest cycle in which the next block may enter.
    fn earliest(&self) -> u64;
    /// Earliest cycle from `at` on in which the next block may enter.
    fn next(&self, at: u64) -> u64 {
        at.max(self.earliest())
    }
    /// Blocks, of the next `want`, that may enter in cycle `at`, which [`GhashTiming::next`] gave: one at least.
    fn room(&self, at: u64, want: u64) -> u64;
    /// The next `count` blocks enter in cycle `at`; no more than there is room for.
    fn enter(&mut self, at: u64, count: u64);
    /// Ends the message, all of whose blocks have entered: the cycle in which the value is known. Called once.
    fn known(&mut self) -> u64;
    /// Takes `blocks` blocks that are all there from cycle `visible` on, at most `ports` in a cycle, of which the last one that took any was the
    /// first of `row` and took the second. `each` is notified of what is taken, in order. Gives the new `row` and the cycles in which fewer were taken
    /// than the ports could.
    #[inline]
    fn pass(
        &mut self,
        mut row: (u64, u64),
        visible: u64,
        ports: u64,
        blocks: u64,
        mut each: impl FnMut(Taken<'_>),
    ) -> ((u64, u64), u64)
    where
        Self: Sized,
    {
        let (mut left, mut waited) = (blocks, 0);
        while left > 0 {
            waited += self.pass_row(&mut row, visible, ports, &mut left, &mut each);
        }
        (row, waited)
    }

    /// The next row of [`GhashTiming::pass`]: what one cycle takes of `left` blocks.
    #[inline]
    fn pass_row(
        &mut self,
        row: &mut (u64, u64),
        visible: u64,
        ports: u64,
        left: &mut u64,
        each: &mut impl FnMut(Taken<'_>),
    ) -> u64
    where
        Self: Sized,
    {
        let free = visible.max(row.0 + u64::from(row.1 == ports));
        let at = self.next(free);
        let used = if row.0 == at { row.1 } else { 0 };
        let want = (*left).min(ports - used);
        let room = self.room(at, want);
        self.enter(at, room);
        each(Taken::Row { at, blocks: room });
        *row = (at, used + room);
        *left -= room;
        at - free + u64::from(room < want)
    }
}

/// The families: each is a file with a `GhashUnit` and a `TimingModel`, and is named here once.
macro_rules! families {
    ($($family:ident: $module:ident),* $(,)?) => {
        #[derive(Debug, Clone)]
        #[allow(missing_docs)]
        pub enum GhashUnit { $($family($module::GhashUnit)),* }

        impl Datapath for GhashUnit {
            fn clock(&mut self) { match self { $(Self::$family(unit) => unit.clock()),* } }
            fn load(&mut self, h: Element) { match self { $(Self::$family(unit) => unit.load(h)),* } }
            fn ready(&self) -> bool { match self { $(Self::$family(unit) => unit.ready()),* } }
            fn begin(&mut self, blocks: u64) { match self { $(Self::$family(unit) => unit.begin(blocks)),* } }
            fn can_enter(&self) -> bool { match self { $(Self::$family(unit) => unit.can_enter()),* } }
            fn enter(&mut self, block: Element) { match self { $(Self::$family(unit) => unit.enter(block)),* } }
            fn result(&self) -> Option<Element> { match self { $(Self::$family(unit) => unit.result()),* } }
            fn registers(&mut self, see: &mut dyn FnMut(&'static str, usize, &mut u128)) {
                match self { $(Self::$family(unit) => unit.registers(see)),* }
            }
            fn products(&self, see: &mut dyn FnMut(usize, Made)) {
                match self { $(Self::$family(unit) => unit.products(see)),* }
            }
        }

        /// The timing of any family, or of a unit of any that never makes a block wait.
        #[derive(Debug, Clone)]
        #[allow(missing_docs)]
        pub enum TimingModel { $($family($module::TimingModel)),*, Unhindered(unhindered::TimingModel) }

        impl GhashTiming for TimingModel {
            #[inline]
            fn power_setup(&self) -> u64 { match self { $(Self::$family(unit) => unit.power_setup()),*, Self::Unhindered(unit) => unit.power_setup() } }
            #[inline]
            fn begin(&mut self, at: u64, blocks: u64) { match self { $(Self::$family(unit) => unit.begin(at, blocks)),*, Self::Unhindered(unit) => unit.begin(at, blocks) } }
            #[inline]
            fn earliest(&self) -> u64 { match self { $(Self::$family(unit) => unit.earliest()),*, Self::Unhindered(unit) => unit.earliest() } }
            #[inline]
            fn next(&self, at: u64) -> u64 { match self { $(Self::$family(unit) => unit.next(at)),*, Self::Unhindered(unit) => unit.next(at) } }
            #[inline]
            fn room(&self, at: u64, want: u64) -> u64 { match self { $(Self::$family(unit) => unit.room(at, want)),*, Self::Unhindered(unit) => unit.room(at, want) } }
            #[inline]
            fn enter(&mut self, at: u64, count: u64) { match self { $(Self::$family(unit) => unit.enter(at, count)),*, Self::Unhindered(unit) => unit.enter(at, count) } }
            #[inline]
            fn known(&mut self) -> u64 { match self { $(Self::$family(unit) => unit.known()),*, Self::Unhindered(unit) => unit.known() } }
            fn pass(&mut self, row: (u64, u64), visible: u64, ports: u64, blocks: u64, each: impl FnMut(Taken<'_>)) -> ((u64, u64), u64) {
                match self {
                    $(Self::$family(unit) => unit.pass(row, visible, ports, blocks, each)),*,
                    Self::Unhindered(unit) => unit.pass(row, visible, ports, blocks, each),
                }
            }
        }
    };
}

families! {
    Serial: serial, Interleaved: interleaved, Aggregated: aggregated, Folded: folded, Segmented: segmented,
    SubChains: sub_chains,
}

/// The datapath or the timing of a specification; `$alone` makes that of a unit which hashes one of several messages.
macro_rules! of_spec {
    ($spec:expr, $of:ident, $alone:ident) => {
        match $spec {
            GhashSpec::Serial { multiplier, first_block } => {
                Self::Serial(serial::$of::new(multiplier, first_block.unwrap_or_default().0))
            }
            GhashSpec::Interleaved { ways, multipliers, closing, multiplier } => {
                Self::Interleaved(interleaved::$of::new(*ways, *multipliers, *closing, multiplier))
            }
            GhashSpec::Aggregated { width, groups, multiplier } => {
                Self::Aggregated(aggregated::$of::new(*width, *groups, multiplier))
            }
            GhashSpec::Folded { powers, fold, multiplier } => {
                Self::Folded(folded::$of::new(*powers, fold.0, multiplier))
            }
            GhashSpec::Segmented { units, segment, ports, buffer, unit } => {
                Self::Segmented(segmented::$of::new(*units, *segment, *ports, *buffer, unit))
            }
            GhashSpec::MessageParallel { ports, buffer, unit, .. } => {
                Self::SubChains(message_parallel::$alone(*ports, *buffer, unit))
            }
            GhashSpec::SubChains { chains, chunk, ports, buffer, unit } => {
                Self::SubChains(sub_chains::$of::new(*chains, chunk.0 / 16, *ports, *buffer, unit))
            }
        }
    };
}

impl GhashUnit {
    /// The unit of a specification, at rest; of one that hashes several messages at a time, one of its units. The specification has been checked.
    pub fn new(spec: &GhashSpec) -> Self {
        of_spec!(spec, GhashUnit, unit)
    }

    /// A message that has one value whatever the family begins in this cycle: a J0 in the making.
    pub fn begin_alone(&mut self, blocks: u64) {
        match self {
            Self::SubChains(unit) => unit.begin_alone(blocks),
            unit => unit.begin(blocks),
        }
    }

    /// The value of one chain of the message, if all are valid in this cycle.
    pub fn value(&self, chain: usize) -> Option<Element> {
        match self {
            Self::SubChains(unit) => unit.value(chain),
            unit => unit.result(),
        }
    }
}

impl TimingModel {
    /// The timing of a specification, at rest; of one that hashes several messages at a time, one of its units'. The specification has been checked.
    pub fn new(spec: &GhashSpec) -> Self {
        let own = Self::of_family(spec);
        unhindered::TimingModel::new(spec, own.power_setup()).map_or(own, Self::Unhindered)
    }

    /// The family's own timing, whether or not it ever makes a block wait.
    pub fn of_family(spec: &GhashSpec) -> Self {
        of_spec!(spec, TimingModel, timing)
    }

    /// So many blocks behind the first `start` of a message begin in cycle `at`, with its values so far; the message ends with them if that `closes` it.
    pub fn begin_turn(&mut self, at: u64, (start, blocks): (u64, u64), closes: bool) {
        match self {
            Self::SubChains(unit) => unit.begin_turn(at, (start, blocks), closes),
            unit => unit.begin(at, blocks),
        }
    }

    /// A message that has one value whatever the family begins in cycle `at`: a J0 in the making.
    pub fn begin_alone(&mut self, at: u64, blocks: u64) {
        match self {
            Self::SubChains(unit) => unit.begin_alone(at, blocks),
            unit => unit.begin(at, blocks),
        }
    }
}
