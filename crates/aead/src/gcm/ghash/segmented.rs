//! `segmented {units u, segment s, ports p, buffer b, unit}`: segment j of a message goes to unit j mod u, whose value is
//! weighted by the power of H that its position asks for.
//!
//! ```text
//!                  +--> [ buffer ]--> [ unit 0 ]-----> [ weighting ]--+
//!   X, p a cycle --+--> [ buffer ]--> [ unit 1 ]-----> [ weighting ]--+--(+)--> Y
//!                  +--> ...                                 ^         |
//!                                     H^s, H^2s, H^4s ... --+
//! ```
//!
//! Segments are counted from the end: the first one of a message is the short one. With d segments after it, a segment's
//! value weighs H^(s d), so that powers of H^s are all that is stored, wherever a message ends. Segments may come in any
//! order ([`GhashUnit::enter_at`]); each comes whole to its unit, its blocks in order.
//!
//! | | |
//! | --- | --- |
//! | accepts | up to p blocks per cycle, each while its unit's buffer has room |
//! | in order, blocks per cycle | s over the most of: s / p; (s - b) / r if b < s; T / u, where a unit with all its input there takes blocks at rate r, and T cycles from a segment's begin to its value, of which b blocks are there at its begin and the others come p a cycle. With b >= s: min(p, u s / T). With b small: one unit, r, for the next one only starts when the one before has its segment |
//! | value taken | when it is known and the unit's weighting is free, which takes L ones(d) cycles per segment |
//! | tail | the unit's own, for the last min(N, s) blocks: the last segment weighs 1. With p = 1 the length block enters a cycle after the ciphertext at the earliest |
//! | closing | none: values are summed as they come |
//! | partial segments, alignment | AAD, text and length block share the count; no bubble between them |
//! | buffers | u b blocks |
//! | powers | those of the units, made at the same time, and 33 - floor(log2 s) powers of H^s: the later of the units' set-up and L (31 + ones(s)) |

use super::buffered::{Buffered, Feed};
use super::weights::{self, Table, Weighting};
use super::{Datapath, GhashTiming};
use crate::gcm::field::Element;
use crate::gcm::multiplier::Made;
use crate::gcm::spec::GhashSpec;

/// A message cut from its end into segments of `size` blocks.
#[derive(Debug, Clone, Copy, Default)]
struct Cut {
    segments: u64,
    /// Blocks of the first segment.
    first: u64,
    size: u64,
}

impl Cut {
    const fn new(blocks: u64, size: u64) -> Self {
        let segments = blocks.div_ceil(size);
        Self { segments, first: blocks - (segments - 1) * size, size }
    }

    const fn blocks(&self, segment: u64) -> u64 {
        if segment == 0 { self.first } else { self.size }
    }
}

#[derive(Debug, Clone)]
pub struct GhashUnit {
    ports: u32,
    segment: u32,
    table: Table,
    units: Vec<Buffered>,
    weightings: Vec<Weighting>,
    /// By unit: the segment that is in transit into the buffer, and how many of its blocks have not come.
    entering: Vec<Option<(u64, u64)>>,
    entered_in_cycle: u32,
    cut: Cut,
    /// For arrivals in order: the segment of the next block.
    next: u64,
    /// Segments whose weighted value is in the sum.
    summed: u64,
    sum: Element,
}

impl GhashUnit {
    pub fn new(units: u32, segment: u32, ports: u32, buffer: u32, unit: &GhashSpec) -> Self {
        let multiplier = unit.multiplier();
        Self {
            ports,
            segment,
            table: Table::new(segment, multiplier),
            units: (0..units).map(|_| Buffered::new(super::GhashUnit::new(unit), buffer)).collect(),
            weightings: (0..units).map(|_| Weighting::new(multiplier)).collect(),
            entering: vec![None; units as usize],
            entered_in_cycle: 0,
            cut: Cut::default(),
            next: 0,
            summed: 0,
            sum: Element::ZERO,
        }
    }

    const fn unit_of(&self, segment: u64) -> usize {
        (segment % self.units.len() as u64) as usize
    }

    /// Segments of the message, and blocks of one of them.
    pub const fn segments(&self) -> u64 {
        self.cut.segments
    }

    pub const fn blocks_of(&self, segment: u64) -> u64 {
        self.cut.blocks(segment)
    }

    /// Whether the next block of `segment` may enter in this cycle. A segment that has entered whole may not enter again.
    pub fn can_enter_at(&self, segment: u64) -> bool {
        let unit = self.unit_of(segment);
        segment < self.cut.segments
            && self.entered_in_cycle < self.ports
            && self.units[unit].has_room()
            && self.entering[unit].is_none_or(|(at_work, _)| at_work == segment)
    }

    /// The next block of `segment` enters in this cycle.
    pub fn enter_at(&mut self, segment: u64, block: Element) {
        let (unit, blocks) = (self.unit_of(segment), self.cut.blocks(segment));
        let (_, left) = *self.entering[unit].get_or_insert_with(|| {
            self.units[unit].expect(segment, blocks);
            (segment, blocks)
        });
        self.entering[unit] = (left > 1).then_some((segment, left - 1));
        self.entered_in_cycle += 1;
        self.units[unit].enter(block);
    }

    fn add(&mut self, weighted: Option<Element>) {
        if let Some(value) = weighted {
            self.sum ^= value;
            self.summed += 1;
        }
    }
}

impl Datapath for GhashUnit {
    fn clock(&mut self) {
        self.entered_in_cycle = 0;
        self.table.clock();
        for index in 0..self.units.len() {
            let weighted = self.weightings[index].clock(&self.table);
            self.add(weighted);
            self.units[index].clock();
            if let Some((segment, value)) = self.units[index].value().filter(|_| self.weightings[index].free()) {
                self.units[index].take();
                let position = self.cut.segments - 1 - segment;
                let weighted = self.weightings[index].take(value, position, &self.table);
                self.add(weighted);
            }
            self.units[index].pass_on();
        }
    }

    fn load(&mut self, h: Element) {
        self.table.load(h);
        self.units.iter_mut().for_each(|unit| unit.load(h));
    }

    fn ready(&self) -> bool {
        self.table.ready() && self.units.iter().all(Buffered::ready)
    }

    fn begin(&mut self, blocks: u64) {
        self.cut = Cut::new(blocks, self.segment.into());
        (self.next, self.summed, self.sum) = (0, 0, Element::ZERO);
    }

    fn can_enter(&self) -> bool {
        self.can_enter_at(self.next)
    }

    fn enter(&mut self, block: Element) {
        let segment = self.next;
        self.enter_at(segment, block);
        if self.entering[self.unit_of(segment)].is_none() {
            self.next += 1;
        }
    }

    fn result(&self) -> Option<Element> {
        (self.summed == self.cut.segments).then_some(self.sum)
    }

    fn registers(&mut self, see: &mut dyn FnMut(&'static str, usize, &mut u128)) {
        see("total", 0, &mut self.sum.0);
        self.table.registers(see);
        for (index, unit) in self.units.iter_mut().enumerate() {
            unit.registers(index, see);
            self.weightings[index].registers(index, see);
        }
    }

    fn products(&self, see: &mut dyn FnMut(usize, Made)) {
        self.table.products(see);
        for (index, unit) in self.units.iter().enumerate() {
            unit.products(index, see);
            self.weightings[index].products(index, see);
        }
    }
}

#[derive(Debug, Clone)]
pub struct TimingModel {
    ports: u64,
    segment: u64,
    latency: u64,
    power_setup: u64,
    units: Box<[Feed]>,
    /// By unit: when its weighting is free.
    weighted: Box<[u64]>,
    cut: Cut,
    /// The next block: its segment, that segment's unit, and how many of its blocks have not entered.
    next: (u64, usize, u64),
    gate: u64,
    entered: (u64, u64),
    known: u64,
}

impl TimingModel {
    pub fn new(units: u32, segment: u32, ports: u32, buffer: u32, unit: &GhashSpec) -> Self {
        let multiplier = unit.multiplier();
        let feed = Feed::new(super::TimingModel::new(unit), buffer);
        Self {
            ports: ports.into(),
            segment: segment.into(),
            latency: multiplier.latency(),
            power_setup: feed.power_setup().max(weights::setup(segment, multiplier)),
            units: vec![feed; units as usize].into(),
            weighted: vec![0; units as usize].into(),
            cut: Cut::default(),
            next: (0, 0, 0),
            gate: 0,
            entered: (0, 0),
            known: 0,
        }
    }

    fn enter_one(&mut self, at: u64) {
        let (segment, unit, left) = self.next;
        let blocks = self.cut.blocks(segment);
        let feed = &mut self.units[unit];
        if left == blocks {
            feed.begin(at, blocks);
        }
        feed.enter(at);
        if left > 1 {
            self.next.2 = left - 1;
            return;
        }
        let taken = feed.known().max(self.weighted[unit]);
        feed.take(taken);
        let position = self.cut.segments - 1 - segment;
        self.weighted[unit] = taken + self.latency * u64::from(position.count_ones());
        self.known = self.known.max(self.weighted[unit]);
        let after = if unit + 1 == self.units.len() { 0 } else { unit + 1 };
        self.next = (segment + 1, after, self.cut.size);
    }
}

impl GhashTiming for TimingModel {
    fn power_setup(&self) -> u64 {
        self.power_setup
    }

    fn begin(&mut self, at: u64, blocks: u64) {
        self.cut = Cut::new(blocks, self.segment);
        self.next = (0, 0, self.cut.first);
        self.gate = self.gate.max(at);
    }

    #[inline]
    fn earliest(&self) -> u64 {
        let (cycle, count) = self.entered;
        let ports = cycle + u64::from(count == self.ports);
        self.gate.max(ports).max(self.units[self.next.1].room_at(0))
    }

    fn room(&self, at: u64, want: u64) -> u64 {
        let (cycle, count) = self.entered;
        let want = want.min(self.ports - if cycle == at { count } else { 0 });
        let (units, (_, first, left)) = (self.units.len() as u64, self.next);
        let mut room = 0;
        while room < want {
            // Blocks of this question that the same unit takes before this one.
            let (unit, ahead) = match room.checked_sub(left) {
                None => (first, room),
                Some(beyond) => {
                    let (turn, within) = (beyond / self.segment + 1, beyond % self.segment);
                    let unit = (first as u64 + turn) % units;
                    let whole = (turn / units).saturating_sub(u64::from(unit == first as u64)) * self.segment;
                    let partial = if turn % units == 0 { left } else { 0 };
                    (unit as usize, whole + partial + within)
                }
            };
            if self.units[unit].room_at(ahead) > at {
                break;
            }
            room += 1;
        }
        room
    }

    fn enter(&mut self, at: u64, count: u64) {
        self.entered = if self.entered.0 == at { (at, self.entered.1 + count) } else { (at, count) };
        for _ in 0..count {
            self.enter_one(at);
        }
    }

    fn known(&mut self) -> u64 {
        self.known
    }
}
