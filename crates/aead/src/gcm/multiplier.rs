//! The multiplier in GF(2^128), register by register.
//!
//! ```text
//!            +----------- ProductUnit -----------+        +---- Reducer ----+
//!   a  ----->| partial += a * (digit of b) x^(dj)|------->| mod x^128+x^7.. |-----> a b
//!   b  ----->| product cycles, one digit a cycle |  255b  | reduction cycles|  128b
//!            +-----------------------------------+        +-----------------+
//! ```
//!
//! | | |
//! | --- | --- |
//! | accepts | one pair per `interval` = ceil(128 / digit bits) cycles |
//! | latency | L = product + reduction cycles: issued in cycle t, the result is valid in cycle t + L |
//! | stalls | never: what is issued comes out |
//!
//! A unit is clocked once per cycle, before anything is issued in that cycle. `T` is what travels with an operation.

use super::field::{Element, Product};
use super::register::Field;
use super::spec::MultiplierSpec;
use super::structure::Structure;
use std::collections::VecDeque;

/// A product that is valid in a cycle, with its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Made {
    pub a: Element,
    pub b: Element,
    /// What the unit made of them, before the reduction.
    pub product: Product,
}

/// The carry-less product, pipelined or digit-serial.
#[derive(Debug, Clone)]
pub struct ProductUnit<T> {
    latency: u64,
    interval: u64,
    digit_bits: u32,
    structure: Structure,
    since_issue: u64,
    in_flight: VecDeque<Multiplication<T>>,
    made: Option<Made>,
}

#[derive(Debug, Clone)]
struct Multiplication<T> {
    age: u64,
    a: Element,
    b: Element,
    digits: u32,
    partial: Product,
    tag: T,
}

impl<T> Multiplication<T> {
    /// Takes the next digit of `b`, the lowest powers of x first.
    fn take_digit(&mut self, bits: u32, structure: Structure) {
        let from = self.digits * bits;
        if from < 128 {
            let digit = (self.b.0 << from) & (!0_u128 << (128 - bits));
            self.partial ^= structure.product(self.a, Element(digit >> from));
            self.digits += 1;
        }
    }
}

impl<T> ProductUnit<T> {
    pub fn new(spec: &MultiplierSpec) -> Self {
        let (latency, interval, digit_bits) = (spec.product.0, spec.interval(), spec.digit_bits);
        let structure = spec.structure;
        let in_flight = VecDeque::new();
        Self { latency, interval, digit_bits, structure, since_issue: interval, in_flight, made: None }
    }

    /// Whether a pair may be issued in this cycle.
    pub const fn free(&self) -> bool {
        self.since_issue >= self.interval
    }

    /// To the next cycle. Gives the product that is valid at the output in it.
    pub fn clock(&mut self) -> Option<(Product, T)> {
        self.since_issue = self.since_issue.saturating_add(1);
        for multiplication in &mut self.in_flight {
            multiplication.age += 1;
            multiplication.take_digit(self.digit_bits, self.structure);
        }
        self.made = None;
        let done = self.in_flight.front().is_some_and(|oldest| oldest.age == self.latency);
        let Multiplication { a, b, partial: product, tag, .. } =
            if done { self.in_flight.pop_front()? } else { return None };
        self.made = Some(Made { a, b, product });
        Some((product, tag))
    }

    /// The product that is valid in this cycle.
    pub const fn made(&self) -> Option<Made> {
        self.made
    }

    /// Takes a pair. Gives the product at once where it has no latency of its own.
    pub fn issue(&mut self, a: Element, b: Element, tag: T) -> Option<(Product, T)> {
        debug_assert!(self.free());
        self.since_issue = 0;
        if self.latency == 0 {
            let product = self.structure.product(a, b);
            self.made = Some(Made { a, b, product });
            return Some((product, tag));
        }
        self.in_flight.push_back(Multiplication { age: 0, a, b, digits: 0, partial: Product::default(), tag });
        None
    }

    /// Shows the partial products by their two halves, the oldest first, each with its [stage](Field::Stage). One that is issued in this
    /// cycle is in no register yet.
    pub fn registers(&mut self, index: usize, see: &mut dyn FnMut(&'static str, usize, &mut u128)) {
        for one in self.in_flight.iter_mut().filter(|one| one.age > 0) {
            let index = Field::Stage.put(((one.age - 1) / self.interval) as usize) | index;
            see("product.low", index, &mut one.partial.low);
            see("product.high", index, &mut one.partial.high);
        }
    }
}

/// The reduction modulo x^128 + x^7 + x^2 + x + 1, pipelined.
#[derive(Debug, Clone)]
pub struct Reducer<T> {
    latency: u64,
    /// Age of what is in its first register. Products come from registers; those without latency are in none in the cycle of their issue.
    first: u64,
    in_flight: VecDeque<(u64, Element, T)>,
}

impl<T> Reducer<T> {
    pub const fn new(spec: &MultiplierSpec) -> Self {
        Self { latency: spec.reduction.0, first: (spec.product.0 == 0) as u64, in_flight: VecDeque::new() }
    }

    /// To the next cycle. Gives the element that is valid at the output in it.
    pub fn clock(&mut self) -> Option<(Element, T)> {
        for (age, ..) in &mut self.in_flight {
            *age += 1;
        }
        let done = self.in_flight.front().is_some_and(|&(age, ..)| age == self.latency);
        if done { self.in_flight.pop_front().map(|(_, element, tag)| (element, tag)) } else { None }
    }

    /// Takes a product. Gives the element at once where the reduction has no latency of its own.
    pub fn issue(&mut self, product: Product, tag: T) -> Option<(Element, T)> {
        if self.latency == 0 {
            return Some((product.reduce(), tag));
        }
        self.in_flight.push_back((0, product.reduce(), tag));
        None
    }

    /// Shows the elements, the oldest first, each with its [stage](Field::Stage).
    pub fn registers(&mut self, index: usize, see: &mut dyn FnMut(&'static str, usize, &mut u128)) {
        for (age, element, _) in self.in_flight.iter_mut().filter(|(age, ..)| *age >= self.first) {
            see("reduced", Field::Stage.put((*age - self.first) as usize) | index, &mut element.0);
        }
    }
}

/// A whole multiplier: a product unit and its own reduction.
#[derive(Debug, Clone)]
pub struct Multiplier<T> {
    product: ProductUnit<T>,
    reducer: Reducer<T>,
}

impl<T> Multiplier<T> {
    pub fn new(spec: &MultiplierSpec) -> Self {
        Self { product: ProductUnit::new(spec), reducer: Reducer::new(spec) }
    }

    /// Whether a pair may be issued in this cycle.
    pub const fn free(&self) -> bool {
        self.product.free()
    }

    /// To the next cycle. Gives the result that is valid at the output in it.
    pub fn clock(&mut self) -> Option<(Element, T)> {
        let reduced = self.reducer.clock();
        let passed = self.product.clock().and_then(|(product, tag)| self.reducer.issue(product, tag));
        reduced.or(passed)
    }

    pub fn issue(&mut self, a: Element, b: Element, tag: T) {
        if let Some((product, tag)) = self.product.issue(a, b, tag) {
            // A multiplier without any latency is refused by its specification.
            let _ = self.reducer.issue(product, tag);
        }
    }

    /// The product that is valid in this cycle.
    pub const fn made(&self) -> Option<Made> {
        self.product.made()
    }

    /// To the next cycle, in which the multiplier stands still.
    pub const fn hold(&mut self) {
        self.product.made = None;
    }

    /// Shows the pipeline's registers under an index: partial products by their two halves, then reduced elements, each with its stage.
    pub fn registers(&mut self, index: usize, see: &mut dyn FnMut(&'static str, usize, &mut u128)) {
        self.product.registers(index, see);
        self.reducer.registers(index, see);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Cycles;
    use proptest::prelude::*;

    fn spec(product: u64, reduction: u64, digit_bits: u32) -> MultiplierSpec {
        let structure = Structure::default();
        MultiplierSpec { product: Cycles(product), reduction: Cycles(reduction), digit_bits, structure }
    }

    proptest! {
        #[test]
        fn a_result_stands_after_the_latency_and_not_before(
            a: u128, b: u128, product in 0..6_u64, reduction in 0..4_u64, digit_bits in 1..=128_u32,
        ) {
            let spec = spec(product + 128_u64.div_ceil(digit_bits.into()) - 1, reduction, digit_bits);
            prop_assume!(spec.check().is_ok());
            let mut multiplier = Multiplier::new(&spec);
            multiplier.issue(Element(a), Element(b), ());
            for cycle in 1..spec.latency() {
                prop_assert!(multiplier.clock().is_none(), "a result in cycle {}", cycle);
                prop_assert_eq!(multiplier.free(), cycle >= spec.interval());
            }
            prop_assert_eq!(multiplier.clock(), Some((Element(a).times(Element(b)), ())));
            prop_assert!(multiplier.clock().is_none());
        }

        #[test]
        fn a_full_pipeline_has_a_register_for_each_cycle_but_the_last(product in 0..6_u64, reduction in 0..4_u64) {
            let spec = spec(product, reduction, 128);
            prop_assume!(spec.check().is_ok());
            let (mut multiplier, mut seen) = (Multiplier::new(&spec), Vec::new());
            for _ in 0..=spec.latency() {
                multiplier.clock();
                multiplier.issue(Element::ONE, Element::ONE, ());
            }
            multiplier.registers(0, &mut |name, index, _| seen.push((name, index)));
            seen.retain(|(name, _)| *name != "product.high");
            prop_assert_eq!(seen.len() as u64, spec.latency() - 1);
            prop_assert!(seen.iter().collect::<std::collections::HashSet<_>>().len() == seen.len(), "{:?}", seen);
        }
    }

    #[test]
    fn a_bit_parallel_multiplier_takes_a_pair_in_every_cycle() {
        let mut multiplier = Multiplier::new(&spec(2, 1, 128));
        let mut results = Vec::new();
        for n in 0..10 {
            results.extend(multiplier.clock());
            assert!(multiplier.free());
            multiplier.issue(Element(n << 90), Element(3 << 60), n);
        }
        assert_eq!(results, (0..7).map(|n| (Element(n << 90).times(Element(3 << 60)), n)).collect::<Vec<_>>());
    }

    #[test]
    fn a_digit_serial_partial_product_grows_digit_by_digit() {
        let (a, b) = (Element(0x1234_5678_9abc_def0_0fed_cba9_8765_4321), Element(!0));
        let mut unit = ProductUnit::new(&spec(8, 0, 16));
        unit.issue(a, b, ());
        for digits in 1..8 {
            assert!(unit.clock().is_none());
            let read = Element(!0 << (128 - 16 * digits));
            let (product, mut shown) = (a.product(read), Vec::new());
            unit.registers(0, &mut |_, _, value| shown.push(*value));
            assert_eq!(shown, [product.low, product.high], "after {digits} digits");
        }
        assert_eq!(unit.clock(), Some((a.product(b), ())));
    }

    #[test]
    fn a_product_may_not_end_before_its_operand_is_read() {
        assert!(spec(7, 1, 16).check().is_err());
        assert!(spec(8, 0, 16).check().is_ok());
        assert!(spec(0, 0, 128).check().is_err());
    }
}
