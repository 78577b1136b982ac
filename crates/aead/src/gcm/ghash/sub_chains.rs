//! `sub_chains {chains c, chunk, ports p, buffer b, unit}`: chunk j of a message goes to chain j mod c, and each chain ends
//! in a value of its own, from which a tag is made.
//!
//! ```text
//!                  +--> [ buffer ]--> [ unit 0 ]----> Y_0
//!   X, p a cycle --+--> [ buffer ]--> [ unit 1 ]----> Y_1
//!                  +--> ...                           ...
//!   length --------+--> all of them
//! ```
//!
//! Chunks of k blocks are counted over AAD and text together; the length block, which holds the lengths of the whole message,
//! ends every chain. What becomes of the values, and why that is safe, is said in [`chains`](crate::gcm::bulk::chains).
//! A J0 from an IV that has not 96 bits is one value: the first chain makes it alone.
//!
//! | | |
//! | --- | --- |
//! | accepts | up to p blocks per cycle, each while its chain's buffer has room; the length block, when all have |
//! | in order, blocks per cycle | k over the most of: k / p; (k - b) / r if b < k; k / (c r), where a unit with all its input there takes blocks at rate r. With b >= k: min(p, c r). With b small: one unit, r |
//! | tail | the longest of the chains': for the chain with the last ciphertext block the unit's own; for the others that of a length block alone |
//! | closing | the units' own |
//! | partial chunks, alignment | AAD and text share the count; chains may differ by a chunk, and a chain without any has its length block |
//! | buffers | c b blocks |
//! | powers | the units', made at the same time |

use super::buffered::{Buffered, Feed};
use super::{Datapath, GhashTiming};
use crate::gcm::field::Element;
use crate::gcm::multiplier::Made;
use crate::gcm::spec::GhashSpec;

/// How the blocks of a message fall to chains.
#[derive(Debug, Clone, Copy)]
struct Deal {
    chains: u64,
    chunk: u64,
    /// Blocks that are dealt; the block after them goes to all chains. In a J0, the first chain takes all.
    data: u64,
    alone: bool,
    entered: u64,
}

impl Deal {
    const fn new(chains: u64, chunk: u64) -> Self {
        Self { chains, chunk, data: 0, alone: false, entered: 0 }
    }

    const fn begin(&mut self, blocks: u64, alone: bool) {
        (self.data, self.alone, self.entered) = (blocks - 1, alone, 0);
    }

    const fn done(&self) -> bool {
        self.entered > self.data
    }

    /// Chains that take part.
    const fn active(&self) -> u64 {
        if self.alone { 1 } else { self.chains }
    }

    /// The chain of data block `block`.
    const fn chain(&self, block: u64) -> u64 {
        if self.alone { 0 } else { block / self.chunk % self.chains }
    }

    /// Data blocks before `block` that fall to `chain`.
    fn before(&self, block: u64, chain: u64) -> u64 {
        if self.alone {
            return block;
        }
        let (turn, within) = (self.chunk * self.chains, block % (self.chunk * self.chains));
        block / turn * self.chunk + within.saturating_sub(chain * self.chunk).min(self.chunk)
    }
}

/// The registers.
#[derive(Debug, Clone)]
pub struct GhashUnit {
    ports: u32,
    deal: Deal,
    units: Vec<Buffered>,
    entered_in_cycle: u32,
}

impl GhashUnit {
    /// Units at rest.
    #[must_use]
    pub fn new(chains: u32, chunk: u64, ports: u32, buffer: u32, unit: &GhashSpec) -> Self {
        let units = (0..chains).map(|_| Buffered::new(super::GhashUnit::new(unit), buffer)).collect();
        Self { ports, deal: Deal::new(chains.into(), chunk), units, entered_in_cycle: 0 }
    }

    /// A message for the first chain alone begins in this cycle.
    pub fn begin_alone(&mut self, blocks: u64) {
        self.start(blocks, true);
    }

    fn start(&mut self, blocks: u64, alone: bool) {
        self.deal.begin(blocks, alone);
        for chain in 0..self.deal.active() {
            let unit = &mut self.units[chain as usize];
            unit.take();
            unit.expect(chain, self.deal.before(blocks - 1, chain) + 1);
            unit.pass_on();
        }
    }

    /// The value of a chain, if those of all chains are valid.
    #[must_use]
    pub fn value(&self, chain: usize) -> Option<Element> {
        let valid = self.deal.done() && self.units[..self.deal.active() as usize].iter().all(|u| u.value().is_some());
        if valid { self.units[chain].value().map(|(_, value)| value) } else { None }
    }
}

impl Datapath for GhashUnit {
    fn clock(&mut self) {
        self.entered_in_cycle = 0;
        for unit in &mut self.units {
            unit.clock();
            unit.pass_on();
        }
    }

    fn load(&mut self, h: Element) {
        self.units.iter_mut().for_each(|unit| unit.load(h));
    }

    fn ready(&self) -> bool {
        self.units.iter().all(Buffered::ready)
    }

    fn begin(&mut self, blocks: u64) {
        self.start(blocks, false);
    }

    fn can_enter(&self) -> bool {
        let active = &self.units[..self.deal.active() as usize];
        self.entered_in_cycle < self.ports
            && match self.deal.entered.cmp(&self.deal.data) {
                std::cmp::Ordering::Less => active[self.deal.chain(self.deal.entered) as usize].has_room(),
                std::cmp::Ordering::Equal => active.iter().all(Buffered::has_room),
                std::cmp::Ordering::Greater => false,
            }
    }

    fn enter(&mut self, block: Element) {
        if self.deal.entered < self.deal.data {
            self.units[self.deal.chain(self.deal.entered) as usize].enter(block);
        } else {
            self.units[..self.deal.active() as usize].iter_mut().for_each(|unit| unit.enter(block));
        }
        self.deal.entered += 1;
        self.entered_in_cycle += 1;
    }

    fn result(&self) -> Option<Element> {
        self.value(0)
    }

    fn registers(&mut self, see: &mut dyn FnMut(&'static str, usize, &mut u128)) {
        self.units.iter_mut().enumerate().for_each(|(index, unit)| unit.registers(index, see));
    }

    fn products(&self, see: &mut dyn FnMut(usize, Made)) {
        self.units.iter().enumerate().for_each(|(index, unit)| unit.products(index, see));
    }
}

/// The cycles.
#[derive(Debug, Clone)]
pub struct TimingModel {
    ports: u64,
    deal: Deal,
    units: Box<[Feed]>,
    gate: u64,
    entered: (u64, u64),
    known: u64,
}

impl TimingModel {
    /// Units at rest.
    #[must_use]
    pub fn new(chains: u32, chunk: u64, ports: u32, buffer: u32, unit: &GhashSpec) -> Self {
        let feed = Feed::new(super::TimingModel::new(unit), buffer);
        let (gate, entered, known) = (0, (0, 0), 0);
        let (deal, units) = (Deal::new(chains.into(), chunk), vec![feed; chains as usize].into());
        Self { ports: ports.into(), deal, units, gate, entered, known }
    }

    /// A message for the first chain alone begins in cycle `at`.
    pub fn begin_alone(&mut self, at: u64, blocks: u64) {
        self.start(at, blocks, true);
    }

    fn start(&mut self, at: u64, blocks: u64, alone: bool) {
        self.deal.begin(blocks, alone);
        self.gate = self.gate.max(at);
        for chain in 0..self.deal.active() {
            self.units[chain as usize].begin(self.gate, self.deal.before(blocks - 1, chain) + 1);
        }
    }

    /// When the buffers have room for the block `ahead` of the next one.
    fn room_at(&self, ahead: u64) -> u64 {
        let block = self.deal.entered + ahead;
        let room = |chain: u64| {
            let before = self.deal.before(block, chain) - self.deal.before(self.deal.entered, chain);
            self.units[chain as usize].room_at(before)
        };
        if block < self.deal.data {
            room(self.deal.chain(block))
        } else {
            (0..self.deal.active()).map(room).max().unwrap_or(0)
        }
    }
}

impl GhashTiming for TimingModel {
    fn power_setup(&self) -> u64 {
        self.units[0].power_setup()
    }

    fn begin(&mut self, at: u64, blocks: u64) {
        self.start(at, blocks, false);
    }

    fn earliest(&self) -> u64 {
        let (cycle, count) = self.entered;
        self.gate.max(cycle + u64::from(count == self.ports)).max(self.room_at(0))
    }

    fn room(&self, at: u64, want: u64) -> u64 {
        let (cycle, count) = self.entered;
        let want = want.min(self.ports - if cycle == at { count } else { 0 });
        (0..want).find(|&ahead| self.room_at(ahead) > at).unwrap_or(want)
    }

    fn enter(&mut self, at: u64, count: u64) {
        self.entered = if self.entered.0 == at { (at, self.entered.1 + count) } else { (at, count) };
        for _ in 0..count {
            if self.deal.entered < self.deal.data {
                self.units[self.deal.chain(self.deal.entered) as usize].enter(at);
            } else {
                self.units[..self.deal.active() as usize].iter_mut().for_each(|unit| unit.enter(at));
            }
            self.deal.entered += 1;
        }
        if self.deal.done() {
            let active = &mut self.units[..self.deal.active() as usize];
            self.known = active.iter_mut().map(Feed::known).max().unwrap_or(at);
        }
    }

    fn known(&mut self) -> u64 {
        self.known
    }
}
