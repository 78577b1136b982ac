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
//! | turns | of a message's blocks only some: its chains go on where they stood, from the values that they had, and those that get none of them rest. The next turn begins when all chains' values are known |

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
    /// The blocks of the message before those that are dealt.
    start: u64,
    /// The end of the blocks that are dealt; the block after them, if the message ends with them, goes to all chains. In a J0, the first chain takes all.
    data: u64,
    end: u64,
    alone: bool,
    entered: u64,
}

impl Deal {
    const fn new(chains: u64, chunk: u64) -> Self {
        Self { chains, chunk, start: 0, data: 0, end: 1, alone: false, entered: 0 }
    }

    /// So many blocks behind the first `start` of a message; it ends with them if that `closes` it.
    const fn begin(&mut self, start: u64, blocks: u64, closes: bool, alone: bool) {
        (self.start, self.entered, self.end, self.alone) = (start, start, start + blocks, alone);
        self.data = self.end - closes as u64;
    }

    const fn done(&self) -> bool {
        self.entered >= self.end
    }

    /// Blocks for a chain.
    fn share(&self, chain: u64) -> u64 {
        self.before(self.data, chain) - self.before(self.start, chain) + self.end - self.data
    }

    const fn active(&self) -> u64 {
        if self.alone { 1 } else { self.chains }
    }

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

#[derive(Debug, Clone)]
pub struct GhashUnit {
    ports: u32,
    deal: Deal,
    units: Vec<Buffered>,
    entered_in_cycle: u32,
}

impl GhashUnit {
    pub fn new(chains: u32, chunk: u64, ports: u32, buffer: u32, unit: &GhashSpec) -> Self {
        let units = (0..chains).map(|_| Buffered::new(super::GhashUnit::new(unit), buffer)).collect();
        Self { ports, deal: Deal::new(chains.into(), chunk), units, entered_in_cycle: 0 }
    }

    /// A message for the first chain alone begins in this cycle.
    pub fn begin_alone(&mut self, blocks: u64) {
        self.start((0, blocks), true, true);
    }

    /// So many blocks behind the first `start` of a message begin in this cycle, from zero; the message ends with them if that `closes` it.
    pub fn begin_turn(&mut self, (start, blocks): (u64, u64), closes: bool) {
        self.start((start, blocks), closes, false);
    }

    fn start(&mut self, (start, blocks): (u64, u64), closes: bool, alone: bool) {
        self.deal.begin(start, blocks, closes, alone);
        for chain in 0..self.deal.active() {
            let (unit, share) = (&mut self.units[chain as usize], self.deal.share(chain));
            unit.take();
            if share > 0 {
                unit.expect(chain, share);
                unit.pass_on();
            }
        }
    }

    /// The value of a chain that has blocks, if those of all chains are valid.
    pub fn value(&self, chain: usize) -> Option<Element> {
        let known = |chain| self.deal.share(chain) == 0 || self.units[chain as usize].value().is_some();
        if self.deal.done() && (0..self.deal.active()).all(known) {
            self.units[chain].value().map(|(_, value)| value)
        } else {
            None
        }
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
        self.start((0, blocks), true, false);
    }

    fn can_enter(&self) -> bool {
        let active = &self.units[..self.deal.active() as usize];
        self.entered_in_cycle < self.ports
            && !self.deal.done()
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
    pub fn new(chains: u32, chunk: u64, ports: u32, buffer: u32, unit: &GhashSpec) -> Self {
        let feed = Feed::new(super::TimingModel::new(unit), buffer);
        let (gate, entered, known) = (0, (0, 0), 0);
        let (deal, units) = (Deal::new(chains.into(), chunk), vec![feed; chains as usize].into());
        Self { ports: ports.into(), deal, units, gate, entered, known }
    }

    /// A message for the first chain alone begins in cycle `at`.
    pub fn begin_alone(&mut self, at: u64, blocks: u64) {
        self.start(at, (0, blocks), true, true);
    }

    /// So many blocks behind the first `start` of a message begin in cycle `at`, with the chains' values so far; the message ends with them if that `closes` it.
    pub fn begin_turn(&mut self, at: u64, (start, blocks): (u64, u64), closes: bool) {
        self.start(at, (start, blocks), closes, false);
    }

    fn start(&mut self, at: u64, (start, blocks): (u64, u64), closes: bool, alone: bool) {
        self.deal.begin(start, blocks, closes, alone);
        self.gate = self.gate.max(at);
        for chain in 0..self.deal.active() {
            match self.deal.share(chain) {
                0 => {}
                blocks => self.units[chain as usize].begin(self.gate, blocks),
            }
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
        self.start(at, (0, blocks), true, false);
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
            let active = (0..self.deal.active()).filter(|&chain| self.deal.share(chain) > 0);
            self.known = active.map(|chain| self.units[chain as usize].known()).max().unwrap_or(at);
        }
    }

    fn known(&mut self) -> u64 {
        self.known
    }
}
