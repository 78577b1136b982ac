//! Multipliers in GF(2^128) by themselves: pipelined and digit-serial.

use crate::{Cut, Failure, Random, Rng, equal, twin::Module};
use sealsim::gcm::{field::Element, multiplier::Multiplier, spec::MultiplierSpec, structure::Structure};
use sealsim::units::Cycles;

/// Which one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A pair in every cycle.
    Parallel(Cut),
    /// So many bits of one operand in a cycle.
    Digits(u32),
}

impl Kind {
    fn spec(self) -> MultiplierSpec {
        match self {
            Self::Parallel(cut) => cut.spec(),
            Self::Digits(digit_bits) => MultiplierSpec {
                product: Cycles(128_u64.div_ceil(digit_bits.into())),
                reduction: Cycles(0),
                digit_bits,
                structure: Structure::Schoolbook,
            },
        }
    }

    fn module(self) -> Module {
        match self {
            Self::Parallel(cut) => Module { name: "multiplier", parameters: cut.parameters().to_vec(), fault: None },
            Self::Digits(bits) => Module { name: "digit", parameters: vec![("D", bits.into())], fault: None },
        }
    }

    /// So many cycles in lock-step.
    ///
    /// # Errors
    /// No twin, or a difference.
    pub fn run(self, random: &mut Random, cycles: u64) -> Result<u64, Failure> {
        let (mut twin, mut model) = (self.module().twin(random.random())?, Multiplier::new(&self.spec()));
        for cycle in 0..cycles {
            let result = model.clock();
            let starts = model.free() && random.random_bool(0.7);
            let (a, b): (u128, u128) = (random.random(), random.random());
            let shown = match self {
                Self::Parallel(_) => twin.step(&[a, b]),
                Self::Digits(_) => twin.step(&[starts.into(), a, b]),
            };
            if let Some((result, ())) = result {
                equal(cycle, "the product", &shown[0], &result.0.reverse_bits())?;
            }
            if starts {
                model.issue(Element(a.reverse_bits()), Element(b.reverse_bits()), ());
            }
        }
        Ok(cycles)
    }
}
