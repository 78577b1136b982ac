//! GHASH units, both through [`Datapath`]'s drive: powers, accumulators and every stage of the pipeline are equal.

use crate::{
    Cut, Failure, Random, Rng, equal,
    twin::{Fault, Module},
};
use sealsim::gcm::{
    field::{Element, Product, powers},
    ghash::{Datapath, GhashUnit},
    multiplier::Made,
    register::Field,
    spec::GhashSpec,
};

/// A family and its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// One accumulator, one multiplier.
    Serial(Cut),
    /// Groups of `width` blocks, `groups` of them in flight.
    Aggregated {
        /// Products per group.
        width: u32,
        /// Groups in flight.
        groups: u32,
        /// Each product.
        cut: Cut,
    },
}

impl Unit {
    pub(crate) const fn cut(self) -> Cut {
        match self {
            Self::Serial(cut) | Self::Aggregated { cut, .. } => cut,
        }
    }

    pub(crate) const fn sizes(self) -> (usize, usize) {
        match self {
            Self::Serial(_) => (1, 1),
            Self::Aggregated { width, groups, .. } => (width as usize, groups as usize),
        }
    }

    /// As the model specifies it.
    #[must_use]
    pub fn spec(self) -> GhashSpec {
        let multiplier = self.cut().spec();
        match self {
            Self::Serial(_) => GhashSpec::Serial { multiplier, first_block: None },
            Self::Aggregated { width, groups, .. } => GhashSpec::Aggregated { width, groups, multiplier },
        }
    }

    /// The model's unit.
    #[must_use]
    pub fn model(self) -> GhashUnit {
        GhashUnit::new(&self.spec())
    }

    fn module(self, fault: Option<Fault>) -> Module {
        let mut parameters = self.cut().parameters().to_vec();
        match self {
            Self::Serial(_) => Module { name: "serial", parameters, fault },
            Self::Aggregated { width, groups, .. } => {
                parameters.extend([("W", width.into()), ("G", groups.into())]);
                Module { name: "aggregated", parameters, fault }
            }
        }
    }

    /// So many cycles in lock-step with a unit of the model; `fault` is planted in the RTL.
    ///
    /// # Errors
    /// No twin, or a difference.
    pub fn run<D: Datapath + Clone>(
        self,
        mut model: D,
        fault: Option<Fault>,
        random: &mut Random,
        cycles: u64,
    ) -> Result<u64, Failure> {
        let (width, groups) = self.sizes();
        let mut twin = self.module(fault).twin(random.random())?;
        let mut inputs = vec![0; 2 + width];
        let (mut cycle, mut keyed) = (0, 0);
        inputs[0] = RESET;
        twin.step(&inputs);
        while cycle < cycles {
            if keyed == 0 {
                keyed = random.random_range(1..9);
                let h = Element(random.random());
                model.load(h);
                while !model.ready() {
                    model.clock();
                }
                for (index, power) in (0_u128..).zip(powers(h, width * groups)) {
                    (inputs[0], inputs[1]) = (LOAD | index << 8, power.0.reverse_bits());
                    inputs[2..].fill_with(|| random.random());
                    twin.step(&inputs);
                }
            }
            keyed -= 1;
            let blocks = random.random_range(1..1 + 20 * width as u64);
            inputs[0] = START | u128::from(blocks.div_ceil(width as u64)) << 32;
            twin.step(&inputs);
            model.clock();
            model.begin(blocks);
            let (rate, mut left) = (random.random_range(0.1..1.0), blocks);
            loop {
                let size = (left as usize).wrapping_sub(1) % width + 1;
                let group: Vec<Element> = (0..size).map(|_| Element(random.random())).collect();
                let after = (left > 0).then(|| entered(&model, &group)).flatten();
                let takes = after.is_some() && random.random_bool(rate);
                inputs[0] = u128::from(random.random::<u64>()) << 8 | if takes { VALID } else { 0 };
                inputs[1] = random.random();
                inputs[2..].fill_with(|| random.random());
                if takes {
                    inputs[2..].fill(0);
                    for (lane, block) in inputs[2 + width - size..].iter_mut().zip(&group) {
                        *lane = block.0.reverse_bits();
                    }
                }
                let shown = twin.step(&inputs);
                if left > 0 {
                    equal(cycle, "ready", &(shown[0] & 1 == 1), &after.is_some())?;
                }
                self.compare(cycle, &shown, &mut model)?;
                if let Some(value) = model.result() {
                    equal(cycle, "the value", &shown[2], &value.0.reverse_bits())?;
                    break;
                }
                if let Some(after) = after.filter(|_| takes) {
                    model = after;
                    left -= size as u64;
                }
                model.clock();
                cycle += 1;
            }
        }
        Ok(cycle)
    }

    /// What stands in the RTL's registers against what stands in the model's.
    fn compare(self, cycle: u64, shown: &[u128], model: &mut impl Datapath) -> Result<(), Failure> {
        let ((width, groups), cut) = (self.sizes(), self.cut());
        let (accumulators, powers) = (&shown[3..3 + groups], &shown[3 + groups..3 + groups + width * groups]);
        let stages = &shown[3 + groups + width * groups..];
        let (mut flight, mut wrong) = (InFlight::default(), None);
        model.registers(&mut |name, index, &mut value| {
            let place = Field::Place.of(index);
            let rtl = match name {
                "power" => powers[place - 1],
                "accumulator" => accumulators[place],
                _ => return flight.see(name, index, value),
            };
            if rtl != value.reverse_bits() {
                wrong.get_or_insert((format!("{name} {place}"), rtl, value.reverse_bits()));
            }
        });
        if let Some((what, rtl, model)) = wrong {
            return equal(cycle, what, &rtl, &model);
        }
        Stages { cut, width, flying: shown[1], shown: stages }.compare(cycle, flight)
    }
}

/// What the model's pipeline holds, the oldest first: products by stage and lane, and what is reduced.
#[derive(Debug, Default)]
pub struct InFlight {
    products: Vec<(usize, usize, Product)>,
    reduced: Vec<u128>,
}

impl InFlight {
    /// Takes a register, if it is the pipeline's.
    pub fn see(&mut self, name: &str, index: usize, value: u128) {
        match (name, self.products.last_mut()) {
            ("product.low", _) => {
                let product = Product { low: value, high: 0 };
                self.products.push((Field::Stage.of(index), Field::Place.of(index), product));
            }
            ("product.high", Some((_, _, product))) => product.high = value,
            ("reduced", _) => self.reduced.push(value),
            _ => {}
        }
    }
}

/// What the RTL's pipeline holds.
#[derive(Debug)]
pub struct Stages<'a> {
    /// How it is cut.
    pub cut: Cut,
    /// Lanes.
    pub width: usize,
    /// Stages that hold something, the first in bit 0.
    pub flying: u128,
    /// By stage and lane, in two halves.
    pub shown: &'a [u128],
}

impl Stages<'_> {
    /// Holds it against the model's.
    ///
    /// # Errors
    /// A difference.
    pub fn compare(&self, cycle: u64, flight: InFlight) -> Result<(), Failure> {
        let Self { cut, width, .. } = *self;
        let InFlight { mut products, reduced } = flight;
        // The oldest first: sums and what is reduced, then products.
        let mut reduced = reduced.into_iter();
        let within = cut.product.saturating_sub(1);
        for stage in (1..cut.product + cut.reduction).rev().filter(|stage| self.flying >> (stage - 1) & 1 == 1) {
            let lanes = &self.shown[2 * width * (stage as usize - 1)..][..2 * width];
            let lanes = lanes.chunks_exact(2).map(|p| Product { low: p[0].reverse_bits(), high: p[1].reverse_bits() });
            if stage > within {
                let sum = lanes.fold(Product::default(), |mut sum, lane| {
                    sum ^= lane;
                    sum
                });
                equal(cycle, format!("stage {stage}, reduced"), &Some(sum.reduce().0), &reduced.next())?;
                continue;
            }
            for (lane, product) in lanes.enumerate() {
                let at = products.iter().position(|&(s, l, _)| (s as u64 + 1, l) == (stage, lane));
                let model = at.map(|at| products.swap_remove(at).2);
                equal(cycle, format!("stage {stage}, lane {lane}"), &Some(product), &model)?;
            }
        }
        equal(cycle, "stages in flight", &0, &(products.len() + reduced.count()))
    }
}

const RESET: u128 = 1;
const LOAD: u128 = 2;
const START: u128 = 4;
const VALID: u128 = 8;

/// The unit after a whole group has entered, if the group goes on in the same cycle.
fn entered<D: Datapath + Clone>(unit: &D, group: &[Element]) -> Option<D> {
    let mut unit = unit.clone();
    for &block in group {
        if !unit.can_enter() {
            return None;
        }
        unit.enter(block);
    }
    let mut waits = false;
    unit.registers(&mut |name, _, _| waits |= name == "collected");
    (!waits).then_some(unit)
}

/// A unit of the model with a fault: its messages begin with a block too many, so that powers are off by one group.
#[derive(Debug, Clone)]
pub struct OffByOne<D>(pub D);

impl<D: Datapath> Datapath for OffByOne<D> {
    fn clock(&mut self) {
        self.0.clock();
    }
    fn load(&mut self, h: Element) {
        self.0.load(h);
    }
    fn ready(&self) -> bool {
        self.0.ready()
    }
    fn begin(&mut self, blocks: u64) {
        self.0.begin(blocks + 1);
    }
    fn can_enter(&self) -> bool {
        self.0.can_enter()
    }
    fn enter(&mut self, block: Element) {
        self.0.enter(block);
    }
    fn result(&self) -> Option<Element> {
        self.0.result()
    }
    fn registers(&mut self, see: &mut dyn FnMut(&'static str, usize, &mut u128)) {
        self.0.registers(see);
    }
    fn products(&self, see: &mut dyn FnMut(usize, Made)) {
        self.0.products(see);
    }
}
