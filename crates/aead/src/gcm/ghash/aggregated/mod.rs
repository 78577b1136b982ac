//! `aggregated {width w, groups g}`: groups of w blocks times descending powers, summed unreduced, reduced once; group q
//! goes to accumulator q mod g.
//!
//! ```text
//!   X --->(+)--> [ product by H^e     ] --+
//!   X ---------> [ product by H^(e-1) ] --+--(sum, 255 bits)--> [ reduction ] --> accumulator q mod g --+
//!   ...                                   |                                                             |
//!   X ---------> [ product by H^(e-w+1)] -+        into the first block of group q + g <----------------+
//! ```
//!
//! The first group of a message is the short one: it takes the last lanes, so that every later group is full and lane l
//! only ever needs powers H^(w r - l). A group's powers start at e = w g, or, for the last g groups, at w times its place
//! from the end: the sum of the accumulators is then the value.
//!
//! | | |
//! | --- | --- |
//! | accepts | up to w blocks per cycle into a collecting register of w blocks; a group is issued in the cycle in which its last block enters, if its accumulator is valid and the lanes are free, else the register holds it: min(w, w g / L), and w per digit-serial interval |
//! | tail | with all groups before it back and the last ciphertext block alone in its cycle: L for w > 1 (the length block shares its group and enters next to it); for w = 1, L + interval with g > 1, 2 L with g = 1 |
//! | closing | none: the length is known ahead |
//! | partial groups | the first group of a message, N mod w blocks |
//! | alignment | none: groups are counted over AAD, text and length block together |
//! | powers | H^1 to H^(w g), made one at a time, since there is one reduction |

mod patterns;

use self::patterns::{LONGEST, Meeting, Pattern, Patterns, Start};
use super::powers::{Powers, setup};
use super::{Datapath, GhashTiming, Taken};
use crate::gcm::field::{Element, Product};
use crate::gcm::multiplier::{Made, ProductUnit, Reducer};
use crate::gcm::spec::MultiplierSpec;

#[derive(Debug, Clone, Copy)]
enum Destination {
    Power(usize),
    Accumulator(usize),
}

#[derive(Debug, Clone)]
pub struct GhashUnit {
    lanes: Vec<ProductUnit<Destination>>,
    reducer: Reducer<Destination>,
    powers: Powers,
    accumulators: Vec<Element>,
    busy: Vec<bool>,
    collected: Vec<Element>,
    entered_in_cycle: usize,
    /// Blocks of the message that have not entered.
    left: u64,
    /// Groups of the message that have not been issued.
    groups_left: u64,
    /// Size of the group that is being collected.
    size: usize,
    next_accumulator: usize,
}

impl GhashUnit {
    pub fn new(width: u32, groups: u32, spec: &MultiplierSpec) -> Self {
        let (width, groups) = (width as usize, groups as usize);
        Self {
            lanes: (0..width).map(|_| ProductUnit::new(spec)).collect(),
            reducer: Reducer::new(spec),
            powers: Powers::new(width * groups),
            accumulators: vec![Element::ZERO; groups],
            busy: vec![false; groups],
            collected: Vec::with_capacity(width),
            entered_in_cycle: 0,
            left: 0,
            groups_left: 0,
            size: width,
            next_accumulator: 0,
        }
    }

    fn deliver(&mut self, value: Element, destination: Destination) {
        match destination {
            Destination::Power(power) => self.powers.put(power, value),
            Destination::Accumulator(index) => {
                self.accumulators[index] = value;
                self.busy[index] = false;
            }
        }
    }

    /// Issues one operand pair per lane, and passes on what has no product latency.
    fn issue(&mut self, destination: Destination, mut operands: impl FnMut(usize) -> (Element, Element)) {
        let mut sum: Option<Product> = None;
        for (lane, unit) in self.lanes.iter_mut().enumerate() {
            let (a, b) = operands(lane);
            if let Some((product, _)) = unit.issue(a, b, destination) {
                *sum.get_or_insert_default() ^= product;
            }
        }
        if let Some(sum) = sum {
            // Product and reduction are not both without latency.
            let _ = self.reducer.issue(sum, destination);
        }
    }

    fn make_powers(&mut self) {
        if let Some((power, a, b)) = self.powers.next().filter(|_| self.lanes[0].free()) {
            self.powers.issue();
            let zero = (Element::ZERO, Element::ZERO);
            self.issue(Destination::Power(power), |lane| if lane == 0 { (a, b) } else { zero });
        }
    }

    /// Issues the collected group if it is complete and everything that it needs is there.
    fn issue_group(&mut self) {
        let (width, accumulator) = (self.lanes.len(), self.next_accumulator);
        if self.groups_left == 0 || self.collected.len() < self.size || self.busy[accumulator] || !self.lanes[0].free()
        {
            return;
        }
        let top = width * (self.groups_left.min(self.accumulators.len() as u64) as usize);
        let first = width - self.size;
        let mut blocks = std::mem::take(&mut self.collected);
        blocks[0] ^= self.accumulators[accumulator];
        let powers = std::mem::replace(&mut self.powers, Powers::new(0));
        self.issue(Destination::Accumulator(accumulator), |lane| match lane.checked_sub(first) {
            Some(index) => (blocks[index], powers.get(top - lane)),
            None => (Element::ZERO, Element::ZERO),
        });
        self.powers = powers;
        blocks.clear();
        self.collected = blocks;
        self.busy[accumulator] = true;
        self.next_accumulator = (accumulator + 1) % self.accumulators.len();
        self.groups_left -= 1;
        self.size = width;
    }
}

impl Datapath for GhashUnit {
    fn clock(&mut self) {
        self.entered_in_cycle = 0;
        if let Some((value, destination)) = self.reducer.clock() {
            self.deliver(value, destination);
        }
        let mut sum: Option<(Product, Destination)> = None;
        for unit in &mut self.lanes {
            if let Some((product, destination)) = unit.clock() {
                sum.get_or_insert((Product::default(), destination)).0 ^= product;
            }
        }
        if let Some((sum, destination)) = sum
            && let Some((value, destination)) = self.reducer.issue(sum, destination)
        {
            self.deliver(value, destination);
        }
        self.make_powers();
        self.issue_group();
    }

    fn load(&mut self, h: Element) {
        self.powers.load(h);
        self.make_powers();
    }

    fn ready(&self) -> bool {
        self.powers.ready()
    }

    fn begin(&mut self, blocks: u64) {
        let width = self.lanes.len() as u64;
        self.accumulators.fill(Element::ZERO);
        self.left = blocks;
        self.groups_left = blocks.div_ceil(width);
        self.size = (blocks - width * (self.groups_left - 1)) as usize;
        self.next_accumulator = 0;
    }

    fn can_enter(&self) -> bool {
        self.left > 0 && self.entered_in_cycle < self.lanes.len() && self.collected.len() < self.size
    }

    fn enter(&mut self, block: Element) {
        self.entered_in_cycle += 1;
        self.left -= 1;
        self.collected.push(block);
        self.issue_group();
    }

    fn result(&self) -> Option<Element> {
        let done = self.groups_left == 0 && !self.busy.contains(&true);
        done.then(|| self.accumulators.iter().fold(Element::ZERO, |sum, &y| sum ^ y))
    }

    fn registers(&mut self, see: &mut dyn FnMut(&'static str, usize, &mut u128)) {
        self.powers.registers(see);
        for (index, value) in self.collected.iter_mut().enumerate() {
            see("collected", index, &mut value.0);
        }
        for (lane, unit) in self.lanes.iter_mut().enumerate() {
            unit.registers(lane, see);
        }
        self.reducer.registers(0, see);
        for (index, value) in self.accumulators.iter_mut().enumerate() {
            see("accumulator", index, &mut value.0);
        }
    }

    /// Those of a lane that rests, which multiplies zeros, are left out.
    fn products(&self, see: &mut dyn FnMut(usize, Made)) {
        for (lane, unit) in self.lanes.iter().enumerate() {
            let made = unit.made().filter(|made| made.b != Element::ZERO);
            made.into_iter().for_each(|made| see(lane, made));
        }
    }
}

#[derive(Debug, Clone)]
pub struct TimingModel {
    spec: MultiplierSpec,
    latency: u64,
    interval: u64,
    width: u64,
    /// Size of the group that is being collected, and what has been collected of it.
    size: u64,
    collected: u64,
    /// Cycle in which the group before it was issued, or in which the message began.
    gate: u64,
    /// Cycle in which the lanes take the next group.
    lanes_free: u64,
    /// By accumulator: the cycle in which its value is valid.
    valid_at: Box<[u64]>,
    /// The same some groups before, to be compared.
    before: Box<[u64]>,
    accumulator: usize,
    /// The last cycle in which blocks entered, and how many.
    entered: (u64, u64),
    patterns: Patterns,
}

impl TimingModel {
    pub fn new(width: u32, groups: u32, spec: &MultiplierSpec) -> Self {
        Self {
            spec: spec.clone(),
            latency: spec.latency(),
            interval: spec.interval(),
            width: width.into(),
            size: width.into(),
            collected: 0,
            gate: 0,
            lanes_free: 0,
            valid_at: vec![0; groups as usize].into(),
            before: vec![0; groups as usize].into(),
            accumulator: 0,
            entered: (0, 0),
            patterns: Patterns::default(),
        }
    }

    /// How a burst finds the unit, if its cycles follow from that.
    #[inline]
    fn meet(&self, row: (u64, u64), visible: u64, ports: u64, blocks: u64) -> Option<Meeting<'_>> {
        let from = visible.max(row.0);
        let (before, next) = self.valid_at.split_at(self.accumulator);
        let meeting = Meeting {
            from,
            blocks,
            ports,
            taken: if row.0 == from { row.1 } else { 0 },
            entered: if self.entered.0 == from { self.entered.1 } else { 0 },
            size: self.size,
            collected: self.collected,
            gate: self.gate,
            lanes_free: self.lanes_free,
            valid_at: [next, before],
        };
        (self.entered.0 <= from && blocks > 0 && blocks <= LONGEST).then_some(meeting)
    }

    /// What follows from a pattern that begins in cycle `from`.
    #[inline]
    fn follow(&mut self, pattern: &Pattern, from: u64) {
        self.entered = (from + pattern.entered.0, pattern.entered.1);
        (self.size, self.collected) = (pattern.size, pattern.collected);
        if pattern.issued > 0 {
            (self.gate, self.lanes_free) = (from + pattern.gate, from + pattern.lanes_free);
            let (before, next) = self.valid_at.split_at_mut(self.accumulator);
            let (first, rest) = pattern.valid_at.split_at(next.len().min(pattern.valid_at.len()));
            for (valid_at, after) in [(next, first), (before, rest)] {
                valid_at.iter_mut().zip(after).for_each(|(valid_at, after)| *valid_at = from + after);
            }
            self.accumulator += pattern.turn;
            self.accumulator -= if self.accumulator < self.valid_at.len() { 0 } else { self.valid_at.len() };
        }
    }

    /// The pattern of a burst that came in cycle `from`.
    fn pattern(&self, start: Start, from: u64, cycles: Vec<u64>, row: (u64, u64), waited: u64) -> Pattern {
        let issued = start.issues(self.width);
        let count = self.valid_at.len();
        let first = self.accumulator + count * issued as usize - issued as usize;
        let used = first..first + count.min(issued as usize);
        Pattern {
            start,
            cycles,
            row: (row.0 - from, row.1),
            waited,
            entered: (self.entered.0 - from, self.entered.1),
            size: self.size,
            collected: self.collected,
            issued,
            turn: issued as usize % count,
            gate: self.gate.saturating_sub(from),
            lanes_free: self.lanes_free.saturating_sub(from),
            valid_at: used.map(|place| self.valid_at[place % count] - from).collect(),
        }
    }

    /// [`GhashTiming::pass`] of any burst.
    fn pass_anew(
        &mut self,
        mut row: (u64, u64),
        visible: u64,
        ports: u64,
        blocks: u64,
        each: &mut impl FnMut(Taken<'_>),
    ) -> ((u64, u64), u64) {
        let (mut left, mut waited) = (blocks, 0);
        while left > 0 {
            if left >= self.width && self.takes_whole_rows(row, ports) {
                waited += self.pass_whole_rows(&mut row.0, visible, ports, &mut left, each);
            }
            if left > 0 {
                waited += self.pass_row(&mut row, visible, ports, &mut left, each);
            }
        }
        (row, waited)
    }

    /// Whether the rows to come take whole groups' numbers of blocks, so that of those before only the cycle of the last matters.
    fn takes_whole_rows(&self, row: (u64, u64), ports: u64) -> bool {
        (self.entered, self.size, row.1) == (row, self.width, self.width) && self.width <= ports
    }

    /// Of [`GhashTiming::pass`], the rows that take as many blocks as a group has, as long as they come.
    fn pass_whole_rows(
        &mut self,
        row: &mut u64,
        visible: u64,
        ports: u64,
        left: &mut u64,
        each: &mut impl FnMut(Taken<'_>),
    ) -> u64 {
        let (period, narrow) = (self.valid_at.len() as u64 * self.width, u64::from(self.width < ports));
        let mut waited = 0;
        loop {
            let (before, gate, lanes_free) = (*row, self.gate, self.lanes_free);
            self.before.copy_from_slice(&self.valid_at);
            let (more, rows) = self.pass_period(row, visible, narrow, left, each);
            waited += more;
            if rows < self.valid_at.len() {
                break;
            }
            // If all is as it was a while before, it goes on so.
            let later = *row - before;
            let again = visible <= before && (self.gate - gate, self.lanes_free - lanes_free) == (later, later);
            let times = (*left - u64::from(*left > 0)) / period;
            if again && times > 0 && self.valid_at.iter().zip(&self.before).all(|(now, before)| now - before == later) {
                let later_in_all = times * later;
                self.valid_at.iter_mut().for_each(|valid_at| *valid_at += later_in_all);
                self.gate += later_in_all;
                self.lanes_free += later_in_all;
                *row += later_in_all;
                *left -= times * period;
                waited += times * more;
                each(Taken::Again { blocks: period, times, later });
            }
        }
        self.entered.0 = *row;
        waited
    }

    /// A row for each accumulator, as long as whole rows come; gives how many came, too.
    fn pass_period(
        &mut self,
        row: &mut u64,
        visible: u64,
        narrow: u64,
        left: &mut u64,
        each: &mut impl FnMut(Taken<'_>),
    ) -> (u64, usize) {
        let Self { latency, interval, width, .. } = *self;
        let (mut waited, mut rows) = (0, 0);
        while *left >= width && rows < self.valid_at.len() {
            let free = visible.max(*row + 1 - narrow);
            let at = free.max(self.gate).max(*row + 1);
            let issue = at.max(self.lanes_free).max(self.valid_at[self.accumulator]);
            if self.collected > 0 && issue > at {
                // It takes only what the group lacks.
                break;
            }
            waited += at - free + if *left > width { narrow } else { 0 };
            (self.gate, self.lanes_free) = (issue, issue + interval);
            self.valid_at[self.accumulator] = issue + latency;
            self.accumulator = if self.accumulator + 1 == self.valid_at.len() { 0 } else { self.accumulator + 1 };
            each(Taken::Row { at, blocks: width });
            (*row, rows) = (at, rows + 1);
            *left -= width;
        }
        (waited, rows)
    }

    /// Cycle in which the group at hand is issued if its last block enters in cycle `at`.
    #[inline]
    fn issue(&self, at: u64) -> u64 {
        at.max(self.lanes_free).max(self.valid_at[self.accumulator])
    }
}

impl GhashTiming for TimingModel {
    fn power_setup(&self) -> u64 {
        setup(self.width as usize * self.valid_at.len(), 1, &self.spec)
    }

    fn begin(&mut self, at: u64, blocks: u64) {
        self.size = (blocks - 1) % self.width + 1;
        self.collected = 0;
        self.gate = self.gate.max(at);
    }

    #[inline]
    fn earliest(&self) -> u64 {
        let (cycle, count) = self.entered;
        self.gate.max(cycle + u64::from(count == self.width))
    }

    #[inline]
    fn room(&self, at: u64, want: u64) -> u64 {
        let (cycle, count) = self.entered;
        let ports = want.min(self.width - if cycle == at { count } else { 0 });
        let missing = self.size - self.collected;
        // Blocks beyond the group find room only if the group leaves in the same cycle.
        if ports <= missing || self.issue(at) == at { ports } else { missing }
    }

    #[inline]
    fn enter(&mut self, at: u64, count: u64) {
        self.entered = if self.entered.0 == at { (at, self.entered.1 + count) } else { (at, count) };
        self.collected += count;
        if self.collected >= self.size {
            let issue = self.issue(at);
            self.lanes_free = issue + self.interval;
            self.valid_at[self.accumulator] = issue + self.latency;
            self.accumulator += 1;
            if self.accumulator == self.valid_at.len() {
                self.accumulator = 0;
            }
            self.gate = issue;
            self.collected -= self.size;
            self.size = self.width;
        }
    }

    fn known(&mut self) -> u64 {
        self.gate + self.latency
    }

    fn pass(
        &mut self,
        row: (u64, u64),
        visible: u64,
        ports: u64,
        blocks: u64,
        mut each: impl FnMut(Taken<'_>),
    ) -> ((u64, u64), u64) {
        // Out of the way while the unit is looked at.
        let mut patterns = std::mem::take(&mut self.patterns);
        let passed = match self.meet(row, visible, ports, blocks) {
            None => self.pass_anew(row, visible, ports, blocks, &mut each),
            Some(meeting) => {
                let from = meeting.from;
                if let Some(pattern) = patterns.find(&meeting) {
                    each(Taken::Burst { from, cycles: &pattern.cycles });
                    self.follow(pattern, from);
                    ((from + pattern.row.0, pattern.row.1), pattern.waited)
                } else {
                    let (start, mut cycles) = (meeting.start(), Vec::new());
                    let (row, waited) = self.pass_anew(row, visible, ports, blocks, &mut |some| {
                        some.note(from, &mut cycles);
                        each(some);
                    });
                    patterns.keep(self.pattern(start, from, cycles, row, waited));
                    (row, waited)
                }
            }
        };
        self.patterns = patterns;
        passed
    }
}
