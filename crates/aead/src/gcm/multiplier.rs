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
